//! Decomposition of affine transforms into translation, rotation, scale and shear.

use crate::{Affine, Mat3, Quat, Vec3};
use nalgebra::Rotation3;

/// Columns with cosines up to this value count as orthogonal: far above rounding errors, far below intended shear.
pub const ORTHOGONAL_TOLERANCE: f64 = 1e-6;

/// Result of [`Affine::decompose`]: `p -> rotation * stretch * p + translation`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decomposition {
    /// Translation.
    pub translation: Vec3<f64>,
    /// Right-handed rotation, even if the transform mirrors.
    pub rotation: Quat<f64>,
    /// Diagonal of `stretch`; without shear, the lengths of the columns. If the transform mirrors, the x factor is negative.
    pub scale: Vec3<f64>,
    /// The linear part without the rotation. It is diagonal up to the tolerance if there is no shear.
    pub stretch: Mat3<f64>,
    /// Whether the transform has shear: translation, rotation and `scale` alone do not give it.
    pub sheared: bool,
    /// Largest absolute cosine of the angles between columns: 0 for orthogonal columns, 1 for parallel ones. Columns of length 0 do not
    /// count.
    pub shear: f64,
}

/// Why a transform cannot be decomposed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DecomposeError {
    /// A number is NaN or infinite.
    #[error("row {row}, column {column} of the transform: found {found}, expected a finite number")]
    NotFinite {
        /// Row, from 0.
        row: usize,
        /// Column, from 0; 3 is the translation.
        column: usize,
        /// The number.
        found: f64,
    },
    /// Scale or shear exceeds double precision.
    #[error(
        "the transform has numbers up to {largest}, which makes the lengths of its columns not finite"
    )]
    TooLarge {
        /// The largest absolute value.
        largest: f64,
    },
}

/// The rotation nearest to a matrix, by least squares over its elements (Kabsch 1976). For a matrix that mirrors, the direction of the
/// smallest singular value is flipped. Cost: one singular value decomposition.
pub fn nearest_rotation(matrix: &Mat3<f64>) -> Mat3<f64> {
    let svd = matrix.svd(true, true);
    let (Some(mut u), Some(v_t)) = (svd.u, svd.v_t) else {
        return Mat3::identity();
    };
    if (u * v_t).determinant() < 0.0 {
        // Singular values come in falling order: the last direction has the least.
        u.column_mut(2).neg_mut();
    }
    u * v_t
}

impl Affine<f64> {
    /// Decomposes the transform.
    ///
    /// If the cosines between columns are at most `tolerance` (use [`ORTHOGONAL_TOLERANCE`] in most cases), the rotation is that of
    /// the normalized columns, and [`Affine::from_trs`] gives the transform back. Otherwise it is the rotation of the polar
    /// decomposition: the rotation nearest to the linear part (Higham, "Computing the Polar Decomposition", 1986). It is computed by a
    /// one-sided Jacobi iteration (Hestenes 1958), which stays accurate if one direction is nearly flat.
    ///
    /// For a transform that mirrors, the first column is negated first. It is always the first column, which keeps neighbouring poses
    /// consistent. If a column has length 0, or the columns lie in a plane or on a line, several rotations are possible. The result is
    /// then one of them; it is finite, and `rotation * stretch` is exact.
    ///
    /// # Errors
    /// [`DecomposeError::NotFinite`]; [`DecomposeError::TooLarge`] from about 1e308 on.
    pub fn decompose(&self, tolerance: f64) -> Result<Decomposition, DecomposeError> {
        self.check_finite()?;
        // Lengths are squared below; without this they could overflow.
        let size = self.linear.amax();
        let divisor = if size > 0.0 { size } else { 1.0 };
        let scaled = self.linear.map(|v| v / divisor);
        let mut linear = scaled;
        let mut directions = Mat3::from_columns(&[0, 1, 2].map(|c| direction(&linear, c)));
        if directions.determinant() < 0.0 {
            linear.column_mut(0).neg_mut();
            directions.column_mut(0).neg_mut();
        }
        let shear = [(0, 1), (0, 2), (1, 2)]
            .map(|(a, b)| directions.column(a).dot(&directions.column(b)).abs())
            .into_iter()
            .fold(0.0, f64::max)
            .min(1.0);
        let sheared = shear > tolerance;
        let rotation = polar_rotation(if sheared { linear } else { directions });
        let stretch = (rotation.transpose() * scaled).map(|v| v * divisor);
        if !stretch.iter().all(|v| v.is_finite()) {
            return Err(DecomposeError::TooLarge { largest: size });
        }
        let rotation = Rotation3::from_matrix_unchecked(rotation);
        Ok(Decomposition {
            translation: self.translation,
            rotation: Quat::from_rotation_matrix(&rotation),
            scale: stretch.diagonal(),
            stretch,
            sheared,
            shear,
        })
    }

    fn check_finite(&self) -> Result<(), DecomposeError> {
        for row in 0..3 {
            for column in 0..4 {
                let found = match column {
                    3 => self.translation[row],
                    _ => self.linear[(row, column)],
                };
                if !found.is_finite() {
                    return Err(DecomposeError::NotFinite { row, column, found });
                }
            }
        }
        Ok(())
    }
}

/// A column at length one, or zero where it has none.
fn direction(m: &Mat3<f64>, column: usize) -> Vec3<f64> {
    let v = m.column(column).into_owned();
    v.try_normalize(SHORTEST).unwrap_or_else(Vec3::zeros)
}

/// Squares of shorter lengths are no longer exact.
const SHORTEST: f64 = 1e-150;
/// Rotations of columns against each other; few are needed, so that the bound only guards.
const MOST_SWEEPS: usize = 40;

/// The rotation of the polar decomposition; `m` must not mirror.
///
/// Columns are turned against each other by a rotation `v` until `m * v` has orthogonal ones; then `m = u s v^T` with
/// `u` their directions, and the rotation is `u v^T`.
fn polar_rotation(m: Mat3<f64>) -> Mat3<f64> {
    let (mut b, mut v) = (m, Mat3::identity());
    for _ in 0..MOST_SWEEPS {
        let mut is_done = true;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let (alpha, beta) = (b.column(p).norm_squared(), b.column(q).norm_squared());
            let gamma = b.column(p).dot(&b.column(q));
            if gamma.abs() <= f64::EPSILON * (alpha * beta).sqrt() {
                continue;
            }
            is_done = false;
            let zeta = (beta - alpha) / (2.0 * gamma);
            let tangent = 1.0_f64.copysign(zeta) / (zeta.abs() + zeta.hypot(1.0));
            let cosine = 1.0 / tangent.hypot(1.0);
            for matrix in [&mut b, &mut v] {
                turn_columns(matrix, (p, q), (cosine, cosine * tangent));
            }
        }
        if is_done {
            break;
        }
    }
    directions_of(&b) * v.transpose()
}

fn turn_columns(m: &mut Mat3<f64>, (p, q): (usize, usize), (cosine, sine): (f64, f64)) {
    let (a, b) = (m.column(p).into_owned(), m.column(q).into_owned());
    m.set_column(p, &(a * cosine - b * sine));
    m.set_column(q, &(a * sine + b * cosine));
}

/// A rotation whose columns are the directions of orthogonal ones, made up where a column has no length.
fn directions_of(b: &Mat3<f64>) -> Mat3<f64> {
    let mut order = [0, 1, 2];
    order.sort_by(|&x, &y| b.column(y).norm().total_cmp(&b.column(x).norm()));
    let [first, second, third] = order;
    let Some(longest) = b.column(first).try_normalize(SHORTEST) else {
        return Mat3::identity();
    };
    let across = |v: Vec3<f64>| v - longest * longest.dot(&v);
    let axis = |index: usize| Mat3::identity().column(index).into_owned();
    let next = across(b.column(second).into_owned())
        .try_normalize(SHORTEST)
        // At most one of two axes is nearly parallel to the longest column.
        .or_else(|| across(axis(second)).try_normalize(0.5))
        .or_else(|| across(axis(third)).try_normalize(0.5))
        .unwrap_or_else(|| axis(second));
    let last = longest.cross(&next);
    let is_cyclic = (first + 1) % 3 == second;
    let mut u = Mat3::zeros();
    u.set_column(first, &longest);
    u.set_column(second, &next);
    u.set_column(third, &if is_cyclic { last } else { -last });
    u
}

#[cfg(test)]
#[path = "decompose_tests.rs"]
mod tests;
