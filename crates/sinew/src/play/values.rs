//! Numbers for `values` inputs, from files or tables.

use super::PlayError;
use super::error::no_input;
use crate::graph::{InputDecl, InputType, Plan};
use crate::io::{ValueTable, read_values};
use std::path::Path;

/// Values of one values input for all frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// Index into the plan's inputs.
    input: usize,
    table: ValueTable,
    /// One row for all frames.
    constant: bool,
}

/// Error of values that do not match a plan.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValuesError {
    /// The plan has no values input with this name.
    #[error("{name}={origin}: {}", no_input("values input", .name, .known))]
    NoInput {
        /// The requested name.
        name: String,
        /// Source of the values.
        origin: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// Two tables for one input.
    #[error("{name}={origin}: '{name}' is given twice")]
    Twice {
        /// Name of the input.
        name: String,
        /// Source of the second table.
        origin: String,
    },
    /// Too many or too few values per row.
    #[error("input '{name}': {origin}: found {found} values per frame, expected {expected}")]
    Columns {
        /// Name of the input.
        name: String,
        /// Source of the values.
        origin: String,
        /// Values per row.
        found: usize,
        /// Values per frame, as declared.
        expected: usize,
    },
    /// Too few rows.
    #[error(
        "input '{name}': {origin}: found {found} rows, expected one for each frame from 0 to {last_frame}"
    )]
    Rows {
        /// Name of the input.
        name: String,
        /// Source of the values.
        origin: String,
        /// Number of rows.
        found: usize,
        /// Number of the last frame.
        last_frame: i64,
    },
    /// An input has no values.
    #[error("input '{name}' (values, count {count}) is not given")]
    Missing {
        /// Name of the input.
        name: String,
        /// Values per frame.
        count: usize,
    },
}

impl Values {
    /// Reads one `.json` or `.npy` file for each values input of the plan. `given` contains names and files,
    /// `last_frame` is the last frame number that is used. Otherwise as [`Self::of_table`].
    ///
    /// # Errors
    /// [`PlayError::Io`], [`PlayError::Values`].
    pub fn read_all(
        plan: &Plan,
        given: &[(&str, &Path)],
        last_frame: i64,
    ) -> Result<Vec<Self>, PlayError> {
        // A wrong name is the reason why another input has no values: it comes first.
        Self::check_names(plan, given)?;
        let mut out: Vec<Self> = Vec::new();
        for &(name, path) in given {
            let origin = path.display().to_string();
            let (input, decl) = find_input(plan, name, &origin)?;
            if out.iter().any(|v| v.input == input) {
                let name = name.to_owned();
                return Err(ValuesError::Twice { name, origin }.into());
            }
            let table = read_values(path)?;
            out.push(Self::fitted((input, decl), table, &origin, last_frame)?);
        }
        Self::check_complete(plan, &out)?;
        Ok(out)
    }

    /// Checks that the plan has a values input for each name in `given`, without reading a file.
    ///
    /// # Errors
    /// [`ValuesError::NoInput`] with the first unknown name.
    pub fn check_names(plan: &Plan, given: &[(&str, &Path)]) -> Result<(), ValuesError> {
        given.iter().try_for_each(|(name, path)| {
            find_input(plan, name, &path.display().to_string()).map(drop)
        })
    }

    /// Values for the values input `name`, up to frame `last_frame`. `origin` is their source, for messages.
    ///
    /// A list with the number of values of the input holds for all frames. Otherwise, row n is for frame n. For an
    /// input with one value, a plain list has one value per frame.
    ///
    /// # Errors
    /// [`ValuesError`], except those about several inputs.
    pub fn of_table(
        plan: &Plan,
        name: &str,
        table: ValueTable,
        origin: &str,
        last_frame: i64,
    ) -> Result<Self, ValuesError> {
        Self::fitted(find_input(plan, name, origin)?, table, origin, last_frame)
    }

    /// The same values in all frames.
    pub(super) fn of_all_frames(
        plan: &Plan,
        name: &str,
        values: &[f32],
    ) -> Result<Self, ValuesError> {
        let table = ValueTable {
            values: values.to_vec(),
            columns: values.len(),
            is_list: false,
        };
        let mut made = Self::of_table(plan, name, table, "values", 0)?;
        made.constant = true;
        Ok(made)
    }

    fn fitted(
        (input, decl): (usize, &InputDecl),
        mut table: ValueTable,
        origin: &str,
        last_frame: i64,
    ) -> Result<Self, ValuesError> {
        let constant = table.is_list && table.columns == decl.count;
        if table.is_list && decl.count == 1 {
            table.columns = 1;
        }
        let (name, origin) = (decl.name.clone(), origin.to_owned());
        if table.columns != decl.count {
            return Err(ValuesError::Columns {
                name,
                origin,
                found: table.columns,
                expected: decl.count,
            });
        }
        let found = table.rows();
        if !constant && i64::try_from(found).unwrap_or(i64::MAX) <= last_frame {
            return Err(ValuesError::Rows {
                name,
                origin,
                found,
                last_frame,
            });
        }
        Ok(Self {
            input,
            table,
            constant,
        })
    }

    /// Checks that every values input of the plan has values.
    ///
    /// # Errors
    /// [`ValuesError::Missing`] with the first input without values.
    pub(crate) fn check_complete(plan: &Plan, given: &[Self]) -> Result<(), ValuesError> {
        let lacks = |(input, _): &(usize, &InputDecl)| given.iter().all(|v| v.input != *input);
        match values_inputs(plan).find(lacks) {
            None => Ok(()),
            Some((_, decl)) => Err(ValuesError::Missing {
                name: decl.name.clone(),
                count: decl.count,
            }),
        }
    }

    /// Index into the plan's inputs.
    pub fn input(&self) -> usize {
        self.input
    }

    /// Values of a frame; empty if the table has no row for it.
    pub fn of_frame(&self, number: i64) -> &[f32] {
        let row = if self.constant { 0 } else { number };
        let row = usize::try_from(row).ok().and_then(|r| self.table.row(r));
        row.unwrap_or_default()
    }
}

fn values_inputs(plan: &Plan) -> impl Iterator<Item = (usize, &InputDecl)> {
    let all = plan.inputs().iter().enumerate();
    all.filter(|(_, input)| input.ty == InputType::Values)
}

fn find_input<'a>(
    plan: &'a Plan,
    name: &str,
    origin: &str,
) -> Result<(usize, &'a InputDecl), ValuesError> {
    let found = values_inputs(plan).find(|(_, input)| input.name == name);
    found.ok_or_else(|| ValuesError::NoInput {
        name: name.to_owned(),
        origin: origin.to_owned(),
        known: values_inputs(plan).map(|(_, i)| i.name.clone()).collect(),
    })
}
