//! Distances between two driver values.
//!
//! A metric reduces a value to at most four numbers ([`Coordinates`]), once per frame for the joint and once in setup for each pose. A
//! [`Form`] then gives the distance of two of them. Angles come from the chord of the half angle: `acos` of a dot product loses half of its
//! digits near 0.

use sinew_geom::{EulerOrder, Quat, Vec3};
use std::f64::consts::PI;

/// Rotation and position of a driver joint, relative to the space in which the driver reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriverValue {
    /// Unit quaternion; `q` and `-q` mean the same.
    pub rotation: Quat<f64>,
    /// Metres.
    pub translation: Vec3<f64>,
}

impl DriverValue {
    /// A rotation about the origin.
    pub fn rotation(rotation: Quat<f64>) -> Self {
        Self {
            rotation,
            translation: Vec3::zeros(),
        }
    }
    /// A position without rotation.
    pub fn translation(translation: Vec3<f64>) -> Self {
        Self {
            rotation: Quat::identity(),
            translation,
        }
    }
    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        let rotation = self.rotation.coords.iter();
        rotation
            .chain(self.translation.iter())
            .all(|c| c.is_finite())
    }
}

/// Distance between two driver values. Angles are in radians, positions in metres; chords are `2 sin(angle / 2)`. Rotations `q` and `-q`
/// have the distance 0, except with `Components`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Angle of the rotation between them, 0 to π.
    Arc,
    /// Chord of [`Self::Arc`]: smooth and positive definite with a Gaussian.
    Chord,
    /// Angle between their swings (the rotation without its twist about the axis).
    Swing,
    /// Chord of [`Self::Swing`].
    SwingChord,
    /// Angle between the directions to which they rotate the axis.
    Direction,
    /// Chord of [`Self::Direction`].
    DirectionChord,
    /// Difference of their twist angles about the axis, each in (−π, π]: 0 to 2π, so that +120° and −120° are far apart.
    Twist,
    /// Chord of the twist between them: +170° and −170° are close.
    TwistChord,
    /// Euclidean distance of Euler angles in this order of rotations: the least over the two triples that give a rotation, and over full
    /// turns of each angle.
    Euler(EulerOrder),
    /// Euclidean distance of the triples whose second angle is within a quarter turn, as Unreal has it; does not wrap.
    EulerTriples(EulerOrder),
    /// Euclidean distance of the four numbers of the quaternions, as in `RigLogic`; `q` and `-q` differ.
    Components,
    /// Distance of positions.
    Position,
    /// [`Self::Swing`] as PSD JSON computes it: by a twist that keeps its length.
    PsdJsonSwing,
}

/// A rotation as `swing * twist`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SwingTwist {
    /// Turns about an axis across the twist axis.
    pub swing: Quat<f64>,
    /// Turns about the twist axis.
    pub twist: Quat<f64>,
    /// Angle of the twist, in (−π, π].
    pub twist_angle: f64,
}

/// Below this length the part of a quaternion that turns about the axis says nothing: the swing is half a turn.
const NO_TWIST: f64 = 1e-9;

/// Of the two quaternions of a rotation the one with `w > 0`; half turns: the one whose first number that is not zero is positive.
fn canonical(rotation: &Quat<f64>) -> [f64; 4] {
    let [x, y, z, w]: [f64; 4] = rotation.coords.into();
    let squared = x * x + y * y + z * z + w * w;
    let mut scale = if (squared - 1.0).abs() < 1e-15 {
        1.0
    } else {
        1.0 / squared.sqrt()
    };
    if !scale.is_finite() {
        return [0.0, 0.0, 0.0, 1.0];
    }
    let half_turn = || [x, y, z].into_iter().find(|c| *c != 0.0);
    if w < 0.0 || w == 0.0 && half_turn().is_some_and(|c| c < 0.0) {
        scale = -scale;
    }
    [x * scale, y * scale, z * scale, w * scale]
}

impl SwingTwist {
    /// Takes `rotation` apart about a unit `axis`; the same for `q` and `-q`. Where the swing is half a turn any twist would do:
    /// there is none then.
    pub(crate) fn of(rotation: &Quat<f64>, axis: &Vec3<f64>) -> Self {
        let q = canonical(rotation);
        let twist = twist(q, axis);
        Self {
            swing: quaternion(q) * twist.conjugate(),
            twist,
            twist_angle: twist_angle(q, axis),
        }
    }
}

fn along([x, y, z, _]: [f64; 4], axis: &Vec3<f64>) -> f64 {
    x * axis.x + y * axis.y + z * axis.z
}

/// Of a canonical quaternion.
fn twist(q: [f64; 4], axis: &Vec3<f64>) -> Quat<f64> {
    let (along, w) = (along(q, axis), q[3]);
    let length = (along * along + w * w).sqrt();
    if length < NO_TWIST {
        return Quat::identity();
    }
    let [part, w] = [along / length, w / length];
    quaternion([axis.x * part, axis.y * part, axis.z * part, w])
}

/// The swing of [`SwingTwist::of`], up to its sign, with one root and one division: both lengths go into one factor.
fn swing(rotation: &Quat<f64>, axis: &Vec3<f64>) -> Coordinates {
    let q: [f64; 4] = rotation.coords.into();
    let [x, y, z, w] = q;
    let along = along(q, axis);
    let (squared, twist_squared) = (x * x + y * y + z * z + w * w, along * along + w * w);
    let factor = 1.0 / (squared * twist_squared).sqrt();
    // Half a turn of swing, or a quaternion that is far from length one.
    if twist_squared < NO_TWIST * NO_TWIST * squared || !factor.is_normal() {
        let q = canonical(rotation);
        return (quaternion(q) * twist(q, axis).conjugate()).coords.into();
    }
    // q times the conjugate of (along * axis, w).
    let [a, b, c] = [along * axis.x, along * axis.y, along * axis.z];
    [
        (w * -a + x * w - y * c + z * b) * factor,
        (w * -b + y * w - z * a + x * c) * factor,
        (w * -c + z * w - x * b + y * a) * factor,
        (w * w + x * a + y * b + z * c) * factor,
    ]
}

/// Of a canonical quaternion, in (−π, π].
fn twist_angle(q: [f64; 4], axis: &Vec3<f64>) -> f64 {
    let (along, w) = (along(q, axis), q[3]);
    if along.hypot(w) < NO_TWIST {
        return 0.0;
    }
    // w is not negative, so this is in the range but for -π itself.
    let angle = 2.0 * along.atan2(w);
    if angle <= -PI {
        angle + 2.0 * PI
    } else {
        angle
    }
}

fn quaternion([x, y, z, w]: [f64; 4]) -> Quat<f64> {
    Quat::new_unchecked(sinew_geom::nalgebra::Quaternion::new(w, x, y, z))
}

/// What a metric keeps of a driver value: up to four numbers.
pub(crate) type Coordinates = [f64; 4];

/// How a distance follows from coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Of points.
    Euclidean,
    /// Angle between the rotations of two unit quaternions, of either sign.
    QuaternionArc,
    /// `2 sin(angle / 2)` of that.
    QuaternionChord,
    /// Angle between unit vectors.
    DirectionArc,
    /// `acos(2 dot² − 1)` of quaternions of any length.
    PsdJsonArc,
    /// Of Euler angles, first, second and last of their order: the least over equal triples and full turns.
    EulerAngles,
}

impl Metric {
    pub(crate) fn form(self) -> Form {
        match self {
            Self::Arc | Self::Swing => Form::QuaternionArc,
            Self::Chord | Self::SwingChord | Self::TwistChord => Form::QuaternionChord,
            Self::Direction => Form::DirectionArc,
            Self::DirectionChord
            | Self::Twist
            | Self::EulerTriples(_)
            | Self::Components
            | Self::Position => Form::Euclidean,
            Self::Euler(_) => Form::EulerAngles,
            Self::PsdJsonSwing => Form::PsdJsonArc,
        }
    }

    /// Whether it looks at twist alone.
    pub(crate) fn is_twist(self) -> bool {
        matches!(self, Self::Twist | Self::TwistChord)
    }

    /// What it keeps of a value. `axis` is a unit vector.
    pub(crate) fn coordinates(self, value: &DriverValue, axis: &Vec3<f64>) -> Coordinates {
        let q = &value.rotation;
        let unit = |q: Quat<f64>| q.coords.into();
        let point = |v: Vec3<f64>| [v.x, v.y, v.z, 0.0];
        match self {
            Self::Arc | Self::Chord => canonical(q),
            Self::Swing | Self::SwingChord => swing(q, axis),
            Self::Direction | Self::DirectionChord => point(quaternion(canonical(q)) * axis),
            Self::Twist => [twist_angle(canonical(q), axis), 0.0, 0.0, 0.0],
            Self::TwistChord => unit(twist(canonical(q), axis)),
            Self::EulerTriples(order) => {
                let [x, y, z] = order.angles(&quaternion(canonical(q)));
                [x, y, z, 0.0]
            }
            Self::Euler(order) => {
                let angles = order.angles(&quaternion(canonical(q)));
                let [first, second, last] = order.axes().map(|axis| angles[axis]);
                [first, second, last, 0.0]
            }
            Self::Components => q.coords.into(),
            Self::Position => point(value.translation),
            Self::PsdJsonSwing => psd_json_swing(q, axis),
        }
    }
}

/// `q` times the conjugate of its twist, which PSD JSON means to normalise but does not: as long as the twist is.
fn psd_json_swing(q: &Quat<f64>, axis: &Vec3<f64>) -> Coordinates {
    let q = q.into_inner();
    let v = axis * q.imag().dot(axis);
    let mut twist = sinew_geom::nalgebra::Quaternion::new(q.w, v.x, v.y, v.z);
    if twist.norm() == 0.0 {
        twist = sinew_geom::nalgebra::Quaternion::identity();
    }
    (q * twist.conjugate()).coords.into()
}

impl Form {
    /// The distance.
    pub(crate) fn distance(self, a: &Coordinates, b: &Coordinates) -> f64 {
        let dot = || (0..4).map(|c| a[c] * b[c]).sum::<f64>();
        let length = |sign: f64| {
            let squares = (0..4).map(|c| (a[c] - sign * b[c]).powi(2));
            squares.sum::<f64>().sqrt()
        };
        match self {
            Self::Euclidean => length(1.0),
            // By the chord of the half angle, which is exact where acos of the dot product loses half its digits.
            Self::QuaternionArc => 4.0 * half(length(1.0).min(length(-1.0))).asin(),
            Self::QuaternionChord => {
                let h = half(length(1.0).min(length(-1.0)));
                4.0 * h * (1.0 - h * h).sqrt()
            }
            Self::DirectionArc => 2.0 * length(1.0).atan2(length(-1.0)),
            Self::PsdJsonArc => (2.0 * dot().powi(2) - 1.0).clamp(-1.0, 1.0).acos(),
            Self::EulerAngles => {
                // The other triple of the same rotation.
                let other = [a[0] + PI, PI - a[1], a[2] + PI];
                let [own, other] = [[a[0], a[1], a[2]], other].map(|angles| {
                    let apart = angles.iter().zip(b).map(|(a, b)| turns_left_out(a - b));
                    apart.map(|d| d * d).sum::<f64>()
                });
                own.min(other).sqrt()
            }
        }
    }
}

/// The angle of the same direction in [−π, π].
fn turns_left_out(angle: f64) -> f64 {
    angle - (angle / (2.0 * PI)).round() * 2.0 * PI
}

fn half(chord: f64) -> f64 {
    (chord * 0.5).min(std::f64::consts::FRAC_1_SQRT_2)
}
