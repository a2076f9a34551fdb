//! A kernel's text and the location of each byte: in a WGSL file or inside the document.

use crate::json::{Json, Kind};
use std::ops::Range;

/// The text of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Index of the reporter whose text holds it.
    pub(crate) reporter: usize,
    pub(crate) text: String,
    /// First byte of each run of bytes that stand as they are, and its place in the reporter's text; rising.
    runs: Vec<(usize, usize)>,
}

impl Source {
    /// A whole file.
    pub(crate) fn file(reporter: usize, text: &str) -> Self {
        Self {
            reporter,
            text: text.to_owned(),
            runs: vec![(0, 0)],
        }
    }

    /// One text or a list of lines in the document `document`; `None` where `json` is neither.
    pub(crate) fn inline(reporter: usize, document: &str, json: &Json) -> Option<Self> {
        let mut out = Self {
            reporter,
            text: String::new(),
            runs: Vec::new(),
        };
        let lines = match &json.kind {
            Kind::Text(_) => std::slice::from_ref(json),
            Kind::Array(lines) => lines,
            _ => return None,
        };
        for (index, line) in lines.iter().enumerate() {
            line.text()?;
            if index > 0 {
                // The end of a line stands where the line before ends.
                let end = lines[index - 1].span.end.saturating_sub(1);
                out.push(end, '\n');
            }
            out.literal(document, &line.span);
        }
        Some(out)
    }

    fn push(&mut self, place: usize, character: char) {
        self.runs.push((self.text.len(), place));
        self.text.push(character);
    }

    /// The characters of a JSON text, each with its place.
    fn literal(&mut self, document: &str, span: &Range<usize>) {
        let (first, end) = (span.start + 1, span.end.saturating_sub(1));
        let mut rest = document.get(first..end).unwrap_or_default();
        while let Some(character) = rest.chars().next() {
            let place = end - rest.len();
            let (decoded, length) = match character {
                '\\' => escape(rest),
                other => (other, other.len_utf8()),
            };
            self.push(place, decoded);
            rest = rest.get(length..).unwrap_or_default();
        }
    }

    fn place(&self, byte: usize) -> usize {
        let after = self.runs.partition_point(|(start, _)| *start <= byte);
        match self.runs.get(after.saturating_sub(1)) {
            Some((start, place)) => place + byte.saturating_sub(*start),
            None => 0,
        }
    }

    /// Where bytes of the kernel stand in the reporter's text.
    pub(crate) fn span(&self, bytes: &Range<usize>) -> Range<usize> {
        let start = self.place(bytes.start);
        start..self.place(bytes.end).max(start)
    }

    /// Bytes of a place that is given as line, column and length in characters, all counted as editors do.
    pub(crate) fn bytes_of(&self, line: usize, column: usize, length: usize) -> Range<usize> {
        let mut at = 0;
        for _ in 1..line {
            let rest = &self.text[at..];
            let Some(end) = rest.find(['\n', '\r']) else {
                break;
            };
            at += end
                + if rest[end..].starts_with("\r\n") {
                    2
                } else {
                    1
                };
        }
        let skip = |from: usize, characters: usize| {
            let mut rest = self.text[from..].char_indices();
            rest.nth(characters)
                .map_or(self.text.len(), |(i, _)| from + i)
        };
        let start = skip(at, column.saturating_sub(1));
        start..skip(start, length)
    }
}

/// The character that a JSON escape at the start of `text` stands for, and the bytes that it takes.
fn escape(text: &str) -> (char, usize) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 4)?;
        u32::from_str_radix(digits, 16).ok()
    };
    match text.as_bytes().get(1) {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'u') => match (unit(2), unit(8)) {
            (Some(high @ 0xd800..=0xdbff), Some(low @ 0xdc00..=0xdfff)) => {
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                (char::from_u32(code).unwrap_or('\u{fffd}'), 12)
            }
            (Some(code), _) => (char::from_u32(code).unwrap_or('\u{fffd}'), 6),
            _ => ('\u{fffd}', text.len().min(2)),
        },
        Some(&other) if other.is_ascii() => (other.into(), 2),
        _ => ('\\', 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Reporter, parse};

    fn inline(document: &str) -> Source {
        let mut reporter = Reporter::new("d.json", document);
        let json = parse(&mut reporter).expect("JSON");
        Source::inline(0, document, json.get("text").expect("a text")).expect("a kernel")
    }

    #[test]
    fn places_in_a_text_with_escapes() {
        let document = r#"{ "text": "a\tb\n\u00e4 \ud83d\ude00c" }"#;
        let source = inline(document);
        assert_eq!(source.text, "a\tb\n\u{e4} \u{1f600}c");
        let at = |word: &str| source.text.find(word).expect("there");
        let shown = |word: &str| {
            let start = at(word);
            &document[source.span(&(start..start + word.len()))]
        };
        assert_eq!(shown("b"), "b");
        assert_eq!(shown("c"), "c");
        assert_eq!(shown("\u{e4}"), r"\u00e4");
        assert_eq!(shown("\u{1f600}"), r"\ud83d\ude00");
    }

    #[test]
    fn places_in_a_list_of_lines() {
        let document = "{ \"text\": [\n  \"let a = 1;\",\n  \"let b = bad;\"\n] }";
        let source = inline(document);
        assert_eq!(source.text, "let a = 1;\nlet b = bad;");
        let bytes = source.bytes_of(2, 9, 3);
        assert_eq!(&source.text[bytes.clone()], "bad");
        assert_eq!(&document[source.span(&bytes)], "bad");
    }

    #[test]
    fn places_in_a_file() {
        let source = Source::file(0, "one\r\ntwo\rthr\u{e9}e four");
        let bytes = source.bytes_of(3, 7, 4);
        assert_eq!(&source.text[bytes.clone()], "four");
        assert_eq!(source.span(&bytes), bytes);
    }
}
