//! A bound driver looked at from outside, in double precision: for reports, plots and fitting, not for frames.

use super::bind::PoseDriverBind;
use super::metric::DriverValue;
use super::reference;

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
