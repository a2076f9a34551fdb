//! The pose drivers of a graph.

use crate::deform::pose_driver::{self, PoseDriverSettings};
use crate::deform::{NodeError, ParameterDesc, ParameterValue, Parameters, ReadLog};
use crate::graph::{ParameterSource, Plan, PlanNode};

/// A pose driver in a graph.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GraphDriver {
    /// Name of its node.
    pub name: String,
    /// Its location, `file:line:column`.
    pub location: String,
    /// Its settings.
    pub settings: PoseDriverSettings,
    /// Names of disabled poses.
    pub disabled: Vec<String>,
}

/// The pose drivers of a plan, including those of nested graphs, in the order in which they run.
///
/// # Errors
/// [`NodeError`] if a driver's parameters contradict each other, with the node's name.
pub fn drivers_of(plan: &Plan) -> Result<Vec<GraphDriver>, (String, NodeError)> {
    each_driver(plan)
        .map(|(node, driver)| driver.map_err(|e| (node.name.clone(), e)))
        .collect()
}

/// The pose driver nodes in the order in which they run, each with its settings.
pub(super) fn each_driver(
    plan: &Plan,
) -> impl Iterator<Item = (&PlanNode, Result<GraphDriver, NodeError>)> {
    let nodes = plan.nodes().iter();
    nodes
        .filter(|n| n.desc.name == pose_driver::DESC.name)
        .map(|n| (n, driver_of(plan, n)))
}

/// Reads the parameters of a node before anything is animated or set.
///
/// # Errors
/// Errors of `read`, and a bug in the node if it reads a parameter that it does not declare.
pub(super) fn read_parameters<T>(
    plan: &Plan,
    node: &PlanNode,
    read: impl FnOnce(&Parameters<'_>) -> Result<T, NodeError>,
) -> Result<T, NodeError> {
    let value = |(source, desc): (&ParameterSource, &ParameterDesc)| match source {
        ParameterSource::Constant(v) => v.clone(),
        ParameterSource::Parameter(p) => plan.parameters()[*p].default.clone(),
        ParameterSource::Keyed(keyed) => keyed.values[0].clone(),
        ParameterSource::Linked(_) | ParameterSource::FrameTime => desc.default_value(),
    };
    let sources = node.parameters.iter().zip(node.desc.parameters);
    let values: Vec<ParameterValue> = sources.map(value).collect();
    let log = ReadLog::new();
    let out = read(&Parameters {
        descs: node.desc.parameters,
        values: &values,
        log: &log,
    });
    log.check()?;
    out
}

pub(super) fn driver_of(plan: &Plan, node: &PlanNode) -> Result<GraphDriver, NodeError> {
    read_parameters(plan, node, |parameters| {
        let settings = PoseDriverSettings::read(parameters)?;
        let disabled = settings.left_out.iter().map(|p| p.name.clone());
        Ok(GraphDriver {
            name: node.name.clone(),
            location: node.location.clone(),
            disabled: disabled.collect(),
            settings,
        })
    })
}
