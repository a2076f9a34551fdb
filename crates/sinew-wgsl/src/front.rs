//! Messages of naga's front end in plainer words.
//!
//! naga gives no codes for its parse errors, so they are recognised by the beginning of their message. A message that is not recognised
//! keeps naga's words, smoothed. Where a name is unknown, the suggestion is added later (`report.rs`), when the author's names are known.

use std::ops::Range;

use naga::front::wgsl::ParseError;

use crate::findings::{
    Finding, arguments, decapitalized, enclosing_call, plain, smoothed, token_before, typed,
};
use crate::tokens::{Token, TokenKind, tokenize};

/// What the front end found.
pub(crate) fn finding(text: &str, error: &ParseError) -> Finding {
    let spans: Vec<Range<usize>> = error
        .labels()
        .filter_map(|(span, _)| span.to_range())
        .collect();
    let message = error.message();
    let begins = |start| message.starts_with(start);
    if let Some(name) = between(message, "no definition in scope for identifier: `", "`") {
        return unknown_name(text, name, spans);
    }
    if begins("expected `;`, found ") {
        return missing_semicolon(text, spans);
    }
    if begins("expected assignment or increment/decrement, found ")
        || (begins("expected `(`, found ") && behind_template(text, &spans))
    {
        return no_statement(text, spans);
    }
    if begins("automatic conversions cannot convert") {
        return conversion(text, error, spans);
    }
    if message == "invalid left-hand side of assignment" {
        return assignment(text, spans);
    }
    if message.contains("passed as argument #") {
        return builtin_argument(text, error, spans);
    }
    if let Some(extension) = between(message, "the `", "` enable extension is not enabled") {
        return Finding {
            message: format!("not available here: `{extension}`"),
            spans,
            ..Finding::default()
        };
    }
    Finding {
        message: other(message),
        help: notes(error),
        spans,
        ..Finding::default()
    }
}

/// A message that only needs smoothing.
fn other(message: &str) -> String {
    if let Some(member) = between(message, "invalid field accessor `", "`") {
        return format!("there is no member `{member}`");
    }
    let message = smoothed(message);
    match message.split_once(", found \"") {
        Some((expected, found)) => {
            format!("{expected}, found `{}`", found.trim_end_matches('"'))
        }
        None => message,
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

fn missing_semicolon(text: &str, spans: Vec<Range<usize>>) -> Finding {
    // Shown where it should stand: behind the token before.
    let before = spans.first().and_then(|s| token_before(text, s.start));
    let Some(last) = before else {
        return Finding {
            message: "expected `;`".to_owned(),
            spans,
            ..Finding::default()
        };
    };
    let mut all = vec![last.span()];
    all.extend(spans);
    Finding {
        message: format!("expected `;` after `{}`", last.text(text)),
        spans: all,
        ..Finding::default()
    }
}

/// A statement that is none.
fn no_statement(text: &str, spans: Vec<Range<usize>>) -> Finding {
    let before = spans.first().and_then(|s| token_before(text, s.start));
    let name = spans.first().and_then(|s| text.get(s.clone()));
    let (Some(before), Some(name)) = (before, name) else {
        return Finding {
            message: "this is not a statement".to_owned(),
            spans,
            ..Finding::default()
        };
    };
    let span = type_span(text, before);
    let word = &text[span.clone()];
    let mut all = vec![span.clone()];
    all.extend(spans.iter().cloned());
    Finding {
        message: format!("expected an assignment or a call, found `{word} {name}`"),
        spans: all,
        ..Finding::default()
    }
}

fn behind_template(text: &str, spans: &[Range<usize>]) -> bool {
    let before = spans.first().and_then(|s| token_before(text, s.start));
    before.is_some_and(|t| t.kind == TokenKind::TemplateClose)
}

/// The type that ends with token `last`: `float3`, `vec3<f32>`.
fn type_span(text: &str, last: Token) -> Range<usize> {
    let mut depth = 0_usize;
    let tokens = tokenize(text);
    for token in tokens.iter().rev().skip_while(|t| t.start > last.start) {
        match token.kind {
            TokenKind::TemplateClose => depth += 1,
            TokenKind::TemplateOpen => depth = depth.saturating_sub(1),
            _ if depth == 0 => return token.start..last.end,
            _ => {}
        }
    }
    last.span()
}

fn conversion(text: &str, error: &ParseError, mut spans: Vec<Range<usize>>) -> Finding {
    let types: Vec<&str> = error.message().split('`').skip(1).step_by(2).collect();
    // What is wrong is the value; what wants another type comes first. A value in front of that is the declaration of a
    // variable, which is not to blame.
    if let [wants, value] = &spans[..]
        && value.start >= wants.start
    {
        spans.reverse();
    }
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

/// An assignment to what does not change; naga's second span is where that was declared.
fn assignment(text: &str, spans: Vec<Range<usize>>) -> Finding {
    let written = spans.first().and_then(|s| text.get(s.clone()));
    let declared = spans.get(1).and_then(|s| token_before(text, s.start));
    let name = written.unwrap_or("this");
    let help = declared.map(|token| match token.is_keyword(text, "let") {
        true => format!("declare `{name}` with `var` instead of `let`"),
        false => format!("copy `{name}` into a `var` and change that"),
    });
    Finding {
        message: format!("cannot assign to `{name}`"),
        help,
        spans,
        ..Finding::default()
    }
}

/// A built-in function got an argument of a wrong type. naga shows where a variable was declared rather than where it was passed.
fn builtin_argument(text: &str, error: &ParseError, spans: Vec<Range<usize>>) -> Finding {
    let message = error.message();
    let number = message
        .split_once('#')
        .and_then(|(_, rest)| rest.split(' ').next()?.parse::<usize>().ok());
    let passed = spans.first().and_then(|function| {
        let all = arguments(text, function.start);
        all.get(number?.checked_sub(1)?).cloned()
    });
    Finding {
        message: plain(message),
        help: notes(error),
        spans: passed.into_iter().chain(spans).collect(),
        ..Finding::default()
    }
}

/// naga's notes in one line; types that no kernel can use left out.
fn notes(error: &ParseError) -> Option<String> {
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
    let said = plain(&decapitalized(&said.join(" ")));
    match (said.is_empty(), types.is_empty()) {
        (true, _) => None,
        (false, true) => Some(said),
        (false, false) => Some(format!("{said} {}", types.join(", "))),
    }
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    text.strip_prefix(start)?.strip_suffix(end)
}
