//! The published formula, with its cancellations removed.

use super::SquashStretch;
use crate::local_frame::{LaneReal, Local, LocalMap, MapUniforms, RegionAt, high};
use crate::{UniformKind, UniformType};

/// Map of the published mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PublishedMap<R> {
    region: RegionAt<R>,
    bezier: Bezier<R>,
    /// Stretch minus one.
    stretch: R,
    /// Widest cross scales minus one, before the bulge.
    cross: [R; 2],
}

impl<R: LaneReal> PublishedMap<R> {
    /// From the settings.
    pub(crate) fn new(settings: &SquashStretch) -> Self {
        let stretch = settings.stretch.max(1e-4);
        let cross = cross_ratios(stretch, settings.cross_bias);
        // The bulge peaks at pi/2: a section scale 1 + (r - 1) pi/2 must stay positive.
        let floor = if settings.prevent_fold {
            1.0 - 0.98 * std::f64::consts::FRAC_2_PI
        } else {
            0.0
        };
        Self {
            region: settings.region().at(),
            bezier: Bezier::new(settings.axis_bias.clamp(0.0, 1.0)),
            stretch: R::from_double(stretch - 1.0),
            cross: cross.map(|r| R::from_double(r.max(floor) - 1.0)),
        }
    }
}

crate::uniform_struct! {
    /// As in `published.wgsl`.
    struct Map {
        m: f32,
        stretch: f32,
        cross_scale: [f32; 2],
        unused: [f32; 4],
    }
}

impl PublishedMap<f32> {
    /// Members of `struct Map`.
    pub(super) const MAP: UniformKind = Map::KIND;

    /// As in `published.wgsl`.
    pub(super) fn uniforms(&self) -> MapUniforms {
        let numbers = Map {
            m: self.bezier.m,
            stretch: self.stretch,
            cross_scale: self.cross,
            unused: [0.0; 4],
        };
        MapUniforms::new(self.region, numbers)
    }
}

/// Cross scales of a stretch, shared by the bias.
pub(super) fn cross_ratios(stretch: f64, cross_bias: f64) -> [f64; 2] {
    let ratio = (1.0 / stretch).sqrt();
    let bias = cross_bias.clamp(1e-4, 1.0 - 1e-4);
    let k = 1.0 - (bias - 0.5).abs() / 0.5;
    let a = (1.0 - k) / ratio + k;
    if bias < 0.5 {
        [ratio / a, ratio * a]
    } else {
        [ratio * a, ratio / a]
    }
}

impl<R: LaneReal> LocalMap<R> for PublishedMap<R> {
    #[inline(always)]
    fn at(&self, [x, y, z]: [R; 3]) -> Local<R> {
        let (zero, pi) = (R::zero(), R::pi());
        let (u, du) = self.region.fraction(z);
        let (b, db) = self.bezier.at(u);
        let (s, c) = (pi * b).sine_cosine();
        let half_pi = R::from_double(std::f64::consts::FRAC_PI_2);
        let bulge = half_pi * s;
        let slope = half_pi * pi * c * db * du;
        let [kx, ky] = self.cross;
        let inside = self.region.inside(z);
        Local {
            offset: [
                x * kx * bulge,
                y * ky * bulge,
                (self.region.clamp(z) - self.region.low) * self.stretch,
            ],
            gradient: [
                [kx * bulge, zero, zero],
                [zero, ky * bulge, zero],
                [x * kx * slope, y * ky * slope, inside * self.stretch],
            ],
        }
    }
}

/// The quadratic Bezier curve through (0, 0) and (1, 1) with the middle control point (m, 1 - m), as a function
/// of its first coordinate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bezier<R> {
    pub(super) m: R,
    /// `1 - 2 m`.
    twist: R,
}

impl<R: LaneReal> Bezier<R> {
    pub(super) fn new(m: f64) -> Self {
        Self {
            m: R::from_double(m),
            twist: R::from_double(1.0 - 2.0 * m),
        }
    }

    /// The root `sigma` of the discriminant at `u`: it runs from `m` to `1 - m`, and the slope of the curve is
    /// `(1 - sigma) / sigma`.
    #[inline(always)]
    pub(super) fn sigma(&self, u: R) -> R {
        high(u * self.twist + self.m * self.m, R::zero()).sqrt()
    }

    /// Height at `u` from its `sigma`. The root `t = u / (m + sigma)` has no cancellation, near 1/2 or elsewhere.
    #[inline(always)]
    pub(super) fn height(&self, u: R, sigma: R) -> R {
        let two = R::from_double(2.0);
        let one = R::one();
        let t = u / high(self.m + sigma, R::from_double(1e-30));
        t * (t + two * (one - t) * (one - self.m))
    }

    /// Height and slope at `u` in 0..1. The slope, infinite at `u = m = 0`, is kept below 1e4.
    #[inline(always)]
    pub(super) fn at(&self, u: R) -> (R, R) {
        let sigma = self.sigma(u);
        let slope = (R::one() - sigma) / high(sigma, R::from_double(1e-4));
        (self.height(u, sigma), slope)
    }
}
