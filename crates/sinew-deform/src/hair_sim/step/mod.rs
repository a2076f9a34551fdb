//! One step of strands.

mod contact;
mod joint;
mod local;
mod look;
mod math;
mod number;
mod solve;
mod strand;
mod vertex;

pub(crate) use look::{Solid, UNKNOWN};
pub(crate) use math::{Motion, V};
pub(crate) use number::Number;
pub(crate) use strand::{Laws, Step};
pub(crate) use vertex::Vertex;
