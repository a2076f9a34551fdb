//! Presets of nodes, and graphs made for characters from templates.

use crate::common;
use sinew::deform::Par;
use sinew::deform::{NodeDesc, Preset, REGISTRY};
use sinew::geom::{Asset, Mesh, Topology};
use sinew::graph::{Diagnostics, Frame, Instance, NoNesting, ParameterSource, Plan, compile};
use sinew::io::Folders;
use sinew::play::{Character, Document, PlayInputs, Player, Runner, Template, TemplateError};
use std::sync::Arc;

const ALL: [Template; 6] = [
    Template::Body,
    Template::Face,
    Template::Cloth,
    Template::Hair,
    Template::Vat,
    Template::Driver,
];

fn presets() -> impl Iterator<Item = (&'static NodeDesc, &'static Preset)> {
    let of = |d: &'static NodeDesc| d.docs.presets.iter().map(move |p| (d, p));
    REGISTRY.iter().copied().flat_map(of)
}

/// Constants of the node `it`.
fn values(text: &str) -> Vec<ParameterSource> {
    let plan = compile("g.json", text, &NoNesting).expect(text);
    let it = plan.nodes().iter().find(|n| n.name == "it");
    it.expect("the node").parameters.clone()
}

/// A preset is worth its values, and what the document states wins.
#[test]
fn presets_are_the_values_that_they_list() {
    assert!(presets().count() > 0);
    for (desc, preset) in presets() {
        let named = values(&common::document_with(
            desc,
            &format!(r#", "preset": "{}""#, preset.name),
        ));
        let plain = values(&common::document(desc));
        for (i, parameter) in desc.parameters.iter().enumerate() {
            let expected = match preset.value(parameter) {
                Some(value) => ParameterSource::Constant(value),
                None => plain[i].clone(),
            };
            assert_eq!(named[i], expected, "{} {}", desc.name, parameter.name);
        }
        let (first, _) = preset.values[0];
        let i = desc.parameters.iter().position(|p| p.name == first);
        let i = i.expect("a parameter");
        let default = serde_json::to_string(&plain_json(&desc.parameters[i])).expect("JSON");
        let more = format!(r#", "{first}": {default}, "preset": "{}""#, preset.name);
        assert_eq!(
            values(&common::document_with(desc, &more))[i],
            plain[i],
            "{}",
            desc.name
        );
    }
}

fn plain_json(parameter: &sinew::deform::ParameterDesc) -> serde_json::Value {
    use sinew::deform::ParameterValue as V;
    match parameter.default_value() {
        V::Bool(v) => v.into(),
        V::Int(v) => v.into(),
        V::Float(v) => v.into(),
        V::Text(v) => v.into(),
        other => panic!("a preset of {other:?}: add it here"),
    }
}

#[test]
fn wrong_presets_are_located() {
    let said = |preset: &str, node: &str| -> Diagnostics {
        let text = format!(
            r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}}},
"stack": [{{"node": "{node}", "preset": {preset}}}]}}"#
        );
        compile("g.json", &text, &NoNesting).expect_err(preset)
    };
    let typo = said("\"tigh\"", "delta_mush").to_string();
    assert!(typo.contains("delta_mush has no preset 'tigh'"), "{typo}");
    assert!(
        typo.contains("did you mean 'tight'") && typo.contains("g.json:2:"),
        "{typo}"
    );
    let number = said("3", "delta_mush").to_string();
    assert!(
        number.contains("'preset' is 3") && number.contains("tight"),
        "{number}"
    );
    let none = said("\"tight\"", "smooth").to_string();
    assert!(
        none.contains("smooth has no input or parameter 'preset'"),
        "{none}"
    );
}

fn play(character: &Arc<Character>, document: &Document, frames: i64) -> (Arc<Plan>, Player) {
    let plan = Arc::new(
        document
            .compile()
            .unwrap_or_else(|e| panic!("{e}\n{}", document.text)),
    );
    assert!(
        plan.warnings().is_empty(),
        "{:?}\n{}",
        plan.warnings(),
        document.text
    );
    let inputs = PlayInputs::load(character.clone(), &plan, &Folders::default()).expect("inputs");
    let graph = inputs
        .bind(&plan, &[])
        .unwrap_or_else(|e| panic!("{e}\n{}", document.text));
    let clip = character.asset.clips.first().map(|c| c.name.clone());
    let mut player = Player::new(
        Runner::cpu(&graph),
        inputs,
        Vec::new(),
        clip.as_deref(),
        30.0,
    )
    .expect("a player");
    for frame in 0..frames {
        player.advance(frame).expect("a frame");
    }
    (plan, player)
}

/// Every template either makes a graph that binds and plays without a warning, or says what the character lacks.
#[test]
fn templates_play_every_sample_or_say_why_not() {
    let mut played = 0;
    for asset in common::samples() {
        let character = Arc::new(Character::from_asset(asset));
        for template in ALL {
            let asset = &character.asset;
            match Document::from_template(&character, template, None) {
                Ok(document) => {
                    play(&character, &document, 3);
                    played += 1;
                }
                Err(TemplateError::OneMesh { found, .. }) => {
                    assert!(found < 2 && template == Template::Cloth)
                }
                Err(TemplateError::NoStrands { .. }) => {
                    assert!(asset.strands.is_empty() && template == Template::Hair);
                }
                Err(TemplateError::NoSkin { .. } | TemplateError::NoJoint { name: None, .. }) => {
                    assert_eq!(template, Template::Driver, "{}", asset.name);
                }
                Err(other) => panic!("{}: {template:?}: {other}", asset.name),
            }
        }
    }
    assert!(played >= 11, "{played}");
}

/// The elbow of the arm bends by 140 degrees about z, so that the poses are found: its weights are 0 at rest and 1 in a
/// pose, and the pose driver is linked to what smooths.
#[test]
fn drivers_take_the_poses_of_the_clips() {
    let arm = Arc::new(Character::from_asset(
        sinew_samples::arm_with_hand().expect("a sample"),
    ));
    let document = Document::from_template(&arm, Template::Driver, None).expect("an elbow");
    assert!(
        document.text.contains(r#""joints": ["forearm"]"#),
        "{}",
        document.text
    );
    let plan = Arc::new(document.compile().expect("correct"));
    let mut inputs = PlayInputs::load(arm.clone(), &plan, &Folders::default()).expect("inputs");
    let mut instance = Instance::bind(plan, inputs.bindings(), &[], Par::Seq).expect("bound");
    let clip = arm.asset.clips.first().expect("a clip");
    let mut highest = vec![0.0_f32; instance.float_output("weights").expect("weights").len()];
    let mut at_rest = Vec::new();
    for frame in 0..=120 {
        let at = f64::from(frame) / 30.0;
        inputs.pose(Some(&clip.name), at);
        instance
            .update(&Frame::at(at).pose(inputs.poses().first()), Par::Seq)
            .expect("a frame");
        let weights = instance.float_output("weights").expect("weights");
        if frame == 0 {
            at_rest = weights.to_vec();
        }
        highest
            .iter_mut()
            .zip(weights)
            .for_each(|(h, w)| *h = h.max(*w));
    }
    assert!((at_rest[0] - 1.0).abs() < 1e-3, "{at_rest:?}");
    assert!(at_rest[1..].iter().all(|w| w.abs() < 1e-3), "{at_rest:?}");
    assert!(
        highest.len() > 1 && highest.iter().all(|h| *h > 0.98),
        "{highest:?}"
    );
    let wrong = Document::from_template(&arm, Template::Driver, Some("forarm"));
    let wrong = wrong.expect_err("no such joint").to_string();
    assert!(
        wrong.contains("'forarm'") && wrong.contains("forearm"),
        "{wrong}"
    );
}

/// Twist joints take the twist of the end of the limb by their distance.
#[test]
fn twist_joints_are_followers() {
    let mut asset = sinew_samples::arm_with_hand().expect("a sample");
    let rig = &asset.rig;
    let [forearm, hand] = ["forearm", "hand"].map(|n| rig.find_node(n).expect("a node"));
    let mut nodes = rig.nodes().to_vec();
    let mut joints = rig.joints().to_vec();
    let mut twist = nodes[hand].clone();
    twist.name = "forearm_twist".into();
    twist.parent = Some(forearm);
    if let sinew::geom::LocalTransform::Trs(trs) = &mut twist.local {
        trs.translation *= 0.25;
    }
    let mut joint = joints[rig.find_joint("hand").expect("a joint")].clone();
    joint.node = nodes.len();
    nodes.push(twist);
    joints.push(joint);
    asset.rig = Arc::new(sinew::geom::Rig::new(nodes, joints).expect("a rig"));
    let character = Arc::new(Character::from_asset(asset));
    let document =
        Document::from_template(&character, Template::Driver, Some("forearm")).expect("a graph");
    let expected = r#"{ "joint": "forearm_twist", "source": "hand", "axis": "x", "twist": 0.25 }"#;
    assert!(document.text.contains(expected), "{}", document.text);
    play(&character, &document, 2);
}

/// Two meshes: the garment is found by its name, and follows the body.
#[test]
fn garments_follow_the_body() {
    let mut asset: Asset = sinew_samples::arm_with_hand().expect("a sample");
    let body = asset.meshes[0].clone();
    let mut sleeve = Mesh::new(
        "Shirt",
        Topology::clone(&body.topology),
        body.positions.clone(),
    );
    sleeve.positions.iter_mut().for_each(|p| p[1] += 0.002);
    asset.meshes.truncate(1);
    asset.meshes.insert(0, sleeve);
    let character = Arc::new(Character::from_asset(asset));
    let document = Document::from_template(&character, Template::Cloth, None).expect("a graph");
    assert!(
        document
            .text
            .contains(r#""garment": { "type": "mesh", "select": "Shirt" }"#),
        "{}",
        document.text
    );
    let (_, player) = play(&character, &document, 30);
    let Runner::Cpu(instance) = player.runner() else {
        panic!("on the CPU");
    };
    let [body, garment] =
        ["body", "garment"].map(|o| instance.mesh_output(o).expect("an output").positions);
    let farthest = body
        .iter()
        .zip(garment)
        .map(|(a, b)| sinew::geom::vec3::distance(*a, *b));
    let farthest = farthest.fold(0.0, f32::max);
    assert!(farthest < 0.01, "{farthest} m");
}
