//! Wind: what moving air does to hair, and gusts that travel with the air. A function of time, of where the root is, seed and strand.

use super::followers::mixed;
use super::settings::HairSettings;
use sinew_geom::{Real, Vec3};
use std::f64::consts::TAU;

/// The wind of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gusts {
    /// Acceleration of what lies across the wind.
    wind: Vec3<f64>,
    /// Across the wind, as long.
    sideways: Vec3<f64>,
    /// How much later a gust comes for each metre, along the wind.
    delay: Vec3<f64>,
    strength: f64,
    hz: f64,
    seed: u32,
}

/// Acceleration by air of 1 m/s, per second: air of 5 m/s pushes as hard as gravity.
const PUSH: f64 = 2.0;
/// Gusts travel at this speed, m/s, where the air is slower.
const SLOWEST: f64 = 0.1;
/// Largest phase of a strand's own, in turns: strands with neighbouring roots do not stick together. As in `gusts.wgsl`.
const OWN_PHASE: f64 = 0.05;
/// Frequencies of what makes a gust, as multiples of the setting that never repeat together.
pub(crate) const RATIOS: [f64; 3] = [1.0, 2.618_034, 1.324_718];
/// Weights of the two waves of strength; their sum is 1, so that full gusts reach calm and double.
const WEIGHTS: [f64; 2] = [0.65, 0.35];
/// Largest share of the wind that a gust turns sideways.
const SIDEWAYS: f64 = 0.3;

impl Gusts {
    pub(crate) fn new(settings: &HairSettings) -> Self {
        let air = f64::vec3(settings.wind);
        let wind = air * PUSH;
        let least = wind.abs().imin();
        let mut other = Vec3::zeros();
        other[least] = 1.0;
        let across = wind.cross(&other);
        let length = across.norm();
        let sideways = if length > 0.0 {
            across * (wind.norm() / length)
        } else {
            Vec3::zeros()
        };
        Self {
            wind,
            sideways,
            delay: air.try_normalize(0.0).unwrap_or_default() / air.norm().max(SLOWEST),
            strength: f64::from(settings.gust_strength),
            hz: f64::from(settings.gust_hz),
            seed: settings.seed,
        }
    }

    /// Acceleration by the wind; the vector across it, as long; and how much later gusts come for each metre.
    pub(crate) fn directions(&self) -> [[f64; 3]; 3] {
        [self.wind, self.sideways, self.delay].map(Vec3::into)
    }

    /// Acceleration of that strand at that time, where its root is at `root` in the scene.
    pub(crate) fn at<R: Real>(&self, strand: u32, root: Vec3<R>, time_secs: f64) -> Vec3<R> {
        if self.wind == Vec3::zeros() {
            return Vec3::zeros();
        }
        let air_secs = time_secs - self.delay.dot(&root.map(R::to_double));
        let random = mixed(u64::from(self.seed) << 32 | u64::from(strand));
        let wave = |k: usize| {
            let own = (random >> (16 * k) & 0xffff) as f64 / 32_768.0 - 1.0;
            ((self.hz * RATIOS[k] * air_secs + own * OWN_PHASE).fract() * TAU).sin()
        };
        let strength = 1.0 + self.strength * (WEIGHTS[0] * wave(0) + WEIGHTS[1] * wave(1));
        let sideways = self.strength * SIDEWAYS * wave(2);
        (self.wind * strength + self.sideways * sideways).map(R::from_double)
    }
}

#[cfg(test)]
mod tests {
    use super::{Gusts, HairSettings};
    use sinew_geom::Vec3;

    fn gusts(wind: [f32; 3]) -> Gusts {
        Gusts::new(&HairSettings {
            wind,
            gust_strength: 1.0,
            seed: 5,
            ..HairSettings::default()
        })
    }

    /// A wave that moves with the air, and not across it. Air of less than 0.1 m/s: at 0.1 m/s.
    #[test]
    fn a_gust_comes_later_down_the_wind() {
        for (wind, speed) in [([2.0, -1.0, 2.0], 3.0), ([0.0, 0.03, 0.0], 0.1)] {
            let gusts = gusts(wind);
            let along = Vec3::from(wind.map(f64::from)).normalize();
            let across = along.cross(&Vec3::new(0.3, 0.7, 1.1)) * 4.0;
            let root = Vec3::new(1.3, 0.2, -7.0);
            for (metres, time) in [(0.25, 0.4), (40.0, 3.0), (-6.0, 100.0)] {
                let first: Vec3<f64> = gusts.at(3, root, time);
                let there = root + along * metres + across;
                let then = gusts.at(3, there, time + metres / speed);
                assert!((first - then).norm() < 1e-5, "{first:?} {then:?}");
                let same_time = gusts.at(3, there, time);
                assert!(
                    (first - same_time).norm() > 1e-3 * first.norm(),
                    "{first:?}"
                );
            }
        }
    }

    /// Phases of neighbours are at most a tenth of a turn apart: a wave differs by `2 sin(0.1 pi)` at most, and together they are all of the strength.
    #[test]
    fn neighbours_move_together_but_not_as_one() {
        let gusts = gusts([5.0, 0.0, 0.0]);
        let most = 10.0 * 2.0 * (0.1 * std::f64::consts::PI).sin();
        let mut largest = 0.0_f64;
        for step in 0..200 {
            let at = |strand| gusts.at(strand, Vec3::zeros(), f64::from(step) * 0.05);
            let first: Vec3<f64> = at(0);
            for strand in 1..50 {
                largest = largest.max((at(strand) - first).x.abs());
            }
        }
        assert!(largest > 0.1 * most && largest < most, "{largest} {most}");
    }

    /// From calm to twice `2u` along the wind; the mean is `2u`.
    #[test]
    fn full_gusts_reach_from_calm_to_twice_the_wind() {
        let gusts = gusts([0.0, 0.0, 4.0]);
        let pushes = (0..40_000).map(|i| gusts.at(0, Vec3::zeros(), f64::from(i) * 0.01));
        let along: Vec<f64> = pushes.map(|v: Vec3<f64>| v.z).collect();
        let mean = along.iter().sum::<f64>() / along.len() as f64;
        let least = along.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = along.iter().copied().fold(0.0, f64::max);
        assert!((mean - 8.0).abs() < 0.1, "{mean}");
        assert!(
            (0.0..0.1).contains(&least) && (15.9..=16.0).contains(&largest),
            "{least} {largest}"
        );
    }
}
