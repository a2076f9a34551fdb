//! The section scale of one point.

use crate::local_frame::{
    DeviceMap, LaneReal, Local, LocalDeformer, LocalMap, MapUniforms, MapVisitor, PROFILE_WGSL,
    Profile, Region, RegionAt,
};
use crate::{DeviceSetting, Parameters, UniformType};

/// How the section scale changes from bottom to top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Linearly, or eased.
    Profile(Profile),
    /// By a constant factor per length.
    Exponential,
}

/// Settings of the node. Source: Barr, *Global and Local Deformations of Solid Primitives*, SIGGRAPH 1984.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taper {
    /// Scales of both cross axes at the bottom.
    pub start_scale: [f64; 2],
    /// Scales of both cross axes at the top.
    pub end_scale: [f64; 2],
    /// How the scale goes between them.
    pub shape: Shape,
    /// Added to the scale in the middle.
    pub curve: f64,
    /// The tapered part.
    pub region: Region,
}

impl LocalDeformer for Taper {
    fn from_parameters(parameters: &Parameters<'_>) -> Self {
        let pair = |x, y| [parameters.float(x), parameters.float(y)];
        Self {
            start_scale: pair("start_scale_x", "start_scale_y"),
            end_scale: pair("end_scale_x", "end_scale_y"),
            shape: match parameters.text("profile") {
                "exponential" => Shape::Exponential,
                "smooth" => Shape::Profile(Profile::Smooth),
                _ => Shape::Profile(Profile::Linear),
            },
            curve: parameters.float("curve"),
            region: Region::from_parameters(parameters),
        }
    }
    fn with_map<R: LaneReal, V: MapVisitor<R>>(&self, visitor: V) -> V::Output {
        let common = TaperMap::new(self);
        match self.shape {
            Shape::Profile(_) => visitor.visit(common),
            Shape::Exponential => visitor.visit(ExponentialTaperMap::new(self)),
        }
    }
    fn device_map(&self) -> DeviceMap {
        let section = include_str!("section.wgsl");
        let (texts, smooth) = match self.shape {
            Shape::Profile(p) => (
                vec![section, PROFILE_WGSL, include_str!("map.wgsl")],
                p == Profile::Smooth,
            ),
            Shape::Exponential => (vec![section, include_str!("exponential.wgsl")], false),
        };
        DeviceMap {
            name: "taper",
            map: Map::KIND,
            texts,
            settings: vec![("SMOOTH", DeviceSetting::Bool(smooth))],
        }
    }
    fn map_uniforms(&self) -> MapUniforms {
        let (region, start, rise, curve) = match self.shape {
            Shape::Profile(_) => {
                let map = TaperMap::<f32>::new(self);
                let [x, y] = map.scales;
                (map.region, [x[0], y[0]], [x[1], y[1]], map.curve)
            }
            Shape::Exponential => {
                let map = ExponentialTaperMap::<f32>::new(self);
                (map.region, map.start, map.rate, map.curve)
            }
        };
        let numbers = Map {
            start,
            rise,
            curve,
            unused: [0.0; 3],
        };
        MapUniforms::new(region, numbers)
    }
}

crate::uniform_struct! {
    /// As in `map.wgsl` and `exponential.wgsl`.
    struct Map {
        start: [f32; 2],
        rise: [f32; 2],
        curve: f32,
        unused: [f32; 3],
    }
}

/// Map of the linear and smooth shapes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaperMap<R> {
    region: RegionAt<R>,
    profile: Profile,
    /// Scale at the bottom minus one, and top minus bottom.
    scales: [[R; 2]; 2],
    /// Four times the curve.
    curve: R,
}

impl<R: LaneReal> TaperMap<R> {
    /// From the settings.
    pub(super) fn new(settings: &Taper) -> Self {
        let (start, end) = (settings.start_scale, settings.end_scale);
        Self {
            region: settings.region.at(),
            profile: match settings.shape {
                Shape::Profile(profile) => profile,
                Shape::Exponential => Profile::Linear,
            },
            scales: [0, 1].map(|i| {
                [
                    R::from_double(start[i] - 1.0),
                    R::from_double(end[i] - start[i]),
                ]
            }),
            curve: R::from_double(4.0 * settings.curve),
        }
    }
}

impl<R: LaneReal> LocalMap<R> for TaperMap<R> {
    #[inline(always)]
    fn at(&self, [x, y, z]: [R; 3]) -> Local<R> {
        let (u, du) = self.region.fraction(z);
        let (p, dp) = self.profile.at(u);
        let (hump, d_hump) = hump(self.curve, u);
        let [[ax, bx], [ay, by]] = self.scales;
        section(
            [x, y],
            [ax + bx * p + hump, ay + by * p + hump],
            [(bx * dp + d_hump) * du, (by * dp + d_hump) * du],
        )
    }
}

/// Map of the exponential shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExponentialTaperMap<R> {
    region: RegionAt<R>,
    start: [R; 2],
    /// Logarithm of top over bottom.
    rate: [R; 2],
    curve: R,
}

impl<R: LaneReal> ExponentialTaperMap<R> {
    /// From the settings; scales are kept above 1e-4.
    pub(super) fn new(settings: &Taper) -> Self {
        let start = settings.start_scale.map(|s| s.max(1e-4));
        let end = settings.end_scale.map(|s| s.max(1e-4));
        Self {
            region: settings.region.at(),
            start: start.map(R::from_double),
            rate: [0, 1].map(|i| R::from_double((end[i] / start[i]).ln())),
            curve: R::from_double(4.0 * settings.curve),
        }
    }
}

impl<R: LaneReal> LocalMap<R> for ExponentialTaperMap<R> {
    #[inline(always)]
    fn at(&self, [x, y, z]: [R; 3]) -> Local<R> {
        let (u, du) = self.region.fraction(z);
        let (hump, d_hump) = hump(self.curve, u);
        let [kx, ky] = self.rate;
        let rx = self.start[0] * (kx * u).exponential();
        let ry = self.start[1] * (ky * u).exponential();
        section(
            [x, y],
            [rx - R::one() + hump, ry - R::one() + hump],
            [(rx * kx + d_hump) * du, (ry * ky + d_hump) * du],
        )
    }
}

/// `curve u (1 - u)` and its derivative.
#[inline(always)]
fn hump<R: LaneReal>(curve: R, u: R) -> (R, R) {
    let one = R::one();
    (curve * u * (one - u), curve * (one - u - u))
}

/// From the scales minus one and their derivatives by z.
#[inline(always)]
fn section<R: LaneReal>([x, y]: [R; 2], [ax, ay]: [R; 2], [dx, dy]: [R; 2]) -> Local<R> {
    let zero = R::zero();
    Local {
        offset: [x * ax, y * ay, zero],
        gradient: [[ax, zero, zero], [zero, ay, zero], [x * dx, y * dy, zero]],
    }
}
