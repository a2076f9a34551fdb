//! Problems in a document, each with its place.

pub(crate) use sinew_deform::{closest, listed};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The graph cannot run.
    Error,
    /// The graph runs; something is likely not meant.
    Warning,
}

/// One problem.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Stable short name, for machines (`unknown_node`).
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What stands under the underlined text.
    pub label: String,
    /// What would be right.
    pub help: Option<String>,
    /// How the document is called.
    pub file: Arc<str>,
    /// The document's text.
    pub text: Arc<str>,
    /// Bytes of `text` to underline.
    pub span: Range<usize>,
}

/// A place in a text, counted from one; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

impl Diagnostic {
    /// Where the underlined text starts.
    pub fn place(&self) -> LineColumn {
        LineColumn::of(&self.text, self.span.start)
    }
}

impl LineColumn {
    /// Place of a byte.
    pub(crate) fn of(text: &str, byte: usize) -> Self {
        let mut at = byte.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &text[..at];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = self.place();
        write!(f, "{}:{}:{}: {}", self.file, p.line, p.column, self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

/// All problems found in one go; at least one.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.0.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{d}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
