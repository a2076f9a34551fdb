//! The *PSD* JSON of a pose-space-deformation exporter: an object with one solver under each name.
//!
//! ```json
//! {
//!   "arm_l_Solver": {
//!     "DriverObject": "arm_l", "DrivenObjects": ["helper_l"], "DrivenJointOrientList": [[0, 0, 0]],
//!     "PSDType": 1, "BasisFunction": 1, "GlobalWidth": 90.0, "ClampNegativeWeight": true,
//!     "NormalizeMethod": 1, "TwistAxis": 0, "IsAutomaticRadius": true, "DistanceMethod": 0,
//!     "Poses": {
//!       "bent": {
//!         "outDriverLocalMatrix": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
//!         "outDrivenLocalMatrixList": [[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]],
//!         "RawPoseRotation": [0, 0, -90]
//!       }
//!     }
//!   }
//! }
//! ```
//!
//! `DriverObject` and `Poses` must be given, and for each pose `outDriverLocalMatrix` or `RawPoseRotation`. Matrices are
//! four rows, 16 numbers in one list, or a list that holds one of these; they are written as they were read. For other missing
//! fields the values of the example above are taken, with a warning.
//!
//! The format is known from a description with one example. What the numbers of its enumerations mean is not written there; the methods of
//! [`PsdSolver`] that interpret them say what they assume.

mod json;

use super::{ExtraFields, MayaMatrix, PoseDriverFileError};
use crate::IoError;
use sinew_geom::Warning;
use std::path::Path;

/// A file of solvers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PsdDocument {
    /// In the order of the file; names differ.
    pub solvers: Vec<PsdSolver>,
    /// What else stands beside the solvers: values that are no objects.
    pub extra: ExtraFields,
    /// What reading accepted but mentions.
    pub warnings: Vec<Warning>,
}

/// One joint that is watched, and the joints that it drives.
#[derive(Clone, Debug, PartialEq)]
pub struct PsdSolver {
    /// Key in the file.
    pub name: String,
    /// `DriverObject`: the joint that is watched.
    pub driver: String,
    /// `DrivenObjects`: the joints that are driven.
    pub driven: Vec<String>,
    /// `DrivenJointOrientList`: x, y and z in degrees, one for each driven joint.
    pub driven_joint_orients_degrees: Option<Vec<[f64; 3]>>,
    /// `PSDType`: what is driven; 1 in the example, whose solver drives joints.
    pub psd_type: i64,
    /// `BasisFunction`; see [`PsdSolver::kernel`].
    pub basis_function: i64,
    /// `NormalizeMethod`; see [`PsdSolver::normalization`].
    pub normalize_method: i64,
    /// `DistanceMethod`; see [`PsdSolver::distance`].
    pub distance_method: i64,
    /// `GlobalWidth`: width of the kernels in degrees.
    pub global_width_degrees: f64,
    /// `ClampNegativeWeight`: whether weights below 0 become 0.
    pub clamp_negative_weight: bool,
    /// `IsAutomaticRadius`: whether the width comes from the poses instead of `global_width_degrees`.
    pub is_automatic_radius: bool,
    /// `TwistAxis`; see [`PsdSolver::axis`].
    pub twist_axis: i64,
    /// In the order of the file; names differ within a solver.
    pub poses: Vec<PsdPose>,
    /// Fields that are not defined.
    pub extra: ExtraFields,
}

impl Default for PsdSolver {
    /// No joints and no poses; the other values are those of the example, which missing fields take, too.
    fn default() -> Self {
        Self {
            name: String::new(),
            driver: String::new(),
            driven: Vec::new(),
            driven_joint_orients_degrees: None,
            psd_type: 1,
            basis_function: 1,
            normalize_method: 1,
            distance_method: 0,
            global_width_degrees: 90.0,
            clamp_negative_weight: true,
            is_automatic_radius: true,
            twist_axis: 0,
            poses: Vec::new(),
            extra: ExtraFields::default(),
        }
    }
}

/// One pose of a solver. `driver_matrix` or `raw_pose_rotation_degrees` is there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PsdPose {
    /// Key in the file.
    pub name: String,
    /// `outDriverLocalMatrix`: the driver in the space of its parent.
    pub driver_matrix: Option<PsdMatrix>,
    /// `outDrivenLocalMatrixList`: the driven joints in the space of their parents, one for each.
    pub driven_matrices: Option<Vec<PsdMatrix>>,
    /// `RawPoseRotation`: the driver's angles about x, y and z in degrees.
    pub raw_pose_rotation_degrees: Option<[f64; 3]>,
    /// Fields that are not defined.
    pub extra: ExtraFields,
}

/// A matrix and how it stands in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PsdMatrix {
    /// The numbers.
    pub matrix: MayaMatrix,
    /// The brackets around them.
    pub layout: MatrixLayout,
}

impl From<MayaMatrix> for PsdMatrix {
    /// As four rows.
    fn from(matrix: MayaMatrix) -> Self {
        let layout = MatrixLayout::default();
        Self { matrix, layout }
    }
}

/// Brackets around a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatrixLayout {
    /// Four lists of four numbers.
    #[default]
    Rows,
    /// One list of 16 numbers.
    Flat,
    /// A list with one element: four lists of four numbers.
    RowsInList,
    /// A list with one element: a list of 16 numbers.
    FlatInList,
}

/// How the influence of a pose falls with distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PsdKernel {
    /// Straight down to 0 at the width.
    Linear,
    /// `exp(-2 d / width)`.
    Exponential,
    /// `1 - (d / width)^3`, not below 0.
    Cubic,
    /// `exp(-d / width^2)`, with the distance not squared.
    Gaussian,
    /// `1 - (d / width)^5`, not below 0.
    Quintic,
}

/// Which kernel a number of `BasisFunction` is. The description of the format does not say it, and exporters differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BasisOrder {
    /// The order in which the description lists the kernels: 0 linear, 1 exponential, 2 cubic, 3 Gaussian.
    #[default]
    Published,
    /// Unreal's enumeration: 0 Gaussian, 1 exponential, 2 linear, 3 cubic, 4 quintic.
    Unreal,
}

impl BasisOrder {
    /// Kernels at their numbers.
    pub fn kernels(self) -> &'static [PsdKernel] {
        use PsdKernel::{Cubic, Exponential, Gaussian, Linear, Quintic};
        match self {
            Self::Published => &[Linear, Exponential, Cubic, Gaussian],
            Self::Unreal => &[Gaussian, Exponential, Linear, Cubic, Quintic],
        }
    }

    /// The number of a kernel, where the order has it.
    pub fn number(self, kernel: PsdKernel) -> Option<i64> {
        let place = self.kernels().iter().position(|k| *k == kernel)?;
        i64::try_from(place).ok()
    }
}

/// What the distance of two rotations is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PsdDistance {
    /// Length of the difference of the Euler angles.
    Euclidean,
    /// Angle between the rotations.
    Quaternion,
    /// Angle between their swings, what is left without the twist.
    Swing,
    /// Angle between their twists about the twist axis.
    Twist,
}

/// What happens to the sum of the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PsdNormalization {
    /// Divided by the sum where that is above 1.
    OnlyAboveOne,
    /// Always divided by the sum.
    Always,
}

impl PsdSolver {
    /// The kernel, if `basis_function` is a number of that order. *Assumed*: the file does not say which order it has.
    pub fn kernel(&self, order: BasisOrder) -> Option<PsdKernel> {
        choice(self.basis_function, order.kernels())
    }

    /// The distance, if `distance_method` is from 0 to 3. *Assumed*: the order in which the description lists them, which is Unreal's, too:
    /// Euclidean, quaternion, swing, twist.
    pub fn distance(&self) -> Option<PsdDistance> {
        use PsdDistance::{Euclidean, Quaternion, Swing, Twist};
        choice(self.distance_method, &[Euclidean, Quaternion, Swing, Twist])
    }

    /// The normalisation, if `normalize_method` is 0 or 1. *Inferred* from the order of the two names in the description.
    pub fn normalization(&self) -> Option<PsdNormalization> {
        use PsdNormalization::{Always, OnlyAboveOne};
        choice(self.normalize_method, &[OnlyAboveOne, Always])
    }

    /// The twist axis, if `twist_axis` is 0, 1 or 2: x, y or z of the driver. *Inferred*.
    pub fn axis(&self) -> Option<usize> {
        choice(self.twist_axis, &[0, 1, 2])
    }
}

fn choice<T: Copy>(index: i64, of: &[T]) -> Option<T> {
    of.get(usize::try_from(index).ok()?).copied()
}

/// Reads a file.
///
/// # Errors
/// [`IoError::Read`], and [`IoError::PoseDriver`] with the place in the file.
pub fn read_psd(path: &Path) -> Result<PsdDocument, IoError> {
    Ok(parse_psd(&super::read_json(path)?, path)?)
}

/// Reads a text; `path` is for messages.
///
/// # Errors
/// [`PoseDriverFileError`] with the place in the text.
pub fn parse_psd(text: &str, path: &Path) -> Result<PsdDocument, PoseDriverFileError> {
    super::parse(text, path)
}

/// Writes a file, or none.
///
/// # Errors
/// [`IoError::Write`], and [`IoError::PoseDriver`] where [`PsdDocument::to_json_string`] refuses.
pub fn write_psd(path: &Path, document: &PsdDocument) -> Result<(), IoError> {
    super::write(path, document)
}

impl PsdDocument {
    /// The text of a file.
    ///
    /// # Errors
    /// [`PoseDriverFileError`] for a document that could not be read again: numbers that are not finite, names twice, counts that differ.
    /// Places are those in the text that would have been.
    pub fn to_json_string(&self) -> Result<String, PoseDriverFileError> {
        super::to_text(self, Path::new("document"))
    }
}
