//! What a node is: its description in the registry, its bound form, and what it sees in setup and update.
//!
//! # The life of a node
//!
//! 1. [`NodeDesc::bind`] runs once per graph. It checks the inputs and parameters and computes all that does not change from frame to
//!    frame.
//!    Where saved results fit, [`Restore::restore`] runs instead.
//! 2. The result, a [`BoundNode`], never changes. All instances of a graph and all threads share it.
//! 3. [`BoundNode::new_scratch`] runs once per instance: working memory, and the state of solvers.
//! 4. [`BoundNode::update`] runs once per frame and instance, on the CPU. On the GPU, [`BoundNode::write_device_frame`] runs instead, and
//!    the
//!    passes of [`BoundNode::device`] do the work.
//!
//! A node reads ports and parameters by name. A wrong name or type reads as empty or zero and goes to the [`ReadLog`]. The caller looks
//! there after each step and reports a [`Misread`].

use crate::device::{DeviceFrame, DeviceFrameData, DeviceNode};
use crate::sdf::{FieldFrame, FieldReach};
use crate::{
    BindWatch, DefaultValue, MeshAttribute, Misread, Par, ParameterDesc, ParameterValue,
    Parameters, PortDesc, PortType, ReadLog, Region, Role, Stopped,
};
use arrayvec::ArrayVec;
use sinew_geom::{Mesh, Pose, Rig};
use sinew_vat::animation::VertexAnimation;
use std::any::Any;
use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::Arc;

/// The role of a node in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Values (or a mesh) to values.
    Driver,
    /// Mesh to mesh, without memory.
    Deformer,
    /// Has state and a time step.
    /// It runs in every frame, whether or not its inputs change.
    Solver,
    /// Mesh to distance grid.
    Field,
    /// The user's own code.
    Kernel,
}

impl NodeKind {
    /// The word used in files and docs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Driver => "driver",
            Self::Deformer => "deformer",
            Self::Solver => "solver",
            Self::Field => "field",
            Self::Kernel => "kernel",
        }
    }
}

/// What [`BoundNode::new_scratch`] makes: scratch and state of one node in one instance. Nodes downcast it to their own type.
pub type NodeScratch = dyn Any + Send + Sync;

/// Setup of a node.
pub(crate) type BindFn = fn(&BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError>;
/// Setup of a node from saved bytes.
pub(crate) type RestoreFn = fn(&[u8], &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError>;

/// How a node reads setup results that were saved before.
#[derive(Clone, Copy, Debug)]
pub struct Restore {
    /// Raise it whenever setup gives other results or writes them in another form. Results of another version are ignored and computed
    /// again.
    pub version: u32,
    /// Setup from what [`BoundNode::save`] wrote for the same inputs. It must check lengths and indices, because the bytes come from a
    /// file.
    pub restore: RestoreFn,
}

/// What helps people to use a node: files of its folder, and presets.
#[derive(Clone, Copy, Debug)]
pub struct NodeDocs {
    /// The page of the docs (Markdown, without title): formula, source, where we differ.
    pub page: &'static str,
    /// Pictures of the page, and the commands that make them, in the form that `docs/pictures/commands.txt` explains.
    pub pictures: &'static str,
    /// Graphs that show it.
    pub examples: &'static [Example],
    /// Sets of values that suit a purpose.
    pub presets: &'static [Preset],
}

/// Values for some parameters of a node, which documents choose by name: `"preset": "tight"`. Values in the document replace them.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// A name that no other preset of the node has.
    pub name: &'static str,
    /// What it is for, in one sentence.
    pub doc: &'static str,
    /// Names of parameters and their values.
    pub values: &'static [(&'static str, DefaultValue)],
}

impl Preset {
    /// The value for a parameter, if the preset has one.
    pub fn value(&self, parameter: &ParameterDesc) -> Option<ParameterValue> {
        let (_, value) = self
            .values
            .iter()
            .find(|(name, _)| *name == parameter.name)?;
        Some(value.value(parameter.ty))
    }
}

/// An example graph, which the command line knows as `example:NAME`.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// A name that no other example has.
    pub name: &'static str,
    /// The document. It names no files.
    pub graph: &'static str,
    /// The built-in sample that it is for: `arm`, `ball`, `creature` or `head`.
    pub sample: &'static str,
    /// What to compare it with: `rest`, `linear` (skinning), or the name of another example.
    pub before: &'static str,
    /// The frame of the sample's first clip that shows it best, at 30 per second.
    pub frame: u32,
}

impl NodeDocs {
    /// For nodes without documentation, for example those of tests.
    pub const NONE: Self = Self::page("");

    /// A page without pictures and examples.
    pub const fn page(page: &'static str) -> Self {
        Self {
            page,
            pictures: "",
            examples: &[],
            presets: &[],
        }
    }
    /// With these pictures.
    pub const fn pictures(self, pictures: &'static str) -> Self {
        Self { pictures, ..self }
    }
    /// With these example graphs.
    pub const fn examples(self, examples: &'static [Example]) -> Self {
        Self { examples, ..self }
    }
    /// With these presets.
    pub const fn presets(self, presets: &'static [Preset]) -> Self {
        Self { presets, ..self }
    }
}

/// Everything the rest of Sinew knows about a node.
///
/// [`crate::REGISTRY`] lists those of this crate. Each kernel of a user gets its own.
#[derive(Debug)]
pub struct NodeDesc {
    /// Name in documents: lower case with underscores.
    pub name: &'static str,
    /// What sort of node it is.
    pub kind: NodeKind,
    /// One sentence.
    pub summary: &'static str,
    /// Its page, pictures, example graphs and presets.
    pub docs: NodeDocs,
    /// Rows of the coverage table that it serves.
    pub rows: &'static [u16],
    /// Links in.
    pub inputs: &'static [PortDesc],
    /// Links out; the first is what a bare node name refers to.
    pub outputs: &'static [PortDesc],
    /// Parameters.
    pub parameters: &'static [ParameterDesc],
    /// Setup: checks everything, precomputes, may allocate. Runs on one thread, which may spread the work as [`BindContext::par`] says.
    pub bind: BindFn,
    /// Setup from saved bytes, where reading them is faster than binding again.
    pub restore: Option<Restore>,
}

impl NodeDesc {
    /// The input port of that name.
    pub fn input(&self, name: &str) -> Option<&'static PortDesc> {
        self.inputs.iter().find(|p| p.name == name)
    }
    /// The output port of that name.
    pub fn output(&self, name: &str) -> Option<&'static PortDesc> {
        self.outputs.iter().find(|p| p.name == name)
    }
    /// The parameter that positions the region of the node, and its index.
    pub fn placement(&self) -> Option<(usize, &'static ParameterDesc)> {
        let mut all = self.parameters.iter().enumerate();
        all.find(|(_, p)| matches!(p.role, Role::Placement(_)))
    }
    /// The shape of the region that can be fitted to vertices.
    pub fn fitted_region(&self) -> Option<Region> {
        match self.placement()?.1.role {
            Role::Placement(region) if region != Region::Frame => Some(region),
            _ => None,
        }
    }
    /// The parameter of that name.
    pub fn parameter(&self, name: &str) -> Option<&'static ParameterDesc> {
        self.parameters.iter().find(|p| p.name == name)
    }
}

/// Why a node could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// A parameter value does not work with these inputs.
    #[error("parameter '{name}': found {found}, expected {expected}")]
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// What was given.
        found: String,
        /// What would be right.
        expected: String,
    },
    /// An input does not work for this node.
    #[error("input '{port}': {message}")]
    Input {
        /// Name of the port.
        port: &'static str,
        /// What was found and what was expected.
        message: String,
    },
    /// Setup refused for a reason of its own.
    #[error(transparent)]
    Bind(Box<dyn std::error::Error + Send + Sync>),
    /// The saved setup does not fit.
    #[error("saved setup does not fit: {0}")]
    Restore(String),
    /// The node reads what it does not declare.
    #[error(transparent)]
    Misread(#[from] Misread),
    /// The caller stopped setup.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// What is linked to an input, as setup sees it.
#[derive(Clone, Copy, Debug)]
pub enum BindInput<'a> {
    /// The mesh at rest, as authored: the mesh input that the link leads back to, whatever nodes are in between.
    Mesh(&'a Mesh),
    /// The rig behind the pose.
    Pose(&'a Rig),
    /// A mask: one weight per vertex of the node's first mesh.
    Mask,
    /// Number of floats, which never changes.
    Values(usize),
    /// Number of segments, which never changes.
    Lines(usize),
    /// Number of words of a field, which never changes.
    Field(usize),
    /// The animations. Shared, so that a node can keep them without a copy.
    VertexAnimation(&'a Arc<VertexAnimation>),
}

/// What a node sees in setup.
/// The accessors find ports by linear search over at most [`MAX_PORTS`] names. A name or type that the node does not declare fails setup
/// with [`NodeError::Misread`].
#[derive(Clone, Copy, Debug)]
pub struct BindContext<'a> {
    /// In the order of [`NodeDesc::inputs`].
    pub inputs: &'a [Option<BindInput<'a>>],
    /// The ports those belong to.
    pub ports: &'static [PortDesc],
    /// Parameter values; those that may change later have their first value. Its log notes wrong ports, too.
    pub parameters: Parameters<'a>,
    /// Which parameters never change, one entry per description, in their order.
    pub fixed: &'a [bool],
    /// Where [`Self::warn`] writes.
    pub warnings: &'a BindWarnings,
    /// Whether to spread the work over threads. Setup results are the same bits either way.
    pub par: Par,
    /// Progress and cancellation, for setup that can take longer than a tenth of a second: call `context.watch.step(share)?`.
    pub watch: BindWatch<'a>,
}

/// What a node found in setup that does not stop it.
#[derive(Debug, Default)]
pub struct BindWarnings(RefCell<Vec<String>>);

impl BindWarnings {
    /// None yet.
    pub const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }
    /// The messages, in the order in which they were written.
    pub fn into_messages(self) -> Vec<String> {
        self.0.into_inner()
    }
}

/// A result of setup that users want to know, such as the error of an approximation or its memory. Problems are warnings instead.
#[derive(Clone, Debug, PartialEq)]
pub struct SetupNote {
    /// For people, one line.
    pub text: String,
    /// For programs: the numbers of the text, with their names.
    pub values: Vec<(&'static str, f64)>,
}

/// Place of the port of that name and type; anything else goes to the log.
fn port_index(
    ports: &[PortDesc],
    log: &ReadLog,
    what: &'static str,
    name: &str,
    ty: Option<PortType>,
) -> Option<usize> {
    let fits = |p: &PortDesc| p.name == name && ty.is_none_or(|ty| p.ty == ty);
    let index = ports.iter().position(fits);
    if index.is_none() {
        log.note(what, name, ty.map_or("a port", PortType::as_str));
    }
    index
}

impl<'a> BindContext<'a> {
    fn get(&self, port: &str, ty: Option<PortType>) -> Option<BindInput<'a>> {
        let index = port_index(self.ports, self.parameters.log, "input", port, ty)?;
        self.inputs.get(index).copied().flatten()
    }

    /// The authored rest mesh at a mesh port: positions in scene space at bind, whatever nodes are upstream.
    ///
    /// # Errors
    /// [`NodeError::Input`] if nothing is linked.
    pub fn mesh(&self, port: &'static str) -> Result<&'a Mesh, NodeError> {
        match self.get(port, Some(PortType::Mesh)) {
            Some(BindInput::Mesh(m)) => Ok(m),
            _ => Err(NodeError::Input {
                port,
                message: "the input is not linked; link a mesh".into(),
            }),
        }
    }

    /// The rig of the pose at a pose port.
    ///
    /// # Errors
    /// [`NodeError::Input`] if nothing is linked.
    pub fn rig(&self, port: &'static str) -> Result<&'a Rig, NodeError> {
        match self.get(port, Some(PortType::Pose)) {
            Some(BindInput::Pose(r)) => Ok(r),
            _ => Err(NodeError::Input {
                port,
                message: "the input is not linked; link a pose".into(),
            }),
        }
    }

    /// The animations at a port of type [`PortType::VertexAnimation`].
    ///
    /// # Errors
    /// [`NodeError::Input`] if nothing is linked.
    pub fn vertex_animation(
        &self,
        port: &'static str,
    ) -> Result<&'a Arc<VertexAnimation>, NodeError> {
        match self.get(port, Some(PortType::VertexAnimation)) {
            Some(BindInput::VertexAnimation(animation)) => Ok(animation),
            _ => Err(NodeError::Input {
                port,
                message: "the input is not linked; link a vertex animation".into(),
            }),
        }
    }

    /// Whether the parameter of that name never changes; `false` for an unknown name.
    pub fn is_fixed(&self, parameter: &str) -> bool {
        let descs = self.parameters.descs.iter();
        descs
            .zip(self.fixed)
            .any(|(d, &fixed)| fixed && d.name == parameter)
    }

    /// Reports a problem that does not stop the node. Say what was found, how often, and what is done about it.
    pub fn warn(&self, message: impl Into<String>) {
        self.warnings.0.borrow_mut().push(message.into());
    }

    /// Whether something is linked to the port.
    pub fn is_linked(&self, port: &str) -> bool {
        self.get(port, None).is_some()
    }

    /// Number of floats at a values port; `None` if nothing is linked.
    pub fn value_count(&self, port: &str) -> Option<usize> {
        match self.get(port, Some(PortType::Values)) {
            Some(BindInput::Values(n)) => Some(n),
            _ => None,
        }
    }

    /// Number of segments at a lines port.
    pub(crate) fn line_count(&self, port: &str) -> Option<usize> {
        match self.get(port, Some(PortType::Lines)) {
            Some(BindInput::Lines(n)) => Some(n),
            _ => None,
        }
    }
}

/// Current attributes of a mesh in scene space, one element per vertex.
///
/// An attribute that the port does not declare to read is missing; positions are then empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeshView<'a> {
    /// Positions, metres.
    pub positions: &'a [[f32; 3]],
    /// Unit normals, if the port declares that it reads them (or its effect transforms them) and the mesh has them.
    pub normals: Option<&'a [[f32; 3]]>,
    /// Tangents; `w` is the sign of the bitangent.
    pub tangents: Option<&'a [[f32; 4]]>,
    /// Colour set 0, linear RGBA.
    pub colors: Option<&'a [[f32; 4]]>,
    /// Rest positions of this instance: as authored, or set with rest offsets.
    pub rest: &'a [[f32; 3]],
}

/// Attributes to write, one element per vertex; those that no output needs are `None`. Their content before the write is unspecified.
#[derive(Debug, Default)]
pub struct MeshViewMut<'a> {
    /// Positions.
    pub positions: Option<&'a mut [[f32; 3]]>,
    /// Normals.
    pub normals: Option<&'a mut [[f32; 3]]>,
    /// Tangents with bitangent sign.
    pub tangents: Option<&'a mut [[f32; 4]]>,
    /// Colour set 0.
    pub colors: Option<&'a mut [[f32; 4]]>,
}

/// A coloured segment that shows what a graph does. 40 bytes, without padding.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Line {
    /// One end, scene space.
    pub from: [f32; 3],
    /// Other end, scene space.
    pub to: [f32; 3],
    /// Linear RGBA.
    pub color: [f32; 4],
}

/// What is linked to an input, as update sees it.
#[derive(Clone, Copy, Debug)]
pub enum InputValue<'a> {
    /// Attributes of the current frame.
    Mesh(MeshView<'a>),
    /// The current pose.
    Pose(&'a Pose),
    /// One weight a vertex.
    Mask(&'a [f32]),
    /// Floats.
    Values(&'a [f32]),
    /// Segments.
    Lines(&'a [Line]),
    /// The words of a field.
    Field(&'a [u32]),
    /// The elements of a buffer, packed.
    Buffer(&'a [u32]),
}

/// Where an output goes.
#[derive(Debug)]
pub enum OutputValue<'a> {
    /// Attributes to write.
    Mesh(MeshViewMut<'a>),
    /// A pose as large as its rig; holds what was written the frame before.
    Pose(&'a mut Pose),
    /// One weight a vertex.
    Mask(&'a mut [f32]),
    /// Floats.
    Values(&'a mut [f32]),
    /// Segments.
    Lines(&'a mut [Line]),
    /// The words of a field; holds what was written the frame before.
    Field(&'a mut [u32]),
    /// The elements of a buffer, packed.
    Buffer(&'a mut [u32]),
}

/// The linked inputs of one update.
/// Each accessor is a linear search over at most [`MAX_PORTS`] names and does not allocate.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// In the order of `ports`.
    pub values: &'a [Option<InputValue<'a>>],
    /// The ports those belong to.
    pub ports: &'static [PortDesc],
    /// Where wrong reads are noted.
    pub log: &'a ReadLog,
}

impl<'a> Inputs<'a> {
    fn get(&self, port: &str, ty: PortType) -> Option<InputValue<'a>> {
        let index = port_index(self.ports, self.log, "input", port, Some(ty))?;
        self.values.get(index).copied().flatten()
    }
    /// The mesh at a port; an empty view if nothing is linked.
    pub fn mesh(&self, port: &str) -> MeshView<'a> {
        match self.get(port, PortType::Mesh) {
            Some(InputValue::Mesh(m)) => m,
            _ => MeshView::default(),
        }
    }
    /// The pose at a port; `None` if nothing is linked.
    pub fn pose(&self, port: &str) -> Option<&'a Pose> {
        match self.get(port, PortType::Pose) {
            Some(InputValue::Pose(p)) => Some(p),
            _ => None,
        }
    }
    /// The mask at a port, one weight per vertex of the node's first mesh; `None` if nothing is linked.
    pub fn mask(&self, port: &str) -> Option<&'a [f32]> {
        match self.get(port, PortType::Mask) {
            Some(InputValue::Mask(m)) => Some(m),
            _ => None,
        }
    }
    /// The floats at a values port, as many as setup saw; `None` if nothing is linked.
    pub fn floats(&self, port: &str) -> Option<&'a [f32]> {
        match self.get(port, PortType::Values) {
            Some(InputValue::Values(m)) => Some(m),
            _ => None,
        }
    }
    /// The words of the field at a port, as many as setup saw; `None` if nothing is linked.
    pub fn field(&self, port: &str) -> Option<&'a [u32]> {
        match self.get(port, PortType::Field) {
            Some(InputValue::Field(words)) => Some(words),
            _ => None,
        }
    }
    /// The segments at a port, as many as setup saw; `None` if nothing is linked.
    pub fn lines(&self, port: &str) -> Option<&'a [Line]> {
        match self.get(port, PortType::Lines) {
            Some(InputValue::Lines(m)) => Some(m),
            _ => None,
        }
    }
}

/// Largest number of inputs, and of outputs, of one node: a frame keeps their lists on the stack.
pub const MAX_PORTS: usize = 16;

/// The outputs of one update; an output that nobody needs is `None`.
/// Each output can be taken once: a second call for the same port gets `None`.
#[derive(Debug)]
pub struct Outputs<'a> {
    /// In the order of `ports`.
    pub values: ArrayVec<Option<OutputValue<'a>>, MAX_PORTS>,
    /// The ports those belong to.
    pub ports: &'static [PortDesc],
    /// Where wrong names are noted.
    pub log: &'a ReadLog,
}

impl<'a> Outputs<'a> {
    fn take(&mut self, port: &str, ty: PortType) -> Option<OutputValue<'a>> {
        let index = port_index(self.ports, self.log, "output", port, Some(ty))?;
        self.values.get_mut(index)?.take()
    }
    /// Takes the mesh to write at a port; all attributes are `None` if no one needs it.
    pub fn mesh(&mut self, port: &str) -> MeshViewMut<'a> {
        match self.take(port, PortType::Mesh) {
            Some(OutputValue::Mesh(m)) => m,
            _ => MeshViewMut::default(),
        }
    }
    /// Takes the pose to write. It holds what the node wrote in the frame before.
    pub fn pose(&mut self, port: &str) -> Option<&'a mut Pose> {
        match self.take(port, PortType::Pose) {
            Some(OutputValue::Pose(p)) => Some(p),
            _ => None,
        }
    }
    /// Takes the mask to write, one weight per vertex of the node's first mesh.
    pub fn mask(&mut self, port: &str) -> Option<&'a mut [f32]> {
        match self.take(port, PortType::Mask) {
            Some(OutputValue::Mask(m)) => Some(m),
            _ => None,
        }
    }
    /// Takes the floats to write, [`BoundNode::output_len`] of them.
    pub fn floats(&mut self, port: &str) -> Option<&'a mut [f32]> {
        match self.take(port, PortType::Values) {
            Some(OutputValue::Values(m)) => Some(m),
            _ => None,
        }
    }
    /// Takes the words of the field to write, [`BoundNode::output_len`] of them. They hold what the node wrote in the frame before.
    pub fn field(&mut self, port: &str) -> Option<&'a mut [u32]> {
        match self.take(port, PortType::Field) {
            Some(OutputValue::Field(words)) => Some(words),
            _ => None,
        }
    }
    /// Takes the segments to write, [`BoundNode::output_len`] of them.
    pub fn lines(&mut self, port: &str) -> Option<&'a mut [Line]> {
        match self.take(port, PortType::Lines) {
            Some(OutputValue::Lines(m)) => Some(m),
            _ => None,
        }
    }
}

/// What a node sees in one update.
#[derive(Debug)]
pub struct UpdateContext<'a> {
    /// Time of the frame in seconds.
    pub time_secs: f64,
    /// Seconds since the frame before: 0 in the first frame, negative if time went back.
    pub dt_secs: f64,
    /// Whether this is the first frame of the instance, or of a restart. State starts anew then, whatever the scratch holds.
    pub is_first: bool,
    /// Whether to spread the work over threads. Results must be the same bits either way.
    pub par: Par,
    /// Where in its frame the field that the node makes is looked up: nowhere else in this frame. `None`: anywhere.
    pub reach: Option<FieldReach>,
    /// Parameter values of this frame.
    pub parameters: Parameters<'a>,
    /// What is linked.
    pub inputs: Inputs<'a>,
    /// Where to write.
    pub outputs: Outputs<'a>,
    /// What [`BoundNode::new_scratch`] made, for this instance alone.
    pub scratch: &'a mut NodeScratch,
}

/// A node after setup: immutable, shared between instances and threads.
pub trait BoundNode: Send + Sync + Debug {
    /// Bytes of setup results, for memory reports.
    fn setup_bytes(&self) -> usize;
    /// A result of setup for the user. It is the same whether the node was bound or restored.
    fn note(&self) -> Option<SetupNote> {
        None
    }
    /// Number of elements of a `values`, `lines` or buffer output, or number of words of a `field`. Asked once, after setup.
    fn output_len(&self, _port: &str) -> usize {
        0
    }
    /// Whether this setup writes an attribute that the output's effect calls [`crate::AttributeEffect::Recompute`] and that the incoming
    /// mesh does not have.
    fn makes(&self, _port: &str, _attribute: MeshAttribute) -> bool {
        true
    }
    /// Whether this setup moves what an attribute belongs to and does not write the attribute, which the output's effect calls
    /// [`crate::AttributeEffect::Recompute`]: the incoming one no longer fits, as with [`crate::AttributeEffect::Invalidate`].
    fn invalidates(&self, _port: &str, _attribute: MeshAttribute) -> bool {
        false
    }
    /// Checks whether the node accepts a value for a parameter that is read in each frame: for example, that a list is as long as in setup.
    /// Setup asks for all keys of animations; later, every new value is asked for before the node sees it.
    ///
    /// # Errors
    /// What was found and what setup expects.
    fn check_value(&self, _parameter: &str, _value: &ParameterValue) -> Result<(), NodeError> {
        Ok(())
    }
    /// Scratch and state of one instance. It allocates all that `update` needs. State begins with the first frame
    /// ([`UpdateContext::is_first`]).
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(())
    }
    /// Bytes of what [`Self::new_scratch`] makes.
    fn scratch_bytes(&self) -> usize {
        0
    }
    /// State that later frames depend on, to resume a simulation; empty if the node has none.
    fn save_state(&self, _scratch: &NodeScratch) -> Vec<u8> {
        Vec::new()
    }
    /// Restores what [`Self::save_state`] gave for the same setup: the next frame is then what it would have been. A node that is not in
    /// the saved state gets no bytes. It must check lengths and numbers, because the bytes come from a file. If it fails, the scratch must
    /// not change.
    ///
    /// # Errors
    /// [`NodeError::Restore`] if the bytes do not fit.
    fn restore_state(&self, bytes: &[u8], _scratch: &mut NodeScratch) -> Result<(), NodeError> {
        match bytes.len() {
            0 => Ok(()),
            found => Err(NodeError::Restore(format!(
                "found {found} bytes of state, expected none"
            ))),
        }
    }
    /// How far a node that looks fields up reaches in a frame, from the pose at its port `pose`. It calls `put` with points of the scene, the
    /// same number in each frame, and gives a distance in metres: once the frame has run, nothing that it looks up is farther from their
    /// hull. On the way there from the frame before, points move on screws. `None`: it looks up fields anywhere.
    fn field_reach(&self, _pose: Option<&Pose>, _put: &mut dyn FnMut([f32; 3])) -> Option<f32> {
        None
    }
    /// The frame of the field that the node makes.
    fn field_frame(&self, _inputs: &Inputs<'_>) -> FieldFrame {
        FieldFrame::default()
    }
    /// Computes one frame. It must not allocate, read files, lock or panic, and must give the same bits for the same inputs, whatever
    /// [`UpdateContext::par`] is.
    fn update(&self, context: UpdateContext<'_>);
    /// What the node runs on the GPU, from the same inputs as setup; `None` if it runs on the CPU only. It may be called more than once. A
    /// driver without it runs on the CPU beside the GPU, unless it reads results of the GPU.
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        None
    }
    /// Writes what the GPU needs for a frame of one instance. It must not allocate or panic.
    fn write_device_frame(&self, _frame: &DeviceFrame<'_>, _data: &mut DeviceFrameData<'_>) {}
    /// Calls `run` with the index of each pass of a frame, in order; by default with `0..count`. It is asked only if
    /// [`DeviceNode::passes_vary`] is set.
    fn device_passes(&self, _frame: &DeviceFrame<'_>, count: usize, run: &mut dyn FnMut(usize)) {
        (0..count).for_each(run);
    }
    /// Setup results for the cache; `None` if binding again is as fast as reading.
    fn save(&self) -> Option<Vec<u8>> {
        None
    }
}
