//! Barriers in uniform and in other control flow.

use crate::common;

/// Whether each `(kernel, line of the message)` is refused there, or not at all.
fn check(cases: &[(&str, Option<usize>)]) {
    for (text, line) in cases {
        let found = match common::module(text) {
            Ok(_) => None,
            Err(errors) => {
                let message = &errors.0[0].message;
                assert!(
                    message.ends_with("is not reached by all threads of a group"),
                    "{errors}"
                );
                Some(errors.0[0].line)
            }
        };
        assert_eq!(found, *line, "{text}");
    }
}

#[test]
fn what_all_threads_reach_is_taken() {
    check(&[
        ("workgroupBarrier();", None),
        ("storageBarrier(); if index > 1u { return; }", None),
        (
            "for (var i = 0u; i < 8u; i++) { workgroupBarrier(); }",
            None,
        ),
        (
            "for (var i = 0u; i < vertex_count(); i++) { workgroupBarrier(); }",
            None,
        ),
        ("if vertex_count() > 3u { workgroupBarrier(); }", None),
        ("if read_position(0u).x > 1.0 { workgroupBarrier(); }", None),
        (
            "if index > 3u { write_sum(index, 1); }\nworkgroupBarrier();",
            None,
        ),
        (
            "var i = 8u;\nloop { if i == 0u { break; } workgroupBarrier();\ncontinuing { i /= 2u; } }",
            None,
        ),
        (
            "for (var i = 0u; i < 8u; i++) { if index == i { continue; } }\nworkgroupBarrier();",
            None,
        ),
        (
            "loop { if index > 3u { break; } }\nworkgroupBarrier();",
            None,
        ),
        (
            "switch vertex_count() { case 1u: { workgroupBarrier(); } default: {} }",
            None,
        ),
        (
            "switch index { case 1u: { break; } default: {} }\nworkgroupBarrier();",
            None,
        ),
        (
            "fn wait(n: u32) { for (var i = 0u; i < n; i++) { workgroupBarrier(); } }\nfn kernel(index: u32) { wait(3u); wait(vertex_count()); }",
            None,
        ),
        (
            "fn early(n: u32) { if n > 3u { return; } }\nfn kernel(index: u32) { early(index); workgroupBarrier(); }",
            None,
        ),
        (
            "var<workgroup> count: u32;\nfn kernel(index: u32) {\nlet n = workgroupUniformLoad(&count);\nif n > 3u { workgroupBarrier(); }\n}",
            None,
        ),
    ]);
}

#[test]
fn what_only_some_threads_reach_is_refused() {
    check(&[
        ("if index > 3u {\nworkgroupBarrier();\n}", Some(2)),
        (
            "if vertex_count() > 3u {} else if index > 3u {} else {\nstorageBarrier(); }",
            Some(2),
        ),
        ("if index > 3u { return; }\n\nworkgroupBarrier();", Some(3)),
        (
            "let n = index * 2u; let odd = (n & 1u) == 1u;\nif odd {\nworkgroupBarrier(); }",
            Some(3),
        ),
        (
            "for (var i = 0u; i < index; i++) {\nworkgroupBarrier(); }",
            Some(2),
        ),
        (
            "loop {\nworkgroupBarrier();\nif index > 3u { break; } }",
            Some(2),
        ),
        (
            "for (var i = 0u; i < 8u; i++) {\nif index == i { continue; }\nworkgroupBarrier(); }",
            Some(3),
        ),
        (
            "switch index { case 1u: {\nworkgroupBarrier(); } default: {} }",
            Some(2),
        ),
        (
            "if read_position(index).x > 1.0 {\nworkgroupBarrier(); }",
            Some(2),
        ),
        (
            "var n = 0u;\nif index > 3u { n = 1u; }\nif n == 0u {\nworkgroupBarrier(); }",
            Some(4),
        ),
        (
            "var n = 0u;\nfor (var i = 0u; i < 3u; i++) {\nif n == 0u {\nworkgroupBarrier(); }\nn = index; }",
            Some(4),
        ),
        (
            "fn wait(n: u32) { for (var i = 0u; i < n; i++) {\nworkgroupBarrier(); } }\nfn kernel(index: u32) { wait(index); }",
            Some(2),
        ),
        (
            "fn wait() { workgroupBarrier(); }\nfn deeper() { wait(); }\nfn kernel(index: u32) { if index > 3u {\ndeeper(); } }",
            Some(4),
        ),
        (
            "fn is_odd(n: u32) -> bool { if (n & 1u) == 1u { return true; } return false; }\nfn kernel(index: u32) { if is_odd(index) {\nworkgroupBarrier(); } }",
            Some(3),
        ),
        (
            "fn fill(p: ptr<function, u32>) { *p = 1u; }\nfn kernel(index: u32) { var n = 0u; fill(&n); if n == 1u {\nworkgroupBarrier(); } }",
            Some(3),
        ),
        (
            "var<private> own: u32;\nfn kernel(index: u32) { own = 1u; if own == 1u {\nworkgroupBarrier(); } }",
            Some(3),
        ),
        (
            "var<workgroup> count: atomic<u32>;\nfn kernel(index: u32) { let n = atomicAdd(&count, 1u); if n == 1u {\nworkgroupBarrier(); } }",
            Some(3),
        ),
    ]);
}

#[test]
fn many_loops_in_each_other_take_no_time() {
    let depth = 25;
    let text = format!(
        "var n = 0u; {} workgroupBarrier(); {}",
        "for (var i = 0u; i < 3u + n; i++) { n = max(n, index + i); ".repeat(depth),
        "}".repeat(depth)
    );
    check(&[(&text, Some(1))]);
}
