//! An even stretch of the region: a ball becomes an ellipsoid of the same volume.

use super::SquashStretch;
use super::published::cross_ratios;
use crate::local_frame::{LaneReal, Local, LocalMap, MapUniforms, RegionAt, high, low};
use crate::{UniformKind, UniformType};

/// Share of the region over which the width fades back beyond each limit. Without it, meshes that go on there would tear.
pub(super) const FADE: f64 = 0.25;

/// Map of the even mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EvenMap<R> {
    region: RegionAt<R>,
    /// Stretch minus one.
    stretch: R,
    /// Cross scales minus one.
    cross: [R; 2],
    /// One over the length of the fade.
    fade: R,
}

impl<R: LaneReal> EvenMap<R> {
    /// From the settings.
    pub(crate) fn new(settings: &SquashStretch) -> Self {
        let stretch = settings.stretch.clamp(0.01, 100.0);
        let region = settings.region();
        Self {
            region: region.at(),
            stretch: R::from_double(stretch - 1.0),
            cross: cross_ratios(stretch, settings.cross_bias).map(|r| R::from_double(r - 1.0)),
            fade: R::from_double(1.0 / (FADE * (region.high - region.low))),
        }
    }
}

crate::uniform_struct! {
    /// As in `even.wgsl`.
    struct Map {
        cross_scale: [f32; 2],
        stretch: f32,
        fade: f32,
        unused: [f32; 4],
    }
}

impl EvenMap<f32> {
    /// Members of `struct Map`.
    pub(super) const MAP: UniformKind = Map::KIND;

    /// As in `even.wgsl`.
    pub(super) fn uniforms(&self) -> MapUniforms {
        let numbers = Map {
            cross_scale: self.cross,
            stretch: self.stretch,
            fade: self.fade,
            unused: [0.0; 4],
        };
        MapUniforms::new(self.region, numbers)
    }
}

impl<R: LaneReal> LocalMap<R> for EvenMap<R> {
    #[inline(always)]
    fn at(&self, [x, y, z]: [R; 3]) -> Local<R> {
        let (zero, one) = (R::zero(), R::one());
        let (two, three) = (R::from_double(2.0), R::from_double(3.0));
        let height = self.region.clamp(z);
        let t = high(low((z - height) * self.fade, one), -one);
        let outside = high(t, -t);
        let width = one - outside * outside * (three - two * outside);
        let by_z = -(two * three) * t * (one - outside) * self.fade;
        let [kx, ky] = self.cross;
        let inside = self.region.inside(z);
        Local {
            offset: [
                x * kx * width,
                y * ky * width,
                (height - self.region.low) * self.stretch,
            ],
            gradient: [
                [kx * width, zero, zero],
                [zero, ky * width, zero],
                [x * kx * by_z, y * ky * by_z, inside * self.stretch],
            ],
        }
    }
}
