//! Smoothing operators on weld classes, shared by `smooth`, `delta_mush` and `direct_delta_mush`. Formulas and weights: `README.md` beside
//! this file.
//!
//! Setup: [`WeldMap`] joins vertices, [`OneRings`](sinew_geom::OneRings) finds neighbours, `EdgeTable` weighs edges, [`MeanOperator`] makes
//! rows of means of them, and [`Layout`] reorders these for the kernels. [`Smoother`] holds the result with its [`Anchor`].
//!
//! Each frame: [`Anchor::space`] picks an origin and a unit near the posed mesh, points of classes are gathered, smoothed in place of two
//! buffers in turn, and placed back on vertices.

mod anchor;
mod device;
mod edges;
mod layout;
mod open_seams;
mod operator;
mod parameters;
pub mod reference;
mod robust;
mod simd;
mod smoother;
#[cfg(test)]
mod tests;
mod watched;

pub use anchor::FrameSpace;

pub use anchor::Anchor;
pub(crate) use device::{DeviceClasses, DeviceSmoothing, MOST_LISTED, Slots, SmoothingUniforms};
pub(crate) use edges::EdgeTable;
pub(crate) use layout::offsets_fit;
pub use layout::{CHUNK, Layout, Row};
pub use open_seams::OpenSeams;
pub(crate) use open_seams::warn_of_open_seams;
pub use operator::MeanOperator;
pub(crate) use parameters::{PIN_BORDER, WELD_TOLERANCE};
pub use parameters::{POSE, WEIGHTS};
pub(crate) use simd::mix;
pub(crate) use smoother::Placing;
pub use smoother::SmootherError;
pub(crate) use smoother::check_positions;
pub use smoother::{Smoother, SmoothingScratch};
pub(crate) use watched::smooth_watched;

use crate::Parameters;
use serde::{Deserialize, Serialize};
use sinew_geom::{Mesh, WeldMap};

/// Weights of the edges between neighbours, from the rest mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EdgeWeights {
    /// 1 for every edge.
    #[default]
    Uniform,
    /// 1 for every edge, and the point itself counts as one more neighbour.
    UniformSelf,
    /// Inverse rest length; lengths below 1e-6 of the mean count as that.
    EdgeLength,
    /// Half the sum of the cotangents of the angles opposite the edge. Each is limited to +-1000, and negative sums count as zero.
    Cotangent,
    /// Cotangents of the intrinsic Delaunay triangulation of the tufted cover (Sharp and Crane 2020), for any triangle soup. Neighbours may
    /// differ from the edges of the mesh.
    Robust,
}

impl EdgeWeights {
    /// The word used in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::UniformSelf => "uniform_self",
            Self::EdgeLength => "edge_length",
            Self::Cotangent => "cotangent",
            Self::Robust => "robust",
        }
    }
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Uniform,
        Self::UniformSelf,
        Self::EdgeLength,
        Self::Cotangent,
        Self::Robust,
    ];
    /// The weights with that name in documents.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|w| w.as_str() == name)
    }
}

/// Settings of a [`MeanOperator`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaplacianConfig {
    /// Weights of the edges.
    pub weights: EdgeWeights,
    /// Whether classes on an open border keep their positions.
    pub pin_border: bool,
    /// Vertices at most this far apart at rest are one point, metres; 0 joins equal positions only.
    pub weld_tolerance: f32,
}

impl Default for LaplacianConfig {
    fn default() -> Self {
        Self {
            weights: EdgeWeights::Uniform,
            pin_border: true,
            weld_tolerance: 0.0,
        }
    }
}

impl LaplacianConfig {
    /// From the parameters [`WEIGHTS`], [`PIN_BORDER`] and [`WELD_TOLERANCE`].
    pub(crate) fn from_parameters(parameters: &Parameters<'_>) -> Self {
        Self {
            weights: EdgeWeights::from_name(parameters.text("weights")).unwrap_or_default(),
            pin_border: parameters.bool("pin_border"),
            weld_tolerance: parameters.single("weld_tolerance"),
        }
    }
}

/// Mean position of the members of each class, double precision.
pub(crate) fn class_positions(weld: &WeldMap, positions: &[[f32; 3]]) -> Vec<[f64; 3]> {
    let mut sum = vec![[0.0; 3]; weld.class_count()];
    let mut count = vec![0_u32; weld.class_count()];
    for (&class, p) in weld.class_of_vertex.iter().zip(positions) {
        count[class as usize] += 1;
        for (s, &x) in sum[class as usize].iter_mut().zip(p) {
            *s += f64::from(x);
        }
    }
    for (s, &n) in sum.iter_mut().zip(&count) {
        *s = s.map(|x| x / f64::from(n.max(1)));
    }
    sum
}

/// Triangles of the mesh between weld classes; those whose corners fall together are left out.
pub(crate) fn class_triangles(mesh: &Mesh, weld: &WeldMap) -> Vec<[u32; 3]> {
    let class = |v: u32| weld.class_of_vertex[v as usize];
    mesh.topology
        .triangles()
        .iter()
        .map(|t| t.map(class))
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .collect()
}
