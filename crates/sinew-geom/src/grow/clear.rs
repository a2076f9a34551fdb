//! Keeps strands out of a body while they grow, without kinks.
//!
//! A strand is laid from the root to the tip, step by step, in the direction that it wants. A step is turned away from the surface if it
//! would end nearer than an arc allows: one of radius `B` that touches the surface, shifted by the margin. At the distance `g` from there,
//! such an arc has `u = B acos(1 - g / B)` left to go; `s` farther on, its distance is `B (1 - cos((u - s) / B))`. Thus strands meet the
//! surface at a slant and slide along it, and they bend by no more than `1 / B` where it is flat.
//!
//! Only directions are changed: lengths of steps stay. Where the surface itself bends sharply, directions of a finished strand are smoothed
//! next to the kink, and the strand is laid again.

use super::GrowBody;
use crate::Vec3;
use std::f64::consts::FRAC_PI_2;

type V = Vec3<f64>;

/// The margin is at most this part of the way from the root along the strand.
const RISE: f64 = 0.25;
/// Radius of the arcs, as a part of the length of a strand, and in segments.
const ARC: f64 = 0.1;
const ARC_SEGMENTS: f64 = 2.0;
/// Corrections of the direction of a step.
const TRIES: usize = 4;
/// A step may end this much too near, as a part of its length.
const TOLERANCE: f64 = 0.01;
/// Normals with a smaller cosine between them are those of two surfaces that meet.
const CREASE: f64 = 0.9;
/// Turns that are sharper than the mean of a strand by this angle, radians, are smoothed.
const KINK: f64 = 0.6;
/// Times that a strand with kinks is smoothed and laid again.
const ROUNDS: usize = 20;

/// The way of one strand around the body.
pub(super) struct Around<'a> {
    body: &'a GrowBody<'a>,
    /// Radius of the arcs.
    arc: f64,
    /// No more than the distance from the surface at the last point.
    distance: f64,
    /// Way from the root.
    gone: f64,
    before: V,
}

impl<'a> Around<'a> {
    /// From the root, for a strand of that length in this many segments.
    pub(super) fn new(body: &'a GrowBody<'a>, length: f64, segments: usize) -> Self {
        Self {
            body,
            arc: (length * ARC).max(length / segments as f64 * ARC_SEGMENTS),
            distance: 0.0,
            gone: 0.0,
            before: V::zeros(),
        }
    }

    /// The direction of a step from `at` that is nearest to the unit vector `wanted` and stays out of the body. `more` is added to the
    /// clearance.
    pub(super) fn step(&mut self, at: V, wanted: V, step: f64, more: f64) -> V {
        let direction = self.turned(at, wanted, step, more);
        self.gone += step;
        self.distance -= step;
        self.before = direction;
        direction
    }

    fn turned(&mut self, at: V, wanted: V, step: f64, more: f64) -> V {
        let clearance = f64::from(self.body.clearance) + more;
        // Too far off for any arc: nothing to measure.
        if self.distance > clearance + FRAC_PI_2 * self.arc + step {
            return wanted;
        }
        self.distance = self.body.measure(at).0;
        let margin = |gone: f64| clearance.min(RISE * gone);
        let least = self.after(self.distance - margin(self.gone), step) + margin(self.gone + step);
        let mut direction = wanted;
        let mut first: Option<V> = None;
        for _ in 0..TRIES {
            let (distance, normal) = self.body.measure(at + direction * step);
            let missing = least - distance;
            if missing <= TOLERANCE * step {
                break;
            }
            let Some(normal) = normal else { break };
            direction = match first {
                Some(other) if other.dot(&normal) < CREASE => {
                    self.along_crease(wanted, [other, normal], missing / step)
                }
                _ => self.raised(direction, normal, missing / step),
            };
            first = first.or(Some(normal));
        }
        direction
    }

    /// Least gap after a step from a gap to the margin; below 0 it is too near.
    fn after(&self, gap: f64, step: f64) -> f64 {
        let quarter = FRAC_PI_2 * self.arc;
        let left = match gap.abs() / self.arc {
            g if g < 1.0 => self.arc * (1.0 - g).acos(),
            _ => quarter + gap.abs() - self.arc,
        };
        let left = (left - step).max(0.0);
        let gap_then = match left < quarter {
            true => self.arc * (1.0 - (left / self.arc).cos()),
            false => self.arc + left - quarter,
        };
        gap_then.copysign(gap)
    }

    /// Along the line where surfaces with these normals meet, and out of it by so much of a step.
    fn along_crease(&self, wanted: V, normals: [V; 2], more: f64) -> V {
        let [a, b] = normals;
        let line = a.cross(&b);
        let out = a + b;
        let (Some(line), Some(out)) = (line.try_normalize(1e-9), out.try_normalize(1e-9)) else {
            return a;
        };
        let line = line * (wanted + self.before * 2.0).dot(&line).signum();
        let rise = more.clamp(0.0, 1.0);
        out * rise + line * (1.0 - rise * rise).sqrt()
    }

    /// Turned towards the normal, by so much more of a step. What points straight at the surface goes on as the step before.
    fn raised(&self, direction: V, normal: V, more: f64) -> V {
        let across = |v: V| v - normal * v.dot(&normal);
        let level = across(direction);
        let level = level + across(self.before) * (1.0 - level.norm()).max(0.0);
        let Some(level) = level.try_normalize(1e-9) else {
            return normal;
        };
        let rise = (direction.dot(&normal) + more).clamp(-1.0, 1.0);
        normal * rise + level * (1.0 - rise * rise).sqrt()
    }
}

/// Lays a strand around the body. Its root and the lengths of its segments stay.
pub(super) fn lay(strand: &mut [[f32; 3]], body: &GrowBody<'_>) {
    let points: Vec<V> = strand.iter().map(|p| V::from(p.map(f64::from))).collect();
    let steps: Vec<V> = points.windows(2).map(|w| w[1] - w[0]).collect();
    let lengths: Vec<f64> = steps.iter().map(V::norm).collect();
    let unit = |v: &V| v.try_normalize(1e-12).unwrap_or_else(V::y);
    let mut wanted: Vec<V> = steps.iter().map(unit).collect();
    let most = KINK + turns(&wanted).sum::<f64>() / wanted.len() as f64;
    let mut laid = laid_along(points[0], &wanted, &lengths, body);
    for _ in 0..ROUNDS {
        if turns(&laid).all(|t| t <= most) {
            break;
        }
        wanted = smoothed(&laid, most);
        laid = laid_along(points[0], &wanted, &lengths, body);
    }
    let mut at = points[0];
    for (i, direction) in laid.iter().enumerate() {
        at += direction * lengths[i];
        strand[i + 1] = [at.x, at.y, at.z].map(|c| c as f32);
    }
}

fn laid_along(root: V, wanted: &[V], lengths: &[f64], body: &GrowBody<'_>) -> Vec<V> {
    let mut around = Around::new(body, lengths.iter().sum(), lengths.len());
    let mut at = root;
    let steps = wanted.iter().zip(lengths);
    steps
        .map(|(&wanted, &length)| {
            let direction = around.step(at, wanted, length, 0.0);
            at += direction * length;
            direction
        })
        .collect()
}

/// Angles between directions that follow each other.
fn turns(directions: &[V]) -> impl Iterator<Item = f64> + '_ {
    directions.windows(2).map(|w| w[0].angle(&w[1]))
}

/// Directions with those next to a kink averaged; the first one stays.
fn smoothed(directions: &[V], most: f64) -> Vec<V> {
    let last = directions.len() - 1;
    let is_kink = |i: usize| i > 0 && directions[i - 1].angle(&directions[i]) > 0.8 * most;
    let is_near = |i: usize| (i.saturating_sub(2)..=(i + 3).min(last)).any(is_kink);
    let mean = |i: usize| {
        let sum = directions[i - 1] + directions[i] + directions[(i + 1).min(last)];
        sum.try_normalize(1e-9).unwrap_or(directions[i])
    };
    let new = |i: usize| match i > 0 && is_near(i) {
        true => mean(i),
        false => directions[i],
    };
    (0..=last).map(new).collect()
}
