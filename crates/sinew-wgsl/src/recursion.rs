//! Calls that come back to where they started, and declarations that build on each other too deeply.
//!
//! naga finds recursion too, but by recursion; here a hostile text cannot use up the stack.

use std::collections::HashMap;

use crate::brackets::Problem;
use crate::scan::{Declaration, DeclarationKind};
use crate::tokens::{Token, TokenKind};

/// Longest chain of declarations in which each needs the next.
const DEEPEST: usize = 256;

/// A use of declaration `target` by token `token`.
struct Use {
    target: usize,
    token: usize,
}

/// Problems of how declarations use each other. Linear in the number of tokens.
pub(crate) fn check(text: &str, tokens: &[Token], declarations: &[Declaration]) -> Vec<Problem> {
    let names: HashMap<&str, usize> = declarations
        .iter()
        .enumerate()
        .map(|(i, d)| (tokens[d.name].text(text), i))
        .collect();
    let uses = |certain: bool| -> Vec<Vec<Use>> {
        let of = |d| uses_of(text, tokens, d, &names, certain);
        declarations.iter().map(of).collect()
    };
    let name = |i: usize| tokens[declarations[i].name].text(text);
    // Of what looks like a use, some may be local variables of the same name; calls and uses in constants and types are not.
    let (cycles, _) = walk(&uses(true));
    if !cycles.is_empty() {
        return cycles
            .into_iter()
            .map(|path| cycle_problem(tokens, declarations, &path, name))
            .collect();
    }
    let (doubtful, deepest) = walk(&uses(false));
    let depth = match doubtful.is_empty() {
        true => deepest,
        false => declarations.len(),
    };
    match tokens.first() {
        Some(first) if depth > DEEPEST => vec![Problem::new(
            *first,
            format!("{depth} declarations depend on each other, but at most {DEEPEST} are allowed"),
        )],
        _ => Vec::new(),
    }
}

fn uses_of(
    text: &str,
    tokens: &[Token],
    declaration: &Declaration,
    names: &HashMap<&str, usize>,
    certain: bool,
) -> Vec<Use> {
    let only_calls = certain && declaration.kind == DeclarationKind::Function;
    declaration
        .tokens
        .clone()
        .filter(|i| *i != declaration.name && tokens[*i].kind == TokenKind::Name)
        .filter(|i| !only_calls || tokens.get(i + 1).is_some_and(|n| n.is(text, b'(')))
        .filter_map(|token| {
            let target = *names.get(tokens[token].text(text))?;
            Some(Use { target, token })
        })
        .collect()
}

/// A cycle: the declarations on it, each with the token by which it uses the next.
type Cycle = Vec<(usize, usize)>;

/// Depth-first without recursion: the cycles met, and the longest path, counted in declarations.
fn walk(uses: &[Vec<Use>]) -> (Vec<Cycle>, usize) {
    const NEW: usize = usize::MAX;
    const OPEN: usize = usize::MAX - 1;
    let mut depth = vec![NEW; uses.len()];
    let mut cycles = Vec::new();
    for root in 0..uses.len() {
        if depth[root] != NEW {
            continue;
        }
        depth[root] = OPEN;
        // Declaration, next use to look at, longest path below so far.
        let mut path = vec![(root, 0, 0)];
        while let Some((at, next, below)) = path.last().copied() {
            let Some(link) = uses[at].get(next) else {
                depth[at] = below + 1;
                path.pop();
                if let Some(parent) = path.last_mut() {
                    parent.2 = parent.2.max(below + 1);
                }
                continue;
            };
            if let Some(top) = path.last_mut() {
                top.1 += 1;
            }
            match depth[link.target] {
                NEW => {
                    depth[link.target] = OPEN;
                    path.push((link.target, 0, 0));
                }
                OPEN => cycles.push(cycle(uses, &path, link.target)),
                known => {
                    if let Some(top) = path.last_mut() {
                        top.2 = top.2.max(known);
                    }
                }
            }
        }
    }
    let longest = depth.into_iter().max().unwrap_or(0);
    (cycles, longest)
}

/// The part of `path` from `start` on; each step was taken by the use before the next one to look at.
fn cycle(uses: &[Vec<Use>], path: &[(usize, usize, usize)], start: usize) -> Cycle {
    path.iter()
        .skip_while(|(declaration, _, _)| *declaration != start)
        .map(|(declaration, next, _)| (*declaration, uses[*declaration][next - 1].token))
        .collect()
}

fn cycle_problem<'a>(
    tokens: &[Token],
    declarations: &[Declaration],
    path: &Cycle,
    name: impl Fn(usize) -> &'a str,
) -> Problem {
    const SHOWN: usize = 8;
    let (first, token) = path[0];
    let start = name(first);
    let function = declarations[first].kind == DeclarationKind::Function;
    let verb = if function { "calls" } else { "needs" };
    let message = match path.len() {
        1 => format!("`{start}` {verb} itself"),
        count => {
            let mut shown: Vec<&str> = path.iter().take(SHOWN).map(|p| name(p.0)).collect();
            if count > SHOWN {
                shown.push("…");
            }
            format!("`{start}` {verb} itself: {} -> {start}", shown.join(" -> "))
        }
    };
    let problem = Problem::new(tokens[token], message);
    match function {
        true => problem.help("WGSL has no recursion; use a loop"),
        false => problem,
    }
}
