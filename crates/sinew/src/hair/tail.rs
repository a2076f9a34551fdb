//! Guide curves of a ponytail.
//!
//! The band is on the back of the box around all roots. From roots that are spread over the scalp, curves go around the head to the band, as
//! great circles of a ball whose radius changes linearly on the way, and on along the tail. Curves stay a part of the way of their roots
//! from the band apart, which gives the tail its thickness.

use crate::geom::Vec3;
use std::collections::HashSet;
use std::f32::consts::PI;

type V = Vec3<f32>;

/// The tail from the band on: heights above the lowest root, in heights of the box; distances behind the box, in its widths; and the part
/// that curves keep of the way from the band to their root.
const TAIL: [[f32; 3]; 5] = [
    [0.66, 0.0, 0.1],
    [0.72, 0.11, 0.14],
    [0.6, 0.25, 0.22],
    [0.0, 0.33, 0.28],
    [-3.0, 0.3, 0.32],
];
/// Height of the centre of the ball in the box.
const CENTRE: f32 = 0.4;
/// Curves across the width of the box, roughly.
const ACROSS: f32 = 16.0;
/// Points of a curve from its root to the band.
const TO_BAND: usize = 8;

/// The curves, in the space of `roots`: positions where hair grows.
pub(super) fn tail(roots: &[[f32; 3]]) -> Vec<Vec<[f32; 3]>> {
    let boxes = roots.iter().map(|p| [*p, *p]).reduce(|a, b| {
        let corner =
            |k: usize, pick: fn(f32, f32) -> f32| std::array::from_fn(|c| pick(a[k][c], b[k][c]));
        [corner(0, f32::min), corner(1, f32::max)]
    });
    let [low, high] = boxes.unwrap_or_default();
    let [width, height] = [high[0] - low[0], high[1] - low[1]];
    let middle = 0.5 * (low[0] + high[0]);
    let behind =
        |[up, back, _]: [f32; 3]| V::new(middle, low[1] + up * height, low[2] - back * width);
    let centre = V::new(middle, low[1] + CENTRE * height, 0.5 * (low[2] + high[2]));
    let band = behind(TAIL[0]);
    let curve = |root: &[f32; 3]| {
        let root = V::from(*root);
        let kept = |part: f32| (root - band) * part;
        let to_band = (0..TO_BAND).map(|i| {
            let t = i as f32 / TO_BAND as f32;
            around(centre, root, band, t) + kept(TAIL[0][2] * t * t)
        });
        let tail = TAIL.map(|point| behind(point) + kept(point[2]));
        to_band.chain(tail).map(|p| [p.x, p.y, p.z]).collect()
    };
    let size = (width / ACROSS).max(f32::MIN_POSITIVE);
    let mut cells = HashSet::new();
    let spread = roots
        .iter()
        .filter(|p| cells.insert(p.map(|c| (c / size).floor() as i64)));
    spread.map(curve).collect()
}

/// The point at the share `t` of the way from `a` to `b` around a centre.
fn around(centre: V, a: V, b: V, t: f32) -> V {
    let (a, b) = (a - centre, b - centre);
    let angle = a.angle(&b);
    // Next to the same or the opposite direction, no circle is defined.
    if !(1e-3..PI - 1e-3).contains(&angle) {
        return centre + a + (b - a) * t;
    }
    let (from, to) = (a / a.norm(), b / b.norm());
    let direction = (from * ((1.0 - t) * angle).sin() + to * (t * angle).sin()) / angle.sin();
    centre + direction * (a.norm() + (b.norm() - a.norm()) * t)
}
