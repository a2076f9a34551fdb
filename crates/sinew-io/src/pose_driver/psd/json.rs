//! PSD documents to JSON and back.

use super::{MatrixLayout, PsdDocument, PsdMatrix, PsdPose, PsdSolver};
use crate::pose_driver::fields::{Fields, Notes};
use crate::pose_driver::located::Located;
use crate::pose_driver::written::{self, TwoOfOneName};
use crate::pose_driver::{Document, MayaMatrix, PoseDriverFileError, note_last_column};
use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::Ranged;
use serde_json::Value;

type Outcome<T> = Result<T, PoseDriverFileError>;

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
                let message = || "this is not a solver; it is kept unchanged".into();
                let location = || json.location(property.value.range());
                notes.note("not_a_solver", "", message, location);
            }
        }
        if solvers.is_empty() {
            notes.note(
                "no_solvers",
                "",
                || "the file has no solvers".into(),
                || root.location(),
            );
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
        notes.note(
            "no_poses",
            "",
            || "the solver has no poses".into(),
            || poses.location(),
        );
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
        return Err(fields.fault("no rotation of the driver", expected));
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
        let message = || format!("'{key}' is missing; the pose moves no driven joints");
        notes.note("field_missing", key, message, || fields.location());
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
    note_last_column(&matrix, notes, || json.location(value.range()));
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
