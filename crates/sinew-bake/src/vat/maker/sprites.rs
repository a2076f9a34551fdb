//! The mesh that carries particles: a square for each slot, in the box of the whole sequence.
//!
//! As with [loose triangles](crate::vat::maker::carrier) the squares reach all corners of the box, none touches another, and all face up (+Y). They are drawn
//! nowhere: players put them where the particle is and turn them to the camera.

use crate::vat::maker::carrier::{
    FILL, between, cell_order, cells_for, texel_centers, thick_enough,
};
use sinew_geom::{Bounds, Mesh, Topology};
use sinew_vat::layout::Layout;

/// Fewest squares of a carrier: one for each corner of the box.
pub(crate) const FEWEST_SLOTS: u32 = 8;

/// Vertices of a square.
pub(crate) const CORNERS: u32 = 4;

/// Texture coordinates of the corners of a square, `v` down: counter-clockwise from the lower left one.
pub(crate) const CORNER_UVS: [[f32; 2]; 4] = [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]];

/// A mesh of `slots` squares, vertices in order (`4 * slot + corner`), that lie apart from each other in `bounds` and reach its eight corners.
/// Texture coordinates 0 are [`CORNER_UVS`], texture coordinates 1 the texel centre of the slot in the first frame of `layout` (`v` down); normals
/// are +Y.
///
/// Sides of the box that are too short are made longer as for [`crate::vat::maker::carrier::carrier_mesh`]. Fewer than [`FEWEST_SLOTS`] cannot reach all corners.
pub(crate) fn sprite_mesh(name: &str, slots: u32, bounds: &Bounds, layout: &Layout) -> Mesh {
    let [low, high] = thick_enough(bounds);
    let cells = cells_for(slots, &low, &high);
    let positions: Vec<[f32; 3]> = cell_order(cells)
        .take(slots as usize)
        .flat_map(|cell| floating_square(cell, cells, &low, &high))
        .collect();
    let base = (0..slots).map(|slot| CORNERS * slot);
    let halves = base.flat_map(|b| [[b, b + 1, b + 2], [b, b + 2, b + 3]]);
    // Every index is below the count, so there is always a topology.
    let topology = Topology::new(slots * CORNERS, halves.collect()).unwrap_or_default();
    let mut mesh = Mesh::new(name, topology, positions);
    mesh.normals = Some(vec![[0.0, 1.0, 0.0]; mesh.positions.len()]);
    let texels = texel_centers(slots, layout);
    let texels = texels.into_iter().flat_map(|t| [t; CORNERS as usize]);
    mesh.uvs = vec![
        (0..slots).flat_map(|_| CORNER_UVS).collect(),
        texels.collect(),
    ];
    mesh
}

/// A square in the plane of its layer with a corner at the corner of the cell that is nearest to a corner of the box.
fn floating_square(
    cell: [u32; 3],
    cells: [u32; 3],
    low: &[f32; 3],
    high: &[f32; 3],
) -> [[f32; 3]; 4] {
    let y = between(low[1], high[1], cell[1], cells[1] - 1);
    let side = |k: usize| {
        let upper = cell[k] * 2 >= cells[k];
        let at = between(low[k], high[k], cell[k] + u32::from(upper), cells[k]);
        let length = (high[k] - low[k]) / cells[k] as f32 * FILL;
        if upper {
            [at - length, at]
        } else {
            [at, at + length]
        }
    };
    let (x, z) = (side(0), side(2));
    // Counter-clockwise seen from above, where -z is up.
    CORNER_UVS.map(|[u, v]| [x[usize::from(u > 0.5)], y, z[usize::from(v > 0.5)]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_fill_the_box_lie_apart_and_face_up() {
        let (min, max) = ([-1.3, 0.1, -0.7], [0.9, 1.9, 2.2]);
        for slots in [8, 9, 65, 700] {
            let layout = Layout::fitting(slots, 10, 1, 4096).expect("fits");
            let mesh = sprite_mesh("sprites", slots, &(min, max), &layout);
            assert_eq!(mesh.bounds().expect("not empty"), (min, max));
            for corner in 0..8 {
                let at = [0, 1, 2].map(|k| if corner >> k & 1 == 1 { max[k] } else { min[k] });
                assert!(mesh.positions.contains(&at), "{slots}: {at:?}");
            }
            let boxes: Vec<Bounds> = mesh
                .positions
                .chunks(4)
                .map(|square| sinew_geom::bounds(square).expect("four corners"))
                .collect();
            for (i, a) in boxes.iter().enumerate() {
                assert!(a.0[0] < a.1[0] && a.0[2] < a.1[2], "{a:?}");
                for b in &boxes[..i] {
                    let apart = (0..3).any(|k| a.1[k] < b.0[k] || b.1[k] < a.0[k]);
                    assert!(apart, "{a:?} touches {b:?}");
                }
            }
            for triangle in mesh.topology.triangles() {
                let [a, b, c] = triangle.map(|v| mesh.positions[v as usize]);
                let up = (b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2]);
                assert!(up > 0.0, "{triangle:?} faces down");
            }
        }
    }

    #[test]
    fn corners_and_slots_are_in_texture_coordinates() {
        let layout = Layout::blocks(12, 3, [5, 3], 2, 64).expect("fits");
        let mesh = sprite_mesh("sprites", 12, &([0.0; 3], [1.0; 3]), &layout);
        for v in 0..48 {
            assert_eq!(mesh.uvs[0][v], CORNER_UVS[v % 4]);
            let [x, y] = layout.texel((v / 4) as u32, 0).map(|t| t as f32);
            let [u, w] = mesh.uvs[1][v];
            let off = [u * layout.size[0] as f32 - x, w * layout.size[1] as f32 - y];
            assert!(off.iter().all(|o| (o - 0.5).abs() < 1e-5), "{v}: {off:?}");
        }
    }
}
