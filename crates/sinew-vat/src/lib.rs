//! Vertex animation textures: a mesh sequence as textures with one texel per corner and one row per frame, and a mesh of separate
//! triangles that carries them.
//!
//! ```text
//! frames -> prepare -> match -> scan -> plan -> encode -> textures + carrier
//!                                                   └---> decode -> compare with the frames
//! ```
//!
//! The crate opens no files. Frames are [`sinew_geom::Mesh`]es, textures are texels.

#![forbid(unsafe_code)]

pub mod animation;
pub mod carrier;
#[cfg(feature = "bake")]
pub mod derive;
pub mod ends;
pub mod error;
pub mod floating;
mod groups;
pub mod layout;
pub mod manifest;
pub mod matching;
pub mod middles;
pub mod normals;
pub mod particles;
pub mod particles_by_motion;
pub mod plan;
pub mod playback;
pub mod played;
pub mod players;
pub mod points;
#[cfg(feature = "bake")]
pub mod prepare;
pub mod quantity;
pub mod recut;
pub mod remesh;
#[cfg(feature = "bake")]
pub mod rigid;
#[cfg(feature = "bake")]
pub mod rigid_turns;
pub mod soft;
pub mod space;
pub mod sprites;
pub mod tearing;
pub mod texel;
pub mod texture;

#[cfg(test)]
mod test_shapes;
