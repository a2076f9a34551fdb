//! The curve of one strand.
//!
//! The middle line starts along the normal of the skin, after a random lean. Over the share `bend` of its length it bends to the combing
//! direction, quadratically; droop adds a direction down that grows linearly to the tip. Its direction is integrated by the midpoint rule
//! in eight steps per segment.
//!
//! The line bends by no more than an arc of `LEAST_ARC` of its length allows, and is turned away from a body in front of it (`clear.rs`), from
//! which curls keep their radius.
//!
//! With a guide curve, a strand bends to a point that moves along the curve ahead of it, `AHEAD` of its length. The point keeps the offset
//! of the root from the start of the curve; `gather` takes a share of this offset away, which grows over the first 40 % of the length. After
//! the end of the curve, the point goes on straight. A strand that takes a shorter way than the point would catch up and then circle it:
//! the point moves on when the strand comes nearer than `LEAD`.
//!
//! Curls and frizz (`detail.rs`) lie across the middle line, along a frame that is carried without twist. The middle line advances by the part
//! of the length that the helix leaves. The fine curve is then scaled to the wanted length and sampled at equal arc lengths.
//!
//! Strands of a clump turn like its centre: their curls begin at nearly the same angle, and their lengths are alike.
//!
//! All in double precision. The random numbers of a strand depend on the seed and the number of its root alone.

use super::clear::Around;
use super::detail::{Curl, Frizz};
use super::random::Random;
use super::roots::Root;
use super::{GrowBody, GrowMaps, GrowSettings};
use crate::{Mesh, Vec3};
use std::f64::consts::TAU;

/// Points of the fine curve for each segment.
const FINE: usize = 8;
/// Share of its length over which a strand gathers around its guide curve, at most.
const GATHERING: f64 = 0.4;
/// Share of its length that a strand looks ahead along its guide curve.
const AHEAD: f64 = 0.1;
/// Least distance to the point that a strand follows, in least radii of a bend. At less than 1, a strand could circle the point.
const LEAD: f64 = 1.5;
/// Times that this point moves on in each step of a strand, at most.
const MOST_MOVES: usize = 8;
/// Least radius of a bend of the middle line, as a share of the length and in segments.
const LEAST_ARC: f64 = 0.03;
const LEAST_ARC_SEGMENTS: f64 = 1.4;
/// Another stream of random numbers.
const CLUMP_SEED: u32 = 0x636c_756d;

/// The vertices of the strand that grows at `root`, evenly spaced along it. `centre`: the number of the root in the centre of its clump.
pub(super) fn strand(
    mesh: &Mesh,
    normals: &[[f32; 3]],
    maps: &GrowMaps<'_>,
    settings: &GrowSettings,
    root: &Root,
    centre: Option<u64>,
) -> Vec<[f32; 3]> {
    let mut random = Random::new(settings.seed, root.number);
    let vector = |v: [f32; 3]| Vec3::from(v.map(f64::from));
    let normal = vector(root.mean3(normals))
        .try_normalize(1e-12)
        .unwrap_or_else(Vec3::y);
    let factor = maps.length.map_or(1.0, |m| f64::from(root.mean(m)));
    let factor = factor * f64::from(faded(maps, settings, root));
    let clump = f64::from(settings.clump);
    let of_clump = centre.map(|number| Random::new(settings.seed ^ CLUMP_SEED, number));
    let [of_length, of_phase] = of_clump.map_or([0.0; 2], |mut r| [r.share(), r.share()]);
    let like_clump = |own: f64, clumps: f64| match centre {
        Some(_) => clumps + (own - clumps) * (1.0 - 0.8 * clump),
        None => own,
    };
    let shorter = f64::from(settings.length_variation) * like_clump(random.share(), of_length);
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
        bend: f64::from(settings.bend),
        droop: f64::from(settings.droop),
        length: f64::from(settings.length) * factor * (1.0 - shorter),
        curl: Curl {
            radius: f64::from(settings.curl_radius),
            length: f64::from(settings.curl_length),
            phase: like_clump(random.share(), of_phase) * TAU,
        },
        frizz: Frizz::new(
            f64::from(settings.frizz),
            f64::from(settings.frizz_length),
            settings.seed,
            root.number,
        ),
        body: maps.body,
    };
    growth.vertices(settings.vertices)
}

/// Factor of length and thickness: 1 at density 1, smaller at lower densities by the share `fade`.
pub(super) fn faded(maps: &GrowMaps<'_>, settings: &GrowSettings, root: &Root) -> f32 {
    let density = maps.density.map_or(1.0, |d| root.mean(d).clamp(0.0, 1.0));
    1.0 - settings.fade * (1.0 - density)
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

/// A unit vector turned to another one, by no more than that angle in radians.
fn turned_at_most(from: Vec3<f64>, to: Vec3<f64>, most: f64) -> Vec3<f64> {
    if from.angle(&to) <= most {
        return to;
    }
    let aside = (to - from * from.dot(&to)).try_normalize(1e-9);
    let turned = from * most.cos() + aside.unwrap_or_else(|| across(from)[0]) * most.sin();
    // Next to the opposite direction, `aside` is only roughly across; without this, steps would grow.
    turned.try_normalize(1e-9).unwrap_or(from)
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

    /// The point that a strand follows, relative to its root, at this distance along the curve; in lengths of the strand.
    fn aim(&self, along: f64, length: f64) -> Vec3<f64> {
        let kept = 1.0 - self.gather * (along / GATHERING).min(1.0);
        point_at(&self.points, along * length) + self.offset * kept - self.points[0] - self.offset
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

struct Growth<'a> {
    start: Vec3<f64>,
    guide: Option<Guide>,
    normal: Vec3<f64>,
    /// Direction times strength.
    comb: Vec3<f64>,
    /// Strength of a guide.
    strength: f64,
    bend: f64,
    droop: f64,
    length: f64,
    curl: Curl,
    frizz: Frizz,
    body: Option<GrowBody<'a>>,
}

impl Growth<'_> {
    /// Where a strand combs to at the share `t` of it, at `point` relative to the root. `along`: how far along its guide it aimed before;
    /// `lead`: how near it may come to what it aims at. Both in lengths of the strand.
    fn combed(&self, t: f64, point: Vec3<f64>, along: &mut f64, lead: f64) -> Vec3<f64> {
        let Some(guide) = &self.guide else {
            return self.comb;
        };
        *along = along.max(t + AHEAD);
        let way = |along: f64| guide.aim(along, self.length) - point;
        for _ in 0..MOST_MOVES {
            if way(*along).norm() >= lead * self.length {
                break;
            }
            *along += lead / MOST_MOVES as f64;
        }
        way(*along).try_normalize(1e-9).unwrap_or(self.normal) * self.strength
    }

    /// Direction of the middle line at the share `t` of it, which is combed to `comb`.
    fn direction(&self, t: f64, comb: Vec3<f64>) -> Vec3<f64> {
        let rest = (1.0 - t / self.bend).max(0.0);
        let bent = 1.0 - rest * rest;
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
        let mut frizz = self.frizz.clone();
        let segment = self.length / (steps / FINE) as f64;
        let arc = (self.length * LEAST_ARC).max(segment * LEAST_ARC_SEGMENTS);
        let (mut aimed, lead) = (0.0, LEAD * arc / self.length);
        let mut before = self.normal;
        let around = |body| Around::new(body, self.length, steps / FINE);
        let mut around = self.body.as_ref().map(around);
        let (mut middle, mut side) = (Vec3::zeros(), across(before)[0]);
        let mut points = vec![Vec3::zeros()];
        for i in 0..steps {
            let at = (i as f64 + 0.5) * step;
            let advance = self.curl.advance(at * self.length) * step * self.length;
            let distance = (i + 1) as f64 * step * self.length;
            let wanted = self.direction(at, self.combed(at, middle, &mut aimed, lead));
            let mut along = turned_at_most(before, wanted, advance / arc);
            if let Some(around) = &mut around {
                along = around.step(
                    self.start + middle,
                    along,
                    advance,
                    self.curl.radius_at(distance),
                );
            }
            middle += along * advance;
            before = along;
            // Carried along without twist.
            side = (side - along * along.dot(&side))
                .try_normalize(1e-9)
                .unwrap_or_else(|| across(along)[0]);
            let [a, b] = frizz.offset(distance);
            let [c, d] = self.curl.offset(distance);
            points.push(middle + side * (c + a) + along.cross(&side) * (d + b));
        }
        // Bends and frizz make it longer: it shrinks to what it should be.
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
