//! Shapes that strands collide with: anything with a signed distance.

use sinew_geom::vec3::{dot, length, scale, sub};

/// A signed distance in a frame of its own, in metres: negative inside, positive outside.
///
/// It need not be exact, but it must not grow faster than the way (Lipschitz constant 1): collision skips points by that bound.
pub trait Distance: Sync {
    /// Signed distance at a point of the shape's frame. If it is unknown, for example outside a grid, a lower bound of it.
    fn distance(&self, point: [f32; 3]) -> f32;
    /// Distance and gradient. The gradient may have any length, and is 0 if there is none.
    fn distance_and_gradient(&self, point: [f32; 3]) -> (f32, [f32; 3]);
    /// [`Self::distance_and_gradient`] of eight points, given as their x, y and z coordinates. Bit `i` of `wanted` is set for each point that
    /// is needed; the others get anything.
    fn distances_and_gradients(
        &self,
        points: &[[f32; 8]; 3],
        wanted: u8,
    ) -> ([f32; 8], [[f32; 8]; 3]) {
        one_by_one(self, points, wanted)
    }
    /// Size of the smallest detail, metres: the cell of a grid, a radius. Segments are sampled at half of it. Infinite if the ends of a
    /// segment are enough.
    fn feature_size(&self) -> f32;
    /// Distance by the look-up of TressFX: if a node of the cell around the point is unset, the whole cell is.
    fn tressfx_distance(&self, point: [f32; 3]) -> f32 {
        self.distance(point)
    }
    /// First node of the grid, in the shape's frame; `None` for shapes without one.
    fn grid_origin(&self) -> Option<[f32; 3]> {
        None
    }
}

/// [`Distance::distances_and_gradients`] point after point.
pub(super) fn one_by_one(
    shape: &(impl Distance + ?Sized),
    points: &[[f32; 8]; 3],
    wanted: u8,
) -> ([f32; 8], [[f32; 8]; 3]) {
    let mut out = ([0.0; 8], [[0.0; 8]; 3]);
    for i in (0..8).filter(|i| (wanted >> i) & 1 != 0) {
        let (distance, gradient) = shape.distance_and_gradient(points.map(|axis| axis[i]));
        out.0[i] = distance;
        (0..3).for_each(|k| out.1[k][i] = gradient[k]);
    }
    out
}

/// The half space below a plane. Its distance is exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Unit normal, out of the solid.
    pub normal: [f32; 3],
    /// Signed distance of the plane from the origin along `normal`.
    pub offset: f32,
}

impl Distance for Plane {
    fn distance(&self, point: [f32; 3]) -> f32 {
        dot(self.normal, point) - self.offset
    }
    fn distance_and_gradient(&self, point: [f32; 3]) -> (f32, [f32; 3]) {
        (self.distance(point), self.normal)
    }
    fn feature_size(&self) -> f32 {
        f32::INFINITY
    }
}

/// Two spheres and the cone that touches both; equal radii make a plain capsule, equal ends a sphere. Exact distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// Centres of the spheres.
    pub ends: [[f32; 3]; 2],
    /// Their radii, not negative.
    pub radii: [f32; 2],
}

impl Capsule {
    /// A sphere.
    pub fn sphere(center: [f32; 3], radius: f32) -> Self {
        Self {
            ends: [center; 2],
            radii: [radius; 2],
        }
    }

    /// Distance and unit gradient.
    fn measure(&self, point: [f32; 3]) -> (f32, [f32; 3]) {
        let [a, b] = self.ends;
        let axis = sub(b, a);
        let squared = dot(axis, axis);
        let narrowing = self.radii[0] - self.radii[1];
        let slant = squared - narrowing * narrowing;
        if slant <= 0.0 {
            // One ball holds the other.
            let larger = usize::from(narrowing < 0.0);
            return ball(point, self.ends[larger], self.radii[larger]);
        }
        let length = squared.sqrt();
        let unit = scale(axis, 1.0 / length);
        let from = sub(point, a);
        let height = dot(from, unit);
        let outward = sub(from, scale(unit, height));
        let radial = dot(outward, outward).sqrt();
        // The cone's normal leans by (narrowing, sqrt(slant)) / length from the radial direction.
        let (lean, upright) = (narrowing / length, slant.sqrt() / length);
        let foot = height - radial * lean / upright;
        if foot <= 0.0 {
            return ball(point, a, self.radii[0]);
        }
        if foot >= length {
            return ball(point, b, self.radii[1]);
        }
        let side = unit_or(outward, perpendicular(unit));
        let normal = [0, 1, 2].map(|c| side[c] * upright + unit[c] * lean);
        (radial * upright + height * lean - self.radii[0], normal)
    }
}

impl Distance for Capsule {
    fn distance(&self, point: [f32; 3]) -> f32 {
        self.measure(point).0
    }
    fn distance_and_gradient(&self, point: [f32; 3]) -> (f32, [f32; 3]) {
        self.measure(point)
    }
    fn feature_size(&self) -> f32 {
        self.radii[0].min(self.radii[1]) * 0.5
    }
}

fn ball(point: [f32; 3], center: [f32; 3], radius: f32) -> (f32, [f32; 3]) {
    let from = sub(point, center);
    let length = length(from);
    (length - radius, unit_or(from, [0.0, 1.0, 0.0]))
}

fn unit_or(a: [f32; 3], otherwise: [f32; 3]) -> [f32; 3] {
    let squared = dot(a, a);
    if squared > f32::MIN_POSITIVE && squared < f32::MAX {
        scale(a, 1.0 / squared.sqrt())
    } else {
        otherwise
    }
}
/// Any unit vector across a unit vector.
fn perpendicular(a: [f32; 3]) -> [f32; 3] {
    let across = if a[0].abs() < 0.7 {
        [0.0, a[2], -a[1]]
    } else {
        [-a[2], 0.0, a[0]]
    };
    unit_or(across, [0.0, 1.0, 0.0])
}
