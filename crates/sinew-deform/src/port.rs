//! Ports of nodes: what travels over links, and what a node reads of it and does to it.

use crate::Line;

/// What a node does to one attribute of the mesh that passes through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeEffect {
    /// Passes it on; both meshes share the buffer.
    Keep,
    /// Reads it and writes a new one. If the incoming mesh lacks it, or a node upstream invalidated it, nothing is written.
    Transform,
    /// Writes it without reading the incoming one. If the incoming mesh lacks it, [`BoundNode::makes`](crate::BoundNode::makes) decides.
    Recompute,
    /// The incoming one no longer fits the positions. Sinew recomputes it when a later node or an output needs it.
    Invalidate,
}

/// An attribute that travels over mesh links, one element per vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MeshAttribute {
    /// Positions.
    Positions,
    /// Normals.
    Normals,
    /// Tangents with bitangent sign.
    Tangents,
    /// Colour set 0.
    Colors,
}

impl MeshAttribute {
    /// All of them. Tables with one entry per attribute are in this order.
    pub const ALL: [Self; MESH_ATTRIBUTES] =
        [Self::Positions, Self::Normals, Self::Tangents, Self::Colors];
    /// Its index in [`Self::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
    /// Its element type.
    pub fn element(self) -> Element {
        match self {
            Self::Positions | Self::Normals => Element::Vec3,
            Self::Tangents | Self::Colors => Element::Vec4,
        }
    }
    /// The word used in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Positions => "positions",
            Self::Normals => "normals",
            Self::Tangents => "tangents",
            Self::Colors => "colours",
        }
    }
}

/// Number of [`MeshAttribute`]s.
pub const MESH_ATTRIBUTES: usize = 4;

/// Element types of arrays on links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// One float.
    Float,
    /// Three floats, packed.
    Vec3,
    /// Four floats.
    Vec4,
    /// A [`Line`].
    Line,
    /// One signed 32-bit integer.
    Int,
    /// One unsigned 32-bit integer.
    Uint,
    /// Two floats, packed.
    Vec2,
}

impl Element {
    /// Bytes of one element; elements follow each other without gaps.
    pub fn bytes(self) -> usize {
        match self {
            Self::Float | Self::Int | Self::Uint => 4,
            Self::Vec2 => 8,
            Self::Vec3 => 12,
            Self::Vec4 => 16,
            Self::Line => size_of::<Line>(),
        }
    }
}

/// What a node does to the mesh that enters at `from` and leaves at the output port that carries this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshEffect {
    /// Name of the input port whose mesh passes through.
    pub from: &'static str,
    /// Positions.
    pub positions: AttributeEffect,
    /// Normals.
    pub normals: AttributeEffect,
    /// Tangents.
    pub tangents: AttributeEffect,
    /// Colour set 0.
    pub colors: AttributeEffect,
}

impl MeshEffect {
    /// In the order of [`MeshAttribute::ALL`].
    pub fn all(&self) -> [AttributeEffect; MESH_ATTRIBUTES] {
        [self.positions, self.normals, self.tangents, self.colors]
    }
    /// Moves points and transforms normals and tangents by the Jacobian of the deformation.
    pub const MOVES_FRAMES: Self = Self {
        from: "mesh",
        positions: AttributeEffect::Transform,
        normals: AttributeEffect::Transform,
        tangents: AttributeEffect::Transform,
        colors: AttributeEffect::Keep,
    };
    /// Moves points; normals and tangents must be recomputed.
    pub const MOVES_POINTS: Self = Self {
        normals: AttributeEffect::Invalidate,
        tangents: AttributeEffect::Invalidate,
        ..Self::MOVES_FRAMES
    };
}

/// Whether `update` reads an attribute of a mesh input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeRead {
    /// Never: the view lacks it.
    Never,
    /// Read to write the same attribute of the output. It is recomputed if it is stale. The view lacks it if the mesh does, or if no one
    /// needs that output.
    WithOutput,
    /// Read in each frame. It is recomputed if it is stale, and made if the mesh lacks it. If that is impossible, setup fails.
    Always,
}

/// Which attributes of a mesh input `update` reads, beside those that a [`MeshEffect`] transforms. The view lacks all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshReads {
    /// Positions.
    pub positions: AttributeRead,
    /// Normals.
    pub normals: AttributeRead,
    /// Tangents.
    pub tangents: AttributeRead,
    /// Colour set 0.
    pub colors: AttributeRead,
}

impl MeshReads {
    /// Nothing: only setup reads the mesh.
    pub const NOTHING: Self = Self {
        positions: AttributeRead::Never,
        normals: AttributeRead::Never,
        tangents: AttributeRead::Never,
        colors: AttributeRead::Never,
    };
    /// Positions in each frame; the default of an input.
    pub const POSITIONS: Self = Self {
        positions: AttributeRead::Always,
        normals: AttributeRead::Never,
        tangents: AttributeRead::Never,
        colors: AttributeRead::Never,
    };
    /// Positions in each frame; normals and tangents if those of the output are needed.
    pub const MIXED: Self = Self {
        normals: AttributeRead::WithOutput,
        tangents: AttributeRead::WithOutput,
        ..Self::POSITIONS
    };
    /// Positions and normals each frame.
    pub const NORMALS: Self = Self {
        normals: AttributeRead::Always,
        ..Self::POSITIONS
    };

    /// In the order of [`MeshAttribute::ALL`].
    pub fn all(&self) -> [AttributeRead; MESH_ATTRIBUTES] {
        [self.positions, self.normals, self.tangents, self.colors]
    }
}

/// What travels over a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortType {
    /// A mesh: positions and, where present, normals, tangents, colours.
    Mesh,
    /// A pose: joint palette, node transforms, morph weights. A pose output belongs to the rig of the node's first pose input.
    Pose,
    /// One weight (0..1) per vertex of the node's first mesh input.
    Mask,
    /// Any number of floats, their count fixed in setup.
    Values,
    /// Coloured line segments, their count fixed in setup.
    Lines,
    /// A signed distance field, as words; `sdf` defines their layout. Their number is fixed in setup. What a frame leaves there lasts until
    /// the node writes it again.
    Field,
    /// Baked animations of a mesh, from an input of the graph. Only setup reads them, and no node outputs them.
    VertexAnimation,
    /// An array between custom kernels, its length fixed in setup. Lines do not travel this way.
    Buffer(Element),
}

impl PortType {
    /// The word used in files and docs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mesh => "mesh",
            Self::Pose => "pose",
            Self::Mask => "mask",
            Self::Values => "values",
            Self::Lines => "lines",
            Self::Field => "field",
            Self::VertexAnimation => "vertex_animation",
            Self::Buffer(element) => match element {
                Element::Float => "buffer of float",
                Element::Int => "buffer of int",
                Element::Uint => "buffer of uint",
                Element::Vec2 => "buffer of vec2",
                Element::Vec3 => "buffer of vec3",
                Element::Vec4 => "buffer of vec4",
                Element::Line => "buffer of lines",
            },
        }
    }

    /// Whether a link of type `found` may end at a port of this type. Buffers of floats, masks and values are interchangeable; setup checks
    /// their lengths.
    pub fn takes(self, found: Self) -> bool {
        let float_buffer = Self::Buffer(Element::Float);
        self == found
            || self == float_buffer && matches!(found, Self::Mask | Self::Values)
            || found == float_buffer && matches!(self, Self::Mask | Self::Values)
    }

    /// Element type of the array on such a link; `None` for meshes, poses and vertex animations.
    pub fn element(self) -> Option<Element> {
        match self {
            Self::Mesh | Self::Pose | Self::VertexAnimation => None,
            Self::Mask | Self::Values => Some(Element::Float),
            Self::Lines => Some(Element::Line),
            Self::Field => Some(Element::Uint),
            Self::Buffer(element) => Some(element),
        }
    }
}

/// An input or output of a node.
#[derive(Clone, Copy, Debug)]
pub struct PortDesc {
    /// Key in the document.
    pub name: &'static str,
    /// What may be linked here.
    pub ty: PortType,
    /// Whether setup fails without it (inputs only).
    pub required: bool,
    /// Inputs only: a document may give a list of links here; it fills this port and up to so many ports after it.
    pub more: u8,
    /// Mesh inputs only: whether the mesh must consist of strands.
    pub strands: bool,
    /// Pose inputs only: without a link in the document, the port takes the pose that moves the node's first mesh, if there is one.
    pub of_mesh: bool,
    /// Pose inputs only: the node reads the morph weights, not the joints.
    pub morph_weights: bool,
    /// For mesh inputs: what `update` reads.
    pub reads: MeshReads,
    /// For mesh outputs: which input passes through and what happens to it.
    pub effect: Option<MeshEffect>,
    /// One sentence.
    pub doc: &'static str,
}

impl PortDesc {
    /// A required input. A mesh input reads positions in each frame; see [`Self::reading`].
    pub const fn input(name: &'static str, ty: PortType, doc: &'static str) -> Self {
        Self {
            name,
            ty,
            required: true,
            more: 0,
            strands: false,
            of_mesh: false,
            morph_weights: false,
            reads: MeshReads::POSITIONS,
            effect: None,
            doc,
        }
    }
    /// An optional input.
    pub const fn optional(name: &'static str, ty: PortType, doc: &'static str) -> Self {
        Self {
            required: false,
            ..Self::input(name, ty, doc)
        }
    }
    /// The same input, the first of a list: in the document a list of links goes on to that many ports behind it.
    pub(crate) const fn first_of_list(self, more: u8) -> Self {
        Self { more, ..self }
    }
    /// The same mesh input, for strands only.
    pub const fn of_strands(self) -> Self {
        Self {
            strands: true,
            ..self
        }
    }
    /// The same pose input, with the pose of the node's first mesh as its default.
    pub const fn of_mesh(self) -> Self {
        Self {
            of_mesh: true,
            ..self
        }
    }
    /// The same pose input, for its morph weights instead of its joints.
    pub(crate) const fn of_morph_weights(self) -> Self {
        Self {
            morph_weights: true,
            ..self
        }
    }
    /// The same mesh input, reading these attributes.
    pub const fn reading(self, reads: MeshReads) -> Self {
        Self { reads, ..self }
    }
    /// An output other than a mesh.
    pub const fn output(name: &'static str, ty: PortType, doc: &'static str) -> Self {
        Self {
            required: false,
            ..Self::input(name, ty, doc)
        }
    }
    /// The mesh output called `mesh`.
    pub const fn mesh_output(effect: MeshEffect, doc: &'static str) -> Self {
        Self {
            effect: Some(effect),
            ..Self::output("mesh", PortType::Mesh, doc)
        }
    }
}
