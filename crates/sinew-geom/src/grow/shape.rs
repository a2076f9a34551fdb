//! The curve of one strand.
//!
//! The middle line starts along the normal of the skin, after a random lean. Over the first 40 % of its length it bends to the combing
//! direction, quadratically; droop adds a direction down that grows linearly to the tip. Its direction is integrated by the midpoint rule
//! in eight steps per segment.
//!
//! Curls are a helix around the middle line. Its frame is carried along without twist, and its radius grows from 0 within the first
//! rotation, which keeps the root in place. The fine curve is then scaled to the wanted length and sampled at equal arc lengths.
//!
//! All in double precision. The random numbers of a strand depend on the seed and the number of its root alone.

use super::random::Random;
use super::roots::Root;
use super::{GrowMaps, GrowSettings};
use crate::{Mesh, Vec3};
use std::f64::consts::TAU;

/// Points of the fine curve for each segment.
const FINE: usize = 8;
/// Share of its length over which a strand bends from the normal to where it is combed.
const BEND: f64 = 0.4;

/// The vertices of the strand that grows at `root`, evenly spaced along it.
pub(super) fn strand(
    mesh: &Mesh,
    normals: &[[f32; 3]],
    maps: &GrowMaps<'_>,
    settings: &GrowSettings,
    root: &Root,
) -> Vec<[f32; 3]> {
    let mut random = Random::new(settings.seed, root.number);
    let vector = |v: [f32; 3]| Vec3::from(v.map(f64::from));
    let normal = vector(root.mean3(normals))
        .try_normalize(1e-12)
        .unwrap_or_else(Vec3::y);
    let factor = maps.length.map_or(1.0, |m| f64::from(root.mean(m)));
    let shorter = f64::from(settings.length_variation) * random.share();
    let growth = Growth {
        start: vector(root.mean3(&mesh.positions)),
        normal: leaning(normal, f64::from(settings.lean), &mut random),
        comb: maps.comb.map_or_else(Vec3::zeros, |m| {
            limited(vector(root.mean3(m))) * f64::from(settings.comb)
        }),
        droop: f64::from(settings.droop),
        length: f64::from(settings.length) * factor * (1.0 - shorter),
        curl_radius: f64::from(settings.curl_radius),
        curl_length: f64::from(settings.curl_length),
        phase: random.share() * TAU,
    };
    growth.vertices(settings.vertices)
}

/// No longer than one.
fn limited(v: Vec3<f64>) -> Vec3<f64> {
    v / v.norm().max(1.0)
}

/// Turned away from the normal by up to `most` radians, uniform over the cap.
fn leaning(normal: Vec3<f64>, most: f64, random: &mut Random) -> Vec3<f64> {
    let height = 1.0 - random.share() * (1.0 - most.cos());
    let aside = (1.0 - height * height).max(0.0).sqrt();
    let around = random.share() * TAU;
    let [a, b] = across(normal);
    normal * height + (a * around.cos() + b * around.sin()) * aside
}

/// Two unit vectors across a unit vector and each other.
fn across(v: Vec3<f64>) -> [Vec3<f64>; 2] {
    let other = if v.x.abs() < 0.7 {
        Vec3::x()
    } else {
        Vec3::y()
    };
    let first = v.cross(&other).normalize();
    [first, v.cross(&first)]
}

struct Growth {
    start: Vec3<f64>,
    normal: Vec3<f64>,
    /// Direction times strength.
    comb: Vec3<f64>,
    droop: f64,
    length: f64,
    curl_radius: f64,
    curl_length: f64,
    phase: f64,
}

impl Growth {
    /// Direction of the middle line at the share `t` of it.
    fn direction(&self, t: f64) -> Vec3<f64> {
        let rest = (1.0 - t / BEND).max(0.0);
        let bent = 1.0 - rest * rest;
        let strength = self.comb.norm();
        let combed = self.normal * (1.0 - bent * strength) + self.comb * bent;
        let hanging = combed - Vec3::y() * (self.droop * t);
        hanging.try_normalize(1e-9).unwrap_or(self.normal)
    }

    fn vertices(&self, count: usize) -> Vec<[f32; 3]> {
        let curve = self.curve((count - 1) * FINE);
        evenly(&curve, count)
            .map(|p| [p.x, p.y, p.z].map(single))
            .collect()
    }

    /// A fine curve of the wanted length, curls included.
    fn curve(&self, steps: usize) -> Vec<Vec3<f64>> {
        let step = 1.0 / steps as f64;
        let turns = self.length / self.curl_length;
        let (mut middle, mut side) = (Vec3::zeros(), across(self.direction(0.0))[0]);
        let mut points = vec![Vec3::zeros()];
        for i in 0..steps {
            let at = (i as f64 + 0.5) * step;
            middle += self.direction(at) * (step * self.length);
            let t = (i + 1) as f64 * step;
            let along = self.direction(t);
            // Carried along without twist.
            side = (side - along * along.dot(&side))
                .try_normalize(1e-9)
                .unwrap_or_else(|| across(along)[0]);
            // The first turn opens the curl, so that the strand leaves where it is rooted.
            let radius = self.curl_radius * (t * turns).min(1.0);
            let angle = self.phase + TAU * turns * t;
            let offset = side * angle.cos() + along.cross(&side) * angle.sin();
            points.push(middle + offset * radius);
        }
        // Curls make it longer: it shrinks to what it should be.
        let factor = self.length / length(&points).max(1e-12);
        for p in &mut points {
            *p = self.start + *p * factor;
        }
        points
    }
}

fn length(points: &[Vec3<f64>]) -> f64 {
    points.windows(2).map(|w| (w[1] - w[0]).norm()).sum()
}

/// Points along a polyline, all as far from the next along it.
fn evenly(curve: &[Vec3<f64>], count: usize) -> impl Iterator<Item = Vec3<f64>> + '_ {
    let spacing = length(curve) / (count - 1) as f64;
    let mut segment = 0;
    let mut before = 0.0;
    (0..count).map(move |i| {
        let wanted = spacing * i as f64;
        loop {
            let (a, b) = (curve[segment], curve[segment + 1]);
            let own = (b - a).norm();
            let is_last = segment + 2 == curve.len();
            if wanted <= before + own || is_last {
                let share = if own > 0.0 {
                    (wanted - before) / own
                } else {
                    0.0
                };
                break a + (b - a) * share.clamp(0.0, 1.0);
            }
            before += own;
            segment += 1;
        }
    })
}

fn single(x: f64) -> f32 {
    x as f32
}
