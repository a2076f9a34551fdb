//! Response of each output vertex to a common motion of all rest positions.

use super::stack::Stack;
use super::{ExtractError, SingularVertex};
use crate::geom::{Mat3, Vec3};

/// Step of the differences, as a share of the mesh size. Skinning is affine in the rest positions; a long step costs
/// nothing and reduces rounding.
const REACH: f64 = 1e-2;
/// A vertex whose response is below this share of the largest response counts as fixed: differences of rounded
/// positions are not more accurate.
const FIXED: f64 = 1e-4;

/// Inverted blocks.
pub(super) struct Blocks {
    inverses: Vec<Mat3<f64>>,
    /// For singular blocks: projector onto the reachable directions.
    reachable: Vec<(usize, Mat3<f64>)>,
    singular: Vec<SingularVertex>,
}

impl Blocks {
    /// Measures around `offsets`; 6 evaluations.
    pub(super) fn measure(
        stack: &mut Stack<'_, '_>,
        offsets: &[Vec3<f64>],
        singular_ratio: f64,
    ) -> Result<Self, ExtractError> {
        let reach = REACH * stack.size();
        let mut columns = Vec::with_capacity(3);
        for axis in 0..3 {
            let along = vec![Vec3::ith(axis, 1.0); offsets.len()];
            columns.push(stack.derivative(offsets, &along, reach)?);
        }
        let block = |v: usize| Mat3::from_fn(|r, c| columns[c][v][r]);
        let blocks: Vec<Mat3<f64>> = (0..offsets.len()).map(block).collect();
        Ok(Self::of(&blocks, singular_ratio))
    }

    fn of(blocks: &[Mat3<f64>], singular_ratio: f64) -> Self {
        let liveliest = blocks.iter().map(Mat3::norm).fold(0.0, f64::max);
        let mut out = Self {
            inverses: Vec::with_capacity(blocks.len()),
            reachable: Vec::new(),
            singular: Vec::new(),
        };
        for (vertex, block) in blocks.iter().enumerate() {
            let values = block.singular_values();
            let (largest, smallest) = (values.max(), values.min());
            let least = (singular_ratio * largest).max(FIXED * liveliest);
            let inverse = block.try_inverse().filter(|_| smallest > least);
            out.inverses.push(inverse.unwrap_or_else(|| {
                let (inverse, reachable) = pseudo_inverse(block, least);
                let ratio = if largest > 0.0 {
                    smallest / largest
                } else {
                    0.0
                };
                out.singular.push(SingularVertex { vertex, ratio });
                out.reachable.push((vertex, reachable));
                inverse
            }));
        }
        out
    }

    /// Rest offsets that give the motion `x`, vertex by vertex.
    pub(super) fn solve(&self, x: &[Vec3<f64>]) -> Vec<Vec3<f64>> {
        self.inverses.iter().zip(x).map(|(b, x)| b * x).collect()
    }

    /// `x` without directions that no offset reaches.
    pub(super) fn projected(&self, x: &[Vec3<f64>]) -> Vec<Vec3<f64>> {
        let mut out = x.to_vec();
        for (vertex, projector) in &self.reachable {
            out[*vertex] = projector * out[*vertex];
        }
        out
    }

    /// Vertices that cannot move in every direction.
    pub(super) fn into_singular(self) -> Vec<SingularVertex> {
        self.singular
    }
}

/// Pseudo-inverse without singular values up to `least`, and the projector onto its domain.
fn pseudo_inverse(block: &Mat3<f64>, least: f64) -> (Mat3<f64>, Mat3<f64>) {
    let svd = block.svd(true, true);
    let (Some(u), Some(v_transposed)) = (svd.u, svd.v_t) else {
        return (Mat3::zeros(), Mat3::zeros());
    };
    let kept = |k: &usize| svd.singular_values[*k] > least;
    let (mut inverse, mut projector) = (Mat3::zeros(), Mat3::zeros());
    for k in (0..3).filter(kept) {
        let left = u.column(k);
        inverse += v_transposed.row(k).transpose() * left.transpose() / svd.singular_values[k];
        projector += left * left.transpose();
    }
    (inverse, projector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_reached_is_left_alone() {
        let turn = crate::geom::Quat::from_euler_angles(0.3, -0.8, 1.1);
        let turn = turn.to_rotation_matrix().into_inner();
        let flat = turn * Mat3::from_diagonal(&Vec3::new(2.0, 0.5, 1e-7));
        let blocks = Blocks::of(&[turn, flat, Mat3::zeros()], 1e-2);
        let found: Vec<usize> = blocks.singular.iter().map(|s| s.vertex).collect();
        assert_eq!(found, [1, 2]);
        let x = [turn * Vec3::new(1.0, 2.0, 3.0); 3];
        let solved = blocks.solve(&x);
        let expected = [
            Vec3::new(1.0, 2.0, 3.0),
            Vec3::new(0.5, 4.0, 0.0),
            Vec3::zeros(),
        ];
        for (found, expected) in solved.iter().zip(expected) {
            assert!((found - expected).norm() < 1e-12, "{found} {expected}");
        }
        let projected = blocks.projected(&x);
        let reached = [x[0], turn * Vec3::new(1.0, 2.0, 0.0), Vec3::zeros()];
        for (found, expected) in projected.iter().zip(reached) {
            assert!((found - expected).norm() < 1e-12, "{found} {expected}");
        }
    }
}
