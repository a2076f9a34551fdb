//! The curve of one strand.
//!
//! The middle line starts along the normal of the skin, after a random lean. Over the first 40 % of its length it bends to the combing
//! direction, quadratically; droop adds a direction down that grows linearly to the tip. Its direction is integrated by the midpoint rule
//! in eight steps per segment.
//!
//! With a guide curve, a strand bends to a point that moves along the curve ahead of it, `AHEAD` of its length. The point keeps the offset
//! of the root from the start of the curve; `gather` takes a share of this offset away, which grows over the first 40 % of the length. After
//! the end of the curve, the point goes on straight.
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
/// Share of its length that a strand looks ahead along its guide curve.
const AHEAD: f64 = 0.1;

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
    let start = vector(root.mean3(&mesh.positions));
    let growth = Growth {
        start,
        guide: Guide::nearest(maps.guides, start, f64::from(settings.gather)),
        normal: leaning(normal, f64::from(settings.lean), &mut random),
        comb: match maps.comb {
            Some(map) => limited(vector(root.mean3(map))) * f64::from(settings.comb),
            None => Vec3::zeros(),
        },
        strength: f64::from(settings.comb),
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

/// A curve that a strand follows.
struct Guide {
    points: Vec<Vec3<f64>>,
    /// From the start of the curve to the root.
    offset: Vec3<f64>,
    gather: f64,
}

impl Guide {
    fn nearest(guides: &[Vec<[f32; 3]>], root: Vec3<f64>, gather: f64) -> Option<Self> {
        let vector = |p: &[f32; 3]| Vec3::from(p.map(f64::from));
        let apart = |g: &Vec<[f32; 3]>| (vector(&g[0]) - root).norm();
        let nearest = guides.iter().min_by(|a, b| apart(a).total_cmp(&apart(b)))?;
        Some(Self {
            points: nearest.iter().map(vector).collect(),
            offset: root - vector(&nearest[0]),
            gather,
        })
    }

    /// Where a strand of that length aims at the share `t` of it, relative to its root.
    fn aim(&self, t: f64, strand: f64) -> Vec3<f64> {
        let ahead = (t + AHEAD) * strand;
        let kept = 1.0 - self.gather * ((t + AHEAD) / BEND).min(1.0);
        point_at(&self.points, ahead) + self.offset * kept - self.points[0] - self.offset
    }
}

/// The point of a polyline at an arc length; beyond its end straight on.
fn point_at(points: &[Vec3<f64>], at: f64) -> Vec3<f64> {
    let mut before = 0.0;
    let mut end = points[0];
    let mut along = Vec3::zeros();
    for w in points.windows(2) {
        let own = (w[1] - w[0]).norm();
        if own > 0.0 {
            along = (w[1] - w[0]) / own;
            if at <= before + own {
                return w[0] + along * (at - before);
            }
        }
        before += own;
        end = w[1];
    }
    end + along * (at - before)
}

struct Growth {
    start: Vec3<f64>,
    guide: Option<Guide>,
    normal: Vec3<f64>,
    /// Direction times strength.
    comb: Vec3<f64>,
    /// Strength of a guide.
    strength: f64,
    droop: f64,
    length: f64,
    curl_radius: f64,
    curl_length: f64,
    phase: f64,
}

impl Growth {
    /// Direction of the middle line at the share `t` of it, at `point` relative to the root.
    fn direction(&self, t: f64, point: Vec3<f64>) -> Vec3<f64> {
        let rest = (1.0 - t / BEND).max(0.0);
        let bent = 1.0 - rest * rest;
        let guided = self.guide.as_ref().map(|guide| {
            let way = guide.aim(t, self.length) - point;
            way.try_normalize(1e-9).unwrap_or(self.normal) * self.strength
        });
        let comb = guided.unwrap_or(self.comb);
        let combed = self.normal * (1.0 - bent * comb.norm()) + comb * bent;
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
        let (mut middle, mut side) = (Vec3::zeros(), across(self.direction(0.0, Vec3::zeros()))[0]);
        let mut points = vec![Vec3::zeros()];
        for i in 0..steps {
            let at = (i as f64 + 0.5) * step;
            middle += self.direction(at, middle) * (step * self.length);
            let t = (i + 1) as f64 * step;
            let along = self.direction(t, middle);
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
