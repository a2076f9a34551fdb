//! One iteration of Newton's method for a strand, in time proportional to its vertices.
//!
//! Unknown is how each segment rotates: a vector `q`, along its own axes, whose first number is the twist. Lengths are exact by
//! construction. A segment of length `l` and axes `t, u, w` moves what is behind it by `P q = l (q_w u - q_u w)`.
//!
//! From tip to root, `F(d, q)` is the energy of all that is behind a vertex, as a quadratic function of the vertex' displacement `d` and its
//! segment's rotation `q`. The best `q` for given motion of what is nearer to the root follows in closed form and is put in:
//! the recursion of a chain of links (Featherstone 1983), with 3x3 matrices only. From root to tip, `q` then follows. A tension bends the
//! path of what hangs on it: its part of the second derivative, `l T`, is kept where it pulls.

use super::joint::Joint;
use super::local::Local;
use super::math::{M, Sym, Turn, V, columns_times, rows_times};
use super::number::Number;
use super::vertex::Vertex;

/// Stiffness of segments that nothing turns, over the inertia of their length.
const RIDGE: f64 = 1e-4;

/// The function `F` above: `d A d / 2 + d B q + q C q / 2 + a d + c q`.
pub(crate) struct Behind<N> {
    a: Sym<N>,
    b: M<N>,
    c: Sym<N>,
    by_move: V<N>,
    by_turn: V<N>,
    /// Sum of all forces, with the opposite sign.
    sum: V<N>,
    pub(crate) energy: N,
}

impl<N: Number> Behind<N> {
    /// Behind the tip.
    #[inline(always)]
    pub(crate) fn nothing(like: N) -> Self {
        let (zero, none) = (V::zero(like), Sym::diagonal(like.k(0.0)));
        Self {
            a: none,
            b: [zero; 3],
            c: none,
            by_move: zero,
            by_turn: zero,
            sum: zero,
            energy: like.k(0.0),
        }
    }

    /// Adds the energy of the vertex.
    #[inline(always)]
    pub(crate) fn add_vertex(&mut self, local: &Local<N>) {
        self.a = self.a + local.matrix;
        self.by_move = self.by_move + local.gradient;
        self.sum = self.sum + local.gradient;
        self.energy = self.energy + local.energy;
    }

    /// From the vertex at the end of a segment to that before it: `d` is that one's displacement from here on.
    #[inline(always)]
    pub(crate) fn pass_segment(&mut self, axes: &M<N>, length: N) -> [V<N>; 2] {
        let p = [axes[2] * -length, axes[1] * length];
        let ap = [self.a.times(p[0]), self.a.times(p[1])];
        let b = &mut self.b;
        let c = &mut self.c;
        c.xy = c.xy + b[0].dot(p[0]);
        c.xz = c.xz + b[0].dot(p[1]);
        c.yy = c.yy + p[0].dot(ap[0]) + p[0].dot(b[1]) * length.k(2.0);
        c.yz = c.yz + p[0].dot(ap[1]) + p[0].dot(b[2]) + b[1].dot(p[1]);
        c.zz = c.zz + p[1].dot(ap[1]) + p[1].dot(b[2]) * length.k(2.0);
        b[1] = b[1] + ap[0];
        b[2] = b[2] + ap[1];
        self.by_turn.y = self.by_turn.y + p[0].dot(self.by_move);
        self.by_turn.z = self.by_turn.z + p[1].dot(self.by_move);
        p
    }

    /// Adds the energy of a point of the segment.
    #[inline(always)]
    pub(crate) fn add_point(&mut self, local: &Local<N>, p: &[V<N>; 2], share: N) {
        let m = [
            local.matrix.times(p[0]) * share,
            local.matrix.times(p[1]) * share,
        ];
        self.a = self.a + local.matrix;
        self.b[1] = self.b[1] + m[0];
        self.b[2] = self.b[2] + m[1];
        self.c.yy = self.c.yy + p[0].dot(m[0]) * share;
        self.c.yz = self.c.yz + p[0].dot(m[1]) * share;
        self.c.zz = self.c.zz + p[1].dot(m[1]) * share;
        self.by_move = self.by_move + local.gradient;
        self.by_turn.y = self.by_turn.y + p[0].dot(local.gradient) * share;
        self.by_turn.z = self.by_turn.z + p[1].dot(local.gradient) * share;
        self.energy = self.energy + local.energy;
    }

    /// Adds the tension of the segment. `at_point` is the gradient of a point of it that is that share along.
    #[inline(always)]
    pub(crate) fn add_tension(&mut self, along: V<N>, length: N, (at_point, share): (V<N>, N)) {
        let pull = -(along.dot(self.sum + at_point * share));
        let k = length * pull.max(pull.k(0.0));
        self.c.yy = self.c.yy + k;
        self.c.zz = self.c.zz + k;
        self.sum = self.sum + at_point;
    }

    /// Puts in the best rotation of the segment and keeps how it follows from what is before. From here on `q` is the rotation of the
    /// segment before the joint.
    #[inline(always)]
    pub(crate) fn pass_joint(&mut self, joint: &Joint<N>, length: N, v: &mut Vertex<N::Stored>) {
        let token = length.token();
        let free = N::load(token, &v.free);
        let ridge = length * length * length.k(RIDGE) + length.k(1e-30) + (length.k(1.0) - free);
        let mut c = self.c;
        c.xx = c.xx + joint.twist + ridge;
        c.yy = c.yy + joint.bend + (length.k(1.0) - free);
        c.zz = c.zz + joint.bend + (length.k(1.0) - free);
        // Behind pins sums may be anything.
        let (moves, zero) = (free.is_on(), V::zero(free));
        let rows = c.inverse().rows();
        let rows = [
            V::pick(moves, rows[0], zero),
            V::pick(moves, rows[1], zero),
            V::pick(moves, rows[2], zero),
        ];
        let cross = joint.cross_stiffness();
        let by_move = [
            columns_times(&self.b, rows[0]),
            columns_times(&self.b, rows[1]),
            columns_times(&self.b, rows[2]),
        ];
        let by_turn = [
            columns_times(&cross, rows[0]),
            columns_times(&cross, rows[1]),
            columns_times(&cross, rows[2]),
        ];
        let gradient = self.by_turn - joint.torque;
        let step = V::pick(moves, rows_times(&rows, gradient), zero);
        for k in 0..3 {
            V::pick(moves, by_move[k], zero).store(&mut v.by_move[k]);
            V::pick(moves, by_turn[k], zero).store(&mut v.by_turn[k]);
        }
        step.store(&mut v.step);
        self.a = self.a.minus_products(&self.b, &by_move);
        self.c = joint.stiffness_before().minus_products(&cross, &by_turn);
        self.by_move = self.by_move - columns_times(&self.b, step);
        self.by_turn = joint.reaction - columns_times(&cross, step);
        let b = self.b;
        self.b = [
            -columns_times(&b, V::new(by_turn[0].x, by_turn[1].x, by_turn[2].x)),
            -columns_times(&b, V::new(by_turn[0].y, by_turn[1].y, by_turn[2].y)),
            -columns_times(&b, V::new(by_turn[0].z, by_turn[1].z, by_turn[2].z)),
        ];
        self.energy = self.energy + joint.energy;
    }
}

/// How what is nearer to the root moves: a displacement and a rotation.
#[derive(Clone, Copy)]
pub(crate) struct Ahead<N> {
    moved: V<N>,
    turned: V<N>,
}

impl<N: Number> Ahead<N> {
    #[inline(always)]
    pub(crate) fn still(like: N) -> Self {
        Self {
            moved: V::zero(like),
            turned: V::zero(like),
        }
    }

    /// The segment's rotation, which it keeps in `step`.
    #[inline(always)]
    pub(crate) fn pass(&mut self, v: &mut Vertex<N::Stored>, length: N) {
        let token = length.token();
        let (by_move, by_turn) = (rows(token, &v.by_move), rows(token, &v.by_turn));
        let best = V::load(token, &v.step)
            + rows_times(&by_move, self.moved)
            + rows_times(&by_turn, self.turned);
        let q = -best;
        q.store(&mut v.step);
        let axes = Turn::load(token, &v.turn).axes();
        self.moved = self.moved + (axes[1] * q.z - axes[2] * q.y) * length;
        self.turned = q;
    }
}

#[inline(always)]
fn rows<N: Number>(token: N::Token, rows: &[[N::Stored; 3]; 3]) -> M<N> {
    [
        V::load(token, &rows[0]),
        V::load(token, &rows[1]),
        V::load(token, &rows[2]),
    ]
}

/// A segment rotated by `q`: first its direction, then about it. No sines: half an angle is its tangent, which agrees to second order.
#[inline(always)]
pub(crate) fn rotated<N: Number>(turn: Turn<N>, q: V<N>) -> Turn<N> {
    let (half, one) = (q.x.k(0.5), q.x.k(1.0));
    let q = q * half;
    let twist = q.x.max(-one).min(one);
    let lean = V::new(one.k(0.0), q.y, q.z);
    let about = V::new(twist, one.k(0.0), one.k(0.0));
    let both = Turn {
        w: one,
        v: lean + about + lean.cross(about),
    };
    turn.times(both).unit()
}
