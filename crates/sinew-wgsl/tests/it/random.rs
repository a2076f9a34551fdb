//! Random texts, from bytes to kernels that naga can parse: none ends in a panic, and every error lies in the text.

use crate::common;

use proptest::prelude::*;
use sinew_wgsl::{ModuleBuilder, ModuleOptions, Snippet, tokens};

/// All that can be called with a text.
fn everything(text: &str) {
    let _ = tokens::tokenize(text);
    let _ = common::module(text);
    if let Ok(library) = Snippet::parse_library("l.wgsl", text) {
        let mut builder = ModuleBuilder::new(ModuleOptions::default());
        let _ = builder.add(&library, "sinew_1_", &common::RENAMES);
        if let Ok(module) = builder.finish() {
            let _ = module.entry_points();
            let _ = module.locate(text.len() / 2);
        }
    }
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    if let Err(errors) = builder.declare("generated", text).finish() {
        let _ = errors.to_string();
    }
}

/// Pieces of kernels, put together at random: most are wrong in some new way.
fn kernels() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "fn kernel(index: u32) {",
        "}",
        "{",
        "let a = ",
        "var b = ",
        "b = ",
        "a",
        "b",
        "index",
        "1.0",
        "2u",
        "3",
        "vec3<f32>(",
        "read_position(",
        "write_position(",
        "write_sum(",
        "f(",
        ")",
        ",",
        ";",
        "+",
        "*",
        "==",
        "<",
        ">",
        "[",
        "]",
        ".x",
        ".xyz",
        "&",
        "-",
        "if ",
        "else ",
        "for (",
        "while ",
        "loop ",
        "switch ",
        "case 1u: ",
        "default: ",
        "break;",
        "continue;",
        "return ",
        "return;",
        "workgroupBarrier();",
        "fn f(a: f32) -> f32 {",
        "struct S { a: f32 }",
        "S(",
        "const C = ",
        "C",
        "var<workgroup> w: array<f32, 4>;",
        "var<private> p: vec3<f32>;",
        "w",
        "p",
        "array<f32, C>(",
        "dot(",
        "normalize(",
        "select(",
        "true",
        "@size(8)",
        "enable f16;",
        "f32",
        "bitcast<u32>(",
        "alias A = f32;",
        "override o: f32 = 1.0;",
        "const_assert true;",
        "discard;",
        "ptr<function, f32>",
        "\n",
        "  ",
        "// c\n",
        "/* c */",
        "ä",
        "#",
        "\0",
        "0x",
        "1e9999",
        "99999999999999999999",
        "-2147483648",
        "1 / 0",
        "1 % 0",
        "a[",
        "atomicAdd(",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|p| p.join(" "))
}

/// Expressions that naga can parse, of any types.
fn expressions() -> impl Strategy<Value = String> {
    let leaves = prop::sample::select(vec![
        "a",
        "b",
        "index",
        "f",
        "w",
        "p",
        "C",
        "o",
        "1.0",
        "2u",
        "3",
        "-4i",
        "true",
        "vec3<f32>(1.0)",
        "vec2(1)",
        "S(1.0)",
        "array<f32, 3>()",
        "read_position(index)",
        "vertex_count()",
        "nothing",
        "mat3x3<f32>()",
        "&a",
        "*b",
        "u32()",
        "A(2)",
        "workgroupUniformLoad(&w)",
        "atomicAdd(&t, 1u)",
        "atomicLoad(&t)",
        "g(1.0)",
    ]);
    leaves
        .prop_map(str::to_owned)
        .prop_recursive(4, 24, 3, |inner| {
            let operators = prop::sample::select(vec![
                "+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||", "&", "|", "^", "<<",
                ">>",
            ]);
            let members = prop::sample::select(vec![
                ".x", ".xyz", ".w", ".a", "[0]", "[index]", "[7]", ".zzzzz",
            ]);
            let calls = prop::sample::select(vec![
                "read_position",
                "write_position",
                "write_sum",
                "g",
                "dot",
                "normalize",
                "select",
                "vec3<f32>",
                "vec2",
                "array",
                "f32",
                "u32",
                "S",
                "max",
                "clamp",
                "cross",
                "bitcast<u32>",
                "bitcast<vec2<f32>>",
                "abs",
                "all",
                "any",
                "mix",
                "pow",
                "nothing",
                "length",
                "transpose",
                "arrayLength",
                "modf",
                "frexp",
                "dpdx",
                "pack4x8snorm",
                "extractBits",
                "insertBits",
                "ldexp",
                "array<f32, 4>",
                "mat2x2<f32>",
            ]);
            prop_oneof![
                (inner.clone(), operators, inner.clone())
                    .prop_map(|(a, o, b)| format!("({a} {o} {b})")),
                (inner.clone(), members).prop_map(|(a, m)| format!("{a}{m}")),
                (calls, prop::collection::vec(inner.clone(), 0..4))
                    .prop_map(|(f, a)| format!("{f}({})", a.join(", "))),
                inner.prop_map(|a| format!("-({a})")),
            ]
        })
}

/// What could be assigned to.
fn places() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a", "b", "b.x", "b[index]", "p", "w", "index", "*b", "p.y", "nothing", "(b)", "b.xy",
    ])
}

/// Statements that naga can parse.
fn statements() -> impl Strategy<Value = String> {
    let simple = prop_oneof![
        expressions().prop_map(|e| format!("let a = {e};")),
        expressions().prop_map(|e| format!("var b = {e};")),
        expressions().prop_map(|e| format!("var b: vec3<f32> = {e};")),
        expressions().prop_map(|e| format!("const a = {e};")),
        expressions().prop_map(|e| format!("_ = {e};")),
        expressions().prop_map(|e| format!("return {e};")),
        (places(), expressions()).prop_map(|(l, e)| format!("{l} = {e};")),
        (places(), expressions()).prop_map(|(l, e)| format!("{l} += {e};")),
        places().prop_map(|l| format!("{l}++;")),
        expressions().prop_map(|e| format!("write_position(index, {e});")),
        prop::sample::select(vec![
            "workgroupBarrier();",
            "break;",
            "continue;",
            "return;",
            ";",
            "h();",
            "var b: f32;",
            "var b = 1u;",
        ])
        .prop_map(str::to_owned),
    ];
    let block = |s: Vec<String>| format!("{{ {} }}", s.join("\n"));
    simple.prop_recursive(4, 24, 4, move |inner| {
        let inner = prop::collection::vec(inner, 0..4).prop_map(block).boxed();
        prop_oneof![
            inner.clone(),
            (expressions(), inner.clone()).prop_map(|(e, b)| format!("if {e} {b}")),
            (expressions(), inner.clone(), inner.clone())
                .prop_map(|(e, b, c)| format!("if {e} {b} else {c}")),
            (expressions(), inner.clone())
                .prop_map(|(e, b)| format!("for (var b = 0u; {e}; b++) {b}")),
            (expressions(), inner.clone()).prop_map(|(e, b)| format!("while {e} {b}")),
            (expressions(), inner.clone(), inner.clone())
                .prop_map(|(e, b, c)| format!("loop {{ {b} continuing {{ {c} break if {e}; }} }}")),
            (expressions(), expressions(), inner.clone(), inner)
                .prop_map(|(e, f, b, c)| format!("switch {e} {{ case {f}: {b} default: {c} }}")),
        ]
    })
}

/// Whole kernels that naga can parse; most have wrong types.
fn parsable_kernels() -> impl Strategy<Value = String> {
    prop::collection::vec(statements(), 1..6).prop_map(|s| {
        format!(
            "struct S {{ a: f32 }}\nalias A = f32;\nconst C = 3;\noverride o: f32 = 1.0;\nvar<private> p: vec3<f32>;
var<workgroup> w: u32; var<workgroup> t: atomic<u32>;
fn g(f: f32) -> f32 {{ return f; }} fn h() {{ workgroupBarrier(); }}
fn kernel(index: u32) {{\n{}\n}}",
            s.join("\n")
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        everything(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_characters_never_panic(text in any::<String>()) {
        everything(&text);
    }

    #[test]
    fn random_kernels_never_panic(text in kernels()) {
        everything(&text);
    }

    #[test]
    fn random_bodies_never_panic(text in kernels()) {
        everything(&format!("fn f(a: f32) -> f32 {{ return a; }} fn kernel(index: u32) {{ {text} }}"));
    }

    #[test]
    fn parsable_kernels_never_panic(text in parsable_kernels()) {
        everything(&text);
    }

    #[test]
    fn every_error_lies_in_the_text(text in prop_oneof![kernels(), parsable_kernels()]) {
        let lines: Vec<&str> = text.split(['\n', '\r']).collect();
        if let Err(errors) = common::module(&text) {
            prop_assert!(!errors.0.is_empty());
            for e in &errors.0 {
                prop_assert_eq!(&e.file, "k.wgsl", "{}", errors);
                prop_assert_eq!(&e.source_line, lines[e.line - 1]);
                let width = e.source_line.chars().count();
                prop_assert!(e.length >= 1 && e.column - 1 <= width);
                prop_assert!(e.column - 1 + e.length <= width.max(e.column));
                prop_assert!(!e.to_string().contains("sinew_"), "{}", errors);
            }
        }
    }
}
