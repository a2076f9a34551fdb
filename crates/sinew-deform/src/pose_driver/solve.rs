//! The linear system of interpolating drivers.

use super::bind::{PoseDriverError, check_condition};
use sinew_geom::nalgebra::{DMatrix, SymmetricEigen};

/// The inverse of the kernel matrix, so that weights are `coefficients * influences`.
#[derive(Clone, Debug)]
pub(crate) struct System {
    /// `kernel[(i, j)]`: influence of pose i at pose j.
    kernel: DMatrix<f64>,
    /// Its inverse.
    pub(crate) coefficients: DMatrix<f64>,
    /// In the 1-norm.
    pub(crate) condition: f64,
}

/// Solves `K C = 1` by LU with pivots: no squared condition number as by `Kᵀ K`, and no positive definiteness needed.
pub(crate) fn solve(
    mut kernel: DMatrix<f64>,
    regularization: f64,
) -> Result<System, PoseDriverError> {
    let count = kernel.nrows();
    for i in 0..count {
        kernel[(i, i)] += regularization;
    }
    let inverse = kernel.clone().lu().try_inverse();
    let coefficients = inverse.ok_or(PoseDriverError::Singular {
        poses: count,
        condition: f64::INFINITY,
    })?;
    let condition = one_norm(&kernel) * one_norm(&coefficients);
    check_condition(count, condition)?;
    Ok(System {
        kernel,
        coefficients,
        condition,
    })
}

/// Largest sum of a column's magnitudes.
fn one_norm(m: &DMatrix<f64>) -> f64 {
    m.column_iter()
        .map(|c| c.iter().map(|v| v.abs()).sum::<f64>())
        .fold(0.0, f64::max)
}

impl System {
    pub(crate) fn smallest_eigenvalue(&self) -> f64 {
        let symmetric = (&self.kernel + self.kernel.transpose()) * 0.5;
        let eigen = SymmetricEigen::new(symmetric);
        eigen
            .eigenvalues
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min)
    }
    pub(crate) fn bytes(&self) -> usize {
        (self.kernel.len() + self.coefficients.len()) * size_of::<f64>()
    }
}
