//! Small least-squares fits on plain numbers, shared by the setup of deformers and by bakes.
//!
//! [`Quadratic`] minimises a convex quadratic over weights that are not negative and sum to one, as skinning weights are. You can
//! limit how many weights are above zero.

mod simplex;

pub use simplex::Quadratic;
