//! Node `kernel`: the user's own WGSL with declared pins. The modules of `check/kernel.rs` read the declaration.
//!
//! | module | holds |
//! |---|---|
//! | `given` | the functions and constants that a kernel may call |
//! | `text` | checks a kernel text against them, through `sinew-wgsl` |
//! | `source` | maps bytes of a kernel to locations in the document |
//! | `device` | the text as executors run it, with the functions of its pins |
//! | `cpu` | the same text on the CPU |
//! | `field` | functions that look up fields |
//! | `bound` | a kernel bound to meshes: arrays, uniforms |
//! | `signature` | node descriptions that live as long as the process |

#[cfg(feature = "kernels")]
mod bound;
#[cfg(feature = "kernels")]
mod cpu;
#[cfg(feature = "kernels")]
mod device;
#[cfg(feature = "kernels")]
mod field;
#[cfg(feature = "kernels")]
pub(crate) mod given;
#[cfg(feature = "kernels")]
pub(crate) mod signature;
#[cfg(feature = "kernels")]
pub(crate) mod source;
#[cfg(feature = "kernels")]
pub(crate) mod text;

#[cfg(feature = "kernels")]
pub(crate) use bound::bind;
#[cfg(feature = "kernels")]
use sinew_deform::{AttributeEffect, MeshAttribute, PortType};
use sinew_deform::{Element, Example, NodeDesc};
use std::sync::Arc;

/// The page of the node in the docs (Markdown).
pub const PAGE: &str = include_str!("kernel/README.md");
/// One-sentence summary of the node for lists.
pub const SUMMARY: &str = "Runs a kernel of your own, written in WGSL, over vertices, triangles, strands, joints or a count.";

/// An example graph with a kernel, for `example:kernel`.
pub static EXAMPLE: Example = Example {
    name: "kernel",
    graph: include_str!("kernel/kernel.json"),
    sample: "ball",
    before: "rest",
    frame: 24,
};

/// The elements that a kernel runs over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelDomain {
    /// The vertices of its first mesh.
    Vertex,
    /// The triangles of its first mesh.
    Triangle,
    /// The strands of its first mesh.
    Strand,
    /// The joints of its first pose.
    Joint,
    /// As many as the document says.
    Count(u32),
}

impl KernelDomain {
    /// Its elements in messages.
    #[cfg(feature = "kernels")]
    pub(crate) fn elements(self) -> &'static str {
        match self {
            Self::Vertex => "vertices",
            Self::Triangle => "triangles",
            Self::Strand => "strands",
            Self::Joint => "joints",
            Self::Count(_) => "a count",
        }
    }
}

/// What one set of elements of a buffer belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BufferPer {
    /// A vertex of the kernel's first mesh.
    Vertex,
    /// A triangle of the kernel's first mesh.
    Triangle,
    /// A strand of the kernel's first mesh.
    Strand,
    /// A joint of the kernel's first pose.
    Joint,
    /// The whole mesh.
    Mesh,
}

/// How a kernel writes a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BufferWrite {
    /// An invocation may write any element, but only one invocation may write each element.
    Write,
    /// Any number of invocations add integers to an element. The graph sets all elements to zero first.
    AtomicAdd,
    /// An element becomes the least of the integers that invocations give it. The graph first sets all elements to the largest integer.
    AtomicMin,
    /// An element becomes the greatest of the integers that invocations give it. The graph first sets all elements to the smallest integer.
    AtomicMax,
}

#[cfg(feature = "kernels")]
impl BufferWrite {
    pub(crate) const ALL: [Self; 4] = [
        Self::Write,
        Self::AtomicAdd,
        Self::AtomicMin,
        Self::AtomicMax,
    ];

    /// Its word in documents.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::AtomicAdd => "atomic_add",
            Self::AtomicMin => "atomic_min",
            Self::AtomicMax => "atomic_max",
        }
    }

    /// What the functions of such an output begin with.
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::AtomicAdd => "add",
            Self::AtomicMin => "min",
            Self::AtomicMax => "max",
        }
    }

    /// What such an output accepts, in messages.
    pub(crate) fn accepts(self) -> &'static str {
        match self {
            Self::Write => "writes",
            Self::AtomicAdd => "atomic additions",
            Self::AtomicMin => "atomic minima",
            Self::AtomicMax => "atomic maxima",
        }
    }

    /// The 32 bits of an element that no invocation has written.
    pub(crate) fn unwritten(self, element: Element) -> u32 {
        match (self, element) {
            (Self::AtomicMin, Element::Int) => i32::MAX.cast_unsigned(),
            (Self::AtomicMax, Element::Int) => i32::MIN.cast_unsigned(),
            (Self::AtomicMin, _) => u32::MAX,
            _ => 0,
        }
    }
}

/// A buffer output of a kernel.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KernelBuffer {
    /// Name of the output.
    pub name: &'static str,
    /// Type of its elements.
    pub element: Element,
    /// What its elements belong to.
    pub per: BufferPer,
    /// Elements for each of those.
    pub count: u32,
    /// How the kernel writes it.
    pub write: BufferWrite,
    /// Whether elements keep their values from frame to frame.
    pub persistent: bool,
    /// Whether the graph sets all its elements before each run: to zero, or to the integer that a minimum or maximum starts from.
    pub cleared: bool,
}

/// A custom kernel: its declaration in the document and its checked text.
#[derive(Clone, Debug)]
pub struct CustomKernel {
    pub(crate) desc: &'static NodeDesc,
    pub(crate) domain: KernelDomain,
    pub(crate) group_size: Option<u32>,
    pub(crate) buffers: Vec<KernelBuffer>,
    /// Name and value of each constant, in WGSL.
    #[cfg(feature = "kernels")]
    pub(crate) constants: Vec<(String, String)>,
    pub(crate) file: Arc<str>,
    pub(crate) text: Arc<str>,
    /// What executors need to know of the text.
    #[cfg(feature = "kernels")]
    pub(crate) analysis: text::Analysis,
    /// Without the feature there is no kernel.
    #[cfg(not(feature = "kernels"))]
    never: std::convert::Infallible,
}

impl CustomKernel {
    /// Description of its pins and parameters.
    pub fn desc(&self) -> &'static NodeDesc {
        self.desc
    }
    /// The elements that it runs over.
    pub fn domain(&self) -> KernelDomain {
        self.domain
    }
    /// Invocations per workgroup, if the document states them.
    pub fn group_size(&self) -> Option<u32> {
        self.group_size
    }
    /// Its buffer outputs.
    pub fn buffers(&self) -> &[KernelBuffer] {
        &self.buffers
    }
    /// The file that holds the text: a WGSL file or the document.
    pub fn file(&self) -> &str {
        &self.file
    }
    /// The WGSL text as its author wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    #[cfg(feature = "kernels")]
    fn uses(&self, name: &str) -> bool {
        self.analysis.names.contains(name)
    }

    /// Its persistent buffers.
    #[cfg(feature = "kernels")]
    fn persistent(&self) -> impl Iterator<Item = &KernelBuffer> {
        self.buffers.iter().filter(|b| b.persistent)
    }
}

#[cfg(feature = "kernels")]
impl KernelBuffer {
    /// Prefix of the names of arrays that a persistent buffer has in generated code; the digit, which is no beginning of a pin's name, says
    /// how many frames back its values are.
    pub(crate) const NOW: &str = "given_0_";
    /// As [`Self::NOW`], for the values before the frame.
    pub(crate) const BEFORE: &str = "given_1_";

    /// The function that reads the values before the frame.
    pub(crate) fn last(&self) -> String {
        format!("last_{}", self.name)
    }
}

#[cfg(not(feature = "kernels"))]
pub(crate) fn bind(
    kernel: &CustomKernel,
    _: &sinew_deform::BindContext<'_>,
) -> Result<Box<dyn sinew_deform::BoundNode>, sinew_deform::NodeError> {
    match kernel.never {}
}

/// Attributes of a mesh output that a kernel writes.
#[cfg(feature = "kernels")]
pub(crate) fn written(desc: &NodeDesc) -> impl Iterator<Item = (&'static str, MeshAttribute)> {
    desc.outputs.iter().flat_map(|port| {
        let effects = port.effect.map(|e| e.all());
        MeshAttribute::ALL.into_iter().filter_map(move |attribute| {
            let effect = effects?[attribute.index()];
            (effect == AttributeEffect::Recompute).then_some((port.name, attribute))
        })
    })
}

/// Element type of an array at a port.
#[cfg(feature = "kernels")]
fn element(ty: PortType) -> Option<Element> {
    match ty {
        PortType::Mask | PortType::Values => Some(Element::Float),
        PortType::Buffer(element) => Some(element),
        PortType::Mesh
        | PortType::Pose
        | PortType::Lines
        | PortType::Field
        | PortType::VertexAnimation => None,
    }
}
