//! GMRES: least squares over the span of a vector and its images (Saad and Schultz 1986), with Givens rotations.

use crate::geom::Vec3;

/// Images, at most.
const SIZE: usize = 40;
/// An image that is, but for this share, in the span already says nothing new: differences are no better.
const NOTHING_NEW: f64 = 1e-5;

pub(super) type Field = Vec<Vec3<f64>>;

pub(super) fn dot(a: &[Vec3<f64>], b: &[Vec3<f64>]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

pub(super) fn norm(a: &[Vec3<f64>]) -> f64 {
    dot(a, a).sqrt()
}

fn add_scaled(to: &mut [Vec3<f64>], factor: f64, from: &[Vec3<f64>]) {
    to.iter_mut().zip(from).for_each(|(t, f)| *t += f * factor);
}

/// `x` with `apply(x)` near `b`: until what is left is `relative` of `b`, or nothing new comes.
///
/// # Errors
/// What `apply` says.
pub(super) fn gmres<E>(
    b: &[Vec3<f64>],
    relative: f64,
    mut apply: impl FnMut(&[Vec3<f64>]) -> Result<Field, E>,
) -> Result<Field, E> {
    let length = norm(b);
    let mut x = vec![Vec3::zeros(); b.len()];
    if length <= 0.0 {
        return Ok(x);
    }
    let mut basis: Vec<Field> = vec![b.iter().map(|b| b / length).collect()];
    let mut triangle = Triangle::new(length);
    for k in 0..SIZE {
        let mut image = apply(&basis[k])?;
        let whole = norm(&image);
        let mut column = Vec::with_capacity(k + 2);
        for direction in &basis {
            let along = dot(direction, &image);
            add_scaled(&mut image, -along, direction);
            column.push(along);
        }
        let new = norm(&image);
        column.push(new);
        let left = triangle.push(column);
        if left <= relative * length || new <= NOTHING_NEW * whole {
            break;
        }
        basis.push(image.iter().map(|i| i / new).collect());
    }
    for (factor, direction) in triangle.solve().iter().zip(&basis) {
        add_scaled(&mut x, *factor, direction);
    }
    Ok(x)
}

/// The least-squares problem of the coefficients, kept triangular.
struct Triangle {
    columns: Vec<Vec<f64>>,
    rotations: Vec<(f64, f64)>,
    right: Vec<f64>,
}

impl Triangle {
    fn new(length: f64) -> Self {
        Self {
            columns: Vec::new(),
            rotations: Vec::new(),
            right: vec![length],
        }
    }

    /// Takes a column, one longer than the one before; gives the length of what is left.
    fn push(&mut self, mut column: Vec<f64>) -> f64 {
        for (k, (c, s)) in self.rotations.iter().enumerate() {
            let (a, b) = (column[k], column[k + 1]);
            (column[k], column[k + 1]) = (c * a + s * b, c * b - s * a);
        }
        let k = self.columns.len();
        let (a, b) = (column[k], column[k + 1]);
        let length = a.hypot(b);
        let (c, s) = if length > 0.0 {
            (a / length, b / length)
        } else {
            (1.0, 0.0)
        };
        column[k] = length;
        self.rotations.push((c, s));
        self.columns.push(column);
        let last = self.right[k];
        self.right[k] = c * last;
        self.right.push(-s * last);
        (s * last).abs()
    }

    /// Coefficients of the directions; zero for those that have no image.
    fn solve(&self) -> Vec<f64> {
        let n = self.columns.len();
        let largest = self
            .columns
            .iter()
            .enumerate()
            .map(|(k, c)| c[k])
            .fold(0.0, f64::max);
        let mut x = vec![0.0; n];
        for k in (0..n).rev() {
            let later: f64 = (k + 1..n).map(|j| self.columns[j][k] * x[j]).sum();
            let pivot = self.columns[k][k];
            if pivot > NOTHING_NEW * largest {
                x[k] = (self.right[k] - later) / pivot;
            }
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn a_coupled_system_is_solved() {
        // Tridiagonal, not symmetric, coordinate by coordinate: rows (-1, 3, -0.5).
        let apply = |x: &[Vec3<f64>]| -> Result<Field, Infallible> {
            let at = |k: isize| {
                let k = usize::try_from(k).ok();
                k.and_then(|k| x.get(k)).copied().unwrap_or_default()
            };
            let row = |k: isize| at(k) * 3.0 - at(k - 1) - at(k + 1) * 0.5;
            Ok((0..x.len().cast_signed()).map(row).collect())
        };
        let wanted: Field = (0..50)
            .map(|k| Vec3::new(f64::from(k).sin(), 1.0, f64::from(k % 7)))
            .collect();
        let Ok(b) = apply(&wanted);
        let Ok(x) = gmres(&b, 1e-10, apply);
        let error: Field = x.iter().zip(&wanted).map(|(a, b)| a - b).collect();
        assert!(norm(&error) < 1e-8, "{}", norm(&error));
    }
}
