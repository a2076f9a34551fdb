//! Texts that are written in another shading language: finds the first statement in the style of HLSL or GLSL, and says what it is in WGSL.
//!
//! Works on tokens before anything is parsed, because a parser of WGSL would only say that it expected something else. Recognised: a
//! declaration that begins with its type (`float3 p = ...;`), a cast in brackets (`(float)x`), a procedure (`void main(...)`), and words
//! that `words.rs` lists. The translation in the help goes word by word and is a hint, not checked code.

use crate::tokens::{Token, TokenKind};
use crate::words;
use std::ops::Range;

/// The first statement of a text that HLSL or GLSL has so and WGSL has not.
pub(crate) struct ForeignStatement {
    /// Its bytes.
    pub(crate) span: Range<usize>,
    /// What to write in WGSL, as far as words go.
    pub(crate) help: String,
}

/// Finds a declaration that begins with its type: `float3 p = ...;`. Linear in the text.
pub(crate) fn foreign_statement(text: &str, tokens: &[Token]) -> Option<ForeignStatement> {
    let word = |i: usize| tokens.get(i).map_or("", |t| t.text(text));
    let is_name = |i: usize| tokens.get(i).is_some_and(|t| t.kind == TokenKind::Name);
    let begins = |i: usize| i == 0 || matches!(word(i - 1), ";" | "{" | "}");
    let declares = |i: usize| {
        let is_procedure = word(i) == "void" && word(i + 2) == "(";
        // `[numthreads(64, 1, 1)]` stands before an entry point.
        (begins(i) || is_procedure && word(i.saturating_sub(1)) == "]")
            && (is_procedure || type_of(word(i)).is_some())
            && is_name(i + 1)
            && matches!(word(i + 2), "=" | ";" | "," | "(")
    };
    // A cast in brackets: `(float)x`.
    let casts = |i: usize| {
        let is_cast = word(i) == "(" && word(i + 2) == ")" && type_of(word(i + 1)).is_some();
        let is_call = i > 0 && (is_name(i - 1) || matches!(word(i - 1), ")" | "]" | ">"));
        let takes = is_name(i + 3) || word(i + 3).starts_with(|c: char| c.is_ascii_digit());
        is_cast && !is_call && (takes || word(i + 3) == "(")
    };
    let elsewhere = |i: usize| begins(i) && words::elsewhere(word(i)).is_some();
    let first = (0..tokens.len()).find(|&i| declares(i) || casts(i) || elsewhere(i))?;
    if elsewhere(first) {
        let help = words::elsewhere(word(first))?.to_owned();
        let span = tokens[first].start..tokens[first].end;
        return Some(ForeignStatement { span, help });
    }
    if casts(first) {
        let last = first + 2 + operand_of(text, &tokens[first + 3..]);
        let span = tokens[first].start..tokens[last].end;
        let help = translated(text, &tokens[first..=last], false);
        let help = format!("in WGSL it is `{help}`");
        return Some(ForeignStatement { span, help });
    }
    let ends = |i: &usize| matches!(word(*i), ";" | "{");
    let last = (first..tokens.len()).find(ends).unwrap_or(tokens.len() - 1);
    let span = tokens[first].start..tokens[last].end;
    let Some(ty) = type_of(word(first)) else {
        // An entry point: the kernel of a node is what it does for one element.
        let mut inside = tokens[first..last].iter();
        let help = match inside.any(|t| t.text(text).starts_with("SV_")) {
            true => "a kernel is only the code between the braces, with `index` for the thread"
                .to_owned(),
            false => format!("in WGSL it is `fn {}(...)`", word(first + 1)),
        };
        return Some(ForeignStatement { span, help });
    };
    let wgsl = match word(first + 2) {
        "(" => format!("fn {}(...) -> {ty}", word(first + 1)),
        "=" => {
            let value = translated(text, &tokens[first + 3..last], ty == "u32");
            format!("var {}: {ty} = {value};", word(first + 1))
        }
        _ => format!("var {}: {ty};", word(first + 1)),
    };
    let help = format!("in WGSL it is `{wgsl}`");
    Some(ForeignStatement { span, help })
}

/// A word that begins declarations there, and the type here. `vec3` is GLSL's.
fn type_of(word: &str) -> Option<&'static str> {
    words::foreign(word).filter(|to| {
        let is = |begin: &str| to.starts_with(begin);
        is("f32") || is("f16") || is("i32") || is("u32") || is("vec") || is("mat")
    })
}

/// Translates an expression word by word: `mul(a, b)` becomes `(a) * (b)`, and an expression `c ? a : b` becomes `select(b, a, c)`.
/// `unsigned`: whether integers become `u32`.
fn translated(text: &str, tokens: &[Token], unsigned: bool) -> String {
    let word = |i: usize| tokens.get(i).map_or("", |t| t.text(text));
    let at_top = |wanted: &str, from: usize| {
        let mut depth = 0_i32;
        (from..tokens.len()).find(|&i| {
            match word(i) {
                "(" | "[" => depth += 1,
                ")" | "]" => depth -= 1,
                found => return depth == 0 && found == wanted,
            }
            false
        })
    };
    if let Some(question) = at_top("?", 0)
        && let Some(colon) = at_top(":", question)
    {
        let part = |range: Range<usize>, unsigned| translated(text, &tokens[range], unsigned);
        return format!(
            "select({}, {}, {})",
            part(colon + 1..tokens.len(), unsigned),
            part(question + 1..colon, unsigned),
            part(0..question, false)
        );
    }
    let mut out = String::new();
    let mut i = 0;
    while i < tokens.len() {
        if i > 0 && tokens[i - 1].end < tokens[i].start {
            out.push(' ');
        }
        if word(i) == "mul" && word(i + 1) == "(" {
            let inner = &tokens[i + 2..];
            if let Some((first, second, used)) = two_arguments(text, inner) {
                let [a, b] = [first, second].map(|t| translated(text, t, unsigned));
                out.push_str(&format!("{a} * {b}"));
                i += 2 + used;
                continue;
            }
        }
        // `(float)x`, `(float)wave(x)`, `(float)(x + y)`.
        if let ("(", Some(ty), ")") = (word(i), type_of(word(i + 1)), word(i + 2)) {
            let operand = operand_of(text, &tokens[i + 3..]);
            if operand > 0 {
                let inner = &tokens[i + 3..i + 3 + operand];
                let inner = translated(text, inner, unsigned);
                let bare = inner.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
                out.push_str(&format!("{ty}({})", bare.unwrap_or(&inner)));
                i += 3 + operand;
                continue;
            }
        }
        let is_whole = !word(i).is_empty() && word(i).bytes().all(|b| b.is_ascii_digit());
        out.push_str(words::foreign(word(i)).unwrap_or(word(i)));
        if unsigned && is_whole {
            out.push('u');
        }
        i += 1;
    }
    out
}

/// How many tokens the operand of a cast has: a name or number with what hangs on it by a dot or in brackets, or brackets.
fn operand_of(text: &str, tokens: &[Token]) -> usize {
    let word = |i: usize| tokens.get(i).map_or("", |t| t.text(text));
    let mut end = usize::from(!tokens.is_empty() && word(0) != "(");
    loop {
        match word(end) {
            "." => end += 2,
            "(" | "[" => {
                let mut depth = 0_i32;
                let closes = |i: &usize| {
                    match word(*i) {
                        "(" | "[" => depth += 1,
                        ")" | "]" => depth -= 1,
                        _ => {}
                    }
                    depth == 0
                };
                match (end..tokens.len()).find(closes) {
                    Some(last) => end = last + 1,
                    None => return 0,
                }
            }
            _ => return end.min(tokens.len()),
        }
    }
}

/// The two arguments of a call from behind its bracket on, and how many tokens they are with the closing one.
fn two_arguments<'t>(text: &str, tokens: &'t [Token]) -> Option<(&'t [Token], &'t [Token], usize)> {
    let (mut depth, mut comma) = (0_i32, None);
    for (i, token) in tokens.iter().enumerate() {
        match token.text(text) {
            "(" | "[" => depth += 1,
            ")" if depth == 0 => {
                let comma = comma?;
                return Some((&tokens[..comma], &tokens[comma + 1..i], i + 1));
            }
            ")" | "]" => depth -= 1,
            "," if depth == 0 && comma.replace(i).is_some() => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenize;

    #[test]
    fn declarations_of_other_languages_are_shown_in_wgsl() {
        for (text, span, wgsl) in [
            (
                "float3 p = read(index);",
                0..23,
                "var p: vec3f = read(index);",
            ),
            (
                "let a = 1.0;\nuint side = 1;",
                13..27,
                "var side: u32 = 1u;",
            ),
            (
                "uint side = p.x < 0 ? 0 : 1;",
                0..28,
                "var side: u32 = select(1u, 0u, p.x < 0);",
            ),
            (
                "float4 q = mul(float4(p, 1.0), Wave);",
                0..37,
                "var q: vec4f = vec4f(p, 1.0) * Wave;",
            ),
            (
                "int s = p.x < 0 ? 0 : 1;",
                0..24,
                "var s: i32 = select(1, 0, p.x < 0);",
            ),
            (
                "vec3 p = mix(a, b, 0.5);",
                0..24,
                "var p: vec3f = mix(a, b, 0.5);",
            ),
            ("half h;", 0..7, "var h: f16;"),
            ("let k = 0.5 * (float)index;", 14..26, "f32(index)"),
            ("let k = (int)(p.x + 1.0) % 2;", 8..24, "i32(p.x + 1.0)"),
            (
                "float a = (float)i * (float)wave(i, 2).x + (float)(i + 1);",
                0..58,
                "var a: f32 = f32(i) * f32(wave(i, 2).x) + f32(i + 1);",
            ),
            (
                "[numthreads(64, 1, 1)]\nvoid main(uint3 id : SV_DispatchThreadID) { }",
                23..66,
                "a kernel is only the code between the braces, with `index` for the thread",
            ),
            ("void wave(float x) { }", 0..20, "fn wave(...)"),
            (
                "float wave(float x) { return x; }",
                0..21,
                "fn wave(...) -> f32",
            ),
        ] {
            let found = foreign_statement(text, &tokenize(text)).expect(text);
            let help = match wgsl.starts_with("a kernel") {
                true => wgsl.to_owned(),
                false => format!("in WGSL it is `{wgsl}`"),
            };
            assert_eq!((found.span, found.help), (span, help), "{text}");
        }
    }

    #[test]
    fn what_stands_elsewhere_is_told() {
        for (text, help) in [
            ("cbuffer C { float height; };", "parameter"),
            ("static const float PI = 3.14;", "`const"),
            ("StructuredBuffer<float3> rest;", "input"),
        ] {
            let found = foreign_statement(text, &tokenize(text)).expect(text);
            assert!(found.help.contains(help), "{}", found.help);
        }
    }

    #[test]
    fn wgsl_is_no_other_language() {
        for text in [
            "",
            "let p: vec3f = read(index);",
            "var float3 = 1.0; float3 = 2.0;",
            "let int = 2; write(index, int);",
            "if x { half = y; }",
            "let a = wave(half) * 2.0;",
            "let a = (half) * 2.0;",
        ] {
            assert!(foreign_statement(text, &tokenize(text)).is_none(), "{text}");
        }
    }
}
