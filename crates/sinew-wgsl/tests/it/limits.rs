//! What a driver needs for a module, and loops that end.

use crate::common;
use sinew_wgsl::{ModuleOptions, Snippet};

fn share(text: &str) -> f64 {
    let module = common::module(text).expect("a module");
    module.share_of_limits()
}

#[test]
fn what_is_called_twice_counts_twice() {
    let text = |calls: usize| {
        let calls = "s += f(s);".repeat(calls);
        format!(
            "fn f(a: f32) -> f32 {{ return sin(a) * cos(a); }}\nfn kernel(index: u32) {{ var s = 1.0; {calls} }}"
        )
    };
    // So many that the kernel takes more than the functions behind its pins.
    let found = [100, 101, 200].map(|calls| share(&text(calls)));
    let call = found[1] - found[0];
    assert!(call > 0.0, "{found:?}");
    let difference = found[2] - found[0] - 100.0 * call;
    assert!(difference.abs() < 1e-9, "{found:?}");
}

#[test]
fn the_largest_share_counts() {
    let of = |space: &str, count: usize| {
        share(&format!(
            "var<{space}> a: array<vec4f, {count}>; fn kernel(index: u32) {{ a[0].x = 1.0; }}"
        ))
    };
    assert_eq!(of("private", 64), 0.5);
    assert_eq!(of("workgroup", 256), 0.25);
    assert!(share("let a = 1.0;") < 0.02);
}

#[test]
fn only_limited_modules_are_refused() {
    let text = "var<private> a: array<vec4f, 1000>; fn kernel(index: u32) { a[index].x = 1.0; }";
    assert!(common::module(text).is_ok());
    let limited = ModuleOptions {
        limited: true,
        ..ModuleOptions::default()
    };
    let errors = common::module_with(text, limited).expect_err("too large");
    assert_eq!(
        errors.0[0].one_line(),
        "k.wgsl:1:14: private variables take 16000 bytes, but at most 2048 are allowed; read a large table from a buffer: an input of the kernel"
    );
}

/// The text with a counter in each loop.
fn counted(text: &str) -> String {
    let snippet = Snippet::parse("k.wgsl", text).expect("a kernel");
    let mut out = String::new();
    let mut copied = 0;
    for (at, more) in snippet.loop_counters("turns") {
        out.push_str(&text[copied..at]);
        out.push_str(&more);
        copied = at;
    }
    out + &text[copied..]
}

#[test]
fn every_loop_is_counted() {
    let counter = "{ if (turns == 0u) { return; } turns -= 1u;";
    for text in [
        "loop { break; }",
        "while index > 1u { }",
        "for (var i = 0u; i < 4u; i++) { }",
        "for (;;) { if true { break; } }",
    ] {
        assert_eq!(counted(text), text.replacen('{', counter, 1));
    }
    let none = "let a = 1.0; if true { }";
    assert_eq!(counted(none), none);
    let nested = counted("for (var i = 0u; i < 4u; i++) { loop { while true { } } }");
    assert_eq!(nested.matches("turns -= 1u;").count(), 3);
}

/// Whatever a function returns, and where it cannot return: what comes out is a module.
#[test]
fn counted_loops_are_valid() {
    let text = "struct S { a: f32, b: vec3<f32> }
alias T = array<S, 2>;
fn f() -> vec3<f32> { loop { if true { return vec3<f32>(1.0); } } return vec3<f32>(); }
fn g() -> S { var s: S; while s.a < 4.0 { s.a += 1.0; } return s; }
fn h(i: u32) -> T { for (var k = 0u; k < i; k++) { } return T(); }
fn j() -> bool { loop { continuing { for (var k = 0u; k < 4u; k++) { } break if true; } } return true; }
fn kernel(index: u32) { loop { switch index { case 1u: { loop { break; } } default: { break; } } if j() { break; } }
 let a = f(); let b = g(); let c = h(index); }";
    let found = counted(text);
    assert_eq!(found.matches("turns -= 1u;").count(), 7);
    for leave in [
        "return vec3<f32>(); }",
        "return S(); }",
        "return bool(); }",
        "{ break; } turns",
    ] {
        assert!(found.contains(leave), "{leave}: {found}");
    }
    let module = common::module(&format!("var<private> turns: u32;\n{found}"));
    module.unwrap_or_else(|e| panic!("{e}"));
}
