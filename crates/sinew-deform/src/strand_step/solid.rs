//! Solids as strands see them.

use super::contact::LEAST_LAYER;
use super::number::Lanes;
use crate::collide::{Distance, Placed, Rigid};
use sinew_geom::{Mat3, Real};

/// Strands are taken for longer than they are by this factor: lengths come with roundings.
const LONGER: f64 = 1.01;
/// Motions whose numbers are all closer to the identity than this are none but for roundings.
const STILL: f64 = 5e-7;
/// What strands keep from a solid in their reach: nothing is known.
const NOTHING: f64 = -1e9;

/// A motion of places of strands: rows, then the translation.
pub(crate) type Places<L> = [[L; 3]; 4];

/// A solid as a group of strands sees it in one step.
#[derive(Clone, Copy)]
pub(crate) struct Solid<'a, L> {
    pub(crate) shape: &'a dyn Distance,
    /// From places of strands to the solid's own.
    pub(crate) inward: Places<L>,
    /// Where the solid takes a point in the step.
    pub(crate) carry: Places<L>,
    pub(crate) margin: f64,
    pub(crate) friction: f64,
    /// Smallest detail, metres.
    pub(crate) detail: f64,
    /// How far the pins are from it, or inside: margins begin there.
    pub(crate) base: L,
    /// All vertices of a strand that cannot reach it are farther away than this.
    pub(crate) keeps: L,
    /// Whether one of the strands can reach it.
    pub(crate) is_near: bool,
}

impl<'a, L: Lanes> Solid<'a, L> {
    /// Out of the reach of all strands.
    pub(crate) fn new<R: Real>(placed: &Placed<'a, R>) -> Self {
        let mut out = Self {
            shape: placed.shape,
            inward: Default::default(),
            carry: Default::default(),
            margin: placed.at.margin.to_double(),
            friction: placed.at.friction.to_double(),
            detail: placed.at.detail.to_double(),
            base: L::default(),
            keeps: L::default(),
            is_near: false,
        };
        for lane in 0..L::LANES {
            out.keeps.set(lane, 1e6);
            for k in 0..3 {
                out.inward[k][k].set(lane, 1.0);
                out.carry[k][k].set(lane, 1.0);
            }
        }
        out
    }

    /// Distance in which it is felt.
    pub(crate) fn layer(&self) -> f64 {
        self.margin.max(LEAST_LAYER)
    }

    /// Sets a strand whose root goes from `begin` to `end`. Its pins are `base` off, and its root `root`, and it is no longer than `reach`.
    pub(crate) fn set<R: Real>(
        &mut self,
        lane: usize,
        placed: &Placed<'_, R>,
        [begin, end]: [&Rigid<R>; 2],
        (root, base, reach): (f64, f64, f64),
    ) {
        set_motion(&mut self.carry, lane, &seen(end, &placed.at.carry, begin));
        let turn: Mat3<R> = end.rotation.to_rotation_matrix().into_inner();
        let inverse = &placed.at.inverse;
        let from = inverse * (end.translation - placed.at.origin);
        set_matrix(&mut self.inward, lane, &(inverse * turn, from));
        self.base.set(lane, base);
        let keeps = root - LONGER * reach;
        // Also where the distance is not a number.
        let is_near = keeps.is_nan() || keeps <= self.layer();
        self.keeps.set(lane, if is_near { NOTHING } else { keeps });
        self.is_near |= is_near;
    }
}

/// A motion of the scene as an observer sees it who was at `begin` and is at `end`.
pub(crate) fn seen<R: Real>(end: &Rigid<R>, motion: &Rigid<R>, begin: &Rigid<R>) -> Rigid<R> {
    let moved = Rigid {
        rotation: motion.rotation * begin.rotation,
        translation: motion.point(begin.translation),
    };
    let inverse = end.rotation.conjugate();
    let out = Rigid {
        rotation: inverse * moved.rotation,
        translation: inverse * (moved.translation - end.translation),
    };
    let turned = out.rotation.coords.xyz().amax();
    let off = turned.max(out.translation.amax());
    if off < R::from_double(STILL) {
        Rigid::identity()
    } else {
        out
    }
}

/// How far pins are from a solid: the larger of both distances, and 0 inside.
pub(crate) fn base_of<R: Real>(root: R, last: R) -> f64 {
    root.max(last).max(R::zero()).to_double()
}

pub(crate) fn set_motion<R: Real, L: Lanes>(to: &mut Places<L>, lane: usize, m: &Rigid<R>) {
    let turn: Mat3<R> = m.rotation.to_rotation_matrix().into_inner();
    set_matrix(to, lane, &(turn, m.translation));
}

fn set_matrix<R: Real, L: Lanes>(
    to: &mut Places<L>,
    lane: usize,
    (turn, translation): &(Mat3<R>, sinew_geom::Vec3<R>),
) {
    for k in 0..3 {
        for c in 0..3 {
            to[k][c].set(lane, turn[(k, c)].to_double());
        }
        to[3][k].set(lane, translation[k].to_double());
    }
}
