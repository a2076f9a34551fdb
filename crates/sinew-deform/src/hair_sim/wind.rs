//! Gusts: a function of time, seed and strand.

use super::followers::mixed;
use super::settings::HairSettings;
use sinew_geom::{Real, Vec3};
use std::f64::consts::TAU;

/// The wind of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gusts {
    wind: Vec3<f64>,
    /// Across the wind, as long.
    sideways: Vec3<f64>,
    strength: f64,
    hz: f64,
    seed: u32,
}

/// Frequencies of what makes a gust, as multiples of the setting that never repeat together.
pub(crate) const RATIOS: [f64; 3] = [1.0, 2.618_034, 1.324_718];
/// Weights of the two waves of strength; their sum is 1, so that full gusts reach calm and double.
const WEIGHTS: [f64; 2] = [0.65, 0.35];
/// Largest share of the wind that a gust turns sideways.
const SIDEWAYS: f64 = 0.3;

impl Gusts {
    pub(crate) fn new(settings: &HairSettings) -> Self {
        let wind = f64::vec3(settings.wind);
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
            strength: f64::from(settings.gust_strength),
            hz: f64::from(settings.gust_hz),
            seed: settings.seed,
        }
    }

    /// Acceleration by the wind, and the vector across it, as long.
    pub(crate) fn directions(&self) -> ([f64; 3], [f64; 3]) {
        (self.wind.into(), self.sideways.into())
    }

    /// Acceleration of that strand at that time.
    pub(crate) fn at<R: Real>(&self, strand: u32, time_secs: f64) -> Vec3<R> {
        if self.wind == Vec3::zeros() {
            return Vec3::zeros();
        }
        let random = mixed(u64::from(self.seed) << 32 | u64::from(strand));
        let wave = |k: usize| {
            let phase = (random >> (16 * k) & 0xffff) as f64 / 65_536.0;
            ((self.hz * RATIOS[k] * time_secs + phase).fract() * TAU).sin()
        };
        let strength = 1.0 + self.strength * (WEIGHTS[0] * wave(0) + WEIGHTS[1] * wave(1));
        let sideways = self.strength * SIDEWAYS * wave(2);
        (self.wind * strength + self.sideways * sideways).map(R::from_double)
    }
}
