//! The definition of a pose space deformation, before it is solved.

use crate::Stopped;
use crate::morph::MorphBindError;
use crate::pose_driver::{
    DriverPose, DriverValue, Metric, PoseDriver, PoseDriverError, RadialKernel, Width,
};
use sinew_geom::Vec3;

/// How strongly a vertex follows each driver joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JointInfluence {
    /// By its skin weights for the driver joints, scaled to a sum of 1.
    #[default]
    Skin,
    /// Equally: plain pose space deformation.
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

/// A pose and the shape that was sculpted for it.
#[derive(Clone, Debug, PartialEq)]
pub struct SculptedPose {
    /// Name for messages; unique.
    pub name: String,
    /// One per driver joint.
    pub values: Vec<DriverValue>,
    /// Name of the morph target of this pose; empty for none, as in the neutral pose.
    pub target: String,
}

/// Poses, their shapes, and how they are interpolated.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseSpace {
    /// The poses, including the neutral one.
    pub poses: Vec<SculptedPose>,
    /// Distance between values.
    pub metric: Metric,
    /// Twist axis in the joint's space, of any length above 0.
    pub axis: Vec3<f64>,
    /// Radial function; not a curve.
    pub kernel: RadialKernel,
    /// Width of the kernel in the unit of the metric; `None` computes it from the poses.
    pub width: Option<f64>,
    /// Added to the diagonal of each system, 0 or more. Above 0, shapes are no longer exact at their poses, but vary less between them.
    pub regularization: f64,
    /// Largest difference in swing between poses if the metric reads twist only, radians.
    pub swing_tolerance: f64,
    /// How strongly a vertex follows each joint.
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
    /// The poses or settings are invalid for a pose driver.
    #[error(transparent)]
    Poses(#[from] PoseDriverError),
    /// The morph targets do not fit the mesh.
    #[error(transparent)]
    Targets(#[from] MorphBindError),
    /// The caller stopped setup.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The mesh has no morph targets.
    #[error(
        "mesh '{mesh}' has no morph targets, which are the shapes of the poses; select a mesh with morph targets"
    )]
    NoTargets {
        /// Name of the mesh.
        mesh: String,
    },
    /// The mesh has no morph target of that name.
    #[error("pose '{pose}': the mesh has no morph target '{name}'; {help}")]
    UnknownTarget {
        /// Name of the pose.
        pose: String,
        /// The name.
        name: String,
        /// The closest name, or what there is.
        help: String,
    },
    /// Two poses have the same name.
    #[error("two poses are called '{name}'; give each pose a different name")]
    SameName {
        /// The name.
        name: String,
    },
    /// The mesh has no joint weights.
    #[error(
        "mesh '{mesh}' has no joint weights, which give the influence of driver joints on vertices; bind it to a skeleton, or set 'influence' to 'equal'"
    )]
    NoInfluences {
        /// Name of the mesh.
        mesh: String,
    },
    /// The number of rows of weights is not the number of vertices.
    #[error(
        "found joint weights of {found} vertices, expected {expected}, one row for each vertex"
    )]
    VertexCount {
        /// Rows of weights.
        found: usize,
        /// Vertices.
        expected: usize,
    },
    /// The kernel is a curve.
    #[error("the kernel cannot be a curve here; use one of the formulas")]
    CurveKernel,
}
