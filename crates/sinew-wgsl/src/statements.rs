//! Finds statements of a function, for problems that naga places at the declaration of a variable rather than at its use.

use std::ops::Range;

use naga::{Block, Expression, Handle, Statement};

use crate::tokens::{TokenKind, tokenize};

/// Bytes of the first statement that fits, blocks looked into.
pub(crate) fn find(block: &Block, fits: &impl Fn(&Statement) -> bool) -> Option<Range<usize>> {
    block.span_iter().find_map(|(statement, span)| {
        if fits(statement) {
            return span.to_range();
        }
        match statement {
            Statement::Block(b) => find(b, fits),
            Statement::If { accept, reject, .. } => {
                find(accept, fits).or_else(|| find(reject, fits))
            }
            Statement::Switch { cases, .. } => cases.iter().find_map(|c| find(&c.body, fits)),
            Statement::Loop {
                body, continuing, ..
            } => find(body, fits).or_else(|| find(continuing, fits)),
            _ => None,
        }
    })
}

/// Whether a statement returns this value.
pub(crate) fn returns(statement: &Statement, value: Handle<Expression>) -> bool {
    matches!(statement, Statement::Return { value: Some(v) } if *v == value)
}

/// What stands behind the first word of a statement, up to its block or semicolon.
pub(crate) fn behind_first_word(text: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let statement = text.get(span.clone())?;
    let mut tokens = tokenize(statement).into_iter();
    tokens.next().filter(|t| t.kind == TokenKind::Keyword)?;
    let inside: Vec<_> = tokens
        .take_while(|t| !matches!(t.text(statement), "{" | ";"))
        .collect();
    Some(span.start + inside.first()?.start..span.start + inside.last()?.end)
}
