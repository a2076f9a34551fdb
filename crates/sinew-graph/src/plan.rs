//! A checked, ordered graph; the same for every asset.

use crate::diagnostic::Diagnostic;
use crate::kernel::CustomKernel;
use crate::keyed::Keyed;
use sinew_deform::{
    AttributeEffect, DefaultValue, NodeDesc, ParameterDesc, ParameterType, ParameterValue, Phase,
    PortType,
};
use sinew_geom::Selection;
use std::sync::Arc;

/// What an input takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputType {
    /// A mesh.
    Mesh,
    /// Strands: a mesh that is made of strands instead of triangles.
    Strands,
    /// A pose of a rig.
    Pose,
    /// Floats from the caller, each frame.
    Values,
    /// Baked animations of a mesh.
    VertexAnimation,
}

impl InputType {
    /// All there are.
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

    /// Whether it is the same in every frame.
    pub fn is_constant(self) -> bool {
        match self {
            Self::Mesh | Self::Strands | Self::VertexAnimation => true,
            Self::Pose | Self::Values => false,
        }
    }
}

/// Strands to be placed beside guides; those that a file has are left out then.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Followers {
    /// Beside each guide.
    pub count: usize,
    /// Of the disc around the guide's root, on the skin, metres.
    pub radius: f64,
    /// Their distance from the guide grows by 1 + this, from root to tip.
    pub tip_separation: f64,
    /// Which places in the disc.
    pub seed: u32,
    /// Name of the mesh input that they grow on; where absent, whichever is nearest.
    pub skin: Option<String>,
}

/// How thick strands are, for files: the profile from root to tip. Diameters, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thickness {
    /// At the root.
    pub root: f64,
    /// At the tip.
    pub tip: f64,
}

/// An input of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct InputDecl {
    /// Name in the document.
    pub name: String,
    /// What it takes.
    pub ty: InputType,
    /// Mesh and strands inputs: which meshes of the asset.
    pub selection: Selection,
    /// File to take it from, relative to the document; the main character where absent. Of a vertex animation its manifest.
    pub file: Option<String>,
    /// Mesh and strands inputs: name of the pose input whose joints they are bound to, found by their names; the joints of their own file
    /// where absent.
    pub joints: Option<String>,
    /// Strands inputs: followers that are placed beside each guide.
    pub followers: Option<Followers>,
    /// Strands inputs: how thick they are; as their file says where absent.
    pub thickness: Option<Thickness>,
    /// Number of floats of a `values` input.
    pub count: usize,
}

/// A parameter of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterDecl {
    /// Name in the document; parameters of nested graphs are called `node/parameter`.
    pub name: String,
    /// What values it takes, narrowed by the nodes that use it.
    pub ty: ParameterType,
    /// Value until someone sets another.
    pub default: ParameterValue,
    /// Read in setup only: setting it later needs a new setup.
    pub setup: bool,
    /// Set where the document animates it; setting a value replaces the animation.
    pub keyed: Option<Keyed>,
    /// The document's own words.
    pub doc: String,
}

/// Where a node's parameter gets its value.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterSource {
    /// Written in the document (or the node's default).
    Constant(ParameterValue),
    /// Index into [`Plan::parameters`].
    Parameter(usize),
    /// Animated in the document.
    Keyed(Keyed),
    /// The time of the frame, seconds: where the document is silent and the node's default is that. Zero in setup.
    FrameTime,
}

impl ParameterSource {
    /// Where the value comes from if the document is silent.
    pub fn of_default(desc: &ParameterDesc) -> Self {
        match desc.default {
            DefaultValue::FrameTime => Self::FrameTime,
            _ => Self::Constant(desc.default_value()),
        }
    }
}

/// Where a link starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Index into [`Plan::inputs`].
    Input(usize),
    /// An output of a node.
    Node {
        /// Index into [`Plan::nodes`].
        node: usize,
        /// Index into its description's outputs.
        port: usize,
    },
}

/// One step.
#[derive(Clone, Debug)]
pub struct PlanNode {
    /// Name in the document; nodes of nested graphs are called `outer/inner`.
    pub name: String,
    /// What it is.
    pub desc: &'static NodeDesc,
    /// The user's own kernel, where it is one; it is bound by its text instead of its description.
    pub kernel: Option<Arc<CustomKernel>>,
    /// In the order of the description's inputs.
    pub inputs: Vec<Option<Source>>,
    /// In the order of the description's parameters.
    pub parameters: Vec<ParameterSource>,
    /// Whether nothing it depends on changes over time: it then runs once, in setup.
    pub runs_in_setup: bool,
    /// Whether the binder added it.
    pub implicit: bool,
    /// Where it stands, `file:line:column`; empty where the binder added it.
    pub place: String,
}

/// An output of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputDecl {
    /// Name in the document.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
}

/// A checked graph, its nodes in an order that works.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) inputs: Vec<InputDecl>,
    pub(crate) parameters: Vec<ParameterDecl>,
    pub(crate) nodes: Vec<PlanNode>,
    pub(crate) outputs: Vec<OutputDecl>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// Values from nodes that must be that many, and who says so (`place: input 'x' of 'y'`).
    pub(crate) counts: Vec<(Source, usize, String)>,
    pub(crate) distrusted: bool,
}

impl Plan {
    /// Says that the graph is a stranger's: hardware does not run its custom kernels.
    pub fn distrust_kernels(&mut self) {
        self.distrusted = true;
    }
    /// Names of the custom kernels that hardware does not run, after [`Self::distrust_kernels`].
    pub fn distrusted_kernels(&self) -> Vec<&str> {
        let kernels = self.nodes.iter().filter(|n| n.kernel.is_some());
        let distrusted = kernels.filter(|_| self.distrusted);
        distrusted.map(|n| n.name.as_str()).collect()
    }
    /// Inputs in document order.
    pub fn inputs(&self) -> &[InputDecl] {
        &self.inputs
    }
    /// Parameters in document order, nested ones last.
    pub fn parameters(&self) -> &[ParameterDecl] {
        &self.parameters
    }
    /// Whether a node of the document makes normals of the mesh that comes out there.
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
    /// Nodes, each after those it reads.
    pub fn nodes(&self) -> &[PlanNode] {
        &self.nodes
    }
    /// Outputs in document order.
    pub fn outputs(&self) -> &[OutputDecl] {
        &self.outputs
    }
    /// What was found but does not stop the graph.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
    /// Type of what starts at `source`.
    pub fn source_type(&self, source: Source) -> PortType {
        source_type(&self.inputs, &self.nodes, source)
    }
    /// `node.port` or the input's name.
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

    /// Links open inputs that take the pose of the node's mesh ([`sinew_deform::PortDesc::of_mesh`]).
    pub(crate) fn link_poses_of_meshes(&mut self) {
        // The pose that each node takes, or else the nearest one upstream of its first mesh: nodes come after those they read.
        let mut poses: Vec<Option<Source>> = Vec::with_capacity(self.nodes.len());
        for node in &mut self.nodes {
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
            poses.push(input(&node.inputs, PortType::Pose).or(upstream));
        }
    }

    /// Marks each node that depends on nothing that changes; nodes are in order.
    pub(crate) fn derive_phases(&mut self) {
        for i in 0..self.nodes.len() {
            let n = &self.nodes[i];
            let inputs_constant = n.inputs.iter().flatten().all(|s| match s {
                Source::Input(i) => self.inputs[*i].ty.is_constant(),
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
                                ParameterSource::Keyed(_) | ParameterSource::FrameTime => false,
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
