//! How well shaped the triangles of a mesh are.

use super::vector::Point;
use serde::{Deserialize, Serialize};
use sinew_geom::vec3::{dot, length, sub};

/// Angle below which a triangle counts as a sliver: ten degrees, in radians.
const SLIVER_ANGLE: f64 = 10.0 * std::f64::consts::PI / 180.0;

/// How well shaped triangles are. Triangles without area have a smallest angle of zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shape {
    /// Smallest angle of any triangle, radians; zero without triangles.
    pub min_angle: f64,
    /// Mean over the triangles of their smallest angles, radians; zero without triangles.
    pub mean_min_angle: f64,
    /// Share of triangles whose smallest angle is below ten degrees, 0 to 1.
    pub sliver_share: f64,
}

impl Shape {
    /// Measures triangles. Linear time.
    pub(super) fn of(triangles: impl Iterator<Item = [Point; 3]>) -> Self {
        let (mut least, mut sum) = (f64::INFINITY, 0.0);
        let (mut slivers, mut count) = (0_u32, 0_u32);
        for triangle in triangles {
            let angle = largest_cosine(&triangle).acos();
            least = least.min(angle);
            sum += angle;
            slivers += u32::from(angle < SLIVER_ANGLE);
            count += 1;
        }
        if count == 0 {
            return Self::default();
        }
        Self {
            min_angle: least,
            mean_min_angle: sum / f64::from(count),
            sliver_share: f64::from(slivers) / f64::from(count),
        }
    }
}

/// Cosine of the smallest angle of a triangle; one where two corners coincide.
pub(super) fn largest_cosine(t: &[Point; 3]) -> f64 {
    let sides = [sub(t[1], t[0]), sub(t[2], t[1]), sub(t[0], t[2])];
    let lengths = sides.map(length);
    if lengths.contains(&0.0) {
        return 1.0;
    }
    let cosine = |i: usize, j: usize| -dot(sides[i], sides[j]) / (lengths[i] * lengths[j]);
    let largest = cosine(0, 1).max(cosine(1, 2)).max(cosine(2, 0));
    largest.clamp(-1.0, 1.0)
}
