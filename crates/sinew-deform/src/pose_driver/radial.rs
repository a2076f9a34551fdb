//! Radial functions: how the influence of a pose falls with distance.

/// How influence falls with distance `d`, for a width `s`. All are 1 at the pose itself, except curves.
#[derive(Clone, Debug, PartialEq)]
pub enum RadialKernel {
    /// `exp(-(d/s)²)`. Positive definite with chords and places, not with angles (Feragen, Lauze, Hauberg 2015).
    Gaussian,
    /// `exp(-d/s²)`, what Unreal, `RigLogic` and PSD JSON call Gaussian; its width depends on the unit of `d`.
    GaussianOfDistance,
    /// `exp(-2d/s)`.
    Exponential,
    /// `exp(-d/s)`: Unreal's additive form.
    ExponentialPlain,
    /// `max(1 - d/s, 0)`.
    Linear,
    /// `max(1 - (d/s)³, 0)`.
    Cubic,
    /// `max(1 - (d/s)⁵, 0)`.
    Quintic,
    /// The curve at `d/s`.
    Curve(Curve),
}

/// A polyline of points with increasing x, constant before the first and after the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    points: Vec<[f64; 2]>,
}

/// Why points are not a curve.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum CurveError {
    /// The numbers are not pairs, or there are none.
    #[error("found {found} numbers, expected pairs: x0, y0, x1, y1, ...")]
    Pairs {
        /// How many numbers there are.
        found: usize,
    },
    /// The x of a point is not above that of the point before, or not finite.
    #[error(
        "point {index} is at x = {found}, expected a value above {before}, the x of the point before"
    )]
    Order {
        /// Index of the point.
        index: usize,
        /// Where it is.
        found: f64,
        /// Where the one before is.
        before: f64,
    },
    /// The y of a point is NaN or infinite.
    #[error("point {index} has the value {found}, expected a finite number")]
    NotFinite {
        /// Index of the point.
        index: usize,
        /// Its value.
        found: f64,
    },
}

impl Curve {
    /// From `x0, y0, x1, y1, ...` with increasing x.
    ///
    /// # Errors
    /// [`CurveError`] names the first point that is wrong.
    pub fn new(numbers: &[f64]) -> Result<Self, CurveError> {
        let (points, rest) = numbers.as_chunks::<2>();
        if points.is_empty() || !rest.is_empty() {
            let found = numbers.len();
            return Err(CurveError::Pairs { found });
        }
        let mut before = f64::NEG_INFINITY;
        for (index, &[x, y]) in points.iter().enumerate() {
            if !(x.is_finite() && x > before) {
                let found = x;
                return Err(CurveError::Order {
                    index,
                    found,
                    before,
                });
            }
            if !y.is_finite() {
                return Err(CurveError::NotFinite { index, found: y });
            }
            before = x;
        }
        Ok(Self {
            points: points.to_vec(),
        })
    }

    /// Its points `[x, y]`, with increasing x; at least one.
    pub fn points(&self) -> &[[f64; 2]] {
        &self.points
    }

    /// The y at `x`. O(log points).
    pub fn at(&self, x: f64) -> f64 {
        let next = self.points.partition_point(|p| p[0] <= x);
        match (
            next.checked_sub(1).and_then(|i| self.points.get(i)),
            self.points.get(next),
        ) {
            (Some(a), Some(b)) => a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0]),
            (Some(end), None) | (None, Some(end)) => end[1],
            (None, None) => 0.0,
        }
    }
}

/// A kernel with its width worked in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Radial {
    /// `exp(-rate * d)`.
    Exponential {
        rate: f64,
    },
    /// `exp(-rate * d²)`.
    Squared {
        rate: f64,
    },
    /// `max(1 - (rate * d)^power, 0)`; the power is 1, 3 or 5.
    Power {
        rate: f64,
        power: i32,
    },
    Curve {
        rate: f64,
        curve: Curve,
    },
}

/// What a fast kernel is made for; the rest of a radial function is its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// `exp(-rate * d)`.
    Exponential,
    /// `exp(-rate * d²)`.
    Squared,
    /// `max(1 - (rate * d)^power, 0)`.
    Power(i32),
}

impl RadialKernel {
    /// With a width, which must be greater than zero.
    pub(crate) fn with_width(&self, width: f64) -> Radial {
        let rate = 1.0 / width;
        match self {
            Self::Gaussian => Radial::Squared { rate: rate * rate },
            Self::GaussianOfDistance => Radial::Exponential { rate: rate * rate },
            Self::Exponential => Radial::Exponential { rate: 2.0 * rate },
            Self::ExponentialPlain => Radial::Exponential { rate },
            Self::Linear => Radial::Power { rate, power: 1 },
            Self::Cubic => Radial::Power { rate, power: 3 },
            Self::Quintic => Radial::Power { rate, power: 5 },
            Self::Curve(curve) => Radial::Curve {
                rate,
                curve: curve.clone(),
            },
        }
    }

    /// Influence at a distance, for a width above 0.
    pub fn value(&self, distance: f64, width: f64) -> f64 {
        self.with_width(width).value(distance)
    }
}

impl Radial {
    pub(crate) fn value(&self, d: f64) -> f64 {
        match self {
            Self::Exponential { rate } => (-rate * d).exp(),
            Self::Squared { rate } => (-rate * d * d).exp(),
            Self::Power { rate, power } => (1.0 - (rate * d).powi(*power)).max(0.0),
            Self::Curve { rate, curve } => curve.at(rate * d),
        }
    }

    /// `None` for curves.
    pub(crate) fn family(&self) -> Option<Family> {
        match self {
            Self::Exponential { .. } => Some(Family::Exponential),
            Self::Squared { .. } => Some(Family::Squared),
            Self::Power { power, .. } => Some(Family::Power(*power)),
            Self::Curve { .. } => None,
        }
    }

    pub(crate) fn rate(&self) -> f64 {
        match self {
            Self::Exponential { rate }
            | Self::Squared { rate }
            | Self::Power { rate, .. }
            | Self::Curve { rate, .. } => *rate,
        }
    }
}
