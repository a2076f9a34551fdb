//! A damped harmonic oscillator whose target moves evenly during a frame, solved exactly.
//!
//! `x'' = -2 ζ ω x' - ω² (x - u)` with `u = u0 + s t`. `x = u - 2 ζ s / ω` solves it; the rest `e` of `x` is the free oscillation
//! `e'' + 2 ζ ω e' + ω² e = 0`. The result does not depend on how long a frame is, as long as the target moves evenly, and is stable for
//! every frame.

use std::f64::consts::TAU;

/// One number that follows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Follower {
    pub(crate) place: f64,
    /// Per second.
    pub(crate) velocity: f64,
    /// Where the target was at the end of the frame before.
    target: f64,
}

/// What a frame does to the free oscillation `(e, e')`: a matrix, by rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    free: [[f64; 2]; 2],
    /// `2 ζ / ω`: how far behind a target of speed 1 the follower stays, in seconds.
    lag: f64,
    seconds: f64,
}

impl Step {
    /// For a frequency above 0, in swings per second, and a damping ratio of 0 or more.
    pub(crate) fn new(frequency: f64, damping: f64, seconds: f64) -> Self {
        let omega = TAU * frequency;
        let decay = damping * omega;
        // cos and sin / rate of the swing, times how much is left of it.
        let (cosine, sine) = if damping < 1.0 {
            let rate = omega * (1.0 - damping * damping).sqrt();
            let (sine, cosine) = (rate * seconds).sin_cos();
            let left = (-decay * seconds).exp();
            let over_rate = if rate * seconds == 0.0 {
                seconds
            } else {
                sine / rate
            };
            (left * cosine, left * over_rate)
        } else {
            // A square root of a difference of squares that are far apart loses its digits.
            let rate = omega * ((damping - 1.0) * (damping + 1.0)).sqrt();
            let slow = (-seconds * omega * omega / (decay + rate)).exp();
            let ratio = (-2.0 * rate * seconds).exp();
            let over_rate = if rate * seconds == 0.0 {
                seconds
            } else {
                -(-2.0 * rate * seconds).exp_m1() / (2.0 * rate)
            };
            (slow * (1.0 + ratio) / 2.0, slow * over_rate)
        };
        Self {
            free: [
                [cosine + decay * sine, sine],
                [-omega * omega * sine, cosine - decay * sine],
            ],
            lag: 2.0 * damping / omega,
            seconds,
        }
    }

    /// Where the follower is beside its target, and how fast it is, after a frame in which the target moved by `moved`. A frame without
    /// time changes no velocity.
    pub(crate) fn apply(&self, beside: f64, velocity: f64, moved: f64) -> [f64; 2] {
        if self.seconds <= 0.0 {
            return [beside - moved, velocity];
        }
        let speed = moved / self.seconds;
        let late = self.lag * speed;
        let e = [beside + late, velocity - speed];
        let [beside, velocity] = self.free.map(|row| row[0] * e[0] + row[1] * e[1]);
        [beside - late, velocity + speed]
    }
}

impl Follower {
    pub(crate) fn at_rest(target: f64) -> Self {
        Self {
            place: target,
            velocity: 0.0,
            target,
        }
    }

    pub(crate) fn numbers(&self) -> [f64; 3] {
        [self.place, self.velocity, self.target]
    }

    /// One frame. The target moves evenly from where it was to `target`.
    pub(crate) fn follow(&mut self, target: f64, step: &Step) {
        let behind = self.place - self.target;
        let [behind, velocity] = step.apply(behind, self.velocity, target - self.target);
        *self = Self {
            place: target + behind,
            velocity,
            target,
        };
    }
}

impl From<[f64; 3]> for Follower {
    fn from([place, velocity, target]: [f64; 3]) -> Self {
        Self {
            place,
            velocity,
            target,
        }
    }
}
