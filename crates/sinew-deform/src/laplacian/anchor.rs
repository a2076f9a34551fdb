//! The space in which a frame is computed: near the mesh and about as large as one, wherever the mesh stands and whatever its units. Single
//! precision is then enough, and thresholds mean the same for all meshes.

use serde::{Deserialize, Serialize};
use sinew_geom::{Influences, Mesh, PackedAffine, Real, Vec3, vec3};

/// Relative difference from 1 that rounding leaves; up to it there is no scale.
const NO_SCALE: f64 = 1e-5;
/// In units: where an origin is of use, and twice as far away as any point of the mesh is from it.
const FAR: f32 = 4.0;
/// Halvings of the range in which the scale is looked for.
const STEPS: usize = 50;

/// Origin and unit of the points of one frame.
///
/// In these coordinates, the mesh is near the origin and about as large as 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameSpace {
    /// Scene space, metres.
    pub origin: [f32; 3],
    /// Metres per unit: a power of two, thus scaling changes no digits.
    pub unit: f32,
}

impl FrameSpace {
    /// Scene space itself.
    pub const SCENE: Self = Self {
        origin: [0.0; 3],
        unit: 1.0,
    };

    /// A position of scene space in this space.
    #[inline(always)]
    pub fn enter(&self, p: [f32; 3]) -> [f32; 3] {
        vec3::scale(vec3::sub(p, self.origin), 1.0 / self.unit)
    }

    /// A position of this space in scene space.
    #[inline(always)]
    pub fn leave(&self, p: [f32; 3]) -> [f32; 3] {
        vec3::add(vec3::scale(p, self.unit), self.origin)
    }
}

/// Setup: centre and size of a mesh, and how much of it each joint moves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// Middle of the rest mesh, scene space.
    center: [f64; 3],
    /// The diagonal of the rest mesh as a power of two, metres.
    unit: f64,
    /// What part of the mesh each joint moves.
    shares: Vec<f32>,
}

impl Anchor {
    /// From a mesh at rest. A mesh without influences stays where it is in every pose.
    pub fn new(mesh: &Mesh) -> Self {
        let (low, high) = mesh.bounds().unwrap_or_default();
        let influences = mesh.influences.as_ref();
        Self {
            center: std::array::from_fn(|c| 0.5 * (f64::from(low[c]) + f64::from(high[c]))),
            unit: power_of_two(f64::from(mesh.diagonal())),
            shares: influences.map_or_else(Vec::new, Influences::shares),
        }
    }

    /// The unit at rest.
    pub(crate) fn rest_unit(&self) -> f64 {
        self.unit
    }

    /// The space of a frame, with the posed centre of the mesh as its origin, and its unit divided by the unit at rest.
    ///
    /// `palette` has the skinning matrices of the rig; an empty one means the rest pose. Joints without a matrix do not count. The origin
    /// is 0 along an axis where that centre is nearer to 0 than 4 units: what does not move then keeps every bit. NaN and infinity give the
    /// rest centre.
    ///
    /// # Cost
    /// O(joints) per frame. Does not allocate.
    pub fn space(&self, palette: &[PackedAffine]) -> (FrameSpace, f32) {
        let growth = power_of_two(f64::from(self.scale(palette)));
        let unit = (self.unit * growth) as f32;
        // So that what does not move keeps every bit: twice as far as the mesh reaches a difference is exact, and nearer nothing is taken away.
        let far = |x: f32| if x.abs() < FAR * unit { 0.0 } else { x };
        let space = FrameSpace {
            origin: self.origin(palette).map(far),
            unit,
        };
        (space, growth as f32)
    }

    /// Where the joints bring the middle of the mesh, each by its part of the mesh; without joints the middle. Metres, scene space.
    fn origin(&self, palette: &[PackedAffine]) -> [f32; 3] {
        let center = Vec3::from(self.center);
        let (mut sum, mut parts) = (Vec3::zeros(), 0.0);
        for (matrix, &share) in palette.iter().zip(&self.shares) {
            sum += matrix.unpack::<f64>().point(center) * f64::from(share);
            parts += f64::from(share);
        }
        let origin = if parts > 0.0 { sum / parts } else { center };
        let is_near = |x: &f64| x.is_finite() && x.abs() < 1e30;
        f64::array3(if origin.iter().all(is_near) {
            origin
        } else {
            center
        })
    }

    /// The weighted median of the scales of the joints, each with the share of the mesh that it moves. A joint's scale is the cube root of
    /// the volume of its matrix.
    ///
    /// A rig that is scaled as a whole gives its scale. If less than half of the mesh is scaled, or there are no joints, the result is 1.
    /// It changes continuously with the pose. O(joints), 50 times if any joint is scaled.
    pub fn scale(&self, palette: &[PackedAffine]) -> f32 {
        let scale = |m: &PackedAffine| {
            let volume = m.unpack::<f64>().linear.determinant().abs();
            if volume.is_finite() {
                volume.cbrt()
            } else {
                1.0
            }
        };
        let all = palette.iter().map(scale).zip(self.shares.iter().copied());
        let is_none = |(scale, share): (f64, f32)| share == 0.0 || (scale - 1.0).abs() <= NO_SCALE;
        if all.clone().all(is_none) {
            return 1.0;
        }
        let half = self.shares.iter().map(|&s| f64::from(s)).sum::<f64>() / 2.0;
        let (mut low, mut high) = (0.0, all.clone().map(|a| a.0).fold(0.0, f64::max));
        for _ in 0..STEPS {
            let middle = 0.5 * (low + high);
            let below = all.clone().filter(|a| a.0 <= middle);
            if below.map(|a| f64::from(a.1)).sum::<f64>() >= half {
                high = middle;
            } else {
                low = middle;
            }
        }
        high as f32
    }
}

/// The power of two nearest to a size, 2^-40 to 2^40; 1 where there is none.
fn power_of_two(size: f64) -> f64 {
    if size > 0.0 && size.is_finite() {
        size.log2().round().clamp(-40.0, 40.0).exp2()
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::{Affine, Quat};

    fn joint(scale: [f64; 3]) -> PackedAffine {
        let rotation = Quat::from_euler_angles(0.3, 1.0, -2.0);
        Affine::from_trs(Vec3::new(5.0, 6.0, 7.0), rotation, Vec3::from(scale)).into()
    }

    fn anchor(shares: &[f32]) -> Anchor {
        Anchor {
            center: [1.0, 2.0, 3.0],
            unit: 4.0,
            shares: shares.to_vec(),
        }
    }

    #[test]
    fn most_of_the_mesh_says_what_the_scale_is() {
        let even = |s: f64| joint([s; 3]);
        let anchor = anchor(&[0.5, 0.3, 0.2]);
        for s in [0.001, 0.5, 1.0, 3.0, 1000.0] {
            let found = f64::from(anchor.scale(&[even(s), even(s), even(s)]));
            assert!((found / s - 1.0).abs() < 1e-6, "{found} for {s}");
            // A fifth of the mesh changes nothing.
            let found = f64::from(anchor.scale(&[even(s), even(s), even(9.0)]));
            assert!((found / s - 1.0).abs() < 1e-6, "{found} for {s}");
        }
        let found = anchor.scale(&[joint([1.0, 2.0, -4.0]); 3]);
        assert!((found - 2.0).abs() < 1e-5, "{found}");
    }

    #[test]
    fn without_scale_it_is_exactly_one() {
        let still = joint([1.0 + 4e-6, 1.0, 1.0]);
        assert_eq!(anchor(&[0.5, 0.3, 0.2]).scale(&[still; 3]), 1.0);
        let other = joint([7.0; 3]);
        let of_no_weight = anchor(&[0.5, 0.0, 0.5]);
        assert_eq!(of_no_weight.scale(&[still, other, still]), 1.0);
        assert_eq!(anchor(&[]).scale(&[other; 3]), 1.0);
    }

    #[test]
    fn the_origin_goes_where_most_of_the_mesh_goes() {
        let to = |x: f64| {
            PackedAffine::from(Affine {
                translation: Vec3::new(x, 0.0, 0.0),
                ..Affine::identity()
            })
        };
        let anchor = anchor(&[0.75, 0.25]);
        assert_eq!(anchor.origin(&[to(100.0), to(200.0)]), [126.0, 2.0, 3.0]);
        assert_eq!(anchor.origin(&[]), [1.0, 2.0, 3.0]);
        assert_eq!(anchor.origin(&[to(f64::MAX), to(0.0)]), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn units_are_powers_of_two_that_follow_the_scale() {
        let anchor = anchor(&[1.0]);
        for (scale, unit) in [(1.0, 4.0), (0.3, 1.0), (100.0, 512.0), (0.01, 1.0 / 32.0)] {
            let (space, growth) = anchor.space(&[joint([scale; 3])]);
            assert_eq!((space.unit, growth), (unit, unit / 4.0), "{scale}");
        }
        let (flat, growth) = anchor.space(&[joint([0.0; 3])]);
        assert_eq!((flat.unit, growth), (4.0, 1.0));
    }

    #[test]
    fn points_come_back_with_every_bit() {
        for x in [0.0, 0.3, 15.9, 16.1, 40.0, 1e3, 1e6] {
            let anchor = Anchor {
                center: [x, -x, 0.1 * x],
                unit: 4.0,
                shares: Vec::new(),
            };
            let (space, _) = anchor.space(&[]);
            for k in 0..1000_i16 {
                let off = 3.0 * f64::from(k).sin();
                let p = anchor.center.map(|c| (c + off) as f32);
                assert_eq!(space.leave(space.enter(p)), p, "{space:?}");
            }
        }
    }
}
