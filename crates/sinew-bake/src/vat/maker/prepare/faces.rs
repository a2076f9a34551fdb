//! Deleting faces of a mesh, with everything that hangs on its vertices.

use super::vector::{Point, wide};
use sinew_geom::{Attribute, Mesh, MorphTarget, Topology, index32};
use std::sync::Arc;

/// The corners of a triangle.
pub(super) fn corners(mesh: &Mesh, triangle: &[u32; 3]) -> [Point; 3] {
    triangle.map(|v| wide(mesh.positions[v as usize]))
}

/// The mesh without the faces whose corners are not all finite, and how many those were.
pub(super) fn without_not_finite(mesh: &Mesh) -> (Mesh, usize) {
    let mut out = mesh.clone();
    let finite = |v: &u32| mesh.positions[*v as usize].iter().all(|c| c.is_finite());
    let triangles = mesh.topology.triangles();
    let keep: Vec<bool> = triangles.iter().map(|t| t.iter().all(finite)).collect();
    let dropped = keep_faces(&mut out, &keep);
    (out, dropped)
}

/// Keeps the faces that are marked; returns how many went. A mesh that loses none stays as it is.
pub(super) fn keep_faces(mesh: &mut Mesh, keep: &[bool]) -> usize {
    let triangles = mesh.topology.triangles();
    let pairs = triangles.iter().zip(keep);
    let kept: Vec<[u32; 3]> = pairs.filter(|(_, keep)| **keep).map(|(t, _)| *t).collect();
    let gone = triangles.len() - kept.len();
    if gone > 0 {
        *mesh = with_triangles(mesh, &kept);
    }
    gone
}

/// The mesh with these triangles of its vertices; vertices that none of them uses go, the rest keep their order.
pub(super) fn with_triangles(mesh: &Mesh, triangles: &[[u32; 3]]) -> Mesh {
    let (used, new_index) = used_vertices(mesh.vertex_count(), triangles);
    let renamed = triangles.iter().map(|t| t.map(|v| new_index[v as usize]));
    let mut out = gather(mesh, &used);
    // Indices were in range before and are counted anew here.
    if let Ok(topology) = Topology::new(index32(used.len()), renamed.collect()) {
        out.topology = Arc::new(topology);
    }
    out
}

/// The vertices that triangles use, rising, and the new index of each old vertex (of no meaning for the others).
fn used_vertices(vertex_count: usize, triangles: &[[u32; 3]]) -> (Vec<usize>, Vec<u32>) {
    let mut is_used = vec![false; vertex_count];
    for &v in triangles.iter().flatten() {
        is_used[v as usize] = true;
    }
    let mut new_index = vec![0; vertex_count];
    let mut used = Vec::new();
    for v in (0..vertex_count).filter(|&v| is_used[v]) {
        new_index[v] = index32(used.len());
        used.push(v);
    }
    (used, new_index)
}

/// Everything but the topology, of these vertices.
fn gather(mesh: &Mesh, used: &[usize]) -> Mesh {
    Mesh {
        name: mesh.name.clone(),
        data_name: mesh.data_name.clone(),
        topology: Arc::default(),
        positions: pick(&mesh.positions, used),
        normals: mesh.normals.as_ref().map(|n| pick(n, used)),
        tangents: mesh.tangents.as_ref().map(|t| pick(t, used)),
        uvs: mesh.uvs.iter().map(|set| pick(set, used)).collect(),
        colors: mesh.colors.iter().map(|set| pick(set, used)).collect(),
        attributes: mesh
            .attributes
            .iter()
            .map(|(n, a)| (n.clone(), pick_attribute(a, used)))
            .collect(),
        influences: mesh
            .influences
            .as_ref()
            .map(|i| i.gathered(used.iter().copied())),
        morph_targets: mesh
            .morph_targets
            .iter()
            .map(|t| pick_target(t, used))
            .collect(),
        morph_offset: mesh.morph_offset,
        morph_weight_indices: mesh.morph_weight_indices.clone(),
        parts: Vec::new(),
        points: used.iter().map(|v| mesh.point_of(index32(*v))).collect(),
    }
}

fn pick<T: Copy>(values: &[T], used: &[usize]) -> Vec<T> {
    used.iter().map(|&v| values[v]).collect()
}

fn pick_attribute(attribute: &Attribute, used: &[usize]) -> Attribute {
    match attribute {
        Attribute::Scalar(a) => Attribute::Scalar(pick(a, used)),
        Attribute::Vec2(a) => Attribute::Vec2(pick(a, used)),
        Attribute::Vec3(a) => Attribute::Vec3(pick(a, used)),
        Attribute::Vec4(a) => Attribute::Vec4(pick(a, used)),
    }
}

/// The deltas of the vertices that are left, under their new indices.
fn pick_target(target: &MorphTarget, used: &[usize]) -> MorphTarget {
    let mut out = MorphTarget {
        name: target.name.clone(),
        ..MorphTarget::default()
    };
    for (row, &v) in target.vertices.iter().enumerate() {
        let Ok(new) = used.binary_search(&(v as usize)) else {
            continue;
        };
        out.vertices.push(index32(new));
        // A target may have no normals or tangents at all.
        out.positions.extend(target.positions.get(row));
        out.normals.extend(target.normals.get(row));
        out.tangents.extend(target.tangents.get(row));
    }
    out
}
