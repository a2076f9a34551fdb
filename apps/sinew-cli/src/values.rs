//! Numbers for `values` inputs, from files.

use crate::exit::{Failure, Outcome};
use sinew::graph::{InputType, Plan};
use sinew::io::{ValueTable, read_values};
use std::path::Path;

/// What one input gets.
pub(crate) struct Values {
    /// Index into the plan's inputs.
    pub(crate) input: usize,
    table: ValueTable,
    constant: bool,
}

impl Values {
    /// The numbers of a frame. [`read_all`] has made sure that there are some.
    pub(crate) fn of_frame(&self, number: i64) -> &[f32] {
        let row = if self.constant { 0 } else { number };
        let row = usize::try_from(row).ok().and_then(|r| self.table.row(r));
        row.unwrap_or_default()
    }
}

/// Reads what `--values NAME=FILE` names, for all frames; each values input needs one.
pub(crate) fn read_all(plan: &Plan, given: &[String], frames: &[i64]) -> Outcome<Vec<Values>> {
    let inputs = || {
        let all = plan.inputs().iter().enumerate();
        all.filter(|i| i.1.ty == InputType::Values)
    };
    let mut out: Vec<Values> = Vec::new();
    for argument in given {
        let (name, file) = argument
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("--values {argument}: expected NAME=FILE")))?;
        let Some((input, decl)) = inputs().find(|i| i.1.name == name) else {
            let known: Vec<&str> = inputs().map(|i| i.1.name.as_str()).collect();
            return Err(Failure::usage(format!(
                "--values {argument}: the graph has no values input '{name}'; it has {}",
                if known.is_empty() {
                    "none".into()
                } else {
                    known.join(", ")
                }
            )));
        };
        if out.iter().any(|v| v.input == input) {
            let message = format!("--values {argument}: '{name}' is given twice");
            return Err(Failure::usage(message));
        }
        let table = read_values(Path::new(file)).map_err(Failure::input)?;
        out.push(
            fitted(input, decl.count, table, frames)
                .map_err(|why| Failure::bind(format!("input '{name}': {file}: {why}")))?,
        );
    }
    match inputs().find(|(i, _)| out.iter().all(|v| v.input != *i)) {
        Some((_, decl)) => Err(Failure::usage(format!(
            "input '{0}' (values, count {1}) is not given; add --values {0}=FILE (.json or .npy)",
            decl.name, decl.count
        ))),
        None => Ok(out),
    }
}

/// A list of `count` numbers holds for all frames; otherwise row n is for frame n. Where one number is wanted, a
/// plain list of several is one a frame.
fn fitted(
    input: usize,
    count: usize,
    mut table: ValueTable,
    frames: &[i64],
) -> Result<Values, String> {
    let constant = table.is_list && table.columns == count;
    if table.is_list && count == 1 {
        table.columns = 1;
    }
    if table.columns != count {
        let found = table.columns;
        return Err(format!("found {found} values a frame, expected {count}"));
    }
    let last = frames.iter().copied().max().unwrap_or(0);
    let rows = i64::try_from(table.rows()).unwrap_or(i64::MAX);
    if !constant && rows <= last {
        return Err(format!(
            "found {rows} rows, expected one for each frame from 0 to {last}"
        ));
    }
    Ok(Values {
        input,
        table,
        constant,
    })
}
