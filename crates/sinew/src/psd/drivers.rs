//! The pose drivers of a graph.

use crate::deform::pose_driver::{self, PoseDriverSettings};
use crate::deform::{NodeError, ParameterValue, Parameters, ReadLog};
use crate::graph::{ParameterSource, Plan, PlanNode};

/// A pose driver that stands in a graph.
#[derive(Clone, Debug)]
pub struct GraphDriver {
    /// Name of its node.
    pub name: String,
    /// Where it stands, `file:line:column`.
    pub place: String,
    /// What it says.
    pub settings: PoseDriverSettings,
    /// Names of the poses that take no part.
    pub disabled: Vec<String>,
}

/// The pose drivers of a plan, those of nested graphs, too, in the order in which they run.
///
/// # Errors
/// [`NodeError`] where a driver's parameters do not fit each other, with the node's name.
pub fn drivers_of(plan: &Plan) -> Result<Vec<GraphDriver>, (String, NodeError)> {
    each_driver(plan)
        .map(|(node, driver)| driver.map_err(|e| (node.name.clone(), e)))
        .collect()
}

/// The nodes of pose drivers in the order in which they run, each with what it says.
pub(super) fn each_driver(
    plan: &Plan,
) -> impl Iterator<Item = (&PlanNode, Result<GraphDriver, NodeError>)> {
    let nodes = plan.nodes().iter();
    nodes
        .filter(|n| n.desc.name == pose_driver::DESC.name)
        .map(|n| (n, driver_of(plan, n)))
}

/// Values of a node's parameters before anything is animated or set.
pub(super) fn first_values(plan: &Plan, node: &PlanNode) -> Vec<ParameterValue> {
    let value = |source: &ParameterSource| match source {
        ParameterSource::Constant(v) => v.clone(),
        ParameterSource::Parameter(p) => plan.parameters()[*p].default.clone(),
        ParameterSource::Keyed(keyed) => keyed.values[0].clone(),
    };
    node.parameters.iter().map(value).collect()
}

pub(super) fn driver_of(plan: &Plan, node: &PlanNode) -> Result<GraphDriver, NodeError> {
    let values = first_values(plan, node);
    let log = ReadLog::new();
    let parameters = Parameters {
        descs: node.desc.parameters,
        values: &values,
        log: &log,
    };
    let settings = PoseDriverSettings::read(&parameters)?;
    let poses = parameters.records("poses");
    let disabled = poses.filter(|p| !p.bool("enabled"));
    let disabled = disabled.map(|p| p.text("name").to_owned()).collect();
    log.check()?;
    Ok(GraphDriver {
        name: node.name.clone(),
        place: node.place.clone(),
        settings,
        disabled,
    })
}
