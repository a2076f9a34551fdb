//! Solvers from the nodes of a graph.

use super::{Losses, Solver};
use crate::deform::pose_driver::{self, DriverPose};
use crate::deform::{NodeError, drive_joints, drive_morphs};
use crate::geom::Affine;
use crate::graph::{Plan, PlanNode, Source};
use crate::psd::drivers::{driver_of, read_parameters};

/// The pose drivers of a plan with what their weights drive.
///
/// # Errors
/// [`NodeError`] where the parameters of a node do not fit each other, with the node's name.
pub fn solvers_of_plan(plan: &Plan) -> Result<(Vec<Solver>, Losses), (String, NodeError)> {
    let mut losses = Losses::default();
    let mut out = Vec::new();
    for (index, node) in plan.nodes().iter().enumerate() {
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
    let settings = driver_of(plan, node)?.settings;
    if settings.space == "joint" {
        lost(format!(
            "poses as seen from '{}': as if they were relative to their parents",
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
    let joints = driven_by(plan, index, drive_joints::DESC.name);
    let morphs = driven_by(plan, index, drive_morphs::DESC.name);
    for (nodes, name) in [(&joints, "drive_joints"), (&morphs, "drive_morphs")] {
        if nodes.len() > 1 {
            lost(format!(
                "{} nodes '{name}': the first one instead",
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

/// Those that take part, and the others in between.
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

/// Nodes of that kind whose weights are those of node `driver`.
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

type Driven = (Vec<String>, Vec<Vec<Affine<f64>>>);

fn driven(
    plan: &Plan,
    node: &PlanNode,
    lost: &mut impl FnMut(String),
) -> Result<Driven, NodeError> {
    read_parameters(plan, node, |p| {
        if p.records("followers").len() > 0 {
            lost("joints that follow others".into());
        }
        if !p.transforms("neutral").is_empty() {
            lost("where helper joints are without weights: as they rest".into());
        }
        let poses = p.records("poses");
        let transforms = poses.map(|r| r.transforms("joints").to_vec()).collect();
        Ok((p.texts("joints").to_vec(), transforms))
    })
}

fn targets(
    plan: &Plan,
    node: &PlanNode,
    lost: &mut impl FnMut(String),
) -> Result<Vec<String>, NodeError> {
    read_parameters(plan, node, |p| {
        for list in ["in_betweens", "combinations"] {
            if p.records(list).len() > 0 {
                lost(format!("{list} of morph targets"));
            }
        }
        Ok(p.texts("targets").to_vec())
    })
}
