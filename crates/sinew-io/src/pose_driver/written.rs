//! JSON text output: keys in the order that was read, lists of numbers on one line.

use super::{ExtraFields, PoseDriverFileError};
use serde_json::{Map, Number, Value};
use std::path::Path;

/// A name that two parts of a document share.
#[derive(Debug)]
pub(super) struct TwoOfOneName {
    kind: &'static str,
    name: String,
}

impl TwoOfOneName {
    pub(super) fn in_file(self, path: &Path) -> PoseDriverFileError {
        PoseDriverFileError::Duplicate {
            path: path.to_owned(),
            kind: self.kind,
            name: self.name,
        }
    }
}

/// An object with a key for each name, in this order.
pub(super) fn named(
    kind: &'static str,
    parts: impl IntoIterator<Item = (String, Value)>,
) -> Result<Map<String, Value>, TwoOfOneName> {
    let mut out = Map::new();
    for (name, value) in parts {
        if out.contains_key(&name) {
            return Err(TwoOfOneName { kind, name });
        }
        out.insert(name, value);
    }
    Ok(out)
}

/// `parts` and the values next to them, at their original positions if the parts still have their original order.
pub(super) fn beside(parts: Map<String, Value>, extra: &ExtraFields) -> Value {
    let keys = extra.order.iter().map(|key| &**key);
    let read = keys.filter(|key| !extra.values.contains_key(*key));
    if read.eq(parts.keys().map(String::as_str)) {
        return merged(parts, extra);
    }
    let mut out = parts;
    for (key, value) in &extra.values {
        out.entry(key).or_insert_with(|| value.clone());
    }
    Value::Object(out)
}

/// A number, or a text if JSON cannot represent it. Reading it back then reports the location.
pub(super) fn number(value: f64) -> Value {
    Number::from_f64(value).map_or_else(|| Value::from(value.to_string()), Value::Number)
}

pub(super) fn numbers(values: &[f64]) -> Value {
    values.iter().map(|&v| number(v)).collect()
}

/// An object of `fields` (without those that are `None`) and its other keys, in the order that was read.
pub(super) fn object(fields: Vec<(&'static str, Option<Value>)>, extra: &ExtraFields) -> Value {
    let known = fields
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)));
    merged(known.collect(), extra)
}

fn merged(mut known: Map<String, Value>, extra: &ExtraFields) -> Value {
    let mut out = Map::new();
    for key in &extra.order {
        let value = known.get_mut(&**key).map(Value::take);
        if let Some(value) = value.or_else(|| extra.values.get(&**key).cloned()) {
            out.insert(key.to_string(), value);
        }
    }
    for (key, value) in known {
        out.entry(key).or_insert(value);
    }
    for (key, value) in &extra.values {
        out.entry(key).or_insert_with(|| value.clone());
    }
    Value::Object(out)
}

/// The text of a document, with a newline at the end.
pub(super) fn text(value: &Value) -> String {
    let mut out = String::new();
    put(value, 0, &mut out);
    out.push('\n');
    out
}

fn put(value: &Value, level: usize, out: &mut String) {
    let is_simple = |v: &Value| !v.is_array() && !v.is_object();
    match value {
        Value::Array(list) if list.iter().all(is_simple) => {
            let items: Vec<String> = list.iter().map(Value::to_string).collect();
            out.push_str(&format!("[{}]", items.join(", ")));
        }
        Value::Array(list) => {
            let items = list.iter().map(|v| (String::new(), v));
            put_lines(['[', ']'], items, level, out);
        }
        Value::Object(map) if map.is_empty() => out.push_str("{}"),
        Value::Object(map) => {
            let items = map.iter();
            let items = items.map(|(k, v)| (format!("{}: ", Value::from(k.as_str())), v));
            put_lines(['{', '}'], items, level, out);
        }
        simple => out.push_str(&simple.to_string()),
    }
}

fn put_lines<'a>(
    brackets: [char; 2],
    items: impl Iterator<Item = (String, &'a Value)>,
    level: usize,
    out: &mut String,
) {
    out.push(brackets[0]);
    for (index, (key, value)) in items.enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(level + 1));
        out.push_str(&key);
        put(value, level + 1, out);
    }
    out.push('\n');
    out.push_str(&"  ".repeat(level));
    out.push(brackets[1]);
}
