//! Vectors of double precision, for numbers that come and go in single precision.

use sinew_geom::vec3::{add, length, scale};

/// Three numbers of double precision.
pub(super) type Point = [f64; 3];

pub(super) fn wide(p: [f32; 3]) -> Point {
    p.map(f64::from)
}

/// Back to single precision; what would be infinite becomes the largest number.
pub(super) fn narrow(p: Point) -> [f32; 3] {
    p.map(|c| c.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32)
}

/// Of length one, or `None` for a vector of no length.
pub(super) fn unit(a: Point) -> Option<Point> {
    let length = length(a);
    (length > 0.0 && length.is_finite()).then(|| scale(a, 1.0 / length))
}

pub(super) fn centroid(t: &[Point; 3]) -> Point {
    scale(add(add(t[0], t[1]), t[2]), 1.0 / 3.0)
}
