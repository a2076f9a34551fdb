//! Vectors of double precision, for numbers that come and go in single precision.

/// Three numbers of double precision.
pub(super) type Point = [f64; 3];

pub(super) fn wide(p: [f32; 3]) -> Point {
    p.map(f64::from)
}

/// Back to single precision; what would be infinite becomes the largest number.
pub(super) fn narrow(p: Point) -> [f32; 3] {
    p.map(|c| c.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32)
}

pub(super) fn add(a: Point, b: Point) -> Point {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(super) fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(super) fn scale(a: Point, s: f64) -> Point {
    [a[0] * s, a[1] * s, a[2] * s]
}

pub(super) fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: Point, b: Point) -> Point {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub(super) fn length(a: Point) -> f64 {
    dot(a, a).sqrt()
}

/// Of length one, or `None` for a vector of no length.
pub(super) fn unit(a: Point) -> Option<Point> {
    let length = length(a);
    (length > 0.0 && length.is_finite()).then(|| scale(a, 1.0 / length))
}

/// Twice the area, along the normal.
pub(super) fn area_vector(t: &[Point; 3]) -> Point {
    cross(sub(t[1], t[0]), sub(t[2], t[0]))
}

pub(super) fn centroid(t: &[Point; 3]) -> Point {
    scale(add(add(t[0], t[1]), t[2]), 1.0 / 3.0)
}
