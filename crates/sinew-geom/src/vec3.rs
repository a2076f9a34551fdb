//! Arithmetic on vectors stored as arrays. Sums run from left to right, which gives the same bits on every machine.
//!
//! All functions are always inlined: fast kernels call them inside code that is compiled for wider SIMD instructions.

use crate::Real;

/// `a + b`.
#[inline(always)]
pub fn add<R: Real>(a: [R; 3], b: [R; 3]) -> [R; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// `a - b`.
#[inline(always)]
pub fn sub<R: Real>(a: [R; 3], b: [R; 3]) -> [R; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `a * factor`.
#[inline(always)]
pub fn scale<R: Real>(a: [R; 3], factor: R) -> [R; 3] {
    [a[0] * factor, a[1] * factor, a[2] * factor]
}

/// `a + b * factor`.
#[inline(always)]
pub fn add_scaled<R: Real>(a: [R; 3], b: [R; 3], factor: R) -> [R; 3] {
    add(a, scale(b, factor))
}

/// Dot product.
#[inline(always)]
pub fn dot<R: Real>(a: [R; 3], b: [R; 3]) -> R {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Cross product.
#[inline(always)]
pub fn cross<R: Real>(a: [R; 3], b: [R; 3]) -> [R; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Length.
#[inline(always)]
pub fn length<R: Real>(a: [R; 3]) -> R {
    dot(a, a).sqrt()
}

/// Distance between two points.
#[inline(always)]
pub fn distance<R: Real>(a: [R; 3], b: [R; 3]) -> R {
    length(sub(a, b))
}

/// `a` divided by its length; `None` if the length is 0 or not finite.
#[inline(always)]
pub fn unit<R: Real>(a: [R; 3]) -> Option<[R; 3]> {
    let length = length(a);
    (length > R::zero() && length.is_finite()).then(|| a.map(|c| c / length))
}

/// Normal of a counter-clockwise triangle, with twice its area as length.
#[inline(always)]
pub fn area_vector<R: Real>([a, b, c]: [[R; 3]; 3]) -> [R; 3] {
    cross(sub(b, a), sub(c, a))
}
