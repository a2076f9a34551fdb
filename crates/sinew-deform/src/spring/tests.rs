use super::follower::{Follower, Step};
use std::f64::consts::TAU;

/// Follows for `seconds` in frames of equal length.
fn after(target: impl Fn(f64) -> f64, frames: usize, seconds: f64, damping: f64) -> Follower {
    let step = Step::new(1.5, damping, seconds / frames as f64);
    let mut out = Follower::at_rest(target(0.0));
    for frame in 1..=frames {
        out.follow(target(seconds * frame as f64 / frames as f64), &step);
    }
    out
}

/// Runge and Kutta's method of the fourth order, in many small steps: nothing of the node's formula.
fn by_steps(target: impl Fn(f64) -> f64, seconds: f64, damping: f64) -> [f64; 2] {
    const STEPS: usize = 20_000;
    let (omega, h) = (TAU * 1.5, seconds / STEPS as f64);
    let rate = |t: f64, [x, v]: [f64; 2]| {
        [
            v,
            -2.0 * damping * omega * v - omega * omega * (x - target(t)),
        ]
    };
    let plus = |a: [f64; 2], b: [f64; 2], s: f64| [a[0] + s * b[0], a[1] + s * b[1]];
    (0..STEPS).fold([target(0.0), 0.0], |y, i| {
        let t = h * i as f64;
        let a = rate(t, y);
        let b = rate(t + h / 2.0, plus(y, a, h / 2.0));
        let c = rate(t + h / 2.0, plus(y, b, h / 2.0));
        let d = rate(t + h, plus(y, c, h));
        let sum = plus(plus(plus(a, b, 2.0), c, 2.0), d, 1.0);
        plus(y, sum, h / 6.0)
    })
}

/// Underdamped, critical, overdamped, and next to critical, where the formulas change.
const DAMPINGS: [f64; 8] = [0.0, 0.05, 0.4, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 1.7, 30.0];

#[test]
fn a_ramp_is_followed_as_its_equation_says_in_frames_of_any_length() {
    for damping in DAMPINGS {
        let target = |t: f64| 3.0 - 2.0 * t;
        let [place, velocity] = by_steps(target, 0.9, damping);
        for frames in [1, 7, 240] {
            let f = after(target, frames, 0.9, damping);
            assert!(
                (f.place - place).abs() < 1e-8,
                "{damping} in {frames}: {f:?}, expected {place}"
            );
            assert!(
                (f.velocity - velocity).abs() < 1e-7,
                "{damping} in {frames}: {f:?}"
            );
        }
    }
}

/// After a jump, which takes one frame: the step response of textbooks.
#[test]
fn a_jump_overshoots_by_the_ratio_of_its_damping() {
    for damping in [0.1, 0.4, 0.7] {
        let frame = 1e-5;
        let mut f = Follower::at_rest(0.0);
        f.follow(1.0, &Step::new(1.5, damping, frame));
        let rate = TAU * 1.5 * (1.0_f64 - damping * damping).sqrt();
        // The first peak is half a swing after the jump.
        let half = std::f64::consts::PI / rate;
        f.follow(1.0, &Step::new(1.5, damping, half));
        let overshoot = (-damping * TAU * 1.5 * half).exp();
        assert!((f.place - 1.0 - overshoot).abs() < 1e-4, "{damping}: {f:?}");
        assert!(f.velocity.abs() < 1e-3, "{damping}: {f:?}");
    }
}

#[test]
fn without_damping_the_energy_stays() {
    let step = Step::new(1.5, 0.0, 1.0 / 24.0);
    let mut f = Follower::at_rest(2.0);
    f.follow(-1.0, &step);
    let energy = |f: &Follower| {
        let swing = TAU * 1.5 * (f.place + 1.0);
        swing * swing + f.velocity * f.velocity
    };
    let before = energy(&f);
    for _ in 0..100_000 {
        f.follow(-1.0, &step);
    }
    assert!((energy(&f) / before - 1.0).abs() < 1e-9);
}

/// A speed that goes on is found, and the place lags by 2 ζ / ω seconds of it.
#[test]
fn velocity_is_that_of_the_target() {
    for damping in [0.4, 1.0, 2.0] {
        let f = after(|t| 5.0 * t, 300, 10.0, damping);
        assert!((f.velocity - 5.0).abs() < 1e-6, "{damping}: {f:?}");
        let lag = 2.0 * damping / (TAU * 1.5);
        assert!(
            (50.0 - f.place - 5.0 * lag).abs() < 1e-6,
            "{damping}: {f:?}"
        );
    }
}

#[test]
fn extreme_frames_stay_finite() {
    for damping in DAMPINGS.into_iter().chain([1e3]) {
        for frequency in [1e-3, 1.0, 1e3] {
            for seconds in [0.0, 1e-12, 1.0, 1e6] {
                let mut f = Follower::at_rest(1.0);
                f.follow(-4.0, &Step::new(frequency, damping, seconds));
                f.follow(2.0, &Step::new(frequency, damping, seconds));
                let what = format!("{damping} {frequency} {seconds}: {f:?}");
                assert!(f.numbers().iter().all(|n| n.is_finite()), "{what}");
                if seconds == 1e6 && damping > 0.01 && frequency >= 1.0 {
                    assert!((f.place - 2.0).abs() < 1e-2, "{what}");
                }
            }
        }
    }
}
