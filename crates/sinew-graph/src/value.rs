//! From JSON to checked parameter values.

mod records;
pub(crate) mod transform;

use crate::diagnostic::closest;
use crate::json::{Json, Kind, Reporter};
use crate::keyed::{KeyInterpolation, Keyed};
use crate::node_list::value_json;
use crate::renamed;
use sinew_deform::{ParameterType, ParameterValue};
use sinew_geom::Affine;
use std::ops::Range;

/// What a value of the type looks like, for messages.
pub(crate) fn expectation(ty: ParameterType) -> String {
    match ty {
        ParameterType::Bool => "true or false".into(),
        ParameterType::Int { min, max } => format!("a whole number from {min} to {max}"),
        ParameterType::Float { min, max } if min == f64::MIN && max == f64::MAX => "a number".into(),
        ParameterType::Float { min, max } => format!("a number {}", range_text(min, max)),
        ParameterType::Choice(c) => {
            let words: Vec<String> = c.iter().map(|c| format!("\"{}\"", c.name)).collect();
            format!("one of {}", words.join(", "))
        }
        ParameterType::Text => "a text".into(),
        ParameterType::Vec3 => "three numbers, [x, y, z]".into(),
        ParameterType::Vec4 => "four numbers, [x, y, z, w]".into(),
        ParameterType::Int3 { min, max } => format!("three whole numbers from {min} to {max}"),
        ParameterType::Transform => {
            "a transform such as {\"translation\": [x, y, z], \"rotation_degrees\": [x, y, z], \"scale\": [x, y, z]} or {\"matrix\": [16 numbers, column by column]}".into()
        }
        ParameterType::Floats => "a list of numbers".into(),
        ParameterType::Points => "a list of points, [[x, y, z], ...]".into(),
        ParameterType::Texts => "a list of texts".into(),
        ParameterType::Transforms => {
            "a list of transforms such as [{\"translation\": [x, y, z], \"rotation_degrees\": [x, y, z]}, ...]".into()
        }
        ParameterType::Records(fields) => format!("a list of objects, {}", records::form(fields)),
    }
}

fn range_text(min: f64, max: f64) -> String {
    match (min == f64::MIN, max == f64::MAX) {
        (true, _) => format!("of at most {max}"),
        (_, true) => format!("of at least {min}"),
        _ => format!("from {min} to {max}"),
    }
}

/// Reads one value of type `ty`. If the value does not fit, reports it and returns `None`.
pub(crate) fn read_value(
    name: &str,
    ty: ParameterType,
    json: &Json,
    reporter: &mut Reporter,
) -> Option<ParameterValue> {
    let value = convert(name, ty, json, reporter);
    match value {
        Ok(v) => Some(v),
        Err(Problem::Reported) => None,
        Err(Problem::Type) => {
            reporter.error(
                "wrong_type",
                &json.span,
                format!("'{name}' is {}", json.describe()),
                format!("expected {}", expectation(ty)),
            );
            None
        }
        Err(Problem::Range) => {
            reporter.error(
                "out_of_range",
                &json.span,
                format!("'{name}' is {}, which is out of range", json.describe()),
                format!("expected {}", expectation(ty)),
            );
            None
        }
        Err(Problem::Word(given)) => {
            let known = match ty {
                ParameterType::Choice(c) => c,
                _ => &[],
            };
            let help = match closest(&given, known.iter().map(|c| c.name)) {
                Some(word) => format!("did you mean \"{word}\"? expected {}", expectation(ty)),
                None => format!("expected {}", expectation(ty)),
            };
            reporter.error(
                "unknown_choice",
                &json.span,
                format!("'{name}' cannot be \"{given}\""),
                help,
            );
            None
        }
    }
}

/// Checks a value that did not come from a document.
pub(crate) fn check_value(ty: ParameterType, value: &ParameterValue) -> Result<(), String> {
    use ParameterType as T;
    use ParameterValue as V;
    let finite = |v: &[f64]| v.iter().all(|v| v.is_finite());
    let ok = match (ty, value) {
        (T::Bool, V::Bool(_)) | (T::Text, V::Text(_)) | (T::Texts, V::Texts(_)) => true,
        (T::Int { min, max }, V::Int(v)) => (min..=max).contains(v),
        (T::Float { min, max }, V::Float(v)) => v.is_finite() && (min..=max).contains(v),
        (T::Choice(c), V::Text(t)) => c.iter().any(|c| c.name == t),
        (T::Vec3, V::Vec3(v)) => finite(v),
        (T::Vec4, V::Vec4(v)) => finite(v),
        (T::Int3 { min, max }, V::Int3(v)) => v.iter().all(|v| (min..=max).contains(v)),
        (T::Transform, V::Transform(a)) => a.is_finite(),
        (T::Floats, V::Floats(v)) => finite(v),
        (T::Points, V::Points(v)) => v.iter().all(|p| finite(p)),
        (T::Transforms, V::Transforms(v)) => v.iter().all(Affine::is_finite),
        (T::Records(fields), V::Records(v)) => v.iter().all(|r| records::fits(fields, r)),
        _ => false,
    };
    if ok {
        Ok(())
    } else {
        // As in documents, where NaN and infinity have no form.
        let found = match value {
            V::Float(number) => number.to_string(),
            value => value_json(value).to_string(),
        };
        Err(format!("found {found}, expected {}", expectation(ty)))
    }
}

enum Problem {
    Type,
    Range,
    Word(String),
    Reported,
}

fn convert(
    name: &str,
    ty: ParameterType,
    json: &Json,
    reporter: &mut Reporter,
) -> Result<ParameterValue, Problem> {
    use ParameterType as T;
    use ParameterValue as V;
    Ok(match ty {
        T::Bool => V::Bool(json.bool().ok_or(Problem::Type)?),
        T::Int { min, max } => V::Int(whole(json, min, max)?),
        T::Float { min, max } => {
            let v = json.number().ok_or(Problem::Type)?;
            if !(min..=max).contains(&v) {
                return Err(Problem::Range);
            }
            V::Float(v)
        }
        T::Choice(choices) => {
            let word = json.text().ok_or(Problem::Type)?;
            let is_known = |word: &str| choices.iter().any(|c| c.name == word);
            if is_known(word) {
                return Ok(V::Text(word.to_owned()));
            }
            let new = renamed::choice(word).filter(|new| is_known(new));
            let new = new.ok_or_else(|| Problem::Word(word.to_owned()))?;
            let message = format!("\"{word}\" of '{name}' is called \"{new}\" now");
            reporter.warning("renamed", &json.span, message, renamed::help(new));
            V::Text(new.to_owned())
        }
        T::Text => V::Text(json.text().ok_or(Problem::Type)?.to_owned()),
        T::Vec3 => V::Vec3(numbers(json)?),
        T::Vec4 => V::Vec4(numbers(json)?),
        T::Int3 { min, max } => {
            let list = json.array().filter(|a| a.len() == 3).ok_or(Problem::Type)?;
            let mut out = [0; 3];
            for (o, v) in out.iter_mut().zip(list) {
                *o = whole(v, min, max)?;
            }
            V::Int3(out)
        }
        T::Transform => V::Transform(transform::read(name, json, reporter)?),
        T::Floats => {
            let list = json.array().ok_or(Problem::Type)?;
            V::Floats(
                list.iter()
                    .map(|v| v.number().ok_or(Problem::Type))
                    .collect::<Result<_, _>>()?,
            )
        }
        T::Points => {
            let list = json.array().ok_or(Problem::Type)?;
            V::Points(list.iter().map(numbers).collect::<Result<_, _>>()?)
        }
        T::Texts => {
            let list = json.array().ok_or(Problem::Type)?;
            V::Texts(
                list.iter()
                    .map(|v| v.text().map(str::to_owned).ok_or(Problem::Type))
                    .collect::<Result<_, _>>()?,
            )
        }
        T::Transforms => V::Transforms(transform::read_list(name, json, reporter)?),
        T::Records(fields) => V::Records(records::read(name, fields, json, reporter)?),
    })
}

fn whole(json: &Json, min: i64, max: i64) -> Result<i64, Problem> {
    let v = json.number().ok_or(Problem::Type)?;
    if v.fract() != 0.0 || v.abs() > 9.0e15 {
        return Err(Problem::Type);
    }
    let v = v as i64;
    if (min..=max).contains(&v) {
        Ok(v)
    } else {
        Err(Problem::Range)
    }
}

fn numbers<const N: usize>(json: &Json) -> Result<[f64; N], Problem> {
    let list = json.array().filter(|a| a.len() == N).ok_or(Problem::Type)?;
    let mut out = [0.0; N];
    for (o, v) in out.iter_mut().zip(list) {
        *o = v.number().ok_or(Problem::Type)?;
    }
    Ok(out)
}

/// Reads `{"keys": [[time, value], ...], "interpolation": "linear"}`; `None` if the value is not such an object, `Some(None)` if it is
/// wrong, which is reported.
pub(crate) fn read_keyed(
    name: &str,
    ty: ParameterType,
    json: &Json,
    reporter: &mut Reporter,
) -> Option<Option<Keyed>> {
    let keys = json.get("keys")?;
    let help = format!(
        "expected {{\"keys\": [[seconds, value], ...], \"interpolation\": \"linear\"}}, where each value is {} and the interpolation is \"step\", \"linear\" or \"smooth\"",
        expectation(ty)
    );
    let mut fail = |span: &Range<usize>, message: String| {
        reporter.error("keys", span, message, help.clone());
    };
    let pairs = read_pairs("keys", name, keys, &mut fail);
    let interpolation = read_interpolation(name, json, reporter);
    let (Some(pairs), Some(interpolation)) = (pairs, interpolation) else {
        return Some(None);
    };
    let times = pairs.iter().map(|p| p.0).collect();
    let values = pairs.iter().map(|(_, v)| read_value(name, ty, v, reporter));
    let values: Option<Vec<ParameterValue>> = values.collect();
    Some(values.map(|values| Keyed {
        times,
        values,
        interpolation,
    }))
}

/// Reads the curve of `{"remap": [[from, to], ...], "interpolation": "linear"}`. `None` if it is wrong, which is reported.
pub(crate) fn read_remap(name: &str, json: &Json, reporter: &mut Reporter) -> Option<Keyed> {
    let mut fail = |span: &Range<usize>, message: String| {
        let help = "expected \"remap\": [[from, to], ...] with increasing \"from\"";
        reporter.error("remap", span, message, help);
    };
    let pairs = read_pairs("remap", name, json.get("remap")?, &mut fail)?;
    let interpolation = read_interpolation(name, json, reporter)?;
    let ty = ParameterType::Float {
        min: f64::MIN,
        max: f64::MAX,
    };
    let values = pairs.iter().map(|(_, v)| read_value(name, ty, v, reporter));
    Some(Keyed {
        times: pairs.iter().map(|p| p.0).collect(),
        values: values.collect::<Option<_>>()?,
        interpolation,
    })
}

/// Pairs of a number and a value; the numbers increase.
fn read_pairs<'j>(
    key: &str,
    name: &str,
    json: &'j Json,
    fail: &mut dyn FnMut(&Range<usize>, String),
) -> Option<Vec<(f64, &'j Json)>> {
    let Some(list) = json.array().filter(|list| !list.is_empty()) else {
        let what = match json.array() {
            Some(_) => "empty".to_owned(),
            None => json.describe(),
        };
        fail(&json.span, format!("'{key}' of '{name}' is {what}"));
        return None;
    };
    let mut out: Vec<(f64, &Json)> = Vec::with_capacity(list.len());
    for item in list {
        let pair = item.array().filter(|p| p.len() == 2);
        let Some((at, value)) = pair.and_then(|p| Some((p[0].number()?, &p[1]))) else {
            let message = format!("an item of '{key}' of '{name}' is {}", item.describe());
            fail(&item.span, message);
            return None;
        };
        if out.last().is_some_and(|(before, _)| *before >= at) {
            let message = format!(
                "the first numbers in '{key}' of '{name}' must increase, but {at} does not"
            );
            fail(&item.span, message);
            return None;
        }
        out.push((at, value));
    }
    Some(out)
}

fn read_interpolation(
    name: &str,
    json: &Json,
    reporter: &mut Reporter,
) -> Option<KeyInterpolation> {
    let Some(word) = json.get("interpolation") else {
        return Some(KeyInterpolation::Linear);
    };
    match word.text() {
        Some("step") => Some(KeyInterpolation::Step),
        Some("linear") => Some(KeyInterpolation::Linear),
        Some("smooth") => Some(KeyInterpolation::Smooth),
        _ => {
            let message = format!("the interpolation of '{name}' is {}", word.describe());
            let words = "expected \"step\", \"linear\" or \"smooth\"";
            let known = ["step", "linear", "smooth"];
            let help = match word.text().and_then(|w| closest(w, known.into_iter())) {
                Some(near) => format!("did you mean \"{near}\"? {words}"),
                None => words.to_owned(),
            };
            reporter.error("interpolation", &word.span, message, help);
            None
        }
    }
}

impl crate::plan::Plan {
    /// Reads a value for the parameter `name` from text: JSON, or a bare word if the parameter takes text.
    ///
    /// # Errors
    /// [`crate::ParameterError`] if there is no such parameter or the text does not fit it.
    pub fn parse_parameter(
        &self,
        name: &str,
        text: &str,
    ) -> Result<ParameterValue, crate::ParameterError> {
        let index = self.find_parameter(name)?;
        let ty = self.parameters()[index].ty;
        if matches!(ty, ParameterType::Text | ParameterType::Choice(_)) && !text.starts_with('"') {
            let value = ParameterValue::Text(text.to_owned());
            return match check_value(ty, &value) {
                Ok(()) => Ok(value),
                Err(message) => Err(crate::ParameterError::Value {
                    name: name.to_owned(),
                    message,
                }),
            };
        }
        let mut reporter = Reporter::new(name, text);
        let value = crate::json::parse(&mut reporter)
            .and_then(|json| read_value(name, ty, &json, &mut reporter));
        value.ok_or_else(|| crate::ParameterError::Value {
            name: name.to_owned(),
            message: match reporter.found.first() {
                Some(d) if d.code != "syntax" => {
                    format!("{}; {}", d.message, d.help.clone().unwrap_or_default())
                }
                _ if text.is_empty() => format!("found nothing, expected {}", expectation(ty)),
                _ => format!("found {text}, expected {}", expectation(ty)),
            },
        })
    }
}

/// The document as plain JSON, without comments and trailing commas, to embed it in other files.
///
/// # Errors
/// If the text is not JSON with comments.
pub fn to_plain_json(file: &str, text: &str) -> Result<String, crate::Diagnostics> {
    let mut reporter = Reporter::new(file, text);
    match crate::json::parse(&mut reporter) {
        Some(json) if reporter.found.is_empty() => Ok(plain(&json).to_string()),
        _ => Err(crate::Diagnostics(reporter.found)),
    }
}

fn plain(json: &Json) -> serde_json::Value {
    use serde_json::Value as V;
    match &json.kind {
        Kind::Null => V::Null,
        Kind::Bool(b) => V::Bool(*b),
        Kind::Number(n) if n.fract() == 0.0 && n.abs() < 9.0e15 => V::from(*n as i64),
        Kind::Number(n) => V::from(*n),
        Kind::Text(t) => V::String(t.to_string()),
        Kind::Array(a) => V::Array(a.iter().map(plain).collect()),
        Kind::Object(m) => V::Object(m.iter().map(|m| (m.key.clone(), plain(&m.value))).collect()),
    }
}
