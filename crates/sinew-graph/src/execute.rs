//! What both phases of the CPU executor share: the data of a frame, memory, one step. Setup (`bind`) and update (`instance`) build on it.

mod frame;
mod memory;
mod run;

pub use frame::{Frame, UpdateError};
pub(crate) use frame::{Wanted, check as check_frame, wanted};
pub(crate) use memory::{Buffer, Sources};
pub(crate) use run::{Moment, StepState, Surroundings, input_value, run_step};
