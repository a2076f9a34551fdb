//! From bytes of a put-together module back to the texts it was made of.

use std::ops::Range;

/// Bytes of the output and where they come from.
#[derive(Clone, Debug)]
struct Segment {
    output: usize,
    piece: usize,
    source: Range<usize>,
    /// Copied byte for byte; otherwise the output stands for the source as a whole.
    verbatim: bool,
}

/// A place in one of the pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) piece: usize,
    pub(crate) span: Range<usize>,
}

/// The text of a module and where its bytes come from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Output {
    pub(crate) text: String,
    segments: Vec<Segment>,
}

impl Output {
    /// Adds bytes of a piece as they are.
    pub(crate) fn copy(&mut self, piece: usize, text: &str, source: Range<usize>) {
        if source.is_empty() {
            return;
        }
        self.begin(piece, source.clone(), true);
        self.text.push_str(&text[source]);
    }

    /// Adds a text that stands for bytes of a piece.
    pub(crate) fn replace(&mut self, piece: usize, source: Range<usize>, with: &str) {
        if with.is_empty() {
            return;
        }
        self.begin(piece, source, false);
        self.text.push_str(with);
    }

    fn begin(&mut self, piece: usize, source: Range<usize>, verbatim: bool) {
        self.segments.push(Segment {
            output: self.text.len(),
            piece,
            source,
            verbatim,
        });
    }

    /// Where bytes of the output come from; nothing where the output is empty there.
    pub(crate) fn origin(&self, span: &Range<usize>) -> Option<Origin> {
        let first = self.segment(span.start)?;
        let last = self.segment(span.end.saturating_sub(1).max(span.start))?;
        let start = match first.verbatim {
            true => first.source.start + (span.start - first.output),
            false => first.source.start,
        };
        let end = match (last.piece == first.piece, last.verbatim) {
            (true, true) => last.source.start + span.end.saturating_sub(last.output),
            (true, false) => last.source.end,
            (false, _) => first.source.end,
        };
        Some(Origin {
            piece: first.piece,
            span: start..end.max(start),
        })
    }

    fn segment(&self, byte: usize) -> Option<&Segment> {
        let behind = self.segments.partition_point(|s| s.output <= byte);
        self.segments.get(behind.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_again() {
        let mut out = Output::default();
        assert_eq!(out.origin(&(0..1)), None);
        out.copy(0, "abc = ", 0..6);
        out.replace(1, 2..5, "long_name");
        out.copy(1, "..xyz..;", 5..8);
        assert_eq!(out.text, "abc = long_name..;");
        let origin = |span| {
            let o = out.origin(&span).unwrap();
            (o.piece, o.span)
        };
        assert_eq!(origin(0..3), (0, 0..3));
        assert_eq!(origin(6..15), (1, 2..5));
        assert_eq!(origin(8..10), (1, 2..5));
        assert_eq!(origin(6..16), (1, 2..6));
        assert_eq!(origin(16..17), (1, 6..7));
        assert_eq!(origin(0..16), (0, 0..6));
        assert_eq!(origin(99..100), (1, 89..90));
    }
}
