//! The mix of one vertex, generic over precision. Also the CPU kernel: it is bound by memory as it is.

use sinew_geom::Real;

/// `a + w (b - a)`.
pub(crate) fn blend_position<R: Real>(a: [f32; 3], b: [f32; 3], w: R) -> [f32; 3] {
    let a = R::vec3(a);
    R::array3(a + (R::vec3(b) - a) * w)
}

/// The same, normalised; `a` where the two cancel. Weight 0 returns `a` bit for bit.
pub(crate) fn blend_direction<R: Real>(a: [f32; 3], b: [f32; 3], w: R) -> [f32; 3] {
    if w == R::zero() {
        return a;
    }
    let from = R::vec3(a);
    let mixed = from + (R::vec3(b) - from) * w;
    mixed
        .try_normalize(R::from_double(1e-12))
        .map_or(a, R::array3)
}
