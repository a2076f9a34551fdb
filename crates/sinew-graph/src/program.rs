//! What a plan becomes when it is bound: steps over buffers, as data. Executors (the processor here, a graphics
//! device elsewhere) read it; none of them decides anything that this does not say.

use crate::plan::ParameterSource;
use sinew_deform::{
    BoundNode, Element, MESH_ATTRIBUTES, NodeDesc, ParameterValue, Phase, PortType,
};
use sinew_geom::Mesh;
use std::sync::Arc;

/// What a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// `len` elements.
    Array {
        /// What they are.
        element: Element,
        /// How many.
        len: usize,
    },
    /// A pose of the rig that is bound to the pose input of that index.
    Pose {
        /// Index into [`crate::Plan::inputs`].
        input: usize,
    },
}

impl Content {
    /// Size of arrays; poses belong to no buffer of bytes and count as 0.
    pub fn bytes(self) -> usize {
        match self {
            Self::Array { element, len } => element.bytes() * len,
            Self::Pose { .. } => 0,
        }
    }

    /// Whether a step finds in it what it left there in the frame before: fields are rebuilt only where something moved.
    pub fn lasts(self) -> bool {
        let element = match self {
            Self::Array { element, .. } => Some(element),
            Self::Pose { .. } => None,
        };
        element == PortType::Field.element()
    }
}

/// Memory that steps write. One buffer holds one thing after another when their lives do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferDesc {
    /// What is in it.
    pub content: Content,
    /// Whether it is read after its phase has ended: by update steps (setup buffers) or as an output.
    pub kept: bool,
    /// Whether the content of the frame before is kept beside it, so that outputs have both.
    pub previous: bool,
    /// Whether a step writes it that the host runs beside a graphics device ([`Step::host`]). It then holds the same thing throughout
    /// a frame, as the host is done before the device begins.
    pub host: bool,
}

/// Where something is that a step reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// An attribute of a rest mesh, index into [`Program::meshes`]; which attribute follows from where this stands.
    Rest(usize),
    /// Written once, in setup: index into [`Program::buffers`] of the setup.
    Setup(usize),
    /// Written each frame: index into [`Program::buffers`] of the update.
    Frame(usize),
    /// Handed in with each frame: index into [`crate::Plan::inputs`].
    Input(usize),
}

/// What a step finds at, or leaves at, one of its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortPlace {
    /// By [`sinew_deform::MeshAttribute`]; `None` where the step neither reads nor writes it.
    Mesh([Option<Place>; MESH_ATTRIBUTES]),
    /// A pose.
    Pose(Place),
    /// A mask, values, lines or a field.
    Array(Place),
}

/// What setup knows of something that is linked to an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The authored rest mesh that it leads back to, index into [`Program::meshes`].
    Mesh(usize),
    /// A pose of the rig that is bound to the pose input of that index.
    Pose(usize),
    /// A mask.
    Mask,
    /// That many values, or elements of a buffer.
    Values(usize),
    /// That many lines.
    Lines(usize),
    /// A field of that many words.
    Field(usize),
    /// The animations that are bound to the input of that index; steps do not read them.
    VertexAnimation(usize),
}

/// Why the host does not run a step where a graphics device runs the graph.
///
/// It runs drivers that have no device side and read nothing that a device makes. In setup such a driver may read anything, unless the graph
/// holds a custom kernel: binding has run setup on the processor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotOnHost {
    /// The device runs it.
    #[error("it is made for graphics devices")]
    DeviceSide,
    /// It does work of another kind.
    #[error(
        "of nodes without kernels, only drivers and fields run beside a graphics device; this is a {kind}"
    )]
    NotADriver {
        /// What it is.
        kind: &'static str,
    },
    /// It makes something that is on devices only.
    #[error("its output '{port}' is a {what}, which has to be made on the device")]
    Makes {
        /// Name of the output.
        port: &'static str,
        /// What it is.
        what: &'static str,
    },
    /// It reads something that is on the device.
    #[error("its input '{port}' reads {what} that node '{node}' makes on the device")]
    Reads {
        /// Name of the input.
        port: &'static str,
        /// "positions", "values" and so on.
        what: &'static str,
        /// Name of the node that makes it.
        node: String,
    },
}

/// One node at work.
#[derive(Clone, Debug)]
pub struct Step {
    /// Name of the node in the document.
    pub name: String,
    /// What it is.
    pub desc: &'static NodeDesc,
    /// Its setup results, shared by all instances.
    pub bound: Arc<dyn BoundNode>,
    /// What is linked to the description's inputs; `None` where nothing is.
    pub links: Vec<Option<Link>>,
    /// Where that is found; `None` where nothing is linked, or nothing that steps read.
    pub inputs: Vec<Option<PortPlace>>,
    /// In the order of the description's outputs; `None` where nobody needs it.
    pub outputs: Vec<Option<PortPlace>>,
    /// Where its parameters come from, in the order of the description's.
    pub sources: Vec<ParameterSource>,
    /// Values of the parameters when it was bound.
    pub values: Vec<ParameterValue>,
    /// Whether the binder added it.
    pub implicit: bool,
    /// Whether the host runs it where a graphics device runs the graph ([`crate::HostSteps`]), before the device begins; else why not.
    /// Without a device the processor runs every step.
    pub host: Result<(), NotOnHost>,
    /// Where it stands in the document, `file:line:column`; empty where the binder added it.
    pub place: String,
}

impl Step {
    /// Vertices of the first mesh that is linked; 0 without one.
    pub fn vertex_count(&self, program: &Program) -> usize {
        let first = self.links.iter().flatten().find_map(|link| match link {
            Link::Mesh(mesh) => program.meshes.get(*mesh),
            _ => None,
        });
        first.map_or(0, |mesh| mesh.vertex_count())
    }

    /// Whether the host runs it where a graphics device runs the graph.
    pub fn runs_on_host(&self) -> bool {
        self.host.is_ok()
    }
}

/// Where an output of the graph is after a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputPlace {
    /// A mesh.
    Mesh {
        /// Its rest mesh, index into [`Program::meshes`].
        rest: usize,
        /// Whether nodes make its normals anew, so that no part is shown flat.
        is_smooth: bool,
        /// By [`sinew_deform::MeshAttribute`]; `None` where it has none.
        attributes: [Option<Place>; MESH_ATTRIBUTES],
    },
    /// A pose.
    Pose(Place),
    /// A mask or values.
    Floats(Place),
    /// Lines.
    Lines(Place),
    /// A field.
    Field(Place),
}

/// Steps, buffers and outputs of a bound graph.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(crate) meshes: Vec<Arc<Mesh>>,
    pub(crate) setup_steps: Vec<Step>,
    pub(crate) update_steps: Vec<Step>,
    pub(crate) setup_buffers: Vec<BufferDesc>,
    pub(crate) frame_buffers: Vec<BufferDesc>,
    pub(crate) outputs: Vec<OutputPlace>,
    /// Steps that nobody needs, by name; they are not among the steps.
    pub(crate) dropped: Vec<String>,
}

impl Program {
    /// Rest meshes of the mesh inputs, in document order.
    pub fn meshes(&self) -> &[Arc<Mesh>] {
        &self.meshes
    }
    /// The mesh that an output shows at rest: that of its input, smooth where the graph makes normals anew; `None` for other outputs.
    pub fn shown_mesh(&self, place: &OutputPlace) -> Option<Arc<Mesh>> {
        let OutputPlace::Mesh {
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
    /// What runs when, in this order. Setup steps run once and before all others.
    pub fn steps(&self, phase: Phase) -> &[Step] {
        match phase {
            Phase::Setup => &self.setup_steps,
            Phase::Update => &self.update_steps,
        }
    }
    /// The steps of both phases, in the order in which they run.
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
    pub fn outputs(&self) -> &[OutputPlace] {
        &self.outputs
    }
    /// Names of nodes that do not run because no output needs them.
    pub fn dropped(&self) -> &[String] {
        &self.dropped
    }

    /// Whether the host has what is at a place where a graphics device runs the graph: what came with the frame, and what steps made that
    /// run on the host.
    pub fn is_on_host(&self, place: Place) -> bool {
        let of_host = |phase, i: usize| self.buffers(phase).get(i).is_some_and(|b| b.host);
        match place {
            Place::Rest(_) | Place::Input(_) => true,
            Place::Setup(i) => of_host(Phase::Setup, i),
            Place::Frame(i) => of_host(Phase::Update, i),
        }
    }

    /// The first step that only a graphics device can run.
    pub fn device_only(&self) -> Option<&Step> {
        self.all_steps().find(|s| !s.bound.runs_on_processor())
    }

    /// Whether a frame must bring the input of that index.
    pub fn needs_input(&self, input: usize) -> bool {
        let mut read = self.all_steps().flat_map(|s| s.inputs.iter().flatten());
        let is_it = |place: &Place| *place == Place::Input(input);
        read.any(|port| match port {
            PortPlace::Mesh(attributes) => attributes.iter().flatten().any(is_it),
            PortPlace::Pose(place) | PortPlace::Array(place) => is_it(place),
        }) || self.outputs.iter().any(|output| match output {
            OutputPlace::Mesh { attributes, .. } => attributes.iter().flatten().any(is_it),
            // The caller has the pose already.
            OutputPlace::Pose(_) => false,
            OutputPlace::Floats(place) | OutputPlace::Lines(place) | OutputPlace::Field(place) => {
                is_it(place)
            }
        })
    }
}
