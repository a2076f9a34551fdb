//! Length of functions, including the constants and types that they use. naga copies the whole value of a constant to each use and visits
//! all nested members of a structure, and its time grows with the square of the result.

use std::collections::HashMap;
use std::ops::Range;

use crate::brackets::Problem;
use crate::scan::{Declaration, DeclarationKind};
use crate::tokens::{Token, TokenKind};

/// Maximum number of tokens of one function. Each use of a constant or a structure counts all its tokens. naga takes about half a second
/// for this many.
pub const LONGEST_FUNCTION: usize = 1 << 16;
/// Most tokens that such uses add in a whole text: many functions of that length would take minutes.
const MOST_ADDED: usize = 1 << 18;

struct Weights<'a> {
    text: &'a str,
    tokens: &'a [Token],
    declarations: &'a [Declaration],
    /// What is written out at each place of use: constants, structures, other names of types.
    copied: HashMap<&'a str, usize>,
    known: Vec<Option<usize>>,
}

/// Declarations that are too long; of a body, the body. Declarations must not build on each other in circles or too
/// deeply, which [`crate::recursion::check`] finds. Linear.
pub(crate) fn check(text: &str, tokens: &[Token], declarations: &[Declaration]) -> Vec<Problem> {
    let copied = declarations
        .iter()
        .enumerate()
        .filter(|(_, d)| {
            use DeclarationKind as K;
            matches!(d.kind, K::Constant | K::Structure | K::Alias)
        })
        .map(|(i, d)| (tokens[d.name].text(text), i))
        .collect();
    let mut weights = Weights {
        text,
        tokens,
        declarations,
        copied,
        known: vec![None; declarations.len()],
    };
    if declarations.is_empty() {
        let weight = weights.of_tokens(0..tokens.len(), None);
        let first = tokens.first();
        let problem = first.and_then(|t| too_long(*t, "the kernel", weight, tokens.len()));
        return problem.into_iter().collect();
    }
    let mut out = Vec::new();
    let mut added = 0_usize;
    for (i, d) in declarations.iter().enumerate() {
        let name = tokens[d.name];
        let what = format!("`{}`", name.text(text));
        let problem = too_long(name, &what, weights.of(i), d.tokens.len());
        // The first one that is too long, not all that build on it.
        if problem.is_some() {
            weights.known[i] = Some(0);
        }
        added = added.saturating_add(weights.of(i).saturating_sub(d.tokens.len()));
        if added > MOST_ADDED && problem.is_none() && out.is_empty() {
            let message = format!(
                "the constants and structures used up to this point have more than {MOST_ADDED} tokens"
            );
            out.push(Problem::new(name, message).help("read large tables from a buffer"));
        }
        out.extend(problem);
    }
    out
}

fn too_long(at: Token, what: &str, weight: usize, own: usize) -> Option<Problem> {
    if weight <= LONGEST_FUNCTION {
        return None;
    }
    if weight == own {
        let message =
            format!("{what} has {weight} tokens, but at most {LONGEST_FUNCTION} are allowed");
        return Some(Problem::new(at, message));
    }
    let message = format!(
        "{what} has {weight} tokens, including constants and structures that it uses, but at most {LONGEST_FUNCTION} are allowed"
    );
    Some(Problem::new(at, message).help("read large tables from a buffer"))
}

impl Weights<'_> {
    /// Tokens of a declaration, those of constants counted at each use.
    fn of(&mut self, declaration: usize) -> usize {
        if let Some(known) = self.known[declaration] {
            return known;
        }
        let range = self.declarations[declaration].tokens.clone();
        let weight = self.of_tokens(range, Some(declaration));
        self.known[declaration] = Some(weight);
        weight
    }

    /// The same of a range of tokens, constants within functions included.
    fn of_tokens(&mut self, range: Range<usize>, declaration: Option<usize>) -> usize {
        let mut local: HashMap<&str, usize> = HashMap::new();
        let mut total = 0_usize;
        // A constant of the function: its name and what was there before its value.
        let mut open: Option<(&str, usize)> = None;
        for at in range {
            let token = self.tokens[at];
            let word = token.text(self.text);
            let module = self.copied.get(word).copied();
            let used = match (token.kind, local.get(word)) {
                (TokenKind::Name, Some(weight)) => *weight,
                (TokenKind::Name, None) => module
                    .filter(|m| Some(*m) != declaration)
                    .map_or(0, |m| self.of(m)),
                _ => 0,
            };
            total = total.saturating_add(used).saturating_add(1);
            if token.is_keyword(self.text, "const") {
                let name = self.tokens.get(at + 1).map(|t| t.text(self.text));
                open = name.map(|n| (n, total));
            } else if token.is(self.text, b';')
                && let Some((name, before)) = open.take()
            {
                let weight = local.entry(name).or_default();
                *weight = (*weight).max(total - before);
            }
        }
        total
    }
}
