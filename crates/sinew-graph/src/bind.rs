//! Setup: binds the nodes of a plan to meshes and rigs, assigns buffers to steps, and runs the constant steps once.

mod animated;
mod binder;
mod fit;
mod follow;
mod host;
mod layout;
mod refresh;
mod setup;
mod value;

use crate::cache::{CacheError, CacheUse, Contents, Hashes, Kept, NodeSetup};
use crate::execute::{Buffer, Frame, UpdateError, Wanted, check_frame};
use crate::input::InputBinding;
use crate::plan::{ParameterError, ParameterSource, Plan};
use crate::program::{DataRef, Link, OutputData, Program, Step};
pub(crate) use animated::FRAME_POSITIONS;
pub(crate) use follow::Follower;
pub use follow::{BindOptions, SetupProgress, SetupWatch};
use sinew_deform::{
    BindContext, BindInput, BindWarnings, BindWatch, DeviceNode, NodeError, Par, ParameterValue,
    Parameters, ReadLog, SetupNote,
};
use sinew_geom::{Mesh, MeshError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A warning of a node's setup.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}node '{node}' ({kind}): {message}", if .location.is_empty() { String::new() } else { format!("{location}: ") })]
#[non_exhaustive]
pub struct NodeWarning {
    /// Location of the node in the document, `file:line:column`; empty for a node that the binder added.
    pub location: String,
    /// Name of the node.
    pub node: String,
    /// Kind of the node.
    pub kind: &'static str,
    /// What was found, and how the node handles it.
    pub message: String,
}

/// A note of a node's setup.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NodeNote {
    /// Name of the node.
    pub node: String,
    /// Kind of the node.
    pub kind: &'static str,
    /// What was found.
    pub note: SetupNote,
}

impl std::fmt::Display for NodeNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { node, kind, note } = self;
        write!(f, "node '{node}' ({kind}): {}", note.text)
    }
}

/// Why a plan could not be bound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The number of bindings is not the number of inputs.
    #[error("the graph has {expected} inputs, but {found} were bound")]
    InputCount {
        /// Bindings given.
        found: usize,
        /// Inputs of the plan.
        expected: usize,
    },
    /// A binding has another type than its input.
    #[error("input '{name}' is bound to another type, expected {expected}")]
    InputType {
        /// Name of the input.
        name: String,
        /// Its type.
        expected: &'static str,
    },
    /// A mesh of triangles is bound to an input that takes strands.
    #[error("input '{name}' takes strands, but the bound mesh has none")]
    NoStrands {
        /// Name of the input.
        name: String,
    },
    /// A mesh is invalid.
    #[error("input '{name}': {source}")]
    Mesh {
        /// Name of the input.
        name: String,
        /// What was found and expected.
        source: MeshError,
    },
    /// A node outputs more or fewer values than the nested graph downstream declares.
    #[error("{what} takes {expected} values, found {found}")]
    ValueCount {
        /// Location and name of the input.
        what: String,
        /// Values that the node outputs.
        found: usize,
        /// Values that the nested graph declares.
        expected: usize,
    },
    /// A node refused its inputs or parameters.
    #[error("{}node '{node}' ({kind}): {source}", if .location.is_empty() { String::new() } else { format!("{location}: ") })]
    Node {
        /// Location of the node in the document, `file:line:column`; empty for a node that the binder added.
        location: String,
        /// Name of the node.
        node: String,
        /// Kind of the node.
        kind: &'static str,
        /// Why the node refused.
        source: Box<NodeError>,
    },
    /// The caller stopped binding. Nothing of it is kept.
    #[error("setup was stopped at node '{node}'")]
    Stopped {
        /// Name of the running or next node.
        node: String,
    },
    /// A parameter value does not fit.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Saved setup results are damaged or of another format.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// A plan bound to meshes and rigs: everything that its instances share.
///
/// It is immutable. Keep it in an [`Arc`] and create one instance per character.
#[derive(Debug)]
pub struct BoundGraph {
    pub(crate) plan: Arc<Plan>,
    pub(crate) inputs: Vec<InputBinding>,
    /// Parameters as the caller gave them, for the cache key.
    given: Vec<(String, ParameterValue)>,
    /// As bound; kept for a new binding.
    positions_only: bool,
    pub(crate) program: Program,
    /// What each input needs from a frame.
    pub(crate) wanted: Vec<Wanted>,
    /// Results of the setup steps; empty if nothing reads them any more.
    pub(crate) setup: Vec<Buffer>,
    /// Value of each of the plan's parameters until an instance sets another.
    pub(crate) parameters: Vec<ParameterValue>,
    /// Whether the caller gave the value, which then overrides the animation.
    pub(crate) overridden: Vec<bool>,
    pub(crate) warnings: Vec<NodeWarning>,
    /// Hashes of the bound inputs.
    hashes: Hashes,
    /// By name of the node, for nodes whose results can be cached.
    kept: BTreeMap<String, Kept>,
}

impl BoundGraph {
    /// Binds every node: checks, precomputes, assigns buffers and runs the constant steps. `parameters` are set by name before
    /// setup. Binding allocates and may take long; updates do not. `options` may be just a [`Par`](sinew_deform::Par).
    ///
    /// # Errors
    /// [`BindError`] names the input, parameter or node that does not fit. [`BindError::Stopped`] if the caller stopped it.
    pub fn bind<'o>(
        plan: Arc<Plan>,
        inputs: &[InputBinding],
        parameters: &[(&str, ParameterValue)],
        options: impl Into<BindOptions<'o>>,
    ) -> Result<Self, BindError> {
        binder::bind(plan, inputs, parameters, &options.into())
    }

    /// The same plan and parameters, bound to other inputs: the way to bind an input to an animated mesh afterwards. Setup results of nodes
    /// that read the same meshes and rigs are taken over.
    ///
    /// # Errors
    /// As [`Self::bind`].
    pub fn with_inputs(&self, inputs: &[InputBinding], par: Par) -> Result<Self, BindError> {
        let mut plan = self.plan.clone();
        // Binding marks only more nodes as changing.
        Arc::make_mut(&mut plan).derive_phases(&[]);
        let given = self.given.iter().map(|(n, v)| (n.as_str(), v.clone()));
        let cache = self.setup_cache();
        let options = BindOptions::from(par)
            .cache(cache.as_slice())
            .positions_only(self.positions_only);
        Self::bind(plan, inputs, &given.collect::<Vec<_>>(), options)
    }

    /// Every error of a graph that [`BoundGraph::bind`] refuses; it stops at the first. Empty if the nodes bind.
    ///
    /// A mesh passes through a refused node, so that nodes after it are checked, too. Nodes that need other results of a refused node are
    /// left out. Does not run nodes. Cost: that of binding.
    pub fn problems<'o>(
        plan: Arc<Plan>,
        inputs: &[InputBinding],
        parameters: &[(&str, ParameterValue)],
        options: impl Into<BindOptions<'o>>,
    ) -> Vec<BindError> {
        binder::problems(plan, inputs, parameters, &options.into())
    }

    /// Setup results of all nodes that can save them, as bytes to keep beside the asset.
    ///
    /// The key of a node's results is its kind and version, the values of its setup parameters, and its linked rest meshes, rigs and
    /// baked animations. Any graph finds the results by that key. Values of update parameters count only if setup read them.
    pub fn setup_cache(&self) -> Vec<u8> {
        let contents = self.contents();
        let entry = |(step, kept): (&Step, &Kept)| {
            let setup = NodeSetup {
                desc: step.desc,
                links: &step.links,
                sources: &step.sources,
                values: &step.values,
            };
            setup.entry(&contents, kept, step.bound.save())
        };
        crate::cache::encode(self.kept_steps().map(entry))
    }

    /// How much of setup came from the cache.
    pub fn cache_use(&self) -> CacheUse {
        let mut out = CacheUse::default();
        for (_, kept) in self.kept_steps() {
            out.restored += usize::from(kept.is_restored);
            out.made += usize::from(!kept.is_known);
        }
        out
    }

    /// The steps whose results can be cached.
    fn kept_steps(&self) -> impl Iterator<Item = (&Step, &Kept)> {
        let steps = self.program.all_steps();
        steps.filter_map(|step| Some((step, self.kept.get(&step.name)?)))
    }

    fn contents(&self) -> Contents<'_> {
        Contents {
            inputs: &self.inputs,
            hashes: &self.hashes,
        }
    }

    /// Hash of everything that it was bound from: nodes, nested graphs, kernels, meshes, rigs, baked animations, parameters. Clips and
    /// the values of frames are not part of it.
    pub fn content_key(&self) -> [u8; 32] {
        crate::cache::content_key(&self.plan, &self.contents(), &self.given)
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }
    /// The bindings of its inputs, in document order.
    pub fn inputs(&self) -> &[InputBinding] {
        &self.inputs
    }
    /// Steps and buffers.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Name of the mesh or strands input whose vertices a mesh output has, in the same order; `None` for other outputs and unknown names.
    pub fn input_of_output(&self, output: &str) -> Option<&str> {
        let index = self.plan.outputs().iter().position(|o| o.name == output)?;
        let OutputData::Mesh { rest, .. } = self.program.outputs().get(index)? else {
            return None;
        };
        // The program has the meshes of the mesh inputs in the order of the inputs, and no others.
        let inputs = self.plan.inputs().iter().zip(&self.inputs);
        let mut meshes = inputs.filter(|(_, binding)| binding.mesh().is_some());
        meshes.nth(*rest).map(|(decl, _)| decl.name.as_str())
    }

    /// Warnings of the setup of its nodes.
    pub fn warnings(&self) -> &[NodeWarning] {
        &self.warnings
    }

    /// Notes of the setup of all nodes that run, in running order.
    pub fn notes(&self) -> Vec<NodeNote> {
        let steps = self.program.all_steps();
        let notes = |s: &Step| {
            let all = [s.region.clone(), s.bound.note()].into_iter().flatten();
            let note = |note| NodeNote {
                node: s.name.clone(),
                kind: s.desc.name,
                note,
            };
            all.map(note).collect::<Vec<_>>()
        };
        steps.flat_map(notes).collect()
    }

    /// What a step runs on the GPU; `None` if its node runs on the CPU only.
    pub fn device_node(&self, step: &Step) -> Option<DeviceNode> {
        let log = ReadLog::new();
        let inputs = self.bind_inputs(step);
        step.bound.device(&BindContext {
            inputs: &inputs,
            ports: step.desc.inputs,
            parameters: Parameters {
                descs: step.desc.parameters,
                values: &step.values,
                log: &log,
            },
            fixed: &fixed(&step.sources),
            warnings: &BindWarnings::new(),
            par: Par::Seq,
            watch: BindWatch::NONE,
        })
    }

    fn bind_inputs(&self, step: &Step) -> Vec<Option<BindInput<'_>>> {
        let input = |link: &Option<Link>| bind_input((*link)?, &self.program.meshes, &self.inputs);
        step.links.iter().map(input).collect()
    }

    /// The tightly packed content of a setup buffer that a CPU step wrote; `None` for other buffers. For GPU executors, which upload it.
    pub fn host_setup_bytes(&self, buffer: usize) -> Option<&[u8]> {
        let is_there = self.program.is_on_host(DataRef::Setup(buffer));
        self.setup.get(buffer).filter(|_| is_there)?.array_bytes()
    }

    /// Checks that a frame has what the bound inputs need. Allocates only for an error.
    ///
    /// # Errors
    /// [`UpdateError`] if a pose or values are missing or do not fit.
    pub fn check_frame(&self, frame: &Frame<'_>) -> Result<(), UpdateError> {
        check_frame(&self.plan, &self.wanted, frame)
    }

    /// Bytes that all instances share: bound data of nodes, and results of setup steps.
    pub fn memory_bytes(&self) -> usize {
        let bound = self.program.all_steps().map(|s| s.bound.setup_bytes());
        bound.chain(self.setup.iter().map(Buffer::bytes)).sum()
    }
}

/// What the setup of a node sees of a link.
fn bind_input<'a>(
    link: Link,
    meshes: &'a [Arc<Mesh>],
    inputs: &'a [InputBinding],
) -> Option<BindInput<'a>> {
    Some(match link {
        Link::Mesh(mesh) => BindInput::Mesh(meshes.get(mesh)?),
        Link::Pose(input) => match inputs.get(input)? {
            InputBinding::Pose(rig) => BindInput::Pose(rig),
            _ => return None,
        },
        Link::VertexAnimation(input) => match inputs.get(input)? {
            InputBinding::VertexAnimation(animation) => BindInput::VertexAnimation(animation),
            _ => return None,
        },
        Link::Mask => BindInput::Mask,
        Link::Values(n) => BindInput::Values(n),
        Link::Lines(n) => BindInput::Lines(n),
        Link::Field(n) => BindInput::Field(n),
    })
}

/// Which parameters never change.
fn fixed(sources: &[ParameterSource]) -> Vec<bool> {
    let is_constant = |s: &ParameterSource| matches!(s, ParameterSource::Constant(_));
    sources.iter().map(is_constant).collect()
}
