//! Strands and solids: keeps hair out of anything that knows its signed distance.
#![doc = include_str!("README.md")]
//!
//! # In Rust
//!
//! A solid is anything that implements [`Distance`]; [`Capsule`] and [`Plane`] are exact. A [`Collider`] is a solid with its rigid
//! motion during the frame. A [`Contact`] names a collider, with a margin and a friction of its own. A hair may have any number of
//! contacts. [`CollideJob`] does one frame.
//!
mod chunks;
mod device;
mod field;
mod job;
mod motion;
mod node;
mod placed;
pub(crate) mod ports;
mod response;
mod shape;
#[cfg(test)]
pub(crate) mod test_shapes;
#[cfg(test)]
mod tests;

pub(crate) use chunks::{PerChunk, PerStrand};
pub(crate) use device::{PLACEMENT, fields_text, linked_ports};
pub use field::FieldCollider;
pub(crate) use job::CHUNK;
pub use job::{CollideJob, CollideScratch, CollideSettings};
pub(crate) use motion::turn;
pub use motion::{Rigid, RigidMotion};
pub use node::DESC;
pub use placed::{Collider, Contact};
pub(crate) use placed::{Placed, Placement, Solids, unit_or};
pub(crate) use ports::MAX_COLLIDERS;
pub(crate) use response::CHOICES as GRADIENTS;
#[cfg(test)]
pub(crate) use response::tressfx_gradient;
pub(crate) use response::{GradientMode, tressfx_response};
pub use shape::{Capsule, Distance, Plane};
