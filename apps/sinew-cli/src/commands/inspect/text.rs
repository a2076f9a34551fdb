//! Reports as text: the same words as in JSON. Lists of plain objects are tables.

use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Entries of lists that are shown without `--json`.
const SHOWN: usize = 40;
/// Joints that are shown without `--json`; the depth at which a larger tree is cut comes from it.
const SHOWN_JOINTS: usize = 80;
/// Deeper joints would leave no space for numbers.
const DEEPEST: usize = 24;

/// Indented lines; long lists are cut with a count.
pub(super) fn as_text(value: &Value, indent: usize) -> String {
    let mut out = String::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        entry(&mut out, key, value, indent);
    }
    out
}

fn entry(out: &mut String, key: &str, value: &Value, indent: usize) {
    let pad = "  ".repeat(indent);
    let _ = match value {
        Value::Array(a) if key == "joints" && !a.is_empty() => {
            write!(out, "{pad}joints: {}\n{}", a.len(), tree(a, indent + 1))
        }
        Value::Array(a) if !a.is_empty() && a.iter().all(is_row) => {
            let table = table(&a[..a.len().min(SHOWN)], indent + 1);
            write!(out, "{pad}{key}: {}\n{table}", a.len())
        }
        Value::Array(a) if a.iter().any(Value::is_object) => {
            let _ = writeln!(out, "{pad}{key}: {}", a.len());
            a.iter().take(SHOWN).try_for_each(|item| {
                let text = as_text(item, indent + 2);
                writeln!(out, "{pad}  - {}", text.trim_start().trim_end())
            })
        }
        Value::Array(a) if a.len() > SHOWN && a.iter().all(Value::is_string) => {
            writeln!(out, "{pad}{key}: {}", Value::from(&a[..SHOWN]))
        }
        Value::Object(_) => write!(out, "{pad}{key}:\n{}", as_text(value, indent + 1)),
        Value::String(s) if s.contains('\n') => {
            let _ = writeln!(out, "{pad}{key}:");
            s.lines()
                .try_for_each(|line| writeln!(out, "{pad}  {line}"))
        }
        Value::String(s) => writeln!(out, "{pad}{key}: {s}"),
        Value::Null => Ok(()),
        Value::Array(a) if a.is_empty() && indent > 0 => Ok(()),
        _ => writeln!(out, "{pad}{key}: {}", rounded(value)),
    };
    if let Value::Array(a) = value
        && key != "joints"
        && a.len() > SHOWN
        && !a.iter().all(Value::is_number)
    {
        let more = a.len() - SHOWN;
        let _ = writeln!(out, "{pad}  ... {more} more; use --json to list all");
    }
}

/// The value without digits that nobody reads.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(n) if n.is_f64() => {
            let found = n.as_f64().unwrap_or(0.0);
            ((found * 1e6).round() / 1e6 + 0.0).into()
        }
        Value::Array(a) => a.iter().map(rounded).collect(),
        other => other.clone(),
    }
}

/// Whether a value is an object of plain values, which a line of a table holds.
fn is_row(value: &Value) -> bool {
    let is_plain = |v: &Value| match v {
        Value::Array(a) => a.iter().all(Value::is_number),
        Value::Object(o) => o.values().all(Value::is_string),
        Value::String(s) => s.len() <= 60,
        _ => true,
    };
    value.as_object().is_some_and(|o| o.values().all(is_plain))
}

/// The joints as a tree: indented by depth, cut below the depth at which all of it fits.
fn tree(joints: &[Value], indent: usize) -> String {
    let depths = depths(joints);
    let deepest = depths.iter().copied().max().unwrap_or(0).min(DEEPEST);
    let fits = |d: &usize| depths.iter().filter(|x| *x <= d).count() <= SHOWN_JOINTS;
    let cut = (0..=deepest).rev().find(fits).unwrap_or(0);
    let mut rows: Vec<(Map<String, Value>, u64)> = Vec::new();
    for (joint, &depth) in joints.iter().zip(&depths) {
        if depth <= cut {
            rows.push((branch(joint, depth), 0));
        } else if let Some(last) = rows.last_mut() {
            last.1 += 1;
        }
    }
    rows.truncate(SHOWN_JOINTS);
    let rows = rows.into_iter().map(|(mut row, below)| {
        let below = (below > 0).then(|| format!("+{below}"));
        row.insert("joints_below".into(), below.into());
        Value::Object(row)
    });
    let rows: Vec<Value> = rows.collect();
    let mut out = table(&rows, indent);
    let left = joints.len() - rows.len();
    if left > 0 {
        let pad = "  ".repeat(indent);
        let _ = writeln!(
            out,
            "{pad}... {left} more; --joint NAME lists the children of a joint, --json lists all"
        );
    }
    out
}

/// How many joints are above each; parents come first.
fn depths(joints: &[Value]) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(joints.len());
    for joint in joints {
        let parent = joint["parent"].as_u64();
        let parent = parent.and_then(|p| depths.get(usize::try_from(p).ok()?));
        depths.push(parent.map_or(0, |d| d + 1));
    }
    depths
}

/// A joint as a row of the tree.
fn branch(joint: &Value, depth: usize) -> Map<String, Value> {
    let mut row = joint.as_object().cloned().unwrap_or_default();
    row.shift_remove("parent");
    let name = joint["name"].as_str().unwrap_or_default();
    row.insert(
        "name".into(),
        format!("{}{name}", "  ".repeat(depth)).into(),
    );
    row
}

struct Column<'a> {
    key: &'a str,
    cells: Vec<String>,
    width: usize,
    is_number: bool,
}

impl<'a> Column<'a> {
    /// `None` if no row has a value.
    fn of(key: &'a str, rows: &[Value]) -> Option<Self> {
        let cells: Vec<String> = rows.iter().map(|r| cell(&r[key])).collect();
        let is_text = |r: &Value| r[key].is_string() || r[key].is_object();
        let widest = cells.iter().map(|c| c.chars().count()).max()?;
        cells.iter().any(|c| !c.is_empty()).then(|| Self {
            key,
            cells,
            width: widest.max(key.len()),
            is_number: !rows.iter().any(is_text),
        })
    }

    fn write(&self, line: &mut String, text: &str) {
        let (text, width) = (if text.is_empty() { "-" } else { text }, self.width);
        let _ = match self.is_number {
            true => write!(line, "{text:>width$}  "),
            false => write!(line, "{text:<width$}  "),
        };
    }
}

/// Columns with the keys as headings. Columns without any value are left out.
fn table(rows: &[Value], indent: usize) -> String {
    let keys = rows.first().and_then(Value::as_object);
    let keys = keys.into_iter().flat_map(Map::keys);
    let columns: Vec<Column<'_>> = keys.filter_map(|key| Column::of(key, rows)).collect();
    let mut out = String::new();
    let mut line = |text: &dyn Fn(&Column<'_>) -> String| {
        let mut line = "  ".repeat(indent);
        for column in &columns {
            column.write(&mut line, &text(column));
        }
        let _ = writeln!(out, "{}", line.trim_end());
    };
    line(&|column| column.key.to_owned());
    for row in 0..rows.len() {
        line(&|column| column.cells[row].clone());
    }
    out
}

/// A value in a cell; empty for none.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        // A name with line breaks stays in its line.
        Value::String(s) => s.replace(['\n', '\r'], " "),
        Value::Bool(b) => if *b { "yes" } else { "no" }.into(),
        Value::Number(n) if n.is_f64() => format!("{:.4}", n.as_f64().unwrap_or(0.0) + 0.0),
        // Components stand below each other.
        Value::Array(a) => a.iter().map(|v| format!("{:>9}", cell(v))).collect(),
        Value::Object(o) => {
            let pairs = o.iter().map(|(key, v)| format!("{key} {}", cell(v)));
            pairs.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}
