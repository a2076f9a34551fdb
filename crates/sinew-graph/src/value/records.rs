//! Lists of objects in documents.

use super::{Problem, check_value, expectation, read_value};
use crate::diagnostic::{closest, listed};
use crate::json::{Json, Reporter};
use sinew_deform::{DefaultValue, ParameterDesc, ParameterValue, Record};

/// What an object of the list looks like, for messages.
pub(super) fn form(fields: &[ParameterDesc]) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|f| format!("\"{}\": ...", f.name))
        .collect();
    format!("[{{{}}}, ...]", fields.join(", "))
}

/// Whether the record has these fields, each with a value of its own.
pub(super) fn fits(fields: &'static [ParameterDesc], record: &Record) -> bool {
    record.fields == fields
        && record.values.len() == fields.len()
        && fields
            .iter()
            .zip(&record.values)
            .all(|(field, value)| check_value(field.ty, value).is_ok())
}

/// The objects of a list. Every problem in them is reported.
pub(super) fn read(
    name: &str,
    fields: &'static [ParameterDesc],
    json: &Json,
    reporter: &mut Reporter,
) -> Result<Vec<Record>, Problem> {
    let list = json.array().ok_or(Problem::Type)?;
    let mut read =
        |(i, json): (usize, &Json)| record(&format!("{name}[{i}]"), fields, json, reporter);
    let records: Vec<Option<Record>> = list.iter().enumerate().map(&mut read).collect();
    let all: Option<Vec<Record>> = records.into_iter().collect();
    all.ok_or(Problem::Reported)
}

fn record(
    name: &str,
    fields: &'static [ParameterDesc],
    json: &Json,
    reporter: &mut Reporter,
) -> Option<Record> {
    let Some(members) = json.members() else {
        reporter.error(
            "wrong_type",
            &json.span,
            format!("'{name}' is {}", json.describe()),
            format!("expected an object, as in {}", form(fields)),
        );
        return None;
    };
    let mut known = true;
    for m in members {
        let names = || fields.iter().map(|f| f.name);
        if names().any(|f| f == m.key) {
            continue;
        }
        known = false;
        let help = match closest(&m.key, names()) {
            Some(word) => format!("did you mean '{word}'?"),
            None => format!("its fields are {}", listed(names())),
        };
        let message = format!("'{name}' has no field '{}'", m.key);
        reporter.error("unknown_field", &m.key_span, message, help);
    }
    let mut read = |f: &ParameterDesc| match json.get(f.name) {
        Some(value) => read_value(&format!("{name}.{}", f.name), f.ty, value, reporter),
        // A field with a wrong name is most likely the missing one.
        None if known => missing(name, f, json, reporter),
        None => None,
    };
    let values: Vec<Option<ParameterValue>> = fields.iter().map(&mut read).collect();
    let values = values.into_iter().collect::<Option<Vec<_>>>()?;
    known.then_some(Record { fields, values })
}

/// The value of a field that the document leaves out: its default, or a reported error.
fn missing(
    name: &str,
    field: &ParameterDesc,
    json: &Json,
    reporter: &mut Reporter,
) -> Option<ParameterValue> {
    if field.default != DefaultValue::Required {
        return Some(field.default_value());
    }
    reporter.error(
        "missing_field",
        &json.span,
        format!("'{name}' needs the field '{}'", field.name),
        format!(
            "add \"{}\": {}: {}",
            field.name,
            expectation(field.ty),
            field.doc
        ),
    );
    None
}
