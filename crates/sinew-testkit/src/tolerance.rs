//! The one table of tolerances, each with its reason.

/// `f32` kernel against the `f64` reference, positions, as a fraction of the mesh's bounding-box diagonal:
/// a few dozen roundings of 2^-24 each.
pub const POSITION: f64 = 1e-5;
/// `f32` kernel against the `f64` reference, unit normals and tangents, as an angle in radians (about 0.1 degree):
/// small triangles amplify position rounding.
pub const DIRECTION: f64 = 1.75e-3;
/// Analytic Jacobian against central differences in `f64`.
pub const JACOBIAN: f64 = 1e-6;
