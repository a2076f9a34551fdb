//! Solvers from the nodes of a graph.

use super::{Losses, Solver};
use crate::deform::pose_driver::{self, DriverPose};
use crate::deform::{NodeError, ParameterValue, Parameters, ReadLog, drive_joints, drive_morphs};
use crate::geom::Affine;
use crate::graph::{Plan, PlanNode, Source};
use crate::psd::drivers::{driver_of, first_values};

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
    let values = first_values(plan, node);
    let log = ReadLog::new();
    let parameters = Parameters {
        descs: node.desc.parameters,
        values: &values,
        log: &log,
    };
    let records = || parameters.records("poses");
    let enabled: Vec<bool> = records().map(|p| p.bool("enabled")).collect();
    let driver_transforms: Vec<Vec<Affine<f64>>> =
        records().map(|p| p.transforms("joints").to_vec()).collect();
    let mut driver = settings.driver;
    driver.poses = all_poses(driver.poses, &enabled, &parameters);
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
        .map_or_else(Default::default, |n| driven(plan, n, &mut lost));
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
            .map_or_else(Vec::new, |n| targets(plan, n, &mut lost)),
    })
}

/// Those that take part, and the others in between.
fn all_poses(
    taking_part: Vec<DriverPose>,
    enabled: &[bool],
    parameters: &Parameters<'_>,
) -> Vec<DriverPose> {
    let mut taking_part = taking_part.into_iter();
    let records = parameters.records("poses").zip(enabled);
    records
        .filter_map(|(record, enabled)| {
            if *enabled {
                return taking_part.next();
            }
            let values = record.transforms("joints").iter().map(From::from).collect();
            Some(DriverPose {
                scale: record.float("scale"),
                ..DriverPose::new(record.text("name"), values)
            })
        })
        .collect()
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

fn driven(
    plan: &Plan,
    node: &PlanNode,
    lost: &mut impl FnMut(String),
) -> (Vec<String>, Vec<Vec<Affine<f64>>>) {
    let values = first_values(plan, node);
    let log = ReadLog::new();
    let p = Parameters {
        descs: node.desc.parameters,
        values: &values,
        log: &log,
    };
    if p.records("followers").len() > 0 {
        lost("joints that follow others".into());
    }
    if !p.transforms("neutral").is_empty() {
        lost("where helper joints are without weights: as they rest".into());
    }
    let poses = p.records("poses");
    let transforms = poses.map(|r| r.transforms("joints").to_vec()).collect();
    (p.texts("joints").to_vec(), transforms)
}

fn targets(plan: &Plan, node: &PlanNode, lost: &mut impl FnMut(String)) -> Vec<String> {
    let values: Vec<ParameterValue> = first_values(plan, node);
    let log = ReadLog::new();
    let p = Parameters {
        descs: node.desc.parameters,
        values: &values,
        log: &log,
    };
    for list in ["in_betweens", "combinations"] {
        if p.records(list).len() > 0 {
            lost(format!("{list} of morph targets"));
        }
    }
    p.texts("targets").to_vec()
}
