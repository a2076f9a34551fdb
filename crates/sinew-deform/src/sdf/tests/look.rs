//! Surfaces and slices read back from fields.

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
