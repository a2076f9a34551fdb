//! The arc of one point.

use crate::local_frame::{
    DeviceMap, LaneReal, Local, LocalDeformer, LocalMap, MapUniforms, MapVisitor, Region, RegionAt,
};
use crate::{Parameters, UniformType};

/// Settings of the node. Source: Barr, *Global and Local Deformations of Solid Primitives*, SIGGRAPH 1984.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// Angle over the whole region, rad.
    pub angle: f64,
    /// Direction of the bend as an angle about the axis, rad; 0 is the first cross axis.
    pub direction: f64,
    /// Height in the region that stays in place, 0 to 1.
    pub center: f64,
    /// The bent part.
    pub region: Region,
}

impl LocalDeformer for Bend {
    fn from_parameters(parameters: &Parameters<'_>) -> Self {
        Self {
            angle: parameters.float("angle"),
            direction: parameters.float("direction"),
            center: parameters.float("center"),
            region: Region::from_parameters(parameters),
        }
    }
    fn with_map<R: LaneReal, V: MapVisitor<R>>(&self, visitor: V) -> V::Output {
        visitor.visit(BendMap::new(self))
    }
    fn device_map(&self) -> DeviceMap {
        DeviceMap {
            name: "bend",
            map: Map::KIND,
            texts: vec![include_str!("map.wgsl")],
            settings: vec![],
        }
    }
    fn map_uniforms(&self) -> MapUniforms {
        let map = BendMap::<f32>::new(self);
        let numbers = Map {
            curvature: map.curvature,
            center: map.center,
            toward: map.toward,
            unused: [0.0; 4],
        };
        MapUniforms::new(map.region, numbers)
    }
}

crate::uniform_struct! {
    /// As in `map.wgsl`.
    struct Map {
        curvature: f32,
        center: f32,
        toward: [f32; 2],
        unused: [f32; 4],
    }
}

/// Map of the node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BendMap<R> {
    region: RegionAt<R>,
    curvature: R,
    center: R,
    /// Cosine and sine of the direction.
    toward: [R; 2],
}

impl<R: LaneReal> BendMap<R> {
    /// From the settings.
    pub(super) fn new(settings: &Bend) -> Self {
        let Region { low, high } = settings.region;
        let (s, c) = settings.direction.sin_cos();
        Self {
            region: settings.region.at(),
            curvature: R::from_double(settings.angle / (high - low)),
            center: R::from_double(low + settings.center.clamp(0.0, 1.0) * (high - low)),
            toward: [R::from_double(c), R::from_double(s)],
        }
    }
}

/// `sin h / h` given `sin h`.
#[inline(always)]
fn sinc<R: LaneReal>(h: R, sine: R) -> R {
    let h2 = h * h;
    let term = |d: f64| R::from_double(1.0 / d);
    let series = R::one() - h2 * (term(6.0) - h2 * (term(120.0) - h2 * term(5040.0)));
    let small = h2 < R::from_double(0.01);
    let divisor = if small { R::one() } else { h };
    if small { series } else { sine / divisor }
}

impl<R: LaneReal> LocalMap<R> for BendMap<R> {
    #[inline(always)]
    fn at(&self, [x, y, z]: [R; 3]) -> Local<R> {
        let (one, two, half) = (R::one(), R::from_double(2.0), R::from_double(0.5));
        let [tx, ty] = self.toward;
        let b = x * tx + y * ty;
        let inner = self.region.clamp(z);
        let (s, beyond) = (inner - self.center, z - inner);
        let h = half * self.curvature * s;
        // Half angles: 1 - cos θ = 2 sin²(θ/2) has no cancellation.
        let (sh, ch) = h.sine_cosine();
        let (sine, versine) = (two * sh * ch, two * sh * sh);
        let half_sinc = sinc(h, sh);
        // sin θ / k = s sinc(θ/2) cos(θ/2), and (1 - cos θ) / k = s sinc(θ/2) sin(θ/2).
        let along = s * (half_sinc * ch - one) - b * sine - beyond * versine;
        let across = s * half_sinc * sh - b * versine + beyond * sine;
        let stretch = one - self.region.inside(z) * self.curvature * b;
        let db = -versine;
        let dz_along = (one - versine) * stretch - one;
        let dz_across = sine * stretch;
        Local {
            offset: [across * tx, across * ty, along],
            gradient: [
                [db * tx * tx, db * tx * ty, -sine * tx],
                [db * tx * ty, db * ty * ty, -sine * ty],
                [dz_across * tx, dz_across * ty, dz_along],
            ],
        }
    }
}
