//! Signed distance fields: round cones and ellipsoids, joined smoothly.

use sinew_geom::{Quat, Vec3};

pub(crate) type V = Vec3<f64>;

pub(crate) fn v(x: f64, y: f64, z: f64) -> V {
    V::new(x, y, z)
}

/// A solid.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// A ball swept from `a` to `b` while its radius changes from `ra` to `rb`; space is stretched by
    /// `1 / flatten` along `axis` first, so `flatten < 1` makes it thin there.
    Cone {
        a: V,
        b: V,
        ra: f64,
        rb: f64,
        axis: V,
        flatten: f64,
    },
    /// An ellipsoid with those radii along its rotated axes.
    Ellipsoid {
        center: V,
        radii: V,
        rotation: Quat<f64>,
    },
}

impl Shape {
    fn distance(&self, p: V) -> f64 {
        match self {
            Self::Cone {
                a,
                b,
                ra,
                rb,
                axis,
                flatten,
            } => {
                let stretch = |q: V| q + axis * (axis.dot(&q) * (1.0 / flatten - 1.0));
                let (d, span) = (stretch(p - a), stretch(b - a));
                let along = (d.dot(&span) / span.norm_squared().max(1e-12)).clamp(0.0, 1.0);
                // Not the exact distance to a round cone, but with the same zero set up to its slope.
                (d - span * along).norm() - (ra + (rb - ra) * along)
            }
            Self::Ellipsoid {
                center,
                radii,
                rotation,
            } => {
                let q = rotation.inverse() * (p - center);
                let k0 = q.component_div(radii).norm();
                let k1 = q.component_div(radii).component_div(radii).norm();
                if k1 > 1e-12 {
                    k0 * (k0 - 1.0) / k1
                } else {
                    -radii.min()
                }
            }
        }
    }
}

/// A tree of solids; each leaf carries the joint it follows.
#[derive(Clone, Debug)]
pub(crate) enum Field {
    Leaf(Shape, usize),
    /// Union with fillets of about that radius.
    Union(f64, Vec<Field>),
}

impl Field {
    pub(crate) fn distance(&self, p: V) -> f64 {
        match self {
            Self::Leaf(shape, _) => shape.distance(p),
            Self::Union(blend, parts) => parts
                .iter()
                .map(|f| f.distance(p))
                .reduce(|a, b| smooth_min(a, b, *blend))
                .unwrap_or(f64::INFINITY),
        }
    }

    /// The distance, and the parts that it depends on around `p`.
    pub(crate) fn near(&self, p: V) -> (f64, Near<'_>) {
        match self {
            Self::Leaf(shape, _) => (shape.distance(p), Near::Leaf(shape)),
            Self::Union(blend, parts) => {
                let parts: Vec<_> = parts.iter().map(|f| f.near(p)).collect();
                let all = parts.iter().map(|part| part.0);
                let distance = all.reduce(|a, b| smooth_min(a, b, *blend));
                let distance = distance.unwrap_or(f64::INFINITY);
                // Two parts that differ by more than the blend do not change each other.
                let counts = |part: &(f64, _)| part.0 < distance + 3.0 * blend + 0.001;
                let parts = parts.into_iter().filter(counts).map(|part| part.1);
                (distance, Near::Union(*blend, parts.collect()))
            }
        }
    }

    /// Gradient by central differences.
    pub(crate) fn gradient(&self, p: V) -> V {
        let gradient = self.near(p).1.gradient(p);
        #[cfg(test)]
        assert_eq!(gradient, self.whole().gradient(p), "parts were left out");
        gradient
    }

    /// Every part, whatever the point.
    #[cfg(test)]
    fn whole(&self) -> Near<'_> {
        match self {
            Self::Leaf(shape, _) => Near::Leaf(shape),
            Self::Union(blend, parts) => {
                Near::Union(*blend, parts.iter().map(Self::whole).collect())
            }
        }
    }

    /// The leaf nearest to `p`: (distance, joint).
    pub(crate) fn nearest_joint(&self, p: V) -> (f64, usize) {
        match self {
            Self::Leaf(shape, joint) => (shape.distance(p), *joint),
            Self::Union(_, parts) => {
                parts
                    .iter()
                    .map(|f| f.nearest_joint(p))
                    .fold((f64::INFINITY, 0), |best, found| {
                        if found.0 < best.0 { found } else { best }
                    })
            }
        }
    }
}

/// The parts of a field that count around a point: up to a tenth of a millimetre away the distance has the same bits.
pub(crate) enum Near<'a> {
    Leaf(&'a Shape),
    Union(f64, Vec<Near<'a>>),
}

impl Near<'_> {
    fn distance(&self, p: V) -> f64 {
        match self {
            Self::Leaf(shape) => shape.distance(p),
            Self::Union(blend, parts) => parts
                .iter()
                .map(|f| f.distance(p))
                .reduce(|a, b| smooth_min(a, b, *blend))
                .unwrap_or(f64::INFINITY),
        }
    }

    /// Gradient by central differences.
    pub(crate) fn gradient(&self, p: V) -> V {
        let h = 1e-5;
        V::from_fn(|c, _| {
            let mut e = V::zeros();
            e[c] = h;
            (self.distance(p + e) - self.distance(p - e)) / (2.0 * h)
        })
    }
}

/// Quilez's polynomial smooth minimum: differs from `min` only where |a - b| < k.
fn smooth_min(a: f64, b: f64, k: f64) -> f64 {
    let h = (k - (a - b).abs()).max(0.0) / k.max(1e-12);
    a.min(b) - h * h * k * 0.25
}

/// A round cone that follows `joint`.
pub(crate) fn cone(joint: usize, a: V, b: V, ra: f64, rb: f64) -> Field {
    flat_cone(joint, a, b, ra, rb, V::y(), 1.0)
}

/// A round cone `flatten` times as thick along the unit vector `axis`.
pub(crate) fn flat_cone(
    joint: usize,
    a: V,
    b: V,
    ra: f64,
    rb: f64,
    axis: V,
    flatten: f64,
) -> Field {
    let shape = Shape::Cone {
        a,
        b,
        ra,
        rb,
        axis,
        flatten,
    };
    Field::Leaf(shape, joint)
}

/// An ellipsoid that follows `joint`.
pub(crate) fn blob(joint: usize, center: V, radii: V, rotation: Quat<f64>) -> Field {
    let shape = Shape::Ellipsoid {
        center,
        radii,
        rotation,
    };
    Field::Leaf(shape, joint)
}
