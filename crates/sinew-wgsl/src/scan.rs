//! Finds the declarations of a text without parsing their content.
//!
//! Brackets are paired first, so that the content of functions and structures is skipped in one step: the scan is linear and knows only the
//! grammar of module scope.

use std::ops::Range;

use crate::brackets::{Partners, Problem};
use crate::tokens::{Token, TokenKind};

/// Kind of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeclarationKind {
    /// `fn`.
    Function,
    /// `const`.
    Constant,
    /// `override`.
    Override,
    /// `struct`.
    Structure,
    /// `alias`.
    Alias,
    /// `var`.
    Variable,
}

/// A declaration; ranges are of tokens.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) kind: DeclarationKind,
    /// The token that is its name.
    pub(crate) name: usize,
    /// All of it, attributes left out.
    pub(crate) tokens: Range<usize>,
    /// Parts of a function.
    pub(crate) function: Option<FunctionParts>,
}

/// Parts of a function; ranges of tokens.
#[derive(Clone, Debug)]
pub(crate) struct FunctionParts {
    /// Between the parentheses.
    pub(crate) parameters: Range<usize>,
    /// Behind `->`; empty where it returns nothing.
    pub(crate) result: Range<usize>,
    /// The braces and what is between.
    pub(crate) body: Range<usize>,
}

/// What the module scope of a text holds.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) declarations: Vec<Declaration>,
    /// `enable`, `requires` and `diagnostic`, with their semicolons.
    pub(crate) directives: Vec<Range<usize>>,
}

pub(crate) const STATEMENT_OUTSIDE: &str = "a statement is outside of any function";

struct Scanner<'a> {
    text: &'a str,
    tokens: &'a [Token],
    partners: &'a Partners,
}

/// Finds the declarations. Linear. The error is the first place that is no declaration.
pub(crate) fn scan(text: &str, tokens: &[Token], partners: &Partners) -> Result<Scan, Problem> {
    let scanner = Scanner {
        text,
        tokens,
        partners,
    };
    let mut out = Scan::default();
    let mut at = 0;
    while at < tokens.len() {
        at = scanner.item(at, &mut out)?;
    }
    Ok(out)
}

/// Whether a text with these tokens is a set of declarations rather than the body of a function: only declarations have
/// one of these words outside of all braces.
pub(crate) fn is_declarations(text: &str, tokens: &[Token], partners: &Partners) -> bool {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if token.kind == TokenKind::Keyword
            && ["fn", "struct", "alias", "override", "enable", "requires"]
                .contains(&token.text(text))
        {
            return true;
        }
        at = partners[at].max(at) + 1;
    }
    false
}

impl Scanner<'_> {
    fn is(&self, at: usize, character: u8) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|t| t.is(self.text, character))
    }

    /// One item of module scope; the token behind it.
    fn item(&self, at: usize, out: &mut Scan) -> Result<usize, Problem> {
        let token = self.tokens[at];
        if self.is(at, b';') {
            return Ok(at + 1);
        }
        if self.is(at, b'@') {
            // An attribute, maybe with arguments.
            let open = at + 2;
            return Ok(match self.is(open, b'(') {
                true => self.partners[open] + 1,
                false => open,
            });
        }
        if token.kind != TokenKind::Keyword {
            return Err(Problem::new(token, STATEMENT_OUTSIDE));
        }
        match token.text(self.text) {
            "fn" => self.function(at, out),
            "struct" => self.structure(at, out),
            "enable" | "requires" | "diagnostic" => {
                let end = self.semicolon(at)? + 1;
                out.directives.push(at..end);
                Ok(end)
            }
            "const_assert" => Ok(self.semicolon(at)? + 1),
            "const" => self.value(at, DeclarationKind::Constant, out),
            "override" => self.value(at, DeclarationKind::Override, out),
            "alias" => self.value(at, DeclarationKind::Alias, out),
            "var" => self.value(at, DeclarationKind::Variable, out),
            _ => Err(Problem::new(token, STATEMENT_OUTSIDE)),
        }
    }

    fn function(&self, at: usize, out: &mut Scan) -> Result<usize, Problem> {
        let name = self.name(at + 1)?;
        let open = name + 1;
        self.expect(open, b'(')?;
        let close = self.partners[open];
        let mut brace = close + 1;
        let mut result = brace..brace;
        if self.is(brace, b'-') && self.is(brace + 1, b'>') {
            brace += 2;
            result.start = brace;
            while brace < self.tokens.len() && !self.is(brace, b'{') {
                brace = self.partners[brace].max(brace) + 1;
            }
            result.end = brace;
        }
        self.expect(brace, b'{')?;
        let end = self.partners[brace] + 1;
        out.declarations.push(Declaration {
            kind: DeclarationKind::Function,
            name,
            tokens: at..end,
            function: Some(FunctionParts {
                parameters: open + 1..close,
                result,
                body: brace..end,
            }),
        });
        Ok(end)
    }

    fn structure(&self, at: usize, out: &mut Scan) -> Result<usize, Problem> {
        let name = self.name(at + 1)?;
        self.expect(name + 1, b'{')?;
        let end = self.partners[name + 1] + 1;
        out.declarations.push(Declaration {
            kind: DeclarationKind::Structure,
            name,
            tokens: at..end,
            function: None,
        });
        Ok(end)
    }

    /// A declaration up to a semicolon.
    fn value(&self, at: usize, kind: DeclarationKind, out: &mut Scan) -> Result<usize, Problem> {
        let mut first = at + 1;
        if kind == DeclarationKind::Variable
            && self.tokens.get(first).map(|t| t.kind) == Some(TokenKind::TemplateOpen)
        {
            while first < self.tokens.len() && self.tokens[first].kind != TokenKind::TemplateClose {
                first += 1;
            }
            first += 1;
        }
        let name = self.name(first)?;
        let end = self.semicolon(at)? + 1;
        out.declarations.push(Declaration {
            kind,
            name,
            tokens: at..end,
            function: None,
        });
        Ok(end)
    }

    /// The semicolon that ends the item at `at`.
    fn semicolon(&self, at: usize) -> Result<usize, Problem> {
        let mut i = at + 1;
        while let Some(token) = self.tokens.get(i) {
            if self.is(i, b';') {
                return Ok(i);
            }
            let starts_anew = token.kind == TokenKind::Keyword
                && !["true", "false"].contains(&token.text(self.text));
            if starts_anew || self.is(i, b'@') {
                break;
            }
            i = self.partners[i].max(i) + 1;
        }
        Err(missing_semicolon(self.text, self.tokens, i))
    }

    fn name(&self, at: usize) -> Result<usize, Problem> {
        match self.tokens.get(at) {
            Some(t) if t.kind == TokenKind::Name => Ok(at),
            _ => Err(self.unexpected(at, "a name")),
        }
    }

    fn expect(&self, at: usize, character: u8) -> Result<(), Problem> {
        match self.is(at, character) {
            true => Ok(()),
            false => Err(self.unexpected(at, &format!("`{}`", char::from(character)))),
        }
    }

    fn unexpected(&self, at: usize, expected: &str) -> Problem {
        match self.tokens.get(at) {
            Some(t) => Problem::new(
                *t,
                format!("expected {expected}, found `{}`", t.text(self.text)),
            ),
            None => {
                let last = self.tokens[self.tokens.len() - 1];
                Problem::new(
                    last,
                    format!("expected {expected} after `{}`", last.text(self.text)),
                )
            }
        }
    }
}

/// The problem of a missing semicolon in front of token `at`, shown where it should stand.
pub(crate) fn missing_semicolon(text: &str, tokens: &[Token], at: usize) -> Problem {
    let last = at.min(tokens.len()).saturating_sub(1);
    let (end, word) = tokens.get(last).map_or((0, ""), |t| (t.end, t.text(text)));
    Problem {
        span: end..end,
        message: format!("expected `;` after `{word}`"),
        help: None,
    }
}
