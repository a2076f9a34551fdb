//! Mask arithmetic of one vertex, generic over precision. Except for distances, it is also the CPU kernel.

use sinew_geom::{Affine, Real, Vec3};

/// Shape of a falloff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// `t`.
    Linear,
    /// `t²(3 - 2t)`.
    Smooth,
    /// `t³(6t² - 15t + 10)`.
    Smoother,
    /// `t²`.
    Square,
    /// `√t`.
    Root,
}

/// How a mask `x` is combined with another mask `o`. The result is limited to 0..1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// `x o`.
    Multiply,
    /// The smaller.
    Minimum,
    /// The larger.
    Maximum,
    /// `x + o`.
    Add,
    /// `x - o`.
    Subtract,
    /// `1 - (1 - x)(1 - o)`.
    Screen,
    /// `|x - o|`.
    Difference,
}

/// Volume of full weight, in the space of its transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A cube from -1 to 1 on each axis.
    Box,
    /// A sphere of radius 1 around the origin.
    Sphere,
    /// The half space below y = 0.
    Plane,
}

#[inline(always)]
fn saturate<R: Real>(x: R) -> R {
    // Written so that NaN becomes 0.
    if x >= R::one() {
        R::one()
    } else if x > R::zero() {
        x
    } else {
        R::zero()
    }
}

impl Curve {
    /// The curve at `t` in 0 to 1; `t` is not limited.
    #[inline(always)]
    pub fn at<R: Real>(self, t: R) -> R {
        let n = |v: f64| R::from_double(v);
        match self {
            Self::Linear => t,
            Self::Smooth => t * t * (n(3.0) - n(2.0) * t),
            Self::Smoother => t * t * t * (t * (t * n(6.0) - n(15.0)) + n(10.0)),
            Self::Square => t * t,
            Self::Root => t.sqrt(),
        }
    }
}

impl Combine {
    /// Combines two weights; the result is limited to 0..1.
    #[inline(always)]
    pub fn apply<R: Real>(self, x: R, other: R) -> R {
        let one = R::one();
        saturate(match self {
            Self::Multiply => x * other,
            Self::Minimum => x.min(other),
            Self::Maximum => x.max(other),
            Self::Add => x + other,
            Self::Subtract => x - other,
            Self::Screen => one - (one - x) * (one - other),
            Self::Difference => (x - other).abs(),
        })
    }
}

impl Shape {
    /// Distance in metres of the scene from `p` to the shape, 0 inside. `inverse` must be the inverse of `transform`. Exact for planes, for
    /// boxes without shear and for evenly scaled spheres; otherwise the distance to the nearest point in the space of the shape.
    pub fn distance<R: Real>(self, transform: &Affine<R>, inverse: &Affine<R>, p: Vec3<R>) -> R {
        let local = inverse.point(p);
        let (one, zero) = (R::one(), R::zero());
        match self {
            Self::Box => {
                let nearest = local.map(|c| c.max(-one).min(one));
                (transform.linear * (local - nearest)).norm()
            }
            Self::Sphere => {
                let radius = local.norm();
                if radius <= one {
                    return zero;
                }
                (transform.linear * (local * (one - one / radius))).norm()
            }
            Self::Plane => {
                let slope = inverse.linear.row(1).norm();
                if local.y <= zero || slope <= zero {
                    return zero;
                }
                local.y / slope
            }
        }
    }
}

/// 1 at distance 0, 0 from `falloff` on.
#[inline(always)]
pub(crate) fn falloff_weight<R: Real>(distance: R, falloff: R, curve: Curve) -> R {
    if distance <= R::zero() {
        return R::one();
    }
    if falloff <= R::zero() {
        return R::zero();
    }
    curve.at(saturate(R::one() - distance / falloff))
}

/// Maps `low` to 0 and `high` to 1, linearly, and limits the result. Equal bounds make a step. `low` above `high` inverts.
#[inline(always)]
pub fn remap<R: Real>(x: R, low: R, high: R) -> R {
    if low == high {
        return if x >= low { R::one() } else { R::zero() };
    }
    saturate((x - low) / (high - low))
}
