//! Kernels that are short to read and heavy for a driver: each is refused at its place, before a driver sees it.

use sinew_graph::{NoNesting, compile};

const WRITE: &str = "write_mesh_positions(index, ";

fn node(text: &str) -> String {
    let text = serde_json::to_string(text).expect("text");
    format!(
        r#"{{ "node": "kernel", "domain": "vertex", "inputs": {{ "mesh": {{ "type": "mesh", "link": "body" }} }},
"outputs": {{ "mesh": {{ "type": "mesh", "writes": ["positions"] }} }}, "text":
{text} }}"#
    )
}

fn found(nodes: &str) -> Vec<sinew_graph::Diagnostic> {
    let document = format!(
        r#"{{ "sinew": "1.0", "inputs": {{ "body": {{ "type": "mesh" }} }}, "nodes": {{ {nodes} }}, "outputs": {{ "body": "k0" }} }}"#
    );
    match compile("g.json", &document, &NoNesting) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.0,
    }
}

/// What is said of a kernel, and the words of its text that are underlined.
fn said(text: &str) -> (String, String) {
    let all = found(&format!(r#""k0": {}"#, node(text)));
    let Some(first) = all.first() else {
        return ("no error".into(), String::new());
    };
    assert_eq!(first.code, "kernel");
    let place = first.text[first.span.clone()].to_owned();
    (first.message.clone(), place)
}

#[track_caller]
fn fine(text: &str) {
    assert_eq!(said(text).0, "no error");
}

#[track_caller]
fn refused(text: &str, message: &str, place: &str) {
    let (found, at) = said(text);
    assert_eq!((found.as_str(), at.as_str()), (message, place));
}

/// The same where the number in the message is of no matter.
#[track_caller]
fn says(text: &str, part: &str) {
    let (message, _) = said(text);
    assert!(message.contains(part), "{message}");
}

fn private(count: usize) -> String {
    format!(
        "var<private> table: array<vec4f, {count}>;
fn kernel(index: u32) {{ table[index].x = 1.0; {WRITE}table[index + 1u].xyz); }}"
    )
}

#[test]
fn private_variables_are_bounded() {
    fine(&private(128));
    let message = "private variables take 2064 bytes, but at most 2048 are allowed";
    refused(&private(129), message, "table");
    let far = "private variables take 16000 bytes, but at most 2048 are allowed";
    refused(&private(1000), far, "table");
    let many: String = (0..129)
        .map(|i| format!("var<private> v{i}: vec4f;\n"))
        .collect();
    let text = format!("{many}fn kernel(index: u32) {{ {WRITE}v0.xyz); }}");
    refused(&text, message, "v0");
}

#[test]
fn variables_of_every_call_count() {
    let calls = |calls: usize| {
        let calls = "p += f(index);".repeat(calls);
        format!(
            "fn f(i: u32) -> vec3f {{ var t: array<vec4f, 32>; t[i].x = 1.0; return t[i + 1u].xyz; }}
fn kernel(index: u32) {{ var p = vec3f(); {calls} {WRITE}p); }}"
        )
    };
    fine(&calls(4));
    refused(
        &calls(5),
        "the variables of `kernel` take 2560 bytes, with those of its calls and private ones, but at most 2048 are allowed",
        "kernel",
    );
}

/// What is indexed by its value gets a variable in the driver's form.
#[test]
fn values_that_are_indexed_count_as_variables() {
    let value = |count: usize| format!("let a = array<f32, {count}>(); {WRITE}vec3f(a[index]));");
    fine(&value(512));
    says(
        &value(100_000),
        "take 400000 bytes, with those of its calls",
    );
    let constant = format!(
        "const T = array({}1.0);\nfn kernel(index: u32) {{ {WRITE}vec3f(T[index])); }}",
        "1.0, ".repeat(999)
    );
    says(&constant, "take 4000 bytes, with those of its calls");
    let structures = format!(
        "struct S {{ a: array<f32, 100000>, b: array<f32, 100000> }}
fn g(s: S) -> S {{ return s; }}
fn kernel(index: u32) {{ var s: S; {WRITE}vec3f(g(g(s)).a[index])); }}"
    );
    says(&structures, "at most 2048");
}

/// Threads beyond the last element do not run the kernel, so that a barrier could wait for ever.
#[test]
fn workgroup_memory_is_refused() {
    let text = format!(
        "var<workgroup> common_table: array<f32, 4>;
fn kernel(index: u32) {{ {WRITE}vec3f(common_table[index % 4u])); }}"
    );
    let message = "a kernel cannot use workgroup memory, because it has no barriers";
    refused(&text, message, "workgroup");
}

/// `count` functions of which each calls the next twice.
fn doubling(count: usize) -> String {
    let functions: String = (1..count)
        .map(|i| {
            let next = i - 1;
            format!("fn f{i}(p: vec3f) -> vec3f {{ return f{next}(p * 1.5) - f{next}(p); }}\n")
        })
        .collect();
    let last = count - 1;
    format!(
        "fn f0(p: vec3f) -> vec3f {{ return p * 1.01; }}\n{functions}fn kernel(index: u32) {{ {WRITE}f{last}(read_mesh_positions(index))); }}"
    )
}

#[test]
fn calls_count_as_often_as_they_are_written_out() {
    let part = "operations, but at most 32768 are allowed";
    fine(&doubling(10));
    let (message, place) = said(&doubling(30));
    assert!(message.contains(part), "{message}");
    assert_eq!(place, "f11", "{message}");
    // As many calls as no number holds, each function looked at once.
    assert_eq!(said(&doubling(200)).1, "f11");
    let calls = "p = f(p);".repeat(2000);
    let in_a_loop = format!(
        "fn f(p: vec3f) -> vec3f {{ return sin(p); }}
fn kernel(index: u32) {{ var p = read_mesh_positions(index); for (var i = 0u; i < 9u; i++) {{ {calls} }} {WRITE}p); }}"
    );
    says(&in_a_loop, part);
}

#[test]
fn long_functions_are_refused() {
    let part = "and its calls take";
    let straight = |lines: usize| {
        let lines = "p = sin(p * 1.5) + p.yzx;".repeat(lines);
        format!("var p = read_mesh_positions(index); {lines} {WRITE}p);")
    };
    fine(&straight(400));
    says(&straight(2000), part);
    let indexed = format!(
        "var t: array<vec4f, 8>; var p = read_mesh_positions(index); {} {WRITE}p);",
        "t[u32(p.x)].x = p.y;".repeat(200)
    );
    says(&indexed, part);
}

/// Structures of structures took naga's evaluator of constants half a minute, and twice as long with each more.
#[test]
fn structures_that_double_are_refused() {
    let structures: String = (1..60)
        .map(|i| format!("struct S{i} {{ a: S{0}, b: S{0} }}\n", i - 1))
        .collect();
    let (message, place) = said(&format!(
        "struct S0 {{ a: f32, b: f32 }}\n{structures}const z = S59();\nfn kernel(index: u32) {{ {WRITE}vec3f(0.0)); }}"
    ));
    assert_eq!(place, "S12", "{message}");
    assert!(message.contains("at most 65536"), "{message}");
}

/// Each is within its limits, and all together are as long as a book.
#[test]
fn many_uses_of_a_table_are_refused() {
    let table = format!("const T = array({}1.0);\n", "1.0, ".repeat(5000));
    let uses: String = (0..100)
        .map(|i| format!("const c{i} = T[{i}];\n"))
        .collect();
    let text = format!("{table}{uses}fn kernel(index: u32) {{ {WRITE}vec3f(c0)); }}");
    says(&text, "have more than 262144 tokens");
}

#[test]
fn deep_blocks_are_refused() {
    let text = format!("{}{}", "if index > 1u {".repeat(60), "}".repeat(60));
    says(&text, "this expression or statement is nested too deeply");
}

/// What counts loops cannot be hidden by a variable of the kernel.
#[test]
fn the_counter_of_loops_is_out_of_reach() {
    let message = "the name `given_turns` is reserved for generated code";
    let local = "var given_turns = 5u; loop { given_turns = 5u; }";
    refused(local, message, "given_turns");
    let parameter = "fn f(given_turns: u32) { loop { if given_turns > 4u { break; } } } fn kernel(index: u32) { f(index); }";
    refused(parameter, message, "given_turns");
}

#[test]
fn all_kernels_of_a_graph_are_bounded_together() {
    let kernels = |count: usize| {
        let lines = "p = sin(p * 1.5) + p.yzx;".repeat(600);
        let text = format!("var p = read_mesh_positions(index); {lines} {WRITE}p);");
        let nodes: Vec<String> = (0..count)
            .map(|i| format!(r#""k{i}": {}"#, node(&text)))
            .collect();
        found(&nodes.join(",\n"))
    };
    assert!(kernels(8).iter().all(|d| d.code != "too_large"));
    let errors = kernels(20);
    let first = &errors[0];
    assert_eq!(first.code, "too_large", "{}", first.message);
    let part = "a driver may take more than a minute to compile the kernels up to this one";
    assert!(first.message.contains(part), "{}", first.message);
}
