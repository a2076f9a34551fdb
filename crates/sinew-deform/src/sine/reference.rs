//! The wave at one point.

use crate::local_frame::{
    DeviceMap, LaneReal, Local, LocalDeformer, LocalMap, MapUniforms, MapVisitor, Region, RegionAt,
    high,
};
use crate::{Parameters, UniformType};
use std::f64::consts::TAU;

/// Shape of the wave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wave {
    /// Sections move sideways with height.
    #[default]
    Plane,
    /// Points move along the axis with distance from it.
    Radial,
}

/// Settings of the node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sine {
    /// Shape.
    pub wave: Wave,
    /// Largest displacement, m.
    pub amplitude: f64,
    /// Distance between crests, m; at least 1e-4.
    pub wavelength: f64,
    /// Phase at the start of the region, rad.
    pub phase: f64,
    /// Plane wave: direction of the displacement as an angle about the axis, rad.
    pub direction: f64,
    /// Radial wave: exponential decay, 1/m.
    pub decay: f64,
    /// Heights (plane) or radii (radial) of the wave.
    pub region: Region,
}

impl LocalDeformer for Sine {
    fn from_parameters(parameters: &Parameters<'_>) -> Self {
        Self {
            wave: match parameters.text("mode") {
                "radial" => Wave::Radial,
                _ => Wave::Plane,
            },
            amplitude: parameters.float("amplitude"),
            wavelength: parameters.float("wavelength"),
            phase: parameters.float("phase"),
            direction: parameters.float("direction"),
            decay: parameters.float("decay"),
            region: Region::from_parameters(parameters),
        }
    }
    fn with_map<R: LaneReal, V: MapVisitor<R>>(&self, visitor: V) -> V::Output {
        match self.wave {
            Wave::Plane => visitor.visit(PlaneWaveMap::new(self)),
            Wave::Radial => visitor.visit(RadialWaveMap::new(self)),
        }
    }
    fn device_map(&self) -> DeviceMap {
        let (map, text) = match self.wave {
            Wave::Plane => (PlaneMap::KIND, include_str!("plane.wgsl")),
            Wave::Radial => (RadialMap::KIND, include_str!("radial.wgsl")),
        };
        DeviceMap {
            name: "sine",
            map,
            texts: vec![text],
            settings: vec![],
        }
    }
    fn map_uniforms(&self) -> MapUniforms {
        match self.wave {
            Wave::Plane => {
                let map = PlaneWaveMap::<f32>::new(self);
                let numbers = PlaneMap {
                    rate: map.rate,
                    phase: map.phase,
                    amplitude: map.amplitude,
                    unused: [0.0; 4],
                };
                MapUniforms::new(map.region, numbers)
            }
            Wave::Radial => {
                let map = RadialWaveMap::<f32>::new(self);
                let numbers = RadialMap {
                    rate: map.rate,
                    phase: map.phase,
                    amplitude: map.amplitude,
                    decay: map.decay,
                    unused: [0.0; 4],
                };
                MapUniforms::new(map.region, numbers)
            }
        }
    }
}

impl Sine {
    fn rate(&self) -> f64 {
        TAU / self.wavelength.max(1e-4)
    }
}

crate::uniform_struct! {
    /// As in `plane.wgsl`.
    struct PlaneMap {
        rate: f32,
        phase: f32,
        amplitude: [f32; 2],
        unused: [f32; 4],
    }
}

crate::uniform_struct! {
    /// As in `radial.wgsl`.
    struct RadialMap {
        rate: f32,
        phase: f32,
        amplitude: f32,
        decay: f32,
        unused: [f32; 4],
    }
}

/// Map of the plane wave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaneWaveMap<R> {
    region: RegionAt<R>,
    rate: R,
    phase: R,
    /// Amplitude along both cross axes.
    amplitude: [R; 2],
}

impl<R: LaneReal> PlaneWaveMap<R> {
    /// From the settings.
    pub(super) fn new(settings: &Sine) -> Self {
        let (s, c) = settings.direction.sin_cos();
        Self {
            region: settings.region.at(),
            rate: R::from_double(settings.rate()),
            phase: R::from_double(settings.phase % TAU),
            amplitude: [c, s].map(|d| R::from_double(settings.amplitude * d)),
        }
    }
}

impl<R: LaneReal> LocalMap<R> for PlaneWaveMap<R> {
    #[inline(always)]
    fn at(&self, [_, _, z]: [R; 3]) -> Local<R> {
        let zero = R::zero();
        let height = self.region.clamp(z) - self.region.low;
        let (s, c) = (self.rate * height + self.phase).sine_cosine();
        let slope = self.rate * c * self.region.inside(z);
        let [ax, ay] = self.amplitude;
        Local {
            offset: [ax * s, ay * s, zero],
            gradient: [[zero; 3], [zero; 3], [ax * slope, ay * slope, zero]],
        }
    }
}

/// Map of the radial wave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RadialWaveMap<R> {
    region: RegionAt<R>,
    rate: R,
    phase: R,
    amplitude: R,
    decay: R,
}

impl<R: LaneReal> RadialWaveMap<R> {
    /// From the settings.
    pub(super) fn new(settings: &Sine) -> Self {
        Self {
            region: settings.region.at(),
            rate: R::from_double(settings.rate()),
            phase: R::from_double(settings.phase % TAU),
            amplitude: R::from_double(settings.amplitude),
            decay: R::from_double(settings.decay.max(0.0)),
        }
    }
}

impl<R: LaneReal> LocalMap<R> for RadialWaveMap<R> {
    #[inline(always)]
    fn at(&self, [x, y, _]: [R; 3]) -> Local<R> {
        let (zero, one) = (R::zero(), R::one());
        let r = (x * x + y * y).sqrt();
        let inner = self.region.clamp(r);
        let (s, c) = (self.rate * (inner - self.region.low) + self.phase).sine_cosine();
        let size = self.amplitude * (-self.decay * inner).exponential();
        let slope = size * (self.rate * c - self.decay * s) * self.region.inside(r);
        // On the axis x and y are zero, and so is the slope.
        let per_radius = slope * (one / high(r, R::from_double(1e-20)));
        Local {
            offset: [zero, zero, size * s],
            gradient: [
                [zero, zero, x * per_radius],
                [zero, zero, y * per_radius],
                [zero; 3],
            ],
        }
    }
}
