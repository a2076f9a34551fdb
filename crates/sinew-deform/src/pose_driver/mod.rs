//! Node `pose_driver`: weights of poses from joints' rotations (radial basis functions).

mod bind;
mod definition;
mod job;
mod metric;
mod radial;
mod recipe;
mod reference;
mod simd;
mod solve;
#[cfg(test)]
mod tests;

pub use bind::{PoseDriverBind, PoseDriverError};
pub use definition::{Clamp, DriverPose, Normalize, PoseDriver, Rules, Solver, Width};
pub use job::{PoseDriverJob, PoseDriverScratch};
pub use metric::{DriverValue, Metric, RotationOrder, SwingTwist};
pub use radial::{Curve, CurveError, RadialKernel};
