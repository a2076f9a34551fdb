//! Node `kernel`: the user's own WGSL with declared pins. `check/kernel.rs` and its modules read the declaration.
//!
//! | module | holds |
//! |---|---|
//! | `given` | the functions and constants that a text may use |
//! | `text` | checks a text against them, through `sinew-wgsl` |
//! | `source` | where the bytes of a text stand |
//! | `device` | the text as the device runs it, with the functions behind its pins |
//! | `bound` | a kernel bound to meshes: arrays, uniforms |
//! | `signature` | descriptions for the life of the process |

mod bound;
mod device;
pub(crate) mod given;
pub(crate) mod signature;
pub(crate) mod source;
pub(crate) mod text;

pub(crate) use bound::bind;
use sinew_deform::{AttributeEffect, Element, MeshAttribute, NodeDesc, PortType};
use std::sync::Arc;

/// One sentence for lists of nodes.
pub const SUMMARY: &str = "Runs a kernel of your own, written in WGSL, over vertices or triangles.";

/// What a kernel runs over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelDomain {
    /// The vertices of its first mesh.
    Vertex,
    /// The triangles of its first mesh.
    Triangle,
}

/// What the elements of a buffer belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferPer {
    /// A vertex of the kernel's first mesh.
    Vertex,
    /// A triangle of it.
    Triangle,
    /// The mesh as a whole.
    Mesh,
}

/// How a kernel writes a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferWrite {
    /// Any element, each from one invocation.
    Write,
    /// Whole numbers are added, from any number of invocations. The graph sets all elements to zero before.
    AtomicAdd,
}

/// A buffer that a kernel makes.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelBuffer {
    /// Name of the output.
    pub name: &'static str,
    /// What it is made of.
    pub element: Element,
    /// What its elements belong to.
    pub per: BufferPer,
    /// Elements for each of those.
    pub count: u32,
    /// How it is written.
    pub write: BufferWrite,
    /// Whether the graph sets it to zero before the kernel runs.
    pub cleared: bool,
}

/// A custom kernel: what the document declares, its text checked.
#[derive(Clone, Debug)]
pub struct CustomKernel {
    pub(crate) desc: &'static NodeDesc,
    pub(crate) domain: KernelDomain,
    pub(crate) group_size: Option<u32>,
    pub(crate) buffers: Vec<KernelBuffer>,
    /// Name and WGSL of the value.
    pub(crate) constants: Vec<(String, String)>,
    pub(crate) file: Arc<str>,
    pub(crate) text: Arc<str>,
    /// What the text is to the executor.
    pub(crate) analysis: text::Analysis,
}

impl CustomKernel {
    /// Pins and parameters.
    pub fn desc(&self) -> &'static NodeDesc {
        self.desc
    }
    /// What it runs over.
    pub fn domain(&self) -> KernelDomain {
        self.domain
    }
    /// Invocations of a workgroup, where the document says.
    pub fn group_size(&self) -> Option<u32> {
        self.group_size
    }
    /// The buffers that it makes.
    pub fn buffers(&self) -> &[KernelBuffer] {
        &self.buffers
    }
    /// The file that the text stands in: a file of its own, or the document.
    pub fn file(&self) -> &str {
        &self.file
    }
    /// The text as its author wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn uses(&self, name: &str) -> bool {
        self.analysis.names.contains(name)
    }
}

/// Attributes of a mesh output that a kernel writes.
pub(crate) fn written(desc: &NodeDesc) -> impl Iterator<Item = (&'static str, MeshAttribute)> {
    desc.outputs.iter().flat_map(|port| {
        let effects = port.effect.map(|e| e.all());
        MeshAttribute::ALL.into_iter().filter_map(move |attribute| {
            let effect = effects?[attribute.index()];
            (effect == AttributeEffect::Recompute).then_some((port.name, attribute))
        })
    })
}

/// What an array at a port is made of.
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
