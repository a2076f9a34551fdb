//! Direct delta mush: delta mush at the price of skinning (Le and Lewis 2019).

mod moments;

pub use moments::{Moments, PairMoments};
