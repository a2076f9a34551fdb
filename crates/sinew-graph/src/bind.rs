//! Setup: binds the nodes of a plan to meshes and rigs, decides which step writes where, and runs once what never
//! changes.

mod binder;
mod follow;
mod host;
mod layout;
mod refresh;
mod value;

use crate::cache::{CacheError, CacheUse, Contents, Hashes, Kept, NodeSetup};
use crate::instance::{Frame, Instance, ParameterError, UpdateError, Wanted, memory::Buffer};
use crate::plan::{ParameterSource, Plan};
use crate::program::{Link, Place, Program, Step};
pub(crate) use follow::Follower;
pub use follow::{BindOptions, SetupProgress, SetupWatch};
use sinew_deform::{
    BindContext, BindInput, BindWarnings, BindWatch, DeviceNode, NodeError, Par, ParameterValue,
    Parameters, ReadLog, SetupNote,
};
use sinew_geom::{Mesh, MeshError, Rig};
use sinew_vat::animation::VertexAnimation;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an input of the plan is bound to.
#[derive(Clone, Debug)]
pub enum InputBinding {
    /// A mesh at rest.
    Mesh(Arc<Mesh>),
    /// The rig whose poses will come.
    Pose(Arc<Rig>),
    /// Floats come with each frame.
    Values,
    /// Baked animations.
    VertexAnimation(Arc<VertexAnimation>),
}

/// What a node found in setup that does not stop it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}node '{node}' ({kind}): {message}", if .place.is_empty() { String::new() } else { format!("{place}: ") })]
pub struct NodeWarning {
    /// Where it stands in the document, `file:line:column`; empty where the binder added it.
    pub place: String,
    /// Name of the node.
    pub node: String,
    /// Kind of the node.
    pub kind: &'static str,
    /// What was found, and what is done about it.
    pub message: String,
}

/// What setup of a node found.
#[derive(Clone, Debug, PartialEq)]
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
    #[error("the graph has {expected} inputs, {found} were bound")]
    InputCount {
        /// Bindings given.
        found: usize,
        /// Inputs of the plan.
        expected: usize,
    },
    /// A binding has another type than its input.
    #[error("input '{name}' takes a {expected}")]
    InputType {
        /// Name of the input.
        name: String,
        /// Its type.
        expected: &'static str,
    },
    /// A mesh of triangles is bound to an input that takes strands.
    #[error("input '{name}' takes strands, found a mesh that has none")]
    NoStrands {
        /// Name of the input.
        name: String,
    },
    /// A mesh does not hold together.
    #[error("input '{name}': {source}")]
    Mesh {
        /// Name of the input.
        name: String,
        /// What was found and expected.
        source: MeshError,
    },
    /// A node gives more or fewer values than the nested graph behind it declares.
    #[error("{what} takes {expected} values, found {found}")]
    ValueCount {
        /// Place and name of the input.
        what: String,
        /// Values that the node gives.
        found: usize,
        /// Values that the nested graph declares.
        expected: usize,
    },
    /// A node refused its inputs or parameters.
    #[error("{}node '{node}' ({kind}): {source}", if .place.is_empty() { String::new() } else { format!("{place}: ") })]
    Node {
        /// Where it stands in the document, `file:line:column`; empty where the binder added it.
        place: String,
        /// Name of the node.
        node: String,
        /// Kind of the node.
        kind: &'static str,
        /// Why.
        source: Box<NodeError>,
    },
    /// The processor cannot run a node.
    #[error(
        "{}node '{node}' is a custom kernel, which runs on graphics devices only: run the graph there \
         (`--device auto`, `sinew_gpu::GpuGraph`), or put built-in nodes in its place", if .place.is_empty() { String::new() } else { format!("{place}: ") }
    )]
    DeviceOnly {
        /// Where it stands in the document, `file:line:column`.
        place: String,
        /// Name of the node.
        node: String,
    },
    /// Whoever follows binding wanted no more. Nothing is left of it.
    #[error("setup was stopped at node '{node}'")]
    Stopped {
        /// Name of the node that was at work, or came next.
        node: String,
    },
    /// A parameter was set to something it cannot be.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Saved setup is damaged or something else.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// A plan bound to meshes and rigs: everything that all its instances share.
///
/// Immutable; keep it in an [`Arc`] and make as many instances of it as there are characters.
#[derive(Debug)]
pub struct BoundGraph {
    pub(crate) plan: Arc<Plan>,
    pub(crate) inputs: Vec<InputBinding>,
    /// Parameters as they were given, for the cache's key.
    given: Vec<(String, ParameterValue)>,
    pub(crate) program: Program,
    /// What each input wants with a frame.
    pub(crate) wanted: Vec<Wanted>,
    /// Results of the setup steps; empty where nothing reads them any more.
    pub(crate) setup: Vec<Buffer>,
    /// Value of each of the plan's parameters until an instance sets another.
    pub(crate) parameters: Vec<ParameterValue>,
    /// Whether the value was given, so that its animation does not rule.
    pub(crate) overridden: Vec<bool>,
    pub(crate) warnings: Vec<NodeWarning>,
    /// Of what inputs are bound to.
    hashes: Hashes,
    /// By the names of nodes whose results a cache can hold.
    kept: BTreeMap<String, Kept>,
}

impl BoundGraph {
    /// Binds every node: checks, precomputes, assigns buffers, runs what is constant. `parameters` are set
    /// before setup, by name. Allocates and takes its time; updates do not. `options` may be a [`Par`](sinew_deform::Par) alone.
    ///
    /// # Errors
    /// [`BindError`] names the input, parameter or node that does not fit; [`BindError::Stopped`].
    pub fn bind<'o>(
        plan: Arc<Plan>,
        inputs: &[InputBinding],
        parameters: &[(&str, ParameterValue)],
        options: impl Into<BindOptions<'o>>,
    ) -> Result<Self, BindError> {
        binder::bind(plan, inputs, parameters, &options.into())
    }

    /// Like [`Self::bind`], with setup results that [`Self::setup_cache`] gave, as [`BindOptions::cache`].
    ///
    /// # Errors
    /// [`BindError::Cache`] where the bytes are damaged or no cache; as [`Self::bind`] otherwise.
    pub fn bind_cached<'o>(
        plan: Arc<Plan>,
        inputs: &[InputBinding],
        parameters: &[(&str, ParameterValue)],
        options: impl Into<BindOptions<'o>>,
        cache: &[u8],
    ) -> Result<Self, BindError> {
        let cache = Some(cache);
        let options = BindOptions {
            cache,
            ..options.into()
        };
        Self::bind(plan, inputs, parameters, options)
    }

    /// Setup results to keep beside the asset, of all nodes whose results can be saved. Those of a node are found again, in any graph, by
    /// its kind and version, the values of its setup parameters and what it is linked to: rest meshes, rigs, baked animations. Values of
    /// update parameters count only where setup read them.
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

    /// How much of setup came from the cache that it was bound with.
    pub fn cache_use(&self) -> CacheUse {
        let mut out = CacheUse::default();
        for (_, kept) in self.kept_steps() {
            out.restored += usize::from(kept.is_restored);
            out.made += usize::from(!kept.is_known);
        }
        out
    }

    /// The steps whose results a cache can hold.
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

    /// Hash of all that it was bound from: nodes, nested graphs and kernels, meshes, rigs, bakes, parameters. Clips and values of frames are not
    /// part of it.
    pub fn content_key(&self) -> [u8; 32] {
        crate::cache::content_key(&self.plan, &self.contents(), &self.given)
    }

    /// A character that moves on its own: frame buffers, state and parameter values.
    ///
    /// # Errors
    /// [`BindError::DeviceOnly`] where the graph holds a custom kernel.
    pub fn instance(self: &Arc<Self>) -> Result<Instance, BindError> {
        match self.program.device_only() {
            None => Ok(Instance::new(self.clone())),
            Some(step) => Err(BindError::DeviceOnly {
                place: step.place.clone(),
                node: step.name.clone(),
            }),
        }
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }
    /// What its inputs are bound to, in document order.
    pub fn inputs(&self) -> &[InputBinding] {
        &self.inputs
    }
    /// Steps and buffers.
    pub fn program(&self) -> &Program {
        &self.program
    }
    /// Value of each of the plan's parameters when it was bound.
    pub fn parameters(&self) -> &[ParameterValue] {
        &self.parameters
    }

    /// What nodes found in setup that does not stop them.
    pub fn warnings(&self) -> &[NodeWarning] {
        &self.warnings
    }

    /// What setup of the nodes that run found, in the order in which they run.
    pub fn notes(&self) -> Vec<NodeNote> {
        let steps = self.program.all_steps();
        let note = |s: &Step| {
            Some(NodeNote {
                node: s.name.clone(),
                kind: s.desc.name,
                note: s.bound.note()?,
            })
        };
        steps.filter_map(note).collect()
    }

    /// What a step runs on a graphics device; `None` where its node runs on the processor only.
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

    /// What a step of the host left in a setup buffer, tightly packed; `None` for buffers that no such step wrote. For executors on other
    /// devices, which bring it there.
    pub fn host_setup_bytes(&self, buffer: usize) -> Option<&[u8]> {
        let is_there = self.program.is_on_host(Place::Setup(buffer));
        self.setup.get(buffer).filter(|_| is_there)?.array_bytes()
    }

    /// Whether a frame brings what was bound. Allocates only to tell what is wrong.
    ///
    /// # Errors
    /// [`UpdateError`] where a pose or values are missing or do not fit.
    pub fn check_frame(&self, frame: &Frame<'_>) -> Result<(), UpdateError> {
        crate::instance::check_frame(&self.plan, &self.wanted, frame)
    }

    /// Bytes that all instances share: what nodes bound, and the results of setup steps.
    pub fn memory_bytes(&self) -> usize {
        let bound = self.program.all_steps().map(|s| s.bound.setup_bytes());
        bound.chain(self.setup.iter().map(Buffer::bytes)).sum()
    }
}

/// What setup sees of something that is linked.
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

/// Which parameters keep their values for good.
fn fixed(sources: &[ParameterSource]) -> Vec<bool> {
    let is_constant = |s: &ParameterSource| matches!(s, ParameterSource::Constant(_));
    sources.iter().map(is_constant).collect()
}
