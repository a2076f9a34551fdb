//! A checked, ordered graph; the same for every asset.

use crate::diagnostic::{Diagnostic, closest};
use crate::kernel::CustomKernel;
use crate::keyed::Keyed;
use sinew_deform::{
    AttributeEffect, DefaultValue, NodeDesc, ParameterDesc, ParameterType, ParameterValue, Phase,
    PortType, SetupNote,
};
use sinew_geom::{Affine, Selection};
use std::sync::Arc;

/// Type of an input of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputType {
    /// A mesh.
    Mesh,
    /// Strands: a mesh with strands instead of triangles.
    Strands,
    /// A pose of a rig.
    Pose,
    /// Floats that the caller passes in with each frame.
    Values,
    /// Baked animations of a mesh.
    VertexAnimation,
}

impl InputType {
    /// All input types.
    pub(crate) const ALL: [Self; 5] = [
        Self::Mesh,
        Self::Strands,
        Self::Pose,
        Self::Values,
        Self::VertexAnimation,
    ];

    /// The type of links that start here.
    pub fn port_type(self) -> PortType {
        match self {
            Self::Mesh | Self::Strands => PortType::Mesh,
            Self::Pose => PortType::Pose,
            Self::Values => PortType::Values,
            Self::VertexAnimation => PortType::VertexAnimation,
        }
    }

    /// Whether its data is the same in every frame, unless an animated mesh is bound to it.
    pub(crate) fn is_constant(self) -> bool {
        match self {
            Self::Mesh | Self::Strands | Self::VertexAnimation => true,
            Self::Pose | Self::Values => false,
        }
    }
}

/// Follower strands to create around guides. They replace the followers of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Followers {
    /// Followers per guide.
    pub count: usize,
    /// Radius of the disc around the guide's root that holds their roots, on the skin, in metres.
    pub radius: f64,
    /// Growth of their distance to the guide: it grows from root to tip by the factor 1 + this value.
    pub tip_separation: f64,
    /// Each is shorter than its guide by a random share up to this.
    pub length_variation: f64,
    /// Radius of the curls of each follower, in metres; 0 for none.
    pub curl: f64,
    /// Length of hair in one full rotation of a curl, in metres.
    pub curl_length: f64,
    /// Distance by which they randomly leave their line, at most, in metres.
    pub frizz: f64,
    /// Length of hair between two of these bends, in metres.
    pub frizz_length: f64,
    /// Seed of all that is random about them.
    pub seed: u32,
    /// Name of the mesh input that they grow on; if `None`, the nearest mesh.
    pub skin: Option<String>,
}

impl Default for Followers {
    fn default() -> Self {
        Self {
            count: 0,
            radius: 0.0,
            tip_separation: 0.0,
            length_variation: 0.0,
            curl: 0.0,
            curl_length: 0.05,
            frizz: 0.0,
            frizz_length: 0.015,
            seed: 0,
            skin: None,
        }
    }
}

/// Thickness profile of strands for written files: diameters in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thickness {
    /// Diameter at the root.
    pub root: f64,
    /// Diameter at the tip.
    pub tip: f64,
}

/// An input of the graph.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InputDecl {
    /// Name in the document.
    pub name: String,
    /// Its type.
    pub ty: InputType,
    /// Mesh and strands inputs: which meshes of the asset to take.
    pub selection: Selection,
    /// File to read it from, relative to the document; the manifest for a vertex animation. If `None`, the main character.
    pub file: Option<String>,
    /// Mesh and strands inputs: point cache with their positions in each frame, relative to the document.
    pub point_cache: Option<String>,
    /// Mesh and strands inputs: name of the pose input whose joints they use, matched by name. If `None`, the joints of their own file.
    pub joints: Option<String>,
    /// Strands inputs: followers to create around each guide.
    pub followers: Option<Followers>,
    /// Strands inputs: thickness of the strands; if `None`, the thickness in their file.
    pub thickness: Option<Thickness>,
    /// `values` inputs: number of floats.
    pub count: usize,
}

/// A parameter of the graph.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParameterDecl {
    /// Name in the document; a parameter of a nested graph is called `node/parameter`.
    pub name: String,
    /// Its type and range, narrowed by the nodes that use it.
    pub ty: ParameterType,
    /// Its value until the caller sets another.
    pub default: ParameterValue,
    /// Whether it is read in setup only: a new value then needs a new setup.
    pub setup: bool,
    /// Its animation in the document, if any. Setting a value replaces the animation.
    pub keyed: Option<Keyed>,
    /// Its description in the document.
    pub doc: String,
}

/// Where a node's parameter gets its value.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterSource {
    /// A value in the document, or the node's default.
    Constant(ParameterValue),
    /// A parameter of the graph: index into [`Plan::parameters`].
    Parameter(usize),
    /// Keyframes in the document.
    Keyed(Keyed),
    /// Data of the graph in each frame.
    Linked(ParameterLink),
    /// The time of the frame in seconds; 0 in setup. Used if the document sets no value and this is the node's default.
    FrameTime,
}

/// What a parameter follows in each frame.
///
/// In setup, a parameter that follows numbers has its default, and one that follows a joint has the offset: its value in the bind pose.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterLink {
    /// Index into [`PlanNode::parameter_inputs`].
    pub input: usize,
    /// What is taken from there.
    pub takes: Takes,
    /// Location in the document, `file:line:column`.
    pub location: String,
}

/// What a parameter takes from the data that it is linked to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Takes {
    /// Successive numbers of `values`: one for a number, three or four for a vector. Whole numbers are rounded; a truth value is true from
    /// 0.5 on. Values outside the range of the parameter become its nearest end.
    Numbers {
        /// Index of the first.
        first: usize,
        /// Curve that maps each number, with the number as time. Numbers beyond its ends give the value at the end.
        remap: Option<Keyed>,
        /// Range that mapped numbers are brought into.
        range: [f64; 2],
        /// Factor after that: radians for angles in degrees.
        factor: f64,
    },
    /// The motion of a joint since the bind pose, after `offset`: `scene_from_joint * joint_from_bind * offset`.
    Joint {
        /// Name of the joint: a text, or a parameter of the graph that is read in setup. Empty for no joint: the value is the offset.
        name: Box<ParameterSource>,
        /// The transform in the bind pose, in scene space: a value, keys or a parameter of the graph.
        offset: Box<ParameterSource>,
        /// Node of the joint; `None` before binding, and without a joint.
        node: Option<usize>,
        /// From scene space to the space of the joint in the bind pose; the identity before binding.
        joint_from_bind: Affine<f64>,
    },
}

impl ParameterSource {
    /// The source of a parameter that the document does not set.
    pub(crate) fn of_default(desc: &ParameterDesc) -> Self {
        match desc.default {
            DefaultValue::FrameTime => Self::FrameTime,
            _ => Self::Constant(desc.default_value()),
        }
    }
}

/// Where a link starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// An input of the graph: index into [`Plan::inputs`].
    Input(usize),
    /// An output of a node.
    Node {
        /// Index into [`Plan::nodes`].
        node: usize,
        /// Index into its description's outputs.
        port: usize,
    },
}

/// How a node's region is found from the rest mesh of its first mesh input, when it is bound.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fit {
    /// The vertices that lie in the region.
    pub of: FitOf,
    /// Added on all sides, in metres.
    pub margin: f64,
    /// Location in the document, `file:line:column`.
    pub location: String,
    /// The region, once it is found.
    pub found: Option<SetupNote>,
}

/// Vertices that a region is fitted to. An index is into [`PlanNode::parameter_inputs`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FitOf {
    /// All vertices.
    Mesh,
    /// Vertices with a weight above 0.
    Mask(usize),
    /// Vertices with a weight for the joint of that name. The region lies along the axes of the joint in the bind pose.
    Joint(usize, String),
}

/// One node of a plan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlanNode {
    /// Name in the document; a node of a nested graph is called `outer/inner`.
    pub name: String,
    /// Description of its kind.
    pub desc: &'static NodeDesc,
    /// The user's own kernel, if the node is one.
    pub kernel: Option<Arc<CustomKernel>>,
    /// Its links, in the order of the description's inputs.
    pub inputs: Vec<Option<Source>>,
    /// Sources of its parameters, in the order of the description's parameters.
    pub parameters: Vec<ParameterSource>,
    /// What its parameters are linked to ([`ParameterLink::input`]).
    pub parameter_inputs: Vec<Source>,
    /// The vertices that its region is fitted to, if the document says so.
    pub fit: Option<Fit>,
    /// Whether it depends on nothing that changes over time: it then runs once, in setup.
    pub runs_in_setup: bool,
    /// Whether the binder added it.
    pub implicit: bool,
    /// Location in the document, `file:line:column`; empty if the binder added it.
    pub location: String,
}

/// An output of the graph.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OutputDecl {
    /// Name in the document.
    pub name: String,
    /// The input or node output that it shows.
    pub source: Source,
}

/// A graph has no output with this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the graph has no output '{name}'; {}known: {}", self.meant(), .known.join(", "))]
pub struct NoOutput {
    /// The requested name.
    pub name: String,
    /// The existing names.
    pub known: Vec<String>,
}

impl NoOutput {
    fn meant(&self) -> String {
        let known = self.known.iter().map(String::as_str);
        // The only name needs no guess.
        match closest(&self.name, known).filter(|_| self.known.len() > 1) {
            Some(close) => format!("did you mean '{close}'? "),
            None => String::new(),
        }
    }
}

/// A checked graph with its nodes in running order.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) inputs: Vec<InputDecl>,
    pub(crate) parameters: Vec<ParameterDecl>,
    pub(crate) nodes: Vec<PlanNode>,
    pub(crate) outputs: Vec<OutputDecl>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// Values from nodes with the count that they must have, and the declaration (`location: input 'x' of 'y'`).
    pub(crate) counts: Vec<(Source, usize, String)>,
    pub(crate) distrusted: bool,
}

impl Plan {
    /// Marks the graph as untrusted: hardware GPUs then do not run its custom kernels.
    pub fn distrust_kernels(&mut self) {
        self.distrusted = true;
    }
    /// Names of the custom kernels that hardware GPUs do not run after [`Self::distrust_kernels`].
    pub fn distrusted_kernels(&self) -> Vec<&str> {
        let kernels = self.nodes.iter().filter(|n| n.kernel.is_some());
        let distrusted = kernels.filter(|_| self.distrusted);
        distrusted.map(|n| n.name.as_str()).collect()
    }
    /// Inputs in document order.
    pub fn inputs(&self) -> &[InputDecl] {
        &self.inputs
    }
    /// Parameters in document order; those of nested graphs come last.
    pub fn parameters(&self) -> &[ParameterDecl] {
        &self.parameters
    }
    /// Whether a node of the document recomputes the normals of the mesh at `source`.
    pub(crate) fn recomputes_normals(&self, mut source: Source) -> bool {
        while let Source::Node { node, port } = source {
            let node = &self.nodes[node];
            let Some(effect) = node.desc.outputs.get(port).and_then(|p| p.effect) else {
                return false;
            };
            if effect.normals == AttributeEffect::Recompute {
                return true;
            }
            let from = node.desc.inputs.iter().position(|p| p.name == effect.from);
            match from.and_then(|i| node.inputs.get(i).copied().flatten()) {
                Some(before) => source = before,
                None => return false,
            }
        }
        false
    }
    /// Nodes in running order: each comes after the nodes that it reads.
    pub fn nodes(&self) -> &[PlanNode] {
        &self.nodes
    }
    /// Nodes that simulate (hair): each of their frames depends on the frames before it. Without any, frames can be
    /// evaluated in any order.
    pub fn solvers(&self) -> impl Iterator<Item = &PlanNode> {
        self.nodes
            .iter()
            .filter(|n| n.desc.kind == sinew_deform::NodeKind::Solver)
    }
    /// Outputs in document order.
    pub fn outputs(&self) -> &[OutputDecl] {
        &self.outputs
    }
    /// Keeps the outputs with these names, in document order. Binding then leaves out the nodes that none of them needs.
    ///
    /// # Errors
    /// [`NoOutput`] with the first unknown name; the plan then stays the same.
    pub fn keep_outputs(&mut self, names: &[&str]) -> Result<(), NoOutput> {
        let is_known = |name: &&&str| self.outputs.iter().any(|o| o.name == **name);
        if let Some(name) = names.iter().find(|name| !is_known(name)) {
            return Err(NoOutput {
                name: (*name).to_owned(),
                known: self.outputs.iter().map(|o| o.name.clone()).collect(),
            });
        }
        self.outputs.retain(|o| names.contains(&o.name.as_str()));
        Ok(())
    }
    /// Adds an output that shows the data at `source`, and returns its name: `name`, with `_` appended until no output is called so.
    pub fn add_output(&mut self, name: &str, source: Source) -> String {
        let mut name = name.to_owned();
        while self.outputs.iter().any(|o| o.name == name) {
            name.push('_');
        }
        self.outputs.push(OutputDecl {
            name: name.clone(),
            source,
        });
        name
    }
    /// Warnings of the checks.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
    /// Type of the data at `source`, which must be of this plan.
    pub fn source_type(&self, source: Source) -> PortType {
        source_type(&self.inputs, &self.nodes, source)
    }
    /// Name of a source as in links: the input's name, `node`, or `node.port`.
    pub fn source_name(&self, source: Source) -> String {
        match source {
            Source::Input(i) => self.inputs[i].name.clone(),
            Source::Node { node, port } => {
                let n = &self.nodes[node];
                if port == 0 {
                    n.name.clone()
                } else {
                    format!("{}.{}", n.name, n.desc.outputs[port].name)
                }
            }
        }
    }

    /// Links unlinked inputs that take the pose of the node's mesh ([`sinew_deform::PortDesc::of_mesh`]), and those of `parameters`: for
    /// each node the indices of its parameter inputs that do so where the mesh has a pose.
    pub(crate) fn link_poses_of_meshes(&mut self, parameters: &[Vec<usize>]) {
        // The pose that each node takes, or else the nearest one upstream of its first mesh: nodes come after those they read.
        let mut poses: Vec<Option<Source>> = Vec::with_capacity(self.nodes.len());
        for (node, parameters) in self.nodes.iter_mut().zip(parameters) {
            let ports = node.desc.inputs;
            let input = |sources: &[Option<Source>], ty| {
                ports.iter().zip(sources).find_map(|(port, source)| {
                    let fits = std::mem::discriminant(&port.ty) == std::mem::discriminant(&ty);
                    source.filter(|_| fits)
                })
            };
            let upstream = match input(&node.inputs, PortType::Mesh) {
                Some(Source::Node { node, .. }) => poses[node],
                Some(Source::Input(_)) | None => None,
            };
            for (port, source) in ports.iter().zip(&mut node.inputs) {
                if port.of_mesh && source.is_none() {
                    *source = upstream;
                }
            }
            for &index in parameters {
                if let (Some(pose), Some(source)) = (upstream, node.parameter_inputs.get_mut(index))
                {
                    *source = pose;
                }
            }
            poses.push(input(&node.inputs, PortType::Pose).or(upstream));
        }
    }

    /// Marks each node that depends on nothing that changes. `animated`: mesh inputs that are bound to animated meshes, by input; empty
    /// before binding. Nodes must be in running order.
    pub(crate) fn derive_phases(&mut self, animated: &[bool]) {
        for i in 0..self.nodes.len() {
            let n = &self.nodes[i];
            let inputs_constant = n.inputs.iter().flatten().all(|s| match s {
                Source::Input(i) => {
                    let is_animated = animated.get(*i).is_some_and(|a| *a);
                    self.inputs[*i].ty.is_constant() && !is_animated
                }
                Source::Node { node, .. } => self.nodes[*node].runs_in_setup,
            });
            let parameters_constant =
                n.parameters
                    .iter()
                    .zip(n.desc.parameters)
                    .all(|(source, desc)| {
                        desc.phase == Phase::Setup
                            || match source {
                                ParameterSource::Constant(_) => true,
                                ParameterSource::Parameter(p) => self.parameters[*p].setup,
                                ParameterSource::Keyed(_)
                                | ParameterSource::Linked(_)
                                | ParameterSource::FrameTime => false,
                            }
                    });
            let stateless = n.desc.kind != sinew_deform::NodeKind::Solver;
            self.nodes[i].runs_in_setup = inputs_constant && parameters_constant && stateless;
        }
    }
}

pub(crate) fn source_type(inputs: &[InputDecl], nodes: &[PlanNode], source: Source) -> PortType {
    match source {
        Source::Input(i) => inputs[i].ty.port_type(),
        Source::Node { node, port } => nodes[node].desc.outputs[port].ty,
    }
}

impl Plan {
    /// The index of a parameter.
    pub(crate) fn find_parameter(&self, name: &str) -> Result<usize, ParameterError> {
        let found = self.parameters.iter().position(|p| p.name == name);
        found.ok_or_else(|| ParameterError::Unknown {
            name: name.to_owned(),
            known: self.parameters.iter().map(|p| p.name.clone()).collect(),
            nodes: self.node_parameters(name).collect(),
        })
    }

    /// The parameters of nodes that `name` may mean: `iterations`, or `mush.iterations` with the node's name or kind.
    fn node_parameters(&self, name: &str) -> impl Iterator<Item = NodeParameter> {
        let (of, name) = match name.rsplit_once('.') {
            Some((node, name)) => (Some(node), name),
            None => (None, name),
        };
        let is_meant = move |n: &PlanNode| of.is_none_or(|of| of == n.name || of == n.desc.name);
        let nodes = self.nodes.iter().filter(move |n| is_meant(n));
        nodes.filter_map(move |node| {
            let index = node.desc.parameters.iter().position(|p| p.name == name)?;
            Some(NodeParameter {
                node: node.name.clone(),
                name: name.to_owned(),
                declared_type: declared_type(node.desc.parameters[index].ty)?,
                set_by: match node.parameters[index] {
                    ParameterSource::Parameter(p) => Some(self.parameters[p].name.clone()),
                    _ => None,
                },
            })
        })
    }
}

/// The type in a declaration of the document; `None` for those that only nodes have.
fn declared_type(ty: ParameterType) -> Option<&'static str> {
    Some(match ty {
        ParameterType::Bool => "bool",
        ParameterType::Int { .. } => "int",
        ParameterType::Float { .. } => "float",
        ParameterType::Choice(_) | ParameterType::Text => "text",
        ParameterType::Vec3 => "vec3",
        ParameterType::Vec4 => "vec4",
        ParameterType::Int3 { .. } => "int3",
        ParameterType::Transform => "transform",
        ParameterType::Floats => "floats",
        ParameterType::Points => "points",
        ParameterType::Texts => "texts",
        ParameterType::Transforms | ParameterType::Records(_) => return None,
    })
}

/// A parameter of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeParameter {
    /// Name of the node.
    pub node: String,
    /// Name of the parameter.
    pub name: String,
    /// Type of a graph parameter that can set it.
    pub declared_type: &'static str,
    /// The graph parameter that sets it, if any.
    pub set_by: Option<String>,
}

/// Why a parameter could not be set.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterError {
    /// No parameter has this name.
    #[error("{}", unknown_parameter(.name, .known, .nodes))]
    Unknown {
        /// Requested name.
        name: String,
        /// Names of all parameters.
        known: Vec<String>,
        /// Parameters of nodes that the name may mean.
        nodes: Box<[NodeParameter]>,
    },
    /// The value does not fit.
    #[error("parameter '{name}': {message}")]
    Value {
        /// Name of the parameter.
        name: String,
        /// What was found and expected.
        message: String,
    },
    /// The parameter is read in setup only and cannot change afterwards.
    #[error("parameter '{name}' is read in setup only; bind the graph again to change it")]
    SetupOnly {
        /// Name of the parameter.
        name: String,
    },
}

fn unknown_parameter(name: &str, known: &[String], nodes: &[NodeParameter]) -> String {
    let lacks = match known {
        [] => format!("the graph has no parameters, but '{name}' is set"),
        known => format!(
            "the graph has no parameter '{name}'; known: {}",
            known.join(", ")
        ),
    };
    let Some(first) = nodes.first() else {
        return lacks;
    };
    let parameter = &first.name;
    let names: Vec<String> = nodes.iter().map(|n| format!("'{}'", n.node)).collect();
    let of = match names.as_slice() {
        [node] => format!("node {node}"),
        names => format!("nodes {}", names.join(", ")),
    };
    let help = match &first.set_by {
        Some(graph) => format!("the graph sets it by '{graph}': set '{graph}' instead"),
        None => format!(
            "only parameters of the graph can be set: write \"{parameter}\": \"${parameter}\" at the node, and under \"parameters\" \"{parameter}\": {{\"type\": \"{}\", \"default\": ...}}",
            first.declared_type
        ),
    };
    format!("{lacks}; '{parameter}' is a parameter of {of}; {help}")
}
