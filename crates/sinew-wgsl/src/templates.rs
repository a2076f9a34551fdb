//! Which `<` and `>` are brackets: the template list discovery of the WGSL specification (section 3.9).

use crate::tokens::{Token, TokenKind};

struct Pending {
    token: usize,
    depth: usize,
}

/// Marks the brackets of template lists among `tokens`. Linear.
pub(crate) fn mark(text: &str, tokens: &mut [Token]) {
    let mut pending: Vec<Pending> = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        // The character right behind, without a blank between.
        let next = tokens
            .get(at + 1)
            .filter(|n| n.start == token.end && n.kind == TokenKind::Punctuation)
            .map_or(0, |n| text.as_bytes()[n.start]);
        at += 1;
        if token.kind != TokenKind::Punctuation {
            continue;
        }
        match (text.as_bytes()[token.start], next) {
            (b'<', b'<' | b'=') | (b'!', b'=') | (b'=', b'=') => at += 1,
            (b'<', _) if follows_word(tokens, at - 1) => pending.push(Pending {
                token: at - 1,
                depth,
            }),
            (b'>', following) => match pending.pop_if(|p| p.depth == depth) {
                Some(open) => {
                    tokens[open.token].kind = TokenKind::TemplateOpen;
                    tokens[at - 1].kind = TokenKind::TemplateClose;
                }
                None => at += usize::from(following == b'='),
            },
            (b'(' | b'[', _) => depth += 1,
            (b')' | b']', _) => {
                drop_from(&mut pending, depth);
                depth = depth.saturating_sub(1);
            }
            (b';' | b'{' | b':' | b'=', _) => {
                pending.clear();
                depth = 0;
            }
            (b'&', b'&') | (b'|', b'|') => {
                drop_from(&mut pending, depth);
                at += 1;
            }
            _ => {}
        }
    }
}

fn follows_word(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|i| tokens.get(i));
    before.is_some_and(|t| matches!(t.kind, TokenKind::Name | TokenKind::Keyword))
}

fn drop_from(pending: &mut Vec<Pending>, depth: usize) {
    while pending.pop_if(|p| p.depth >= depth).is_some() {}
}
