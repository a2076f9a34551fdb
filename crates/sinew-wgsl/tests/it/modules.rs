//! Modules put together from several texts.

use crate::common::{ACCESSORS, RENAMES, entry_point, module, module_with};
use sinew_wgsl::{
    DeclarationKind, EntryFunction, Module, ModuleBuilder, ModuleOptions, Snippet, SnippetKind,
};

const HALF: &str = "\
// read_position in a comment stays
const factor = 0.5;
struct Half { factor: f32, read_position: vec3<f32> }
fn scaled(p: vec3<f32>) -> Half { return Half(factor, p * factor); }
fn kernel(index: u32) {
    let half = scaled(read_position(index));
    write_position(index, half.read_position);
}";

fn build(texts: &[&str]) -> Module {
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    builder.declare("accessors", ACCESSORS);
    let mut calls = String::new();
    for (i, text) in texts.iter().enumerate() {
        let snippet = Snippet::parse(&format!("{i}.wgsl"), text).expect("a right kernel");
        let entry = builder
            .add(&snippet, &format!("sinew_{i}_"), &RENAMES)
            .expect("nothing in the way")
            .expect("no library");
        calls.push_str(&format!("{entry}(index); "));
    }
    builder.declare("all", &format!("fn sinew_all(index: u32) {{ {calls} }}"));
    builder.declare("entry point", &entry_point("sinew_all"));
    builder.finish().unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn one_snippet_many_times() {
    let module = build(&[HALF, HALF, HALF]);
    for i in 0..3 {
        assert!(
            module
                .text()
                .contains(&format!("const sinew_{i}_factor = 0.5;"))
        );
    }
    // Members and comments kept.
    assert!(module.text().contains("half.read_position"));
    assert!(
        module
            .text()
            .contains("// read_position in a comment stays")
    );
    assert!(module.text().contains("sinew_0_scaled(sinew_read(index))"));
    assert!(
        module
            .text()
            .contains("struct sinew_0_Half { factor: f32, read_position: vec3<f32> }")
    );
}

#[test]
fn bodies_and_whole_sets_mix() {
    let body = "write_position(index, 2.0 * read_position(index)); // no line end";
    let module = build(&[HALF, body, HALF]);
    assert!(module.text().contains("fn sinew_1_kernel(index: u32) {"));
    assert_eq!(module.entry_points().len(), 1);
}

#[test]
fn a_text_is_a_body_or_a_set_by_its_tokens() {
    let kind = |text| Snippet::parse("k", text).unwrap().kind();
    assert_eq!(kind("const a = 1; var b = a; b += 1;"), SnippetKind::Body);
    assert_eq!(kind("if index > 1u { return; }"), SnippetKind::Body);
    assert_eq!(kind("/* fn */ let fnord = 1; // fn"), SnippetKind::Body);
    assert_eq!(kind(";"), SnippetKind::Body);
    assert_eq!(kind("fn kernel(i: u32,) {}"), SnippetKind::Declarations);
    assert_eq!(
        kind("const a = 1; fn kernel(index : u32) { }"),
        SnippetKind::Declarations
    );
    let library = Snippet::parse_library("l", "const a = 1;").unwrap();
    assert_eq!(library.kind(), SnippetKind::Library);
}

#[test]
fn declarations_are_listed() {
    let text = "alias A = f32; const c = 1; override o: f32 = 1.0; struct S { a: A }
var<private> p: S; var<workgroup> w: array<S, c>; @must_use fn f() -> A { return o; } fn kernel(index: u32) {}";
    let snippet = Snippet::parse("k", text).unwrap();
    let found: Vec<_> = snippet.declared().map(|d| (d.kind, d.name)).collect();
    assert_eq!(
        found,
        [
            (DeclarationKind::Alias, "A"),
            (DeclarationKind::Constant, "c"),
            (DeclarationKind::Override, "o"),
            (DeclarationKind::Structure, "S"),
            (DeclarationKind::Variable, "p"),
            (DeclarationKind::Variable, "w"),
            (DeclarationKind::Function, "f"),
            (DeclarationKind::Function, "kernel"),
        ]
    );
    for d in snippet.declared() {
        assert_eq!(&text[d.span.clone()], d.name);
    }
    assert!(module(text).is_ok());
}

#[test]
fn local_variables_cannot_hide_generated_code() {
    // Names that generated code or another snippet has at module scope, used as local variables.
    let text = "\
let factor = 1.0;
let id = factor;
let vertex_count = vertex_count();
var arrayLength_ = vertex_count;
write_position(index, read_position(index) * id);";
    build(&[HALF, text]);
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    builder.declare(
        "a",
        "const hidden = 2.0; fn sinew_get(i: u32) -> f32 { return hidden; }",
    );
    let text = "let hidden = 1.0; let hidden_ = fetch(index) + hidden;";
    let snippet = Snippet::parse("k", text).unwrap();
    builder
        .add(&snippet, "sinew_0_", &[("fetch", "sinew_get")])
        .unwrap();
    let module = builder.finish().unwrap();
    assert!(
        module.text().contains("let hidden__ = 1.0;"),
        "{}",
        module.text()
    );
}

#[test]
fn two_local_variables_stay_two() {
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    builder.declare("a", "const x = 1.0; const x_ = 2.0;");
    let snippet = Snippet::parse("k", "let x = 1.0; { let x_ = 2.0; let y = x + x_; }").unwrap();
    builder.add(&snippet, "sinew_0_", &[]).unwrap();
    let module = builder.finish().unwrap();
    let text = module.text();
    assert!(
        text.contains("let x__ = 1.0; { let x___ = 2.0; let y = x__ + x___; }"),
        "{text}"
    );
}

#[test]
fn generated_names_cannot_be_reached_unless_given() {
    let snippet = Snippet::parse("k.wgsl", "let a = helper(1.0);").unwrap();
    let helper = "fn helper(a: f32) -> f32 { return a; }";
    let build = |renames: &[(&str, &str)]| {
        let mut builder = ModuleBuilder::new(ModuleOptions::default());
        builder.declare("helpers", helper);
        builder.add(&snippet, "sinew_0_", renames).unwrap();
        builder.finish().map(|_| ()).map_err(|e| e.0[0].one_line())
    };
    assert_eq!(
        build(&[]),
        Err("k.wgsl:1:9: unknown function `helper`".to_owned())
    );
    assert_eq!(build(&[("helper", "helper")]), Ok(()));
}

#[test]
fn prefixes_that_collide_are_kept_apart() {
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    let first = Snippet::parse("a", "fn b_c() {} fn kernel(index: u32) { b_c(); }").unwrap();
    let second = Snippet::parse("b", "fn c() {} fn kernel(index: u32) { c(); }").unwrap();
    let names = [
        builder.add(&first, "a_", &[]).unwrap().unwrap(),
        builder.add(&second, "a_b_", &[]).unwrap().unwrap(),
        builder.add(&second, "a_b_", &[]).unwrap().unwrap(),
    ];
    assert_eq!(names, ["a_kernel", "a_b_kernel", "a_b_kernel_"]);
    assert!(builder.finish().is_ok());
    // The free name of one is the other's.
    let third = Snippet::parse_library("c", "fn c() {} fn c_() { c(); }").unwrap();
    builder.add(&third, "a_b_", &[]).unwrap();
    builder.add(&third, "a_b_", &[]).unwrap();
    assert!(builder.finish().is_ok());
}

#[test]
fn what_cannot_be_added_is_refused() {
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    let snippet = Snippet::parse("k.wgsl", "fn read() {}\nfn kernel(index: u32) {}").unwrap();
    let mut add = |prefix: &str, renames: &[(&str, &str)]| {
        builder.add(&snippet, prefix, renames).unwrap_err().0[0].one_line()
    };
    assert_eq!(
        add("a_", &[("read", "b")]),
        "k.wgsl:1:4: `read` is already defined by the graph; choose another name"
    );
    assert_eq!(add("1", &[]), "k.wgsl:1:1: `1x` is not a valid identifier");
    assert_eq!(
        add("a b", &[]),
        "k.wgsl:1:1: `a bx` is not a valid identifier"
    );
    assert_eq!(
        add("a_", &[("x", "let")]),
        "k.wgsl:1:1: `let` is not a valid identifier"
    );
}

#[test]
fn features_beyond_the_core_must_be_switched_on() {
    let f16 = ModuleOptions {
        f16: true,
        ..ModuleOptions::default()
    };
    let subgroups = ModuleOptions {
        subgroups: true,
        ..ModuleOptions::default()
    };
    let half = "enable f16;\nfn kernel(index: u32) { let a = vec3<f16>(1.0h); }";
    let sum = "enable subgroups;\nfn kernel(index: u32) { let a = subgroupAdd(index); }";
    assert!(
        module_with(half, f16)
            .unwrap()
            .text()
            .starts_with("enable f16;")
    );
    assert!(module_with(sum, subgroups).is_ok());
    let message = |text| module(text).unwrap_err().0[0].one_line();
    assert_eq!(message(half), "k.wgsl:1:8: `f16` is not available here");
    assert_eq!(
        message(sum),
        "k.wgsl:1:8: `subgroups` is not available here"
    );
    assert_eq!(
        message("let a = subgroupAdd(index);"),
        "k.wgsl:1:9: not available here: subgroup operations"
    );
    assert_eq!(
        message("let a = 1.0h;"),
        "k.wgsl:1:9: not available here: `f16`"
    );
    // Core, though naga has a switch for it.
    assert!(module("let a = unpack2x16float(pack2x16float(vec2<f32>(1.0)));").is_ok());
    assert!(module("requires pointer_composite_access; fn kernel(index: u32) {}").is_ok());
    assert_eq!(
        message("requires magic; fn kernel(index: u32) {}"),
        "k.wgsl:1:10: `magic` is not available here"
    );
}

#[test]
fn other_entry_functions() {
    let entry = EntryFunction {
        name: "strand".to_owned(),
        parameters: vec![
            ("group".to_owned(), "vec3<u32>".to_owned()),
            ("lane".to_owned(), "u32".to_owned()),
        ],
    };
    assert_eq!(entry.signature(), "fn strand(group: vec3<u32>, lane: u32)");
    for text in [
        "let a = group.x + lane;",
        "fn strand(g: vec3 < u32 >, l: u32) {}",
    ] {
        let snippet = Snippet::parse_with("k", text, entry.clone()).unwrap();
        let mut builder = ModuleBuilder::new(ModuleOptions::default());
        let name = builder.add(&snippet, "sinew_0_", &[]).unwrap();
        assert_eq!(name.as_deref(), Some("sinew_0_strand"));
        builder.finish().unwrap();
    }
    let wrong = Snippet::parse_with("k", "fn strand(lane: u32) {}", entry).unwrap_err();
    assert_eq!(
        wrong.0[0].one_line(),
        "k:1:4: `strand` cannot be called as a kernel; declare it as `fn strand(group: vec3<u32>, lane: u32)`"
    );
}

#[test]
fn faults_of_generated_code_are_named_as_such() {
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    let snippet = Snippet::parse("k.wgsl", "let a = fetch(index);").unwrap();
    builder
        .add(&snippet, "sinew_0_", &[("fetch", "sinew_get")])
        .unwrap();
    builder.declare(
        "accessors of k",
        "fn sinew_get(i: u32) -> f32 {\n  return nothing;\n}",
    );
    assert_eq!(
        builder.finish().unwrap_err().0[0].one_line(),
        "accessors of k:2:10: unknown name `nothing`; this is an error in generated code, not in a kernel"
    );
}

#[test]
fn an_open_bracket_of_generated_code_is_not_blamed_on_the_snippet_behind_it() {
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    builder.declare("accessors of k", "fn sinew_get(i: u32) {\n  {\n}");
    let snippet = Snippet::parse("k.wgsl", "let a = 1;").unwrap();
    builder.add(&snippet, "sinew_0_", &[]).unwrap();
    assert_eq!(
        builder.finish().unwrap_err().0[0].one_line(),
        "accessors of k:1:22: `{` is never closed; this is an error in generated code, not in a kernel"
    );
}

#[test]
fn generated_code_that_calls_a_snippet_wrongly_points_at_the_declaration() {
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    let library =
        Snippet::parse_library("l.wgsl", "\nfn weight(a: f32) -> f32 { return a; }").unwrap();
    builder.add(&library, "sinew_0_", &[]).unwrap();
    builder.declare(
        "call",
        "fn sinew_call(i: u32) -> f32 { return sinew_0_weight(i); }",
    );
    assert_eq!(
        builder.finish().unwrap_err().0[0].one_line(),
        "l.wgsl:2:4: argument 1 of `weight` must be `f32`, found `u32`; it is declared as `fn weight(a: f32) -> f32`"
    );
}

#[test]
fn errors_of_two_snippets_come_together_and_those_of_one_once() {
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    let first = Snippet::parse("a.wgsl", "let a = bad1;").unwrap();
    let second = Snippet::parse("b.wgsl", "let b = bad2;").unwrap();
    for (i, snippet) in [&first, &second, &first].into_iter().enumerate() {
        builder.add(snippet, &format!("sinew_{i}_"), &[]).unwrap();
    }
    let errors = builder.finish().unwrap_err();
    let found: Vec<String> = errors.0.iter().map(|e| e.one_line()).collect();
    assert_eq!(
        found,
        [
            "a.wgsl:1:9: unknown name `bad1`",
            "b.wgsl:1:9: unknown name `bad2`"
        ]
    );
}

#[test]
fn bytes_of_the_module_are_located() {
    let module = build(&[HALF]);
    let at = module.text().find("sinew_0_scaled(sinew_read").unwrap();
    let place = module.locate(at + 20).unwrap();
    assert_eq!(
        (place.file.as_str(), place.at.line, place.at.column),
        ("0.wgsl", 6, 23)
    );
    let at = module.text().find("arrayLength").unwrap();
    assert_eq!(module.locate(at).unwrap().file, "accessors");
}

#[test]
fn an_empty_module_is_fine() {
    let module = ModuleBuilder::new(ModuleOptions::default())
        .finish()
        .unwrap();
    assert_eq!((module.text(), module.entry_points().len()), ("", 0));
    assert_eq!(module.locate(0), None);
}
