//! The arrays that kernels read and write on the GPU.

use sinew_deform::{DeviceType, Element, MeshAttribute};
use sinew_graph::DataRef;

/// Names an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Memory {
    /// An attribute of a rest mesh.
    Rest {
        mesh: usize,
        attribute: MeshAttribute,
    },
    /// Written once, in setup.
    Setup(usize),
    /// Written each frame, of every instance.
    Frame(usize),
    /// Setup results of a node.
    Constant { node: usize, index: usize },
    /// A relation of a node, packed rows.
    Relation { node: usize, index: usize },
    /// The same words as vectors of four.
    RelationVectors { node: usize, index: usize },
    /// What the tiles of a launch work on.
    Tiles { launch: usize },
    /// The same words as vectors of four.
    TileVectors { launch: usize },
    /// Working memory of a node, of every instance.
    Scratch { node: usize, index: usize },
    /// What a node's host side wrote for a frame, of every instance.
    Uniforms { node: usize },
    /// The same, arrays.
    FrameArray { node: usize, index: usize },
    /// Values that the caller brings, of every instance.
    Values { input: usize },
}

impl Memory {
    /// What a place of the program is on the device; `attribute` tells which one of a rest mesh.
    pub(super) fn at(place: DataRef, attribute: MeshAttribute) -> Self {
        match place {
            DataRef::Rest(mesh) => Self::Rest { mesh, attribute },
            DataRef::Setup(i) => Self::Setup(i),
            DataRef::Frame(i) => Self::Frame(i),
            DataRef::Input(input) => Self::Values { input },
        }
    }
}

/// What the elements of an array are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Numbers and vectors.
    Plain(DeviceType),
    /// Two ends and a colour, 40 bytes.
    Line,
    /// The node's own `struct Uniforms`.
    Uniforms { bytes: usize },
}

impl Kind {
    pub(super) fn of_element(element: Element) -> Self {
        match element {
            Element::Float => Self::Plain(DeviceType::F32),
            Element::Vec3 => Self::Plain(DeviceType::Vec3F),
            Element::Vec4 => Self::Plain(DeviceType::Vec4F),
            Element::Line => Self::Line,
            Element::Int => Self::Plain(DeviceType::I32),
            Element::Uint => Self::Plain(DeviceType::U32),
            Element::Vec2 => Self::Plain(DeviceType::Vec2F),
        }
    }

    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Plain(ty) => ty.bytes(),
            Self::Line => Element::Line.bytes(),
            Self::Uniforms { bytes } => bytes,
        }
    }
}

/// An array as kernels see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArrayShape {
    pub(super) kind: Kind,
    /// Elements of one instance.
    pub(super) len: usize,
    /// Whether every instance has its own.
    pub(super) per_instance: bool,
}

impl ArrayShape {
    pub(super) fn bytes(&self, instances: usize) -> usize {
        let copies = if self.per_instance { instances } else { 1 };
        self.kind.bytes() * self.len * copies
    }
}
