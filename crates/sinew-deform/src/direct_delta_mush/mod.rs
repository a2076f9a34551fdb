//! Direct delta mush: delta mush at the price of skinning (Le and Lewis 2019).

mod filter;
mod moments;
mod setup;
#[cfg(test)]
mod setup_tests;

pub use moments::{Moments, PairMoments};
pub use setup::{DirectDeltaMushError, SmoothingSettings, moments};
