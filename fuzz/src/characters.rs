//! Characters small enough to bind thousands of graphs a second.

use sinew::geom::nalgebra::Vector3;
use sinew::geom::{
    Affine, Asset, Attribute, Influences, Joint, LocalTransform, Mesh, MorphTarget, Node, Quat,
    Rig, Topology, Trs,
};
use std::sync::Arc;

const COLUMNS: u32 = 4;
const ROWS: u32 = 3;

/// A bent sheet of 4 x 3 vertices on two joints, with everything a node can ask for: normals, tangents, texture
/// coordinates, colours, an attribute `mask`, a morph target.
pub fn sheet() -> Asset {
    let (mut positions, mut uvs, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for y in 0..ROWS {
        for x in 0..COLUMNS {
            let (u, v) = (x as f32 / 3.0, y as f32 / 2.0);
            positions.push([u, v, 0.2 * (u * 3.0).sin()]);
            uvs.push([u, 1.0 - v]);
            rows.push(vec![(0, 1.0 - u), (1, u)]);
        }
    }
    let mut triangles = Vec::new();
    for y in 0..ROWS - 1 {
        for x in 0..COLUMNS - 1 {
            let a = y * COLUMNS + x;
            triangles.extend([
                [a, a + 1, a + COLUMNS + 1],
                [a, a + COLUMNS + 1, a + COLUMNS],
            ]);
        }
    }
    let n = positions.len();
    let topology = Topology::new(COLUMNS * ROWS, triangles).expect("indices fit");
    let mut mesh = Mesh::new("sheet", topology, positions);
    mesh.normals = Some(vec![[0.0, 0.0, 1.0]; n]);
    mesh.tangents = Some(vec![[1.0, 0.0, 0.0, 1.0]; n]);
    mesh.uvs = vec![uvs];
    mesh.colors = vec![vec![[0.5, 0.5, 0.5, 1.0]; n]];
    let mask = (0..n).map(|v| v as f32 / n as f32).collect();
    mesh.attributes
        .insert("mask".into(), Attribute::Scalar(mask));
    let rows = rows.iter().map(Vec::as_slice);
    mesh.influences = Some(Influences::from_rows(rows, 2, 0).expect("weights fit").0);
    mesh.morph_targets = vec![MorphTarget {
        name: "up".into(),
        vertices: vec![1, 5],
        positions: vec![[0.0, 0.0, 0.3]; 2],
        ..MorphTarget::default()
    }];
    Asset {
        name: "sheet".into(),
        meshes: vec![mesh],
        rig: Arc::new(two_joints()),
        ..Asset::default()
    }
}

fn two_joints() -> Rig {
    let node = |name: &str, parent, angle: f64, morph_weights| Node {
        name: name.into(),
        parent,
        local: LocalTransform::Trs(Trs {
            rotation: Quat::from_axis_angle(&Vector3::y_axis(), angle),
            ..Trs::default()
        }),
        morph_weights,
        morph_offset: 0,
    };
    let nodes = vec![
        node("root", None, 0.0, vec![0.5]),
        node("tip", Some(0), 0.4, Vec::new()),
    ];
    let joints = (0..2)
        .map(|node| Joint {
            node,
            joint_from_bind: Affine::identity(),
        })
        .collect();
    Rig::new(nodes, joints).expect("parents come first")
}
