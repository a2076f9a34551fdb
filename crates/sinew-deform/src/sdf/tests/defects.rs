//! The slips of the TressFX field, each by its number in the coverage table.

use super::*;

/// A box between two corners.
fn box_between(low: [f32; 3], high: [f32; 3]) -> Mesh {
    let mut mesh = meshes::cube();
    let half = mesh.positions[0].map(f32::abs)[0];
    for p in &mut mesh.positions {
        *p = std::array::from_fn(|k| {
            let t = (p[k] / half + 1.0) / 2.0;
            low[k] + (high[k] - low[k]) * t
        });
    }
    mesh
}

#[test]
fn defect_13_the_grid_is_little_larger_than_the_mesh() {
    // TressFX: 0.8 of the cells on each side, 2.6 cubed = 17.6 times the volume. Here: four cells of padding, and bricks are
    // whole.
    for count in [32, 64, 128] {
        let shape = make_mesh(&meshes::cube(), cells(count)).report.shape;
        let size: f32 = (0..3).map(|k| shape.high()[k] - shape.origin[k]).product();
        let mesh = (count as f32 * shape.cell).powi(3);
        let most = (count as f32 + 2.0 * (4.0 + 7.0)) / count as f32;
        assert!(
            size / mesh <= most.powi(3),
            "{count}: {} times",
            size / mesh
        );
        assert!(count < 128 || size / mesh < 1.7, "{}", size / mesh);
    }
}

#[test]
fn defect_14_the_cell_size_does_not_hang_on_one_axis() {
    // A wall that is thin in x: 40 cells along its longest side in whichever direction it stands.
    let thin = |axis: usize| {
        let mut high = [1.0, 2.0, 1.0];
        high[axis] *= 0.02;
        let longest = high.into_iter().fold(0.0, f32::max);
        let shape = make_mesh(&box_between([0.0; 3], high), cells(40))
            .report
            .shape;
        (shape.cell, longest / 40.0)
    };
    for axis in 0..3 {
        let (cell, expected) = thin(axis);
        assert!((cell - expected).abs() < 1e-6, "thin in {axis}: {cell}");
    }
}

#[test]
fn defect_15_no_node_inside_is_left_unset() {
    let made = make_mesh(&meshes::sphere(48, 96), cells(64));
    let view = made.buffers.view();
    // The band is a few cells; the middle is 32 away from any triangle.
    for node in every_node(&view.shape, 13) {
        let p = view.shape.node_position(node);
        let value = view.node(node);
        assert!(value.abs() < 4.0, "{node:?}: {value}");
        assert!(length(p) > 0.99 || value < 0.0, "{node:?}: {value}");
    }
    assert_eq!(made.stuck_inside(101), 0, "every point finds its way out");
}

#[test]
fn defect_16_signs_do_not_hang_on_which_triangle_is_seen_first() {
    // Nodes whose nearest point is an edge or a corner see several triangles equally near.
    let cube = meshes::cube();
    let mut turned = cube.clone();
    let backwards: Vec<_> = cube.topology.triangles().iter().rev().copied().collect();
    let count = cube.positions.len() as u32;
    turned.topology = std::sync::Arc::new(Topology::new(count, backwards).expect("in range"));
    let (a, b) = (make_mesh(&cube, cells(20)), make_mesh(&turned, cells(20)));
    assert_eq!(a.compare(1).wrong_signs, 0);
    assert_eq!(b.compare(1).wrong_signs, 0);
    for node in every_node(&a.report.shape, 1) {
        let (x, y) = (a.buffers.view().node(node), b.buffers.view().node(node));
        // On the surface itself rounding tells the sign: kernels without fused additions give 5e-8 either way, some units in the last place of 1 are let pass.
        if x.abs().max(y.abs()) > 4e-7 {
            assert_eq!(x < 0.0, y < 0.0, "{node:?}: {x} and {y}");
        }
    }
}

#[test]
fn defects_17_and_28_look_ups_are_the_same_at_both_ends_and_below_the_origin() {
    // The band reaches beyond the first and the last cells, so that distances beside the faces are exact in all of them.
    let settings = SdfSettings {
        padding_cells: 1.0,
        ..cells(18)
    };
    let made = make_mesh(&box_between([-1.0; 3], [1.0; 3]), settings);
    let view = made.buffers.view();
    let (low, high, cell) = (view.shape.origin, view.shape.high(), view.shape.cell);
    for k in 0..3 {
        assert!(low[k] < -1.0 && high[k] > 1.0 && high[k] < 1.0 + 3.0 * cell);
        for i in 0..=1000 {
            let mut p = [0.0; 3];
            p[k] = low[k] + (high[k] - low[k]) * (i as f32 / 1000.0);
            let expected = p[k].abs() - 1.0;
            // Deep inside distances are bounds.
            if expected < -2.0 * cell {
                continue;
            }
            let d = view.sample(p);
            assert!(
                (d - expected).abs() < 1e-4,
                "axis {k}, {p:?}: {d}, not {expected}"
            );
        }
    }
    // No extent along an axis: in TressFX, a cell size of zero.
    for axis in 0..3 {
        let mut high = [1.0; 3];
        high[axis] = 0.0;
        let shape = make_mesh(&box_between([0.0; 3], high), cells(16))
            .report
            .shape;
        assert!((shape.cell - 1.0 / 16.0).abs() < 1e-6, "{axis}: {shape:?}");
        assert!(shape.nodes().iter().all(|n| *n >= 2), "{axis}: {shape:?}");
    }
}
