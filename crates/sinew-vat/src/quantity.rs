//! What a texture holds of a mesh.

use serde::{Deserialize, Serialize};
use sinew_geom::{Attribute, Mesh};
use std::fmt;

/// The attribute that [`Quantity::Thickness`] is read from; bakes compute it.
pub const THICKNESS: &str = "sinew:thickness";

/// One property of the corners of a mesh.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Metres.
    Position,
    /// Metres from the first frame; only where triangles stay the same.
    Offset,
    /// Unit normals of the welded mesh, creases kept.
    Normal,
    /// Rotation of a piece from the first frame, a unit quaternion `x y z w`.
    Rotation,
    /// Width of a particle, metres; zero where there is none.
    Size,
    /// A set of texture coordinates, `v` down.
    Uv(u32),
    /// A set of colours, linear RGBA.
    Color(u32),
    /// Distance to the opposite side along the inner normal, metres; zero where there is none.
    Thickness,
    /// Where `u` of the first set of texture coordinates rises, a unit vector, and the hand of the bitangent (1 or -1), as in glTF.
    Tangent,
    /// Velocity, metres a second, from the attribute of that name.
    Velocity(String),
    /// Any other attribute.
    Attribute(String),
}

/// As on the command line: `uv0`, `velocity=NAME`.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Velocity(name) => write!(f, "velocity={name}"),
            Self::Attribute(name) => write!(f, "attribute={name}"),
            named => f.write_str(&named.file_name()),
        }
    }
}

impl Quantity {
    /// Numbers a vertex, or `None` where the mesh does not have it.
    pub fn channels(&self, mesh: &Mesh) -> Option<usize> {
        match self {
            Self::Position | Self::Offset | Self::Normal => Some(3),
            Self::Rotation => Some(4),
            Self::Size => Some(1),
            Self::Uv(set) => mesh.uvs.get(*set as usize).map(|_| 2),
            Self::Color(set) => mesh.colors.get(*set as usize).map(|_| 4),
            Self::Thickness => mesh.attributes.get(THICKNESS).map(|_| 1),
            Self::Tangent => mesh.tangents.as_ref().map(|_| 4),
            Self::Velocity(name) => match mesh.attributes.get(name)? {
                Attribute::Vec3(_) => Some(3),
                _ => None,
            },
            Self::Attribute(name) => Some(match mesh.attributes.get(name)? {
                Attribute::Scalar(_) => 1,
                Attribute::Vec2(_) => 2,
                Attribute::Vec3(_) => 3,
                Attribute::Vec4(_) => 4,
            }),
        }
    }

    /// Numbers a vertex where the kind alone says so; attributes have one to four.
    pub(crate) fn fixed_channels(&self) -> Option<usize> {
        match self {
            Self::Position | Self::Offset | Self::Normal | Self::Velocity(_) => Some(3),
            Self::Rotation | Self::Color(_) | Self::Tangent => Some(4),
            Self::Size | Self::Thickness => Some(1),
            Self::Uv(_) => Some(2),
            Self::Attribute(_) => None,
        }
    }

    /// Whether it tells where vertices are.
    pub fn is_position(&self) -> bool {
        matches!(self, Self::Position | Self::Offset)
    }

    /// What files of it are called.
    pub fn file_name(&self) -> String {
        let plain = |name: &str| {
            let letters = name.chars();
            letters
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
                .collect::<String>()
        };
        match self {
            Self::Position => "position".into(),
            Self::Offset => "offset".into(),
            Self::Normal => "normal".into(),
            Self::Rotation => "rotation".into(),
            Self::Size => "size".into(),
            Self::Uv(set) => format!("uv{set}"),
            Self::Color(set) => format!("color{set}"),
            Self::Thickness => "thickness".into(),
            Self::Tangent => "tangent".into(),
            Self::Velocity(name) => format!("velocity_{}", plain(name)),
            Self::Attribute(name) => format!("attribute_{}", plain(name)),
        }
    }

    /// Whether zero should come back as zero to the bit.
    pub(crate) fn zero_is_exact(&self) -> bool {
        !matches!(
            self,
            Self::Position | Self::Uv(_) | Self::Normal | Self::Rotation | Self::Tangent
        )
    }

    /// Number `channel` of vertex `v`; `None` where there is no such number. Normals are those of corners, offsets
    /// need the first frame, rotations are those of pieces, sizes those of particles: none of them is here.
    pub fn of_vertex(&self, mesh: &Mesh, v: usize, channel: usize) -> Option<f32> {
        match self {
            Self::Position => mesh.positions.get(v)?.get(channel).copied(),
            Self::Offset | Self::Normal | Self::Rotation | Self::Size => None,
            Self::Uv(set) => mesh.uvs.get(*set as usize)?.get(v)?.get(channel).copied(),
            Self::Color(set) => mesh
                .colors
                .get(*set as usize)?
                .get(v)?
                .get(channel)
                .copied(),
            Self::Thickness => mesh.attributes.get(THICKNESS)?.component(v, channel),
            Self::Tangent => mesh.tangents.as_ref()?.get(v)?.get(channel).copied(),
            Self::Velocity(name) | Self::Attribute(name) => {
                mesh.attributes.get(name)?.component(v, channel)
            }
        }
    }

    /// What stands where a triangle is absent: a direction must be one, all else is zero.
    pub fn where_absent(&self, channel: usize) -> f32 {
        match (self, channel) {
            (Self::Normal, 1) | (Self::Rotation, 3) | (Self::Tangent, 0 | 3) => 1.0,
            _ => 0.0,
        }
    }
}
