//! From a JSON tree to typed values, with the place of what does not fit.
//!
//! Errors of `serde_json` do not say where in a tree they are. Here each step down is written down, and taken back where all below it was right.

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde_json::{Error, Map, Value};
use std::cell::RefCell;
use std::fmt::Write;

/// Reads `json` as a `T`.
///
/// # Errors
/// The place (`meshes[3].name`, `.` for the whole) and what is wrong there.
pub(crate) fn from_json<T: DeserializeOwned>(json: &Value) -> Result<T, (String, Error)> {
    let steps = RefCell::new(Vec::new());
    T::deserialize(Traced::root(json, &steps)).map_err(|error| (place(&steps.borrow()), error))
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

fn place(steps: &[Step<'_>]) -> String {
    let mut place = String::new();
    for step in steps {
        // Text takes everything.
        let _ = match step {
            Step::Key(key) if place.is_empty() => write!(place, "{key}"),
            Step::Key(key) => write!(place, ".{key}"),
            Step::Index(index) => write!(place, "[{index}]"),
        };
    }
    if place.is_empty() {
        place.push('.');
    }
    place
}

/// A part of a tree.
#[derive(Clone, Copy)]
struct Traced<'a> {
    json: &'a Value,
    /// How many steps lead to it.
    depth: usize,
    steps: &'a RefCell<Vec<Step<'a>>>,
}

impl<'a> Traced<'a> {
    fn root(json: &'a Value, steps: &'a RefCell<Vec<Step<'a>>>) -> Self {
        let depth = 0;
        Self { json, depth, steps }
    }

    /// Steps from here to `json`; whatever was beside it is done.
    fn step(self, step: Step<'a>, json: &'a Value) -> Self {
        let depth = self.depth + 1;
        self.step_back();
        self.steps.borrow_mut().push(step);
        Self {
            json,
            depth,
            ..self
        }
    }

    fn members(self, members: &'a Map<String, Value>) -> impl MapAccess<'a, Error = Error> {
        let each = members.iter();
        let each = each.map(move |(key, json)| (&**key, self.step(Step::Key(key), json)));
        MapDeserializer::new(self.then_back(each))
    }

    /// The parts of this one. What it lacks is seen after the last of them.
    fn then_back<T>(self, each: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        each.chain(std::iter::from_fn(move || {
            self.step_back();
            None
        }))
    }

    fn step_back(self) {
        self.steps.borrow_mut().truncate(self.depth);
    }
}

impl<'a> IntoDeserializer<'a, Error> for Traced<'a> {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Traced<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.json {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => number.deserialize_any(visitor),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => {
                let each = items.iter().enumerate();
                let each = each.map(|(k, json)| self.step(Step::Index(k), json));
                let mut each = SeqDeserializer::new(self.then_back(each));
                let value = visitor.visit_seq(&mut each)?;
                self.step_back();
                each.end()?;
                Ok(value)
            }
            Value::Object(members) => visitor.visit_map(self.members(members)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.json {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        // Types that `serde_json` has an understanding with.
        if name.starts_with('$') {
            return self.json.deserialize_newtype_struct(name, visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.json {
            Value::Object(members) if members.len() == 1 => {
                visitor.visit_enum(MapAccessDeserializer::new(self.members(members)))
            }
            _ => self.json.deserialize_enum(name, variants, visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Deserialize)]
    struct Scene {
        #[expect(dead_code, reason = "only read")]
        nodes: Vec<Node>,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Node {
        name: String,
        #[serde(default)]
        at: Option<[f32; 3]>,
        #[serde(default)]
        kind: Option<Kind>,
    }

    #[derive(Deserialize)]
    enum Kind {
        Joint,
        Limb {
            #[expect(dead_code, reason = "only read")]
            joints: Vec<u8>,
        },
    }

    #[test]
    fn places_lead_to_what_is_wrong() {
        let cases = [
            (
                json!({"nodes": [{"name": "a", "at": [1, 2, 3], "kind": "Joint"}]}),
                None,
            ),
            (
                json!({"nodes": [{"name": "a", "at": [1, 2]}]}),
                Some("nodes[0].at"),
            ),
            (
                json!({"nodes": [{"name": "a", "at": [1, 2, 3, 4]}]}),
                Some("nodes[0].at"),
            ),
            (
                json!({"nodes": [{"name": "a"}, {"name": "b", "at": [1, "2", 3]}]}),
                Some("nodes[1].at[1]"),
            ),
            (
                json!({"nodes": [{"name": "a"}, {"more": [1]}]}),
                Some("nodes[1]"),
            ),
            (
                json!({"nodes": [{"name": "a", "kind": "Bone"}]}),
                Some("nodes[0].kind"),
            ),
            (
                json!({"nodes": [{"name": "a", "kind": {"Limb": {"joints": [3]}}}]}),
                None,
            ),
            (
                json!({"nodes": [{"name": "a", "kind": {"Limb": {"joints": [3, 999]}}}]}),
                Some("nodes[0].kind.Limb.joints[1]"),
            ),
            (json!({"nodes": {}}), Some("nodes")),
            (json!({"more": {"a": [1]}}), Some(".")),
            (json!(5), Some(".")),
        ];
        for (json, expected) in cases {
            let found = from_json::<Scene>(&json).err().map(|(place, _)| place);
            assert_eq!(found.as_deref(), expected, "{json}");
        }
    }
}
