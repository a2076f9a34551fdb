//! Errors of kernels, with locations.

use std::fmt;
use std::ops::Range;

/// Maximum number of characters of a source line in a message.
const SHOWN: usize = 120;

/// A location in a text. Lines and columns start at 1; columns count characters of any width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// Line, from 1. `\n`, `\r\n` and a lone `\r` end lines.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl LineColumn {
    /// Location of a byte. A byte inside a character gives the character, a byte after the end gives the end. Linear in `byte`.
    pub fn of(text: &str, byte: usize) -> Self {
        let before = &text[..floor_boundary(text, byte)];
        let start = line_start(before);
        Self {
            line: 1 + line_breaks(&before[..start]),
            column: 1 + before[start..].chars().count(),
        }
    }
}

/// One problem of a kernel, located in the text that its author wrote.
///
/// [`fmt::Display`] formats it as rustc does, over several lines without a final line break.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct KernelError {
    /// Name of the text, as given to [`Snippet::parse`](crate::Snippet::parse).
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Number of characters to underline: at least one, and not beyond the end of the line.
    pub length: usize,
    /// What was found.
    pub message: String,
    /// What was expected, or what to do.
    pub help: Option<String>,
    /// The line of text, without its line break.
    pub source_line: String,
}

impl KernelError {
    /// An error at the bytes `span` of `text`.
    pub(crate) fn at(file: &str, text: &str, span: Range<usize>, message: String) -> Self {
        let start = floor_boundary(text, span.start);
        let from = line_start(&text[..start]);
        let to = start
            + text[start..]
                .find(['\n', '\r'])
                .unwrap_or(text.len() - start);
        let end = floor_boundary(text, span.end).clamp(start, to);
        let place = LineColumn::of(text, start);
        Self {
            file: file.to_owned(),
            line: place.line,
            column: place.column,
            length: text[start..end].chars().count().max(1),
            message,
            help: None,
            source_line: text[from..to].to_owned(),
        }
    }

    /// The error in one line: `file:line:column: message; help`.
    pub fn one_line(&self) -> String {
        let Self {
            file,
            line,
            column,
            message,
            ..
        } = self;
        match &self.help {
            Some(help) => format!("{file}:{line}:{column}: {message}; {help}"),
            None => format!("{file}:{line}:{column}: {message}"),
        }
    }

    /// The part of the line to show, and the number of its characters before the location.
    fn excerpt(&self) -> (String, String) {
        let before = self.column - 1;
        let skipped = match before + self.length > SHOWN {
            true => before.saturating_sub(SHOWN / 4),
            false => 0,
        };
        let shown: String = self.source_line.chars().skip(skipped).take(SHOWN).collect();
        // Tabs stay tabs so that the underline stands right at any width.
        let mut under: String = shown
            .chars()
            .take(before - skipped)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        under.push_str(&"^".repeat(self.length.min(SHOWN)));
        (shown, under)
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let gap = " ".repeat(number.len());
        let (shown, under) = self.excerpt();
        writeln!(f, "error: {}", self.message)?;
        writeln!(f, "{gap}--> {}:{}:{}", self.file, self.line, self.column)?;
        writeln!(f, "{gap} |")?;
        writeln!(f, "{number} | {shown}")?;
        write!(f, "{gap} | {under}")?;
        match &self.help {
            Some(help) => write!(f, "\n{gap} = help: {help}"),
            None => Ok(()),
        }
    }
}

/// All errors found, at least one. Errors of one text are in the order of their locations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelErrors(pub Vec<KernelError>);

impl From<KernelError> for KernelErrors {
    fn from(error: KernelError) -> Self {
        Self(vec![error])
    }
}

impl fmt::Display for KernelErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                write!(f, "\n\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for KernelErrors {}

fn floor_boundary(text: &str, byte: usize) -> usize {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// First byte of the line on which `before` ends.
fn line_start(before: &str) -> usize {
    before.rfind(['\n', '\r']).map_or(0, |i| i + 1)
}

fn line_breaks(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ends = |i: &usize| match bytes[*i] {
        b'\n' => true,
        b'\r' => bytes.get(i + 1) != Some(&b'\n'),
        _ => false,
    };
    (0..bytes.len()).filter(ends).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_all_line_ends() {
        let place = |text: &str, byte| {
            let p = LineColumn::of(text, byte);
            (p.line, p.column)
        };
        assert_eq!(place("", 0), (1, 1));
        assert_eq!(place("a\nb", 2), (2, 1));
        assert_eq!(place("a\r\nb", 3), (2, 1));
        assert_eq!(place("a\rb", 2), (2, 1));
        assert_eq!(place("\tä€x", 6), (1, 4));
        assert_eq!(place("ä", 1), (1, 1));
        assert_eq!(place("ab", 99), (1, 3));
    }

    #[test]
    fn display_underlines_with_tabs_kept() {
        let text = "let a = 1;\n\tlet ä = bad; // x\n";
        let start = text.find("bad").unwrap();
        let mut error = KernelError::at("k.wgsl", text, start..start + 3, "wrong".to_owned());
        error.help = Some("do right".to_owned());
        assert_eq!(
            error.to_string(),
            "error: wrong\n --> k.wgsl:2:10\n  |\n2 | \tlet ä = bad; // x\n  | \t        ^^^\n  = help: do right"
        );
        assert_eq!(error.one_line(), "k.wgsl:2:10: wrong; do right");
    }

    #[test]
    fn long_lines_are_cut() {
        let text = format!("{}bad{}", "x ".repeat(5000), " y".repeat(5000));
        let error = KernelError::at("k", &text, 10_000..10_003, "m".to_owned());
        let shown = error.to_string();
        assert!(shown.len() < 500, "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        let at = lines[4].find('^').unwrap();
        assert_eq!(&lines[3][at..at + 3], "bad");
    }
}
