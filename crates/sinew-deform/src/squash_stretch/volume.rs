//! A stretch whose Jacobian has determinant 1 everywhere.

use super::SquashStretch;
use super::published::Bezier;
use crate::local_frame::{LaneReal, Local, LocalMap, MapUniforms, RegionAt};
use crate::{UniformKind, UniformType};

/// Map of the volume-preserving mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VolumeMap<R> {
    region: RegionAt<R>,
    bezier: Bezier<R>,
    inverse_bezier: Bezier<R>,
    stretch: R,
    /// `1 - 2 axis_bias`.
    lean: R,
    /// How evenly the cross axes share: 1 equally, 0 one alone.
    even: R,
    /// The first cross axis takes the larger share.
    first_leads: bool,
}

impl<R: LaneReal> VolumeMap<R> {
    /// From the settings.
    pub(crate) fn new(settings: &SquashStretch) -> Self {
        let m = settings.axis_bias.clamp(0.05, 0.95);
        let bias = settings.cross_bias.clamp(0.0, 1.0);
        Self {
            region: settings.region().at(),
            bezier: Bezier::new(m),
            inverse_bezier: Bezier::new(1.0 - m),
            stretch: R::from_double(settings.stretch.clamp(0.01, 100.0)),
            lean: R::from_double(1.0 - 2.0 * m),
            even: R::from_double(1.0 - (2.0 * bias - 1.0).abs()),
            first_leads: bias < 0.5,
        }
    }
}

crate::uniform_struct! {
    /// As in `volume.wgsl`.
    struct Map {
        m: f32,
        inverse_m: f32,
        stretch: f32,
        lean: f32,
        even: f32,
        first_leads: f32,
        unused: [f32; 2],
    }
}

impl VolumeMap<f32> {
    /// Members of `struct Map`.
    pub(super) const MAP: UniformKind = Map::KIND;

    /// As in `volume.wgsl`.
    pub(super) fn uniforms(&self) -> MapUniforms {
        let numbers = Map {
            m: self.bezier.m,
            inverse_m: self.inverse_bezier.m,
            stretch: self.stretch,
            lean: self.lean,
            even: self.even,
            first_leads: if self.first_leads { 1.0 } else { 0.0 },
            unused: [0.0; 2],
        };
        MapUniforms::new(self.region, numbers)
    }
}

/// The height profile over the region in units of its length: `f`, `f'`, and `f'' / f'`.
struct Height<R> {
    value: R,
    slope: R,
    bend: R,
}

impl<R: LaneReal> VolumeMap<R> {
    /// `f(u) = S B^-1(h(B(u)))` with `h(b) = atan2(sin pi b, S cos pi b) / pi`.
    #[inline(always)]
    fn height(&self, u: R) -> Height<R> {
        let (one, two, pi) = (R::one(), R::from_double(2.0), R::pi());
        let stretch = self.stretch;
        let sigma = self.bezier.sigma(u);
        let b = self.bezier.height(u, sigma);
        let (s, c) = (pi * b).sine_cosine();
        // Rounding may take the sine below zero at the top.
        let s = if s < R::zero() { R::zero() } else { s };
        let h = s.angle_above(stretch * c) / pi;
        let q = stretch * stretch * c * c + s * s;
        let sigma_back = self.inverse_bezier.sigma(h);
        let v = self.inverse_bezier.height(h, sigma_back);
        let db = (one - sigma) / sigma;
        let dh = stretch / q;
        let dv = (one - sigma_back) / sigma_back;
        // Logarithmic derivatives of the three factors of f'.
        let of_b = -self.lean / (two * sigma * sigma * (one - sigma));
        let of_h = -two * pi * s * c * (one - stretch * stretch) / q;
        let of_v = self.lean / (two * sigma_back * sigma_back * (one - sigma_back));
        Height {
            value: stretch * v,
            slope: stretch * db * dh * dv,
            bend: of_b + db * (of_h + dh * of_v),
        }
    }
}

impl<R: LaneReal> LocalMap<R> for VolumeMap<R> {
    #[inline(always)]
    fn at(&self, [x, y, z]: [R; 3]) -> Local<R> {
        let (zero, one) = (R::zero(), R::one());
        let half = R::from_double(0.5);
        let (u, du) = self.region.fraction(z);
        let inside = self.region.inside(z);
        let f = self.height(u);
        // Rigid outside: the slope is 1 at the limits, and exactly 1 beyond.
        let slope = if inside > zero { f.slope } else { one };
        let r = one / slope.sqrt();
        let dr = -half * r * f.bend * du;
        // One axis takes `follow`, the other what is left of r²: their product is 1 / f' for any share.
        let follow = (one - self.even) + self.even * r;
        let d_follow = self.even * dr;
        let lead = r * r / follow;
        let d_lead = (r + r) * dr / follow - lead * d_follow / follow;
        let pick = |a: R, b: R| if self.first_leads { a } else { b };
        let (ax, ay) = (pick(lead, follow) - one, pick(follow, lead) - one);
        let (dx, dy) = (pick(d_lead, d_follow), pick(d_follow, d_lead));
        Local {
            offset: [x * ax, y * ay, self.region.span * (f.value - u)],
            gradient: [
                [ax, zero, zero],
                [zero, ay, zero],
                [x * dx, y * dy, slope - one],
            ],
        }
    }
}
