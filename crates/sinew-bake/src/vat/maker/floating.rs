//! What engines need of a carrier of loose shapes, looked for in a mesh: what [`crate::vat::maker::carrier`] and [`crate::vat::maker::sprites`] make.

use crate::vat::maker::carrier::thick_enough;
use sinew_geom::vec3::{area_vector, length};
use sinew_geom::{Bounds, Mesh, bounds};

/// Share of the diagonal of the box that places may be off.
const TOLERANCE: f64 = 1e-5;

/// Why a mesh is no carrier of loose shapes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FloatingFault {
    /// It does not fill the box, or leaves it: engines cull by the box of the mesh.
    #[error("its box is {found:?}, expected {expected:?}")]
    Box {
        /// Lowest and highest corner.
        found: Bounds,
        /// What they should be.
        expected: Bounds,
    },
    /// A triangle has no area, which engines drop, or does not face up (+Y), from which their lighting starts.
    #[error("triangle {triangle} has no area or does not face up")]
    Down {
        /// The first one.
        triangle: usize,
    },
    /// A normal is not +Y.
    #[error("the normal of vertex {vertex} is {found:?}, expected [0.0, 1.0, 0.0]")]
    Normal {
        /// The first such vertex.
        vertex: usize,
        /// Its normal.
        found: [f32; 3],
    },
    /// Two shapes touch: engines weld vertices that coincide.
    #[error("{0} and {1} touch", .shapes[0], .shapes[1])]
    Touching {
        /// Numbers of two of them, the lesser one first.
        shapes: [usize; 2],
    },
}

/// Looks for the first thing that is wrong with a carrier whose shapes have `corners` vertices each, one behind the other (3: triangles, 4: squares); `low_high` is
/// the box of the sequence, which a side that is too short makes thicker ([`crate::vat::maker::carrier::carrier_mesh`]). Shapes whose own boxes overlap count as
/// touching. Cost: a sort, and for each shape those that share its slice of x.
///
/// # Errors
/// [`FloatingFault`].
pub(crate) fn check_floating(
    mesh: &Mesh,
    low_high: &Bounds,
    corners: usize,
) -> Result<(), FloatingFault> {
    let [low, high] = thick_enough(low_high);
    let squares = (0..3).map(|k| (f64::from(high[k]) - f64::from(low[k])).powi(2));
    let farthest = low.iter().chain(&high).fold(0.0_f32, |m, c| m.max(c.abs()));
    let allowed = TOLERANCE * squares.sum::<f64>().sqrt() + 1e-6 * f64::from(farthest);
    let found = bounds(&mesh.positions).unwrap_or(([0.0; 3], [0.0; 3]));
    let is_near = |a: &[f32; 3], b: &[f32; 3]| {
        (0..3).all(|k| (f64::from(a[k]) - f64::from(b[k])).abs() <= allowed)
    };
    if !(is_near(&found.0, &low) && is_near(&found.1, &high)) {
        let expected = (low, high);
        return Err(FloatingFault::Box { found, expected });
    }
    let mut triangles = mesh.topology.triangles().iter();
    if let Some(triangle) = triangles.position(|t| !faces_up(t.map(|v| mesh.positions[v as usize])))
    {
        return Err(FloatingFault::Down { triangle });
    }
    let up = [0.0, 1.0, 0.0];
    let normals = mesh.normals.iter().flatten().enumerate();
    let mut tilted = normals.filter(|(_, n)| (0..3).any(|k| (n[k] - up[k]).abs() > 1e-3));
    if let Some((vertex, found)) = tilted.next() {
        return Err(FloatingFault::Normal {
            vertex,
            found: *found,
        });
    }
    match first_touching(mesh, corners) {
        Some(shapes) => Err(FloatingFault::Touching { shapes }),
        None => Ok(()),
    }
}

/// Whether the normal of a triangle is nearly +Y, and its area above zero.
fn faces_up(corners: [[f32; 3]; 3]) -> bool {
    let area = area_vector(corners.map(|p| p.map(f64::from)));
    area[1] > 0.999 * length(area)
}

fn first_touching(mesh: &Mesh, corners: usize) -> Option<[usize; 2]> {
    let shapes = mesh.positions.chunks(corners.max(1)).enumerate();
    let mut boxes: Vec<(usize, Bounds)> =
        shapes.filter_map(|(i, s)| Some((i, bounds(s)?))).collect();
    boxes.sort_by(|a, b| a.1.0[0].total_cmp(&b.1.0[0]));
    for (i, (shape, a)) in boxes.iter().enumerate() {
        // Those behind begin no farther to the left.
        let behind = boxes[i + 1..].iter().take_while(|(_, b)| b.0[0] <= a.1[0]);
        let apart = |b: &Bounds| (1..3).any(|k| a.1[k] < b.0[k] || b.1[k] < a.0[k]);
        if let Some((other, _)) = behind.into_iter().find(|(_, b)| !apart(b)) {
            return Some([*shape.min(other), *shape.max(other)]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vat::maker::carrier::carrier_mesh;
    use crate::vat::maker::sprites::sprite_mesh;
    use sinew_vat::layout::Layout;

    const BOX: Bounds = ([-1.3, 0.1, -0.7], [0.9, 1.9, 2.2]);

    fn carrier(triangles: u32, bounds: &Bounds) -> Mesh {
        let layout = Layout::fitting(triangles * 3, 10, 3, 4096).expect("fits");
        carrier_mesh("carrier", triangles, bounds, &layout)
    }

    #[test]
    fn what_is_made_is_right_flat_and_far_boxes_included() {
        let far = ([1999.0, 3.0, -2000.0], [2001.0, 3.0, -1999.5]);
        for bounds in [BOX, ([0.0; 3], [1.0, 0.0, 1.0]), ([0.0; 3], [0.0; 3]), far] {
            for count in [8, 9, 65, 1130] {
                assert_eq!(
                    check_floating(&carrier(count, &bounds), &bounds, 3),
                    Ok(()),
                    "{count} in {bounds:?}"
                );
                let layout = Layout::fitting(count, 10, 1, 4096).expect("fits");
                let squares = sprite_mesh("sprites", count, &bounds, &layout);
                assert_eq!(
                    check_floating(&squares, &bounds, 4),
                    Ok(()),
                    "{count} in {bounds:?}"
                );
            }
        }
    }

    #[test]
    fn each_fault_is_found() {
        let mut zero = carrier(65, &BOX);
        zero.positions.fill([0.0; 3]);
        let fault = check_floating(&zero, &BOX, 3);
        assert!(
            matches!(
                fault,
                Err(FloatingFault::Box {
                    found: ([0.0, 0.0, 0.0], _),
                    ..
                })
            ),
            "{fault:?}"
        );
        let mut outside = carrier(65, &BOX);
        outside.positions[3 * 40][1] += 5.0;
        assert!(matches!(
            check_floating(&outside, &BOX, 3),
            Err(FloatingFault::Box { .. })
        ));
        let mut point = carrier(65, &BOX);
        point.positions[3 * 40 + 1] = point.positions[3 * 40];
        assert_eq!(
            check_floating(&point, &BOX, 3),
            Err(FloatingFault::Down { triangle: 40 })
        );
        let mut over = carrier(65, &BOX);
        over.positions.swap(3 * 40 + 1, 3 * 40 + 2);
        assert_eq!(
            check_floating(&over, &BOX, 3),
            Err(FloatingFault::Down { triangle: 40 })
        );
        let mut tilted = carrier(65, &BOX);
        tilted.normals.as_mut().expect("has some")[7] = [1.0, 0.0, 0.0];
        assert!(matches!(
            check_floating(&tilted, &BOX, 3),
            Err(FloatingFault::Normal { vertex: 7, .. })
        ));
        let mut twice = carrier(65, &BOX);
        for k in 0..3 {
            twice.positions[3 * 40 + k] = twice.positions[3 * 30 + k];
        }
        assert_eq!(
            check_floating(&twice, &BOX, 3),
            Err(FloatingFault::Touching { shapes: [30, 40] })
        );
    }
}
