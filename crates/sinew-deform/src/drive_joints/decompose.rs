//! Matrices as translation, rotation and scale.

use super::SHEAR_TOLERANCE;
use sinew_geom::{Affine, LocalTransform, Quat, Trs, Vec3};

/// The parts of a transform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Decomposed {
    pub(super) translation: Vec3<f64>,
    pub(super) rotation: Quat<f64>,
    /// Along the axes of the rotated frame; the first is negative where the matrix mirrors.
    pub(super) scale: Vec3<f64>,
    /// Largest cosine of angles between columns; 0 where the matrix is rotation times scale.
    pub(super) shear: f64,
}

/// Rotation times scale up to [`SHEAR_TOLERANCE`], else the nearest rotation; what is not finite is the identity.
pub(super) fn decompose(a: &Affine<f64>) -> Decomposed {
    let rest = Trs::default();
    match a.decompose(SHEAR_TOLERANCE) {
        Ok(parts) => Decomposed {
            translation: parts.translation,
            rotation: parts.rotation,
            scale: parts.scale,
            shear: parts.shear,
        },
        Err(_) => Decomposed {
            translation: rest.translation,
            rotation: rest.rotation,
            scale: rest.scale,
            shear: 0.0,
        },
    }
}

/// A local transform of a pose; of a matrix the nearest one without shear. Poses of a caller, and those of `spring_joints`, are matrices.
pub(super) fn trs_of(local: &LocalTransform) -> Trs {
    match local {
        LocalTransform::Trs(trs) => *trs,
        LocalTransform::Matrix(matrix) => {
            let parts = decompose(matrix);
            Trs {
                translation: parts.translation,
                rotation: parts.rotation,
                scale: parts.scale,
            }
        }
    }
}

impl Decomposed {
    /// With the signs of `like`, where mirroring and half turns allow it: then blending between both turns nothing over.
    pub(super) fn with_signs_of(self, like: Vec3<f64>) -> Trs {
        let trs = Trs {
            translation: self.translation,
            rotation: self.rotation,
            scale: self.scale,
        };
        trs.with_signs_of(like)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::Mat3;

    fn turn() -> Quat<f64> {
        Quat::from_euler_angles(0.3, -1.1, 2.0)
    }

    #[test]
    fn rotation_and_scale_come_back() {
        for scale in [[1.0, 1.0, 1.0], [2.0, 0.5, 3.0], [-1.0, 1.0, 1.0]] {
            let scale = Vec3::from(scale);
            let a = Affine::from_trs(Vec3::new(1.0, 2.0, 3.0), turn(), scale);
            let d = decompose(&a);
            assert_eq!(d.translation, a.translation);
            assert!((d.scale - scale).norm() < 1e-12, "{:?}", d.scale);
            assert!(d.rotation.angle_to(&turn()) < 1e-12, "{:?}", d.rotation);
            assert!(d.shear < 1e-12, "{}", d.shear);
        }
    }

    /// A mirror along another axis is one along the first, and a half turn.
    #[test]
    fn signs_follow_a_neighbour() {
        let scale = Vec3::new(2.0, 3.0, -4.0);
        let d = decompose(&Affine::from_trs(Vec3::zeros(), turn(), scale));
        assert!(d.shear < 1e-12, "{}", d.shear);
        let trs = d.with_signs_of(Vec3::new(1.0, 1.0, -1.0));
        assert!((trs.scale - scale).norm() < 1e-12, "{:?}", trs.scale);
        assert!(trs.rotation.angle_to(&turn()) < 1e-12, "{:?}", trs.rotation);
        // A mirror is no rotation: nothing to follow.
        let plain = d.with_signs_of(Vec3::repeat(1.0));
        assert_eq!((plain.rotation, plain.scale), (d.rotation, d.scale));
    }

    /// The symmetric shear [[1, k], [k, 1]] is a stretch along its diagonals: its nearest rotation is none.
    #[test]
    fn shear_is_measured_and_the_nearest_rotation_taken() {
        let k = 0.25;
        let mut a = Affine::from_trs(Vec3::zeros(), turn(), Vec3::repeat(1.0));
        a.linear *= Mat3::new(1.0, k, 0.0, k, 1.0, 0.0, 0.0, 0.0, 1.0);
        let d = decompose(&a);
        let cosine = 2.0 * k / (1.0 + k * k);
        assert!((d.shear - cosine).abs() < 1e-12, "{}", d.shear);
        assert!(d.rotation.angle_to(&turn()) < 1e-12, "{:?}", d.rotation);
        assert!(
            (d.scale - Vec3::repeat(1.0)).norm() < 1e-12,
            "{:?}",
            d.scale
        );
    }

    #[test]
    fn flat_matrices_stay_finite() {
        for diagonal in [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]] {
            let scale = Vec3::from(diagonal);
            let d = decompose(&Affine::from_trs(Vec3::zeros(), turn(), scale));
            assert!(
                d.rotation.coords.iter().all(|c| c.is_finite())
                    && d.scale.iter().all(|c| c.is_finite()),
                "{d:?}"
            );
            assert!((d.rotation.norm() - 1.0).abs() < 1e-12, "{d:?}");
        }
    }
}
