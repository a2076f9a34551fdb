//! One step of strands, of which every part is one energy.
//!
//! The page of `hair_sim` has the energies. Here is how a step goes: [`Step::run`] begins where the last step left the strand, moved with
//! the root; each iteration looks where solids are (`look.rs`), takes a step of Newton's method for the whole strand (`solve.rs`) and
//! shortens it until the energy falls; in the end velocities follow. A force is an energy with its gradient and a positive definite
//! matrix (`local.rs`, `contact.rs`, `joint.rs`): to change one, change its lines in `at_vertex` of `strand.rs` and in
//! `device/energy.wgsl`.
//!
//! Strands that other nodes move have no inertia: they are led around solids (`place.rs`, `lead.rs`).
//!
//! # Against the step before
//!
//! That one moved vertices, pushed them out, gave segments their lengths, and turned segments out in a last pass, with special rules for
//! rest. `tools/hair_scenes.py`, eight to 400 strands a scene, five still seconds after the motion. In the scenes that turn by 180 degrees,
//! solids kicked the hair in the last frame before, a fault of theirs that is mended now:
//!
//! | scene | before | this one |
//! |---|---|---|
//! | pendulum let go at 10 and 80 degrees, energy left after 5 s | 0.19, 0.10 | 0.19, 0.09 |
//! | the same, largest rise of the energy in a step | 4 %, 1.7 % | 0, 0 |
//! | led into a ball by 30 and 60 degrees, fastest vertex | 4.2, 9.0 m/s | 0.07, 0.06 mm/s |
//! | head that turns by 180 degrees | 8 mm/s, 22 of 24 strands above 1 mm/s | 0.16 mm/s, none |
//! | pocket | 9 mm/s, 8 of 24 | 0.8 mm/s, none |
//! | spike, as a solid and as a grid | 3.8, 3.9 mm/s; outside | 18 mm/s (2 of 24), 1.6 mm deep; 0.05 mm/s, outside |
//! | 8 to 64 vertices, straight | 4 to 11 mm/s | 0.08 mm/s |
//! | 8 to 64 vertices, tight curls | up to 290 mm/s | 0.06 mm/s |
//! | 128 and 256 vertices | up to 150 mm/s | straight 0.08 mm/s; of curls one in eight up to 7 mm/s |
//! | head with hair all over: fastest and deepest vertex | 6 m/s, 20 mm | 3 cm/s, 2.5 mm: 12 of 400 strands above 1 mm/s, rooted in the closed mouth |
//! | mohawk, margin 0 and 2 mm, deepest vertex | 0.43, 0.003 mm | 0, 0 |
//! | stretch of a segment | 5e-7 to 2e-5; 2e-3 on the mohawk | 7e-7 to 9e-5; 2e-3 on the mohawk |
//! | tips at 60 Hz and 120 Hz, mohawk, mean apart in motion | 3.6 mm | 0.4 mm |
//! | tips at 60 Hz and 120 Hz, turn and head, mean apart in motion | 4.8, 5.4 mm | 1.8, 0.4 mm |
//! | a step of a strand of 16 vertices in contact, CPU | 1 | 0.3 (deep) to 2 (lying) |
//! | 82,000 strands, eight steps, H200 | 8.0 ms | 4.6 ms; 1.5 ms for the four of `game` |
//!
//! Limp hair that leaves a solid may rise: by up to 36 mm times its weight in the worst scene (before: 5.8 m).

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
