//! Own mesh and own skeleton in, deformed points out: no file, no clip, a pose set by hand.
//!
//! `cargo run -p sinew --example 01_own_mesh`

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use sinew::deform::Par;
use sinew::geom::{
    Affine, Influences, Joint, LocalTransform, Mesh, Node, Quat, Rig, Topology, Trs, Vec3,
};
use sinew::graph::{Frame, InputBinding, Instance, NoNesting, compile};
use std::error::Error;
use std::sync::Arc;

const GRAPH: &str = r#"{ "sinew": "1.0", "stack": ["skin", { "node": "delta_mush", "iterations": 4, "pin_border": false }] }"#;

fn main() -> Result<(), Box<dyn Error>> {
    let (mesh, rig) = (Arc::new(strip()?), Arc::new(two_joints()?));
    // Once: check, compile, bind. The stack's inputs are called `body` and `pose`.
    let plan = Arc::new(compile("example", GRAPH, &NoNesting)?);
    let inputs = [InputBinding::Mesh(mesh), InputBinding::Pose(rig.clone())];
    let mut instance = Instance::bind(plan, &inputs, &[], Par::Seq)?;

    // Each frame: pose the joints, update, read the buffers.
    let mut pose = rig.rest_pose();
    for degrees in [0.0_f64, 45.0, 90.0] {
        pose.locals[1] = LocalTransform::Trs(Trs {
            translation: Vec3::new(1.0, 0.0, 0.0),
            rotation: Quat::from_axis_angle(&Vec3::z_axis(), degrees.to_radians()),
            ..Trs::default()
        });
        rig.finish(&mut pose);
        instance.update(&Frame::default().pose(&pose), Par::Seq)?;
        let body = instance.mesh_output("body").ok_or("the stack's output")?;
        println!(
            "{degrees:3} degrees: the tip is at {:?}",
            body.positions[body.positions.len() - 1]
        );
    }
    Ok(())
}

/// A strip of quads along X from 0 to 2.
fn strip() -> Result<Mesh, Box<dyn Error>> {
    let columns = 9_u16;
    let positions: Vec<[f32; 3]> = (0..columns)
        .flat_map(|c| [-0.2, 0.2].map(|y| [f32::from(c) * 0.25, y, 0.0]))
        .collect();
    let triangles = (0..u32::from(columns) - 1)
        .map(|c| c * 2)
        .flat_map(|a| [[a, a + 2, a + 3], [a, a + 3, a + 1]]);
    let topology = Topology::new(u32::try_from(positions.len())?, triangles.collect())?;
    let weights: Vec<[(u32, f32); 2]> = positions
        .iter()
        .map(|p| {
            let w = (p[0] - 0.5).clamp(0.0, 1.0);
            [(0, 1.0 - w), (1, w)]
        })
        .collect();
    let (influences, ..) = Influences::from_rows(weights.iter().map(|w| w.as_slice()), 2, 0)?;
    let mut mesh = Mesh::new("strip", topology, positions);
    mesh.influences = Some(influences);
    Ok(mesh)
}

/// A root at the origin and an elbow at x = 1.
fn two_joints() -> Result<Rig, Box<dyn Error>> {
    let node = |name: &str, parent, x: f64| Node {
        name: name.into(),
        parent,
        local: LocalTransform::Trs(Trs {
            translation: Vec3::new(x, 0.0, 0.0),
            ..Trs::default()
        }),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let joint = |node, x: f64| Joint {
        node,
        joint_from_bind: Affine {
            translation: Vec3::new(-x, 0.0, 0.0),
            ..Affine::identity()
        },
    };
    Ok(Rig::new(
        vec![node("root", None, 0.0), node("elbow", Some(0), 1.0)],
        vec![joint(0, 0.0), joint(1, 1.0)],
    )?)
}
