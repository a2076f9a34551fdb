//! Tells names from members, attributes and words that mean something only where they stand.

use crate::tokens::{Token, TokenKind};

/// Attributes whose arguments are words of their own rather than names.
const WORD_ATTRIBUTES: [&str; 4] = ["builtin", "interpolate", "diagnostic", "coherent"];

/// Gives each word among `tokens` its kind. Linear.
pub(crate) fn mark(text: &str, tokens: &mut [Token]) {
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        let word = |i: usize| tokens.get(i).is_some_and(is_word);
        if token.is(text, b'.') && word(at + 1) {
            tokens[at + 1].kind = TokenKind::Member;
            at += 2;
        } else if token.is(text, b'@') && word(at + 1) {
            at = mark_attribute(text, tokens, at);
        } else if token.kind == TokenKind::Keyword {
            at = mark_keyword(text, tokens, at);
        } else {
            at += 1;
        }
    }
}

/// What follows a keyword; the token to go on with.
fn mark_keyword(text: &str, tokens: &mut [Token], at: usize) -> usize {
    let next = tokens.get(at + 1).copied();
    match tokens[at].text(text) {
        "enable" | "requires" | "diagnostic" => mark_until(text, tokens, at + 1, b";{}"),
        "var" if next.is_some_and(|n| n.kind == TokenKind::TemplateOpen) => {
            mark_until(text, tokens, at + 1, b">;{}")
        }
        "struct" => mark_members(text, tokens, at + 1),
        _ => at + 1,
    }
}

/// Words up to one of `ends` become [`TokenKind::ContextName`].
fn mark_until(text: &str, tokens: &mut [Token], mut at: usize, ends: &[u8]) -> usize {
    while let Some(token) = tokens.get_mut(at) {
        at += 1;
        if ends.iter().any(|end| token.is(text, *end)) {
            break;
        }
        if token.kind == TokenKind::Name {
            token.kind = TokenKind::ContextName;
        }
    }
    at
}

/// In a structure, what stands before `:` is a member. Attributes with arguments are met on the way.
fn mark_members(text: &str, tokens: &mut [Token], mut at: usize) -> usize {
    let mut in_braces = false;
    while at < tokens.len() {
        let token = tokens[at];
        if token.is(text, b'{') {
            in_braces = true;
        } else if token.is(text, b'}') || (!in_braces && token.is(text, b';')) {
            return at + 1;
        } else if token.is(text, b'@') && tokens.get(at + 1).is_some_and(is_word) {
            at = mark_attribute(text, tokens, at);
            continue;
        } else if in_braces
            && is_word(&token)
            && tokens.get(at + 1).is_some_and(|n| n.is(text, b':'))
        {
            tokens[at].kind = TokenKind::Member;
        }
        at += 1;
    }
    at
}

/// The attribute at `at`; the token to go on with.
fn mark_attribute(text: &str, tokens: &mut [Token], at: usize) -> usize {
    let name = tokens[at + 1].text(text);
    tokens[at + 1].kind = TokenKind::Attribute;
    match WORD_ATTRIBUTES.contains(&name) {
        true => mark_until(text, tokens, at + 2, b")"),
        false => at + 2,
    }
}

fn is_word(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Name | TokenKind::Keyword)
}
