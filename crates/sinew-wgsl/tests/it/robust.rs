//! No text ends in a panic or uses up the stack.

use crate::common;

/// Less than what tests and most threads have.
const SMALL_STACK: usize = 512 << 10;

fn on_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(SMALL_STACK);
    let running = thread.spawn(work).expect("a thread starts");
    running
        .join()
        .expect("no panic and no overflow of the stack")
}

/// The first message about a text, made on a small stack.
fn first_message(text: String) -> String {
    on_small_stack(move || match common::module(&text) {
        Ok(_) => "no error".to_owned(),
        Err(errors) => errors.0[0].message.clone(),
    })
}

#[test]
fn deep_nesting_ends_in_an_error() {
    let nested = |open: &str, close: &str, n: usize| {
        format!("let a = {}1{};", open.repeat(n), close.repeat(n))
    };
    let deep = "this expression or statement is nested too deeply";
    let cases = [
        (nested("(", ")", 10_000), deep),
        (nested("abs(", ")", 10_000), deep),
        (nested("array(", ")", 10_000), deep),
        (nested("-", "", 10_000), deep),
        (nested("!", "", 10_000), deep),
        (nested("", " + 1", 10_000), deep),
        (nested("", " && true", 10_000), deep),
        (nested("", ".x", 10_000), deep),
        (nested("", "[0]", 10_000), deep),
        (
            format!(
                "var a: {}f32{};",
                "array<".repeat(10_000),
                ">".repeat(10_000)
            ),
            deep,
        ),
        (
            format!("{}{}", "{".repeat(10_000), "}".repeat(10_000)),
            deep,
        ),
        (
            format!("{}{}", "if true {".repeat(10_000), "}".repeat(10_000)),
            deep,
        ),
        (
            format!("if true {{}} {}", "else if true {}".repeat(10_000)),
            deep,
        ),
        (format!("let a = {}", "(".repeat(1_000_000)), deep),
    ];
    for (text, message) in cases {
        let start: String = text.chars().take(40).collect();
        assert_eq!(first_message(text), message, "{start}");
    }
    let comment = format!(
        "{}{} let a = 1;",
        "/*".repeat(100_000),
        "*/".repeat(100_000)
    );
    assert_eq!(first_message(comment), "no error");
}

#[test]
fn what_the_limits_let_pass_needs_little_stack() {
    let nested = |open: &str, close: &str, n: usize| {
        format!("let a = {}1.0{};", open.repeat(n), close.repeat(n))
    };
    let cases = [
        nested("(", ")", 58),
        nested("abs(", ")", 40),
        nested("", " + 1.0", 170),
        nested("- ", "", 170),
        nested("(1.0 + ", ")", 44),
        nested("abs(1.0 + 2.0 * 3.0 / 4.0 - ", ")", 22),
        format!("{}{}", "{".repeat(29), "}".repeat(29)),
        format!("{}{}", "if true {".repeat(29), "}".repeat(29)),
        format!(
            "{}{}",
            "loop { if true {".repeat(14),
            "} break; }".repeat(14)
        ),
        format!("if true {{}} {}", "else if true {}".repeat(40)),
    ];
    for text in cases {
        let start: String = text.chars().take(40).collect();
        assert_eq!(first_message(text), "no error", "{start}");
    }
}

#[test]
fn chains_of_declarations_end_in_an_error() {
    let chain = |n: usize, line: &dyn Fn(usize) -> String| {
        let lines: String = (0..n).map(line).collect();
        format!("{lines}\nfn kernel(index: u32) {{}}")
    };
    let message = "20000 declarations depend on each other, but at most 256 are allowed";
    let last = |i: usize, text: &str, end: &str| match i {
        19_999 => end.to_owned(),
        _ => format!("{text}{}", i + 1),
    };
    let calls = chain(20_000, &|i| {
        format!("fn f{i}() {{ {}(); }}\n", last(i, "f", "barrier"))
    });
    assert_eq!(first_message(calls), message);
    let constants = chain(20_000, &|i| {
        format!("const c{i} = {};\n", last(i, "c", "1"))
    });
    assert_eq!(first_message(constants), message);
    let structures = chain(20_000, &|i| {
        format!("struct S{i} {{ a: {} }}\n", last(i, "S", "f32"))
    });
    assert_eq!(first_message(structures), message);
    let fine = chain(200, &|i| match i {
        199 => format!("fn f{i}() {{}}\n"),
        _ => format!("fn f{i}() {{ f{}(); }}\n", i + 1),
    });
    assert_eq!(first_message(fine), "no error");
    let ring = chain(20_000, &|i| {
        format!("fn f{i}() {{ f{}(); }}\n", (i + 1) % 20_000)
    });
    assert!(first_message(ring).starts_with("`f0` calls itself: f0 -> f1 -> "));
}

#[test]
fn local_variables_that_hide_functions_are_no_recursion() {
    let text = "fn a() -> f32 { let b = 1.0; return b; }
fn b() -> f32 { return a(); }
fn kernel(index: u32) { let kernel = b(); }";
    assert_eq!(common::errors(text), "no error");
}

#[test]
fn a_megabyte_of_text_is_checked() {
    let functions: String = (0..11_000)
        .map(|i| format!("fn g{i}(p: vec3<f32>) -> vec3<f32> {{ // größe {i}\n  return p * {i}.0 + vec3<f32>(1.0);\n}}\n"))
        .collect();
    let text = format!(
        "{functions}fn kernel(index: u32) {{ write_position(index, g7(read_position(index))); }}"
    );
    assert!(text.len() > 1_000_000);
    assert_eq!(first_message(text), "no error");
    // naga alone would need ten seconds.
    let statements = "s += read_position(index) * 2.0;\n".repeat(30_000);
    let text = format!("var s = vec3<f32>();\n{statements}");
    let message = "the kernel has 300010 tokens, but at most 65536 are allowed";
    assert_eq!(first_message(text.clone()), message);
    let text = format!("fn kernel(index: u32) {{ {text} }}");
    let message = "`kernel` has 300019 tokens, but at most 65536 are allowed";
    assert_eq!(first_message(text), message);
}

#[test]
fn problems_without_a_place_are_named_in_long_texts_too() {
    let line = "fn g#(p: vec3<f32>) -> vec3<f32> { return p; } // and some more text\n";
    let functions =
        |n: usize| -> String { (0..n).map(|i| line.replace('#', &i.to_string())).collect() };
    let kernel = "fn kernel(index: u32) {\n  let a = index[0];\n}";
    let found = |n: usize| {
        let errors = common::module(&format!("{}{kernel}", functions(n))).unwrap_err();
        (errors.0[0].line, errors.0[0].message.clone())
    };
    let message = "this value has no elements or members";
    assert_eq!(found(500), (502, message.to_owned()));
    assert_eq!(
        found(8_000),
        (1, format!("{message} (somewhere in this text)"))
    );
}

#[test]
fn errors_at_the_end_of_long_kernels_are_found() {
    let statements = "s += read_position(index) * 2.0;\n".repeat(2_000);
    let text = format!("var s = vec3<f32>();\n{statements}wrong(s);");
    let error = on_small_stack(move || common::module(&text).unwrap_err().0.remove(0));
    assert_eq!((error.line, error.column), (2_002, 1));
}

#[test]
fn long_lines_and_too_long_texts() {
    let text = format!("let a = bad;{}", " ".repeat(1_000_000));
    assert!(common::errors(&text).len() < 1000);
    let text = " ".repeat(sinew_wgsl::LONGEST_TEXT + 1);
    assert_eq!(
        first_message(text),
        "the text has 1048577 bytes, but at most 1048576 are allowed"
    );
}

#[test]
fn texts_without_end_of_line_and_with_every_end_of_line() {
    for end in ["\n", "\r\n", "\r", ""] {
        let text = format!("// comment{end}{end}let a = bad; // é");
        let found = match common::module(&text) {
            Ok(_) => None,
            Err(errors) => Some(errors.0[0].line),
        };
        // Without line ends all of it is a comment.
        let wanted = if end.is_empty() { 1 } else { 3 };
        assert_eq!(found, Some(wanted), "{end:?}");
    }
    assert_eq!(
        common::errors("write_sum(index, 1); // no line end"),
        "no error"
    );
}

#[test]
fn constants_that_double_and_tables_used_often_are_refused() {
    // A few lines that naga would need hours and all memory for.
    let mut text = "const a0 = array(1.0, 1.0);\n".to_owned();
    for i in 1..60 {
        text += &format!("const a{i} = array(a{0}, a{0});\n", i - 1);
    }
    let errors = common::module(&format!("{text}fn kernel(index: u32) {{ let x = a59; }}"));
    assert_eq!(
        errors.unwrap_err().0[0].one_line(),
        "k.wgsl:13:7: `a12` has 81910 tokens, including constants and structures that it uses, but at most 65536 are allowed; read large tables from a buffer"
    );
    let table = format!("array({}1.0)", "1.0, ".repeat(5000));
    let uses = "s += table[index];".repeat(1000);
    let kernel = |variable: &str| {
        format!("{variable} table = {table};\nfn kernel(index: u32) {{ var s = 0.0; {uses} }}")
    };
    let seen = first_message(kernel("const"));
    assert!(seen.starts_with("`kernel` has 10"), "{seen}");
    assert_eq!(first_message(kernel("var<private>")), "no error");
}

#[test]
fn constants_of_a_function_that_double_are_refused() {
    let mut text = "const a0 = array(1.0, 1.0);\n".to_owned();
    for i in 1..60 {
        text += &format!("const a{i} = array(a{0}, a{0});\n", i - 1);
    }
    let seen = first_message(format!("{text} let x = a59;"));
    assert!(
        seen.ends_with(
            "tokens, including constants and structures that it uses, but at most 65536 are allowed"
        ),
        "{seen}"
    );
}
