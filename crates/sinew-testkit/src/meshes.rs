//! Small meshes with known properties, deterministic.

use sinew_geom::{Influences, Mesh, Topology};
use std::f32::consts::TAU;

/// `nx` by `ny` quads in the unit square of the XY plane, each split in two; with UVs and normals.
pub fn grid(nx: u32, ny: u32) -> Mesh {
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for y in 0..=ny {
        for x in 0..=nx {
            positions.push([x as f32 / nx as f32, y as f32 / ny as f32, 0.0]);
        }
    }
    for y in 0..ny {
        for x in 0..nx {
            let a = y * (nx + 1) + x;
            let (b, c, d) = (a + 1, a + nx + 2, a + nx + 1);
            triangles.push([a, b, c]);
            triangles.push([a, c, d]);
        }
    }
    let mut mesh = mesh_from("grid", positions, triangles);
    mesh.uvs = vec![mesh.positions.iter().map(|p| [p[0], 1.0 - p[1]]).collect()];
    mesh.normals = Some(vec![[0.0, 0.0, 1.0]; mesh.positions.len()]);
    mesh
}

/// A closed sphere of radius 1 with `rings` by `segments` faces, poles included, no seam splits.
pub fn sphere(rings: u32, segments: u32) -> Mesh {
    let mut positions = vec![[0.0, 1.0, 0.0]];
    for r in 1..rings {
        let theta = r as f32 / rings as f32 * TAU / 2.0;
        for s in 0..segments {
            let phi = s as f32 / segments as f32 * TAU;
            positions.push([
                theta.sin() * phi.sin(),
                theta.cos(),
                theta.sin() * phi.cos(),
            ]);
        }
    }
    positions.push([0.0, -1.0, 0.0]);
    let at = |r: u32, s: u32| 1 + (r - 1) * segments + s % segments;
    let last = positions.len() as u32 - 1;
    let mut triangles = Vec::new();
    for s in 0..segments {
        triangles.push([0, at(1, s), at(1, s + 1)]);
        triangles.push([last, at(rings - 1, s + 1), at(rings - 1, s)]);
        for r in 1..rings - 1 {
            triangles.push([at(r, s), at(r + 1, s), at(r + 1, s + 1)]);
            triangles.push([at(r, s), at(r + 1, s + 1), at(r, s + 1)]);
        }
    }
    let mut mesh = mesh_from("sphere", positions, triangles);
    mesh.normals = Some(mesh.positions.clone());
    mesh
}

/// An open tube along X from 0 to `length`, radius `radius`, welded, with two joints: joint 0 below the middle,
/// joint 1 above it, blended linearly over the middle fifth.
pub fn tube(segments: u32, around: u32, length: f32, radius: f32) -> Mesh {
    let mut positions = Vec::new();
    let mut normals = Vec::new();
    let mut rows = Vec::new();
    for i in 0..=segments {
        let x = i as f32 / segments as f32;
        let t = ((x - 0.4) / 0.2).clamp(0.0, 1.0);
        for s in 0..around {
            let phi = s as f32 / around as f32 * TAU;
            positions.push([x * length, radius * phi.cos(), radius * phi.sin()]);
            normals.push([0.0, phi.cos(), phi.sin()]);
            rows.push(vec![(0_u32, 1.0 - t), (1, t)]);
        }
    }
    let mut triangles = Vec::new();
    for i in 0..segments {
        for s in 0..around {
            let (a, b) = (i * around + s, i * around + (s + 1) % around);
            let (c, d) = (b + around, a + around);
            triangles.push([a, b, c]);
            triangles.push([a, c, d]);
        }
    }
    let mut mesh = mesh_from("tube", positions, triangles);
    mesh.normals = Some(normals);
    mesh.influences = Influences::from_rows(rows.iter().map(Vec::as_slice), 2, 0)
        .ok()
        .map(|r| r.0);
    mesh
}

/// `count` triangles that share no vertex, corner `k` of triangle `t` being vertex `3 t + k`: small, all facing +Z, beside each other in
/// the unit cube. Two sets of UVs: in the first, `u` is the middle of one of as many texels as there are vertices.
pub fn loose_triangles(count: u32) -> Mesh {
    let vertices = 3 * count;
    let side = f64::from(count).sqrt().ceil() as u32;
    let corner = |v: u32| {
        let (t, k) = (v / 3, v % 3);
        let size = 1.0 / side as f32;
        let [x, y] = [t % side, t / side].map(|c| c as f32 * size);
        let [dx, dy] = [[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]][k as usize];
        [x + dx * size, y + dy * size, t as f32 / count as f32]
    };
    let triangles = (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    let mut mesh = mesh_from(
        "loose_triangles",
        (0..vertices).map(corner).collect(),
        triangles.collect(),
    );
    mesh.normals = Some(vec![[0.0, 0.0, 1.0]; vertices as usize]);
    let texel = |v: u32| [(v as f32 + 0.5) / vertices as f32, (v % 64) as f32 / 64.0];
    let other = |v: u32| [1.0 - v as f32 / vertices as f32, (v % 7) as f32 * 0.1];
    mesh.uvs = vec![
        (0..vertices).map(texel).collect(),
        (0..vertices).map(other).collect(),
    ];
    mesh
}

/// A cube of edge 1 around the origin, four vertices a face, hard edges, UVs.
pub fn cube() -> Mesh {
    let mut positions = Vec::new();
    let mut normals = Vec::new();
    let mut uvs = Vec::new();
    let mut triangles = Vec::new();
    for axis in 0..3 {
        for side in [-1.0_f32, 1.0] {
            let base = positions.len() as u32;
            for (u, v) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
                let mut p = [0.0; 3];
                p[axis] = 0.5 * side;
                p[(axis + 1) % 3] = u * side;
                p[(axis + 2) % 3] = v;
                positions.push(p);
                let mut n = [0.0; 3];
                n[axis] = side;
                normals.push(n);
                uvs.push([u + 0.5, 0.5 - v]);
            }
            triangles.push([base, base + 1, base + 2]);
            triangles.push([base, base + 2, base + 3]);
        }
    }
    let mut mesh = mesh_from("cube", positions, triangles);
    mesh.normals = Some(normals);
    mesh.uvs = vec![uvs];
    mesh
}

/// Everything awkward at once: an edge with three faces, a bow-tie vertex, a zero-area triangle, a triangle that
/// names a vertex twice, a duplicate position, an isolated vertex, a vertex with collinear edges.
pub fn degenerate() -> Mesh {
    let positions = vec![
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.5, 1.0, 0.0],
        [0.5, -1.0, 0.0],
        [0.5, 0.0, 1.0],
        [-1.0, 0.0, 0.0],
        [-1.0, 1.0, 0.0],
        [2.0, 0.0, 0.0],
        [3.0, 0.0, 0.0],
        [9.0, 9.0, 9.0],
        [1.0, 0.0, 0.0],
    ];
    let triangles = vec![
        [0, 1, 2],
        [1, 0, 3],
        [0, 1, 4],
        [0, 5, 6],
        [1, 7, 8],
        [2, 2, 4],
    ];
    mesh_from("degenerate", positions, triangles)
}

/// A mesh of places and of triangles between them.
///
/// # Panics
/// Where a triangle names a vertex that is not there: a failed test.
pub fn mesh_from(name: &str, positions: Vec<[f32; 3]>, triangles: Vec<[u32; 3]>) -> Mesh {
    let topology = Topology::new(positions.len() as u32, triangles).expect("in range");
    Mesh::new(name, topology, positions)
}

/// The same surface, each triangle with vertices of its own.
pub fn exploded(mesh: &Mesh) -> Mesh {
    let corners = mesh.topology.triangles().iter().flatten();
    let positions: Vec<_> = corners.map(|v| mesh.positions[*v as usize]).collect();
    let triangles = (0..positions.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    let triangles = triangles.collect();
    mesh_from(&mesh.name, positions, triangles)
}

/// The sides of a box whose corner `i` is high along axis `k` where bit `k` of `i` is set.
pub const BOX_SIDES: [[u32; 4]; 6] = [
    [0, 4, 6, 2],
    [1, 3, 7, 5],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 2, 3, 1],
    [4, 5, 7, 6],
];

/// Two triangles for each of [`BOX_SIDES`].
pub fn box_triangles() -> Vec<[u32; 3]> {
    let halves = |s: [u32; 4]| [[s[0], s[1], s[2]], [s[0], s[2], s[3]]];
    BOX_SIDES.into_iter().flat_map(halves).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windings_face_outwards() {
        for mesh in [sphere(8, 12), cube()] {
            for t in mesh.topology.triangles() {
                let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
                let e = |k: usize| (b[k] - a[k], c[k] - a[k]);
                let (x, y, z) = (e(0), e(1), e(2));
                let n = [
                    y.0 * z.1 - z.0 * y.1,
                    z.0 * x.1 - x.0 * z.1,
                    x.0 * y.1 - y.0 * x.1,
                ];
                let out: f32 = (0..3).map(|k| n[k] * (a[k] + b[k] + c[k])).sum();
                assert!(out > 0.0, "{} {t:?}", mesh.name);
            }
        }
    }
}
