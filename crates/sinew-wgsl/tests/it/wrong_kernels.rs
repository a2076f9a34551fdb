//! What authors see when a kernel is wrong, letter by letter.

use crate::common;

use crate::common::errors;

/// `(what, kernel, what its author sees)`
const WRONG: [(&str, &str, &str); 32] = [
    (
        "unknown function",
        "let a = 1.0;\nlet p = smoothen(a);\n",
        "error: unknown function `smoothen`
 --> k.wgsl:2:9
  |
2 | let p = smoothen(a);
  |         ^^^^^^^^",
    ),
    (
        "unknown accessor",
        "fn kernel(index: u32) {\n\tlet p = read_positon(index);\n}",
        "error: unknown function `read_positon`
 --> k.wgsl:2:10
  |
2 | \tlet p = read_positon(index);
  | \t        ^^^^^^^^^^^^
  = help: did you mean `read_position`?",
    ),
    (
        "wrong type to an accessor",
        "let f = 2.0f;\nlet p = read_position(f);",
        "error: argument 1 of `read_position` must be `u32`, found `f32`
 --> k.wgsl:2:23
  |
2 | let p = read_position(f);
  |                       ^
  = help: it is declared as `fn read_position(index: u32) -> vec3<f32>`",
    ),
    (
        "a literal of a wrong type to an accessor",
        "write_sum(index, 1.5);",
        "error: expected `i32`, found a number with a fraction
 --> k.wgsl:1:18
  |
1 | write_sum(index, 1.5);
  |                  ^^^
  = help: it is declared as `fn write_sum(index: u32, value: i32)`",
    ),
    (
        "wrong number of arguments",
        "write_position(read_position(index));",
        "error: `write_position` takes 2 arguments, found 1
 --> k.wgsl:1:1
  |
1 | write_position(read_position(index));
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: it is declared as `fn write_position(index: u32, value: vec3<f32>)`",
    ),
    (
        "missing semicolon",
        "let x = read_position(index)\nwrite_position(index, x);",
        "error: expected `;` after `)`
 --> k.wgsl:1:28
  |
1 | let x = read_position(index)
  |                            ^",
    ),
    (
        "missing semicolon at the end",
        "// no line break\r\nwrite_sum(index, 1)",
        "error: expected `;` after `)`
 --> k.wgsl:2:19
  |
2 | write_sum(index, 1)
  |                   ^",
    ),
    (
        "brace never closed",
        "fn kernel(index: u32) {\n  if index > 3u {\n    return;\n}",
        "error: `{` is never closed
 --> k.wgsl:1:23
  |
1 | fn kernel(index: u32) {
  |                       ^
  = help: a `}` is missing",
    ),
    (
        "wrong bracket",
        "let a = (1 + 2];",
        "error: expected `)`, found `]`
 --> k.wgsl:1:15
  |
1 | let a = (1 + 2];
  |               ^
  = help: `(` was opened in line 1",
    ),
    (
        "assignment to let",
        "let x = 1;\nx = 2;",
        "error: cannot assign to `x`
 --> k.wgsl:2:1
  |
2 | x = 2;
  | ^
  = help: declare `x` with `var` instead of `let`",
    ),
    (
        "assignment to a parameter",
        "index += 1u;",
        "error: cannot assign to `index`
 --> k.wgsl:1:1
  |
1 | index += 1u;
  | ^^^^^
  = help: copy `index` into a `var` and change that",
    ),
    (
        "missing return",
        "fn weight(a: f32) -> f32 {\n  if a > 0.0 { return 1.0; }\n}\nfn kernel(index: u32) { let w = weight(1.0); }",
        "error: `weight` does not return a value of type `f32` on every path
 --> k.wgsl:1:4
  |
1 | fn weight(a: f32) -> f32 {
  |    ^^^^^^",
    ),
    (
        "wrong return",
        "fn weight(a: f32) -> f32 { return vec2(a); }\nfn kernel(index: u32) { let w = weight(1.0); }",
        "error: `weight` returns `f32`, found `vec2<f32>`
 --> k.wgsl:1:35
  |
1 | fn weight(a: f32) -> f32 { return vec2(a); }
  |                                   ^^^^^^^",
    ),
    (
        "a kernel that returns a value",
        "return 1.0;",
        "error: `kernel` returns nothing, but this `return` has a value
 --> k.wgsl:1:8
  |
1 | return 1.0;
  |        ^^^",
    ),
    (
        "reserved word",
        "let class = 1;",
        "error: `class` is a reserved word of WGSL
 --> k.wgsl:1:5
  |
1 | let class = 1;
  |     ^^^^^
  = help: choose another name",
    ),
    (
        "reserved prefix",
        "let a = sinew_positions[0];",
        "error: names that begin with `sinew_` are reserved for generated code
 --> k.wgsl:1:9
  |
1 | let a = sinew_positions[0];
  |         ^^^^^^^^^^^^^^^
  = help: choose another name",
    ),
    (
        "resource variable",
        "@group(0) @binding(0) var<storage> rest: array<f32>;\nfn kernel(index: u32) {}",
        "error: a kernel cannot declare resources; @group is not allowed here
 --> k.wgsl:1:2
  |
1 | @group(0) @binding(0) var<storage> rest: array<f32>;
  |  ^^^^^
  = help: declare a pin of the kernel in the graph and use its accessor",
    ),
    (
        "resource variable without attributes",
        "var t: texture_2d<f32>;\nfn kernel(index: u32) {}",
        "error: a kernel cannot declare resources; such a `var` is not allowed here
 --> k.wgsl:1:1
  |
1 | var t: texture_2d<f32>;
  | ^^^
  = help: write `var<private>` or `var<workgroup>`, or declare a pin of the kernel in the graph and use its accessor",
    ),
    (
        "entry point",
        "@compute fn kernel(index: u32) {}",
        "error: a kernel cannot use `@compute`
 --> k.wgsl:1:2
  |
1 | @compute fn kernel(index: u32) {}
  |  ^^^^^^^
  = help: the entry point is generated; the group size is set in the graph",
    ),
    (
        "recursion",
        "fn a(n: u32) -> u32 { return b(n); }\nfn b(n: u32) -> u32 { return a(n); }\nfn kernel(index: u32) { let n = a(index); }",
        "error: `a` calls itself: a -> b -> a
 --> k.wgsl:1:30
  |
1 | fn a(n: u32) -> u32 { return b(n); }
  |                              ^
  = help: WGSL has no recursion; use a loop",
    ),
    (
        "wrong vector width",
        "let p = read_position(index);\nwrite_position(index, p + vec2<f32>(1.0));",
        "error: `+` does not accept `vec3<f32>` and `vec2<f32>`
 --> k.wgsl:2:23
  |
2 | write_position(index, p + vec2<f32>(1.0));
  |                       ^^^^^^^^^^^^^^^^^^",
    ),
    (
        "unknown identifier",
        "let weight = 0.5;\nlet a = wieght * 2.0;",
        "error: unknown name `wieght`
 --> k.wgsl:2:9
  |
2 | let a = wieght * 2.0;
  |         ^^^^^^
  = help: did you mean `weight`?",
    ),
    (
        "unknown member",
        "let a = read_position(index).w;",
        "error: there is no member `w`
 --> k.wgsl:1:30
  |
1 | let a = read_position(index).w;
  |                              ^",
    ),
    (
        "barrier in non-uniform control flow",
        "if index > 3u {\n  workgroupBarrier();\n}",
        "error: `workgroupBarrier` is not reached by all threads of a group
 --> k.wgsl:2:3
  |
2 |   workgroupBarrier();
  |   ^^^^^^^^^^^^^^^^
  = help: the condition in line 1 may differ between threads",
    ),
    (
        "barrier behind a return, by way of a function",
        "fn wait() { workgroupBarrier(); }\nfn kernel(index: u32) {\n  if index > 3u { return; }\n  wait();\n}",
        "error: `workgroupBarrier` is not reached by all threads of a group
 --> k.wgsl:4:3
  |
4 |   wait();
  |   ^^^^^^
  = help: the condition in line 3 may differ between threads",
    ),
    (
        "a condition that is none",
        "if (index) { return; }",
        "error: a condition must be `bool`, found `u32`
 --> k.wgsl:1:4
  |
1 | if (index) { return; }
  |    ^^^^^^^",
    ),
    (
        "another language's declaration",
        "float3 p = read_position(index);",
        "error: this is HLSL or GLSL, but a kernel must be WGSL
 --> k.wgsl:1:1
  |
1 | float3 p = read_position(index);
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: in WGSL it is `var p: vec3f = read_position(index);`; docs/nodes/kernel.md has a table of words",
    ),
    (
        "another language's function",
        "let p = lerp(1.0, 2.0, 0.5);",
        "error: unknown function `lerp`
 --> k.wgsl:1:9
  |
1 | let p = lerp(1.0, 2.0, 0.5);
  |         ^^^^
  = help: WGSL has `mix`",
    ),
    (
        "a preprocessor line",
        "#define INTS 8\nlet a = INTS;",
        "error: unexpected character `#`
 --> k.wgsl:1:1
  |
1 | #define INTS 8
  | ^
  = help: WGSL has no preprocessor; use `const NAME = value;`",
    ),
    (
        "what naga gives no place for",
        "let a = 1u;\nif a > 3u {\n  return;\n} else {\n  return;\n}\nlet b = index[0];\nlet c = 2;",
        "error: this value has no elements or members
 --> k.wgsl:7:1
  |
7 | let b = index[0];
  | ^^^^^^^^^^^^^^^^^",
    ),
    (
        "empty text",
        "",
        "error: the kernel is empty
 --> k.wgsl:1:1
  |
1 | 
  | ^
  = help: write the statements of `fn kernel(index: u32)`, or the whole function",
    ),
    (
        "columns count characters",
        "/* größe */ let größe = 1.0; let ß = größse;",
        "error: unknown name `größse`
 --> k.wgsl:1:38
  |
1 | /* größe */ let größe = 1.0; let ß = größse;
  |                                      ^^^^^^
  = help: did you mean `größe`?",
    ),
];

#[test]
fn messages_are_these() {
    for (what, kernel, seen) in WRONG {
        assert_eq!(errors(kernel), seen, "{what}");
    }
}

#[test]
fn several_functions_give_several_messages_in_order() {
    let text = "fn a() { let x = bad1; }
fn b() { let y = 1 let z = 2; }
fn c() -> f32 { }
fn d(p: vec3<f32>) -> vec3<f32> { return p.xy; }
fn kernel(index: u32) { let q = d(bad2); }";
    let found: Vec<String> = common::module(text)
        .unwrap_err()
        .0
        .iter()
        .map(|e| e.one_line())
        .collect();
    assert_eq!(
        found,
        [
            "k.wgsl:1:18: unknown name `bad1`",
            "k.wgsl:2:18: expected `;` after `1`",
            "k.wgsl:3:4: `c` does not return a value of type `f32` on every path",
            "k.wgsl:4:42: `d` returns `vec3<f32>`, found `vec2<f32>`",
            "k.wgsl:5:35: unknown name `bad2`",
        ]
    );
}

#[test]
fn several_problems_of_the_text_itself_are_found_at_once() {
    let text = "@compute fn kernel(index: u32) { let class = 1; let sinew_a = 2; }";
    let places: Vec<usize> = common::module(text)
        .unwrap_err()
        .0
        .iter()
        .map(|e| e.column)
        .collect();
    assert_eq!(places, [2, 38, 53]);
}

#[test]
fn generated_names_never_reach_the_author() {
    for (what, kernel, _) in WRONG.iter().filter(|w| w.0 != "reserved prefix") {
        let seen = errors(kernel);
        assert!(!seen.contains("sinew_"), "{what}: {seen}");
        assert!(!seen.contains("accessors:"), "{what}: {seen}");
    }
}
