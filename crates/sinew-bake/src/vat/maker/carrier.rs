//! The mesh that carries the textures: loose triangles that float in the box of the whole sequence.
//!
//! Engines cull by the box of the mesh as it was imported, so the triangles reach all its corners. Engines weld
//! vertices that coincide and drop triangles without area, so none touches another. Lighting starts from the imported normal, so
//! all face up (+Y).

use sinew_geom::{Bounds, Mesh, Topology};
use sinew_vat::layout::Layout;

/// Fewest triangles of a carrier: one for each corner of the box.
pub(crate) const FEWEST_TRIANGLES: u32 = 8;

/// Farthest from the origin that a coordinate may be, metres: beyond it squares of areas, which matching and normals compare, do not fit into single
/// precision.
pub(crate) const FARTHEST: f32 = 1e8;

/// Share of its cell that a triangle's sides take.
pub(crate) const FILL: f32 = 0.5;

/// A mesh of `triangles` loose triangles, vertices in order (`3 * triangle + corner`), that lie apart from each other in
/// `bounds`, face up and reach its eight corners. Texture coordinates point at the texel centres of each vertex in the first frame of
/// `layout` (`v` down); normals are +Y.
///
/// A side of the box shorter than a thousandth of its diagonal (or a tenth of a millimetre) is made that long, around its middle ([`carrier_box`]). Fewer than
/// [`FEWEST_TRIANGLES`] cannot reach all corners.
pub(crate) fn carrier_mesh(name: &str, triangles: u32, bounds: &Bounds, layout: &Layout) -> Mesh {
    let [low, high] = thick_enough(bounds);
    let cells = cells_for(triangles, &low, &high);
    let positions = cell_order(cells)
        .take(triangles as usize)
        .flat_map(|cell| floating_triangle(cell, cells, &low, &high))
        .collect::<Vec<_>>();
    let count = triangles * 3;
    let corners = (0..triangles).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    // Every index is below the count, so there is always a topology.
    let topology = Topology::new(count, corners.collect()).unwrap_or_default();
    let mut mesh = Mesh::new(name, topology, positions);
    mesh.normals = Some(vec![[0.0, 1.0, 0.0]; count as usize]);
    mesh.uvs = vec![texel_centers(count, layout)];
    mesh
}

/// Texture coordinates of the texel of each vertex in frame 0, at its centre, `v` down.
pub(crate) fn texel_centers(vertices: u32, layout: &Layout) -> Vec<[f32; 2]> {
    let [width, height] = layout.size.map(f64::from);
    let center = |vertex| {
        let [x, y] = layout.texel(vertex, 0).map(f64::from);
        [((x + 0.5) / width) as f32, ((y + 0.5) / height) as f32]
    };
    (0..vertices).map(center).collect()
}

/// The box that a carrier fills: that of the sequence, no side too short for triangles to lie apart. That of such a box is itself.
pub(crate) fn carrier_box(bounds: &Bounds) -> Bounds {
    thick_enough(bounds).into()
}

/// Lowest and highest corner.
pub(crate) fn thick_enough(bounds: &Bounds) -> [[f32; 3]; 2] {
    let (mut low, mut high) = *bounds;
    let extent: [f32; 3] = std::array::from_fn(|k| high[k] - low[k]);
    // Squares of boxes that files may claim do not fit into single precision.
    let squares = extent.iter().map(|e| f64::from(*e).powi(2));
    let diagonal = squares.sum::<f64>().sqrt() as f32;
    let least = (diagonal * 1e-3).max(1e-4);
    for k in 0..3 {
        // A box that was made thicker has a longer diagonal, and single precision loses some of a thin one far from the origin.
        if extent[k] < 0.99 * least {
            let middle = low[k].midpoint(high[k]);
            // Far from the origin, at least a few steps of what single precision can tell apart.
            let half = (least * 0.5).max(middle.abs() * 1e-5);
            (low[k], high[k]) = (middle - half, middle + half);
        }
    }
    [low, high]
}

/// Cells along each axis, at least two, about as long as wide, enough for the triangles.
pub(crate) fn cells_for(triangles: u32, low: &[f32; 3], high: &[f32; 3]) -> [u32; 3] {
    let extent: [f64; 3] = std::array::from_fn(|k| f64::from(high[k]) - f64::from(low[k]));
    let volume: f64 = extent.iter().product();
    let mut side = (volume / f64::from(triangles.max(1))).cbrt();
    if !side.is_finite() || side <= 0.0 {
        // No box: as many along each axis, so that there is an end.
        let along = (2_u32..).find(|n| u64::from(*n).pow(3) >= u64::from(triangles));
        return [along.unwrap_or(2); 3];
    }
    loop {
        let cells = extent.map(|e| ((e / side).floor() as u32).max(2));
        let all: u64 = cells.iter().map(|c| u64::from(*c)).product();
        if all >= u64::from(triangles) {
            return cells;
        }
        side *= 0.98;
    }
}

/// Every cell once: those at the corners of the box first, so that these always hold a triangle.
pub(crate) fn cell_order(cells: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let every = move || {
        let [nx, ny, nz] = cells;
        (0..ny).flat_map(move |y| (0..nz).flat_map(move |z| (0..nx).map(move |x| [x, y, z])))
    };
    let at_corner = move |c: &[u32; 3]| (0..3).all(|k| c[k] == 0 || c[k] == cells[k] - 1);
    every()
        .filter(at_corner)
        .chain(every().filter(move |c| !at_corner(c)))
}

/// A right-angled triangle in the plane of its layer; the right angle is at the corner of the cell that is nearest to a corner
/// of the box.
fn floating_triangle(
    cell: [u32; 3],
    cells: [u32; 3],
    low: &[f32; 3],
    high: &[f32; 3],
) -> [[f32; 3]; 3] {
    let y = between(low[1], high[1], cell[1], cells[1] - 1);
    // Where the right angle is, and how far the side along that axis goes.
    let side = |k: usize| {
        let upper = cell[k] * 2 >= cells[k];
        let at = between(low[k], high[k], cell[k] + u32::from(upper), cells[k]);
        let length = (high[k] - low[k]) / cells[k] as f32 * FILL;
        (at, if upper { at - length } else { at + length })
    };
    let ((x, x_end), (z, z_end)) = (side(0), side(2));
    let (along_x, along_z) = ([x_end, y, z], [x, y, z_end]);
    // Counter-clockwise seen from above.
    match (x_end > x) == (z_end > z) {
        true => [[x, y, z], along_z, along_x],
        false => [[x, y, z], along_x, along_z],
    }
}

/// Step `step` of `steps` from `low` to `high`, exact at both ends.
pub(crate) fn between(low: f32, high: f32, step: u32, steps: u32) -> f32 {
    if step == 0 {
        return low;
    }
    if step >= steps {
        return high;
    }
    low + (high - low) * (step as f32 / steps as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sinew_geom::vec3::area_vector;

    fn made(triangles: u32, min: [f32; 3], max: [f32; 3]) -> (Mesh, Layout) {
        let layout = Layout::fitting(triangles * 3, 10, 3, 4096).expect("fits");
        let mesh = carrier_mesh("carrier", triangles, &(min, max), &layout);
        (mesh, layout)
    }

    fn corners(mesh: &Mesh) -> impl Iterator<Item = [[f32; 3]; 3]> + '_ {
        let at = |v: u32| mesh.positions[v as usize];
        mesh.topology.triangles().iter().map(move |t| t.map(at))
    }

    /// Twice the area as a normal, double precision.
    fn normal(corners: [[f32; 3]; 3]) -> [f64; 3] {
        area_vector(corners.map(|p| p.map(f64::from)))
    }

    /// Whether two triangles in horizontal planes share a point: some side of one separates them, or their heights do.
    fn touch(a: &[[f32; 3]; 3], b: &[[f32; 3]; 3]) -> bool {
        if a[0][1] != b[0][1] {
            return false;
        }
        let apart = |a: &[[f32; 3]; 3], b: &[[f32; 3]; 3]| {
            (0..3).any(|i| {
                let (p, q, r) = (a[i], a[(i + 1) % 3], a[(i + 2) % 3]);
                let side = |s: [f32; 3]| {
                    let d = |k: usize, s: [f32; 3]| f64::from(s[k]) - f64::from(p[k]);
                    d(0, q) * d(2, s) - d(2, q) * d(0, s)
                };
                b.iter().all(|s| side(*s) * side(r) < 0.0)
            })
        };
        !(apart(a, b) || apart(b, a))
    }

    #[test]
    fn rows_117_and_120_all_corners_of_the_box_are_reached_and_nothing_is_outside() {
        let (min, max) = ([-1.3, 0.1, -0.7], [0.9, 1.9, 2.2]);
        for triangles in [8, 9, 64, 1130, 9948] {
            let (mesh, _) = made(triangles, min, max);
            assert_eq!(mesh.positions.len(), 3 * triangles as usize);
            for corner in 0..8 {
                let at = [0, 1, 2].map(|k| if corner >> k & 1 == 1 { max[k] } else { min[k] });
                assert!(mesh.positions.contains(&at), "{triangles}: {at:?}");
            }
            let bounds = mesh.bounds().expect("not empty");
            assert_eq!(bounds, (min, max));
        }
    }

    #[test]
    fn row_118_no_triangle_touches_another() {
        let (mesh, _) = made(700, [-1.0, 0.0, -1.0], [1.0, 0.5, 1.0]);
        let all: Vec<_> = corners(&mesh).collect();
        for (i, a) in all.iter().enumerate() {
            for b in &all[..i] {
                assert!(!touch(a, b), "{a:?} {b:?}");
            }
        }
        // What the test itself can see.
        assert!(touch(&all[0], &all[0]));
    }

    #[test]
    fn row_119_all_face_up() {
        for triangles in [8, 333, 5000] {
            let (mesh, _) = made(triangles, [-1.0, 0.0, -3.0], [1.0, 0.5, 1.0]);
            for triangle in corners(&mesh) {
                let [x, y, z] = normal(triangle);
                assert!(x == 0.0 && z == 0.0 && y > 0.0, "{triangle:?}");
            }
            let up = mesh.normals.as_ref().expect("has normals");
            assert!(up.iter().all(|n| *n == [0.0, 1.0, 0.0]));
        }
    }

    #[test]
    fn row_121_texture_coordinates_are_texel_centers() {
        let (mesh, layout) = made(1130, [0.0; 3], [1.0; 3]);
        assert_eq!(layout.size, [3390, 10]);
        for (v, [x, y]) in mesh.uvs[0].iter().enumerate() {
            let texel = [x * 3390.0, y * 10.0];
            assert!((texel[0] - (v as f32 + 0.5)).abs() < 1e-3, "{v}: {texel:?}");
            assert!((texel[1] - 0.5).abs() < 1e-6);
        }
    }

    #[test]
    fn the_box_of_a_carrier_is_its_own() {
        let far = ([1999.0, 3.0, -2000.0], [2001.0, 3.0, -1999.5]);
        let tiny = ([0.0; 3], [2e-5; 3]);
        let dust = ([-4000.0, 9.0, 1.0], [-4000.0, 9.0, 1.0]);
        for bounds in [
            ([0.0; 3], [1.0, 0.0, 1.0]),
            ([0.0; 3], [0.0; 3]),
            far,
            tiny,
            dust,
        ] {
            let (low, high) = carrier_box(&bounds);
            assert_eq!(carrier_box(&(low, high)), (low, high));
            let (mesh, _) = made(306, bounds.0, bounds.1);
            assert_eq!(mesh.bounds(), Some((low, high)));
            assert!((0..3).all(|k| low[k] <= bounds.0[k] && bounds.1[k] <= high[k]));
        }
    }

    /// Cells for all triangles, whatever the box is; this ended never where squares of the box did not fit into single precision.
    #[test]
    fn boxes_of_any_size_have_cells() {
        let none = f32::NAN;
        for high in [2e19, 1e20, 1e30, f32::MAX, f32::INFINITY, none] {
            let [low, high] = thick_enough(&([-1.0; 3], [high, 1.0, 1.0]));
            let cells = cells_for(306, &low, &high);
            let all: u64 = cells.iter().map(|c| u64::from(*c)).product();
            assert!(all >= 306, "{high:?}: {cells:?}");
        }
    }

    proptest! {
        #[test]
        fn flat_and_far_boxes_still_carry(
            triangles in 8_u32..600,
            low in prop::array::uniform3(-2000.0_f32..2000.0),
            extent in prop::array::uniform3(prop_oneof![Just(0.0_f32), 0.01_f32..20.0]),
        ) {
            let max: [f32; 3] = std::array::from_fn(|k| low[k] + extent[k]);
            let (mesh, _) = made(triangles, low, max);
            let all: Vec<_> = corners(&mesh).collect();
            for triangle in &all {
                prop_assert!(normal(*triangle)[1] > 0.0, "no area: {:?}", triangle);
            }
            let mut keys: Vec<_> = mesh.positions.iter().map(|p| p.map(f32::to_bits)).collect();
            keys.sort_unstable();
            keys.dedup();
            prop_assert_eq!(keys.len(), mesh.positions.len(), "vertices coincide");
        }
    }
}
