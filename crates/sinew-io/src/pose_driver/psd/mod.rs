//! PSD JSON of a pose-space-deformation exporter: an object with one solver per name.
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
//! Required: `DriverObject`, `Poses`, and for each pose `outDriverLocalMatrix` or `RawPoseRotation`. A matrix is four
//! rows, a list of 16 numbers, or a list that contains one of these; writing keeps its form. Other missing fields get
//! the values of the example above, with a warning.
//!
//! The only known description of this format has one example and does not define the numbers of its enumerations.
//! Methods of [`PsdSolver`] that interpret them state their assumptions.

mod json;

use super::{ExtraFields, MayaMatrix, PoseDriverFileError};
use crate::IoError;
use sinew_geom::Warning;
use std::path::Path;

/// A file of solvers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PsdDocument {
    /// Solvers in file order; names are unique.
    pub solvers: Vec<PsdSolver>,
    /// Other values next to the solvers, which are not objects.
    pub extra: ExtraFields,
    /// Warnings of the reader.
    pub warnings: Vec<Warning>,
}

/// One driver joint and the joints that it drives.
#[derive(Clone, Debug, PartialEq)]
pub struct PsdSolver {
    /// Key in the file.
    pub name: String,
    /// `DriverObject`: the driver joint.
    pub driver: String,
    /// `DrivenObjects`: the driven joints.
    pub driven: Vec<String>,
    /// `DrivenJointOrientList`: x, y and z in degrees, one for each driven joint.
    pub driven_joint_orients_degrees: Option<Vec<[f64; 3]>>,
    /// `PSDType`: kind of driven objects; 1 in the example, whose solver drives joints.
    pub psd_type: i64,
    /// `BasisFunction`; see [`PsdSolver::kernel`].
    pub basis_function: i64,
    /// `NormalizeMethod`; see [`PsdSolver::normalization`].
    pub normalize_method: i64,
    /// `DistanceMethod`; see [`PsdSolver::distance`].
    pub distance_method: i64,
    /// `GlobalWidth`: width of the kernels in degrees.
    pub global_width_degrees: f64,
    /// `ClampNegativeWeight`: true sets weights below 0 to 0.
    pub clamp_negative_weight: bool,
    /// `IsAutomaticRadius`: true computes the width from the poses instead of `global_width_degrees`.
    pub is_automatic_radius: bool,
    /// `TwistAxis`; see [`PsdSolver::axis`].
    pub twist_axis: i64,
    /// Poses in file order; names are unique within a solver.
    pub poses: Vec<PsdPose>,
    /// Fields outside the format.
    pub extra: ExtraFields,
}

impl Default for PsdSolver {
    /// No joints and no poses. Other values are those of the example, as for missing fields.
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

/// One pose of a solver. It has a `driver_matrix` or `raw_pose_rotation_degrees`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PsdPose {
    /// Key in the file.
    pub name: String,
    /// `outDriverLocalMatrix`: the driver relative to its parent.
    pub driver_matrix: Option<PsdMatrix>,
    /// `outDrivenLocalMatrixList`: the driven joints relative to their parents, one each.
    pub driven_matrices: Option<Vec<PsdMatrix>>,
    /// `RawPoseRotation`: the driver's angles about x, y and z in degrees.
    pub raw_pose_rotation_degrees: Option<[f64; 3]>,
    /// Fields outside the format.
    pub extra: ExtraFields,
}

/// A matrix and its form in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PsdMatrix {
    /// The matrix.
    pub matrix: MayaMatrix,
    /// Its brackets in the file.
    pub layout: MatrixLayout,
}

impl From<MayaMatrix> for PsdMatrix {
    /// In the form of four rows.
    fn from(matrix: MayaMatrix) -> Self {
        let layout = MatrixLayout::default();
        Self { matrix, layout }
    }
}

/// Brackets of a matrix.
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

/// Kernel: influence of a pose as a function of distance `d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PsdKernel {
    /// `1 - d / width`, not below 0.
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

/// Mapping from the number in `BasisFunction` to a kernel. The description does not define it, and exporters differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BasisOrder {
    /// Order of the kernels in the description: 0 linear, 1 exponential, 2 cubic, 3 Gaussian.
    #[default]
    Published,
    /// Unreal's enumeration: 0 Gaussian, 1 exponential, 2 linear, 3 cubic, 4 quintic.
    Unreal,
}

impl BasisOrder {
    /// The kernels in the order of their numbers.
    pub fn kernels(self) -> &'static [PsdKernel] {
        use PsdKernel::{Cubic, Exponential, Gaussian, Linear, Quintic};
        match self {
            Self::Published => &[Linear, Exponential, Cubic, Gaussian],
            Self::Unreal => &[Gaussian, Exponential, Linear, Cubic, Quintic],
        }
    }

    /// The number of a kernel; `None` if this order lacks it.
    pub fn number(self, kernel: PsdKernel) -> Option<i64> {
        let location = self.kernels().iter().position(|k| *k == kernel)?;
        i64::try_from(location).ok()
    }
}

/// Distance between two rotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PsdDistance {
    /// Length of the difference of the Euler angles.
    Euclidean,
    /// Angle between the rotations.
    Quaternion,
    /// Angle between their swings (rotations without twist).
    Swing,
    /// Angle between their twists about the twist axis.
    Twist,
}

/// Normalisation of the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PsdNormalization {
    /// Divided by the sum if it is above 1.
    OnlyAboveOne,
    /// Always divided by the sum.
    Always,
}

impl PsdSolver {
    /// The kernel for `basis_function` in the given order; `None` if out of range. *Assumed*: the file does not state
    /// its order.
    pub fn kernel(&self, order: BasisOrder) -> Option<PsdKernel> {
        choice(self.basis_function, order.kernels())
    }

    /// The distance for `distance_method` 0 to 3. *Assumed*: the order of the description, which is also Unreal's:
    /// Euclidean, quaternion, swing, twist.
    pub fn distance(&self) -> Option<PsdDistance> {
        use PsdDistance::{Euclidean, Quaternion, Swing, Twist};
        choice(self.distance_method, &[Euclidean, Quaternion, Swing, Twist])
    }

    /// The normalisation for `normalize_method` 0 or 1. *Inferred* from the order of the two names in the description.
    pub fn normalization(&self) -> Option<PsdNormalization> {
        use PsdNormalization::{Always, OnlyAboveOne};
        choice(self.normalize_method, &[OnlyAboveOne, Always])
    }

    /// The twist axis for `twist_axis` 0, 1 or 2: x, y or z of the driver. *Inferred*.
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
/// [`IoError::Read`]; [`IoError::PoseDriver`] with the location in the file.
pub fn read_psd(path: &Path) -> Result<PsdDocument, IoError> {
    Ok(parse_psd(&super::read_json(path)?, path)?)
}

/// Parses a text. `path` appears in messages.
///
/// # Errors
/// [`PoseDriverFileError`] with the location in the text.
pub fn parse_psd(text: &str, path: &Path) -> Result<PsdDocument, PoseDriverFileError> {
    super::parse(text, path)
}

/// Writes a complete file or none.
///
/// # Errors
/// [`IoError::Write`]; [`IoError::PoseDriver`] if [`PsdDocument::to_json_string`] fails.
pub fn write_psd(path: &Path, document: &PsdDocument) -> Result<(), IoError> {
    super::write(path, document)
}

impl PsdDocument {
    /// The JSON text of the document.
    ///
    /// # Errors
    /// [`PoseDriverFileError`] for a document that could not be read again: numbers that are not finite, duplicate
    /// names, counts that do not match. Locations are those in the text that was rejected.
    pub fn to_json_string(&self) -> Result<String, PoseDriverFileError> {
        super::to_text(self, Path::new("document"))
    }
}
