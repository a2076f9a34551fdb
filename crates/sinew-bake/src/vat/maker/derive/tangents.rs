//! Tangents of vertices from texture coordinates, as glTF has them: where `u` rises, and the hand of the bitangent.
//!
//! Each triangle has one direction; a vertex takes the mean by angle of its triangles, made square to its normal, as MikkTSpace does for vertices that are
//! not split. Vertices that mirrored charts share would have to be: they take the hand that most of the angle has.

use crate::vat::maker::normals::corner_normals;
use nalgebra::Vector3;
use sinew_geom::Mesh;

type Vector = Vector3<f64>;

/// Unit tangent and hand (1 or -1: `bitangent = cross(normal, tangent) * hand`, which points where the texture goes up, against `v`) at each vertex, from the first
/// set of texture coordinates; `None` where there is none.
///
/// Where texture coordinates say nothing, any direction in the surface. `crease` (radians) as in [`corner_normals`].
pub(crate) fn vertex_tangents(mesh: &Mesh, crease: f32) -> Option<Vec<[f32; 4]>> {
    let uvs = mesh.uvs.first()?;
    let normals = corner_normals(&mesh.topology, &mesh.positions, crease);
    let count = mesh.positions.len();
    let (mut along, mut around) = (vec![Vector::zeros(); count], vec![Vector::zeros(); count]);
    let mut hands = vec![0.0; count];
    let place = |v: u32| Vector::from(mesh.positions[v as usize].map(f64::from));
    for (t, normals) in mesh.topology.triangles().iter().zip(normals) {
        let places = t.map(place);
        let rise = rise_of(&places, t.map(|v| uvs[v as usize].map(f64::from)));
        for k in 0..3 {
            let v = t[k] as usize;
            let angle = angle_at(&places, k);
            around[v] += Vector::from(normals[k].map(f64::from)) * angle;
            if let Some((direction, hand)) = rise {
                along[v] += direction * angle;
                hands[v] += hand * angle;
            }
        }
    }
    let each = along.iter().zip(&around).zip(hands);
    let tangent = |((along, around), hand): ((&Vector, &Vector), f64)| {
        let tangent = square_to(around, along);
        let hand = if hand < 0.0 { -1.0 } else { 1.0 };
        [tangent.x as f32, tangent.y as f32, tangent.z as f32, hand]
    };
    Some(each.map(tangent).collect())
}

/// Unit direction in which `u` rises in a triangle, and the hand of its chart.
fn rise_of(places: &[Vector; 3], uvs: [[f64; 2]; 3]) -> Option<(Vector, f64)> {
    let (p, q) = (places[1] - places[0], places[2] - places[0]);
    let [[a, b], [c, d]] = [1, 2].map(|k: usize| [0, 1].map(|i: usize| uvs[k][i] - uvs[0][i]));
    let area = a * d - b * c;
    let direction = (p * d - q * b) * area.signum();
    let unit = direction.try_normalize(f64::MIN_POSITIVE)?;
    // `v` counts down, as in glTF: a chart that is not mirrored turns the other way round in the texture.
    (area != 0.0).then_some((unit, -area.signum()))
}

/// Angle of a corner, radians; zero where sides have no length.
fn angle_at(places: &[Vector; 3], k: usize) -> f64 {
    let (a, b) = (
        places[(k + 1) % 3] - places[k],
        places[(k + 2) % 3] - places[k],
    );
    a.angle(&b)
}

/// The unit part of `along` that is square to `normal`, or any direction that is.
fn square_to(normal: &Vector, along: &Vector) -> Vector {
    let normal = normal
        .try_normalize(f64::MIN_POSITIVE)
        .unwrap_or_else(Vector::y);
    let part = |v: &Vector| v - normal * normal.dot(v);
    let other = if normal.x.abs() < 0.9 {
        Vector::x()
    } else {
        Vector::z()
    };
    let part_of_along = part(along).try_normalize(1e-12);
    part_of_along.unwrap_or_else(|| part(&other).normalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_testkit::meshes::mesh_from;

    /// A half cylinder of radius 1 around Z; `u` goes around it (once mirrored), `v` down from `z = 1`. Counter-clockwise seen from outside.
    fn half_pipe(mirrored: bool) -> Mesh {
        let (mut positions, mut uvs, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..=24_u32 {
            let share = i as f32 / 24.0;
            let (sin, cos) = (share * std::f32::consts::PI).sin_cos();
            for z in [0.0, 1.0] {
                positions.push([cos, sin, z]);
                uvs.push([if mirrored { 1.0 - share } else { share }, 1.0 - z]);
            }
            if i > 0 {
                let [a, b, c, d] = [2 * i - 2, 2 * i - 1, 2 * i, 2 * i + 1];
                triangles.extend([[a, c, d], [a, d, b]]);
            }
        }
        let mut mesh = mesh_from("pipe", positions, triangles);
        mesh.uvs = vec![uvs];
        mesh
    }

    /// By hand: around the cylinder, and the bitangent goes up the texture, which is +Z.
    #[test]
    fn tangents_go_around_a_cylinder() {
        for mirrored in [false, true] {
            let mesh = half_pipe(mirrored);
            let found = vertex_tangents(&mesh, 1.0).expect("texture coordinates");
            for (v, [x, y, z, hand]) in found.into_iter().enumerate() {
                let [px, py, _] = mesh.positions[v];
                let sign = if mirrored { -1.0 } else { 1.0 };
                let truth = [-py * sign, px * sign, 0.0];
                // At the ends the only triangle is half a step off.
                let off = [x - truth[0], y - truth[1], z].map(f32::abs);
                assert!(off.iter().all(|o| *o < 0.07), "vertex {v}: {off:?}");
                let bitangent_z = (px * y - py * x) * hand;
                assert!(bitangent_z > 0.99, "vertex {v}: {bitangent_z}");
            }
        }
    }

    #[test]
    fn what_says_nothing_gives_a_direction_in_the_surface() {
        let mut mesh = half_pipe(false);
        assert!(
            vertex_tangents(
                &Mesh {
                    uvs: Vec::new(),
                    ..mesh.clone()
                },
                1.0
            )
            .is_none()
        );
        mesh.uvs[0].fill([0.5; 2]);
        mesh.positions[7] = mesh.positions[9];
        for [x, y, z, hand] in vertex_tangents(&mesh, 1.0).expect("texture coordinates") {
            assert!((x * x + y * y + z * z - 1.0).abs() < 1e-5 && hand == 1.0);
        }
    }
}
