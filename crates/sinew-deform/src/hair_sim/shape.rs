//! Global and local shape: rest position and rest bends, in one linear system a strand.
//!
//! Minimises, as one implicit step does, `sum m |d|^2 / 2 + h^2 E(x + d)` over the corrections `d`, with the energy
//!
//! ```text
//! E = sum k_i |C_i|^2 / 2  +  sum w_i (2 pi f_global)^2 |s_i - x_i|^2 / 2,
//! C_i = L_(i+1) (e_(i+1) - R_i d_(i+1))
//! ```
//!
//! `e` are unit segments now, `d` at rest, `R_i` the frame carried along the strand (Han and Harada 2012): it turns with
//! the skin at the root and by the shortest arc from segment to segment, so that twist is defined. Turning the
//! segment before a bend moves the goal of the one behind it by the `lever` r; so `C_i` has the derivatives
//! `(r, -(1 + r), 1)`, whose sum is zero: bends push nothing forward. They are scalars, so one matrix of five diagonals serves all
//! three coordinates, and elimination without pivots solves it in one sweep up and one down. They are exact for straight
//! rest shapes and the matrix for others is an estimate (see `CURL`); the forces are exact for all, twist included.

use super::bind::BoundVertex;
use super::step::{StepConstants, WorkVertex};
use crate::collide::{Rigid, unit_or};
use sinew_geom::nalgebra::Quaternion;
use sinew_geom::{Quat, Real, Vec3};

/// Bends stiffer than this (over mass and squared time step) are no stiffer: single precision could not solve them.
pub(super) const STIFFEST: f64 = 1e4;
/// Behind the global range the pull fades out over this share of the length.
pub(super) const FADE: f64 = 0.1;
/// Where the rest shape bends, turning a segment turns goals behind it about axes that the matrix does not know. So that steps
/// do not overshoot, it holds rotations back by this many times the stiffness, times the squared sine of the rest bend.
/// Found by trial: below 8 tight curls gained energy, above 64 they came to rest later.
pub(super) const CURL: f64 = 24.0;
/// A correction turns no segment by more than about this angle, in radians.
pub(super) const TURN: f64 = 0.25;

/// Moves the strand towards its rest shape.
pub(crate) fn restore_shape<R: Real>(
    bound: &[BoundVertex],
    constants: &StepConstants<R>,
    root: &Rigid<R>,
    scale: R,
    work: &mut [WorkVertex<R>],
) {
    if !constants.keeps_shape() {
        return;
    }
    for (w, b) in work.iter_mut().zip(bound) {
        let pull = pull(constants, b);
        w.right = (w.goal - w.contact.x) * pull;
        w.diagonal = mass(w) + pull;
        w.next = R::zero();
        w.after_next = R::zero();
        w.torque = Vec3::zeros();
        w.along = Vec3::zeros();
    }
    if constants.bends() {
        add_bends(bound, constants, root, scale, work);
    }
    solve(work);
}

fn mass<R: Real>(w: &WorkVertex<R>) -> R {
    if w.contact.inverse_mass > R::zero() {
        R::one() / w.contact.inverse_mass
    } else {
        R::one()
    }
}

fn pull<R: Real>(constants: &StepConstants<R>, b: &BoundVertex) -> R {
    if !constants.pulls() {
        return R::zero();
    }
    let beyond = (R::from_single(b.arc) - constants.global_range) / R::from_double(FADE);
    constants.global * (R::one() - beyond).clamp(R::zero(), R::one())
}

fn add_bends<R: Real>(
    bound: &[BoundVertex],
    constants: &StepConstants<R>,
    root: &Rigid<R>,
    scale: R,
    work: &mut [WorkVertex<R>],
) {
    let mut frame = root.rotation;
    // Direction of the segment before, and the same turned to by the frame.
    let mut before = Vec3::zeros();
    for i in 0..bound.len() - 1 {
        let rest = R::vec3(bound[i + 1].offset) - R::vec3(bound[i].offset);
        let length = R::from_single(bound[i + 1].length);
        if length <= R::zero() {
            continue;
        }
        let goal = crate::collide::turn(&frame, rest * (R::one() / length));
        let now = unit_or(work[i + 1].contact.x - work[i].contact.x, goal);
        let lever = if before == Vec3::zeros() {
            R::zero()
        } else {
            R::from_single(bound[i].lever)
        };
        before = now;
        let reach = R::one() + lever;
        let most = R::from_double(STIFFEST) / (reach * reach).max(R::one());
        let stiffness = (R::from_single(bound[i].bend) * constants.local).min(most);
        let length = length * scale;
        let w = &mut work[i + 1];
        w.along = now;
        w.torque = goal.cross(&now) * (stiffness * length * length);
        let bend = now * goal.dot(&now) - goal;
        add_bend(work, i, lever, stiffness, bend * (length * stiffness));
        // The next segment's direction in units of this one's.
        let straight =
            lever * R::from_single(bound[i].length) / R::from_single(bound[i + 1].length);
        let curl = (R::one() - straight * straight).max(R::zero());
        hold_turning(work, i, stiffness * curl * R::from_double(CURL));
        frame = shortest_arc(goal, now) * frame;
        frame.renormalize_fast();
    }
    add_reactions(work);
}

/// What turns a segment towards its goal turns the frame that the goal comes from the other way: the segment before, or,
/// about that one's axis, the frame before that one. Without these reactions curls would gain energy.
fn add_reactions<R: Real>(work: &mut [WorkVertex<R>]) {
    let mut twist = Vec3::zeros();
    for i in (1..work.len()).rev() {
        // `twist` is what the frame of segment i passes on; the goal of segment i is in the frame of segment i - 1.
        let torque = work[i].torque + twist;
        if i == 1 {
            break;
        }
        let along = work[i - 1].along;
        twist = along * along.dot(&torque);
        let length = work[i - 1].contact.length;
        if length > R::zero() {
            let couple = torque.cross(&along) / length;
            work[i - 1].right += couple;
            work[i - 2].right -= couple;
        }
    }
}

/// Makes the matrix hold back rotations of the segment before vertex `i`.
fn hold_turning<R: Real>(work: &mut [WorkVertex<R>], i: usize, k: R) {
    if i == 0 || k <= R::zero() {
        return;
    }
    let free = |v: usize| work[v].contact.inverse_mass > R::zero();
    let (a, b) = (free(i - 1), free(i));
    if a {
        work[i - 1].diagonal += k;
    }
    if b {
        work[i].diagonal += k;
    }
    if a && b {
        work[i - 1].next -= k;
    }
}

/// Adds one bend to the matrix, and what it does to its own segment to the right; pinned vertices take no part.
fn add_bend<R: Real>(work: &mut [WorkVertex<R>], i: usize, lever: R, k: R, force: Vec3<R>) {
    let free = |w: &WorkVertex<R>, g: R| {
        if w.contact.inverse_mass > R::zero() {
            g
        } else {
            R::zero()
        }
    };
    let middle = free(&work[i], -(R::one() + lever));
    let outer = free(&work[i + 1], R::one());
    if i > 0 {
        let w = &mut work[i - 1];
        let inner = free(w, lever);
        w.diagonal += k * inner * inner;
        w.next += k * inner * middle;
        w.after_next += k * inner * outer;
    }
    let w = &mut work[i];
    w.diagonal += k * middle * middle;
    w.next += k * middle * outer;
    w.right += force;
    let w = &mut work[i + 1];
    w.diagonal += k * outer * outer;
    w.right -= force;
}

/// Elimination from the root to the tip, substitution back; adds the solution to the positions that may move.
fn solve<R: Real>(work: &mut [WorkVertex<R>]) {
    let n = work.len();
    for i in 0..n {
        let (done, rest) = work.split_at_mut(i + 1);
        let w = &mut done[i];
        if w.contact.inverse_mass <= R::zero() {
            w.right = Vec3::zeros();
        }
        let inverse = R::one() / w.diagonal;
        let (a, b) = (w.next, w.after_next);
        let (la, lb) = (a * inverse, b * inverse);
        if let Some(v) = rest.get_mut(0) {
            v.diagonal -= la * a;
            v.next -= la * b;
            v.right -= w.right * la;
        }
        if let Some(v) = rest.get_mut(1) {
            v.diagonal -= lb * b;
            v.right -= w.right * lb;
        }
        w.right *= inverse;
        w.next = la;
        w.after_next = lb;
    }
    let (mut one, mut two) = (Vec3::zeros(), Vec3::zeros());
    let mut steepest = R::zero();
    let mut longer = R::zero();
    for w in work.iter_mut().rev() {
        let correction = w.right - one * w.next - two * w.after_next;
        w.right = correction;
        if longer > R::zero() {
            steepest = steepest.max((one - correction).norm() / longer);
        }
        longer = w.contact.length;
        two = one;
        one = correction;
    }
    // The system holds for small rotations; where one is larger, all go part of the way.
    let share = (R::from_double(TURN) / steepest.max(R::from_double(TURN))).min(R::one());
    for w in work.iter_mut() {
        if w.contact.inverse_mass > R::zero() {
            w.contact.x += w.right * share;
        }
    }
}

/// The rotation by the smallest angle from one unit vector to another; half a turn about any axis where they are opposite.
pub(crate) fn shortest_arc<R: Real>(from: Vec3<R>, to: Vec3<R>) -> Quat<R> {
    let cosine = R::one() + from.dot(&to);
    if cosine < R::from_double(1e-6) {
        let other = if from.x.abs() < R::from_double(0.7) {
            Vec3::x()
        } else {
            Vec3::y()
        };
        return Quat::new_normalize(Quaternion::from_parts(R::zero(), from.cross(&other)));
    }
    // The quaternion (1 + cos, from x to) has the squared length 2 (1 + cos).
    let inverse = R::one() / (cosine + cosine).sqrt();
    let axis = from.cross(&to) * inverse;
    Quat::new_unchecked(Quaternion::from_parts(cosine * inverse, axis))
}
