//! A bound driver looked at from outside, in double precision: for reports, plots and fitting, not for frames.

use super::bind::PoseDriverBind;
use super::metric::{Coordinates, DriverValue};
use super::{reference, simd};
use sinew_geom::nalgebra::DMatrix;

impl PoseDriverBind {
    /// Distance of `values` (one a driver joint) from each pose, each in the pose's metric and its unit. Empty where the number of
    /// values is not that of the joints. `O(n)`.
    pub fn distances(&self, values: &[DriverValue]) -> Vec<f64> {
        if values.len() != self.joint_count {
            return Vec::new();
        }
        let poses = 0..self.pose_count;
        poses
            .map(|pose| reference::distance_to_pose(self, values, pose))
            .collect()
    }

    /// Influence of each pose at `values`: its radial function at its distance. Empty where the number of values does not fit. `O(n)`.
    pub fn influences(&self, values: &[DriverValue]) -> Vec<f64> {
        if values.len() != self.joint_count {
            return Vec::new();
        }
        let mut out = vec![0.0; self.pose_count];
        reference::influences(self, values, &mut out);
        out
    }

    /// Weights as they come out of the system, before limits, curves, sum and threshold; of additive solvers the influences.
    /// Empty where the number of values does not fit. `O(n²)`.
    pub fn unlimited_weights(&self, values: &[DriverValue]) -> Vec<f64> {
        let influences = self.influences(values);
        let mut out = vec![0.0; influences.len()];
        if !out.is_empty() {
            reference::solved(self, &influences, &mut out);
        }
        out
    }

    /// [`Self::unlimited_weights`] of many queries, query after query, with the influences as [`super::PoseDriverJob`] computes them. Empty
    /// where a query does not fit. `O(n²)` a query, as one product of matrices.
    pub fn unlimited_weights_of_many(&self, queries: &[Vec<DriverValue>]) -> Vec<f64> {
        if queries.iter().any(|q| q.len() != self.joint_count) {
            return Vec::new();
        }
        let count = self.pose_count;
        let padded = count.next_multiple_of(simd::LANES);
        let mut influences = DMatrix::zeros(padded, queries.len());
        let columns = influences.as_mut_slice().chunks_exact_mut(padded.max(1));
        for (query, out) in queries.iter().zip(columns) {
            if let (Some(packed), [channel]) = (&self.packed, self.channels.as_slice()) {
                let at = query
                    .iter()
                    .map(|v| channel.metric.coordinates(v, &self.axis));
                let at: Vec<Coordinates> = at.collect();
                dispatch!(simd => simd::influences(simd, packed, &at, out));
            } else {
                reference::influences(self, query, &mut out[..count]);
            }
        }
        let influences = influences.rows(0, count);
        let weights = match &self.system {
            Some(system) => &system.coefficients * influences,
            None => influences.into_owned(),
        };
        weights.data.into()
    }

    /// The weights that [`super::PoseDriverJob`] gives, in double precision. Empty where the number of values does not fit. `O(n²)`.
    pub fn weights(&self, values: &[DriverValue]) -> Vec<f64> {
        let mut out = self.unlimited_weights(values);
        if !out.is_empty() {
            reference::finish(self, values, &mut out);
        }
        out
    }

    /// What the influence of pose `influence` adds to the weight of pose `weight`: an element of the inverse kernel matrix. `None` for
    /// additive solvers and for poses that there are not.
    pub fn coefficient(&self, weight: usize, influence: usize) -> Option<f64> {
        let system = self.system.as_ref()?;
        system.coefficients.get((weight, influence)).copied()
    }
}
