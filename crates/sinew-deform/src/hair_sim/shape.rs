//! Global and local shape: the pull to the rest position, and rest bends, in one linear system per strand.
//!
//! One implicit step minimises `sum m |d - h v|^2 / 2 + h^2 E(x + d)` over the displacements `d` of the vertices, with the terms of the
//! energy `E` linearised in `d`:
//!
//! ```text
//! E = sum k_i |C_i|^2 / 2  +  sum w_i (2 pi f_global)^2 |s_i - x_i|^2 / 2,
//! C_i = L_(i+1) (e_(i+1) - R_i d_(i+1))
//! ```
//!
//! In the second line `e` are the unit segments now and `d` those at rest; `s` are the skinned rest positions. `x` is the position after
//! the share of the root's motion alone. It is not `x + h v`: free motion tears a strand apart where short segments meet the root, so that
//! directions would be wrong and the length constraints would add energy.
//!
//! `R_i` is a frame carried along the strand (Han and Harada 2012): at the root it rotates with the skin, and from segment to segment by
//! the shortest arc, which defines the twist. Rotating the segment before a bend moves the goal of the segment after it by the `lever` r;
//! so `C_i` has the derivatives `(r, -(1 + r), 1)`. Their sum is zero: bends do not accelerate the strand as a whole. They are scalars;
//! therefore one matrix of five diagonals serves all three coordinates, and elimination without pivoting solves it in one sweep in each
//! direction. The matrix is exact for straight rest shapes and an estimate for others (see `CURL`); the forces are exact for all, twist
//! included.
//!
//! Corrections must not stretch segments. If only the length constraints prevented it, which know masses but no stiffness, the two would
//! work against each other at sharp bends: the constraints undo the solution along other directions, add energy, and the strand whirls.
//! Therefore tensions `l` are part of the system (`hold_lengths`), with `J` the derivatives of the lengths:
//!
//! ```text
//! A d + J^T l = f,  J d = 0
//! ```
//!
//! Tensions rotate with their segments, which `A` does not contain. Instead `A` resists rotations of neighbours against each other by an
//! upper bound of that effect: the weight of everything that hangs on a segment (`TAUT`). In equilibrium `d` is zero, so that a larger `A`
//! does not change the balance of forces.
//!
//! The tensions solve `J A^-1 J^T l = J A^-1 f`. A few steps of conjugate gradients start from `d = A^-1 f`; the preconditioner is the same
//! system with `A` replaced by the masses, which has three diagonals. With one step alone, stretch is left to the length constraints, and
//! strands of short segments whirl.

use super::bind::BoundVertex;
use super::step::{StepConstants, WorkVertex};
use crate::collide::{Rigid, unit_or};
use sinew_geom::nalgebra::Quaternion;
use sinew_geom::{Quat, Real, Vec3};

/// Bends stiffer than this (over mass and squared time step) are no stiffer: single precision could not solve them.
pub(super) const STIFFEST: f64 = 1e4;
/// Behind the global range the pull fades out over this share of the length.
pub(super) const FADE: f64 = 0.1;
/// Where the rest shape bends, turning a segment turns goals behind it about axes that the matrix does not know. So that steps do not
/// overshoot, it holds changes of rotations back by this many times the stiffness, times the squared sine of the rest bend. Found by trial
/// on coils and hooked strands at 0.3 to 40 Hz, 3 g and 120 steps a second, with [`SHARP`]: 3 and 1.5 are too little for stiff ones, 16 and
/// 6 keep some of the mohawk moving; at 4 and 2 one stiff strand of 60 moved, at 6 and 3 none.
pub(super) const CURL: f64 = 6.0;
/// A bend holds rotations back by no more than this many times the stiffness: sharp bends pass on little of a twist, and need less.
pub(super) const SHARP: f64 = 3.0;
/// Between two pins in a straight line any tension is as good as another: this share of the masses' resistance keeps it small.
pub(super) const SLACK: f64 = 1e-3;
/// Tensions are no more than this many times those that unit masses ask for: more is rounding.
pub(super) const STRONGEST: f64 = 1e4;
/// A step turns no segment by more than about this angle, in radians, against the share of the root's motion.
pub(super) const TURN: f64 = 1.0;
/// The matrix holds waves back by this many times the weight of what hangs on a segment, over its length: tensions turn with their
/// segments, and that is how stiff a hanging strand is for it.
pub(super) const TAUT: f64 = 1.0;
/// Steps towards the tensions of hair whose longest strand has so many vertices. With two, some strands of 16 that bend by 60 degrees still
/// move after ten seconds; with one, so does hair of short segments; with three, strands of 256 vertices; with four, such of 64 that lie on
/// a head.
pub(super) fn tensions(longest: usize) -> usize {
    3 + longest / 32
}

/// Moves the strand towards its rest shape.
pub(crate) fn restore_shape<R: Real>(
    bound: &[BoundVertex],
    constants: &StepConstants<R>,
    root: &Rigid<R>,
    scale: R,
    whole: R,
    work: &mut [WorkVertex<R>],
) {
    if !constants.keeps_shape() {
        return;
    }
    for (w, b) in work.iter_mut().zip(bound) {
        let (pull, mass) = (pull(constants, b), mass(w));
        let wanted = (w.contact.x - w.moved) * mass;
        w.contact.x = w.moved;
        w.right = (w.goal - w.moved) * pull + wanted;
        w.diagonal = mass + pull;
        w.next = R::zero();
        w.after_next = R::zero();
        w.torque = Vec3::zeros();
        w.along = Vec3::zeros();
        w.tension = R::zero();
    }
    if constants.bends() {
        add_bends(bound, constants, root, scale, work);
        hold_waves(
            bound,
            constants.weight / whole.max(R::from_double(1e-12)),
            work,
        );
    }
    solve(work, constants);
}

/// Makes the matrix hold back waves of segments that hang taut.
fn hold_waves<R: Real>(bound: &[BoundVertex], weight: R, work: &mut [WorkVertex<R>]) {
    let mut behind = R::zero();
    for i in (1..work.len()).rev() {
        if work[i].contact.inverse_mass > R::zero() {
            behind += mass(&work[i]);
        }
        let length = R::from_single(bound[i].length);
        if length > R::zero() {
            let taut = weight * behind * R::from_double(TAUT) / length;
            hold_turning(work, i, taut.min(R::from_double(STIFFEST)));
        }
    }
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
        let hold = (curl * R::from_double(CURL)).min(R::from_double(SHARP));
        hold_turning(work, i, stiffness * hold);
        keep_turning(work, i, stiffness * hold);
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

/// What holds back rotations of the segment before vertex `i` acts on changes of its motion: it goes on as it turns.
fn keep_turning<R: Real>(work: &mut [WorkVertex<R>], i: usize, k: R) {
    if i > 0 {
        let couple = (work[i].coasting - work[i - 1].coasting) * k;
        work[i].right += couple;
        work[i - 1].right -= couple;
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

/// Solves the system and adds the solution to the positions that may move.
fn solve<R: Real>(work: &mut [WorkVertex<R>], constants: &StepConstants<R>) {
    decompose(work);
    divide(work, |w| &mut w.right);
    if constants.bends() {
        hold_lengths(work, constants.tensions);
    }
    // The system holds for small rotations; where one is larger, all go part of the way.
    let share = R::from_double(TURN) / steepest(work).max(R::from_double(TURN));
    for w in work.iter_mut() {
        if w.contact.inverse_mass > R::zero() {
            w.contact.x += w.right * share;
        }
    }
}

/// Elimination from the root to the tip, of the matrix alone: pivots stay in the diagonal, beside it are the shares.
fn decompose<R: Real>(work: &mut [WorkVertex<R>]) {
    for i in 0..work.len() {
        let (done, rest) = work.split_at_mut(i + 1);
        let w = &mut done[i];
        let (a, b) = (w.next, w.after_next);
        let (la, lb) = (a / w.diagonal, b / w.diagonal);
        if let Some(v) = rest.get_mut(0) {
            v.diagonal -= la * a;
            v.next -= la * b;
        }
        if let Some(v) = rest.get_mut(1) {
            v.diagonal -= lb * b;
        }
        w.next = la;
        w.after_next = lb;
    }
}

/// Which vector of a vertex is solved for.
type Side<R> = fn(&mut WorkVertex<R>) -> &mut Vec3<R>;

/// Replaces a right-hand side by its solution; returns the product of the two.
fn divide<R: Real>(work: &mut [WorkVertex<R>], side: Side<R>) -> R {
    let mut product = R::zero();
    let (mut one, mut two) = (Vec3::zeros(), Vec3::zeros());
    for w in work.iter_mut() {
        let free = w.contact.inverse_mass > R::zero();
        let (pivot, la, lb) = (w.diagonal, w.next, w.after_next);
        let right = if free { *side(w) - one } else { Vec3::zeros() };
        product += right.norm_squared() / pivot;
        one = two + right * la;
        two = right * lb;
        *side(w) = right / pivot;
    }
    let (mut one, mut two) = (Vec3::zeros(), Vec3::zeros());
    for w in work.iter_mut().rev() {
        let (la, lb) = (w.next, w.after_next);
        let solution = *side(w) - one * la - two * lb;
        *side(w) = solution;
        two = one;
        one = solution;
    }
    product
}

/// Takes from the corrections what stretches segments, by tensions that act on stiffness as all other forces do: conjugate gradients.
fn hold_lengths<R: Real>(work: &mut [WorkVertex<R>], steps: usize) {
    let smallest = R::from_double(1e-30);
    let mut before = R::zero();
    for _ in 0..steps {
        let wanted = find_stretch(work);
        let kept = if before > smallest {
            wanted / before
        } else {
            R::zero()
        };
        pull_along(work, kept);
        let product = divide(work, |w| &mut w.torque);
        // What the direction would gain over what it costs; nothing where nothing is stretched.
        let least = (wanted / R::from_double(STRONGEST)).max(smallest);
        let strength = wanted / product.max(least);
        for w in work.iter_mut() {
            w.right += w.torque * strength;
        }
        before = wanted;
    }
}

/// Elimination from the root to the tip of what takes the stretch out of the corrections where only masses resist; see [`super::length`]
/// for the formulas. Returns how much that takes out: the sum of tension times stretch.
fn find_stretch<R: Real>(work: &mut [WorkVertex<R>]) -> R {
    let (mut factor, mut known, mut wanted) = (R::zero(), R::zero(), R::zero());
    // Of the segment before the one at hand, and of the vertex between them.
    let (mut old, mut from, mut wa) = (Vec3::zeros(), Vec3::zeros(), R::zero());
    for (i, w) in work.iter_mut().enumerate() {
        let (along, to, wb) = (w.along, w.right, w.contact.inverse_mass);
        let coupling = -wa * along.dot(&old);
        let ahead = coupling * factor;
        let own = (wa + wb) * R::from_double(1.0 + SLACK);
        let pivot = (own - coupling * ahead).max(R::from_double(1e-6));
        let held = i == 0 || wa + wb <= R::zero();
        factor = if held { R::zero() } else { R::one() / pivot };
        let left = along.dot(&(to - from)) - coupling * known;
        known = left * factor;
        wanted += left * known;
        w.torque = Vec3::new(known, ahead, R::zero());
        (old, from, wa) = (along, to, wb);
    }
    wanted
}

/// Substitution from the tip to the root, and the tensions of the next step: those, and a share of the ones of the step before. What they
/// do to vertices takes the place of torques.
fn pull_along<R: Real>(work: &mut [WorkVertex<R>], kept: R) {
    let (mut pull, mut ahead, mut last) = (Vec3::zeros(), R::zero(), R::zero());
    for w in work.iter_mut().rev() {
        last = w.torque.x - ahead * last;
        ahead = w.torque.y;
        w.tension = last + w.tension * kept;
        let own = w.along * w.tension;
        w.torque = pull - own;
        pull = own;
    }
}

/// Largest angle, to first order, by which the corrections turn a segment.
fn steepest<R: Real>(work: &[WorkVertex<R>]) -> R {
    let mut steepest = R::zero();
    for pair in work.windows(2) {
        let length = pair[1].contact.length;
        if length > R::zero() {
            steepest = steepest.max((pair[1].right - pair[0].right).norm() / length);
        }
    }
    steepest
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
