//! Mode `rbf`: interpolation of the displacements of all points by triharmonic radial functions with a linear term.
//!
//! Duchon, "Splines minimizing rotation-invariant semi-norms in Sobolev spaces", 1977; as a deformer: Botsch and Kobbelt, "Real-Time Shape
//! Editing using Radial Basis Functions", 2005. The basis function is `r³`, which is smooth at the points and needs no width.

use super::bind::WrapError;
use super::points::Share;
use sinew_geom::Vec3;
use sinew_geom::nalgebra::{DMatrix, Matrix3xX};

/// Condition number in the 1-norm above which rounding would show.
const WORST_CONDITION: f64 = 1e13;

/// Extents below this share of the largest count as flat.
const FLAT: f64 = 1e-6;

/// The interpolant, as weights of the points.
#[derive(Debug)]
pub(super) struct Rbf {
    /// Of size one about the origin.
    points: Vec<Vec3<f64>>,
    middle: Vec3<f64>,
    /// 1/m.
    scale: f64,
    /// Directions in which the points extend: those of the linear term.
    axes: Vec<Vec3<f64>>,
    /// First columns of the inverse of the system, one for each point.
    inverse: DMatrix<f64>,
}

impl Rbf {
    pub(super) fn new(points: &[Vec3<f64>]) -> Result<Self, WrapError> {
        let n = points.len();
        let middle = points.iter().sum::<Vec3<f64>>() / n as f64;
        let far = points.iter().map(|p| (p - middle).norm());
        let size = far.fold(0.0, f64::max);
        let scale = if size > 0.0 { 1.0 / size } else { 1.0 };
        let points: Vec<_> = points.iter().map(|p| (p - middle) * scale).collect();
        let axes = axes(&points);
        let order = n + 1 + axes.len();
        let mut system = DMatrix::zeros(order, order);
        for (i, p) in points.iter().enumerate() {
            for (j, q) in points[..i].iter().enumerate() {
                let value = (p - q).norm().powi(3);
                system[(i, j)] = value;
                system[(j, i)] = value;
            }
            for (k, term) in linear_term(&axes, *p).enumerate() {
                system[(i, n + k)] = term;
                system[(n + k, i)] = term;
            }
        }
        let norm = |m: &DMatrix<f64>| {
            let sums = m.column_iter().map(|c| c.lp_norm(1));
            sums.fold(0.0, f64::max)
        };
        let before = norm(&system);
        let refused = |condition| WrapError::Singular {
            points: n,
            condition,
        };
        let inverse = system.lu().try_inverse();
        let inverse = inverse.ok_or(refused(f64::INFINITY))?;
        let condition = before * norm(&inverse);
        // NaN fails, too.
        if !condition.is_finite() || condition > WORST_CONDITION {
            return Err(refused(condition));
        }
        Ok(Self {
            points,
            middle,
            scale,
            axes,
            inverse: inverse.columns(0, n).into_owned(),
        })
    }

    /// Shares of some positions: one row each.
    pub(super) fn shares(&self, at: &[Vec3<f64>], out: &mut [Vec<Share>]) {
        let n = self.points.len();
        // Four rows for each position: the value, and its derivatives.
        let mut rows = DMatrix::zeros(4 * at.len(), self.inverse.nrows());
        for (i, p) in at.iter().enumerate() {
            let p = (p - self.middle) * self.scale;
            for (j, q) in self.points.iter().enumerate() {
                let (away, distance) = (p - q, (p - q).norm());
                rows[(4 * i, j)] = distance.powi(3);
                for c in 0..3 {
                    rows[(4 * i + 1 + c, j)] = 3.0 * distance * away[c] * self.scale;
                }
            }
            for (k, term) in linear_term(&self.axes, p).enumerate() {
                rows[(4 * i, n + k)] = term;
            }
            for (k, axis) in self.axes.iter().enumerate() {
                for c in 0..3 {
                    rows[(4 * i + 1 + c, n + 1 + k)] = axis[c] * self.scale;
                }
            }
        }
        let found = rows * &self.inverse;
        for (i, out) in out.iter_mut().enumerate() {
            for (j, share) in out.iter_mut().enumerate() {
                let at = |r: usize| found[(4 * i + r, j)];
                *share = Share {
                    weight: at(0),
                    gradient: Vec3::new(at(1), at(2), at(3)),
                };
            }
        }
    }
}

/// 1 and the coordinates along the axes.
fn linear_term(axes: &[Vec3<f64>], p: Vec3<f64>) -> impl Iterator<Item = f64> {
    std::iter::once(1.0).chain(axes.iter().map(move |a| a.dot(&p)))
}

/// Principal directions of points about the origin; those in which the points are flat are left out.
fn axes(points: &[Vec3<f64>]) -> Vec<Vec3<f64>> {
    let svd = Matrix3xX::from_columns(points).svd(true, false);
    let Some(u) = svd.u else {
        return Vec::new();
    };
    let largest = svd.singular_values.max();
    let sizes = svd.singular_values.iter();
    sizes
        .zip(u.column_iter())
        .filter(|(size, _)| **size > FLAT * largest)
        .map(|(_, axis)| axis.into_owned())
        .collect()
}
