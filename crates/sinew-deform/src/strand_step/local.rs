//! An energy of one vertex near where it is.

use super::math::{Sym, V};
use super::number::Number;

/// Value, gradient, and a positive definite matrix in place of the second derivative.
#[derive(Clone, Copy)]
pub(crate) struct Local<N> {
    pub(crate) energy: N,
    pub(crate) gradient: V<N>,
    pub(crate) matrix: Sym<N>,
}

impl<N: Number> Local<N> {
    #[inline(always)]
    pub(crate) fn zero(like: N) -> Self {
        Self {
            energy: like.k(0.0),
            gradient: V::zero(like),
            matrix: Sym::diagonal(like.k(0.0)),
        }
    }

    /// A spring of that stiffness to where `from_goal` is zero.
    #[inline(always)]
    pub(crate) fn spring(&mut self, from_goal: V<N>, stiffness: N) {
        let k = stiffness;
        self.energy = self.energy + k * k.k(0.5) * from_goal.squared();
        self.gradient = self.gradient + from_goal * k;
        self.matrix = self.matrix + Sym::diagonal(k);
    }

    /// Dry friction: a force that does not grow with the way, smoothed below the length `slack`. It is as stiff as it is `further` on.
    /// Returns its stiffness.
    #[inline(always)]
    pub(crate) fn dry(&mut self, way: V<N>, further: V<N>, force: N, slack: N) -> N {
        let square = slack * slack;
        let k = force / ((way + further).squared() + square).sqrt();
        self.energy = self.energy + force * (way.squared() + square).sqrt();
        self.gradient = self.gradient + way * k;
        self.matrix = self.matrix + Sym::diagonal(k);
        k
    }
}
