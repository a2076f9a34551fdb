//! Contact and friction.
//!
//! Contact is an energy of the depth `f` below the margin, zero outside of it: `k (f^2 / 2 + f^4 / (4 s^2))` down to the thickness of the
//! layer, with `s` a quarter of that, and a parabola with the same value, slope and curvature farther in. Newton's method then brings
//! out what a solid overran in one iteration.
//!
//! Friction remembers: each vertex in contact has an anchor, which goes with the solid and which the vertex drags behind it. Without one,
//! strands creep by leverage.

use super::local::Local;
use super::math::{Sym, V};
use super::number::Number;
use super::vertex::Contact;

/// Frequency at which a vertex of mean mass swings in contact with something, hertz. Faster ones tremble.
pub(crate) const CONTACT_HZ: f64 = 300.0;
/// Contacts are as stiff as if so much hair stood behind a vertex, metres.
pub(crate) const LEAST_HAIR: f64 = 0.01;
/// And stiffer than bends by this factor, which press with thousands of times the weight.
pub(crate) const OVER_BENDS: f64 = 4.0;
/// Thinnest layer, metres: a margin that is less counts as this.
pub(crate) const LEAST_LAYER: f64 = 3e-4;
/// Slack of friction, metres, and how far behind an anchor stays, in that.
pub(crate) const SLACK: f64 = 2e-5;
pub(crate) const DRAGGED: f64 = 3.0;

/// One contact, loaded.
#[derive(Clone, Copy)]
pub(crate) struct Touch<N> {
    pub(crate) normal: V<N>,
    pub(crate) offset: N,
    pub(crate) on: N,
    pub(crate) layer: N,
    pub(crate) friction: N,
    pub(crate) rub: N,
}

impl<N: Number> Touch<N> {
    #[inline(always)]
    pub(crate) fn load(token: N::Token, c: &Contact<N::Stored>) -> Self {
        Self {
            normal: V::load(token, &c.normal),
            offset: N::load(token, &c.offset),
            on: N::load(token, &c.on),
            layer: N::load(token, &c.layer),
            friction: N::load(token, &c.friction),
            rub: N::load(token, &c.rub),
        }
    }

    /// Energy, force and stiffness at a depth, over the stiffness of contacts.
    #[inline(always)]
    fn at(&self, depth: N) -> (N, N, N) {
        let half = depth.k(0.5);
        let depth = depth.max(depth.k(0.0));
        let within = depth.min(self.layer);
        let beyond = depth - within;
        let steep = within * within * depth.k(16.0) / (self.layer * self.layer);
        let one = depth.k(1.0);
        let energy = half * within * within * (one + half * steep);
        let force = within * (one + steep);
        let stiffness = one + depth.k(3.0) * steep;
        (
            energy + force * beyond + half * stiffness * beyond * beyond,
            force + stiffness * beyond,
            stiffness,
        )
    }

    /// Adds contact, of that stiffness, and friction of a point at `x`; friction holds it at `anchor`. With `is_new`, the force of friction
    /// is what the contact gives now, else that of before. Returns it. The point is expected to go on by `further`: friction is as stiff
    /// as it is there.
    #[inline(always)]
    pub(crate) fn add(
        &self,
        out: &mut Local<N>,
        stiffness: N,
        (x, anchor, further): (V<N>, V<N>, V<N>),
        slack: N,
        is_new: bool,
    ) -> N {
        let n = self.normal;
        let depth = -(n.dot(x) + self.offset);
        let (energy, force, steepness) = self.at(depth);
        let k = stiffness * self.on;
        let steepness = N::pick(depth.is_on(), steepness * k, depth.k(0.0));
        out.energy = out.energy + energy * k;
        out.gradient = out.gradient - n * (force * k);
        let rub = if is_new {
            self.friction * force * k
        } else {
            self.rub
        };
        let way = (x - anchor).across(n);
        let f = out.dry(way, further.across(n), rub, slack);
        // Along the surface only.
        out.matrix = out.matrix + Sym::outer(n, steepness - f);
        rub
    }
}
