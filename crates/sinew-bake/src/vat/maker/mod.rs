//! What makes vertex animation textures, as arrays: frames in, texels and carriers out.
//!
//! ```text
//! frames -> prepare -> match -> scan -> plan -> encode -> texels + carrier
//! ```
//!
//! Nothing here opens files or knows of records and chunks; the steps beside this folder do.

pub(crate) mod carrier;
pub(crate) mod derive;
pub(crate) mod ends;
pub(crate) mod error;
pub(crate) mod floating;
mod groups;
pub(crate) mod matching;
pub(crate) mod middles;
pub(crate) mod normals;
pub(crate) mod particles;
pub(crate) mod particles_by_motion;
pub(crate) mod plan;
pub(crate) mod points;
pub(crate) mod prepare;
pub(crate) mod remesh;
pub(crate) mod retriangulated;
pub(crate) mod rigid;
pub(crate) mod rigid_turns;
#[cfg(test)]
mod sequences_tests;
pub(crate) mod soft;
pub(crate) mod sprites;
pub(crate) mod tearing;
