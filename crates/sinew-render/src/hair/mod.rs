//! Strands of hair: smooth ribbons that face the camera, drawn from back to front.
//!
//! 1. [`Hair::new`] rounds each strand by a Catmull-Rom spline and knows thickness and colour of its points.
//! 2. [`shade`] measures on a grid how much hair lies between each point and the lights, and lights it by the [`lobes`] of one hair.
//! 3. [`drawn`] sorts the segments of all hair of a picture by depth. The shader (`hair.wgsl`) widens thin ones to a pixel, with the
//!    opacity of the part that they cover, and takes away the key light where a surface shades them.
//!
//! All on the CPU, in single precision and in a fixed order.

mod density;
mod lobes;
mod shade;

use crate::view::ViewUniforms;
use shade::Shading;
use sinew_geom::{Mesh, Vec3};
use std::ops::Range;

type V = Vec3<f32>;

/// Linear RGB of strands without colours: brown.
const BROWN: [f32; 3] = [0.23, 0.115, 0.055];
/// Most pieces of a segment.
const MOST_PIECES: f32 = 4.0;
/// Points of much hair: it gets fewer pieces, since some GPUs bind no more than 128 MiB at once.
const MOST_POINTS: f32 = 1.5e6;
/// Angle between the segments of a smooth strand, radians.
const SMOOTH: f32 = 0.2;
/// Strands without thickness: together they cover this part of the surface of their box.
const COVERED: f32 = 3.0;
/// Their diameters, as a part of the diagonal of that box.
const DIAMETERS: [f32; 2] = [2.5e-4, 2e-3];
/// Diameter at the tip of strands without thickness, in that at the root.
const TIP: f32 = 0.35;

/// Strands at one time, ready to draw.
#[derive(Clone, Debug, Default)]
pub struct Hair {
    points: Vec<Point>,
    strands: Vec<Range<usize>>,
}

/// A point of a smooth strand.
#[derive(Clone, Copy, Debug)]
struct Point {
    at: V,
    /// Towards the tip, of unit length.
    along: V,
    diameter: f32,
    color: [f32; 3],
    /// 0 to 1, the same for all points of a strand.
    chance: f32,
}

impl Hair {
    /// Strands with one position per vertex of `rest`, in scene space, in metres. Colours (linear RGB) and thickness are those of `rest`,
    /// if it has them. A mesh that is not made of strands gives no hair.
    ///
    /// Without colours, hair is brown. Without thickness, strands are so thick that they cover the surface of their box together.
    ///
    /// # Panics
    /// If there are fewer positions than vertices.
    pub fn new(rest: &Mesh, positions: &[[f32; 3]]) -> Self {
        let mut out = Self::default();
        let Some(strands) = rest.topology.strands() else {
            return out;
        };
        let colors = rest.colors.first();
        let thickness = rest.strand_thickness();
        let usual = usual_diameter(strands.ranges(), positions);
        let most = (MOST_POINTS / positions.len().max(1) as f32).clamp(1.0, MOST_PIECES);
        for (strand, range) in strands.ranges().enumerate() {
            let last = (range.len() - 1).max(1) as f32;
            let knot = |v: usize| {
                let t = (v - range.start) as f32 / last;
                Knot {
                    at: positions[v].into(),
                    diameter: thickness.map_or(usual * (1.0 - (1.0 - TIP) * t), |d| d[v].max(0.0)),
                    color: colors.map_or(BROWN, |c| [c[v][0], c[v][1], c[v][2]]),
                }
            };
            let knots: Vec<Knot> = range.clone().map(knot).collect();
            let first = out.points.len();
            out.points
                .extend(smooth(&knots, most, chance(strand as u32)));
            out.strands.push(first..out.points.len());
        }
        out
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.strands.is_empty()
    }

    /// Points of all segments: a point and the next.
    fn segments(&self) -> impl Iterator<Item = [&Point; 2]> {
        let strands = self.strands.iter();
        strands.flat_map(|r| self.points[r.clone()].windows(2).map(|w| [&w[0], &w[1]]))
    }
}

/// A vertex of the file.
#[derive(Clone, Copy)]
struct Knot {
    at: V,
    diameter: f32,
    color: [f32; 3],
}

/// Diameter of strands whose file says none, metres.
fn usual_diameter(strands: impl Iterator<Item = Range<usize>>, positions: &[[f32; 3]]) -> f32 {
    let step = |w: &[[f32; 3]]| (V::from(w[1]) - V::from(w[0])).norm();
    let length: f32 = strands
        .map(|r| positions[r].windows(2).map(step).sum::<f32>())
        .sum();
    let [low, high] = bounds(positions.iter().map(|p| V::from(*p)));
    let size = high - low;
    let surface = 2.0 * (size.x * size.y + size.y * size.z + size.z * size.x);
    let [thinnest, thickest] = DIAMETERS.map(|d| d * size.norm());
    (COVERED * surface / length.max(1e-9)).clamp(thinnest, thickest)
}

fn bounds(points: impl Iterator<Item = V>) -> [V; 2] {
    let all = points.map(|p| [p, p]);
    all.reduce(|a, b| [a[0].inf(&b[0]), a[1].sup(&b[1])])
        .unwrap_or([V::zeros(); 2])
}

/// A number from 0 to 1 that neighbours do not share.
fn chance(strand: u32) -> f32 {
    let mixed = strand.wrapping_add(1).wrapping_mul(0x9e37_79b9);
    let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca6b);
    ((mixed ^ (mixed >> 13)) >> 8) as f32 / (1 << 24) as f32
}

/// Points of the Catmull-Rom spline through the vertices of a strand: more where it bends more.
fn smooth(knots: &[Knot], most: f32, chance: f32) -> Vec<Point> {
    let at = |i: usize| knots[i.min(knots.len() - 1)].at;
    let pieces = pieces(knots, most);
    let mut out = Vec::with_capacity(pieces * knots.len());
    for (i, pair) in knots.windows(2).enumerate() {
        let around = [at(i.saturating_sub(1)), pair[0].at, pair[1].at, at(i + 2)];
        for piece in 0..pieces {
            out.push(between(pair, around, piece as f32 / pieces as f32, chance));
        }
    }
    if let [.., before, last] = knots {
        let around = [before.at, last.at, last.at, last.at];
        out.push(between(&[*last, *last], around, 0.0, chance));
    }
    for i in 0..out.len() {
        let way = out[(i + 1).min(out.len() - 1)].at - out[i.saturating_sub(1)].at;
        let before = if i == 0 { V::y() } else { out[i - 1].along };
        out[i].along = way.try_normalize(1e-12).unwrap_or(before);
    }
    out
}

/// Pieces of each segment, by the sharpest bend of the strand, at most `most`.
fn pieces(knots: &[Knot], most: f32) -> usize {
    let bend = |w: &[Knot]| (w[1].at - w[0].at).angle(&(w[2].at - w[1].at));
    let sharpest = knots.windows(3).map(bend).fold(0.0, f32::max);
    (sharpest / SMOOTH).ceil().clamp(1.0, most) as usize
}

fn between(pair: &[Knot], [a, b, c, d]: [V; 4], t: f32, chance: f32) -> Point {
    let cubic = (b - c) * 3.0 + d - a;
    let square = a * 2.0 - b * 5.0 + c * 4.0 - d;
    let mix = |x: f32, y: f32| x + (y - x) * t;
    Point {
        at: b + ((cubic * t + square) * t + (c - a)) * (0.5 * t),
        along: V::zeros(),
        diameter: mix(pair[0].diameter, pair[1].diameter),
        color: std::array::from_fn(|k| mix(pair[0].color[k], pair[1].color[k])),
        chance,
    }
}

/// Words of a point for the shader.
pub(crate) const POINT_WORDS: usize = 14;

/// All hair of a picture, as `hair.wgsl` reads it.
#[derive(Debug, Default)]
pub(crate) struct DrawnHair {
    /// First points of the segments, from back to front; then all points.
    pub(crate) words: Vec<u32>,
    pub(crate) segments: u32,
}

/// Lights and sorts all hair of a picture.
pub(crate) fn drawn(hair: &[&Hair], view: &ViewUniforms) -> DrawnHair {
    let shading = Shading::new(hair, view);
    let mut order: Vec<(f32, u32)> = Vec::new();
    let mut words: Vec<f32> = Vec::new();
    for hair in hair {
        let first = words.len() / POINT_WORDS;
        for p in &hair.points {
            let [lit, rest] = shading.colors(p);
            words.extend(p.at.iter().chain(p.along.iter()));
            words.extend([p.diameter, p.chance]);
            words.extend(lit.into_iter().chain(rest));
        }
        for strand in &hair.strands {
            for i in strand.start..strand.end - 1 {
                let middle = (hair.points[i].at + hair.points[i + 1].at) * 0.5;
                let depth = shading.depth(middle);
                order.push((depth, (first + i) as u32));
            }
        }
    }
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let segments = order.len() as u32;
    let order = order.into_iter().map(|o| o.1);
    DrawnHair {
        words: order.chain(words.iter().map(|w| w.to_bits())).collect(),
        segments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::{Attribute, Strands, THICKNESS, Topology};

    fn strand(points: Vec<[f32; 3]>) -> Mesh {
        let strands = Strands::new([points.len()]).expect("a strand");
        Mesh::new("hair", Topology::from_strands(strands), points)
    }

    /// A strand on a circle: the spline leaves it by less than the chords do, and passes through all vertices.
    #[test]
    fn strands_are_rounded_through_their_vertices() {
        let on_circle = |i: u8| {
            let angle = f32::from(i) * 0.55;
            [angle.cos(), angle.sin(), 0.0]
        };
        let mut mesh = strand((0..8).map(on_circle).collect());
        mesh.attributes
            .insert(THICKNESS.into(), Attribute::Scalar(vec![0.5; 8]));
        let hair = Hair::new(&mesh, &mesh.positions);
        let pieces = MOST_PIECES.min((0.55 / SMOOTH).ceil()) as usize;
        assert_eq!(hair.points.len(), 7 * pieces + 1);
        for (i, p) in mesh.positions.iter().enumerate() {
            assert!((hair.points[i * pieces].at - V::from(*p)).norm() < 1e-6);
        }
        // Chords are off by 1 - cos(0.275) = 0.038.
        let inner = &hair.points[pieces..6 * pieces];
        for p in inner {
            assert!((p.at.norm() - 1.0).abs() < 0.005, "{:?}", p.at);
            assert!(p.along.dot(&p.at).abs() < 0.05, "along the circle");
            assert_eq!(p.diameter, 0.5);
        }
    }

    #[test]
    fn odd_strands_have_finite_points() {
        let none = Hair::new(&Mesh::default(), &[]);
        assert!(none.is_empty());
        for points in [vec![[1.0; 3]; 2], vec![[0.0; 3], [0.0; 3], [0.0, 1.0, 0.0]]] {
            let mesh = strand(points);
            let hair = Hair::new(&mesh, &mesh.positions);
            for p in &hair.points {
                let length = p.along.norm();
                assert!(
                    (length - 1.0).abs() < 1e-5 && p.diameter.is_finite(),
                    "{p:?}"
                );
                assert!(p.at.iter().all(|c| c.is_finite()));
            }
        }
    }
}
