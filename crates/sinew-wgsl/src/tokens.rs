//! A small lexer for WGSL that finds every identifier exactly.
//!
//! It never fails and never panics for any bytes: an invalid character becomes [`TokenKind::Unknown`].
//! Comments and white space are not tokens; [`rename`] keeps them byte for byte.

use std::ops::Range;

use crate::classify;
use crate::templates;

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// An identifier that names a declaration: a variable, function, type or parameter. Renaming changes only these.
    Name,
    /// A keyword (`fn`, `let`, `true`).
    Keyword,
    /// A member: after `.`, or where a structure declares it. Never renamed.
    Member,
    /// The name of an attribute, after `@`. Never renamed.
    Attribute,
    /// A word with a special meaning in its context: `private` in `var<private>`, `position` in
    /// `@builtin(position)`, `f16` in `enable f16;`. Never renamed.
    ContextName,
    /// A number with its suffix.
    Number,
    /// One character of punctuation; `>=` is two tokens.
    Punctuation,
    /// `<` that opens a template list.
    TemplateOpen,
    /// `>` that closes a template list.
    TemplateClose,
    /// A block comment without end.
    UnterminatedComment,
    /// A character that WGSL does not allow.
    Unknown,
}

/// A token and the bytes it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Token {
    /// The bytes it covers.
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Its characters in `text`, which must be the text that it was made from; otherwise empty.
    pub fn text<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.span()).unwrap_or_default()
    }

    /// Whether it is this punctuation character, including template brackets.
    pub(crate) fn is(&self, text: &str, character: u8) -> bool {
        matches!(
            self.kind,
            TokenKind::Punctuation | TokenKind::TemplateOpen | TokenKind::TemplateClose
        ) && text.as_bytes().get(self.start) == Some(&character)
    }

    /// Whether it is this keyword.
    pub(crate) fn is_keyword(&self, text: &str, word: &str) -> bool {
        self.kind == TokenKind::Keyword && self.text(text) == word
    }
}

/// Keywords of WGSL.
pub(crate) const KEYWORDS: [&str; 26] = [
    "alias",
    "break",
    "case",
    "const",
    "const_assert",
    "continue",
    "continuing",
    "default",
    "diagnostic",
    "discard",
    "else",
    "enable",
    "false",
    "fn",
    "for",
    "if",
    "let",
    "loop",
    "override",
    "requires",
    "return",
    "struct",
    "switch",
    "true",
    "var",
    "while",
];

/// Splits a text into tokens, in order. Linear in the length of the text.
///
/// ```
/// use sinew_wgsl::tokens::{TokenKind, tokenize};
/// let text = "let p = q.xy; // q again";
/// let names: Vec<_> = tokenize(text)
///     .iter()
///     .filter(|t| t.kind == TokenKind::Name)
///     .map(|t| t.text(text))
///     .collect();
/// assert_eq!(names, ["p", "q"]);
/// ```
pub fn tokenize(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(start) = skip_blank(text, at) {
        let token = next(text, start);
        at = token.end;
        tokens.push(token);
    }
    templates::mark(text, &mut tokens);
    classify::mark(text, &mut tokens);
    tokens
}

/// Replaces names, token by token: calls `new_name` for each [`TokenKind::Name`] and uses the name that it returns, if any. Keeps
/// everything else byte for byte, including comments and blanks. Linear in the length of the text.
///
/// ```
/// use sinew_wgsl::tokens::rename;
/// let renamed = rename("p.p = p; // p", |name| (name == "p").then_some("k_p"));
/// assert_eq!(renamed, "k_p.p = k_p; // p");
/// ```
pub fn rename<'a>(text: &str, mut new_name: impl FnMut(&str) -> Option<&'a str>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for token in tokenize(text) {
        if token.kind != TokenKind::Name {
            continue;
        }
        if let Some(name) = new_name(token.text(text)) {
            out.push_str(&text[copied..token.start]);
            out.push_str(name);
            copied = token.end;
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// Whether `word` is an identifier and not a keyword.
pub(crate) fn is_name(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next().is_some_and(is_word_start)
        && characters.all(is_word_part)
        && word != "_"
        && !KEYWORDS.contains(&word)
}

/// First byte of the next token at or after `at`: neither blank nor in a comment. A comment without end is a token.
fn skip_blank(text: &str, mut at: usize) -> Option<usize> {
    loop {
        let rest = &text[at..];
        let c = rest.chars().next()?;
        if is_blank(c) {
            at += c.len_utf8();
        } else if rest.starts_with("//") {
            at += rest.find(is_line_break).unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            match comment_length(rest) {
                Some(length) => at += length,
                None => return Some(at),
            }
        } else {
            return Some(at);
        }
    }
}

/// Bytes of the block comment at the start of `rest`; comments nest.
fn comment_length(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(pair) = bytes.get(at..at + 2) {
        match pair {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The token that starts at `start`, where there is one.
fn next(text: &str, start: usize) -> Token {
    let rest = &text[start..];
    let bytes = rest.as_bytes();
    let c = rest.chars().next().unwrap_or('\0');
    let (kind, length) = if rest.starts_with("/*") {
        (TokenKind::UnterminatedComment, rest.len())
    } else if is_word_start(c) {
        let length = rest.find(|c| !is_word_part(c)).unwrap_or(rest.len());
        let kind = match &rest[..length] {
            // Alone it stands for no variable at all: `_ = f();`.
            "_" => TokenKind::Punctuation,
            word if KEYWORDS.contains(&word) => TokenKind::Keyword,
            _ => TokenKind::Name,
        };
        (kind, length)
    } else if c.is_ascii_digit() || (c == '.' && bytes.get(1).is_some_and(u8::is_ascii_digit)) {
        // A word that follows at once makes no right number, but no name of its own either.
        let length = number_length(bytes);
        let word = rest[length..].find(|c| !is_word_part(c));
        (TokenKind::Number, word.map_or(rest.len(), |w| length + w))
    } else if "(){}[]<>,;:.@=+-*/%&|^!~".contains(c) {
        (TokenKind::Punctuation, 1)
    } else {
        (TokenKind::Unknown, c.len_utf8())
    };
    Token {
        kind,
        start,
        end: start + length,
    }
}

/// Length of the number at the start of `bytes`.
fn number_length(bytes: &[u8]) -> usize {
    let hexadecimal = bytes.len() > 1 && bytes[0] == b'0' && bytes[1] | 0x20 == b'x';
    let digit = |b: u8| match hexadecimal {
        true => b.is_ascii_hexdigit(),
        false => b.is_ascii_digit(),
    };
    let run = |from: usize| from + bytes[from..].iter().take_while(|b| digit(**b)).count();
    let mut at = run(if hexadecimal { 2 } else { 0 });
    if bytes.get(at) == Some(&b'.') {
        at = run(at + 1);
    }
    at = exponent_end(bytes, at, if hexadecimal { b'p' } else { b'e' });
    match bytes.get(at) {
        Some(b'i' | b'u' | b'f' | b'h') => at + 1,
        _ => at,
    }
}

/// Where an exponent at `at` ends; `at` where there is none.
fn exponent_end(bytes: &[u8], at: usize, letter: u8) -> usize {
    if bytes.get(at).is_none_or(|b| b | 0x20 != letter) {
        return at;
    }
    let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
    let first = at + 1 + sign;
    let digits = bytes.get(first..).map_or(0, |rest| {
        rest.iter().take_while(|b| b.is_ascii_digit()).count()
    });
    if digits == 0 { at } else { first + digits }
}

fn is_word_start(c: char) -> bool {
    c == '_' || unicode_ident::is_xid_start(c)
}

fn is_word_part(c: char) -> bool {
    unicode_ident::is_xid_continue(c)
}

/// Unicode's `Pattern_White_Space`, as WGSL says.
fn is_blank(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t'..='\r' | '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
    )
}

/// What ends a line comment.
fn is_line_break(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
