//! What a pose space deformation is, before it is solved.

use crate::Stopped;
use crate::morph::MorphBindError;
use crate::pose_driver::{
    DriverPose, DriverValue, Metric, PoseDriver, PoseDriverError, RadialKernel, Width,
};
use sinew_geom::Vec3;

/// How much a vertex sees of each driver joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JointInfluence {
    /// As much as it is skinned to it, in relation to the other driver joints.
    #[default]
    Skin,
    /// Of each the same: plain pose space deformation.
    Equal,
}

impl JointInfluence {
    /// What that word of documents means.
    pub(crate) fn from_word(word: &str) -> Self {
        match word {
            "equal" => Self::Equal,
            _ => Self::Skin,
        }
    }
}

/// A pose and the shape that was made for it.
#[derive(Clone, Debug, PartialEq)]
pub struct SculptedPose {
    /// For messages.
    pub name: String,
    /// One a driver joint.
    pub values: Vec<DriverValue>,
    /// Name of the morph target that the mesh shows here; empty: none, as in the neutral pose.
    pub target: String,
}

/// Poses, their shapes, and how they are interpolated.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseSpace {
    /// The poses, the neutral one among them.
    pub poses: Vec<SculptedPose>,
    /// What values are compared by.
    pub metric: Metric,
    /// Twist axis; any length but zero.
    pub axis: Vec3<f64>,
    /// How influence falls with distance; any but a curve.
    pub kernel: RadialKernel,
    /// Width of the kernel in the unit of the metric; `None`: from the poses.
    pub width: Option<f64>,
    /// Added to the diagonal of each system: above 0, shapes are no longer exact at their poses, but calmer between them.
    pub regularization: f64,
    /// How much, in radians, poses may swing where the metric looks at twist alone.
    pub swing_tolerance: f64,
    /// How much a vertex sees of each joint.
    pub influence: JointInfluence,
}

impl Default for PoseSpace {
    /// No poses; Gaussian of chords with the width that comes from the poses, joints as the skin weighs them.
    fn default() -> Self {
        let driver = PoseDriver::default();
        Self {
            poses: Vec::new(),
            metric: driver.metric,
            axis: driver.axis,
            kernel: driver.kernel,
            width: None,
            regularization: 0.0,
            swing_tolerance: driver.swing_tolerance,
            influence: JointInfluence::Skin,
        }
    }
}

impl PoseSpace {
    /// The driver of the same poses, whose checks hold here, too.
    pub(super) fn driver(&self) -> PoseDriver {
        let pose = |p: &SculptedPose| DriverPose::new(p.name.clone(), p.values.clone());
        PoseDriver {
            poses: self.poses.iter().map(pose).collect(),
            metric: self.metric,
            axis: self.axis,
            kernel: self.kernel.clone(),
            width: self.width.map_or(Width::Automatic, Width::Given),
            regularization: self.regularization,
            swing_tolerance: self.swing_tolerance,
            ..PoseDriver::default()
        }
    }
}

/// Why a pose space deformation could not be set up.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum PoseSpaceError {
    /// Poses or settings that no pose driver would take either.
    #[error(transparent)]
    Poses(#[from] PoseDriverError),
    /// Morph targets that do not fit the mesh.
    #[error(transparent)]
    Targets(#[from] MorphBindError),
    /// Whoever follows setup wants no more.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// No shapes at all.
    #[error(
        "mesh '{mesh}' has no morph targets, which are the shapes of the poses; select a mesh with morph targets"
    )]
    NoTargets {
        /// Name of the mesh.
        mesh: String,
    },
    /// A name that is no morph target's.
    #[error("pose '{pose}': the mesh has no morph target '{name}'; {help}")]
    UnknownTarget {
        /// Name of the pose.
        pose: String,
        /// The name.
        name: String,
        /// The closest name, or what there is.
        help: String,
    },
    /// Messages would not tell which one they mean.
    #[error("two poses are called '{name}'; give each pose a different name")]
    SameName {
        /// The name.
        name: String,
    },
    /// Nothing says what vertices see.
    #[error(
        "mesh '{mesh}' has no joint weights, which give the influence of driver joints on vertices; bind it to a skeleton, or set 'influence' to 'equal'"
    )]
    NoInfluences {
        /// Name of the mesh.
        mesh: String,
    },
    /// Weights and positions differ in number.
    #[error(
        "found joint weights of {found} vertices, expected {expected}, one row for each vertex"
    )]
    VertexCount {
        /// Rows of weights.
        found: usize,
        /// Vertices.
        expected: usize,
    },
    /// Kernels must be formulas.
    #[error("the kernel cannot be a curve here; use one of the formulas")]
    CurveKernel,
}
