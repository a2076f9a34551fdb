//! The parts of a mesh as primitives of a new file.

use sinew_geom::{Mesh, MeshPart};
use std::ops::Range;

/// Parts whose vertex ranges are equal or disjoint, increase, and together are all vertices: a reader that joins them gets the same
/// vertices in the same order. The whole mesh if the parts do not have each triangle once.
pub(super) fn parts_of(mesh: &Mesh) -> Vec<MeshPart> {
    let triangles = mesh.topology.triangles();
    let mut parts = mesh.parts.clone();
    let fits = |p: &MeshPart| p.triangles.end <= triangles.len();
    let covered: usize = parts.iter().map(|p| p.triangles.len()).sum();
    if covered != triangles.len() || !parts.iter().all(fits) {
        parts.clear();
    }
    parts.retain(|p| !p.triangles.is_empty());
    if parts.is_empty() {
        return vec![whole(mesh)];
    }
    for part in &mut parts {
        let corners = triangles[part.triangles.clone()].iter().flatten();
        for &v in corners {
            part.vertices.start = part.vertices.start.min(v as usize);
            part.vertices.end = part.vertices.end.max(v as usize + 1);
        }
    }
    let ranges = ranges(&parts, mesh.vertex_count());
    for part in &mut parts {
        let before = ranges.partition_point(|r| r.start <= part.vertices.start);
        if let Some(range) = before.checked_sub(1).and_then(|r| ranges.get(r)) {
            part.vertices = range.clone();
        }
    }
    parts
}

fn whole(mesh: &Mesh) -> MeshPart {
    let material = mesh.parts.first().and_then(|p| p.material);
    MeshPart {
        name: mesh.name.clone(),
        source_mesh: 0,
        material: material.filter(|m| mesh.parts.iter().all(|p| p.material == Some(*m))),
        vertices: 0..mesh.vertex_count(),
        triangles: 0..mesh.topology.triangles().len(),
        flat_shaded: mesh.is_flat(),
    }
}

/// Joins ranges that overlap. Vertices that no part has go to the range before them. All vertices are one range if parts are not in
/// the order of their vertices.
fn ranges(parts: &[MeshPart], count: usize) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for Range { start, end } in parts.iter().map(|p| p.vertices.clone()) {
        match joined.last_mut() {
            Some(last) if start < last.start => {
                joined.truncate(1);
                joined[0] = 0..count;
                return joined;
            }
            Some(last) if start < last.end => last.end = last.end.max(end),
            _ => joined.push(start..end),
        }
    }
    let starts: Vec<usize> = joined.iter().skip(1).map(|r| r.start).collect();
    for (range, next) in joined.iter_mut().zip(starts.into_iter().chain([count])) {
        range.end = next;
    }
    if let Some(first) = joined.first_mut() {
        first.start = 0;
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::Topology;

    /// A mesh of eight vertices; parts are vertex ranges with one triangle at their start.
    fn of(ranges: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let corner = |v: usize| v as u32;
        let triangles = ranges.iter().map(|r| [r.0, r.0 + 1, r.0 + 2].map(corner));
        let topology = Topology::new(8, triangles.collect()).expect("in range");
        let mut mesh = Mesh::new("m", topology, vec![[0.0; 3]; 8]);
        let part = |(k, r): (usize, &(usize, usize))| MeshPart {
            name: "m".into(),
            source_mesh: 0,
            material: None,
            vertices: r.0..r.1,
            triangles: k..k + 1,
            flat_shaded: false,
        };
        mesh.parts = ranges.iter().enumerate().map(part).collect();
        let parts = parts_of(&mesh);
        parts
            .iter()
            .map(|p| (p.vertices.start, p.vertices.end))
            .collect()
    }

    #[test]
    fn ranges_are_equal_or_disjoint_and_cover_all() {
        assert_eq!(of(&[(0, 4), (4, 8)]), [(0, 4), (4, 8)]);
        assert_eq!(of(&[(0, 4), (0, 4), (5, 8)]), [(0, 5), (0, 5), (5, 8)]);
        assert_eq!(of(&[(0, 5), (3, 8)]), [(0, 8), (0, 8)], "overlap");
        assert_eq!(of(&[(4, 8), (0, 4)]), [(0, 8), (0, 8)], "another order");
        assert_eq!(of(&[(2, 3)]), [(0, 8)], "corners beyond the part");
    }
}
