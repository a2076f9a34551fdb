//! Sequences in which some frames show nothing, or little: how many slots they take, and what players show on the way.

use super::*;
use sinew_vat::animation::VertexAnimation;
use sinew_vat::playback::AtEnd;

type Corners = [[f32; 3]; 3];

/// Each frame the first tetrahedra of frame 4 of the swarm.
fn of_counts(counts: &[usize]) -> MeshFrames {
    let five = swarm().load(4).expect("there").mesh;
    let frame = |count: &usize| {
        let vertices = 4 * count;
        let triangles = five.topology.triangles()[..4 * count].to_vec();
        mesh_from("some", five.positions[..vertices].to_vec(), triangles)
    };
    MeshFrames::new("some", counts.iter().map(frame).collect())
}

fn with(points: Points, at_end: AtEnd) -> VatSettings {
    VatSettings {
        at_end,
        mode: Some(Mode::Remesh),
        points,
        ..with_format(Quantity::Position, TexelFormat::Float)
    }
}

#[test]
fn no_more_slots_than_the_fullest_frame_has_triangles() {
    for counts in [
        &[5, 0, 5, 0, 5][..],
        &[5, 1, 5, 2, 5],
        &[0, 5, 0, 0, 5, 1, 4, 5],
        &[3, 5, 0, 4, 1, 5, 0],
    ] {
        let (_, summary) = baked(&of_counts(counts), &with(Points::Corners, AtEnd::Clamp));
        assert_eq!(summary.plan.triangles, 20, "{counts:?}");
    }
    // Of unique points blends go from slot to slot: one frame shows where what was there died and where what comes is born: by hand, two sets of slots in turn.
    let settings = with(Points::Unique, AtEnd::Clamp);
    let (_, summary) = baked(&of_counts(&[5, 0, 5, 0, 5, 0, 5]), &settings);
    assert_eq!(summary.plan.triangles, 40);
    // With two empty frames between there is time for both.
    let (_, summary) = baked(&of_counts(&[5, 0, 0, 5, 0, 0, 5]), &settings);
    assert_eq!(summary.plan.triangles, 20);
}

/// The triangles that a player shows, those without an area left out.
fn shown(animation: &VertexAnimation, secs: f64, is_blended: bool) -> Vec<Corners> {
    let manifest = animation.manifest();
    let mut at = manifest.clips[0].frames.at(secs);
    if !is_blended {
        at.weight = 0.0;
    }
    let at = manifest.in_layout(at);
    let corner = |vertex: u32| {
        [0, 1, 2].map(|k| {
            let [now, next] = [at.frame, at.next].map(|f| animation.value(0, vertex, f, k));
            now + (next - now) * at.weight
        })
    };
    let slots = 0..manifest.layout.vertices / 3;
    let all = slots.map(|s| [0, 1, 2].map(|k| corner(3 * s + k)));
    all.filter(|c| c[0] != c[1] || c[1] != c[2]).collect()
}

/// The tetrahedra of a frame, each shrunk towards the mean of its corners.
fn shrunk(frame: &Mesh, size: f32) -> Vec<Corners> {
    let triangles = frame.topology.triangles().iter().enumerate();
    let one = |(t, triangle): (usize, &[u32; 3])| {
        let own = &frame.positions[t / 4 * 4..t / 4 * 4 + 4];
        let middle: [f32; 3] = std::array::from_fn(|k| own.iter().map(|p| p[k]).sum::<f32>() / 4.0);
        let place = |v: u32| frame.positions[v as usize];
        triangle.map(|v| std::array::from_fn(|k| middle[k] + (place(v)[k] - middle[k]) * size))
    };
    triangles.map(one).collect()
}

/// Each triangle is there once, its corners in any of three turns.
fn assert_same(found: &[Corners], expected: &[Corners], what: &str) {
    let is_same = |a: &Corners, b: &Corners| {
        (0..3).any(|turn| {
            (0..3).all(|k| (0..3).all(|c| (a[k][c] - b[(k + turn) % 3][c]).abs() < 1e-5))
        })
    };
    assert_eq!(found.len(), expected.len(), "{what}");
    for triangle in expected {
        let there = found.iter().filter(|f| is_same(f, triangle)).count();
        assert_eq!(there, 1, "{what}: {triangle:?}");
    }
}

/// What goes shrinks into its middle during the frame before the empty one, what comes grows out of its own during the empty one; nothing is seen between
/// empty frames. Players that step show frames as they are.
#[test]
fn players_go_through_empty_frames_as_by_hand() {
    let counts = [3, 0, 5, 0, 0, 2, 0];
    let source = of_counts(&counts);
    let frames = meshes_of(&source);
    let frame = |f: usize| &frames[f];
    let is_empty = |f: usize| counts[f % counts.len()] == 0;
    for at_end in [AtEnd::Clamp, AtEnd::SeamlessLoop] {
        let settings = with(Points::Corners, at_end);
        let (folders, _) = baked(&source, &settings);
        let animation = folders.animation();
        let rate = f64::from(animation.manifest().clips[0].frames.frames_per_second);
        for f in 0..counts.len() {
            let is_last = f + 1 == counts.len();
            let next = (f + 1) % counts.len();
            for share in [0.0, 0.25, 0.5, 0.75] {
                let secs = (f as f64 + f64::from(share)) / rate;
                let stays = is_last && at_end == AtEnd::Clamp;
                let expected = match (is_empty(f), is_empty(next)) {
                    (true, true) => Vec::new(),
                    (true, false) if stays || share == 0.0 => Vec::new(),
                    (true, false) => shrunk(frame(next), share),
                    (false, _) => shrunk(frame(f), 1.0 - share),
                };
                let what = format!("{at_end:?}, frame {f} + {share}");
                assert_same(&shown(&animation, secs, true), &expected, &what);
                let stepped = shrunk(frame(f), 1.0);
                assert_same(&shown(&animation, secs, false), &stepped, &what);
            }
        }
        let found = folders.verified(&source, &settings);
        assert!(found.is_same(1e-6), "{found:?}");
    }
}
