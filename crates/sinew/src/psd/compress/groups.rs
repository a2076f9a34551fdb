//! Groups of targets that a basis can replace, as far as the graph allows it.

use super::report::{Kept, Unchanged};
use crate::deform::{ParameterValue, drive_joints, drive_morphs, morph, pose_driver};
use crate::geom::Asset;
use crate::graph::{ParameterSource, Plan, PlanNode, Source};
use crate::psd::drivers::read_parameters;
use crate::psd::write::is_selected;

/// A node `drive_morphs` whose weights come from a pose driver.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// Index into the plan's nodes.
    pub(super) index: usize,
    pub(super) node: &'a PlanNode,
    /// Name of the pose driver.
    pub(super) driver: &'a str,
    /// Name of the target of each incoming weight; empty if it drives none.
    pub(super) names: Vec<String>,
}

/// The groups of a plan, in the order in which they run.
pub(super) fn groups(plan: &Plan) -> Vec<Group<'_>> {
    let nodes = plan.nodes().iter().enumerate();
    let groups = nodes.filter(|(_, node)| is_drive(node));
    groups
        .filter_map(|(index, node)| {
            let driver = match input(node, "weights")? {
                Source::Node { node, .. } => plan.nodes().get(node)?,
                Source::Input(_) => return None,
            };
            let is_driver = driver.desc.name == pose_driver::DESC.name;
            is_driver.then(|| Group {
                index,
                node,
                driver: &driver.name,
                names: texts(plan, node, "targets"),
            })
        })
        .collect()
}

fn is_drive(node: &PlanNode) -> bool {
    node.desc.name == drive_morphs::DESC.name
}

/// The source of a port.
fn input(node: &PlanNode, port: &str) -> Option<Source> {
    let place = node.desc.inputs.iter().position(|p| p.name == port)?;
    node.inputs.get(place).copied().flatten()
}

/// A list of texts. Registered nodes always have the requested parameter.
fn texts(plan: &Plan, node: &PlanNode, name: &str) -> Vec<String> {
    read_parameters(plan, node, |p| Ok(p.texts(name).to_vec())).unwrap_or_default()
}

/// A value from the document, or the default.
fn constant<'a>(node: &'a PlanNode, name: &str) -> Option<&'a ParameterValue> {
    let place = node.desc.parameters.iter().position(|p| p.name == name)?;
    match node.parameters.get(place)? {
        ParameterSource::Constant(value) => Some(value),
        _ => None,
    }
}

impl Group<'_> {
    /// The input with the mesh.
    ///
    /// # Errors
    /// The reason why the whole group stays unchanged.
    pub(super) fn mesh_input(&self, plan: &Plan, document: &str) -> Result<usize, Unchanged> {
        if !self.node.location.starts_with(&format!("{document}:")) {
            return Err(Unchanged::OtherDocument {
                location: self.node.location.clone(),
            });
        }
        if constant(self.node, "targets").is_none() {
            return Err(Unchanged::NotOwn {
                parameter: "targets",
            });
        }
        match constant(self.node, "mix") {
            Some(ParameterValue::Records(list)) if list.is_empty() => {}
            _ => return Err(Unchanged::HasMix),
        }
        self.check_readers(plan)?;
        match input(self.node, "mesh") {
            Some(Source::Input(input)) if plan.inputs()[input].file.is_none() => Ok(input),
            _ => Err(Unchanged::OtherMesh),
        }
    }

    /// Follows the weights to their users: by name to node `morph`, and nowhere else. (Plans have no nodes without
    /// readers.)
    fn check_readers(&self, plan: &Plan) -> Result<(), Unchanged> {
        let mut open = vec![self.index];
        while let Some(index) = open.pop() {
            let node = &plan.nodes()[index];
            if constant(node, "clamp") != Some(&ParameterValue::Bool(false)) {
                return Err(Unchanged::Clamps {
                    node: node.name.clone(),
                });
            }
            let source = Source::Node {
                node: index,
                port: 0,
            };
            if let Some(output) = plan.outputs().iter().find(|o| o.source == source) {
                let by = format!("output '{}'", output.name);
                return Err(Unchanged::ReadByPlace { by });
            }
            for (reader, node) in plan.nodes().iter().enumerate() {
                for port in ports_that_read(node, source) {
                    match (node.desc.name, port) {
                        (name, "weights") if name == morph::DESC.name => {}
                        (_, "base") if is_drive(node) => open.push(reader),
                        _ => return Err(read_by(node)),
                    }
                }
            }
        }
        others_by_place(plan)
    }

    /// The reason why a target of this name stays.
    pub(super) fn kept(&self, plan: &Plan, name: &str) -> Option<Kept> {
        let nodes = plan.nodes().iter();
        if let Some(node) = nodes.clone().find(|n| reads_by_name(plan, n, name)) {
            let node = node.name.clone();
            return Some(Kept::NamedBy { node });
        }
        nodes
            .enumerate()
            .filter(|(_, n)| is_drive(n))
            .find_map(|(index, node)| {
                let by = || node.name.clone();
                if named_in(plan, node, "in_betweens", name) {
                    return Some(Kept::InBetween { node: by() });
                }
                if named_in(plan, node, "combinations", name) {
                    return Some(Kept::Combination { node: by() });
                }
                let drives = texts(plan, node, "targets").iter().any(|t| t == name)
                    || named_in(plan, node, "mix", name);
                (drives && index != self.index).then(|| Kept::OtherNode { node: by() })
            })
    }
}

fn ports_that_read(node: &PlanNode, source: Source) -> impl Iterator<Item = &'static str> + '_ {
    let ports = node.desc.inputs.iter().zip(&node.inputs);
    ports
        .filter(move |(_, s)| **s == Some(source))
        .map(|(port, _)| port.name)
}

fn read_by(node: &PlanNode) -> Unchanged {
    Unchanged::ReadByPlace {
        by: format!("node '{}'", node.name),
    }
}

/// Nodes that get one weight per target by index, from another source.
fn others_by_place(plan: &Plan) -> Result<(), Unchanged> {
    let is_named = |source: Source| match source {
        Source::Node { node, .. } => plan.nodes().get(node).is_some_and(is_drive),
        Source::Input(_) => false,
    };
    for node in plan.nodes() {
        let port = match node.desc.name {
            name if name == morph::DESC.name => "weights",
            name if name == drive_morphs::DESC.name => "base",
            _ => continue,
        };
        if input(node, port).is_some_and(|source| !is_named(source)) {
            return Err(read_by(node));
        }
    }
    Ok(())
}

/// True if a node other than the driver's own has this text in a parameter: `pose_space_deformation`, or any future
/// node. A joint of the same name also keeps a target, which only costs its bytes.
fn reads_by_name(plan: &Plan, node: &PlanNode, name: &str) -> bool {
    let own = [
        pose_driver::DESC.name,
        drive_morphs::DESC.name,
        drive_joints::DESC.name,
    ];
    let found = read_parameters(plan, node, |p| {
        Ok(p.values.iter().any(|value| mentions(value, name)))
    });
    !own.contains(&node.desc.name) && found.unwrap_or(true)
}

fn mentions(value: &ParameterValue, name: &str) -> bool {
    match value {
        ParameterValue::Text(text) => text == name,
        ParameterValue::Texts(list) => list.iter().any(|text| text == name),
        ParameterValue::Records(list) => {
            let mut values = list.iter().flat_map(|r| &r.values);
            values.any(|value| mentions(value, name))
        }
        _ => false,
    }
}

/// True if an object of the list refers to the target.
fn named_in(plan: &Plan, node: &PlanNode, list: &str, name: &str) -> bool {
    let found = read_parameters(plan, node, |p| {
        let mut records = p.records(list);
        Ok(records.any(|r| {
            r.text("target") == name
                || match list {
                    "in_betweens" => r.text("of") == name,
                    "combinations" => r.texts("of").iter().any(|of| of == name),
                    _ => false,
                }
        }))
    });
    found.unwrap_or(true)
}

/// A mesh of the asset that is part of an input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Index into the asset's meshes.
    pub(crate) mesh: usize,
    /// Its first vertex in the input.
    pub(crate) first: usize,
    pub(crate) vertices: usize,
}

/// The meshes of an input, in order.
pub(crate) fn parts(asset: &Asset, plan: &Plan, input: usize) -> Vec<Part> {
    let selection = &plan.inputs()[input].selection;
    let mut first = 0;
    let meshes = asset.meshes.iter().enumerate();
    meshes
        .filter(|(_, mesh)| is_selected(mesh, selection))
        .map(|(mesh, of)| {
            let vertices = of.vertex_count();
            first += vertices;
            Part {
                mesh,
                first: first - vertices,
                vertices,
            }
        })
        .collect()
}
