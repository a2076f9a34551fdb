//! Animation: keyframed node properties, sampled as glTF 2.0 specifies.
//!
//! Keys are stored in single precision, as in files; interpolation runs in double precision. Source: Khronos, *glTF 2.0 Specification*,
//! appendix C (interpolation modes).

use crate::{Quat, Trs, Vec3};
use nalgebra::Quaternion;

/// How to interpolate between two keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Holds the value of the earlier key.
    Step,
    /// Linear interpolation; shortest arc for rotations.
    Linear,
    /// Hermite spline; each key stores in-tangent, value, out-tangent, each with all its components. Tangents are per second.
    CubicSpline,
}

/// Property that a channel animates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelTarget {
    /// Metres, in the space of the parent; 3 numbers per key.
    Translation,
    /// Rotation as a quaternion x y z w, 4 numbers per key.
    Rotation,
    /// Factors per axis; 3 numbers per key.
    Scale,
    /// Morph weights, one number per target and key.
    Weights,
}

/// Why a [`Channel`] was refused.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum ClipError {
    /// No keys.
    #[error("the channel has no keys")]
    Empty,
    /// A key time is not later than the time before it.
    #[error("key {key} is at {time} s, which does not follow {previous} s")]
    TimesNotIncreasing {
        /// Index of the key.
        key: usize,
        /// Time of the key.
        time: f32,
        /// Time of the key before it.
        previous: f32,
    },
    /// The number of values does not fit the number of keys.
    #[error(
        "found {found} numbers, expected {expected} ({keys} keys x {width} numbers x {groups})"
    )]
    ValueCount {
        /// Number of values.
        found: usize,
        /// Expected number.
        expected: usize,
        /// Number of keys.
        keys: usize,
        /// Numbers per key.
        width: usize,
        /// 3 for cubic splines, otherwise 1.
        groups: usize,
    },
    /// A translation or scale has 3 numbers per key, a rotation 4.
    #[error("found {found} numbers per key, expected {expected} for a {target:?}")]
    Width {
        /// What is animated.
        target: ChannelTarget,
        /// Numbers per key.
        found: usize,
        /// Expected number.
        expected: usize,
    },
    /// A time or value is NaN or infinite.
    #[error("number {index} of the {what} is not finite")]
    NotFinite {
        /// "times" or "values".
        what: &'static str,
        /// Its index.
        index: usize,
    },
}

/// One animated property of one node.
///
/// Before the first key and after the last key, it holds the value of that key. Times are compared in `f32`. NaN samples the first key.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Index into [`crate::Rig::nodes`].
    pub node: usize,
    /// Animated property.
    pub target: ChannelTarget,
    interpolation: Interpolation,
    times: Vec<f32>,
    values: Vec<f32>,
    width: usize,
}

impl Channel {
    /// Creates a channel. `width` is the count of numbers per key: 3, 4, or the number of morph targets.
    /// `times` are in seconds and strictly increasing; they may be negative. `values` has `times.len() * width` numbers, three times as
    /// many for [`Interpolation::CubicSpline`].
    ///
    /// `width` is not compared with `target`: a width other than 3 or 4 gives wrong values or a panic in [`Self::sample_trs`].
    ///
    /// # Errors
    /// [`ClipError`] names the first key or count that is wrong.
    pub fn new(
        node: usize,
        target: ChannelTarget,
        interpolation: Interpolation,
        times: Vec<f32>,
        values: Vec<f32>,
        width: usize,
    ) -> Result<Self, ClipError> {
        let groups = if interpolation == Interpolation::CubicSpline {
            3
        } else {
            1
        };
        if times.is_empty() {
            return Err(ClipError::Empty);
        }
        let fixed = match target {
            ChannelTarget::Translation | ChannelTarget::Scale => Some(3),
            ChannelTarget::Rotation => Some(4),
            ChannelTarget::Weights => None,
        };
        if let Some(expected) = fixed.filter(|fixed| *fixed != width) {
            return Err(ClipError::Width {
                target,
                found: width,
                expected,
            });
        }
        let expected = times.len().saturating_mul(width).saturating_mul(groups);
        if values.len() != expected {
            return Err(ClipError::ValueCount {
                found: values.len(),
                expected,
                keys: times.len(),
                width,
                groups,
            });
        }
        for (what, numbers) in [("times", &times), ("values", &values)] {
            if let Some(index) = numbers.iter().position(|v| !v.is_finite()) {
                return Err(ClipError::NotFinite { what, index });
            }
        }
        if let Some(k) = times.windows(2).position(|w| w[1] <= w[0]) {
            return Err(ClipError::TimesNotIncreasing {
                key: k + 1,
                time: times[k + 1],
                previous: times[k],
            });
        }
        Ok(Self {
            node,
            target,
            interpolation,
            times,
            values,
            width,
        })
    }

    /// First and last key time in seconds.
    pub(crate) fn range(&self) -> (f32, f32) {
        (self.times[0], self.times[self.times.len() - 1])
    }
    /// Number of keys.
    pub fn key_count(&self) -> usize {
        self.times.len()
    }
    /// Interpolation between keys.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }
    /// Key times in seconds, increasing.
    pub fn times(&self) -> &[f32] {
        &self.times
    }
    /// Values, key by key; for cubic splines each key has in-tangent, value, out-tangent.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Index of the key at or before `time`, and how far (0..1) towards the next one; clamped at both ends.
    fn locate(&self, time: f64) -> (usize, f64, f64) {
        let last = self.times.len() - 1;
        // Times of keys are rounded to single precision, and may lie behind the frame that they were written for.
        let next = self.times.partition_point(|&t| t <= time as f32);
        if next == 0 {
            return (0, 0.0, 0.0);
        }
        if next > last {
            return (last, 0.0, 0.0);
        }
        let (a, b) = (f64::from(self.times[next - 1]), f64::from(self.times[next]));
        (next - 1, ((time - a) / (b - a)).max(0.0), b - a)
    }

    fn component(&self, time: f64, c: usize) -> f64 {
        let (k, s, dt) = self.locate(time);
        let at = |key: usize, group: usize| -> f64 {
            let groups = if self.interpolation == Interpolation::CubicSpline {
                3
            } else {
                1
            };
            f64::from(self.values[(key * groups + group) * self.width + c])
        };
        match self.interpolation {
            Interpolation::Step => at(k, 0),
            Interpolation::Linear if s == 0.0 => at(k, 0),
            Interpolation::Linear => at(k, 0) * (1.0 - s) + at(k + 1, 0) * s,
            Interpolation::CubicSpline if s == 0.0 => at(k, 1),
            Interpolation::CubicSpline => {
                let (s2, s3) = (s * s, s * s * s);
                (2.0 * s3 - 3.0 * s2 + 1.0) * at(k, 1)
                    + dt * (s3 - 2.0 * s2 + s) * at(k, 2)
                    + (3.0 * s2 - 2.0 * s3) * at(k + 1, 1)
                    + dt * (s3 - s2) * at(k + 1, 0)
            }
        }
    }

    /// Writes the property of this channel at `time_secs` into `trs`. A channel of morph weights changes nothing.
    ///
    /// Rotations take the shorter arc at constant speed (linear), or are normalized after interpolation (cubic spline). A quaternion
    /// shorter than 1e-12 gives the identity. Does not allocate.
    pub fn sample_trs(&self, time_secs: f64, trs: &mut Trs) {
        let vec3 = || Vec3::from_fn(|c, _| self.component(time_secs, c));
        match self.target {
            ChannelTarget::Translation => trs.translation = vec3(),
            ChannelTarget::Scale => trs.scale = vec3(),
            ChannelTarget::Rotation => trs.rotation = self.sample_rotation(time_secs),
            ChannelTarget::Weights => {}
        }
    }

    fn sample_rotation(&self, time: f64) -> Quat<f64> {
        let key = |k: usize| {
            let v = &self.values[k * 4..k * 4 + 4];
            Quaternion::new(v[3], v[0], v[1], v[2]).cast::<f64>()
        };
        let (k, s, _) = self.locate(time);
        let q = match self.interpolation {
            Interpolation::Linear if s > 0.0 => slerp(key(k), key(k + 1), s),
            Interpolation::Linear | Interpolation::Step => key(k),
            Interpolation::CubicSpline => {
                let c = |c| self.component(time, c);
                Quaternion::new(c(3), c(0), c(1), c(2))
            }
        };
        Quat::try_new(q, 1e-12).unwrap_or_else(Quat::identity)
    }

    /// Writes the morph weights at `time_secs`. A longer slice keeps its other entries; a shorter one gets the first weights. Does not
    /// allocate.
    pub fn sample_weights(&self, time_secs: f64, weights: &mut [f32]) {
        for (c, w) in weights.iter_mut().enumerate().take(self.width) {
            {
                *w = self.component(time_secs, c) as f32;
            }
        }
    }
}

fn slerp(a: Quaternion<f64>, b: Quaternion<f64>, s: f64) -> Quaternion<f64> {
    let (a, b) = (a.normalize(), b.normalize());
    let dot = a.dot(&b);
    let b = if dot < 0.0 { -b } else { b };
    let angle = dot.abs().min(1.0).acos();
    if angle < 1e-6 {
        return a * (1.0 - s) + b * s;
    }
    (a * ((1.0 - s) * angle).sin() + b * (s * angle).sin()) / angle.sin()
}

/// A named set of channels.
/// Channels keep their order, which matters if two animate the same property: see [`crate::Rig::evaluate`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clip {
    /// Name in the file.
    pub name: String,
    channels: Vec<Channel>,
}

impl Clip {
    /// Creates a clip from channels that play together.
    pub fn new(name: impl Into<String>, channels: Vec<Channel>) -> Self {
        Self {
            name: name.into(),
            channels,
        }
    }
    /// The channels.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }
    /// First and last key time over all channels, seconds; `(0, 0)` without channels.
    pub fn range(&self) -> (f32, f32) {
        self.channels
            .iter()
            .map(Channel::range)
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
            .unwrap_or((0.0, 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(interpolation: Interpolation, values: Vec<f32>) -> Channel {
        Channel::new(
            0,
            ChannelTarget::Translation,
            interpolation,
            vec![1.0, 2.0],
            values,
            3,
        )
        .expect("valid")
    }

    fn x_at(c: &Channel, t: f64) -> f64 {
        let mut trs = Trs::default();
        c.sample_trs(t, &mut trs);
        trs.translation.x
    }

    #[test]
    fn step_linear_and_clamping() {
        let v = vec![0.0, 0.0, 0.0, 10.0, 0.0, 0.0];
        let (step, linear) = (
            channel(Interpolation::Step, v.clone()),
            channel(Interpolation::Linear, v),
        );
        assert_eq!((x_at(&step, 1.75), x_at(&step, 2.0)), (0.0, 10.0));
        assert_eq!(
            (x_at(&linear, 1.75), x_at(&linear, 0.0), x_at(&linear, 9.0)),
            (7.5, 0.0, 10.0)
        );
    }

    /// Files keep `n / fps` in single precision: rounded up, the key lies behind its own frame.
    #[test]
    fn each_frame_shows_the_key_that_was_written_for_it() {
        for fps in [24.0_f64, 29.97, 30.0, 60.0] {
            for interpolation in [Interpolation::Step, Interpolation::Linear] {
                let times = (0..600).map(|n| (f64::from(n) / fps) as f32).collect();
                let values = (0..600).flat_map(|n| [n as f32, 0.0, 0.0]).collect();
                let c = Channel::new(
                    0,
                    ChannelTarget::Translation,
                    interpolation,
                    times,
                    values,
                    3,
                );
                let c = c.expect("valid");
                for n in 0..600 {
                    let found = x_at(&c, f64::from(n) / fps);
                    assert!((found - f64::from(n)).abs() < 1e-4, "{n} at {fps}: {found}");
                    if interpolation == Interpolation::Step {
                        assert_eq!(found, f64::from(n), "{n} at {fps}");
                    }
                }
            }
        }
    }

    #[test]
    fn cubic_spline_reproduces_a_cubic() {
        // p(s) = s^3 on [1, 2]: p' = 3 s^2, so tangents 0 and 3.
        let mut v = vec![0.0; 18];
        v[9 + 3] = 1.0;
        v[9] = 3.0;
        let c = channel(Interpolation::CubicSpline, v);
        for s in [0.1, 0.5, 0.9] {
            assert!((x_at(&c, 1.0 + s) - s * s * s).abs() < 1e-6, "s = {s}");
        }
    }

    #[test]
    fn rotation_takes_the_short_arc() {
        let half = std::f32::consts::FRAC_1_SQRT_2;
        let c = Channel::new(
            0,
            ChannelTarget::Rotation,
            Interpolation::Linear,
            vec![0.0, 1.0],
            vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -half, -half],
            4,
        )
        .expect("valid");
        let mut trs = Trs::default();
        c.sample_trs(0.5, &mut trs);
        assert!(
            (trs.rotation.angle() - std::f64::consts::FRAC_PI_4).abs() < 1e-6,
            "45 degrees"
        );
    }

    /// A rotation of three numbers would be read past its keys.
    #[test]
    fn numbers_per_key_fit_what_is_animated() {
        for (target, expected) in [
            (ChannelTarget::Translation, 3),
            (ChannelTarget::Scale, 3),
            (ChannelTarget::Rotation, 4),
        ] {
            for width in [0, 1, 3, 4, 5, usize::MAX] {
                let values = vec![0.5; width.min(8)];
                let made = Channel::new(0, target, Interpolation::Step, vec![0.0], values, width);
                let is_refused = made
                    == Err(ClipError::Width {
                        target,
                        found: width,
                        expected,
                    });
                assert_eq!(is_refused, width != expected, "{target:?} {width}");
            }
        }
    }

    #[test]
    fn unsorted_times_are_refused() {
        let e = Channel::new(
            0,
            ChannelTarget::Scale,
            Interpolation::Step,
            vec![0.0, 1.0, 0.5],
            vec![0.0; 9],
            3,
        )
        .expect_err("unsorted");
        assert_eq!(
            e.to_string(),
            "key 2 is at 0.5 s, which does not follow 1 s"
        );
    }
}
