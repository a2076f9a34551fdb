use super::*;
use sinew_geom::{Mesh, OneRings, WeldMap};

fn mesh(asset: &Asset) -> &Mesh {
    &asset.meshes[0]
}

/// Seams are bit-equal, so nothing else is joined.
fn weld(mesh: &Mesh) -> WeldMap {
    WeldMap::by_position(&mesh.positions, 0.0)
}

/// Made once for all tests.
fn samples() -> &'static [Asset] {
    static SAMPLES: std::sync::LazyLock<Vec<Asset>> =
        std::sync::LazyLock::new(|| all().expect("samples are valid"));
    &SAMPLES
}

/// FNV-1a over everything a sample's mesh and clip hold, by their debug text.
fn fingerprint(asset: &Asset) -> u64 {
    let text = format!("{:?} {:?} {:?}", asset.meshes, asset.rig, asset.clips);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn two_calls_give_the_same_bits() {
    for (a, b) in all().expect("valid").iter().zip(samples()) {
        assert_eq!(fingerprint(a), fingerprint(b), "{}", a.name);
    }
}

#[test]
fn closed_manifold_after_welding() {
    for asset in samples() {
        let m = mesh(asset);
        let rings = OneRings::build(&m.topology, &weld(m));
        for c in 0..rings.len() {
            assert!(
                rings.is_manifold[c] && !rings.is_border[c],
                "{}: point {c} at {:?} is closed and manifold",
                asset.name,
                m.positions[weld(m).first_vertex[c] as usize]
            );
        }
        // Sphere-like pieces: Euler characteristic 2 each (the creature has two eyes).
        let pieces = if asset.name == "creature" { 3 } else { 1 };
        let faces = m.topology.triangles().len();
        assert_eq!(
            rings.len() + faces,
            faces * 3 / 2 + 2 * pieces,
            "{}: no holes, no handles",
            asset.name
        );
    }
}

#[test]
fn triangles_are_neither_flat_nor_inverted() {
    for asset in samples() {
        let m = mesh(asset);
        let normals = m.normals.as_ref().expect("authored");
        let mut volume = 0.0;
        for t in m.topology.triangles() {
            let [a, b, c] =
                t.map(|v| sinew_geom::Vec3::from_iterator(m.positions[v as usize].map(f64::from)));
            let n = (b - a).cross(&(c - a));
            assert!(n.norm() > 1e-9, "{}: {t:?} has area", asset.name);
            volume += a.dot(&b.cross(&c)) / 6.0;
            for v in t {
                let given = sinew_geom::Vec3::from_iterator(normals[*v as usize].map(f64::from));
                assert!((given.norm() - 1.0).abs() < 1e-5, "unit normal");
                assert!(
                    given.dot(&n.normalize()) > 0.0,
                    "{}: the normal of vertex {v} points out of {t:?}, {a:?} {b:?} {c:?}",
                    asset.name
                );
            }
        }
        assert!(volume > 1e-3, "{}: {volume} m3", asset.name);
    }
}

#[test]
fn arrays_cover_all_vertices_and_seams_are_split() {
    for asset in samples() {
        let m = mesh(asset);
        let count = m.vertex_count();
        assert_eq!(m.normals.as_ref().map(Vec::len), Some(count));
        assert_eq!((m.uvs[0].len(), m.colors[0].len()), (count, count));
        assert_eq!(m.positions.len(), count);
        let split = count - weld(m).class_count();
        assert!(split > 20, "{}: {split} vertices split", asset.name);
        assert!(
            m.uvs[0].iter().flatten().all(|c| (0.0..=1.0).contains(c)),
            "{}: inside the texture",
            asset.name
        );
        // No triangle spans the texture from one side of a seam to the other, but for the few around the ends
        // of a chart, where the angle has no meaning.
        let wide = m.topology.triangles().iter().filter(|t| {
            let [a, b, c] = t.map(|v| m.uvs[0][v as usize]);
            a[0].max(b[0]).max(c[0]) - a[0].min(b[0]).min(c[0]) > 0.15
        });
        let wide = wide.count();
        assert!(
            wide * 200 < m.topology.triangles().len(),
            "{}: {wide} wide triangles",
            asset.name
        );
    }
}

#[test]
fn weights_are_normalised_and_split_vertices_agree() {
    for asset in samples() {
        let m = mesh(asset);
        let influences = m.influences.as_ref().expect("bound");
        let weld = weld(m);
        let mut most = 0;
        for v in 0..m.vertex_count() {
            let row: Vec<(u32, f32)> = influences.row(v).collect();
            let sum: f64 = row.iter().map(|r| f64::from(r.1)).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{} vertex {v}: {sum}", asset.name);
            assert!(
                row.iter()
                    .all(|r| (r.0 as usize) < asset.rig.joints().len())
            );
            most = most.max(row.len());
            let first = weld.first_vertex[weld.class_of_vertex[v] as usize] as usize;
            assert_eq!(row, influences.row(first).collect::<Vec<_>>());
            if asset.name != "ball" {
                assert_eq!(m.colors[0][v], m.colors[0][first]);
            }
        }
        if asset.name != "ball" {
            assert!((4..=8).contains(&most), "{}: up to {most}", asset.name);
        }
    }
}

#[test]
fn sizes_are_what_the_docs_say() {
    for (asset, vertices, joints) in samples()
        .iter()
        .zip([3000..9000, 3000..9000, 1000..3000])
        .zip([19, 28, 1])
        .map(|((a, v), j)| (a, v, j))
    {
        let count = mesh(asset).vertex_count();
        assert!(vertices.contains(&count), "{}: {count}", asset.name);
        assert_eq!(asset.rig.joints().len(), joints);
    }
}

#[test]
fn morph_targets_move_something_and_stay_sparse() {
    for asset in samples() {
        let m = mesh(asset);
        let t = &m.morph_targets[0];
        assert_eq!(asset.rig.morph_weight_count(), m.morph_targets.len());
        assert_eq!(
            (t.vertices.len(), t.positions.len()),
            (t.normals.len(), t.normals.len())
        );
        assert!(t.vertices.windows(2).all(|w| w[0] < w[1]), "ascending");
        let largest = t
            .positions
            .iter()
            .map(|d| d.iter().map(|c| c * c).sum::<f32>().sqrt())
            .fold(0.0, f32::max);
        assert!(largest > 0.01, "{}: moves {largest} m", asset.name);
        assert!(
            t.vertices.len() < m.vertex_count() / 2,
            "{}: sparse",
            asset.name
        );
    }
}

#[test]
fn rest_pose_changes_nothing() {
    for asset in samples() {
        for (j, m) in asset.rig.rest_pose().palette.iter().enumerate() {
            let a: sinew_geom::Affine<f64> = m.unpack();
            let off = (a.linear - sinew_geom::Mat3::identity()).norm() + a.translation.norm();
            assert!(off < 1e-6, "{} joint {j}: {off}", asset.name);
        }
    }
}

#[test]
fn clips_start_at_zero_and_move_within_reach() {
    for (asset, name, end) in samples()
        .iter()
        .zip([("bend", 100.0), ("walk", 30.0), ("bounce", 48.0)])
        .map(|(a, (n, e))| (a, n, e))
    {
        let clip = asset.find_clip(Some(name)).expect("named clip");
        let (first, last) = clip.range();
        assert_eq!(first, 0.0);
        assert!((last - end / 30.0).abs() < 1e-5, "{name} ends at {last}");
        let mut pose = asset.rig.rest_pose();
        for frame in 0..=100 {
            asset
                .rig
                .evaluate(Some(clip), f64::from(frame) / 30.0, &mut pose);
            for n in &pose.scene_from_node {
                assert!(
                    n.is_finite() && n.translation.norm() < 1.5,
                    "{name} {frame}"
                );
            }
            assert!(pose.morph_weights.iter().all(|w| (0.0..=1.0).contains(w)));
        }
    }
}

#[test]
fn the_elbow_reaches_140_degrees_and_the_wrist_120() {
    let arm = &samples()[0];
    let mut pose = arm.rig.rest_pose();
    arm.rig.evaluate(arm.clips.first(), 1.8, &mut pose);
    let angle = |joint: &str| {
        let node = arm.rig.find_node(joint).expect("a joint");
        match pose.locals[node] {
            sinew_geom::LocalTransform::Trs(t) => t.rotation.angle().to_degrees(),
            sinew_geom::LocalTransform::Matrix(_) => 0.0,
        }
    };
    assert!(
        (angle("forearm") - 140.0).abs() < 0.01,
        "{}",
        angle("forearm")
    );
    assert!((angle("hand") - 120.0).abs() < 0.01, "{}", angle("hand"));
}

#[test]
fn the_head_turns_by_180_degrees_in_two_frames() {
    let head = crate::head().expect("valid");
    let clip = head.find_clip(Some("turn")).expect("named clip");
    // The mesh has the same name.
    let node = head.rig.joints()[2].node;
    let mut pose = head.rig.rest_pose();
    for (frame, degrees) in [(0, -90.0), (15, -90.0), (16, 0.0), (17, 90.0), (60, 90.0)] {
        head.rig
            .evaluate(Some(clip), f64::from(frame) / 30.0, &mut pose);
        let linear = &pose.scene_from_node[node].linear;
        // Where the nose points.
        let found = linear[(0, 2)].atan2(linear[(2, 2)]).to_degrees();
        assert!((found - degrees).abs() < 0.01, "frame {frame}: {found}");
    }
}

#[test]
fn the_walk_loops() {
    let creature = &samples()[1];
    let clip = creature.clips.first();
    let (mut a, mut b) = (creature.rig.rest_pose(), creature.rig.rest_pose());
    creature.rig.evaluate(clip, 0.0, &mut a);
    creature.rig.evaluate(clip, 1.0, &mut b);
    for (x, y) in a.scene_from_node.iter().zip(&b.scene_from_node) {
        assert!((x.linear - y.linear).norm() + (x.translation - y.translation).norm() < 1e-5);
    }
}

#[test]
fn sheets_have_about_the_size_that_was_asked_for() {
    for (asked, found) in [(0, 4), (1, 4), (1000, 992), (1_000_000, 1_000_000)] {
        let sheet = crate::sheet(asked).expect("valid");
        let mesh = &sheet.meshes[0];
        assert_eq!(mesh.vertex_count(), found);
        let influences = mesh.influences.as_ref().expect("skinned");
        assert_eq!(influences.max_per_vertex(), 4);
        assert_eq!(sheet.rig.joints().len(), 64);
        assert_eq!(sheet.clips[0].range(), (0.0, 1.0));
    }
}
