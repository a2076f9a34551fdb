//! Problems in a document, each with its location.

pub(crate) use sinew_deform::names::instead_of;
pub(crate) use sinew_deform::{closest, listed};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The graph cannot run.
    Error,
    /// The graph runs, but something is likely a mistake.
    Warning,
}

/// One problem.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Stable short name for programs, for example `unknown_node`.
    pub code: &'static str,
    /// What was found.
    pub message: String,
    /// Text to print below the underlined part of the document.
    pub label: String,
    /// What was expected, or what to do.
    pub help: Option<String>,
    /// Name of the document.
    pub file: Arc<str>,
    /// Text of the document.
    pub text: Arc<str>,
    /// Bytes of `text` to underline.
    pub span: Range<usize>,
    /// Lines of `text`.
    pub(crate) lines: Arc<Lines>,
}

/// A location in a text. Lines and columns start at 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Diagnostic {
    /// Location where the underlined text starts.
    pub fn location(&self) -> LineColumn {
        self.lines.location(&self.text, self.span.start)
    }
}

impl LineColumn {
    /// The byte at this location, if the text has it.
    pub(crate) fn byte(self, text: &str) -> Option<usize> {
        let mut starts = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1));
        let start = starts.nth(self.line.checked_sub(1)?)?;
        let mut chars = text[start..].char_indices();
        let (column, c) = chars.nth(self.column.checked_sub(1)?)?;
        let same_line = !text[start..start + column].contains('\n') && c != '\n';
        same_line.then_some(start + column)
    }
}

/// Finds locations in a text in constant time each, even for many locations in one long line.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// Line and column, from zero, of every [`Self::STEP`]th byte.
    marks: OnceLock<Vec<(u32, u32)>>,
}

impl Lines {
    const STEP: usize = 512;

    /// Location of a byte of the text. Every call must pass the same text.
    pub(crate) fn location(&self, text: &str, byte: usize) -> LineColumn {
        let mut at = byte.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let advance = |(line, column): (u32, u32), byte: &u8| match byte {
            b'\n' => (line + 1, 0),
            // Within a character.
            0x80..0xc0 => (line, column),
            _ => (line, column + 1),
        };
        let bytes = text.as_bytes();
        let marks = self.marks.get_or_init(|| {
            let mut here = (0, 0);
            let chunks = bytes.chunks(Self::STEP);
            let ends = chunks.map(|chunk| {
                here = chunk.iter().fold(here, advance);
                here
            });
            std::iter::once((0, 0)).chain(ends).collect()
        });
        let mark = at / Self::STEP;
        let (line, column) = bytes[mark * Self::STEP..at]
            .iter()
            .fold(marks[mark], advance);
        LineColumn {
            line: line as usize + 1,
            column: column as usize + 1,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = self.location();
        write!(f, "{}:{}:{}: {}", self.file, p.line, p.column, self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

/// All problems of a document, at least one.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines and columns by counting, at every character of a text that has several marks within one line and between characters.
    #[test]
    fn places_are_found_from_the_nearest_mark() {
        let long = "aé\u{1f9ff}b".repeat(400);
        let text = format!("first\n{long}\nä\n\n{long}");
        let lines = Lines::default();
        let (mut line, mut column) = (1, 1);
        for (byte, c) in text.char_indices() {
            let location = LineColumn { line, column };
            assert_eq!(lines.location(&text, byte), location, "byte {byte}");
            let there = (c != '\n').then_some(byte);
            assert_eq!(location.byte(&text), there, "byte {byte}");
            // Within a character it is the place of the character.
            assert_eq!(lines.location(&text, byte + c.len_utf8() - 1), location);
            (line, column) = if c == '\n' {
                (line + 1, 1)
            } else {
                (line, column + 1)
            };
        }
        let end = LineColumn { line, column };
        assert_eq!(lines.location(&text, text.len() + 7), end);
        for nowhere in [(0, 1), (1, 0), (1, 7), (6, 1), (9, 1)] {
            let (line, column) = nowhere;
            assert_eq!(LineColumn { line, column }.byte(&text), None, "{nowhere:?}");
        }
    }
}
