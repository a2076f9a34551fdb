//! What the registry's tests share: one small graph for each node, and meshes to run it on.

use sinew::deform::{NodeDesc, Par, PortType};
use sinew::geom::{Affine, Asset, Influences, Joint, LocalTransform, Mesh, Node, Rig, Trs};
use sinew::graph::{InputBinding, InputType, Instance, NoNesting, compile};
use std::sync::Arc;

/// A document that holds the node with its defaults, every required input linked, every output of the node an output
/// of the graph. A second mesh input gets the same mesh.
pub(crate) fn document(desc: &NodeDesc) -> String {
    let mut links = String::new();
    for port in desc
        .inputs
        .iter()
        .filter(|p| p.required || (p.ty == PortType::Pose))
    {
        let link = match port.ty {
            PortType::Mesh => "body",
            PortType::Pose => "pose",
            other => panic!(
                "required input of type {}: extend this test",
                other.as_str()
            ),
        };
        links += &format!(", \"{}\": \"{link}\"", port.name);
    }
    let outputs: Vec<String> = desc
        .outputs
        .iter()
        .map(|o| format!("\"{0}\": \"it.{0}\"", o.name))
        .collect();
    format!(
        "{{\"sinew\": \"1.0\", \"nodes\": {{\"it\": {{\"node\": \"{}\"{links}}}}}, \"outputs\": {{{}}}}}",
        desc.name,
        outputs.join(", ")
    )
}

/// Meshes that every node must survive.
pub(crate) fn assets() -> Vec<Asset> {
    let mut out = sinew_samples::all().expect("samples");
    for mesh in [
        sinew_testkit::meshes::grid(7, 5),
        sinew_testkit::meshes::cube(),
        sinew_testkit::meshes::tube(20, 12, 2.0, 0.2),
        sinew_testkit::meshes::degenerate(),
    ] {
        out.push(one_mesh(mesh));
    }
    out
}

/// An asset around one mesh, with two joints and one morph target where it has none.
fn one_mesh(mut mesh: Mesh) -> Asset {
    let joint = |name: &str, parent| Node {
        name: name.into(),
        parent,
        local: LocalTransform::Trs(Trs::default()),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let mut nodes = vec![joint("root", None), joint("tip", Some(0))];
    nodes[1].morph_weights = vec![0.5];
    let joints = (0..2)
        .map(|node| Joint {
            node,
            joint_from_bind: Affine::identity(),
        })
        .collect();
    mesh.influences
        .get_or_insert_with(|| Influences::rigid(mesh.topology.vertex_count(), 0));
    mesh.morph_targets = vec![sinew::geom::MorphTarget {
        name: "up".into(),
        vertices: vec![0, 2],
        positions: vec![[0.0, 0.1, 0.0]; 2],
        ..Default::default()
    }];
    Asset {
        name: mesh.name.clone(),
        meshes: vec![mesh],
        rig: Arc::new(Rig::new(nodes, joints).expect("valid rig")),
        ..Asset::default()
    }
}

pub(crate) fn bindings(asset: &Asset, plan: &sinew::graph::Plan) -> Vec<InputBinding> {
    let mesh = Arc::new(asset.merged(&Default::default()).expect("a mesh"));
    plan.inputs()
        .iter()
        .map(|i| match i.ty {
            InputType::Mesh => InputBinding::Mesh(mesh.clone()),
            InputType::Pose => InputBinding::Pose(asset.rig.clone()),
            InputType::Values => InputBinding::Values,
        })
        .collect()
}

pub(crate) fn instance(asset: &Asset, document: &str) -> Instance {
    let plan = Arc::new(
        compile("test.json", document, &NoNesting).unwrap_or_else(|e| panic!("{e}\n{document}")),
    );
    let inputs = bindings(asset, &plan);
    Instance::bind(plan, &inputs, &[], Par::Seq)
        .unwrap_or_else(|e| panic!("{}: {e}\n{document}", asset.name))
}

/// The middle of the first clip, where there is one.
pub(crate) fn middle(asset: &Asset) -> f64 {
    asset
        .clips
        .first()
        .map_or(0.0, |c| f64::from(c.range().0 + c.range().1) / 2.0)
}
