//! One frame of a bound driver.

use super::bind::PoseDriverBind;
use super::metric::{Coordinates, DriverValue};
use super::{reference, simd};

/// Working memory of one driver; made once, reused in each frame.
#[derive(Clone, Debug)]
pub struct PoseDriverScratch {
    queries: Vec<Coordinates>,
    influences: Vec<f64>,
    weights: Vec<f64>,
}

impl PoseDriverScratch {
    /// Scratch for `bind`. Allocates.
    pub fn new(bind: &PoseDriverBind) -> Self {
        let padded = bind.pose_count.next_multiple_of(simd::LANES);
        Self {
            queries: vec![[0.0; 4]; bind.joint_count],
            influences: vec![0.0; padded],
            weights: vec![0.0; padded],
        }
    }
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        size_of_val(self.queries.as_slice()) + 2 * size_of_val(self.weights.as_slice())
    }
}

/// The weights of one frame.
///
/// # Cost
/// O(n^2) for n poses of an interpolative driver, O(n) for an additive one. It does not allocate.
#[derive(Debug)]
pub struct PoseDriverJob<'a> {
    /// From setup.
    pub bind: &'a PoseDriverBind,
    /// One per driver joint, in the space of the poses.
    pub values: &'a [DriverValue],
    /// From [`PoseDriverScratch::new`] of the same bind.
    pub scratch: &'a mut PoseDriverScratch,
    /// Output: one weight per pose.
    pub weights: &'a mut [f32],
}

impl PoseDriverJob<'_> {
    /// Runs the job. If lengths do not fit the bind, nothing is written. If a value is not finite, all weights are 0.
    pub fn run(self) {
        let Self {
            bind,
            values,
            scratch,
            weights,
        } = self;
        let padded = bind.pose_count.next_multiple_of(simd::LANES);
        let PoseDriverScratch {
            queries,
            influences,
            weights: solved,
        } = scratch;
        let fits = values.len() == bind.joint_count
            && queries.len() == bind.joint_count
            && weights.len() == bind.pose_count
            && solved.len() == padded
            && influences.len() == padded;
        if !fits {
            return;
        }
        if !values.iter().all(DriverValue::is_finite) {
            weights.fill(0.0);
            return;
        }
        if let (Some(packed), [channel]) = (&bind.packed, bind.channels.as_slice()) {
            for (query, value) in queries.iter_mut().zip(values) {
                *query = channel.metric.coordinates(value, &bind.axis);
            }
            dispatch!(simd => simd::solved(simd, packed, queries, influences, solved));
            if packed.plain_finish {
                dispatch!(simd => simd::finish(simd, bind, solved));
            } else {
                reference::finish(bind, values, &mut solved[..bind.pose_count]);
            }
        } else {
            let count = bind.pose_count;
            let influences = &mut influences[..count];
            reference::weights(bind, values, influences, &mut solved[..count]);
        }
        for (out, w) in weights.iter_mut().zip(solved) {
            *out = *w as f32;
        }
    }
}
