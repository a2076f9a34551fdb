//! What must hold for everything that a reader accepts; the deformers index without looking.

use sinew::geom::{Asset, Attribute, Influences, LocalTransform, Mesh, Polygons, Rig, Selection};

/// Checks the asset, merges its meshes, plays its clips.
pub fn check_asset(asset: &Asset) {
    check_rig(&asset.rig);
    for mesh in &asset.meshes {
        check_mesh(mesh);
        check_binding(mesh, &asset.rig);
    }
    check_clips(asset);
    if asset.meshes.is_empty() {
        return;
    }
    if let Ok(merged) = asset.merged(&Selection::All) {
        check_mesh(&merged);
        let sum: usize = asset.meshes.iter().map(Mesh::vertex_count).sum();
        assert_eq!(merged.vertex_count(), sum, "merging keeps every vertex");
    }
}

fn finite<'a>(what: &str, mut numbers: impl Iterator<Item = &'a f32>) {
    assert!(
        numbers.all(|n| n.is_finite()),
        "{what} hold a number that is not finite"
    );
}

/// Lengths, index ranges, finite numbers.
pub fn check_mesh(mesh: &Mesh) {
    let n = mesh.vertex_count();
    assert_eq!(mesh.positions.len(), n, "one position a vertex");
    finite("positions", mesh.positions.as_flattened().iter());
    if let Some(normals) = &mesh.normals {
        assert_eq!(normals.len(), n, "one normal a vertex");
        finite("normals", normals.as_flattened().iter());
    }
    if let Some(tangents) = &mesh.tangents {
        assert_eq!(tangents.len(), n, "one tangent a vertex");
        finite("tangents", tangents.as_flattened().iter());
    }
    for set in &mesh.uvs {
        assert_eq!(set.len(), n, "one texture coordinate a vertex");
        finite("texture coordinates", set.as_flattened().iter());
    }
    for set in &mesh.colors {
        assert_eq!(set.len(), n, "one colour a vertex");
        finite("colours", set.as_flattened().iter());
    }
    for (name, attribute) in &mesh.attributes {
        assert_eq!(attribute.len(), n, "one {name} a vertex");
        match attribute {
            Attribute::Scalar(v) => finite(name, v.iter()),
            Attribute::Vec2(v) => finite(name, v.as_flattened().iter()),
            Attribute::Vec3(v) => finite(name, v.as_flattened().iter()),
            Attribute::Vec4(v) => finite(name, v.as_flattened().iter()),
        }
    }
    check_topology(mesh);
    check_parts(mesh);
    for target in &mesh.morph_targets {
        let moving = target.vertices.len();
        assert!(
            target.vertices.is_sorted_by(|a, b| a < b),
            "vertices of a target ascend"
        );
        assert!(
            target.vertices.last().is_none_or(|&v| (v as usize) < n),
            "vertices of a target exist"
        );
        assert_eq!(target.positions.len(), moving, "one delta a moving vertex");
        for list in [&target.normals, &target.tangents] {
            assert!(
                list.is_empty() || list.len() == moving,
                "one delta a moving vertex"
            );
            finite("deltas", list.as_flattened().iter());
        }
        finite("deltas", target.positions.as_flattened().iter());
    }
}

fn check_topology(mesh: &Mesh) {
    let n = mesh.vertex_count();
    let inside = |v: &u32| (*v as usize) < n;
    let triangles = mesh.topology.triangles();
    assert!(
        triangles.as_flattened().iter().all(inside),
        "corners are vertices"
    );
    let Some(Polygons { offsets, indices }) = mesh.topology.polygons() else {
        return;
    };
    assert_eq!(offsets.first(), Some(&0), "faces start at the first corner");
    assert_eq!(
        offsets.last().map(|&o| o as usize),
        Some(indices.len()),
        "faces end at the last corner"
    );
    assert!(
        offsets.windows(2).all(|w| w[1] >= w[0] + 3),
        "faces have three corners or more"
    );
    assert!(indices.iter().all(inside), "corners are vertices");
    let expected = indices.len() - 2 * (offsets.len() - 1);
    assert_eq!(triangles.len(), expected, "each face is one fan");
}

/// Parts follow each other, or share the vertices of an earlier part, and cover the mesh; each triangle keeps to the
/// vertices of its part.
fn check_parts(mesh: &Mesh) {
    let (mut vertices, mut triangles) = (0, 0);
    for (at, part) in mesh.parts.iter().enumerate() {
        let is_shared = mesh.parts[..at].iter().any(|p| p.vertices == part.vertices);
        assert!(
            is_shared || part.vertices.start == vertices,
            "vertices of parts follow"
        );
        assert_eq!(part.triangles.start, triangles, "triangles of parts follow");
        vertices = vertices.max(part.vertices.end);
        triangles = part.triangles.end;
        let corners = mesh.topology.triangles()[part.triangles.clone()].as_flattened();
        assert!(
            corners
                .iter()
                .all(|&v| part.vertices.contains(&(v as usize))),
            "triangles keep to their part"
        );
    }
    if !mesh.parts.is_empty() {
        assert_eq!(vertices, mesh.vertex_count(), "parts cover all vertices");
        assert_eq!(
            triangles,
            mesh.topology.triangles().len(),
            "parts cover all triangles"
        );
    }
}

/// Influences and morph targets against the rig.
fn check_binding(mesh: &Mesh, rig: &Rig) {
    if let Some(influences) = &mesh.influences {
        check_influences(influences, mesh.vertex_count(), rig.joints().len());
    }
    if !mesh.morph_targets.is_empty() {
        let end = mesh.morph_offset + mesh.morph_targets.len();
        assert!(
            end <= rig.morph_weight_count(),
            "every target has its weight"
        );
    }
}

fn check_influences(influences: &Influences, vertex_count: usize, joint_count: usize) {
    assert_eq!(influences.vertex_count(), vertex_count, "one row a vertex");
    let offsets = influences.offsets();
    assert_eq!(offsets[0], 0, "rows start at the first influence");
    assert!(offsets.is_sorted(), "rows follow each other");
    assert_eq!(
        offsets[vertex_count] as usize,
        influences.joints().len(),
        "rows end at the last influence"
    );
    assert_eq!(
        influences.joints().len(),
        influences.weights().len(),
        "one weight a joint"
    );
    assert!(
        influences
            .joints()
            .iter()
            .all(|&j| (j as usize) < joint_count),
        "joints exist"
    );
    for v in 0..vertex_count {
        let sum: f64 = influences.row(v).map(|(_, w)| f64::from(w)).sum();
        assert!(
            (sum - 1.0).abs() < 1e-3,
            "weights of vertex {v} sum to {sum}"
        );
    }
}

/// Parents first, finite transforms, weights numbered without gaps.
pub fn check_rig(rig: &Rig) {
    let mut weights = 0;
    for (index, node) in rig.nodes().iter().enumerate() {
        assert!(node.parent.is_none_or(|p| p < index), "parents come first");
        assert_eq!(node.morph_offset, weights, "weights are numbered in order");
        weights += node.morph_weights.len();
        finite("morph weights", node.morph_weights.iter());
        assert!(node.local.to_affine().is_finite(), "transforms are finite");
        if let LocalTransform::Trs(t) = &node.local {
            let length = t.rotation.as_ref().norm();
            assert!((length - 1.0).abs() < 1e-6, "rotations have unit length");
        }
    }
    assert_eq!(weights, rig.morph_weight_count(), "all weights are counted");
    for joint in rig.joints() {
        assert!(joint.node < rig.nodes().len(), "joints are nodes");
        assert!(
            joint.joint_from_bind.is_finite(),
            "bind transforms are finite"
        );
    }
}

fn check_clips(asset: &Asset) {
    let mut pose = asset.rig.rest_pose();
    for clip in &asset.clips {
        for channel in clip.channels() {
            assert!(
                channel.node < asset.rig.nodes().len(),
                "channels drive nodes"
            );
            assert!(channel.key_count() > 0, "channels have keys");
        }
        let (first, last) = clip.range();
        assert!(
            first.is_finite() && last.is_finite() && first <= last,
            "times rise"
        );
        let (first, last) = (f64::from(first), f64::from(last));
        for time in [first - 1.0, first, (first + last) / 2.0, last, last + 1.0] {
            asset.rig.evaluate(Some(clip), time, &mut pose);
        }
        assert_eq!(pose.palette.len(), asset.rig.joints().len(), "one a joint");
    }
}
