//! Small fits of least squares, on numbers alone: what setup of deformers and bakes share.
//!
//! [`Quadratic`] finds weights that are not negative and sum to one, as skinning weights are, with as many of them above zero as may
//! be.

mod simplex;

pub use simplex::Quadratic;
