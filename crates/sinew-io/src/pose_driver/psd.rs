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

use super::located::{Fields, Located, Notes};
use super::written::{self, TwoOfOneName};
use super::{Document, ExtraFields, MayaMatrix, PoseDriverFileError, note_last_column};
use crate::IoError;
use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::Ranged;
use serde_json::Value;
use sinew_geom::Warning;
use std::path::Path;

type Outcome<T> = Result<T, PoseDriverFileError>;

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
    /// The kernel, if `basis_function` is from 0 to 3. *Assumed*: 0 is the first of the kernels in the order in which the description
    /// lists them (linear, exponential, cubic, Gaussian).
    pub fn kernel(&self) -> Option<PsdKernel> {
        use PsdKernel::{Cubic, Exponential, Gaussian, Linear};
        choice(self.basis_function, &[Linear, Exponential, Cubic, Gaussian])
    }

    /// The distance, if `distance_method` is from 0 to 3. *Assumed*, as for [`PsdSolver::kernel`]: Euclidean, quaternion,
    /// swing, twist.
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

impl Document for PsdDocument {
    fn from_json(json: &Located<'_>) -> Outcome<Self> {
        let mut notes = Notes::default();
        let root = json.root()?;
        let mut solvers = Vec::new();
        for property in root.properties() {
            if let Ast::Object(_) = property.value {
                let fields = json.fields(&property.value)?;
                solvers.push(read_solver(property.name.as_str(), fields, &mut notes)?);
            } else {
                let message = || "this is no solver; it is kept".into();
                let place = || json.place(property.value.range());
                notes.note("not_a_solver", "", message, place);
            }
        }
        if solvers.is_empty() {
            notes.note("no_solvers", "", || "no solver".into(), || root.place());
        }
        let extra = root.beside_objects()?;
        Ok(Self {
            solvers,
            extra,
            warnings: notes.into_warnings(),
        })
    }

    fn to_value(&self) -> Result<Value, TwoOfOneName> {
        let solvers: Result<Vec<_>, _> = self
            .solvers
            .iter()
            .map(|s| Ok((s.name.clone(), solver_value(s)?)))
            .collect();
        Ok(written::beside(
            written::named("solvers", solvers?)?,
            &self.extra,
        ))
    }
}

fn read_solver(name: &str, mut fields: Fields<'_>, notes: &mut Notes) -> Outcome<PsdSolver> {
    let d = PsdSolver::default();
    let json = fields.document;
    let driver = json.text(fields.required("DriverObject")?)?;
    let driven = fields.or_default("DrivenObjects", d.driven, notes, Located::texts)?;
    let poses = fields.required("Poses")?;
    let poses = read_poses(json.fields(poses)?, driven.len(), notes)?;
    let orients = fields.read("DrivenJointOrientList", |json, v| {
        counted(json, v, driven.len(), |v| json.numbers::<3>(v))
    })?;
    Ok(PsdSolver {
        name: name.to_owned(),
        driver,
        driven,
        driven_joint_orients_degrees: orients,
        psd_type: fields.or_default("PSDType", d.psd_type, notes, Located::integer)?,
        basis_function: fields.or_default(
            "BasisFunction",
            d.basis_function,
            notes,
            Located::integer,
        )?,
        normalize_method: fields.or_default(
            "NormalizeMethod",
            d.normalize_method,
            notes,
            Located::integer,
        )?,
        distance_method: fields.or_default(
            "DistanceMethod",
            d.distance_method,
            notes,
            Located::integer,
        )?,
        global_width_degrees: fields.or_default(
            "GlobalWidth",
            d.global_width_degrees,
            notes,
            Located::number,
        )?,
        clamp_negative_weight: fields.or_default(
            "ClampNegativeWeight",
            d.clamp_negative_weight,
            notes,
            Located::boolean,
        )?,
        is_automatic_radius: fields.or_default(
            "IsAutomaticRadius",
            d.is_automatic_radius,
            notes,
            Located::boolean,
        )?,
        twist_axis: fields.or_default("TwistAxis", d.twist_axis, notes, Located::integer)?,
        poses,
        extra: fields.extra()?,
    })
}

fn read_poses(poses: Fields<'_>, driven: usize, notes: &mut Notes) -> Outcome<Vec<PsdPose>> {
    if poses.properties().is_empty() {
        notes.note("no_poses", "", || "no pose".into(), || poses.place());
    }
    let read = |p: &jsonc_parser::ast::ObjectProp<'_>| {
        let fields = poses.document.fields(&p.value)?;
        read_pose(p.name.as_str(), fields, driven, notes)
    };
    poses.properties().iter().map(read).collect()
}

fn read_pose(
    name: &str,
    mut fields: Fields<'_>,
    driven: usize,
    notes: &mut Notes,
) -> Outcome<PsdPose> {
    let driver_matrix = match fields.optional("outDriverLocalMatrix") {
        Some(value) => Some(read_matrix(fields.document, value, notes)?),
        None => None,
    };
    let raw_pose_rotation_degrees = fields.read("RawPoseRotation", Located::numbers::<3>)?;
    if driver_matrix.is_none() && raw_pose_rotation_degrees.is_none() {
        let expected = "'outDriverLocalMatrix' or 'RawPoseRotation'";
        return Err(fields.fault(
            "neither of the two that say how the driver is turned",
            expected,
        ));
    }
    let driven_matrices = match fields.optional("outDrivenLocalMatrixList") {
        Some(value) => {
            let json = fields.document;
            Some(counted(json, value, driven, |v| {
                read_matrix(json, v, notes)
            })?)
        }
        None => None,
    };
    if driven_matrices.is_none() && driven > 0 {
        let key = "outDrivenLocalMatrixList";
        let message = || format!("'{key}' is not given, the pose moves none of the driven joints");
        notes.note("field_missing", key, message, || fields.place());
    }
    Ok(PsdPose {
        name: name.to_owned(),
        driver_matrix,
        driven_matrices,
        raw_pose_rotation_degrees,
        extra: fields.extra()?,
    })
}

/// A list with one element for each of `DrivenObjects`.
fn counted<'d, T>(
    json: &Located<'_>,
    value: &'d Ast<'d>,
    driven: usize,
    read: impl FnMut(&'d Ast<'d>) -> Outcome<T>,
) -> Outcome<Vec<T>> {
    let list = json.array(value, "one for each of 'DrivenObjects'")?;
    if list.elements.len() != driven {
        let found = format!("a list of {}", list.elements.len());
        let expected = format!("{driven}, one for each of 'DrivenObjects'");
        return Err(json.fault(value.range(), found, expected));
    }
    list.elements.iter().map(read).collect()
}

fn read_matrix(json: &Located<'_>, value: &Ast<'_>, notes: &mut Notes) -> Outcome<PsdMatrix> {
    const EXPECTED: &str = "4 lists of 4 numbers, or 16 numbers";
    let outer = json.array(value, EXPECTED)?;
    let inner = match outer.elements.as_slice() {
        [only] => json.array(only, EXPECTED)?,
        _ => outer,
    };
    let in_list = outer.elements.len() == 1;
    let (matrix, layout) = match inner.elements.as_slice() {
        [a, b, c, d] => {
            let row = |v| json.numbers::<4>(v);
            let rows = [row(a)?, row(b)?, row(c)?, row(d)?];
            let layout = if in_list {
                MatrixLayout::RowsInList
            } else {
                MatrixLayout::Rows
            };
            (MayaMatrix::from_rows(rows), layout)
        }
        flat if flat.len() == 16 => {
            let mut numbers = [0.0; 16];
            for (number, element) in numbers.iter_mut().zip(flat) {
                *number = json.number(element)?;
            }
            let layout = if in_list {
                MatrixLayout::FlatInList
            } else {
                MatrixLayout::Flat
            };
            (MayaMatrix(numbers), layout)
        }
        other => {
            let found = format!("a list of {}", other.len());
            return Err(json.fault(inner.range(), found, EXPECTED));
        }
    };
    note_last_column(&matrix, notes, || json.place(value.range()));
    Ok(PsdMatrix { matrix, layout })
}

fn solver_value(s: &PsdSolver) -> Result<Value, TwoOfOneName> {
    let poses = s.poses.iter().map(|p| (p.name.clone(), pose_value(p)));
    let poses = Value::Object(written::named("poses", poses)?);
    let orients = s.driven_joint_orients_degrees.as_ref();
    let orients = orients.map(|list| list.iter().map(|o| written::numbers(o)).collect());
    let fields = vec![
        ("DriverObject", Some(s.driver.as_str().into())),
        ("DrivenObjects", Some(s.driven.clone().into())),
        ("DrivenJointOrientList", orients),
        ("PSDType", Some(s.psd_type.into())),
        ("BasisFunction", Some(s.basis_function.into())),
        ("GlobalWidth", Some(written::number(s.global_width_degrees))),
        ("ClampNegativeWeight", Some(s.clamp_negative_weight.into())),
        ("NormalizeMethod", Some(s.normalize_method.into())),
        ("TwistAxis", Some(s.twist_axis.into())),
        ("IsAutomaticRadius", Some(s.is_automatic_radius.into())),
        ("DistanceMethod", Some(s.distance_method.into())),
        ("Poses", Some(poses)),
    ];
    Ok(written::object(fields, &s.extra))
}

fn pose_value(p: &PsdPose) -> Value {
    let driven = p.driven_matrices.as_ref();
    let raw = p.raw_pose_rotation_degrees.as_ref();
    let fields = vec![
        (
            "outDriverLocalMatrix",
            p.driver_matrix.as_ref().map(matrix_value),
        ),
        (
            "outDrivenLocalMatrixList",
            driven.map(|list| list.iter().map(matrix_value).collect()),
        ),
        ("RawPoseRotation", raw.map(|r| written::numbers(r))),
    ];
    written::object(fields, &p.extra)
}

fn matrix_value(m: &PsdMatrix) -> Value {
    let rows = || {
        m.matrix
            .rows()
            .iter()
            .map(|r| written::numbers(r))
            .collect()
    };
    match m.layout {
        MatrixLayout::Rows => rows(),
        MatrixLayout::Flat => written::numbers(&m.matrix.0),
        MatrixLayout::RowsInList => Value::Array(vec![rows()]),
        MatrixLayout::FlatInList => Value::Array(vec![written::numbers(&m.matrix.0)]),
    }
}
