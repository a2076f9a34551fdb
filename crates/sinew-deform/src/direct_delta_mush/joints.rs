//! Joints of one frame, brought near the origin: what rest space and posed space have far away is taken out in double precision.

use crate::skin::{NO_STRETCH, rotation_of};
use sinew_geom::{Affine, Mat3, PackedAffine, Quat, Real, Vec3};

/// One joint of one frame. Rest positions are relative to [`Frame::origin`], posed ones to [`Frame::reference`].
#[derive(Clone, Copy, Debug)]
pub struct JointFrame<R: Real> {
    /// The whole skinning matrix.
    pub matrix: Affine<R>,
    /// Its rotation. If the matrix is not stretched, its linear part without changes.
    pub turn: Mat3<R>,
    /// The same rotation as a quaternion.
    pub rotation: Quat<R>,
    /// The linear part without the rotation: `matrix.linear = turn * stretch`.
    pub stretch: Mat3<R>,
    /// Cube root of the volume factor of the matrix: for uniform scale, that scale. 1 if the joint is flat; never 0.
    pub scale: R,
}

/// All joints of one frame.
#[derive(Clone, Debug)]
pub struct Frame<R: Real> {
    /// One per joint.
    pub joints: Vec<JointFrame<R>>,
    /// Subtracted from rest positions, scene space.
    pub origin: Vec3<f64>,
    /// Added to posed positions, scene space.
    pub reference: Vec3<f64>,
}

/// Where the joints bring `origin`, by the share of the mesh that each of them moves; single precision holds it exactly.
pub(super) fn reference_of(
    palette: &[PackedAffine],
    origin: Vec3<f64>,
    shares: &[f32],
) -> Vec3<f64> {
    let brought = palette
        .iter()
        .zip(shares)
        .map(|(matrix, &share)| matrix.unpack::<f64>().point(origin) * f64::from(share));
    let sum: Vec3<f64> = brought.sum();
    sum.map(|x| {
        if x.is_finite() {
            f64::from(x.to_single())
        } else {
            0.0
        }
    })
}

/// A joint, and whether it is stretched.
pub(super) fn joint_frame(
    matrix: &PackedAffine,
    origin: Vec3<f64>,
    reference: Vec3<f64>,
) -> (JointFrame<f64>, bool) {
    let whole = matrix.unpack::<f64>();
    let rotation = rotation_of(&whole.linear);
    let turn = rotation.to_rotation_matrix().into_inner();
    let stretch = turn.transpose() * whole.linear;
    let is_stretched = (stretch - Mat3::identity()).amax() > NO_STRETCH;
    let matrix = Affine {
        linear: whole.linear,
        translation: whole.point(origin) - reference,
    };
    let (turn, stretch, scale) = if is_stretched {
        (turn, stretch, scale_of(&whole.linear))
    } else {
        (whole.linear, Mat3::identity(), 1.0)
    };
    let frame = JointFrame {
        matrix,
        turn,
        rotation,
        stretch,
        scale,
    };
    (frame, is_stretched)
}

/// A matrix without volume has no scale; 1 stands for it.
fn scale_of(linear: &Mat3<f64>) -> f64 {
    let scale = linear.determinant().abs().cbrt();
    if scale > 1e-6 && scale.is_finite() {
        scale
    } else {
        1.0
    }
}

impl Frame<f64> {
    /// From a palette, in double precision. `shares` has the share of the mesh that each joint moves ([`sinew_geom::Influences::shares`]):
    /// the reference is where the joints bring `origin` on average. Allocates.
    pub fn new(palette: &[PackedAffine], origin: Vec3<f64>, shares: &[f32]) -> Self {
        let reference = reference_of(palette, origin, shares);
        let joints = palette.iter();
        Self {
            joints: joints
                .map(|m| joint_frame(m, origin, reference).0)
                .collect(),
            origin,
            reference,
        }
    }

    /// The same in another precision.
    pub fn cast<R: Real>(&self) -> Frame<R> {
        let cast = |j: &JointFrame<f64>| JointFrame {
            matrix: j.matrix.cast(),
            turn: j.turn.map(R::from_double),
            rotation: j.rotation.cast(),
            stretch: j.stretch.map(R::from_double),
            scale: R::from_double(j.scale),
        };
        Frame {
            joints: self.joints.iter().map(cast).collect(),
            origin: self.origin,
            reference: self.reference,
        }
    }
}
