//! Reads JSON token by token. A syntax tree in between would take more memory than the values.

use super::{Json, Kind, Member, Reporter};
use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Larger documents are refused: a graph is small, but a wrong file may be large.
const MAX_BYTES: usize = 64 << 20;
/// Levels of nested lists and objects, at most.
const MAX_DEPTH: usize = 512;
const HELP: &str = "comments and trailing commas are allowed, everything else is JSON";

/// Reads a document and reports its problems. `None` if it is not JSON.
pub(crate) fn parse(reporter: &mut Reporter) -> Option<Json> {
    let text: Arc<str> = reporter.text.clone();
    if text.len() > MAX_BYTES {
        let message = format!(
            "the document has {} bytes; Sinew reads at most {MAX_BYTES}",
            text.len()
        );
        let help = "check that this file is a graph document";
        reporter.error("too_large", &(0..0), message, help);
        return None;
    }
    let options = ScannerOptions {
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let mut parser = Parser {
        scanner: Scanner::new(&text, &options),
        reporter,
        depth: 0,
    };
    let (message, span, help) = match parser.document() {
        Ok(Some(json)) => return Some(json),
        Ok(None) => (
            "the document is empty".into(),
            0..0,
            "`sinew init` writes a starter graph",
        ),
        Err(fault) => (
            format!("this is not JSON: {}", fault.message),
            fault.span,
            HELP,
        ),
    };
    // At least one whole character.
    let start = text.floor_char_boundary(span.start);
    let end = text.ceil_char_boundary(span.end.max(start + 1));
    let span = start..end;
    reporter.error("syntax", &span, message, help);
    None
}

/// Where a text is not JSON, and why.
struct Fault {
    span: Range<usize>,
    message: String,
}

/// Located at the bracket that opens it: the end of a text shows nothing.
fn unclosed(span: Range<usize>, message: &str) -> Fault {
    Fault {
        span,
        message: message.into(),
    }
}

struct Parser<'a, 'r> {
    scanner: Scanner<'a>,
    reporter: &'r mut Reporter,
    depth: usize,
}

impl<'a> Parser<'a, '_> {
    fn document(&mut self) -> Result<Option<Json>, Fault> {
        let Some(first) = self.next()? else {
            return Ok(None);
        };
        let json = self.value(first)?;
        match self.next()? {
            None => Ok(Some(json)),
            Some(_) => Err(self.fault("expected the end of the document")),
        }
    }

    /// The next token that is not a comment.
    fn next(&mut self) -> Result<Option<Token<'a>>, Fault> {
        loop {
            match self.scanner.scan() {
                Ok(Some(Token::CommentLine(_) | Token::CommentBlock(_))) => {}
                Ok(token) => return Ok(token),
                Err(error) => {
                    let (range, kind) = (error.range(), error.kind().to_string());
                    let mut kind = kind.chars();
                    let first = kind.next().map(|c| c.to_ascii_lowercase());
                    return Err(Fault {
                        span: range.start..range.end,
                        message: first.into_iter().chain(kind).collect(),
                    });
                }
            }
        }
    }

    /// The span of the last token.
    fn span(&self) -> Range<usize> {
        self.scanner.token_start()..self.scanner.token_end()
    }

    fn fault(&self, message: &str) -> Fault {
        Fault {
            span: self.span(),
            message: message.into(),
        }
    }

    /// The value that begins with this token.
    fn value(&mut self, first: Token<'a>) -> Result<Json, Fault> {
        let start = self.scanner.token_start();
        let kind = match first {
            Token::Null => Kind::Null,
            Token::Boolean(value) => Kind::Bool(value),
            Token::String(text) => Kind::Text(text.into()),
            Token::Number(text) => Kind::Number(self.number(text)),
            Token::OpenBracket => self.within(Self::array)?,
            Token::OpenBrace => self.within(Self::object)?,
            Token::CloseBrace
            | Token::CloseBracket
            | Token::Comma
            | Token::Colon
            | Token::Word(_)
            | Token::CommentLine(_)
            | Token::CommentBlock(_) => return Err(self.fault("expected a value")),
        };
        let span = start..self.scanner.token_end();
        Ok(Json { span, kind })
    }

    fn number(&mut self, text: &str) -> f64 {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => value,
            _ => {
                let message = format!("{text} is not a finite number");
                let span = self.span();
                let help = "expected a number between -1.7e308 and 1.7e308";
                self.reporter.error("number", &span, message, help);
                0.0
            }
        }
    }

    /// Reads a list or an object, which may hold others.
    fn within(&mut self, read: fn(&mut Self) -> Result<Kind, Fault>) -> Result<Kind, Fault> {
        if self.depth == MAX_DEPTH {
            let message = format!("lists and objects are nested more than {MAX_DEPTH} levels deep");
            return Err(self.fault(&message));
        }
        self.depth += 1;
        let kind = read(self)?;
        self.depth -= 1;
        Ok(kind)
    }

    /// The rest of a list after its `[`.
    fn array(&mut self) -> Result<Kind, Fault> {
        let open = self.span();
        let mut elements = Vec::new();
        loop {
            match self.next()? {
                Some(Token::CloseBracket) => break,
                Some(first) => elements.push(self.value(first)?),
                None => return Err(unclosed(open, "the list has no closing ']'")),
            }
            match self.next()? {
                Some(Token::Comma) => {}
                Some(Token::CloseBracket) => break,
                Some(_) => return Err(self.fault("expected ',' or ']'")),
                None => return Err(unclosed(open, "the list has no closing ']'")),
            }
        }
        Ok(Kind::Array(elements.into()))
    }

    /// The rest of an object after its `{`.
    fn object(&mut self) -> Result<Kind, Fault> {
        let open = self.span();
        let mut members: Vec<Member> = Vec::new();
        let mut seen = HashSet::new();
        loop {
            match self.next()? {
                Some(Token::CloseBrace) => break,
                Some(Token::String(key)) => {
                    let key_span = self.span();
                    match self.next()? {
                        Some(Token::Colon) => {}
                        _ => return Err(self.fault("expected ':'")),
                    }
                    let Some(first) = self.next()? else {
                        return Err(unclosed(open, "the object has no closing '}'"));
                    };
                    let value = self.value(first)?;
                    if seen.contains(&key) {
                        self.reporter.error(
                            "duplicate_key",
                            &key_span,
                            format!("the key '{key}' appears twice in this object"),
                            "remove one of the two",
                        );
                    } else {
                        members.push(Member {
                            key: key.clone().into_owned(),
                            key_span,
                            value,
                        });
                        seen.insert(key);
                    }
                }
                Some(_) => return Err(self.fault("expected a key in quotes")),
                None => return Err(unclosed(open, "the object has no closing '}'")),
            }
            match self.next()? {
                Some(Token::Comma) => {}
                Some(Token::CloseBrace) => break,
                Some(_) => return Err(self.fault("expected ',' or '}'")),
                None => return Err(unclosed(open, "the object has no closing '}'")),
            }
        }
        Ok(Kind::Object(members.into()))
    }
}
