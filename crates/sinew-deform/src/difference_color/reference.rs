//! The colour of one vertex. Also the CPU kernel: it is bound by memory as it is.

use sinew_geom::Real;

/// Saturated difference per axis, and its saturated length as alpha.
pub fn difference_color<R: Real>(p: [f32; 3], q: [f32; 3], scale: R) -> [f32; 4] {
    let d = (R::vec3(p) - R::vec3(q)) * scale;
    let limit = |v: R| v.abs().min(R::one()).to_single();
    [limit(d.x), limit(d.y), limit(d.z), limit(d.norm())]
}
