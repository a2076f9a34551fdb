//! Which strands are shown, how they fade, and what becomes of hidden ones.

use super::detail::{BAND, fade};
use super::test_scene::{Scene, bare, followers, line, on_ball, turned};
use super::{HairBind, HairSettings, place_followers};
use crate::collide::{Capsule, Collider, Contact};
use sinew_geom::{Affine, Strands, Vec3};

const STILL: f32 = 1.0 / 60.0;

/// Guides of two vertices that stand on these roots.
fn standing(roots: &[[f32; 3]]) -> (Strands, Vec<[f32; 3]>) {
    let strands = Strands::new(vec![2; roots.len()]).expect("valid");
    let rest = roots.iter().flat_map(|&r| line(r, [0.0, 0.1, 0.0], 2));
    (strands, rest.collect())
}

/// A square of roots, so many along each side.
fn grid(side: usize) -> Vec<[f32; 3]> {
    let at = |i: usize| [(i % side) as f32, 0.0, (i / side) as f32];
    (0..side * side).map(at).collect()
}

/// Whether more than half of each strand is shown.
fn shown_in_half(bind: &HairBind, detail: f32) -> Vec<bool> {
    let fades = bind.shown_from.iter().map(|&from| fade(detail, from));
    fades.map(|f| f > 0.5).collect()
}

/// By more than half of their lengths: as many as the detail says. All lengths together are that share, too.
#[test]
fn as_many_guides_are_shown_as_the_detail_says() {
    for count in [1_usize, 2, 7, 64, 100, 1000] {
        let roots: Vec<[f32; 3]> = (0..count)
            .map(|i| {
                [
                    (0.7 * i as f32).sin(),
                    (1.3 * i as f32).cos(),
                    0.01 * i as f32,
                ]
            })
            .collect();
        let (strands, rest) = standing(&roots);
        let mut scene = Scene::<f32>::new(&strands, &rest, None);
        scene.settings = bare();
        let mut lengths = |detail: f32| {
            scene.settings.detail = detail;
            scene.frame(&Affine::identity(), 0.0, &[]);
            let ends = scene.positions.chunks(2);
            let lengths = ends.map(|p| f64::from((Vec3::from(p[1]) - Vec3::from(p[0])).norm()));
            lengths.map(|l| l / 0.1).collect::<Vec<_>>()
        };
        assert_eq!(lengths(0.0), vec![0.0; count]);
        assert!(lengths(1.0).iter().all(|l| (l - 1.0).abs() < 1e-5));
        for detail in [0.13_f32, 0.25, 0.31, 0.5, 0.77, 0.87] {
            let lengths = lengths(detail);
            let expected = f64::from(detail) * count as f64;
            let shown = lengths.iter().filter(|l| **l > 0.5).count() as f64;
            // Exact halves go either way.
            assert!((shown - expected).abs() <= 0.5 + 1e-4, "{count} {detail}");
            // Ranks are midpoints of equal parts: the trapezium rule is off by an eighth of a part at each end of the band.
            let sum: f64 = lengths.iter().sum();
            let off = 2.0 / (8.0 * f64::from(BAND) * count as f64);
            assert!(
                (sum - expected).abs() <= off + 1e-4,
                "{count} {detail}: {sum}"
            );
        }
    }
}

/// Of followers, the square of the detail.
#[test]
fn of_followers_the_square_of_the_detail_is_shown() {
    let (guides, rest) = standing(&grid(10));
    for per_guide in [1_usize, 2, 7] {
        let settings = followers(per_guide, 0.01, 0.0, 3);
        let (strands, rest) = place_followers(&guides, &rest, &settings, None).expect("places");
        let bind = HairBind::new(&strands, &rest, None).expect("binds");
        for detail in [0.1_f32, 0.25, 0.5, 0.6, 0.9] {
            let shown = shown_in_half(&bind, detail);
            let is_shown = |s: &usize| shown[*s];
            let of_followers = (0..strands.len()).filter(|&s| !strands.is_guide(s));
            let found = of_followers.filter(is_shown).count() as f32;
            let expected = detail * detail * 100.0 * per_guide as f32;
            // Multiples of the golden ratio are spread so evenly that of 100 at most two are too many in any part of the interval.
            assert!(
                (found - expected).abs() <= 2.0,
                "{per_guide} {detail}: {found} {expected}"
            );
        }
        // None is shown whose guide is not.
        for (s, &guide) in strands.guides().iter().enumerate() {
            assert!(bind.shown_from[s] >= bind.shown_from[guide as usize], "{s}");
        }
    }
}

/// Roots of a square of 16 by 16: along the curve, aligned blocks of 2 by 2, 4 by 4 and 8 by 8 follow each other. Of bit-reversed numbers,
/// any first part has as many in each such block as in the others, or one more: with a quarter, each 2 by 2 block has exactly one.
#[test]
fn any_first_part_of_the_guides_covers_a_square_evenly() {
    let side = 16;
    let (strands, rest) = standing(&grid(side));
    let bind = HairBind::new(&strands, &rest, None).expect("binds");
    // In the first and the last half of a band, strands of several ranks grow together.
    for shown in 17..=239_usize {
        let detail = shown as f32 / 256.0;
        let flags = shown_in_half(&bind, detail);
        assert_eq!(flags.iter().filter(|f| **f).count(), shown);
        for block in [2, 4, 8] {
            let across = side / block;
            let mut counts = vec![0; across * across];
            for (i, _) in flags.iter().enumerate().filter(|(_, f)| **f) {
                counts[i / side / block * across + i % side / block] += 1;
            }
            let most = counts.iter().copied().max();
            let least = shown / counts.len();
            assert!(
                counts.iter().all(|c| *c >= least),
                "{shown} of blocks of {block}"
            );
            assert!(
                most <= Some(shown.div_ceil(counts.len())),
                "{shown}: {most:?}"
            );
        }
    }
}

/// Roots on a ball, as many as come. A cube of the octree has consecutive numbers on the curve; with half, a quarter or an eighth of the
/// guides, as many of them are shown as that share of consecutive numbers has multiples.
#[test]
fn any_half_covers_a_head_evenly() {
    let (strands, rest) = on_ball(0.1, 777, 2);
    let bind = HairBind::new(&strands, &rest, None).expect("binds");
    let (low, high) = sinew_geom::bounds(&bind.roots).expect("roots");
    let extent = (0..3).map(|k| high[k] - low[k]).fold(0.0, f32::max);
    for share in [2_usize, 4, 8] {
        // As many numbers are multiples.
        let detail = 777_usize.div_ceil(share) as f32 / 777.0;
        let flags = shown_in_half(&bind, detail);
        for cells in [2.0_f32, 4.0, 8.0, 16.0] {
            let mut cubes = std::collections::BTreeMap::<[u32; 3], [usize; 2]>::new();
            for (root, is_shown) in bind.roots.iter().zip(&flags) {
                let cell =
                    |k: usize| ((root[k] - low[k]) / extent * (1023.0 / 1024.0) * cells) as u32;
                let counts = cubes.entry([0, 1, 2].map(cell)).or_default();
                counts[0] += 1;
                counts[1] += usize::from(*is_shown);
            }
            for (cube, [all, shown]) in cubes {
                let range = all / share..=all.div_ceil(share);
                assert!(
                    range.contains(&shown),
                    "1/{share}, {cube:?}: {shown} of {all}"
                );
            }
        }
    }
}

/// A head of hair with followers that shakes, with the head as a solid, in wind.
fn head_of_hair() -> Scene<f32> {
    let (strands, rest) = on_ball(0.1, 90, 12);
    let settings = followers(3, 0.01, 1.0, 5);
    let (strands, rest) = place_followers(&strands, &rest, &settings, None).expect("places");
    let mut scene = Scene::<f32>::new(&strands, &rest, None);
    scene.settings.wind = [1.5, 0.0, 0.5];
    scene.settings.pre_roll_secs = 0.1;
    scene.contacts = vec![Contact {
        collider: 0,
        margin: 0.002,
        friction: 0.3,
    }];
    scene
}

fn shaken(frame: usize) -> Affine<f32> {
    let t = frame as f32 / 60.0;
    let shift = Vec3::new(0.1 * (t * 9.0).sin(), 0.02 * t, 0.0);
    turned(Vec3::new(0.1, 1.0, 0.2), 0.8 * (t * 7.0).sin(), shift)
}

/// Frames with the head as a solid that moves along.
fn shake(scene: &mut Scene<f32>, frames: std::ops::Range<usize>) {
    use crate::collide::{Rigid, RigidMotion};
    let ball = Capsule::sphere([0.0; 3], 0.1);
    for frame in frames {
        let [from, to] = [frame.saturating_sub(1), frame].map(|f| Rigid::of(&shaken(f)));
        let motion = RigidMotion::between(from, to);
        let colliders = [Collider {
            shape: &ball,
            motion,
        }];
        scene.frame(&shaken(frame), STILL, &colliders);
    }
}

/// Strands do not see each other: what is shown in full length has the bits that it has among all others.
#[test]
fn shown_strands_do_not_notice_that_others_are_hidden() {
    let run = |detail: f32| {
        let mut scene = head_of_hair();
        scene.settings.detail = detail;
        shake(&mut scene, 0..40);
        scene
    };
    let all = run(1.0);
    let not_a_number = run(f32::NAN);
    assert_eq!(not_a_number.positions, all.positions);
    assert_eq!(run(7.0).positions, all.positions);
    for detail in [0.2_f32, 0.5, 0.9] {
        let some = run(detail);
        let mut full = 0;
        for (s, range) in all.bind.strands().ranges().enumerate() {
            let from = all.bind.shown_from[s];
            let root = some.positions[range.start];
            if fade(detail, from) >= 1.0 {
                full += 1;
                assert_eq!(some.positions[range.clone()], all.positions[range.clone()]);
                assert_eq!(some.tangents[range.clone()], all.tangents[range]);
            } else if detail <= from {
                assert!(some.positions[range].iter().all(|p| *p == root), "{s}");
            }
        }
        assert!(full > 0, "{detail}");
    }
}

/// In a moment that stands still, nothing moves by more than its part of the band of the strand's length.
#[test]
fn positions_are_continuous_in_the_detail() {
    let mut scene = head_of_hair();
    shake(&mut scene, 0..30);
    let longest = scene.bind.longest_strand();
    let ball = Capsule::sphere([0.0; 3], 0.1);
    let mut before: Option<(f32, Vec<[f32; 3]>)> = None;
    let mut most = 0.0_f32;
    for detail in [
        1.0, 0.99, 0.97, 0.9, 0.89, 0.5, 0.49, 0.47, 0.2, 0.19, 0.06, 0.05, 0.01, 0.0, 0.003, 0.3,
    ] {
        scene.settings.detail = detail;
        scene.frame(&shaken(29), 0.0, &[Collider::still(&ball)]);
        assert!(scene.positions.iter().flatten().all(|c| c.is_finite()));
        if let Some((last, positions)) = &before {
            let step = (detail - last).abs() / BAND;
            let pairs = scene.positions.iter().zip(positions);
            let moved = pairs.map(|(a, b)| (Vec3::from(*a) - Vec3::from(*b)).norm());
            let moved = moved.fold(0.0, f32::max);
            assert!(
                moved <= step.min(1.0) * longest + 1e-6,
                "{last} to {detail}: {moved}"
            );
            most = most.max(moved);
        }
        before = Some((detail, scene.positions.clone()));
    }
    assert!(most > 0.05, "{most}");
}

/// Where guides are, as their roots see them.
fn seen_from_roots(scene: &Scene<f32>) -> Vec<Vec<Vec3<f32>>> {
    let guides = 0..scene.bind.guide_count();
    let seen = |g: usize| {
        let root = scene.state.roots[g].frame;
        let points = &scene.state.positions[scene.bind.guide_range(g)];
        let back = |x: &Vec3<f32>| root.rotation.conjugate() * (x - root.translation);
        points.iter().map(back).collect()
    };
    guides.map(seen).collect()
}

fn hidden_guides(bind: &HairBind, detail: f32) -> Vec<usize> {
    let from = |&g: &usize| bind.shown_from[bind.guides[g] as usize] >= detail;
    (0..bind.guide_count()).filter(from).collect()
}

/// Hidden guides go with their roots and keep their shape.
#[test]
fn hidden_guides_keep_their_shape() {
    let mut scene = head_of_hair();
    shake(&mut scene, 0..25);
    let shapes = seen_from_roots(&scene);
    assert!(scene.fastest() > 0.05, "{}", scene.fastest());
    scene.settings.detail = 0.5;
    shake(&mut scene, 25..70);
    let hidden = hidden_guides(&scene.bind, 0.5);
    assert!(hidden.len() > 30, "{}", hidden.len());
    let now = seen_from_roots(&scene);
    for &g in &hidden {
        for (a, b) in now[g].iter().zip(&shapes[g]) {
            assert!((a - b).norm() < 2e-6, "{g}: {a:?} {b:?}");
        }
    }
}

/// They come back at the speed of their root: without forces, they go on with a head that keeps its speed, or stands still, however little
/// of its motion strands share.
#[test]
fn hidden_guides_come_back_with_their_roots() {
    for (speed, share) in [(0.0, 0.0), (1.5, 0.0), (1.5, 0.6), (1.5, 1.0)] {
        let mut scene = head_of_hair();
        shake(&mut scene, 0..25);
        scene.contacts.clear();
        scene.settings = HairSettings {
            root_motion_share: share,
            detail: 0.3,
            ..bare()
        };
        let head = |frame: usize| {
            let at = Vec3::new(speed * frame as f32 / 60.0, 0.0, 0.0);
            turned(Vec3::y(), 0.4, at)
        };
        (0..10).for_each(|frame| scene.frame(&head(frame), STILL, &[]));
        let shapes = seen_from_roots(&scene);
        let hidden = hidden_guides(&scene.bind, 0.3);
        scene.settings.detail = 1.0;
        (10..20).for_each(|frame| scene.frame(&head(frame), STILL, &[]));
        let now = seen_from_roots(&scene);
        for g in hidden {
            for (a, b) in now[g].iter().zip(&shapes[g]) {
                assert!((a - b).norm() < 2e-4, "{speed} {share}: {g}: {a:?} {b:?}");
            }
        }
    }
}

/// Guides that the first frame hides are not led out of what they begin in, and do not hang down in the pre-roll.
#[test]
fn the_first_frame_leaves_hidden_guides_at_rest() {
    let mut scene = head_of_hair();
    // All begin in it.
    let ball = Capsule::sphere([0.0; 3], 0.15);
    scene.settings.detail = 0.4;
    scene.frame(&Affine::identity(), STILL, &[Collider::still(&ball)]);
    let mut moved = [0.0_f32; 2];
    for g in 0..scene.bind.guide_count() {
        let is_hidden = scene.bind.shown_from[scene.bind.guides[g] as usize] >= 0.4;
        let root = Vec3::from(scene.bind.roots[g]);
        for i in scene.bind.guide_range(g) {
            let rest = root + Vec3::from(scene.bind.vertices[i].offset);
            let off = (scene.state.positions[i] - rest).norm();
            let most = &mut moved[usize::from(is_hidden)];
            *most = most.max(off);
        }
    }
    assert!(moved[0] > 0.01 && moved[1] < 1e-6, "{moved:?}");
}

/// Frames whose detail changes, from a saved state and with any number of threads.
#[test]
fn details_that_change_keep_bits() {
    let details = [1.0, 0.6, 0.3, 0.35, 0.8, 0.0, 0.7, 1.0];
    let run = |scene: &mut Scene<f32>, frames: std::ops::Range<usize>| {
        for frame in frames {
            scene.settings.detail = details[frame / 3 % details.len()];
            shake(scene, frame..frame + 1);
        }
    };
    let mut scene = head_of_hair();
    run(&mut scene, 0..10);
    let bytes = scene.state.save();
    run(&mut scene, 10..30);
    let mut other = head_of_hair();
    other.state.restore(&bytes).expect("fits");
    run(&mut other, 10..30);
    assert_eq!(scene.positions, other.positions);
    #[cfg(feature = "rayon")]
    {
        let mut other = head_of_hair();
        other.par = crate::Par::Rayon;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3);
        let pool = pool.build().expect("starts");
        pool.install(|| run(&mut other, 0..30));
        assert_eq!(scene.positions, other.positions);
        assert_eq!(scene.tangents, other.tangents);
    }
}

/// A hidden strand has no direction: its tangents are the ones of strands without length.
#[test]
fn nothing_is_shown_at_a_detail_of_zero() {
    let mut scene = head_of_hair();
    scene.settings = HairSettings {
        detail: 0.0,
        ..scene.settings
    };
    shake(&mut scene, 0..5);
    for range in scene.bind.strands().ranges() {
        let root = scene.positions[range.start];
        assert!(scene.positions[range.clone()].iter().all(|p| *p == root));
        assert!(scene.tangents[range].iter().all(|t| *t == [0.0, 1.0, 0.0]));
    }
    // Roots are where the skin takes them.
    let strands = scene.bind.strands();
    for s in strands.guide_strands() {
        let g = scene.bind.guide_of[s] as usize;
        let expected = shaken(4).point(Vec3::from(scene.bind.roots[g]));
        let found = Vec3::from(scene.positions[strands.range(s).start]);
        assert!((found - expected).norm() < 1e-6, "{s}");
    }
}
