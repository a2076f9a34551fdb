//! Transforms in documents.

use super::{Problem, numbers, read_value};
use crate::json::{Json, Reporter};
use sinew_deform::{ParameterType, ParameterValue};
use sinew_geom::nalgebra::{Quaternion, UnitQuaternion};
use sinew_geom::names::closest;
use sinew_geom::{Affine, Quat, Vec3};

pub(crate) const KEYS: [&str; 5] = [
    "translation",
    "rotation",
    "rotation_degrees",
    "scale",
    "matrix",
];

/// One transform. A problem is reported at its location inside the transform.
pub(super) fn read(
    name: &str,
    json: &Json,
    reporter: &mut Reporter,
) -> Result<Affine<f64>, Problem> {
    for m in json.members().ok_or(Problem::Type)? {
        if !KEYS.contains(&m.key.as_str()) {
            reporter.error(
                "unknown_key",
                &m.key_span,
                format!("a transform has no key '{}'", m.key),
                match closest(&m.key, KEYS.into_iter()) {
                    Some(key) => format!("did you mean '{key}'?"),
                    None => format!("expected {}", KEYS.join(", ")),
                },
            );
            return Err(Problem::Reported);
        }
    }
    if let Some((one, other)) = given_twice(json) {
        reporter.error(
            "transform_twice",
            &json.span,
            format!("'{name}' has both '{one}' and '{other}'"),
            format!("use either '{one}' or '{other}'"),
        );
        return Err(Problem::Reported);
    }
    if let Some(m) = json.get("matrix") {
        return Ok(Affine::from_columns(&part::<16>(
            name, "matrix", m, reporter,
        )?));
    }
    let mut three = |key: &str, default: f64| match json.get(key) {
        Some(json) => part::<3>(name, key, json, reporter),
        None => Ok([default; 3]),
    };
    let translation = Vec3::from(three("translation", 0.0)?);
    let scale = Vec3::from(three("scale", 1.0)?);
    let [x, y, z] = three("rotation_degrees", 0.0)?.map(f64::to_radians);
    let rotation = match json.get("rotation") {
        Some(json) => quaternion(name, json, reporter)?,
        None => Quat::from_euler_angles(x, y, z),
    };
    Ok(Affine::from_trs(translation, rotation, scale))
}

/// Two keys of which one would be left out.
fn given_twice(json: &Json) -> Option<(&'static str, &'static str)> {
    let has = |key: &&&str| json.get(key).is_some();
    if json.get("matrix").is_some() {
        let other = KEYS.iter().filter(|key| **key != "matrix").find(has)?;
        return Some(("matrix", other));
    }
    let rotations = ["rotation", "rotation_degrees"];
    let both = rotations.iter().all(|key| json.get(key).is_some());
    both.then_some(("rotation", "rotation_degrees"))
}

fn quaternion(name: &str, json: &Json, reporter: &mut Reporter) -> Result<Quat<f64>, Problem> {
    let [x, y, z, w] = part::<4>(name, "rotation", json, reporter)?;
    let length = (x * x + y * y + z * z + w * w).sqrt();
    // Quaternions written with two digits cause no warning.
    if length > 1e-12 && (length - 1.0).abs() > 0.05 {
        reporter.warning(
            "quaternion_length",
            &json.span,
            format!("'{name}.rotation' is a quaternion of length {length:.3}; Sinew normalizes it"),
            "expected [x, y, z, w] of length 1; for angles about x, y and z use 'rotation_degrees'",
        );
    }
    UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-12).ok_or_else(|| {
        reporter.error(
            "out_of_range",
            &json.span,
            format!("'{name}.rotation' is a quaternion of length 0"),
            "expected [x, y, z, w] of length 1",
        );
        Problem::Reported
    })
}

fn part<const N: usize>(
    name: &str,
    key: &str,
    json: &Json,
    reporter: &mut Reporter,
) -> Result<[f64; N], Problem> {
    numbers::<N>(json).map_err(|_| {
        let help = match key {
            "rotation" => {
                "expected a quaternion [x, y, z, w]; for angles about x, y and z use 'rotation_degrees'"
                    .to_owned()
            }
            _ => format!("expected a list of {N} numbers"),
        };
        reporter.error(
            "wrong_type",
            &json.span,
            format!("'{name}.{key}' is {}", json.describe()),
            help,
        );
        Problem::Reported
    })
}

/// A list of transforms. Every problem in it is reported.
pub(super) fn read_list(
    name: &str,
    json: &Json,
    reporter: &mut Reporter,
) -> Result<Vec<Affine<f64>>, Problem> {
    let list = json.array().ok_or(Problem::Type)?;
    let mut read = |(i, json): (usize, &Json)| {
        let name = format!("{name}[{i}]");
        match read_value(&name, ParameterType::Transform, json, reporter) {
            Some(ParameterValue::Transform(t)) => Some(t),
            _ => None,
        }
    };
    let transforms: Vec<Option<Affine<f64>>> = list.iter().enumerate().map(&mut read).collect();
    let all: Option<Vec<Affine<f64>>> = transforms.into_iter().collect();
    all.ok_or(Problem::Reported)
}
