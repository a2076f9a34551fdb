//! What choices are called in documents.

use super::{Metric, RadialKernel, Solver};

impl Solver {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interpolative => "interpolative",
            Self::Additive => "additive",
        }
    }
}

impl Metric {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arc => "arc",
            Self::Chord => "chord",
            Self::Swing | Self::DocumentedSwing => "swing",
            Self::SwingChord => "swing_chord",
            Self::Direction => "direction",
            Self::DirectionChord => "direction_chord",
            Self::Twist => "twist",
            Self::TwistChord => "twist_chord",
            Self::Euler(_) => "euler",
            Self::Components => "components",
            Self::Position => "position",
        }
    }

    /// What its distances are measured in: `rad`, `m`, or nothing for chords and components, which are ratios.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Arc | Self::Swing | Self::DocumentedSwing | Self::Direction => "rad",
            Self::Twist | Self::Euler(_) => "rad",
            Self::Position => "m",
            Self::Chord
            | Self::SwingChord
            | Self::DirectionChord
            | Self::TwistChord
            | Self::Components => "",
        }
    }
}

impl RadialKernel {
    /// Its name in documents.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Gaussian => "gaussian",
            Self::GaussianOfDistance => "gaussian_of_distance",
            Self::Exponential => "exponential",
            Self::ExponentialPlain => "exponential_plain",
            Self::Linear => "linear",
            Self::Cubic => "cubic",
            Self::Quintic => "quintic",
            Self::Curve(_) => "curve",
        }
    }
}
