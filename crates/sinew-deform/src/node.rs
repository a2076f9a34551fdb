//! What a node is: its description in the registry, its bound form, and what it sees in setup and update.

use crate::device::{DeviceFrame, DeviceFrameData, DeviceNode};
use crate::{
    BindWatch, MeshAttribute, Misread, Par, ParameterDesc, ParameterValue, Parameters, PortDesc,
    PortType, ReadLog, Stopped,
};
use arrayvec::ArrayVec;
use sinew_geom::{Mesh, Pose, Rig};
use sinew_vat::animation::VertexAnimation;
use std::any::Any;
use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::Arc;

/// What a node does with what it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Values (or a mesh) to values.
    Driver,
    /// Mesh to mesh, without memory.
    Deformer,
    /// Has state and a time step.
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

/// Setup of a node.
pub(crate) type BindFn = fn(&BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError>;
/// Setup of a node from saved bytes.
pub(crate) type RestoreFn = fn(&[u8], &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError>;

/// How a node takes up setup results that were saved before.
#[derive(Clone, Copy, Debug)]
pub struct Restore {
    /// Goes up whenever setup gives other results or writes them in another form: results of another version are
    /// made anew.
    pub version: u32,
    /// Setup from what [`BoundNode::save`] wrote for the same inputs. Must check lengths and indices: the bytes
    /// come from a file.
    pub restore: RestoreFn,
}

/// The documentation of a node: files of its folder.
#[derive(Clone, Copy, Debug)]
pub struct NodeDocs {
    /// The page of the docs (Markdown, without title): formula, source, where we differ.
    pub page: &'static str,
    /// Pictures of the page, and the commands that make them, in the form that `docs/pictures/commands.txt` explains.
    pub pictures: &'static str,
    /// Graphs that show it.
    pub examples: &'static [Example],
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
}

/// Everything the rest of Sinew knows about a node.
#[derive(Debug)]
pub struct NodeDesc {
    /// Name in documents: lower case with underscores.
    pub name: &'static str,
    /// What sort of node it is.
    pub kind: NodeKind,
    /// One sentence.
    pub summary: &'static str,
    /// Its page, pictures and example graphs.
    pub docs: NodeDocs,
    /// Rows of the coverage table that it serves.
    pub rows: &'static [u16],
    /// Links in.
    pub inputs: &'static [PortDesc],
    /// Links out; the first is what a bare node name refers to.
    pub outputs: &'static [PortDesc],
    /// Parameters.
    pub parameters: &'static [ParameterDesc],
    /// Setup: checks everything, precomputes, may allocate.
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
    /// Whoever follows setup wants no more.
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
    /// A mask: one weight a vertex of the node's first mesh.
    Mask,
    /// Number of values.
    Values(usize),
    /// Number of segments.
    Lines(usize),
    /// Number of words of a field.
    Field(usize),
    /// The animations. Shared, so that a node can keep them without a copy.
    VertexAnimation(&'a Arc<VertexAnimation>),
}

/// What a node sees in setup.
#[derive(Clone, Copy, Debug)]
pub struct BindContext<'a> {
    /// In the order of [`NodeDesc::inputs`].
    pub inputs: &'a [Option<BindInput<'a>>],
    /// The ports those belong to.
    pub ports: &'static [PortDesc],
    /// Parameter values; those that may change later have their first value. Its log notes wrong ports, too.
    pub parameters: Parameters<'a>,
    /// Which parameters never change, in the order of their descriptions.
    pub fixed: &'a [bool],
    /// Where [`Self::warn`] writes.
    pub warnings: &'a BindWarnings,
    /// Whether to spread the work over threads. Setup results are the same bits either way.
    pub par: Par,
    /// Whom to tell how far setup is, and to ask whether to go on: for setup that can take longer than a tenth of a second.
    /// `context.watch.step(share)?` does both.
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
    /// What was written, in order.
    pub fn into_messages(self) -> Vec<String> {
        self.0.into_inner()
    }
}

/// What setup of a node found that whoever chose its parameters wants to know: how far an approximation is off, what it takes. Nothing
/// odd: that is a warning.
#[derive(Clone, Debug, PartialEq)]
pub struct SetupNote {
    /// For people, one line.
    pub text: String,
    /// For programs: the numbers of it, with their names.
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

    /// The authored rest mesh at a mesh port.
    ///
    /// # Errors
    /// Where nothing is linked.
    pub fn mesh(&self, port: &'static str) -> Result<&'a Mesh, NodeError> {
        match self.get(port, Some(PortType::Mesh)) {
            Some(BindInput::Mesh(m)) => Ok(m),
            _ => Err(NodeError::Input {
                port,
                message: "the input is not linked; link a mesh".into(),
            }),
        }
    }

    /// The rig at a pose port.
    ///
    /// # Errors
    /// Where nothing is linked.
    pub fn rig(&self, port: &'static str) -> Result<&'a Rig, NodeError> {
        match self.get(port, Some(PortType::Pose)) {
            Some(BindInput::Pose(r)) => Ok(r),
            _ => Err(NodeError::Input {
                port,
                message: "the input is not linked; link a pose".into(),
            }),
        }
    }

    /// The animations at a port for them.
    ///
    /// # Errors
    /// Where nothing is linked.
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

    /// Whether the parameter of that name keeps its value for good.
    pub fn is_fixed(&self, parameter: &str) -> bool {
        let descs = self.parameters.descs.iter();
        descs
            .zip(self.fixed)
            .any(|(d, &fixed)| fixed && d.name == parameter)
    }

    /// Tells people of something odd that does not stop the node: what was found, how often, what is done about it.
    pub fn warn(&self, message: impl Into<String>) {
        self.warnings.0.borrow_mut().push(message.into());
    }

    /// Whether something is linked to the port.
    pub fn is_linked(&self, port: &str) -> bool {
        self.get(port, None).is_some()
    }

    /// Number of floats at a values port.
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

/// Current attributes of a mesh, one element a vertex.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeshView<'a> {
    /// Positions.
    pub positions: &'a [[f32; 3]],
    /// Normals, where the port declares that it reads them (or its effect transforms them) and the mesh has them.
    pub normals: Option<&'a [[f32; 3]]>,
    /// Tangents with bitangent sign.
    pub tangents: Option<&'a [[f32; 4]]>,
    /// Colour set 0.
    pub colors: Option<&'a [[f32; 4]]>,
}

/// Attributes to write; those that nobody needs are `None`.
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

/// A coloured segment for looking at what a graph does.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Line {
    /// One end, scene space.
    pub from: [f32; 3],
    /// The other end.
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
}

/// The linked inputs of one update.
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
    /// The mesh at a port; empty where nothing is linked.
    pub fn mesh(&self, port: &str) -> MeshView<'a> {
        match self.get(port, PortType::Mesh) {
            Some(InputValue::Mesh(m)) => m,
            _ => MeshView::default(),
        }
    }
    /// The pose at a port.
    pub fn pose(&self, port: &str) -> Option<&'a Pose> {
        match self.get(port, PortType::Pose) {
            Some(InputValue::Pose(p)) => Some(p),
            _ => None,
        }
    }
    /// The mask at a port.
    pub fn mask(&self, port: &str) -> Option<&'a [f32]> {
        match self.get(port, PortType::Mask) {
            Some(InputValue::Mask(m)) => Some(m),
            _ => None,
        }
    }
    /// The floats at a port.
    pub fn floats(&self, port: &str) -> Option<&'a [f32]> {
        match self.get(port, PortType::Values) {
            Some(InputValue::Values(m)) => Some(m),
            _ => None,
        }
    }
    /// The words of the field at a port.
    pub fn field(&self, port: &str) -> Option<&'a [u32]> {
        match self.get(port, PortType::Field) {
            Some(InputValue::Field(words)) => Some(words),
            _ => None,
        }
    }
    /// The segments at a port.
    pub fn lines(&self, port: &str) -> Option<&'a [Line]> {
        match self.get(port, PortType::Lines) {
            Some(InputValue::Lines(m)) => Some(m),
            _ => None,
        }
    }
}

/// Inputs or outputs of one node, at most: frames keep their lists on the stack.
pub const MAX_PORTS: usize = 16;

/// The outputs of one update; an output that nobody needs is `None`.
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
    /// Takes the mesh to write at a port; all attributes `None` where nobody needs it.
    pub fn mesh(&mut self, port: &str) -> MeshViewMut<'a> {
        match self.take(port, PortType::Mesh) {
            Some(OutputValue::Mesh(m)) => m,
            _ => MeshViewMut::default(),
        }
    }
    /// Takes the pose to write.
    pub fn pose(&mut self, port: &str) -> Option<&'a mut Pose> {
        match self.take(port, PortType::Pose) {
            Some(OutputValue::Pose(p)) => Some(p),
            _ => None,
        }
    }
    /// Takes the mask to write.
    pub fn mask(&mut self, port: &str) -> Option<&'a mut [f32]> {
        match self.take(port, PortType::Mask) {
            Some(OutputValue::Mask(m)) => Some(m),
            _ => None,
        }
    }
    /// Takes the floats to write.
    pub fn floats(&mut self, port: &str) -> Option<&'a mut [f32]> {
        match self.take(port, PortType::Values) {
            Some(OutputValue::Values(m)) => Some(m),
            _ => None,
        }
    }
    /// Takes the words of the field to write.
    pub fn field(&mut self, port: &str) -> Option<&'a mut [u32]> {
        match self.take(port, PortType::Field) {
            Some(OutputValue::Field(words)) => Some(words),
            _ => None,
        }
    }
    /// Takes the segments to write.
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
    /// Time of the frame.
    pub time_secs: f64,
    /// Time since the frame before; zero on the first. Less than zero where time went back.
    pub dt_secs: f64,
    /// Whether no frame was before: state starts anew, whatever the scratch holds from frames that were forgotten.
    pub is_first: bool,
    /// Whether to spread the work over threads.
    pub par: Par,
    /// Parameter values of this frame.
    pub parameters: Parameters<'a>,
    /// What is linked.
    pub inputs: Inputs<'a>,
    /// Where to write.
    pub outputs: Outputs<'a>,
    /// What [`BoundNode::new_scratch`] made; state for solvers.
    pub scratch: &'a mut (dyn Any + Send),
}

/// A node after setup: immutable, shared between instances and threads.
pub trait BoundNode: Send + Sync + Debug {
    /// Bytes of setup results.
    fn setup_bytes(&self) -> usize;
    /// What setup found. The same whether it was bound or restored.
    fn note(&self) -> Option<SetupNote> {
        None
    }
    /// Element count of a `values` or `lines` output, words of a `field`.
    fn output_len(&self, _port: &str) -> usize {
        0
    }
    /// Whether this setup writes an attribute that the output's effect calls [`crate::AttributeEffect::Recompute`].
    fn makes(&self, _port: &str, _attribute: MeshAttribute) -> bool {
        true
    }
    /// Whether this setup moves what an attribute belongs to and does not write the attribute, which the output's effect calls
    /// [`crate::AttributeEffect::Recompute`]: the incoming one no longer fits, as with [`crate::AttributeEffect::Invalidate`].
    fn invalidates(&self, _port: &str, _attribute: MeshAttribute) -> bool {
        false
    }
    /// Whether a value that a parameter of the update is to take fits what was bound: that a list is as long as
    /// setup found it, say. Asked before the value is used, for animated ones in setup.
    ///
    /// # Errors
    /// What was found and what setup expects.
    fn check_value(&self, _parameter: &str, _value: &ParameterValue) -> Result<(), NodeError> {
        Ok(())
    }
    /// Scratch (and state) of one instance. Allocates, so that `update` need not. State begins with the first frame
    /// ([`UpdateContext::is_first`]).
    fn new_scratch(&self) -> Box<dyn Any + Send> {
        Box::new(())
    }
    /// Bytes of what [`Self::new_scratch`] makes.
    fn scratch_bytes(&self) -> usize {
        0
    }
    /// What the frames to come depend on, for a run that goes on later; empty where nothing of the frames before matters.
    fn save_state(&self, _scratch: &(dyn Any + Send)) -> Vec<u8> {
        Vec::new()
    }
    /// Brings back what [`Self::save_state`] gave for the same setup: the next frame is what it would have been. Must check lengths and
    /// numbers: the bytes come from a file. The scratch is as it was where this fails.
    ///
    /// # Errors
    /// [`NodeError::Restore`] where the bytes do not fit.
    fn restore_state(
        &self,
        bytes: &[u8],
        _scratch: &mut (dyn Any + Send),
    ) -> Result<(), NodeError> {
        match bytes.len() {
            0 => Ok(()),
            found => Err(NodeError::Restore(format!(
                "found {found} bytes of state, expected none"
            ))),
        }
    }
    /// One frame. No allocation, no file access, no locking, no panic.
    fn update(&self, context: UpdateContext<'_>);
    /// Whether [`Self::update`] does the node's work; what a user wrote for GPUs has no form for the processor.
    fn runs_on_processor(&self) -> bool {
        true
    }
    /// What the node runs on the GPU, from the same inputs as setup; `None` where it runs on the
    /// processor only. Drivers of that sort run on the host beside a device, unless they read what the device makes.
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        None
    }
    /// What the device needs to know of a frame. No allocation, no panic.
    fn write_device_frame(&self, _frame: &DeviceFrame<'_>, _data: &mut DeviceFrameData<'_>) {}
    /// Calls `run` with the index of each pass of a frame, in order; all of `count`, once, unless overridden.
    fn device_passes(&self, _frame: &DeviceFrame<'_>, count: usize, run: &mut dyn FnMut(usize)) {
        (0..count).for_each(run);
    }
    /// Setup results for the cache; `None` where binding again is as fast as reading.
    fn save(&self) -> Option<Vec<u8>> {
        None
    }
}
