//! Unrolls loops with a known number of iterations: drivers do not always do it.

use sinew_wgsl::tokens::{Token, tokenize};

/// A function that bounds loops, and their maximum number of iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) function: String,
    pub(super) turns: usize,
    /// The first turn that must do nothing where it is beyond the function's value.
    pub(super) guarded_from: usize,
}

/// Unrolls every `for (var k = Nu; k < BOUND(); k++) { ... }` whose bound is listed. Nested loops are not unrolled.
pub(super) fn unroll(text: &str, bounds: &[Bound]) -> String {
    let tokens = tokenize(text);
    let mut out = String::new();
    let mut copied = 0;
    let mut i = 0;
    while i < tokens.len() {
        let Some(found) = counted_loop(text, &tokens[i..], bounds) else {
            i += 1;
            continue;
        };
        let body_end = i + found.body_end;
        out.push_str(&text[copied..tokens[i].start]);
        let body = &text[tokens[i + HEADER - 1].end..tokens[body_end].start];
        for k in found.first..found.bound.turns {
            let (variable, bound) = (found.variable, &found.bound.function);
            if k >= found.bound.guarded_from {
                out.push_str(&format!(
                    "if ({k}u < {bound}()) {{ const {variable} = {k}u; {body} }}"
                ));
            } else {
                out.push_str(&format!("{{ const {variable} = {k}u; {body} }}"));
            }
        }
        copied = tokens[body_end].end;
        i = body_end + 1;
    }
    out.push_str(&text[copied..]);
    out
}

/// Tokens of `for (var k = 0u; k < bound(); k++) {`.
const HEADER: usize = 18;

struct CountedLoop<'a> {
    variable: &'a str,
    first: usize,
    bound: &'a Bound,
    /// The closing brace, counted from `for`.
    body_end: usize,
}

fn counted_loop<'a>(
    text: &'a str,
    tokens: &[Token],
    bounds: &'a [Bound],
) -> Option<CountedLoop<'a>> {
    let word = |i: usize| tokens.get(i).map_or("", |t| &text[t.start..t.end]);
    let variable = word(3);
    let first = word(5).strip_suffix('u')?.parse().ok()?;
    let bound = bounds.iter().find(|b| b.function == word(9))?;
    let fits = [
        (0, "for"),
        (1, "("),
        (2, "var"),
        (4, "="),
        (6, ";"),
        (7, variable),
        (8, "<"),
        (10, "("),
        (11, ")"),
        (12, ";"),
        (13, variable),
        (14, "+"),
        (15, "+"),
        (16, ")"),
        (17, "{"),
    ];
    if fits.iter().any(|&(i, expected)| word(i) != expected) {
        return None;
    }
    let mut depth = 1;
    let mut end = HEADER;
    while depth > 0 {
        match word(end) {
            "{" => depth += 1,
            "}" => depth -= 1,
            "" => return None,
            _ => {}
        }
        end += 1;
    }
    Some(CountedLoop {
        variable,
        first,
        bound,
        body_end: end - 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_loops_are_written_out() {
        let mut bounds = [Bound {
            function: "ring_count".into(),
            turns: 3,
            guarded_from: usize::MAX,
        }];
        let text = "a(); for (var k = 1u; k < ring_count(); k++) { if (x) { b(k); } } c();";
        let expected =
            "a(); { const k = 1u;  if (x) { b(k); }  }{ const k = 2u;  if (x) { b(k); }  } c();";
        assert_eq!(unroll(text, &bounds), expected);
        bounds[0].guarded_from = 2;
        let guarded = "for (var k = 1u; k < ring_count(); k++) { b(k); }";
        let expected = "{ const k = 1u;  b(k);  }if (2u < ring_count()) { const k = 2u;  b(k);  }";
        assert_eq!(unroll(guarded, &bounds), expected);
        let other = "for (var k = 1u; k < count; k++) { b(k); }";
        assert_eq!(unroll(other, &bounds), other);
    }
}
