//! A damped harmonic oscillator whose target moves evenly during a frame, solved exactly.
//!
//! `x'' = -2 ζ ω x' - ω² (x - u)` with `u = u0 + s t`. `x = u - 2 ζ s / ω` solves it; the rest `e` of `x` is the free oscillation
//! `e'' + 2 ζ ω e' + ω² e = 0`. The result does not depend on how long a frame is, as long as the target moves evenly, and is stable for
//! every frame.

use std::f64::consts::TAU;

/// One number that follows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Follower {
    pub(super) place: f64,
    /// Per second.
    pub(super) velocity: f64,
    /// Where the target was at the end of the frame before.
    target: f64,
}

/// What a frame does to the free oscillation `(e, e')`: a matrix, by rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    free: [[f64; 2]; 2],
    /// `2 ζ / ω`: how far behind a target of speed 1 the follower stays, in seconds.
    lag: f64,
    seconds: f64,
}

impl Step {
    /// For a frequency above 0, in swings per second, and a damping ratio of 0 or more.
    pub(super) fn new(frequency: f64, damping: f64, seconds: f64) -> Self {
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
}

impl Follower {
    pub(super) fn at_rest(target: f64) -> Self {
        Self {
            place: target,
            velocity: 0.0,
            target,
        }
    }

    pub(super) fn numbers(&self) -> [f64; 3] {
        [self.place, self.velocity, self.target]
    }

    /// One frame. The target moves evenly from where it was to `target`.
    pub(super) fn follow(&mut self, target: f64, step: &Step) {
        if step.seconds <= 0.0 {
            return;
        }
        let speed = (target - self.target) / step.seconds;
        let behind = step.lag * speed;
        let e = [self.place - self.target + behind, self.velocity - speed];
        let [place, velocity] = step.free.map(|row| row[0] * e[0] + row[1] * e[1]);
        *self = Self {
            place: place + target - behind,
            velocity: velocity + speed,
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
