//! What lies across the line of a strand: curls and frizz.

use super::random::Random;
use std::f64::consts::TAU;

/// Stream of random numbers.
const FRIZZ_SEED: u32 = 0x6672_697a;
/// Bends of a strand, at most: more than its points can show.
const MOST_BENDS: f64 = 1e5;

/// A helix around the line of a strand. Its radius grows from 0 within the first rotation, which keeps the root in place.
#[derive(Clone, Copy, Debug)]
pub struct Curl {
    /// Radius, metres; 0 for none. At most [`Curl::WIDEST`] of `length`.
    pub radius: f64,
    /// Length of hair in one full rotation, metres.
    pub length: f64,
    /// Angle at the root, radians.
    pub phase: f64,
}

impl Curl {
    /// Largest radius, as a share of the length of a rotation: a little below 1 / 2 pi, at which a strand would only go round.
    pub const WIDEST: f64 = 0.15;

    /// Radius at a distance along the hair from the root.
    pub fn radius_at(&self, distance: f64) -> f64 {
        let u = (distance / self.length).min(1.0);
        self.radius * u * u * (3.0 - 2.0 * u)
    }

    /// By how much the line advances there, for each metre of hair.
    pub fn advance(&self, distance: f64) -> f64 {
        let around = TAU * self.radius_at(distance) / self.length;
        (1.0 - around * around).max(0.0).sqrt()
    }

    /// Offset from the line along two axes across it.
    pub fn offset(&self, distance: f64) -> [f64; 2] {
        let radius = self.radius_at(distance);
        let angle = self.phase + TAU * distance / self.length;
        [radius * angle.cos(), radius * angle.sin()]
    }
}

/// Two smooth random functions of the distance along a strand: Perlin's gradient noise (*An Image Synthesizer*, 1985), with gradients of
/// mean zero. Each is at most the frizz, and grows from 0 over the first interval.
#[derive(Clone, Debug)]
pub struct Frizz {
    most: f64,
    spacing: f64,
    random: Random,
    /// The interval between two bends, and the gradients at both of its ends.
    interval: f64,
    gradients: [[f64; 2]; 2],
}

impl Frizz {
    /// `most` and `spacing` in metres, `spacing` above 0. Strands are told apart by `stream`.
    pub fn new(most: f64, spacing: f64, seed: u32, stream: u64) -> Self {
        let mut this = Self {
            most,
            spacing,
            random: Random::new(seed ^ FRIZZ_SEED, stream),
            interval: 0.0,
            gradients: [[0.0; 2]; 2],
        };
        this.gradients = [this.gradient(), this.gradient()];
        this
    }

    fn gradient(&mut self) -> [f64; 2] {
        [0, 1].map(|_| 2.0 * self.random.share() - 1.0)
    }

    /// Both functions at a distance from the root; distances must not fall.
    pub fn offset(&mut self, distance: f64) -> [f64; 2] {
        if self.most == 0.0 {
            return [0.0; 2];
        }
        let x = distance / self.spacing;
        while x > self.interval + 1.0 && self.interval < MOST_BENDS {
            self.interval += 1.0;
            self.gradients = [self.gradients[1], self.gradient()];
        }
        let u = (x - self.interval).clamp(0.0, 1.0);
        let fade = u * u * u * (u * (u * 6.0 - 15.0) + 10.0);
        // One half is the most that gradients of one give.
        let opened = 2.0 * self.most * x.min(1.0);
        [0, 1].map(|i| {
            let [from, to] = [self.gradients[0][i] * u, self.gradients[1][i] * (u - 1.0)];
            opened * (from + (to - from) * fade)
        })
    }
}
