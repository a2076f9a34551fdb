//! A rippled sheet of any size, for measuring.

use crate::SampleError;
use crate::field::v;
use crate::skeleton::ClipBuilder;
use sinew_geom::{
    Affine, Asset, Influences, Joint, LocalTransform, Mesh, Node, Rig, Topology, Trs,
};
use std::f64::consts::TAU;
use std::sync::Arc;

const JOINTS: u32 = 64;

/// A square sheet of about `vertices` vertices, at least four, a millimetre apart: 64 joints in rows, four influences a vertex, six neighbours, and a
/// clip of one second, `wave`. For measuring: no texture coordinates, no morph target.
///
/// # Errors
/// See [`SampleError`].
pub fn sheet(vertices: u32) -> Result<Asset, SampleError> {
    let width = vertices.isqrt().max(2);
    let height = (vertices / width).max(2);
    let count = width * height;
    let place = |i: u32| {
        let ripple = (f64::from(i) * 0.37).sin();
        [f64::from(i % width), f64::from(i / width), ripple].map(|c| (c * 1e-3) as f32)
    };
    let mut triangles = Vec::new();
    for y in 0..height - 1 {
        for x in 0..width - 1 {
            let a = y * width + x;
            triangles.push([a, a + 1, a + width + 1]);
            triangles.push([a, a + width + 1, a + width]);
        }
    }
    let positions = (0..count).map(place).collect();
    let mut mesh = Mesh::new("sheet", Topology::new(count, triangles)?, positions);
    mesh.normals = Some(vec![[0.0, 0.0, 1.0]; count as usize]);
    let row = |i: u32| {
        let first = (JOINTS - 4) * (i / width) / height;
        let weights = [0.46, 0.3, 0.15, 0.09];
        std::array::from_fn(|k| (first + k as u32, weights[k]))
    };
    let rows: Vec<[(u32, f32); 4]> = (0..count).map(row).collect();
    let rows = rows.iter().map(<[_; 4]>::as_slice);
    mesh.influences = Some(Influences::from_rows(rows, JOINTS as usize, 0)?.0);

    let node = |name: String, parent| Node {
        name,
        parent,
        local: LocalTransform::Trs(Trs::default()),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let mut nodes = vec![node("root".into(), None)];
    let mut clip = ClipBuilder::new(30, 5);
    for j in 0..JOINTS as usize {
        nodes.push(node(format!("joint_{j}"), Some(0)));
        let phase = j as f64 / f64::from(JOINTS);
        clip.translate(j, |t| v(0.0, 0.0, 0.02 * (TAU * (t + phase)).sin()))?;
    }
    let joints = (0..JOINTS as usize).map(|j| Joint {
        node: j + 1,
        joint_from_bind: Affine::identity(),
    });
    Ok(Asset {
        name: "sheet".into(),
        meshes: vec![mesh],
        rig: Arc::new(Rig::new(nodes, joints.collect())?),
        clips: vec![clip.finish("wave")],
        ..Asset::default()
    })
}
