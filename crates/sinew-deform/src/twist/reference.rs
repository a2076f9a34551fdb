//! The turn of one point.

use crate::local_frame::{
    DeviceMap, LaneReal, Local, LocalDeformer, LocalMap, MapUniforms, MapVisitor, PROFILE_WGSL,
    Profile, Region, RegionAt,
};
use crate::{DeviceSetting, Parameters, UniformType};

/// Settings of the node. Source: Barr, *Global and Local Deformations of Solid Primitives*, SIGGRAPH 1984.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twist {
    /// Angle at the top, rad.
    pub angle: f64,
    /// Angle at the bottom, rad.
    pub start_angle: f64,
    /// How the angle rises.
    pub profile: Profile,
    /// The twisted part.
    pub region: Region,
}

impl LocalDeformer for Twist {
    fn from_parameters(parameters: &Parameters<'_>) -> Self {
        Self {
            angle: parameters.float("angle"),
            start_angle: parameters.float("start_angle"),
            profile: match parameters.text("profile") {
                "smooth" => Profile::Smooth,
                _ => Profile::Linear,
            },
            region: Region::from_parameters(parameters),
        }
    }
    fn with_map<R: LaneReal, V: MapVisitor<R>>(&self, visitor: V) -> V::Output {
        visitor.visit(TwistMap::new(self))
    }
    fn device_map(&self) -> DeviceMap {
        DeviceMap {
            name: "twist",
            map: Map::KIND,
            texts: vec![PROFILE_WGSL, include_str!("map.wgsl")],
            settings: vec![(
                "SMOOTH",
                DeviceSetting::Bool(self.profile == Profile::Smooth),
            )],
        }
    }
    fn map_uniforms(&self) -> MapUniforms {
        let map = TwistMap::<f32>::new(self);
        let numbers = Map {
            half_start: map.half_start,
            half_turn: map.half_turn,
            unused: [0.0; 6],
        };
        MapUniforms::new(map.region, numbers)
    }
}

crate::uniform_struct! {
    /// As in `map.wgsl`.
    struct Map {
        half_start: f32,
        half_turn: f32,
        unused: [f32; 6],
    }
}

/// Map of the node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TwistMap<R> {
    region: RegionAt<R>,
    profile: Profile,
    half_start: R,
    half_turn: R,
}

impl<R: LaneReal> TwistMap<R> {
    /// From the settings.
    pub(super) fn new(settings: &Twist) -> Self {
        Self {
            region: settings.region.at(),
            profile: settings.profile,
            half_start: R::from_double(0.5 * settings.start_angle),
            half_turn: R::from_double(0.5 * (settings.angle - settings.start_angle)),
        }
    }
}

impl<R: LaneReal> LocalMap<R> for TwistMap<R> {
    #[inline(always)]
    fn at(&self, [x, y, z]: [R; 3]) -> Local<R> {
        let (zero, two) = (R::zero(), R::from_double(2.0));
        let (u, du) = self.region.fraction(z);
        let (p, dp) = self.profile.at(u);
        let (sh, ch) = (self.half_start + self.half_turn * p).sine_cosine();
        let rate = two * self.half_turn * dp * du;
        // cos θ - 1 and sin θ by the half angle: exact at rest.
        let (turn, sine) = (-two * sh * sh, two * sh * ch);
        let (dx, dy) = (turn * x - sine * y, sine * x + turn * y);
        Local {
            offset: [dx, dy, zero],
            gradient: [
                [turn, sine, zero],
                [-sine, turn, zero],
                [-(y + dy) * rate, (x + dx) * rate, zero],
            ],
        }
    }
}
