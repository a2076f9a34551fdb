//! Pose samples: for each solver a joint, its rest rotation, and the rotations of its poses.
//!
//! ```json
//! {"solvers": [{"name": "elbow", "joint": "lowerarm_l", "rest_rotation_xyzw": [0, 0, 0, 1], "radius": 1.2,
//!   "samples": [{"name": "bent", "rotation_xyzw": [0, 0, 0.70710678, 0.70710678], "time_in_clip": 0.5}]}]}
//! ```
//!
//! Rotations are relative to the parent joint, as quaternions x, y, z, w in glTF axes. Other fields are kept
//! ([`ExtraFields`]). There is no writer for this format; converters list the fields that they drop.

use super::fields::Fields;
use super::located::Located;
use super::{ExtraFields, PoseDriverFileError};
use crate::IoError;
use crate::fault::quoted;
use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::Ranged;
use sinew_geom::Quat;
use sinew_geom::nalgebra::Quaternion;
use std::collections::HashMap;
use std::path::Path;

type Outcome<T> = Result<T, PoseDriverFileError>;

/// A file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SamplesDocument {
    /// Solvers in file order; names are unique.
    pub solvers: Vec<SamplesSolver>,
    /// Fields outside the format.
    pub extra: ExtraFields,
}

/// A joint and its samples.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplesSolver {
    /// Name.
    pub name: String,
    /// The driver joint.
    pub joint: String,
    /// Its rest rotation.
    pub rest_rotation: Quat<f64>,
    /// Width of the kernels in radians, above 0.
    pub radius: Option<f64>,
    /// Samples in file order. Names are unique; rotations differ by more than 1e-6 radians.
    pub samples: Vec<RotationSample>,
    /// Fields outside the format.
    pub extra: ExtraFields,
}

/// A rotation of the joint.
#[derive(Clone, Debug, PartialEq)]
pub struct RotationSample {
    /// Name, for example of a morph target.
    pub name: String,
    /// The rotation.
    pub rotation: Quat<f64>,
    /// Time in a clip that shows the pose, in seconds.
    pub time_in_clip_secs: Option<f64>,
    /// Fields outside the format.
    pub extra: ExtraFields,
}

/// Closer rotations, in radians, count as equal: a solver cannot distinguish them.
const SAME_RADIANS: f64 = 1e-6;
/// Tolerance of the length of quaternions. They are normalised.
const LENGTH_TOLERANCE: f64 = 1e-3;

/// Reads a file.
///
/// # Errors
/// [`IoError::Read`]; [`IoError::PoseDriver`] with the location in the file.
pub fn read_samples(path: &Path) -> Result<SamplesDocument, IoError> {
    Ok(parse_samples(&super::read_json(path)?, path)?)
}

/// Parses a text. `path` appears in messages.
///
/// # Errors
/// [`PoseDriverFileError`] with the location in the text: missing or invalid fields, a radius that is not above 0, a
/// quaternion whose length differs from 1 by more than 1e-3, two samples with the same name or rotation.
pub fn parse_samples(text: &str, path: &Path) -> Result<SamplesDocument, PoseDriverFileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let json = Located::parse(text, path)?;
    let mut root = json.root()?;
    let list = json.array(root.required("solvers")?, "solvers")?;
    let mut names = HashMap::new();
    let mut solvers = Vec::new();
    for (index, value) in list.elements.iter().enumerate() {
        let solver = read_solver(json.fields(value)?)?;
        different_name(&json, value, (&solver.name, index), &mut names)?;
        solvers.push(solver);
    }
    let extra = root.extra()?;
    Ok(SamplesDocument { solvers, extra })
}

fn read_solver(mut fields: Fields<'_>) -> Outcome<SamplesSolver> {
    let json = fields.document;
    let name = json.text(fields.required("name")?)?;
    let joint = json.text(fields.required("joint")?)?;
    let rest_rotation = read_rotation(json, fields.required("rest_rotation_xyzw")?)?;
    let radius = fields.read("radius", |json, v| match json.number(v)? {
        radius if radius > 0.0 => Ok(radius),
        radius => Err(json.fault(v.range(), radius.to_string(), "a radius above 0")),
    })?;
    let list = json.array(fields.required("samples")?, "samples")?;
    let mut samples: Vec<RotationSample> = Vec::new();
    let (mut names, mut rotations) = (HashMap::new(), Rotations::default());
    for (index, value) in list.elements.iter().enumerate() {
        let sample = read_sample(json.fields(value)?)?;
        different_name(json, value, (&sample.name, index), &mut names)?;
        if let Some(other) = rotations.insert(sample.rotation) {
            let called = |name: &str| quoted(name.as_bytes());
            let other = samples.get(other).map_or("", |s| &s.name);
            let found = format!(
                "samples {} and {} with the same rotation",
                called(other),
                called(&sample.name)
            );
            let expected = format!("rotations more than {SAME_RADIANS} radians apart");
            return Err(json.fault(value.range(), found, expected));
        }
        samples.push(sample);
    }
    Ok(SamplesSolver {
        name,
        joint,
        rest_rotation,
        radius,
        samples,
        extra: fields.extra()?,
    })
}

fn read_sample(mut fields: Fields<'_>) -> Outcome<RotationSample> {
    let json = fields.document;
    let name = json.text(fields.required("name")?)?;
    let Some(rotation) = fields.optional("rotation_xyzw") else {
        let found = format!(
            "no 'rotation_xyzw' in the sample {}",
            quoted(name.as_bytes())
        );
        return Err(fields.fault(found, "a value for 'rotation_xyzw'"));
    };
    Ok(RotationSample {
        rotation: read_rotation(json, rotation)?,
        time_in_clip_secs: fields.read("time_in_clip", Located::number)?,
        name,
        extra: fields.extra()?,
    })
}

fn read_rotation(json: &Located<'_>, value: &Ast<'_>) -> Outcome<Quat<f64>> {
    let [x, y, z, w] = json.numbers::<4>(value)?;
    let quaternion = Quaternion::new(w, x, y, z);
    let length = quaternion.norm();
    if (length - 1.0).abs() > LENGTH_TOLERANCE {
        let found = format!("a quaternion of length {length}");
        let expected = format!("length 1 within {LENGTH_TOLERANCE}");
        return Err(json.fault(value.range(), found, expected));
    }
    Ok(Quat::new_normalize(quaternion))
}

fn different_name(
    json: &Located<'_>,
    value: &Ast<'_>,
    (name, index): (&str, usize),
    names: &mut HashMap<String, usize>,
) -> Outcome<()> {
    let Some(before) = names.insert(name.to_owned(), index) else {
        return Ok(());
    };
    let of_name = value.as_object().and_then(|o| o.get("name"));
    let at = of_name.map_or(value.range(), |p| p.value.range());
    let found = format!(
        "the name {}, which entry {before} also has",
        quoted(name.as_bytes())
    );
    Err(json.fault(at, found, "unique names"))
}

/// Rotations in a grid of cells, to find neighbours without comparing all pairs.
#[derive(Default)]
struct Rotations {
    all: Vec<[f64; 4]>,
    cells: HashMap<(usize, [i64; 3]), Vec<usize>>,
}

impl Rotations {
    /// Adds a rotation, or gives the index of one that is equal within `SAME_RADIANS`.
    ///
    /// A quaternion and its negative are the same rotation. At least one component has a magnitude of 1/2 or more. It
    /// is made positive and left out; the other three define a cell. Two equal rotations agree in the largest component
    /// of either. Thus each rotation is stored under all its components of nearly 1/2 and looked up under the largest.
    fn insert(&mut self, rotation: Quat<f64>) -> Option<usize> {
        let q: [f64; 4] = rotation.into_inner().coords.into();
        let mut largest = 0;
        for c in 1..4 {
            if q[c].abs() > q[largest].abs() {
                largest = c;
            }
        }
        let same = self.near(cell(&q, largest), &q);
        if same.is_some() {
            return same;
        }
        let index = self.all.len();
        self.all.push(q);
        for c in (0..4).filter(|&c| q[c].abs() > 0.49) {
            self.cells
                .entry((c, cell(&q, c).1))
                .or_default()
                .push(index);
        }
        None
    }

    fn near(&self, (component, cell): (usize, [i64; 3]), q: &[f64; 4]) -> Option<usize> {
        (0..27).find_map(|n| {
            let around = [
                cell[0] + n % 3 - 1,
                cell[1] + n / 3 % 3 - 1,
                cell[2] + n / 9 - 1,
            ];
            let inside = self.cells.get(&(component, around))?;
            let is_same =
                |&&i: &&usize| self.all.get(i).is_some_and(|p| angle(p, q) <= SAME_RADIANS);
            inside.iter().find(is_same).copied()
        })
    }
}

/// Cells are as wide as the quaternion difference that counts as equal.
fn cell(q: &[f64; 4], component: usize) -> (usize, [i64; 3]) {
    let sign = 1.0_f64.copysign(q[component]);
    let at = |step: usize| (sign * q[(component + step) % 4] / SAME_RADIANS).floor() as i64;
    (component, [at(1), at(2), at(3)])
}

/// Angle between rotations, accurate for small angles: the chord of the quaternions spans half of half the angle.
fn angle(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    let length = |sign: f64| {
        let square: f64 = a.iter().zip(b).map(|(a, b)| (a - sign * b).powi(2)).sum();
        square.sqrt()
    };
    4.0 * (length(1.0).min(length(-1.0)) / 2.0).min(1.0).asin()
}
