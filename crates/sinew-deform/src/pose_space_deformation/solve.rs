//! The systems of vertices: symmetric, and without full rank wherever a vertex does not see what tells two poses apart.

use sinew_geom::nalgebra::{DMatrix, SymmetricEigen};

/// Eigenvalues up to this share of the largest one count as zero. Coefficients grow with its inverse and kernels with single
/// precision must still add them up: their rounding, about 5·10⁻⁷, times 10⁵ is a twentieth of what such an eigenvector adds.
pub(super) const TOLERANCE: f64 = 1e-5;

/// The inverse of a symmetric matrix on the eigenvectors that count, zero on the others.
pub(super) struct PseudoInverse {
    pub(super) matrix: DMatrix<f64>,
    /// Eigenvectors that do not count.
    pub(super) lost: usize,
}

/// `O(n³)`.
pub(super) fn pseudo_inverse(matrix: DMatrix<f64>) -> PseudoInverse {
    let eigen = SymmetricEigen::new(matrix);
    let largest = eigen.eigenvalues.amax();
    let counts = |value: f64| value.abs() > TOLERANCE * largest;
    let mut scaled = eigen.eigenvectors.clone();
    let mut lost = 0;
    for (mut column, &value) in scaled.column_iter_mut().zip(eigen.eigenvalues.iter()) {
        if counts(value) {
            column /= value;
        } else {
            column.fill(0.0);
            lost += 1;
        }
    }
    PseudoInverse {
        matrix: scaled * eigen.eigenvectors.transpose(),
        lost,
    }
}
