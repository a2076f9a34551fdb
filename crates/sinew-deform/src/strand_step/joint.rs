//! Bends and twists: the joint between two segments.
//!
//! A segment is a frame, and a joint the energy of three springs between the axes of a segment and where those of the segment before want
//! them: `k_b |t - g_t|^2 / 2 + k_t (|u - g_u|^2 + |w - g_w|^2) / 2`. For small angles that is a rod with the bending stiffness
//! `k_b + k_t` and the twisting stiffness `2 k_t`. It has no angles and no singular folds.

use super::math::{M, Sym, V, columns_times, rows_times};
use super::number::Number;

/// Twisting stiffness over bending stiffness; 0.75 is that of hair and wire.
pub(crate) const TWIST: f64 = 0.75;

/// A joint as the solve needs it. Torques and rotations are along the axes of the segment after it.
pub(crate) struct Joint<N> {
    pub(crate) energy: N,
    /// On the segment after the joint, and the opposite one, along its axes, on the segment before.
    pub(crate) torque: V<N>,
    pub(crate) reaction: V<N>,
    /// Stiffness of twists and bends.
    pub(crate) twist: N,
    pub(crate) bend: N,
    /// The axes of the segment after the joint along those of the one before.
    pub(crate) relative: M<N>,
}

/// Where the axes of a segment are at rest along those of the one before: the shortest rotation that takes its direction there.
#[inline(always)]
fn rest_axes<N: Number>(d: V<N>) -> M<N> {
    let one = d.x.k(1.0);
    let f = one / (one + d.x).max(one.k(1e-3));
    [
        d,
        V::new(-d.y, one - d.y * d.y * f, -(d.y * d.z * f)),
        V::new(-d.z, -(d.y * d.z * f), one - d.z * d.z * f),
    ]
}

impl<N: Number> Joint<N> {
    /// `bend` is its stiffness, `rest` the direction of the segment after it along the axes of the one before.
    #[inline(always)]
    pub(crate) fn new(before: &M<N>, after: &M<N>, bend: N, rest: V<N>) -> Self {
        let relative = [
            rows_times(before, after[0]),
            rows_times(before, after[1]),
            rows_times(before, after[2]),
        ];
        let rest = rest_axes(rest);
        let (along, around) = (bend * bend.k(1.0 - TWIST / 2.0), bend * bend.k(TWIST / 2.0));
        let off = [
            relative[0] - rest[0],
            relative[1] - rest[1],
            relative[2] - rest[2],
        ];
        let half = bend.k(0.5);
        let energy =
            half * (along * off[0].squared() + around * (off[1].squared() + off[2].squared()));
        // The wanted axes along those of the segment after the joint.
        let wanted = [
            rows_times(&relative, rest[0]),
            rows_times(&relative, rest[1]),
            rows_times(&relative, rest[2]),
        ];
        let torque = V::new(
            around * (wanted[1].z - wanted[2].y),
            around * wanted[2].x - along * wanted[0].z,
            along * wanted[0].y - around * wanted[1].x,
        );
        Self {
            energy,
            torque,
            reaction: columns_times(&relative, torque),
            twist: bend * bend.k(TWIST),
            bend,
            relative,
        }
    }

    /// Second derivative by the rotation of the segment before.
    #[inline(always)]
    pub(crate) fn stiffness_before(&self) -> Sym<N> {
        Sym::diagonal(self.bend) + Sym::outer(self.relative[0], self.twist - self.bend)
    }

    /// Second derivative by both rotations: a row for each axis of the segment after the joint.
    #[inline(always)]
    pub(crate) fn cross_stiffness(&self) -> M<N> {
        [
            self.relative[0] * -self.twist,
            self.relative[1] * -self.bend,
            self.relative[2] * -self.bend,
        ]
    }
}
