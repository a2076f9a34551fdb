//! JSON objects read key by key, with warnings.

use super::located::Located;
use super::{ExtraFields, JsonLocation, PoseDriverFileError};
use crate::fault::warning;
use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use sinew_geom::Warning;

type Outcome<T> = Result<T, PoseDriverFileError>;

/// The keys of one object. Keys that the reader does not ask for are kept.
#[derive(Debug)]
pub(super) struct Fields<'d> {
    pub(super) document: &'d Located<'d>,
    pub(super) object: &'d Object<'d>,
    asked: Vec<&'static str>,
}

impl<'d> Fields<'d> {
    pub(super) fn new(document: &'d Located<'d>, object: &'d Object<'d>) -> Self {
        Self {
            document,
            object,
            asked: Vec::new(),
        }
    }

    /// The value of a key; `None` if it is missing or null.
    pub(super) fn optional(&mut self, key: &'static str) -> Option<&'d Value<'d>> {
        let value = &self.object.get(key)?.value;
        if matches!(value, Value::NullKeyword(_)) {
            return None;
        }
        self.asked.push(key);
        Some(value)
    }

    /// The value of a required key.
    pub(super) fn required(&mut self, key: &'static str) -> Outcome<&'d Value<'d>> {
        self.optional(key).ok_or_else(|| {
            let found = match self.object.get(key) {
                Some(_) => format!("null for '{key}'"),
                None => format!("no '{key}'"),
            };
            self.fault(found, format!("a value for '{key}'"))
        })
    }

    /// The result of `read` for a key; `None` if the key is missing.
    pub(super) fn read<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&'d Located<'d>, &'d Value<'d>) -> Outcome<T>,
    ) -> Outcome<Option<T>> {
        let document = self.document;
        self.optional(key).map(|v| read(document, v)).transpose()
    }

    /// As `read`. A missing key gives `default` and a warning.
    pub(super) fn or_default<T: std::fmt::Debug>(
        &mut self,
        key: &'static str,
        default: T,
        notes: &mut Notes,
        read: impl Fn(&'d Located<'d>, &'d Value<'d>) -> Outcome<T>,
    ) -> Outcome<T> {
        let given = self.read(key, read)?;
        Ok(given.unwrap_or_else(|| {
            let message = || format!("'{key}' is missing; Sinew uses {default:?}");
            notes.note("field_missing", key, message, || self.location());
            default
        }))
    }

    pub(super) fn properties(&self) -> &'d [ObjectProp<'d>] {
        &self.object.properties
    }

    pub(super) fn location(&self) -> JsonLocation {
        self.document.location(self.object.range())
    }

    pub(super) fn fault(
        &self,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> PoseDriverFileError {
        self.document.fault(self.object.range(), found, expected)
    }

    /// All keys that the reader did not ask for, including null values, and the order of all keys.
    pub(super) fn extra(self) -> Outcome<ExtraFields> {
        let asked = &self.asked;
        self.kept(|key, _| !asked.contains(&key))
    }

    /// Values that are not objects, and the order of all keys.
    pub(super) fn beside_objects(self) -> Outcome<ExtraFields> {
        self.kept(|_, value| !matches!(value, Value::Object(_)))
    }

    fn kept(&self, is_kept: impl Fn(&str, &Value<'_>) -> bool) -> Outcome<ExtraFields> {
        let mut kept = ExtraFields::default();
        for property in &self.object.properties {
            let key = property.name.as_str();
            kept.order.push(key.into());
            if is_kept(key, &property.value) {
                let value = self.document.plain(&property.value)?;
                kept.values.insert(key.to_owned(), value);
            }
        }
        Ok(kept)
    }
}

/// Warnings of readers: one per kind and key, with a count and the first location.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<Note>);

#[derive(Debug)]
struct Note {
    code: &'static str,
    key: &'static str,
    message: String,
    count: usize,
    location: JsonLocation,
}

impl Notes {
    /// Adds a warning about the value of `key`. Message and location are those of the first one of its kind.
    pub(super) fn note(
        &mut self,
        code: &'static str,
        key: &'static str,
        message: impl FnOnce() -> String,
        location: impl FnOnce() -> JsonLocation,
    ) {
        match self.0.iter_mut().find(|n| (n.code, n.key) == (code, key)) {
            Some(known) => known.count += 1,
            None => self.0.push(Note {
                code,
                key,
                message: message(),
                count: 1,
                location: location(),
            }),
        }
    }

    pub(super) fn into_warnings(self) -> Vec<Warning> {
        let told = |n: Note| {
            let times = match n.count {
                1 => String::new(),
                more => format!(" ({more} times; this is the first)"),
            };
            warning(n.code, format!("{}: {}{times}", n.location, n.message))
        };
        self.0.into_iter().map(told).collect()
    }
}
