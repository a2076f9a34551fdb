//! A problem of a module, and its message. Locations and names are still those of the whole module.

use std::ops::Range;

use crate::source_map::Origin;
use crate::tokens::{Token, TokenKind, tokenize};

/// A problem of the module.
#[derive(Debug, Default)]
pub(crate) struct Finding {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// Bytes of the module, the most telling first.
    pub(crate) spans: Vec<Range<usize>>,
    /// The place, where it is known without `spans`.
    pub(crate) origin: Option<Origin>,
    /// A name that nothing has.
    pub(crate) unknown: Option<String>,
    /// The function whose signature would help.
    pub(crate) callee: Option<String>,
    /// The condition that differs between threads.
    pub(crate) condition: Option<Range<usize>>,
}

/// The function in whose argument list the byte stands.
pub(crate) fn enclosing_call(text: &str, byte: usize) -> Option<String> {
    let mut open = Vec::new();
    let mut before: Option<Token> = None;
    for token in tokenize(text).into_iter().take_while(|t| t.start < byte) {
        match (token.kind, token.text(text)) {
            (TokenKind::Punctuation, "(" | "[" | "{") => open.push(before),
            (TokenKind::Punctuation, ")" | "]" | "}") => {
                open.pop();
            }
            _ => {}
        }
        before = Some(token);
    }
    let name = open.pop()??;
    (name.kind == TokenKind::Name).then(|| name.text(text).to_owned())
}

/// A type in backquotes; numbers without a type of their own in words.
pub(crate) fn typed(name: &str) -> String {
    match name {
        "{AbstractFloat}" => "a number with a fraction".to_owned(),
        "{AbstractInt}" => "an integer".to_owned(),
        _ => format!("`{}`", plain(name)),
    }
}

/// Without naga's words for numbers whose type is still open.
pub(crate) fn plain(message: &str) -> String {
    message
        .replace("{AbstractFloat}", "float")
        .replace("{AbstractInt}", "int")
}

const NO_ELEMENTS: &str = "this value has no elements or members";
const NO_FIT: &str = "the types of these operands do not match";

/// How some messages of naga begin, and what we say instead.
const PLAINER: [(&str, &str); 11] = [
    ("Invalid access into expression", NO_ELEMENTS),
    ("Invalid sub-access into type", NO_ELEMENTS),
    ("Cannot access the type", NO_ELEMENTS),
    ("Cannot access at the index", NO_ELEMENTS),
    ("Incompatible operands: ", NO_FIT),
    ("Cannot apply the binary op to the arguments", NO_FIT),
    (
        "Cannot apply the unary op to the argument",
        "the operator does not accept this type",
    ),
    (
        "expected LHS expression",
        "expected something that can be assigned to",
    ),
    ("unexpected components", "there are too many components"),
    (
        "Unexpected runtime-expression",
        "this is not a constant expression; use `let`",
    ),
    (
        "this operation is not supported in a const context",
        "this is not a constant expression; use `let`",
    ),
];

/// A message of naga in our words or our style.
pub(crate) fn smoothed(message: &str) -> String {
    match PLAINER.iter().find(|(begin, _)| message.starts_with(begin)) {
        Some((_, plainer)) => (*plainer).to_owned(),
        None => without_handles(&plain(&decapitalized(message))),
    }
}

/// Without naga's numbers of expressions and types (`[12]`, `Some([3])`).
fn without_handles(message: &str) -> String {
    let is_handle = |word: &str| {
        let inner = word
            .trim_start_matches("Some(")
            .trim_end_matches([')', ',', '.'])
            .strip_prefix('[')
            .and_then(|w| w.strip_suffix(']'));
        inner.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
    };
    let words: Vec<&str> = message.split(' ').filter(|w| !is_handle(w)).collect();
    words.join(" ")
}

/// The last token that ends at or before a byte.
pub(crate) fn token_before(text: &str, byte: usize) -> Option<Token> {
    tokenize(text).into_iter().rev().find(|t| t.end <= byte)
}

/// Like all our messages, without a capital at the start.
pub(crate) fn decapitalized(message: &str) -> String {
    let mut characters = message.chars();
    match characters.next() {
        Some(first) if characters.clone().next().is_some_and(char::is_lowercase) => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => message.to_owned(),
    }
}

/// Bytes of each argument of the call that starts at `start` (the function's name, or a template list behind it).
pub(crate) fn arguments(text: &str, start: usize) -> Vec<Range<usize>> {
    let Some(rest) = text.get(start..) else {
        return Vec::new();
    };
    // A call is short; a module may be long.
    let rest = &rest[..rest.find(';').unwrap_or(rest.len())];
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut depth = 0_usize;
    let mut fresh = true;
    for token in tokenize(rest) {
        let word = token.text(rest);
        let inside = depth > 0;
        match (token.kind, word) {
            (TokenKind::Punctuation, "(" | "[" | "{") => depth += 1,
            (TokenKind::Punctuation, ")" | "]" | "}") => depth = depth.saturating_sub(1),
            (TokenKind::TemplateOpen, _) if inside => depth += 1,
            (TokenKind::TemplateClose, _) if inside => depth -= 1,
            _ => {}
        }
        if inside && depth == 0 {
            break;
        }
        if depth == 1 && word == "," && token.kind == TokenKind::Punctuation {
            fresh = true;
        } else if inside {
            let span = start + token.start..start + token.end;
            match out.last_mut() {
                Some(last) if !fresh => last.end = span.end,
                _ => out.push(span),
            }
            fresh = false;
        }
    }
    out
}
