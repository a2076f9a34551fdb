//! Euler angles in all six orders.
//!
//! Axes and parity as in K. Shoemake, *Euler Angle Conversion*, Graphics Gems IV, 1994, for the six orders with three different axes,
//! about fixed axes. The first angle is read after the last has been undone, which stays exact near gimbal lock.

use crate::{Mat3, Quat, Vec3};

/// Order of three rotations about fixed axes. `Xyz`, Maya's default, rotates about x, then y, then z: with column vectors
/// `R = Rz * Ry * Rx`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EulerOrder {
    /// `Rz * Ry * Rx`.
    #[default]
    Xyz,
    /// `Rx * Rz * Ry`.
    Yzx,
    /// `Ry * Rx * Rz`.
    Zxy,
    /// `Ry * Rz * Rx`.
    Xzy,
    /// `Rz * Rx * Ry`.
    Yxz,
    /// `Rx * Ry * Rz`.
    Zyx,
}

impl EulerOrder {
    /// All orders, in the order of Maya's attribute `rotateOrder`.
    pub const ALL: [Self; 6] = [
        Self::Xyz,
        Self::Yzx,
        Self::Zxy,
        Self::Xzy,
        Self::Yxz,
        Self::Zyx,
    ];

    /// Axes in the order of rotation: 0 is x, 1 is y, 2 is z.
    pub fn axes(self) -> [usize; 3] {
        self.axes_and_sign().0
    }

    /// The axes, and 1 for cyclic orders, -1 for the others.
    fn axes_and_sign(self) -> ([usize; 3], f64) {
        match self {
            Self::Xyz => ([0, 1, 2], 1.0),
            Self::Yzx => ([1, 2, 0], 1.0),
            Self::Zxy => ([2, 0, 1], 1.0),
            Self::Xzy => ([0, 2, 1], -1.0),
            Self::Yxz => ([1, 0, 2], -1.0),
            Self::Zyx => ([2, 1, 0], -1.0),
        }
    }

    /// The rotation with these angles in radians. `angles` is always about x, y and z, for every order.
    pub fn rotation(self, angles: [f64; 3]) -> Quat<f64> {
        let axes = self.axes();
        axes.iter().fold(Quat::identity(), |before, &axis| {
            let mut turn = Vec3::zeros();
            turn[axis] = angles[axis];
            Quat::from_scaled_axis(turn) * before
        })
    }

    /// Angles about x, y and z in radians. `rotation` of them gives the same rotation again. The second angle of the order is between
    /// -pi/2 and pi/2. At +-pi/2 the other two share an axis (gimbal lock); the last angle is then 0.
    /// The other two are between -pi and pi.
    pub fn angles(self, rotation: &Quat<f64>) -> [f64; 3] {
        let r = rotation.to_rotation_matrix().into_inner();
        self.angles_of_matrix(&r)
    }

    /// As [`EulerOrder::angles`], for a rotation matrix.
    /// The matrix must be a rotation: remove scale and shear first, for example with [`crate::Affine::decompose`].
    pub(crate) fn angles_of_matrix(self, r: &Mat3<f64>) -> [f64; 3] {
        let ([i, j, k], sign) = self.axes_and_sign();
        // Smaller numbers are rounding, and their ratio would be any angle.
        const LOCKED: f64 = 1e-12;
        let cosine = r[(i, i)].hypot(r[(j, i)]);
        let last = if cosine < LOCKED {
            0.0
        } else {
            (sign * r[(j, i)]).atan2(r[(i, i)])
        };
        // The first angle is read after the last has been undone: that stays exact near the lock.
        let undone =
            |column: usize| last.cos() * r[(j, column)] - sign * last.sin() * r[(i, column)];
        let mut angles = [0.0; 3];
        angles[i] = (-sign * undone(k)).atan2(undone(j));
        angles[j] = (-sign * r[(k, i)]).atan2(cosine);
        angles[k] = last;
        angles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_PI_2, PI};

    /// Rotations about single axes, written out.
    fn about(axis: char, angle: f64) -> Mat3<f64> {
        let (s, c) = angle.sin_cos();
        match axis {
            'x' => Mat3::new(1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c),
            'y' => Mat3::new(c, 0.0, s, 0.0, 1.0, 0.0, -s, 0.0, c),
            _ => Mat3::new(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0),
        }
    }

    /// The product that the name of the order stands for: the first letter is rightmost.
    fn product(order: EulerOrder, angles: [f64; 3]) -> Mat3<f64> {
        let name = format!("{order:?}").to_lowercase();
        name.chars().fold(Mat3::identity(), |before, axis| {
            let index = "xyz".find(axis).expect("an axis");
            about(axis, angles[index]) * before
        })
    }

    fn matrix(q: Quat<f64>) -> Mat3<f64> {
        q.to_rotation_matrix().into_inner()
    }

    #[test]
    fn orders_have_the_indices_of_maya() {
        let names = EulerOrder::ALL.map(|o| format!("{o:?}").to_lowercase());
        assert_eq!(names, ["xyz", "yzx", "zxy", "xzy", "yxz", "zyx"]);
        assert_eq!(EulerOrder::default(), EulerOrder::Xyz);
    }

    #[test]
    fn rotations_are_products_of_matrices() {
        for order in EulerOrder::ALL {
            for angles in [[0.3, -0.7, 1.1], [2.0, 0.0, -3.0], [-1.0, 1.5, 0.0]] {
                let difference = matrix(order.rotation(angles)) - product(order, angles);
                assert!(difference.norm() < 1e-14, "{order:?} {angles:?}");
            }
        }
    }

    #[test]
    fn angles_come_back() {
        for order in EulerOrder::ALL {
            let second = order.axes()[1];
            for mut angles in [[0.3_f64, -0.7, 1.1], [2.0, 0.1, -3.0], [-1.0, 1.5, 0.0]] {
                angles[second] = angles[second].clamp(-1.5, 1.5);
                let found = order.angles(&order.rotation(angles));
                for axis in 0..3 {
                    let error = (found[axis] - angles[axis]).abs();
                    assert!(error < 1e-13, "{order:?} {angles:?} {found:?}");
                }
            }
        }
    }

    #[test]
    fn gimbal_lock_keeps_the_rotation() {
        for order in EulerOrder::ALL {
            let [first, second, last] = order.axes();
            for lock in [FRAC_PI_2, -FRAC_PI_2] {
                for off in [0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5] {
                    let mut angles = [0.0; 3];
                    (angles[first], angles[second], angles[last]) = (0.4, lock - off, -1.3);
                    let wanted = product(order, angles);
                    let found = order.angles_of_matrix(&wanted);
                    let error = (product(order, found) - wanted).norm();
                    assert!(error < 3e-12, "{order:?} {lock} {off}: {error}");
                }
                let mut angles = [0.0; 3];
                angles[second] = lock;
                let found = order.angles(&order.rotation(angles));
                assert_eq!(found[last].to_bits(), 0, "the last angle is 0");
                assert!((found[second] - lock).abs() < 1e-7, "{order:?} {found:?}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn every_rotation_comes_back(x in -PI..PI, y in -PI..PI, z in -PI..PI, index in 0_usize..6) {
            let order = EulerOrder::ALL[index];
            let wanted = product(order, [x, y, z]);
            let found = order.angles(&order.rotation([x, y, z]));
            proptest::prop_assert!((product(order, found) - wanted).norm() < 1e-12);
            proptest::prop_assert!(found[order.axes()[1]].abs() <= FRAC_PI_2);
        }
    }
}
