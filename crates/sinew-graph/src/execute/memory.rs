//! The memory that steps read and write on the CPU.

use super::frame::Frame;
use crate::input::InputBinding;
use crate::program::{BufferDesc, Content, DataRef};
use bytemuck::{cast_slice, cast_slice_mut};
use sinew_deform::{Element, Line, MESH_ATTRIBUTES, MeshAttribute, MeshView};
use sinew_geom::{Mesh, Pose};
use std::sync::Arc;

/// One buffer.
#[derive(Clone, Debug)]
pub(crate) enum Buffer {
    Float(Vec<f32>),
    Vec3(Vec<[f32; 3]>),
    Vec4(Vec<[f32; 4]>),
    Line(Vec<Line>),
    /// Integers, or the bits of pairs of floats.
    Uint(Vec<u32>),
    Pose(Box<Pose>),
}

impl Default for Buffer {
    /// Takes no memory.
    fn default() -> Self {
        Self::Float(Vec::new())
    }
}

impl Buffer {
    /// Zeroed, poses at rest.
    pub(crate) fn new(desc: &BufferDesc, inputs: &[InputBinding]) -> Self {
        match desc.content {
            Content::Array { element, len } => match element {
                Element::Float => Self::Float(vec![0.0; len]),
                Element::Vec3 => Self::Vec3(vec![[0.0; 3]; len]),
                Element::Vec4 => Self::Vec4(vec![[0.0; 4]; len]),
                Element::Line => Self::Line(vec![Line::default(); len]),
                Element::Uint | Element::Int => Self::Uint(vec![0; len]),
                Element::Vec2 => Self::Uint(vec![0; 2 * len]),
            },
            Content::Pose { input } => Self::Pose(Box::new(match inputs.get(input) {
                Some(InputBinding::Pose(rig)) => rig.rest_pose(),
                _ => Pose::default(),
            })),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Float(v) => size_of_val(v.as_slice()),
            Self::Vec3(v) => size_of_val(v.as_slice()),
            Self::Vec4(v) => size_of_val(v.as_slice()),
            Self::Line(v) => size_of_val(v.as_slice()),
            Self::Uint(v) => size_of_val(v.as_slice()),
            Self::Pose(pose) => {
                size_of_val(pose.locals.as_slice())
                    + size_of_val(pose.scene_from_node.as_slice())
                    + size_of_val(pose.palette.as_slice())
                    + size_of_val(pose.morph_weights.as_slice())
            }
        }
    }

    /// Copies the content of another buffer with the same description. Does not allocate.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => a.copy_from_slice(b),
            (Self::Vec3(a), Self::Vec3(b)) => a.copy_from_slice(b),
            (Self::Vec4(a), Self::Vec4(b)) => a.copy_from_slice(b),
            (Self::Line(a), Self::Line(b)) => a.copy_from_slice(b),
            (Self::Uint(a), Self::Uint(b)) => a.copy_from_slice(b),
            (Self::Pose(a), Self::Pose(b)) => a.clone_from(b),
            _ => {}
        }
    }

    /// The elements of an array, tightly packed.
    pub(crate) fn array_bytes(&self) -> Option<&[u8]> {
        Some(match self {
            Self::Float(v) => cast_slice(v),
            Self::Vec3(v) => cast_slice(v),
            Self::Vec4(v) => cast_slice(v),
            Self::Line(v) => cast_slice(v),
            Self::Uint(v) => cast_slice(v),
            Self::Pose(_) => return None,
        })
    }

    /// Copies the elements of an array of the same length; poses do not change.
    pub(crate) fn copy_from_bytes(&mut self, bytes: &[u8]) {
        let own = cast_slice_mut(self.array_words_mut());
        if own.len() == bytes.len() {
            own.copy_from_slice(bytes);
        }
    }

    /// The words of an array, none of a pose.
    pub(crate) fn array_words_mut(&mut self) -> &mut [u32] {
        match self {
            Self::Float(v) => cast_slice_mut(v),
            Self::Vec3(v) => cast_slice_mut(v),
            Self::Vec4(v) => cast_slice_mut(v),
            Self::Line(v) => cast_slice_mut(v),
            Self::Uint(v) => v,
            Self::Pose(_) => &mut [],
        }
    }

    pub(crate) fn floats(&self) -> Option<&[f32]> {
        match self {
            Self::Float(v) => Some(v),
            _ => None,
        }
    }
    pub(crate) fn vec3(&self) -> Option<&[[f32; 3]]> {
        match self {
            Self::Vec3(v) => Some(v),
            _ => None,
        }
    }
    pub(crate) fn vec4(&self) -> Option<&[[f32; 4]]> {
        match self {
            Self::Vec4(v) => Some(v),
            _ => None,
        }
    }
    pub(crate) fn lines(&self) -> Option<&[Line]> {
        match self {
            Self::Line(v) => Some(v),
            _ => None,
        }
    }
    pub(crate) fn words(&self) -> Option<&[u32]> {
        match self {
            Self::Uint(v) => Some(v),
            _ => None,
        }
    }
    pub(crate) fn pose(&self) -> Option<&Pose> {
        match self {
            Self::Pose(pose) => Some(pose),
            _ => None,
        }
    }
}

/// All data that a [`Place`] may refer to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources<'a> {
    pub(crate) meshes: &'a [Arc<Mesh>],
    pub(crate) setup: &'a [Buffer],
    pub(crate) frame: &'a [Buffer],
    /// Values of `values` inputs; empty for the others.
    pub(crate) values: &'a [Vec<f32>],
    /// Rest positions of this instance, by mesh; an empty entry means those of the bound mesh.
    pub(crate) moved_rest: &'a [Vec<[f32; 3]>],
    /// The frame: its poses, and its values, which override `values`. `None` in setup.
    pub(crate) given: Option<&'a Frame<'a>>,
}

impl<'a> Sources<'a> {
    fn buffer(&self, place: DataRef) -> Option<&'a Buffer> {
        match place {
            DataRef::Setup(i) => self.setup.get(i),
            DataRef::Frame(i) => self.frame.get(i),
            DataRef::Rest(_) | DataRef::Input(_) => None,
        }
    }

    /// Positions or normals.
    pub(crate) fn vec3(&self, place: DataRef, attribute: MeshAttribute) -> Option<&'a [[f32; 3]]> {
        match (place, attribute) {
            (DataRef::Rest(mesh), MeshAttribute::Positions) => {
                let moved = self.moved_rest.get(mesh).filter(|m| !m.is_empty());
                Some(
                    moved
                        .unwrap_or(&self.meshes.get(mesh)?.positions)
                        .as_slice(),
                )
            }
            (DataRef::Rest(mesh), _) => self.meshes.get(mesh)?.normals.as_deref(),
            _ => self.buffer(place)?.vec3(),
        }
    }

    /// Tangents or colours.
    pub(crate) fn vec4(&self, place: DataRef, attribute: MeshAttribute) -> Option<&'a [[f32; 4]]> {
        match (place, attribute) {
            (DataRef::Rest(mesh), MeshAttribute::Tangents) => {
                self.meshes.get(mesh)?.tangents.as_deref()
            }
            (DataRef::Rest(mesh), _) => self.meshes.get(mesh)?.colors.first().map(Vec::as_slice),
            _ => self.buffer(place)?.vec4(),
        }
    }

    pub(crate) fn mesh(&self, places: &[Option<DataRef>; MESH_ATTRIBUTES]) -> MeshView<'a> {
        use MeshAttribute::{Colors, Normals, Positions, Tangents};
        let vec3 = |a: MeshAttribute| self.vec3(places[a.index()]?, a);
        let vec4 = |a: MeshAttribute| self.vec4(places[a.index()]?, a);
        MeshView {
            positions: vec3(Positions).unwrap_or_default(),
            normals: vec3(Normals),
            tangents: vec4(Tangents),
            colors: vec4(Colors),
            ..MeshView::default()
        }
    }

    pub(crate) fn floats(&self, place: DataRef) -> Option<&'a [f32]> {
        match place {
            DataRef::Input(i) => {
                let given = self.given.and_then(|frame| frame.floats_of(i));
                given.or_else(|| self.values.get(i).map(Vec::as_slice))
            }
            _ => self.buffer(place)?.floats(),
        }
    }

    pub(crate) fn lines(&self, place: DataRef) -> Option<&'a [Line]> {
        self.buffer(place)?.lines()
    }

    /// The words of an array of any type.
    pub(crate) fn array_words(&self, place: DataRef) -> Option<&'a [u32]> {
        match place {
            DataRef::Input(_) => Some(cast_slice(self.floats(place)?)),
            _ => Some(cast_slice(self.buffer(place)?.array_bytes()?)),
        }
    }

    /// Of a field.
    pub(crate) fn words(&self, place: DataRef) -> Option<&'a [u32]> {
        self.buffer(place)?.words()
    }

    pub(crate) fn pose(&self, place: DataRef) -> Option<&'a Pose> {
        match place {
            DataRef::Input(i) => self.given?.pose_of(i),
            _ => self.buffer(place)?.pose(),
        }
    }
}
