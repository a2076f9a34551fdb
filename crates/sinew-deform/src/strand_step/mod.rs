//! One step of strands, of which every part is one energy: inertia, drag, bends, contact with friction.

mod contact;
mod device;
mod joint;
mod lead;
mod local;
mod look;
mod math;
mod number;
mod place;
mod solid;
mod solve;
mod strand;
mod vertex;

pub(crate) use device::{GROUP, Teams};
pub(crate) use look::UNKNOWN;
pub(crate) use math::{Motion, V};
pub(crate) use number::{Lanes, Number};
pub(crate) use place::{PLACING, Placing, WIDTH, place_strands};
pub(crate) use solid::{Places, Solid, base_of, seen, set_motion};
pub(crate) use strand::{Laws, Step};
pub(crate) use vertex::{Vertex, VertexOfEight};

/// Squared ratio of a cantilever's first angular frequency to `sqrt(EI / (mass per length * L^4))`: 1.8751^4.
pub(crate) const CANTILEVER: f64 = 12.362_363;
