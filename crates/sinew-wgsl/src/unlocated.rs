//! Some errors of naga have no location, or one in generated text. Removing functions and statements until the error is gone finds the
//! location.

use std::ops::Range;

use crate::pieces::{self, Cut, Cuts, FunctionId, Names, Piece};
use crate::scan::FunctionParts;
use crate::snippet::{Snippet, SnippetKind};
use crate::source_map::Origin;

/// The statement without which the problem is gone; `fails` says whether a text does. It is asked a number of times
/// that grows with the logarithm of the number of functions and statements.
pub(crate) fn locate(
    directives: &str,
    pieces: &[Piece],
    names: &[Names],
    cuts: &Cuts,
    fails: impl Fn(&str) -> bool,
) -> Option<Origin> {
    let fails_with = |more: &[(FunctionId, Cut)]| {
        let mut all = cuts.clone();
        all.extend(more.iter().cloned());
        fails(&pieces::write(directives, pieces, names, &all).text)
    };
    let functions = functions(pieces, cuts);
    // The last function that has to go for the error to go.
    let guilty = first_true(functions.len(), |count| {
        let left_out: Vec<_> = functions[..count].iter().map(|f| (*f, Cut::Body)).collect();
        !fails_with(&left_out)
    })?;
    let function = functions[guilty.checked_sub(1)?];
    let others: Vec<_> = functions[..guilty - 1]
        .iter()
        .map(|f| (*f, Cut::Body))
        .collect();
    let Some(Piece::Instance(instance)) = pieces.get(function.0) else {
        return None;
    };
    let statements = statements(&instance.snippet, function.1);
    // The first statement that must stay for the error to stay.
    let needed = first_true(statements.len(), |count| {
        let end = count.checked_sub(1).map(|i| statements[i].end);
        let cut = end.map_or(Cut::Body, Cut::From);
        let mut all = others.clone();
        all.push((function, cut));
        fails_with(&all)
    });
    let statement = statements.get(needed?.checked_sub(1)?)?;
    Some(Origin {
        piece: function.0,
        span: instance.snippet.bytes(statement),
    })
}

/// The smallest number up to `most` for which `test` holds, where it holds for all greater ones.
fn first_true(most: usize, test: impl Fn(usize) -> bool) -> Option<usize> {
    if !test(most) {
        return None;
    }
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low.midpoint(high);
        match test(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Some(low)
}

fn functions(pieces: &[Piece], cuts: &Cuts) -> Vec<FunctionId> {
    let mut out = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let Piece::Instance(instance) = piece else {
            continue;
        };
        if instance.snippet.kind() == SnippetKind::Body {
            out.push((at, None));
        }
        let declarations = instance.snippet.declarations().iter().enumerate();
        out.extend(
            declarations
                .filter(|(_, d)| d.function.is_some())
                .map(|(number, _)| (at, Some(number))),
        );
    }
    out.retain(|f| !cuts.contains_key(f));
    out
}

/// Tokens of each statement of a function, blocks not looked into.
fn statements(snippet: &Snippet, function: Option<usize>) -> Vec<Range<usize>> {
    let tokens = snippet.tokens();
    let parts = function.and_then(|f| snippet.declarations().get(f)?.function.as_ref());
    let inside = match parts {
        Some(FunctionParts { body, .. }) => body.start + 1..body.end - 1,
        None => 0..tokens.len(),
    };
    let mut out = Vec::new();
    let mut start = inside.start;
    let mut depth = 0_usize;
    for at in inside {
        let is = |c| tokens[at].is(snippet.text(), c);
        if is(b'{') || is(b'(') || is(b'[') {
            depth += 1;
        } else if is(b'}') || is(b')') || is(b']') {
            depth = depth.saturating_sub(1);
        }
        let goes_on = tokens
            .get(at + 1)
            .is_some_and(|n| n.is_keyword(snippet.text(), "else"));
        if depth == 0 && (is(b';') || (is(b'}') && !goes_on)) {
            out.push(start..at + 1);
            start = at + 1;
        }
    }
    out
}
