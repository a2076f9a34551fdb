//! Parameter values that change over time.

use sinew_deform::ParameterValue;
use sinew_geom::nalgebra::Rotation3;
use sinew_geom::{Affine, Mat3, Quat, nearest_rotation};

/// How to interpolate between two keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyInterpolation {
    /// Holds the value of the earlier key.
    Step,
    /// Linear interpolation.
    #[default]
    Linear,
    /// Smoothstep with zero slope at each key (3s^2 - 2s^3).
    Smooth,
}

/// Keyframes of a value. Times before the first key and after the last key are clamped.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Keyed {
    /// Times in seconds, strictly increasing, at least one.
    pub times: Vec<f64>,
    /// One value per key, all of the same type.
    pub values: Vec<ParameterValue>,
    /// Interpolation between keys.
    pub interpolation: KeyInterpolation,
}

impl Keyed {
    /// Writes the value at `time_secs` into `out`. Does not allocate if `out` already held a value of this size.
    pub fn sample(&self, time_secs: f64, out: &mut ParameterValue) {
        let next = self.times.partition_point(|&t| t <= time_secs);
        if next == 0 {
            return assign(out, &self.values[0]);
        }
        let a = next - 1;
        if next == self.times.len() || self.interpolation == KeyInterpolation::Step {
            return assign(out, &self.values[a]);
        }
        let s = (time_secs - self.times[a]) / (self.times[next] - self.times[a]);
        let s = if self.interpolation == KeyInterpolation::Smooth {
            s * s * (3.0 - 2.0 * s)
        } else {
            s
        };
        mix(&self.values[a], &self.values[next], s, out);
    }
}

/// `out = value`, reusing the memory of `out`.
pub(crate) fn assign(out: &mut ParameterValue, value: &ParameterValue) {
    use ParameterValue as V;
    match (&mut *out, value) {
        (V::Floats(o), V::Floats(v)) => o.clone_from(v),
        (V::Points(o), V::Points(v)) => o.clone_from(v),
        (V::Text(o), V::Text(v)) => o.clone_from(v),
        (V::Texts(o), V::Texts(v)) => o.clone_from(v),
        _ => *out = value.clone(),
    }
}

fn mix(a: &ParameterValue, b: &ParameterValue, s: f64, out: &mut ParameterValue) {
    use ParameterValue as V;
    let lerp = |a: f64, b: f64| a + (b - a) * s;
    match (a, b) {
        (V::Float(a), V::Float(b)) => *out = V::Float(lerp(*a, *b)),
        (V::Vec3(a), V::Vec3(b)) => *out = V::Vec3(std::array::from_fn(|c| lerp(a[c], b[c]))),
        (V::Vec4(a), V::Vec4(b)) => *out = V::Vec4(std::array::from_fn(|c| lerp(a[c], b[c]))),
        (V::Transform(a), V::Transform(b)) => *out = V::Transform(mix_transforms(a, b, s)),
        (V::Points(pa), V::Points(pb)) if pa.len() == pb.len() => {
            assign(out, a);
            if let V::Points(o) = out {
                for ((o, a), b) in o.iter_mut().zip(pa).zip(pb) {
                    *o = std::array::from_fn(|c| lerp(a[c], b[c]));
                }
            }
        }
        (V::Floats(fa), V::Floats(fb)) if fa.len() == fb.len() => {
            assign(out, a);
            if let V::Floats(o) = out {
                for ((o, a), b) in o.iter_mut().zip(fa).zip(fb) {
                    *o = lerp(*a, *b);
                }
            }
        }
        // Texts, booleans and integers hold until the next key.
        _ => assign(out, a),
    }
}

/// Interpolates rotations along the shortest arc, and the rest of the matrix (scale, shear, mirror) and the translation linearly.
fn mix_transforms(a: &Affine<f64>, b: &Affine<f64>, s: f64) -> Affine<f64> {
    let (rotation_a, stretch_a) = split(&a.linear);
    let (rotation_b, stretch_b) = split(&b.linear);
    let rotation = rotation_a
        .try_slerp(&rotation_b, s, 1e-9)
        .unwrap_or(rotation_a);
    Affine {
        linear: rotation.to_rotation_matrix().into_inner()
            * (stretch_a + (stretch_b - stretch_a) * s),
        translation: a.translation + (b.translation - a.translation) * s,
    }
}

/// The nearest rotation `R` and the rest `S` of a matrix `R S`.
fn split(m: &Mat3<f64>) -> (Quat<f64>, Mat3<f64>) {
    let rotation = nearest_rotation(m);
    let quat = Quat::from_rotation_matrix(&Rotation3::from_matrix_unchecked(rotation));
    (quat, rotation.transpose() * m)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ParameterValue::Float;

    #[test]
    fn sampling_clamps_holds_and_eases() {
        let at = |interpolation, t| {
            let k = Keyed {
                times: vec![1.0, 3.0],
                values: vec![Float(10.0), Float(20.0)],
                interpolation,
            };
            let mut out = Float(0.0);
            k.sample(t, &mut out);
            out
        };
        use KeyInterpolation::{Linear, Smooth, Step};
        assert_eq!(
            (at(Linear, 0.0), at(Linear, 9.0)),
            (Float(10.0), Float(20.0))
        );
        assert_eq!(at(Linear, 1.5), Float(12.5));
        assert_eq!(at(Step, 2.9), Float(10.0));
        assert_eq!(at(Smooth, 1.5), Float(11.5625));
    }

    #[test]
    fn turns_do_not_flatten() {
        use sinew_geom::Vec3;
        let key = |degrees: f64, scale: f64| {
            let turn = Quat::from_euler_angles(0.0, degrees.to_radians(), 0.0);
            ParameterValue::Transform(Affine::from_trs(
                Vec3::new(degrees, 0.0, 0.0),
                turn,
                Vec3::new(scale, 1.0, -1.0),
            ))
        };
        let keyed = Keyed {
            times: vec![0.0, 1.0],
            values: vec![key(0.0, 1.0), key(120.0, 3.0)],
            interpolation: KeyInterpolation::Linear,
        };
        let mut out = key(0.0, 1.0);
        for s in [0.0, 0.25, 0.5, 1.0] {
            keyed.sample(s, &mut out);
            let (ParameterValue::Transform(got), ParameterValue::Transform(expected)) =
                (&out, key(120.0 * s, 1.0 + 2.0 * s))
            else {
                panic!("transforms")
            };
            assert!(
                (got.linear - expected.linear).norm() < 1e-9
                    && (got.translation - expected.translation).norm() < 1e-9,
                "s = {s}: {got:?}"
            );
        }
    }
}
