//! Simulation of strands as TressFX 4.1 does it, for hair that was tuned with it.
#![doc = include_str!("README.md")]

mod device;
mod job;
mod node;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use job::{TressFxJob, TressFxSettings};
pub use node::DESC;
pub(crate) use state::TressFxState;
