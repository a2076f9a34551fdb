//! The ways to make a vertex's motion from its moments.

use serde::{Deserialize, Serialize};

/// How rotation and translation of a vertex come from its moments: from the full method (`V0`) to cheaper ones. The numbers are those of
/// the paper.
///
/// | variant | bytes per pair | rotation |
/// |---|---|---|
/// | `V0`, `V1` | 40 | from second moments |
/// | `V2`, `V3` | 16 | from the joints |
/// | `V4` | 4 | from the joints |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Variant {
    /// The rotation nearest to the moments' matrix.
    #[default]
    V0,
    /// Cofactors of that matrix instead of the nearest rotation.
    V1,
    /// Blended quaternions; translation from first moments.
    V2,
    /// Blended matrices; translation from first moments.
    V3,
    /// Blended quaternions about the smoothed rest position.
    V4,
}

impl Variant {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::V0, Self::V1, Self::V2, Self::V3, Self::V4];
    /// Its name in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V0 => "v0",
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::V3 => "v3",
            Self::V4 => "v4",
        }
    }
    /// The variant with that name in documents.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.as_str() == name)
    }
    /// What it reads of each pair of vertex and joint.
    pub(super) fn reads(self) -> Reads {
        match self {
            Self::V0 | Self::V1 => Reads::Moments,
            Self::V2 | Self::V3 => Reads::First,
            Self::V4 => Reads::Weight,
        }
    }
    /// How strongly the strongest joint's rotation pulls, beside moments of trace one: more than rounding of the moments does.
    pub(super) fn pull(self) -> f64 {
        match self {
            Self::V1 => 1e-2,
            _ => 5e-5,
        }
    }
}

/// What is read of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Reads {
    /// Second and first moments and the weight.
    Moments,
    /// First moments and the weight.
    First,
    /// The weight alone.
    Weight,
}

impl Reads {
    /// Numbers a pair.
    pub(crate) fn floats(self) -> usize {
        match self {
            Self::Moments => 10,
            Self::First => 4,
            Self::Weight => 1,
        }
    }
    /// Words of two halves a pair, where moments are quantised; the weight takes a word of its own.
    pub(crate) fn half_words(self) -> usize {
        match self {
            Self::Moments => 5,
            Self::First => 2,
            Self::Weight => 0,
        }
    }
}

/// How moments are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Storage {
    /// Single precision.
    #[default]
    Full,
    /// First and second moments in 16 bits with one scale each per vertex; weights stay in single precision.
    Quantized,
}

impl Storage {
    /// From the word used in documents.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "full" => Some(Self::Full),
            "quantized" => Some(Self::Quantized),
            _ => None,
        }
    }
}
