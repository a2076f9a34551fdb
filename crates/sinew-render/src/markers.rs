//! Markers at points, for example the control points of a lattice.

use crate::facets::{self, OCTAHEDRON, Octahedron};
use sinew_geom::{Mesh, Vec3};

/// A mesh with a small flat-shaded octahedron at each point. Points and `radius` are in metres, `color` is linear RGBA. It has 24 vertices
/// per point, in the order of the points. Draw it with [`Paint::Colors`](crate::Paint::Colors). Points that are NaN or infinite keep their
/// index in the arrays and are not visible.
pub fn points_mesh(points: &[[f32; 3]], radius: f32, color: [f32; 4]) -> Mesh {
    let (mut positions, mut normals) = (Vec::new(), Vec::new());
    points_into(points, radius, &mut positions, &mut normals);
    let colors = vec![color; positions.len()];
    facets::mesh("points", positions, normals, colors)
}

/// Replaces `positions` and `normals` with those of [`points_mesh`] for moved points.
pub(crate) fn points_into(
    points: &[[f32; 3]],
    radius: f32,
    positions: &mut Vec<[f32; 3]>,
    normals: &mut Vec<[f32; 3]>,
) {
    positions.reserve(points.len() * OCTAHEDRON);
    let ball = |p: &[f32; 3]| {
        let middle = Vec3::from(p.map(f64::from));
        Octahedron::ball(middle, f64::from(radius))
    };
    facets::fill(points.iter().map(ball), positions, normals);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_has_a_closed_shape_around_it_whose_faces_look_outwards() {
        let points = [[1.0, 2.0, 3.0], [-4.0, 0.5, 0.0]];
        let mesh = points_mesh(&points, 0.1, [0.2, 0.4, 0.6, 1.0]);
        mesh.check().expect("one of everything a vertex");
        assert_eq!(mesh.vertex_count(), 48);
        assert_eq!(mesh.topology.triangles().len(), 16);
        assert_eq!(mesh.colors[0], [[0.2, 0.4, 0.6, 1.0]; 48]);
        let normals = mesh.normals.as_ref().expect("flat shading");
        for (v, p) in mesh.positions.iter().enumerate() {
            let offset: [f32; 3] = std::array::from_fn(|c| p[c] - points[v / 24][c]);
            let length = offset.iter().map(|c| c * c).sum::<f32>().sqrt();
            assert!((length - 0.1).abs() < 1e-6, "vertex {v}: {length}");
            let outwards: f32 = (0..3).map(|c| offset[c] * normals[v][c]).sum();
            assert!((outwards - 0.1 / 3.0_f32.sqrt()).abs() < 1e-6, "vertex {v}");
        }
        for t in mesh.topology.triangles() {
            let [a, b, c] = t.map(|v| Vec3::from(mesh.positions[v as usize]));
            let wound = (b - a).cross(&(c - a)).normalize();
            let stored = Vec3::from(normals[t[0] as usize]);
            assert!((wound - stored).norm() < 1e-5, "{t:?}");
        }
    }

    #[test]
    fn odd_points_keep_the_count() {
        let points = [[f32::NAN, 0.0, 0.0], [0.0; 3]];
        let mesh = points_mesh(&points, 0.1, [1.0; 4]);
        mesh.check().expect("one of everything a vertex");
        assert_eq!(mesh.vertex_count(), 48);
        assert!(points_mesh(&[], 0.1, [1.0; 4]).positions.is_empty());
        let flat = points_mesh(&[[0.0; 3]], 0.0, [1.0; 4]);
        assert_eq!(flat.normals, Some(vec![[0.0, 1.0, 0.0]; 24]));
    }
}
