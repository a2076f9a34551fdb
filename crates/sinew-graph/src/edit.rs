//! Edits the text of a document and keeps everything else in it, including comments and layout.

use crate::diagnostic::{Diagnostics, LineColumn};
use crate::json::{Json, Kind, Member, Reporter};
use std::ops::Range;

/// An edit of the JSON object of a node.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NodeEdit<'a> {
    /// Replaces the value of `key` with a number. If the key is missing, inserts it before the member `before`. If the document
    /// states an angle as `<key>_degrees`, that member gets the number in degrees.
    SetNumber {
        /// Key of the value.
        key: &'a str,
        /// The number, finite.
        number: f64,
        /// An existing key of the object.
        before: &'a str,
    },
    /// Replaces the value of `key` with JSON. If the key is missing, inserts it before the member `before`. Each line break in the
    /// JSON gets the indent of the line.
    SetJson {
        /// Key of the value.
        key: &'a str,
        /// The JSON text; the document must stay valid with it.
        json: &'a str,
        /// An existing key of the object.
        before: &'a str,
    },
    /// Removes all elements of the list at `key` except those with the given indices.
    KeepElements {
        /// Key of the list.
        key: &'a str,
        /// Indices of the elements to keep, in increasing order.
        kept: &'a [usize],
    },
}

/// Why a document could not be changed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The text is not JSON.
    #[error("{0}")]
    Document(Diagnostics),
    /// There is no node at the given location.
    #[error("there is no node at line {line}, column {column}")]
    NoNode {
        /// Line, from one.
        line: usize,
        /// Column, from one.
        column: usize,
    },
    /// A required member is missing or has the wrong type.
    #[error("the node's '{key}' is {found}, expected {expected}")]
    Member {
        /// Key of the member.
        key: String,
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
}

/// Edits the node at `location`: the one of its key or, in a stack, of its object. `file` is the document's name in messages.
///
/// Removed elements go with their comma, the rest of their lines and the comments on those lines.
///
/// # Errors
/// [`EditError`]; no edit is applied then.
pub fn edit_node(
    file: &str,
    text: &str,
    location: LineColumn,
    edits: &[NodeEdit<'_>],
) -> Result<String, EditError> {
    let mut reporter = Reporter::new(file, text);
    let parsed = crate::json::parse(&mut reporter);
    let Some(json) = parsed.filter(|_| reporter.found.is_empty()) else {
        return Err(EditError::Document(Diagnostics(reporter.found)));
    };
    let node = location
        .byte(text)
        .and_then(|start| find(&json, start))
        .ok_or(EditError::NoNode {
            line: location.line,
            column: location.column,
        })?;
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    for edit in edits {
        match edit {
            NodeEdit::SetNumber {
                key,
                number,
                before,
            } => changes.push(set_number(text, node, key, *number, before)?),
            NodeEdit::SetJson { key, json, before } => {
                changes.push(set_json(text, node, key, json, before)?);
            }
            NodeEdit::KeepElements { key, kept } => {
                let gone = removed(text, node, key, kept)?;
                changes.extend(gone.into_iter().map(|range| (range, String::new())));
            }
        }
    }
    // From the end, so that locations before it stay valid.
    changes.sort_by_key(|c| std::cmp::Reverse(c.0.start));
    let mut out = text.to_owned();
    for (range, by) in changes {
        out.replace_range(range, &by);
    }
    Ok(out)
}

/// The object that starts at a byte, or whose key starts there.
fn find(json: &Json, start: usize) -> Option<&Json> {
    let is_here = |span: &Range<usize>| span.start == start;
    match &json.kind {
        Kind::Array(elements) => elements.iter().find_map(|e| {
            let is_node = is_here(&e.span) && matches!(e.kind, Kind::Object(_));
            if is_node { Some(e) } else { find(e, start) }
        }),
        Kind::Object(members) => members.iter().find_map(|m| {
            let is_node = is_here(&m.key_span) && matches!(m.value.kind, Kind::Object(_));
            if is_node {
                Some(&m.value)
            } else {
                find(&m.value, start)
            }
        }),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) => None,
    }
}

fn set_number(
    text: &str,
    node: &Json,
    key: &str,
    number: f64,
    before: &str,
) -> Result<(Range<usize>, String), EditError> {
    let wrong = |key: &str, found: String, expected| EditError::Member {
        key: key.to_owned(),
        found,
        expected,
    };
    if !number.is_finite() {
        return Err(wrong(key, number.to_string(), "a finite number"));
    }
    let in_degrees = format!("{key}_degrees");
    if node.get(key).is_none() && node.get(&in_degrees).is_some() {
        return set_number(
            text,
            node,
            &in_degrees,
            in_seven_digits(number.to_degrees()),
            before,
        );
    }
    match node.get(key) {
        Some(there) if !matches!(there.kind, Kind::Number(_)) => {
            Err(wrong(key, there.describe(), "a number"))
        }
        _ => set_json(text, node, key, &number.to_string(), before),
    }
}

/// More digits would only be rounding errors of the conversion.
fn in_seven_digits(number: f64) -> f64 {
    format!("{number:.6e}").parse().unwrap_or(number)
}

fn set_json(
    text: &str,
    node: &Json,
    key: &str,
    json: &str,
    before: &str,
) -> Result<(Range<usize>, String), EditError> {
    let members = node.members().unwrap_or_default();
    let member = |key: &str| members.iter().find(|m| m.key == key);
    let next: Option<&Member> = member(key).or_else(|| member(before));
    let next = next.ok_or_else(|| EditError::Member {
        key: before.to_owned(),
        found: "missing".into(),
        expected: "a member of the node",
    })?;
    let start = next.key_span.start;
    let indent = own_line(text, start).map(|line| &text[line..start]);
    let json = json.replace('\n', &format!("\n{}", indent.unwrap_or_default()));
    if next.key == key {
        return Ok((next.value.span.clone(), json));
    }
    let gap = indent.map_or_else(|| " ".to_owned(), |indent| format!("\n{indent}"));
    Ok((start..start, format!("\"{key}\": {json},{gap}")))
}

/// Start of the line of `at`, if only whitespace comes before `at`.
fn own_line(text: &str, at: usize) -> Option<usize> {
    let line = text[..at].rfind('\n').map_or(0, |i| i + 1);
    text[line..at]
        .chars()
        .all(|c| c.is_whitespace())
        .then_some(line)
}

/// Ranges of the text to remove together with the elements that are not kept.
fn removed(
    text: &str,
    node: &Json,
    key: &str,
    kept: &[usize],
) -> Result<Vec<Range<usize>>, EditError> {
    let list = node.get(key);
    let elements = list.and_then(Json::array);
    let elements = elements.ok_or_else(|| EditError::Member {
        key: key.to_owned(),
        found: list.map_or("missing".into(), Json::describe),
        expected: "a list",
    })?;
    let stays = |i: &usize| kept.contains(i);
    let mut out: Vec<Range<usize>> = Vec::new();
    for (_, element) in elements.iter().enumerate().filter(|(i, _)| !stays(i)) {
        out.push(with_lines(text, &element.span));
    }
    let last_kept = (0..elements.len()).rev().find(stays);
    if let (Some(kept), Some(last)) = (last_kept.map(|i| &elements[i]), elements.last())
        && kept.span != last.span
        && comma_after(text, last.span.end).is_none()
    {
        // The list did not end with a comma before.
        out.extend(comma_after(text, kept.span.end).map(|c| c..c + 1));
    }
    Ok(out)
}

/// An element with its comma and its lines, if nothing else is on those lines.
fn with_lines(text: &str, span: &Range<usize>) -> Range<usize> {
    let mut end = comma_after(text, span.end).map_or(span.end, |comma| comma + 1);
    let rest = text[end..].find('\n').map_or(text.len(), |i| end + i);
    let tail = text[end..rest].trim();
    match own_line(text, span.start) {
        Some(line) if tail.is_empty() || tail.starts_with("//") => line..(rest + 1).min(text.len()),
        _ => {
            end += text[end..rest].len() - text[end..rest].trim_start().len();
            span.start..end
        }
    }
}

/// The comma after a value, past whitespace and comments.
fn comma_after(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n')?;
        } else if rest.starts_with("/*") {
            at += rest.find("*/")? + 2;
        } else {
            return rest.starts_with(',').then_some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
  // A list.
  "nodes": {
    "a": {
      "node": "x", // what it is
      "poses": [
        {"p": 0}, // first
        {"p": 1}, // second
        {"p": 2},
        {"p": 3} // last
      ]
    }
  },
  "stack": [{"node": "y", "width": 0, "poses": [1, 2, 3]}]
}
"#;

    fn edited(line: usize, column: usize, edits: &[NodeEdit<'_>]) -> Result<String, EditError> {
        edit_node("a.json", TEXT, LineColumn { line, column }, edits)
    }

    #[test]
    fn what_stays_keeps_its_text() {
        let keep = |kept| NodeEdit::KeepElements { key: "poses", kept };
        let width = NodeEdit::SetNumber {
            key: "width",
            number: 0.5,
            before: "poses",
        };
        let found = edited(4, 5, &[keep(&[0, 2]), width.clone()]).expect("there");
        let expected = TEXT
            .replace("        {\"p\": 1}, // second\n", "")
            .replace("{\"p\": 2},", "{\"p\": 2}")
            .replace("        {\"p\": 3} // last\n", "")
            .replacen("\"poses\"", "\"width\": 0.5,\n      \"poses\"", 1);
        assert_eq!(found, expected);
        let found = edited(14, 13, &[keep(&[0, 2]), width.clone()]).expect("there");
        assert_eq!(
            found,
            TEXT.replace("[1, 2, 3]", "[1, 3]")
                .replace("\"width\": 0,", "\"width\": 0.5,")
        );
        let found = edited(14, 13, &[keep(&[0])]).expect("there");
        let list = found.split("\"poses\": ").last().expect("there");
        assert!(
            list.starts_with("[1 ]}") || list.starts_with("[1]}"),
            "{list}"
        );
        assert_eq!(edited(4, 5, &[keep(&[0, 1, 2, 3])]).expect("there"), TEXT);
    }

    /// Half a radian is 28.6478897565... degrees.
    #[test]
    fn numbers_in_degrees_stay_in_degrees() {
        let text = TEXT.replace("\"width\": 0,", "\"width_degrees\": 60,");
        let width = NodeEdit::SetNumber {
            key: "width",
            number: 0.5,
            before: "poses",
        };
        let location = LineColumn {
            line: 14,
            column: 13,
        };
        let found = edit_node("a.json", &text, location, &[width]).expect("there");
        assert_eq!(found, text.replace("60,", "28.64789,"));
    }

    #[test]
    fn json_takes_a_place() {
        let set = |key, json, before| NodeEdit::SetJson { key, json, before };
        let both = [set("poses", "[]", "node"), set("mix", "[\n  1\n]", "poses")];
        let found = edited(4, 5, &both).expect("there");
        let list = TEXT.find("[\n        {").expect("there");
        let end = list + TEXT[list..].find("\n      ]").expect("there") + "\n      ]".len();
        let expected = format!("{}[]{}", &TEXT[..list], &TEXT[end..]).replacen(
            "\"poses\"",
            "\"mix\": [\n        1\n      ],\n      \"poses\"",
            1,
        );
        assert_eq!(found, expected);
        let found = edited(14, 13, &[set("mix", "{}", "width")]).expect("there");
        assert_eq!(found, TEXT.replace("\"width\"", "\"mix\": {}, \"width\""));
        let error = edited(14, 13, &[set("mix", "{}", "depth")]).expect_err("no such member");
        assert!(
            error
                .to_string()
                .starts_with("the node's 'depth' is missing"),
            "{error}"
        );
    }

    #[test]
    fn errors_name_what_is_wrong() {
        let keep = NodeEdit::KeepElements {
            key: "node",
            kept: &[],
        };
        let said = |r: Result<String, EditError>| r.expect_err("refused").to_string();
        assert_eq!(
            said(edited(4, 5, std::slice::from_ref(&keep))),
            "the node's 'node' is \"x\", expected a list"
        );
        assert_eq!(
            said(edited(1, 9, &[keep])),
            "there is no node at line 1, column 9"
        );
        let number = NodeEdit::SetNumber {
            key: "k",
            number: f64::NAN,
            before: "poses",
        };
        assert!(said(edited(4, 5, &[number])).contains("expected a finite number"));
        let location = LineColumn { line: 1, column: 1 };
        assert!(edit_node("a.json", "{", location, &[]).is_err());
    }
}
