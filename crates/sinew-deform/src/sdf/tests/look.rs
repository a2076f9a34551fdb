//! Surfaces and slices read back from fields, and the field of TressFX.

use super::*;
use std::collections::HashMap;

fn volume(surface: &Isosurface) -> f64 {
    let corner = |v: u32| double(surface.positions[v as usize]);
    let sixth = |t: &[u32; 3]| corner(t[0]).dot(&corner(t[1]).cross(&corner(t[2]))) / 6.0;
    surface.triangles.iter().map(sixth).sum()
}

/// Whether each edge is used as often in one direction as in the other.
fn is_closed(surface: &Isosurface) -> bool {
    let mut uses: HashMap<(u32, u32), i32> = HashMap::new();
    for t in &surface.triangles {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            *uses.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
        }
    }
    uses.values().all(|&u| u == 0)
}

#[test]
fn isosurfaces_are_closed_and_face_outward() {
    let made = make_mesh(&meshes::sphere(48, 96), cells(32));
    let view = made.buffers.view();
    for level in [-0.3_f32, 0.0, 0.1] {
        let surface = isosurface(&view, level);
        let radius = f64::from(1.0 + level);
        let truth = radius.powi(3) * std::f64::consts::TAU * 2.0 / 3.0;
        let found = volume(&surface);
        assert!(is_closed(&surface), "{level}");
        assert!(
            (found / truth - 1.0).abs() < 0.03,
            "{level}: {found} {truth}"
        );
    }
}

#[test]
fn slices_are_layers_of_nodes() {
    let made = make_mesh(&meshes::sphere(24, 48), cells(20));
    let view = made.buffers.view();
    let nodes = view.shape.nodes();
    for axis in 0..3 {
        let layer = nodes[axis] / 2;
        let slice = slice(&view, axis, layer);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        assert_eq!(slice.size, [nodes[u], nodes[v]]);
        let mut node = [0; 3];
        (node[axis], node[u], node[v]) = (layer, 3, 5);
        let index = (3 + 5 * nodes[u]) as usize;
        assert_eq!(slice.values[index], view.node(node));
        assert_eq!(slice.exact[index], view.is_exact(node));
        assert!(slice.values.iter().any(|&d| d < 0.0));
    }
}

#[test]
fn compatibility_field_of_a_sphere() {
    let mesh = meshes::sphere(24, 48);
    let mut field = CompatibilityField::new(&mesh.positions, 20).expect("extent");
    assert!((field.cell - 0.1).abs() < 1e-3);
    assert!(
        field.nodes.iter().all(|&n| n == 52 || n == 51),
        "{:?}",
        field.nodes
    );
    field.build(&mesh.topology, &mesh.positions);
    assert!((field.sample([1.05, 0.0, 0.0]) - 0.05).abs() < 0.01);
    assert_eq!(field.sample([0.0; 3]), UNSET, "nothing reaches the middle");
    let g = field.forward_gradient([1.02, 0.01, 0.0]);
    assert!(g[0] > 0.9 && g[1].abs() < 0.3, "{g:?}");
    // The step is a tenth of the cell in world units, yet added to a coordinate of 0 to 1: values change by c too little.
    let m = field.mixed_gradient([1.02, 0.01, 0.0]).expect("set");
    assert!((m[0] / field.cell - g[0]).abs() < 0.2, "{m:?}");
    let written = field.written();
    field.move_to([5.0, 0.0, 0.0]);
    field.build(&mesh.topology, &mesh.positions);
    assert!(field.written() < written / 4, "the mesh has left the box");
    assert_eq!(
        CompatibilityField::new(&[], 20),
        Err(CompatibilityError::NoExtent)
    );
    assert!(CompatibilityField::new(&mesh.positions, 4000).is_err());
}

#[test]
fn compatibility_prefers_the_positive_of_equals() {
    use crate::sdf::compatibility::key;
    let falling = [UNSET, -2.0, 2.0, -1e-3, 1e-3, -0.0, 0.0];
    assert!(falling.windows(2).all(|w| key(w[0]) > key(w[1])));
}
