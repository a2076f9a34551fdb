//! What naga's front end says, put into plainer words. Places and names are still those of the whole module.

use std::ops::Range;

use naga::front::wgsl::ParseError;

use crate::tokens::{Token, TokenKind, tokenize};

/// A problem of the module.
#[derive(Debug, Default)]
pub(crate) struct Finding {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// Bytes of the module, the most telling first.
    pub(crate) spans: Vec<Range<usize>>,
    /// A name that nothing has.
    pub(crate) unknown: Option<String>,
    /// The function whose signature would help.
    pub(crate) callee: Option<String>,
    /// Another place that has to do with it.
    pub(crate) related: Option<Related>,
}

/// Another place that a message names.
#[derive(Debug)]
pub(crate) struct Related {
    /// Bytes of the module.
    pub(crate) span: Range<usize>,
    /// What it is; the line follows.
    pub(crate) what: &'static str,
}

/// What the front end found.
pub(crate) fn of_parse_error(text: &str, error: &ParseError) -> Finding {
    let spans: Vec<Range<usize>> = error
        .labels()
        .filter_map(|(span, _)| span.to_range())
        .collect();
    let message = error.message();
    if let Some(name) = between(message, "no definition in scope for identifier: `", "`") {
        return unknown_name(text, name, spans);
    }
    if let Some(found) = between(message, "expected `;`, found ", "") {
        return missing_semicolon(text, found, spans);
    }
    if message.starts_with("expected assignment or increment/decrement, found ") {
        return no_statement(text, spans);
    }
    if message.starts_with("automatic conversions cannot convert") {
        return conversion(text, error, spans);
    }
    let notes = notes(error);
    Finding {
        message: plain(&decapitalized(message)),
        help: (!notes.is_empty()).then(|| plain(&notes)),
        // Calls of built-in functions: the argument tells more than the name of the function.
        spans: match message.contains("passed as argument") && spans.len() > 1 {
            true => spans.into_iter().skip(1).collect(),
            false => spans,
        },
        ..Finding::default()
    }
}

fn unknown_name(text: &str, name: &str, spans: Vec<Range<usize>>) -> Finding {
    let called = spans
        .first()
        .and_then(|s| text.get(s.end..))
        .is_some_and(|rest| rest.trim_start().starts_with('('));
    let what = if called { "function" } else { "name" };
    Finding {
        message: format!("unknown {what} `{name}`"),
        unknown: Some(name.to_owned()),
        spans,
        ..Finding::default()
    }
}

fn missing_semicolon(text: &str, found: &str, spans: Vec<Range<usize>>) -> Finding {
    let found = found.trim_matches('"');
    // Shown where it should stand: behind the token before.
    let before = spans.first().and_then(|s| token_before(text, s.start));
    let Some(last) = before else {
        return Finding {
            message: format!("expected `;`, found `{found}`"),
            spans,
            ..Finding::default()
        };
    };
    let mut all = vec![last.span()];
    all.extend(spans);
    Finding {
        message: format!("expected `;` behind `{}`", last.text(text)),
        spans: all,
        ..Finding::default()
    }
}

/// A statement that is none: often `float3 p = …`, as other languages have it.
fn no_statement(text: &str, spans: Vec<Range<usize>>) -> Finding {
    let before = spans.first().and_then(|s| token_before(text, s.start));
    let name = spans.first().and_then(|s| text.get(s.clone()));
    let (Some(before), Some(name)) = (before, name) else {
        return Finding {
            message: "this is no statement".to_owned(),
            spans,
            ..Finding::default()
        };
    };
    let word = before.text(text);
    let declares = matches!(before.kind, TokenKind::Name | TokenKind::TemplateClose)
        && name.starts_with(|c: char| c.is_alphabetic());
    let kind = crate::words::foreign(word).unwrap_or(word);
    let mut all = vec![before.span()];
    all.extend(spans.iter().cloned());
    Finding {
        message: format!("expected an assignment or a call, found `{word} {name}`"),
        help: declares.then(|| match before.kind {
            TokenKind::Name => format!("WGSL declares variables as `let {name}: {kind} = …;`"),
            _ => format!("WGSL declares variables as `let {name} = …;`"),
        }),
        spans: all,
        ..Finding::default()
    }
}

fn conversion(text: &str, error: &ParseError, mut spans: Vec<Range<usize>>) -> Finding {
    let types: Vec<&str> = error.message().split('`').skip(1).step_by(2).collect();
    // What is wrong is the value; what wants another type comes first.
    spans.reverse();
    let message = match types[..] {
        [from, to] => format!("expected {}, found {}", typed(to), typed(from)),
        _ => plain(error.message()),
    };
    Finding {
        message,
        callee: spans.first().and_then(|s| enclosing_call(text, s.start)),
        spans,
        ..Finding::default()
    }
}

/// The function in whose argument list the byte stands.
fn enclosing_call(text: &str, byte: usize) -> Option<String> {
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
fn plain(message: &str) -> String {
    message
        .replace("{AbstractFloat}", "float")
        .replace("{AbstractInt}", "int")
}

/// naga's notes in one line; types that no kernel can use left out.
fn notes(error: &ParseError) -> String {
    let is_type = |n: &&str| n.starts_with("allowed type: ");
    let types: Vec<&str> = error
        .notes()
        .filter_map(|n| n.strip_prefix("allowed type: "))
        .filter(|t| {
            !["{", "f16", "f64", "i64", "u64"]
                .iter()
                .any(|x| t.contains(x))
        })
        .collect();
    let said: Vec<&str> = error.notes().filter(|n| !is_type(n)).collect();
    let said = said.join(" ");
    match types.is_empty() {
        true => said,
        false => format!("{said} {}", types.join(", ")),
    }
}

fn token_before(text: &str, byte: usize) -> Option<Token> {
    tokenize(text).into_iter().rev().find(|t| t.end <= byte)
}

pub(crate) fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    text.strip_prefix(start)?.strip_suffix(end)
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
