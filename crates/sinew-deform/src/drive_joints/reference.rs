//! The blend of one joint. Double precision, as poses are.

use super::bind::{DrivenJoint, Turns};
use sinew_geom::nalgebra::{Quaternion, Vector4};
use sinew_geom::{Quat, Trs, Vec3};

/// Sums of quaternions that are shorter say no direction.
const SHORTEST_SUM: f64 = 1e-9;

impl DrivenJoint {
    /// `neutral + Σ w (pose - neutral)`, channel by channel.
    pub(super) fn blend(&self, weights: &[f32]) -> Trs {
        let sum = |deltas: &[Vec3<f64>]| weighted(deltas.iter().copied(), weights, Vec3::zeros());
        Trs {
            translation: self.neutral.translation + sum(&self.translations),
            rotation: self.rotation(weights),
            scale: self.neutral.scale + sum(&self.scales),
        }
    }

    fn rotation(&self, weights: &[f32]) -> Quat<f64> {
        let neutral = self.neutral.rotation;
        match &self.turns {
            Turns::Log(turns) => {
                let turn = weighted(turns.iter().copied(), weights, Vec3::zeros());
                neutral * Quat::from_scaled_axis(turn)
            }
            Turns::Nlerp(quaternions) => {
                let given: f64 = weights.iter().map(|&w| f64::from(w)).sum();
                let start = neutral.coords * (1.0 - given);
                let sum: Vector4<f64> = weighted(quaternions.iter().copied(), weights, start);
                Quat::try_new(Quaternion::from(sum), SHORTEST_SUM).unwrap_or(neutral)
            }
        }
    }
}

fn weighted<T>(values: impl Iterator<Item = T>, weights: &[f32], start: T) -> T
where
    T: std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
{
    let terms = values.zip(weights);
    terms.fold(start, |sum, (v, &w)| sum + v * f64::from(w))
}
