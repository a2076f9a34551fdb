//! Reads solvers from the nodes of a graph.

use super::{Losses, Solver};
use crate::deform::pose_driver::{self, DriverPose};
use crate::deform::{NodeError, drive_joints, drive_morphs, pose_space_deformation};
use crate::geom::Affine;
use crate::graph::{ParameterSource, Plan, PlanNode, Source};
use crate::psd::drivers::{driver_of, read_parameters};

/// The pose drivers of a plan, with the nodes that use their weights.
///
/// # Errors
/// [`NodeError`] if the parameters of a node contradict each other, with the node's name.
pub fn solvers_of_plan(plan: &Plan) -> Result<(Vec<Solver>, Losses), (String, NodeError)> {
    let mut losses = Losses::default();
    let mut out = Vec::new();
    for (index, node) in plan.nodes().iter().enumerate() {
        if node.desc.name == pose_space_deformation::DESC.name {
            losses.of(&node.name)("the whole node; solvers have no weights per vertex".into());
        }
        if node.desc.name == pose_driver::DESC.name {
            let read = read(plan, index, node, &mut losses);
            out.push(read.map_err(|e| (node.name.clone(), e))?);
        }
    }
    Ok((out, losses))
}

fn read(
    plan: &Plan,
    index: usize,
    node: &PlanNode,
    losses: &mut Losses,
) -> Result<Solver, NodeError> {
    let mut lost = losses.of(&node.name);
    changes_in_time(node, "", &mut lost);
    let joints = driven_by(plan, index, drive_joints::DESC.name);
    let morphs = driven_by(plan, index, drive_morphs::DESC.name);
    other_readers(plan, index, &mut lost);
    // Weights that drive nothing are normal in files: the program that reads the file uses them.
    if !(joints.is_empty() && morphs.is_empty()) {
        outputs(plan, index, &mut lost);
    }
    let settings = driver_of(plan, node)?.settings;
    if settings.space == "joint" {
        lost(format!(
            "poses relative to '{}'; they are converted as relative to the parent joints",
            settings.reference
        ));
    }
    let driver_transforms = read_parameters(plan, node, |p| {
        let poses = p.records("poses");
        Ok(poses.map(|p| p.transforms("joints").to_vec()).collect())
    })?;
    let taking_part = |pose: usize| settings.places.contains(&pose);
    let enabled: Vec<bool> = (0..settings.pose_count).map(taking_part).collect();
    let mut driver = settings.driver;
    driver.poses = all_poses(driver.poses, settings.left_out, &enabled);
    for (nodes, name) in [(&joints, "drive_joints"), (&morphs, "drive_morphs")] {
        if nodes.len() > 1 {
            lost(format!(
                "{} nodes '{name}'; only the first one is converted",
                nodes.len()
            ));
        }
    }
    let (driven_joints, driven_transforms) = joints
        .first()
        .map_or_else(|| Ok(Default::default()), |n| driven(plan, n, &mut lost))?;
    Ok(Solver {
        name: node.name.clone(),
        joints: settings.joints,
        relative_to_rest: settings.space == "rest",
        driver,
        enabled,
        driver_transforms,
        driven_joints,
        driven_transforms,
        morph_targets: morphs
            .first()
            .map_or_else(|| Ok(Vec::new()), |n| targets(plan, n, &mut lost))?,
    })
}

/// Enabled poses, with the disabled ones in between.
fn all_poses(
    taking_part: Vec<DriverPose>,
    left_out: Vec<DriverPose>,
    enabled: &[bool],
) -> Vec<DriverPose> {
    let (mut taking_part, mut left_out) = (taking_part.into_iter(), left_out.into_iter());
    let next = |enabled: &bool| {
        if *enabled {
            taking_part.next()
        } else {
            left_out.next()
        }
    };
    enabled.iter().filter_map(next).collect()
}

/// Nodes of this type whose weights come from node `driver`.
fn driven_by<'a>(plan: &'a Plan, driver: usize, kind: &str) -> Vec<&'a PlanNode> {
    let source = Some(Source::Node {
        node: driver,
        port: 0,
    });
    let takes = |n: &&PlanNode| {
        let mut ports = n.desc.inputs.iter().zip(&n.inputs);
        n.desc.name == kind && ports.any(|(port, s)| port.name == "weights" && *s == source)
    };
    plan.nodes().iter().filter(takes).collect()
}

/// Files store constants, not values that change over time.
fn changes_in_time(node: &PlanNode, of: &str, lost: &mut impl FnMut(String)) {
    for (desc, source) in node.desc.parameters.iter().zip(&node.parameters) {
        match source {
            ParameterSource::Constant(_) => {}
            ParameterSource::Parameter(_) => lost(format!(
                "{of}'{}' as a graph parameter; its default is used instead",
                desc.name
            )),
            ParameterSource::Keyed(_) => lost(format!(
                "{of}'{}' over time; its first key is used instead",
                desc.name
            )),
            ParameterSource::Linked(_) => lost(format!(
                "{of}'{}' as a link; its default is used instead",
                desc.name
            )),
            ParameterSource::FrameTime => lost(format!(
                "{of}'{}' as frame time; 0 is used instead",
                desc.name
            )),
        }
    }
}

/// Other nodes that read the weights.
fn other_readers(plan: &Plan, driver: usize, lost: &mut impl FnMut(String)) {
    let source = Source::Node {
        node: driver,
        port: 0,
    };
    let carried = [drive_joints::DESC.name, drive_morphs::DESC.name];
    for node in plan.nodes() {
        if node.inputs.contains(&Some(source)) && !carried.contains(&node.desc.name) {
            lost(format!(
                "the link of its weights to '{}' ({})",
                node.name, node.desc.name
            ));
        }
    }
}

/// Outputs of its weights.
fn outputs(plan: &Plan, driver: usize, lost: &mut impl FnMut(String)) {
    let source = Source::Node {
        node: driver,
        port: 0,
    };
    for output in plan.outputs().iter().filter(|o| o.source == source) {
        lost(format!(
            "the output '{}', which has its weights",
            output.name
        ));
    }
}

/// Lists parameters outside `carried` that differ from their default, and links outside `ports`.
fn not_carried(node: &PlanNode, carried: &[&str], ports: &[&str], lost: &mut impl FnMut(String)) {
    let of = format!("{} '{}': ", node.desc.name, node.name);
    changes_in_time(node, &of, lost);
    let parameters = node.desc.parameters.iter().zip(&node.parameters);
    for (desc, source) in parameters.filter(|(desc, _)| !carried.contains(&desc.name)) {
        if let ParameterSource::Constant(value) = source
            && *value != desc.default_value()
        {
            lost(format!("{of}'{}'", desc.name));
        }
    }
    let linked = node.desc.inputs.iter().zip(&node.inputs);
    for (port, _) in linked.filter(|(port, s)| s.is_some() && !ports.contains(&port.name)) {
        lost(format!("{of}the link '{}'", port.name));
    }
}

type Driven = (Vec<String>, Vec<Vec<Affine<f64>>>);

fn driven(
    plan: &Plan,
    node: &PlanNode,
    lost: &mut impl FnMut(String),
) -> Result<Driven, NodeError> {
    not_carried(
        node,
        &["joints", "poses", "space"],
        &["pose", "weights"],
        lost,
    );
    let (space, driven) = read_parameters(plan, node, |p| {
        let poses = p.records("poses");
        let transforms = poses.map(|r| r.transforms("joints").to_vec()).collect();
        let driven = (p.texts("joints").to_vec(), transforms);
        Ok((p.text("space").to_owned(), driven))
    })?;
    // The rest pose of joints is unknown here.
    if space == "rest" {
        lost(format!(
            "drive_joints '{}': \"space\": \"rest\"; its poses are converted as relative to the parent joints",
            node.name
        ));
    }
    Ok(driven)
}

fn targets(
    plan: &Plan,
    node: &PlanNode,
    lost: &mut impl FnMut(String),
) -> Result<Vec<String>, NodeError> {
    let base = node.desc.inputs.iter().position(|p| p.name == "base");
    let base = base.and_then(|place| node.inputs.get(place).copied().flatten());
    // Chains of solvers become such a chain again.
    let is_chain = |source: Source| match source {
        Source::Node { node, .. } => plan.nodes()[node].desc.name == drive_morphs::DESC.name,
        Source::Input(_) => false,
    };
    let ports: &[&str] = if base.is_some_and(is_chain) {
        &["mesh", "weights", "base"]
    } else {
        &["mesh", "weights"]
    };
    not_carried(node, &["targets"], ports, lost);
    read_parameters(plan, node, |p| Ok(p.texts("targets").to_vec()))
}
