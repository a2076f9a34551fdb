//! A bound plan as data: steps over buffers. The executors (CPU in this crate, GPU in `sinew-gpu`) read it and decide
//! nothing on their own.

use crate::execute::Frame;
use crate::plan::ParameterSource;
use sinew_deform::sdf::{FieldReach, FieldReaches};
use sinew_deform::{
    BoundNode, Element, Inputs, MESH_ATTRIBUTES, NodeDesc, ParameterValue, Phase, PortType,
    SetupNote,
};
use sinew_geom::Mesh;
use std::sync::Arc;

/// Content of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// `len` elements.
    Array {
        /// Element type.
        element: Element,
        /// Number of elements.
        len: usize,
    },
    /// A pose of the rig that is bound to a pose input.
    Pose {
        /// Index into [`crate::Plan::inputs`].
        input: usize,
    },
}

impl Content {
    /// Size of an array in bytes; 0 for poses, which have no byte buffer.
    pub fn bytes(self) -> usize {
        match self {
            Self::Array { element, len } => element.bytes() * len,
            Self::Pose { .. } => 0,
        }
    }

    /// Whether the content persists from frame to frame. True for fields, which are rebuilt only where something moved.
    pub fn lasts(self) -> bool {
        let element = match self {
            Self::Array { element, .. } => Some(element),
            Self::Pose { .. } => None,
        };
        element == PortType::Field.element()
    }
}

/// Memory that steps write. Data with disjoint lifetimes share one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferDesc {
    /// Its content.
    pub content: Content,
    /// Whether it is read after its phase: by update steps (setup buffers) or as an output.
    pub kept: bool,
    /// Whether the content of the previous frame is kept too, for outputs.
    pub previous: bool,
    /// Whether a CPU step beside the GPU writes it ([`Step::host`]). It then keeps its content during a frame, since the CPU finishes
    /// before the GPU starts.
    pub host: bool,
}

/// Where a step finds its data or writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataRef {
    /// An attribute of a rest mesh: index into [`Program::meshes`]. The context tells which attribute.
    Rest(usize),
    /// A setup buffer, written once: index into [`Program::buffers`] of the setup phase.
    Setup(usize),
    /// A frame buffer, written in each frame: index into [`Program::buffers`] of the update phase.
    Frame(usize),
    /// An input that each frame passes in: index into [`crate::Plan::inputs`].
    Input(usize),
}

/// Where the data of one port of a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortData {
    /// A mesh, by [`sinew_deform::MeshAttribute`]; `None` for an attribute that the step neither reads nor writes.
    Mesh([Option<DataRef>; MESH_ATTRIBUTES]),
    /// A pose.
    Pose(DataRef),
    /// A mask, values, lines or a field.
    Array(DataRef),
}

/// What setup knows of the link at an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// A mesh: index of its authored rest mesh in [`Program::meshes`].
    Mesh(usize),
    /// A pose: index of the pose input with its rig.
    Pose(usize),
    /// A mask.
    Mask,
    /// Values or a buffer: number of elements.
    Values(usize),
    /// Lines: number of lines.
    Lines(usize),
    /// A field: number of 32-bit words.
    Field(usize),
    /// A vertex animation: index of its input. Steps do not read it.
    VertexAnimation(usize),
}

/// Why the CPU does not run a step when the GPU runs the graph.
///
/// The CPU runs drivers that have no GPU kernel and read nothing that the GPU computes. In setup, such a driver may read anything, because
/// binding runs setup on the CPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotOnHost {
    /// The GPU runs it.
    #[error("it runs on the GPU")]
    DeviceSide,
    /// It is neither a driver nor a field nor a solver.
    #[error("it is a {kind}; beside the GPU, the CPU runs only drivers, fields and solvers")]
    NotADriver {
        /// Kind of the node.
        kind: &'static str,
    },
    /// Its output must be on the GPU.
    #[error("its output '{port}' is a {what}, which must be computed on the GPU")]
    Makes {
        /// Name of the output.
        port: &'static str,
        /// Type of the output.
        what: &'static str,
    },
    /// It reads data that is on the GPU.
    #[error("its input '{port}' reads {what} that node '{node}' computes on the GPU")]
    Reads {
        /// Name of the input.
        port: &'static str,
        /// "positions", "values" and so on.
        what: &'static str,
        /// Name of the node that computes it.
        node: String,
    },
}

/// A step that looks up a field, and how far it reaches ([`BoundNode::field_reach`]).
#[derive(Clone, Debug)]
pub struct Looker {
    bound: Arc<dyn BoundNode>,
    /// The pose input that it follows: index into [`crate::Plan::inputs`].
    pose: Option<usize>,
    /// Points that it tells.
    points: usize,
}

impl Looker {
    /// `None` if it looks up fields anywhere, or if its pose comes from another step: it is then not there when the field is made.
    fn new(step: &Step) -> Option<Self> {
        let ports = step.desc.inputs.iter().zip(&step.inputs);
        let pose = ports
            .filter(|(port, _)| port.name == "pose")
            .find_map(|(_, place)| *place);
        let pose = match pose {
            None => None,
            Some(PortData::Pose(DataRef::Input(input))) => Some(input),
            Some(_) => return None,
        };
        let mut points = 0;
        step.bound.field_reach(None, &mut |_| points += 1)?;
        Some(Self {
            bound: step.bound.clone(),
            pose,
            points,
        })
    }
}

/// One bound node to run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Step {
    /// Name of the node in the document.
    pub name: String,
    /// Description of its kind.
    pub desc: &'static NodeDesc,
    /// Its setup results, shared by all instances.
    pub bound: Arc<dyn BoundNode>,
    /// Links of its inputs, in the order of the description; `None` for an unlinked input.
    pub links: Vec<Option<Link>>,
    /// Where the input data is; `None` for an unlinked input and for data that steps do not read.
    pub inputs: Vec<Option<PortData>>,
    /// Where to write its outputs, in the order of the description; `None` for an output that nothing needs.
    pub outputs: Vec<Option<PortData>>,
    /// Sources of its parameters, in the order of the description.
    pub sources: Vec<ParameterSource>,
    /// Where the data is that its parameters are linked to ([`crate::ParameterLink::input`]).
    pub parameter_data: Vec<PortData>,
    /// Values of the parameters when it was bound.
    pub values: Vec<ParameterValue>,
    /// The region that was fitted to the mesh, if the document asks for it.
    pub region: Option<SetupNote>,
    /// What alone looks up the field that it makes, each with a reach; empty if something else may, or if it makes none.
    pub lookers: Vec<Looker>,
    /// Whether the binder added it.
    pub implicit: bool,
    /// `Ok` if the CPU runs it before the GPU starts when the GPU runs the graph ([`crate::HostSteps`]); otherwise why not.
    /// Without a GPU, the CPU runs every step.
    pub host: Result<(), NotOnHost>,
    /// Location in the document, `file:line:column`; empty if the binder added it.
    pub location: String,
}

impl Step {
    /// Vertex count of the first linked mesh; 0 without a mesh.
    pub fn vertex_count(&self, program: &Program) -> usize {
        let first = self.links.iter().flatten().find_map(|link| match link {
            Link::Mesh(mesh) => program.meshes.get(*mesh),
            _ => None,
        });
        first.map_or(0, |mesh| mesh.vertex_count())
    }

    /// A parameter that is linked to data which only the GPU has when the GPU runs the graph.
    pub fn parameter_on_device(&self, program: &Program) -> Option<&'static str> {
        let parameters = self.desc.parameters.iter().zip(&self.sources);
        let mut linked = parameters.filter_map(|(desc, source)| match source {
            ParameterSource::Linked(link) => {
                Some((desc.name, self.parameter_data.get(link.input)?))
            }
            _ => None,
        });
        let found = linked.find(|(_, data)| match data {
            PortData::Pose(place) | PortData::Array(place) => !program.is_on_host(*place),
            PortData::Mesh(_) => true,
        });
        found.map(|(name, _)| name)
    }

    /// What [`Self::field_reach`] keeps from frame to frame, for one character.
    pub fn field_reaches(&self) -> FieldReaches {
        FieldReaches::with_room(self.lookers.iter().map(|l| l.points).sum())
    }

    /// Where the field that it makes is looked up in a frame; `None`: anywhere. Asked once in each frame of a character, with its `reaches`.
    /// Does not allocate.
    pub fn field_reach(
        &self,
        reaches: &mut FieldReaches,
        frame: &Frame<'_>,
        is_first: bool,
        inputs: &Inputs<'_>,
    ) -> Option<FieldReach> {
        if self.lookers.is_empty() {
            return None;
        }
        let own = self.bound.field_frame(inputs);
        reaches.next(own, frame.dt_secs, is_first, |put| {
            let distance = |looker: &Looker| {
                let pose = looker.pose.and_then(|input| frame.pose_of(input));
                looker.bound.field_reach(pose, put)
            };
            let mut distances = self.lookers.iter().map(distance);
            distances.try_fold(0.0_f32, |most, distance| Some(most.max(distance?)))
        })
    }

    /// Whether the CPU runs it when the GPU runs the graph.
    pub fn runs_on_host(&self) -> bool {
        self.host.is_ok()
    }
}

/// Where an output of the graph is after a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputData {
    /// A mesh.
    Mesh {
        /// Its rest mesh: index into [`Program::meshes`].
        rest: usize,
        /// Whether nodes recompute its normals: no part is then flat shaded.
        is_smooth: bool,
        /// By [`sinew_deform::MeshAttribute`]; `None` for a missing attribute.
        attributes: [Option<DataRef>; MESH_ATTRIBUTES],
    },
    /// A pose.
    Pose(DataRef),
    /// A mask or values.
    Floats(DataRef),
    /// Lines.
    Lines(DataRef),
    /// A field.
    Field(DataRef),
}

/// Steps, buffers and outputs of a bound graph.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(crate) meshes: Vec<Arc<Mesh>>,
    pub(crate) setup_steps: Vec<Step>,
    pub(crate) update_steps: Vec<Step>,
    pub(crate) setup_buffers: Vec<BufferDesc>,
    pub(crate) frame_buffers: Vec<BufferDesc>,
    pub(crate) outputs: Vec<OutputData>,
    /// Names of nodes that no output needs; they have no step.
    pub(crate) dropped: Vec<String>,
}

impl Program {
    /// Notes what looks up each field, where nothing else does.
    pub(crate) fn find_lookers(&mut self) {
        let lookers: Vec<_> = self.update_steps.iter().map(|s| self.lookers(s)).collect();
        for (step, lookers) in self.update_steps.iter_mut().zip(lookers) {
            step.lookers = lookers.unwrap_or_default();
        }
    }

    fn lookers(&self, step: &Step) -> Option<Vec<Looker>> {
        let mut outputs = step.outputs.iter().zip(step.desc.outputs);
        let field = outputs.find_map(|(place, port)| match place {
            Some(PortData::Array(place)) if port.ty == PortType::Field => Some(*place),
            _ => None,
        })?;
        if self.outputs.contains(&OutputData::Field(field)) {
            return None;
        }
        let reads = |step: &&Step| step.inputs.contains(&Some(PortData::Array(field)));
        self.update_steps
            .iter()
            .filter(reads)
            .map(Looker::new)
            .collect()
    }

    /// Rest meshes of the mesh inputs, in document order.
    pub fn meshes(&self) -> &[Arc<Mesh>] {
        &self.meshes
    }
    /// The rest mesh of a mesh output, smooth shaded if the graph recomputes its normals. `None` for other outputs.
    pub fn shown_mesh(&self, place: &OutputData) -> Option<Arc<Mesh>> {
        let OutputData::Mesh {
            rest, is_smooth, ..
        } = place
        else {
            return None;
        };
        let mut mesh = Arc::clone(self.meshes.get(*rest)?);
        if *is_smooth && mesh.parts.iter().any(|p| p.flat_shaded) {
            let parts = &mut Arc::make_mut(&mut mesh).parts;
            parts.iter_mut().for_each(|p| p.flat_shaded = false);
        }
        Some(mesh)
    }
    /// The steps of a phase in running order. Setup steps run once, before all others.
    pub fn steps(&self, phase: Phase) -> &[Step] {
        match phase {
            Phase::Setup => &self.setup_steps,
            Phase::Update => &self.update_steps,
        }
    }
    /// The steps of both phases in running order.
    pub fn all_steps(&self) -> impl Iterator<Item = &Step> {
        self.setup_steps.iter().chain(&self.update_steps)
    }
    /// The buffers that the steps of a phase write.
    pub fn buffers(&self, phase: Phase) -> &[BufferDesc] {
        match phase {
            Phase::Setup => &self.setup_buffers,
            Phase::Update => &self.frame_buffers,
        }
    }
    /// Outputs in document order.
    pub fn outputs(&self) -> &[OutputData] {
        &self.outputs
    }
    /// Names of nodes that do not run because no output needs them.
    pub(crate) fn dropped(&self) -> &[String] {
        &self.dropped
    }

    /// Whether the CPU has the data at `place` when the GPU runs the graph: rest meshes, data of the frame, and results of CPU steps.
    pub fn is_on_host(&self, place: DataRef) -> bool {
        let of_host = |phase, i: usize| self.buffers(phase).get(i).is_some_and(|b| b.host);
        match place {
            DataRef::Rest(_) | DataRef::Input(_) => true,
            DataRef::Setup(i) => of_host(Phase::Setup, i),
            DataRef::Frame(i) => of_host(Phase::Update, i),
        }
    }

    /// Whether each frame must pass in the input of that index.
    pub(crate) fn needs_input(&self, input: usize) -> bool {
        let mut read = self
            .all_steps()
            .flat_map(|s| s.inputs.iter().flatten().chain(&s.parameter_data));
        let is_it = |place: &DataRef| *place == DataRef::Input(input);
        read.any(|port| match port {
            PortData::Mesh(attributes) => attributes.iter().flatten().any(is_it),
            PortData::Pose(place) | PortData::Array(place) => is_it(place),
        }) || self.outputs.iter().any(|output| match output {
            OutputData::Mesh { attributes, .. } => attributes.iter().flatten().any(is_it),
            // The caller has the pose already.
            OutputData::Pose(_) => false,
            OutputData::Floats(place) | OutputData::Lines(place) | OutputData::Field(place) => {
                is_it(place)
            }
        })
    }
}
