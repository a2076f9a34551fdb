//! JSON with comments and trailing commas. Each error contains line, column and key path.
//!
//! The parser's tree stores byte ranges. The key path is computed only for errors.

use super::fields::Fields;
use super::{JsonLocation, PoseDriverFileError};
use crate::fault::quoted;
use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Number, Value as Plain};
use std::collections::HashSet;
use std::path::Path;

type Outcome<T> = Result<T, PoseDriverFileError>;

/// Maximum file size in bytes. Such files have kilobytes, and a tree takes several times the text.
pub(super) const MAX_BYTES: u64 = 64 << 20;

/// A parsed text.
#[derive(Debug)]
pub(super) struct Located<'a> {
    path: &'a Path,
    text: &'a str,
    root: Value<'a>,
}

impl<'a> Located<'a> {
    /// Parses and checks the rules of every format: unique keys, finite numbers. The parser rejects more than 512
    /// levels.
    pub(super) fn parse(text: &'a str, path: &'a Path) -> Outcome<Self> {
        let bytes = text.len() as u64;
        if bytes > MAX_BYTES {
            return Err(too_large(path, bytes));
        }
        let fault = |at: usize, found: String, expected: &str| {
            Err(PoseDriverFileError::Malformed {
                path: path.to_owned(),
                location: line_and_column(text, at),
                found,
                expected: expected.to_owned(),
            })
        };
        match parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map(|parsed| parsed.value) {
            Ok(Some(root)) => {
                let document = Self { path, text, root };
                document.check(&document.root)?;
                Ok(document)
            }
            Ok(None) => fault(0, "an empty file".into(), "a JSON object"),
            Err(e) => {
                let found = format!("invalid JSON ({})", e.kind());
                fault(
                    e.range().start,
                    found,
                    "JSON (comments and trailing commas are allowed)",
                )
            }
        }
    }

    pub(super) fn root(&self) -> Outcome<Fields<'_>> {
        self.fields(&self.root)
    }

    fn check(&self, value: &Value<'_>) -> Outcome<()> {
        match value {
            Value::NumberLit(_) => self.number(value).map(|_| ()),
            Value::Array(list) => list.elements.iter().try_for_each(|v| self.check(v)),
            Value::Object(object) => {
                let mut seen = HashSet::new();
                for property in &object.properties {
                    let key = property.name.as_str();
                    if !seen.insert(key) {
                        let found = format!("a second key {}", quoted(key.as_bytes()));
                        return Err(self.fault(property.name.range(), found, "unique keys"));
                    }
                    self.check(&property.value)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The object `value` as fields.
    pub(super) fn fields<'d>(&'d self, value: &'d Value<'d>) -> Outcome<Fields<'d>> {
        Ok(Fields::new(self, self.object(value)?))
    }

    /// An error at a location.
    pub(super) fn fault(
        &self,
        at: Range,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> PoseDriverFileError {
        PoseDriverFileError::Malformed {
            path: self.path.to_owned(),
            location: self.location(at),
            found: found.into(),
            expected: expected.into(),
        }
    }

    fn wrong<T>(&self, value: &Value<'_>, expected: &str) -> Outcome<T> {
        Err(self.fault(value.range(), self.describe(value), expected))
    }

    /// Line, column and key path. Linear in the size of the file.
    pub(super) fn location(&self, at: Range) -> JsonLocation {
        let mut location = line_and_column(self.text, at.start);
        let mut value = Some(&self.root);
        while let Some(inside) = value {
            value = step(inside, at, &mut location.json_path);
        }
        location
    }

    fn describe(&self, value: &Value<'_>) -> String {
        match value {
            Value::NullKeyword(_) => "null".into(),
            Value::BooleanLit(b) => b.value.to_string(),
            Value::NumberLit(n) => quoted(n.value.as_bytes()),
            Value::StringLit(s) => format!("the text {}", quoted(s.value.as_bytes())),
            Value::Array(a) => format!("a list of {}", a.elements.len()),
            Value::Object(_) => "an object".into(),
        }
    }

    pub(super) fn object<'d>(&self, value: &'d Value<'d>) -> Outcome<&'d Object<'d>> {
        match value {
            Value::Object(object) => Ok(object),
            _ => self.wrong(value, "an object"),
        }
    }

    pub(super) fn array<'d>(&self, value: &'d Value<'d>, of: &str) -> Outcome<&'d Array<'d>> {
        match value {
            Value::Array(array) => Ok(array),
            _ => self.wrong(value, &format!("a list of {of}")),
        }
    }

    pub(super) fn text(&self, value: &Value<'_>) -> Outcome<String> {
        match value {
            Value::StringLit(s) => Ok(s.value.to_string()),
            _ => self.wrong(value, "a text"),
        }
    }

    pub(super) fn boolean(&self, value: &Value<'_>) -> Outcome<bool> {
        match value {
            Value::BooleanLit(b) => Ok(b.value),
            _ => self.wrong(value, "true or false"),
        }
    }

    /// A finite number, rounded to the nearest double.
    pub(super) fn number(&self, value: &Value<'_>) -> Outcome<f64> {
        let number = match value {
            Value::NumberLit(n) => n.value.parse::<f64>().ok(),
            _ => return self.wrong(value, "a number"),
        };
        match number.filter(|n| n.is_finite()) {
            Some(n) => Ok(n),
            None => self.wrong(value, "a finite number"),
        }
    }

    pub(super) fn integer(&self, value: &Value<'_>) -> Outcome<i64> {
        let number = match value {
            Value::NumberLit(n) => n.value.parse::<i64>().ok(),
            _ => None,
        };
        match number {
            Some(n) => Ok(n),
            None => self.wrong(value, "a whole number"),
        }
    }

    pub(super) fn texts(&self, value: &Value<'_>) -> Outcome<Vec<String>> {
        let list = self.array(value, "texts")?;
        list.elements.iter().map(|v| self.text(v)).collect()
    }

    /// A list of exactly `N` numbers.
    pub(super) fn numbers<const N: usize>(&self, value: &Value<'_>) -> Outcome<[f64; N]> {
        let list = self.array(value, &format!("{N} numbers"))?;
        if list.elements.len() != N {
            let found = format!("a list of {}", list.elements.len());
            return Err(self.fault(list.range(), found, format!("a list of {N} numbers")));
        }
        let mut out = [0.0; N];
        for (number, element) in out.iter_mut().zip(&list.elements) {
            *number = self.number(element)?;
        }
        Ok(out)
    }

    /// The value without comments and locations.
    pub(super) fn plain(&self, value: &Value<'_>) -> Outcome<Plain> {
        Ok(match value {
            Value::NullKeyword(_) => Plain::Null,
            Value::BooleanLit(b) => Plain::Bool(b.value),
            Value::StringLit(s) => Plain::String(s.value.to_string()),
            Value::NumberLit(n) => plain_number(n.value, self.number(value)?),
            Value::Array(a) => {
                let list: Outcome<_> = a.elements.iter().map(|v| self.plain(v)).collect();
                Plain::Array(list?)
            }
            Value::Object(o) => {
                let mut map = Map::with_capacity(o.properties.len());
                for property in &o.properties {
                    map.insert(
                        property.name.as_str().to_owned(),
                        self.plain(&property.value)?,
                    );
                }
                Plain::Object(map)
            }
        })
    }
}

const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn too_large(path: &Path, bytes: u64) -> PoseDriverFileError {
    PoseDriverFileError::TooLarge {
        path: path.to_owned(),
        bytes,
        allowed: MAX_BYTES,
    }
}

/// Integers stay integers. Beyond 64 bits they become the nearest double.
fn plain_number(text: &str, double: f64) -> Plain {
    let whole = || {
        let negative = text
            .parse::<i64>()
            .ok()
            .filter(|_| text != "-0")
            .map(Number::from);
        negative.or_else(|| text.parse::<u64>().ok().map(Number::from))
    };
    whole()
        .or_else(|| Number::from_f64(double))
        .map_or(Plain::Null, Plain::Number)
}

fn line_and_column(text: &str, at: usize) -> JsonLocation {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    JsonLocation {
        line: before.bytes().filter(|&b| b == b'\n').count() + 1,
        column: before.get(line_start..).unwrap_or("").chars().count() + 1,
        json_path: String::new(),
    }
}

/// The part of `value` that contains `at`. Adds its key or index to the path.
fn step<'d>(value: &'d Value<'d>, at: Range, path: &mut String) -> Option<&'d Value<'d>> {
    let holds = |r: Range| r.start <= at.start && at.end <= r.end;
    match value {
        Value::Object(object) => {
            let property = object.properties.iter().find(|p| holds(p.range()))?;
            push_key(path, property.name.as_str());
            Some(&property.value).filter(|v| holds(v.range()))
        }
        Value::Array(array) => {
            let index = array.elements.iter().position(|v| holds(v.range()))?;
            path.push_str(&format!("[{index}]"));
            array.elements.get(index)
        }
        _ => None,
    }
}

/// `.key`, or `["key"]` if the key contains a dot or other special characters.
fn push_key(path: &mut String, key: &str) {
    let is_word = |c: char| c.is_alphanumeric() || "_-:|".contains(c);
    if key.is_empty() || !key.chars().all(is_word) {
        let short: String = key.chars().take(60).collect();
        path.push_str(&format!("[{}]", Plain::String(short)));
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}
