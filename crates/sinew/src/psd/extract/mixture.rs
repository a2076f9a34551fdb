//! Changes of the last steps, and the mix of them with the smallest error.

use crate::geom::Vec3;
use crate::geom::nalgebra::{DMatrix, DVector};
use std::collections::VecDeque;

/// Maximum number of stored steps. Single precision is enough for their differences.
const DEPTH: usize = 60;
/// Directions below this share of the strongest one are rounding.
const ROUNDING: f64 = 1e-10;
/// A vertex has the square of its error as weight, up to this multiple of the tolerance.
const FARTHEST: f64 = 10.0;

/// Weight of each vertex.
pub(super) struct Weights(Vec<f64>);

impl Weights {
    /// 1 for errors up to `near`.
    pub(super) fn of(missing: &[Vec3<f64>], near: f64) -> Self {
        let weight = |m: &Vec3<f64>| {
            let off = if near > 0.0 { m.norm() / near } else { 1.0 };
            off.clamp(1.0, FARTHEST).powi(2)
        };
        Self(missing.iter().map(weight).collect())
    }

    /// Square root of the sum of weighted squares.
    pub(super) fn norm(&self, field: &[Vec3<f64>]) -> f64 {
        let squares = field.iter().zip(&self.0).map(|(v, w)| v.norm_squared() * w);
        squares.sum::<f64>().sqrt()
    }

    fn dot(&self, a: &[[f32; 3]], b: &[[f32; 3]]) -> f64 {
        let pairs = a.iter().zip(b).zip(&self.0);
        pairs.map(|((a, b), w)| product(a, b) * w).sum()
    }
}

fn double(v: &[f32; 3]) -> Vec3<f64> {
    Vec3::from(v.map(f64::from))
}

fn product(a: &[f32; 3], b: &[f32; 3]) -> f64 {
    double(a).dot(&double(b))
}

/// Change of one step.
struct Step {
    offsets: Vec<[f32; 3]>,
    missing: Vec<[f32; 3]>,
    /// Weighted products of its residual change with those of earlier steps and itself.
    missing_products: VecDeque<f64>,
    /// Products of its offset change, without weights.
    offset_products: VecDeque<f64>,
}

/// The last steps.
pub(super) struct History {
    weights: Weights,
    steps: VecDeque<Step>,
}

impl History {
    pub(super) fn new(weights: Weights) -> Self {
        let steps = VecDeque::new();
        Self { weights, steps }
    }

    pub(super) fn clear(&mut self) {
        self.steps.clear();
    }

    pub(super) fn reweight(&mut self, weights: Weights) {
        self.weights = weights;
        for last in 0..self.steps.len() {
            let missing = &self.steps[last].missing;
            let earlier = self.steps.iter().take(last + 1);
            let products = earlier.map(|s| self.weights.dot(&s.missing, missing));
            self.steps[last].missing_products = products.collect();
        }
    }

    /// Stores a step and removes the oldest one if there are too many.
    pub(super) fn push(&mut self, offsets: Vec<[f32; 3]>, missing: Vec<[f32; 3]>) {
        if self.steps.len() == DEPTH {
            self.steps.pop_front();
            for step in &mut self.steps {
                step.missing_products.pop_front();
                step.offset_products.pop_front();
            }
        }
        let plain = |a: &[[f32; 3]], b: &[[f32; 3]]| -> f64 {
            a.iter().zip(b).map(|(a, b)| product(a, b)).sum()
        };
        let with_others = self.steps.iter();
        let mut missing_products: VecDeque<f64> = with_others
            .map(|s| self.weights.dot(&s.missing, &missing))
            .collect();
        missing_products.push_back(self.weights.dot(&missing, &missing));
        let with_others = self.steps.iter();
        let mut offset_products: VecDeque<f64> =
            with_others.map(|s| plain(&s.offsets, &offsets)).collect();
        offset_products.push_back(plain(&offsets, &offsets));
        self.steps.push_back(Step {
            offsets,
            missing,
            missing_products,
            offset_products,
        });
    }

    /// Subtracts a share of each stored step from offsets and residuals. The shares minimise the weighted square of the
    /// residual plus `damping²` times the square of the offsets, as if everything were linear.
    pub(super) fn mix(&self, offsets: &mut [Vec3<f64>], missing: &mut [Vec3<f64>], damping: f64) {
        let shares = self.shares(offsets, missing, damping * damping);
        for (step, share) in self.steps.iter().zip(shares.iter()) {
            for (offset, change) in offsets.iter_mut().zip(&step.offsets) {
                *offset -= double(change) * *share;
            }
            for (missing, change) in missing.iter_mut().zip(&step.missing) {
                *missing -= double(change) * *share;
            }
        }
    }

    /// Least squares by normal equations, each step scaled to length one, without directions that are rounding.
    fn shares(&self, offsets: &[Vec3<f64>], missing: &[Vec3<f64>], damping: f64) -> DVector<f64> {
        let count = self.steps.len();
        let mut matrix = DMatrix::zeros(count, count);
        for (r, step) in self.steps.iter().enumerate() {
            let products = step.missing_products.iter().zip(&step.offset_products);
            for (c, (missing, offset)) in products.enumerate() {
                matrix[(r, c)] = missing + damping * offset;
                matrix[(c, r)] = matrix[(r, c)];
            }
        }
        let right = self.steps.iter().map(|step| {
            let missing = missing.iter().zip(&step.missing).zip(&self.weights.0);
            let offsets = offsets.iter().zip(&step.offsets);
            missing
                .map(|((m, c), w)| m.dot(&double(c)) * w)
                .sum::<f64>()
                + damping * offsets.map(|(o, c)| o.dot(&double(c))).sum::<f64>()
        });
        let right = DVector::from_iterator(count, right);
        least_squares(matrix, right)
    }
}

fn least_squares(mut matrix: DMatrix<f64>, mut right: DVector<f64>) -> DVector<f64> {
    let count = right.len();
    if count == 0 {
        return right;
    }
    let scale = |square: f64| {
        if square > 0.0 {
            1.0 / square.sqrt()
        } else {
            0.0
        }
    };
    let scales = matrix.diagonal().map(scale);
    for c in 0..count {
        for r in 0..count {
            matrix[(r, c)] *= scales[r] * scales[c];
        }
    }
    right.component_mul_assign(&scales);
    let eigen = matrix.symmetric_eigen();
    let largest = eigen.eigenvalues.max();
    let mut out = DVector::zeros(count);
    for (value, vector) in eigen
        .eigenvalues
        .iter()
        .zip(eigen.eigenvectors.column_iter())
    {
        if *value > ROUNDING * largest {
            out += vector * (vector.dot(&right) / value);
        }
    }
    out.component_mul(&scales)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `missing = goal - A offsets` with two directions tried: the third vertex cannot be mended by them, the rest is exact.
    #[test]
    fn a_linear_rest_is_mixed_away() {
        let answer = |d: [f32; 2]| [[-2.0 * d[0], 0.0, 0.0], [0.0, -0.25 * d[1], 0.0], [0.0; 3]];
        let offset = |d: [f32; 2]| vec![[d[0], 0.0, 0.0], [0.0, d[1], 0.0], [0.0; 3]];
        let missing = [
            Vec3::new(1.0, 0.0, 0.0),
            Vec3::new(0.0, 3.0, 0.0),
            Vec3::new(0.5, 0.0, 0.0),
        ];
        let mut history = History::new(Weights::of(&missing, 0.1));
        for d in [[1.0, 1.0], [1.0, -1.0], [0.5, 0.0]] {
            history.push(offset(d), answer(d).to_vec());
        }
        history.reweight(Weights::of(&missing, 1.0));
        let (mut offsets, mut rest) = (vec![Vec3::zeros(); 3], missing.to_vec());
        history.mix(&mut offsets, &mut rest, 0.0);
        let expected = [Vec3::zeros(), Vec3::zeros(), missing[2]];
        for (found, expected) in rest.iter().zip(expected) {
            assert!((found - expected).norm() < 1e-6, "{found} {expected}");
        }
        let expected = [Vec3::new(0.5, 0.0, 0.0), Vec3::new(0.0, 12.0, 0.0)];
        for (found, expected) in offsets.iter().zip(expected) {
            assert!((found - expected).norm() < 1e-5, "{found} {expected}");
        }
        // With weight 9 and damping 0.5, d minimises 9 (3 - d / 4)² + d² / 4.
        let (mut offsets, mut rest) = (vec![Vec3::zeros(); 3], missing.to_vec());
        history.mix(&mut offsets, &mut rest, 0.5);
        let expected = (9.0 * 3.0 / 4.0) / (9.0 / 16.0 + 0.25);
        assert!(
            (offsets[1].y - expected).abs() < 1e-5,
            "{} {expected}",
            offsets[1]
        );
    }

    #[test]
    fn nothing_tried_and_nothing_changed_is_no_mixture() {
        let missing = [Vec3::new(1.0, 2.0, 3.0)];
        let mut history = History::new(Weights::of(&missing, 0.0));
        for _ in 0..2 {
            let (mut offsets, mut rest) = (vec![Vec3::zeros()], missing.to_vec());
            history.mix(&mut offsets, &mut rest, 0.0);
            assert_eq!((offsets[0], rest[0]), (Vec3::zeros(), missing[0]));
            history.push(vec![[0.0; 3]], vec![[0.0; 3]]);
        }
    }

    #[test]
    fn only_the_last_steps_are_kept() {
        let missing = [Vec3::new(1.0, 0.0, 0.0)];
        let mut history = History::new(Weights::of(&missing, 1.0));
        for step in 0..DEPTH + 3 {
            history.push(vec![[step as f32, 0.0, 0.0]], vec![[1.0, step as f32, 0.0]]);
        }
        assert_eq!(history.steps.len(), DEPTH);
        assert_eq!(history.steps[0].offsets[0][0], 3.0);
        let last = history.steps.len() - 1;
        for (place, step) in history.steps.iter().enumerate() {
            assert_eq!(step.missing_products.len(), place + 1);
            let with = f64::from(step.offsets[0][0]);
            let first = f64::from(history.steps[0].offsets[0][0]);
            assert_eq!(step.missing_products[0], 1.0 + with * first);
            assert_eq!(step.offset_products[place], with * with, "{last}");
        }
    }
}
