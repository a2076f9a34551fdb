use proptest::prelude::*;

use super::*;

fn kinds(text: &str) -> Vec<(TokenKind, &str)> {
    tokenize(text)
        .iter()
        .map(|t| (t.kind, t.text(text)))
        .collect()
}

fn of_kind(text: &str, kind: TokenKind) -> Vec<&str> {
    let all = kinds(text).into_iter();
    all.filter(|(k, _)| *k == kind).map(|(_, w)| w).collect()
}

fn names(text: &str) -> Vec<&str> {
    of_kind(text, TokenKind::Name)
}

#[test]
fn comments_nest_and_line_comments_end() {
    assert_eq!(
        names("a /* b /* c */ d */ e // f\ng /**/ h"),
        ["a", "e", "g", "h"]
    );
    assert_eq!(names("a // b\r\nc // d"), ["a", "c"]);
    assert_eq!(names("a // b\u{2028}c"), ["a", "c"]);
    assert_eq!(
        of_kind("a /* b /* */", TokenKind::UnterminatedComment).len(),
        1
    );
    assert_eq!(names("a/b*c"), ["a", "b", "c"]);
}

#[test]
fn numbers_swallow_their_suffixes_and_exponents() {
    let text = "0 1u 2i 3f 4h 1.5 .5 5. 1e3 1E-3f 0x1F 0xAu 0x1.8p3 0x.8p-2h 1.e2 007";
    let numbers: Vec<&str> = text.split(' ').collect();
    assert_eq!(of_kind(text, TokenKind::Number), numbers);
    assert_eq!(names(text), [""; 0]);
    // Wrong numbers stay in one piece.
    for wrong in ["1e", "1.x", "0x", "1foo", "08u_"] {
        assert_eq!(kinds(wrong), [(TokenKind::Number, wrong)]);
    }
    assert_eq!(names("1e+a"), ["a"]);
}

#[test]
fn members_are_told_apart() {
    assert_eq!(names("a.b.c[d.e].xyz"), ["a", "d"]);
    assert_eq!(names("a . /* c */ b"), ["a"]);
    assert_eq!(names("1.0.x"), [""; 0]);
    let text = "struct S { @size(N) @align(16) a: T, b: array<U, M>, } fn f(a: S) {}";
    assert_eq!(
        names(text),
        ["S", "N", "T", "array", "U", "M", "f", "a", "S"]
    );
}

#[test]
fn words_of_context_are_no_names() {
    assert_eq!(names("var<private> private: f32;"), ["private", "f32"]);
    assert_eq!(
        names("var<storage, read_write> x: array<f32>;"),
        ["x", "array", "f32"]
    );
    assert_eq!(
        names("@builtin(position) p: vec4<f32>"),
        ["p", "vec4", "f32"]
    );
    assert_eq!(names("enable f16, subgroups; const f16 = 1;"), ["f16"]);
    assert_eq!(names("@must_use fn must_use()"), ["must_use"]);
    assert_eq!(names("_ = f(_a);"), ["f", "_a"]);
}

#[test]
fn template_lists_are_found() {
    let brackets = |text| {
        let kinds = tokenize(text);
        let count = |kind| kinds.iter().filter(|t| t.kind == kind).count();
        (
            count(TokenKind::TemplateOpen),
            count(TokenKind::TemplateClose),
        )
    };
    assert_eq!(brackets("array<vec2<f32>, 3>()"), (2, 2));
    assert_eq!(brackets("let x: array<vec2<f32>>= y;"), (2, 2));
    assert_eq!(brackets("a < b && c > d"), (0, 0));
    assert_eq!(brackets("f(a < b, c > (d))"), (1, 1));
    assert_eq!(brackets("if a < b { c > d }"), (0, 0));
    assert_eq!(brackets("a << b >> c <= d >= e"), (0, 0));
    assert_eq!(brackets("vec3<f32>(a < b)"), (1, 1));
    assert_eq!(brackets("array<f32, (a > b)>"), (1, 1));
}

#[test]
fn words_outside_of_ascii_are_names() {
    assert_eq!(names("größe Δ 位置 é"), ["größe", "Δ", "位置", "é"]);
    assert_eq!(of_kind("a § b", TokenKind::Unknown), ["§"]);
}

#[test]
fn names_are_recognised() {
    for word in ["a", "_a", "größe", "__"] {
        assert!(is_name(word), "{word}");
    }
    for word in ["", "_", "1a", "a b", "a-b", "let", "a;"] {
        assert!(!is_name(word), "{word}");
    }
}

/// Pieces of WGSL, put together at random.
fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "b",
        "position",
        "ab",
        "größe",
        ".",
        ".a",
        " ",
        "\n",
        "\r\n",
        "\t",
        "1",
        "1.5f",
        "0x1.8p3",
        "1e",
        "/*",
        "*/",
        "//",
        "// a\n",
        "/* a */",
        "<",
        ">",
        ">=",
        "<<",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ",",
        ";",
        ":",
        "=",
        "==",
        "&&",
        "||",
        "!",
        "@",
        "@size(a)",
        "let",
        "var",
        "var<private>",
        "struct",
        "fn",
        "struct S { a: b }",
        "enable f16;",
        "array<a, 3>",
        "_",
        "§",
        "\u{2028}",
        "\0",
        "\"a\"",
    ]);
    prop::collection::vec(pieces, 0..60).prop_map(|p| p.concat())
}

proptest! {
    #[test]
    fn renaming_there_and_back_gives_the_same_bytes(text in texts()) {
        let there = rename(&text, |n| (n == "a").then_some("fresh_name"));
        let back = rename(&there, |n| (n == "fresh_name").then_some("a"));
        prop_assert_eq!(&back, &text);
        // Nothing but these names was changed.
        let kept = |text: &str| -> Vec<(TokenKind, String)> {
            tokenize(text)
                .iter()
                .map(|t| (t.kind, t.text(text).replace("fresh_name", "a")))
                .collect()
        };
        prop_assert_eq!(kept(&text), kept(&there));
        prop_assert_eq!(text.matches('\n').count(), there.matches('\n').count());
    }

    #[test]
    fn renaming_nothing_changes_nothing(text in any::<String>()) {
        prop_assert_eq!(rename(&text, |_| None), text);
    }

    #[test]
    fn tokens_are_in_order_and_hold_no_blanks(text in prop_oneof![texts(), any::<String>()]) {
        let mut end = 0;
        for token in tokenize(&text) {
            prop_assert!(token.start >= end && token.end > token.start);
            prop_assert!(text.is_char_boundary(token.start) && text.is_char_boundary(token.end));
            end = token.end;
            if token.kind == TokenKind::Name {
                prop_assert!(is_name(token.text(&text)));
            }
        }
        prop_assert!(end <= text.len());
    }
}
