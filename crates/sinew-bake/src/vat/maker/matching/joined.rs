//! Triangles with points of their own, as flat shading and many exporters leave them: joined by place.
//!
//! Numbers say nothing there. Every list of loose triangles is 0 1 2, 3 4 5 and so on, whatever the triangles are, and nobody
//! has neighbours.

use super::Triangles;
use std::borrow::Cow;
use std::collections::HashMap;

/// Points a triangle from which on triangles share too few for numbers to mean anything. A closed surface has half a point a
/// triangle, cubes and quads with points of their own two, loose triangles three.
const LOOSE: f64 = 1.5;

/// Which share of the points must be joined to the same others for two frames to be one mesh, in per cent.
const SHARE: usize = 90;

/// The triangles of a frame by numbers that mean something: of loose triangles by the first point at each place.
pub(super) fn joined<'a>(frame: &Triangles<'a>) -> Cow<'a, [[u32; 3]]> {
    if !is_loose(frame) {
        return Cow::Borrowed(frame.triangles);
    }
    let first = first_at_place(frame.points);
    let triangles = frame.triangles.iter();
    triangles.map(|t| t.map(|v| first[v as usize])).collect()
}

/// Whether equal numbers of points mean the same points in two frames of equally many: not where loose triangles are joined in another
/// way, since these are others under the same numbers.
pub(crate) fn numbers_mean_the_same(a: &Triangles<'_>, b: &Triangles<'_>) -> bool {
    if a.points.len() != b.points.len() || !is_loose(a) || !is_loose(b) {
        return true;
    }
    let [first, second] = [a, b].map(|frame| first_at_place(frame.points));
    let same = first.iter().zip(&second).filter(|(a, b)| a == b).count();
    same * 100 >= first.len() * SHARE
}

fn is_loose(frame: &Triangles<'_>) -> bool {
    frame.points.len() as f64 > LOOSE * frame.triangles.len() as f64
}

/// For each point the first one at the same place, to the bit; of two zeros the signs do not matter.
fn first_at_place(points: &[[f32; 3]]) -> Vec<u32> {
    let mut known: HashMap<[u32; 3], u32> = HashMap::with_capacity(points.len());
    let numbered = points.iter().zip(0_u32..);
    let first = numbered.map(|(p, v)| *known.entry(p.map(|c| (c + 0.0).to_bits())).or_insert(v));
    first.collect()
}
