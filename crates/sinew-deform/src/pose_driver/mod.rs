//! Node `pose_driver`: one weight for each pose from the rotations or positions of joints (radial basis functions).
//!
//! Lewis, Cordner and Fong, *Pose Space Deformation*, SIGGRAPH 2000, with one weight per pose instead of one shape. A [`PoseDriver`] is the
//! definition; [`PoseDriverBind`] is the solved form. `recipe.rs` turns the rules of other systems into steps that are the same for all.
//! Everything is in double precision, because interpolation multiplies rounding by the condition number of the system.

mod bind;
mod definition;
mod desc;
mod inspect;
mod job;
mod joints;
mod metric;
mod node;
mod radial;
mod recipe;
mod reference;
mod settings;
mod simd;
mod solve;
#[cfg(test)]
mod tests;
mod words;

pub use bind::{PoseDriverBind, PoseDriverError};
pub use definition::{Clamp, DriverPose, Normalize, PoseDriver, Rules, Solver, Width};
pub use desc::DESC;
pub use job::{PoseDriverJob, PoseDriverScratch};
pub use metric::{DriverValue, Metric};
pub use radial::CurveError;
pub use radial::{Curve, RadialKernel};
pub use settings::PoseDriverSettings;

// What nodes that compare poses in other ways take over.
pub(crate) use bind::{SAME, check, check_different, coordinates, distances};
pub(crate) use desc::{
    AXIS, JOINTS, KERNELS, METRIC, ORDER, ORDERS, REFERENCE, REGULARIZATION, SPACE,
    SWING_TOLERANCE, choice,
};
pub(crate) use joints::{Joints, Space, pose_values, rest_of};
pub(crate) use metric::{Coordinates, SwingTwist};
pub(crate) use node::{driver_joints, find_node};
pub(crate) use radial::{Family, Radial};
pub(crate) use words::order;
