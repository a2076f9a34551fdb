//! The part of the axis that a deformation acts on, and profiles along it.

use super::{LaneReal, high, low};
use crate::{ParameterDesc, Parameters};

/// The deformed part of the axis, metres of the local frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// Lower end.
    pub low: f64,
    /// Upper end; above `low`.
    pub high: f64,
}

impl Region {
    /// The parameter `length`.
    pub const LENGTH: ParameterDesc = ParameterDesc::float(
        "length",
        1.0,
        1e-6,
        1e6,
        "Length to deform, along the axis from the origin of the local frame.",
    )
    .with_unit("m");
    /// The parameter `limit_bottom`.
    pub(crate) const LIMIT_BOTTOM: ParameterDesc = ParameterDesc::float(
        "limit_bottom",
        0.0,
        0.0,
        1.0,
        "Fraction of the length, at the bottom, that stays rigid.",
    );
    /// The parameter `limit_top`.
    pub(crate) const LIMIT_TOP: ParameterDesc = ParameterDesc::float(
        "limit_top",
        0.0,
        0.0,
        1.0,
        "Fraction of the length, at the top, that moves rigidly.",
    );

    /// From a length (at least 1e-6 m) and the fractions that are cut off at both ends, limited to 0 to 1. If the limits meet or cross, a
    /// region of 1e-4 of the length is left around their middle, which avoids a division by zero.
    pub fn new(length: f64, limit_bottom: f64, limit_top: f64) -> Self {
        let length = length.max(1e-6);
        let (bottom, top) = (
            limit_bottom.clamp(0.0, 1.0),
            1.0 - limit_top.clamp(0.0, 1.0),
        );
        let middle = 0.5 * (bottom + top);
        let half = (0.5 * (top - bottom)).max(0.5e-4);
        Self {
            low: (middle - half) * length,
            high: (middle + half) * length,
        }
    }

    /// From a node that has [`Self::LENGTH`], [`Self::LIMIT_BOTTOM`] and [`Self::LIMIT_TOP`].
    pub(crate) fn from_parameters(parameters: &Parameters<'_>) -> Self {
        Self::new(
            parameters.float("length"),
            parameters.float("limit_bottom"),
            parameters.float("limit_top"),
        )
    }

    /// The region in the form of the kernels.
    pub fn at<R: LaneReal>(&self) -> RegionAt<R> {
        RegionAt {
            low: R::from_double(self.low),
            high: R::from_double(self.high),
            span: R::from_double(self.high - self.low),
            inverse_span: R::from_double(1.0 / (self.high - self.low)),
        }
    }
}

/// A [`Region`] in a kernel's precision.
#[derive(Clone, Copy, Debug)]
pub struct RegionAt<R> {
    /// Where it begins.
    pub low: R,
    /// Where it ends.
    pub high: R,
    /// Length.
    pub span: R,
    /// One over the length.
    pub inverse_span: R,
}

impl<R: LaneReal> RegionAt<R> {
    /// The nearest height in the region.
    #[inline(always)]
    pub fn clamp(&self, z: R) -> R {
        high(low(z, self.high), self.low)
    }
    /// Position in the region, from 0 at the lower end to 1 at the upper end, and its derivative by `z`: 0 outside.
    #[inline(always)]
    pub fn fraction(&self, z: R) -> (R, R) {
        let u = (self.clamp(z) - self.low) * self.inverse_span;
        // In `f32` the product may miss 1 by a rounding.
        (low(u, R::one()), self.inside(z) * self.inverse_span)
    }
    /// 1 inside, ends included; 0 outside.
    #[inline(always)]
    pub fn inside(&self, z: R) -> R {
        let above = if z >= self.low { R::one() } else { R::zero() };
        if z <= self.high { above } else { R::zero() }
    }
}

/// How a quantity rises from 0 to 1 over the region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Linearly; the slope jumps at the limits.
    #[default]
    Linear,
    /// As `u² (3 - 2u)`: the slope is continuous at the limits.
    Smooth,
}

impl Profile {
    /// Value and derivative at `u` in 0..1.
    #[inline(always)]
    pub fn at<R: LaneReal>(self, u: R) -> (R, R) {
        let (two, three) = (R::from_double(2.0), R::from_double(3.0));
        match self {
            Self::Linear => (u, R::one()),
            Self::Smooth => (u * u * (three - two * u), two * three * u * (R::one() - u)),
        }
    }
}
