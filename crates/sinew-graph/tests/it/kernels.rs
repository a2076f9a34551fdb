//! Custom kernels in documents: what is wrong with them is said at its place, without any device.

use sinew_deform::{Element, Par, Phase, PortType};
use sinew_graph::{
    BoundGraph, BufferWrite, GraphSource, GraphText, InputBinding, KernelDomain, NoNesting, Plan,
    compile,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Files by name.
struct Files(BTreeMap<&'static str, &'static str>);

impl GraphSource for Files {
    fn graph_text(&self, from: &str, name: &str) -> Result<GraphText, String> {
        let folder = from.rsplit_once('/').map_or("", |f| f.0);
        let name = match folder {
            "" => name.to_owned(),
            folder => format!("{folder}/{name}"),
        };
        let text = self.0.get(name.as_str()).ok_or("there is no such file")?;
        Ok(GraphText::new(name, (*text).to_owned()))
    }
}

/// A document with one kernel; `pins` are its inputs, outputs and so on, `text` is a JSON value.
fn document(pins: &str, text: &str) -> String {
    format!(
        r#"{{ "sinew": "1.0", "nodes": {{ "mine": {{ "node": "kernel", {pins},
"text": {text} }} }}, "outputs": {{ "body": "mine" }} }}"#
    )
}

const MESH: &str = r#""domain": "vertex", "inputs": { "mesh": { "type": "mesh", "link": "body" } },
 "outputs": { "mesh": { "type": "mesh", "writes": ["positions"] } }"#;

const SUMS: &str = r#""domain": "vertex", "inputs": { "mesh": { "type": "mesh", "link": "body" } },
 "outputs": { "sums": { "type": "buffer", "element": "float" } }"#;

const ADDED: &str = r#""domain": "triangle", "inputs": { "mesh": { "type": "mesh", "link": "body" } },
 "outputs": { "sums": { "type": "buffer", "element": "int", "write": "atomic_add" } }"#;

fn message(document: &str) -> String {
    match compile("g.json", document, &NoNesting) {
        Ok(_) => "nothing is wrong".into(),
        Err(e) => e.to_string(),
    }
}

/// What `sinew check` says of a kernel whose first line is line 3 of the document.
#[track_caller]
fn says(pins: &str, text: &str, expected: &str) {
    assert_eq!(message(&document(pins, text)), expected);
}

fn plan(document: &str) -> Plan {
    compile("g.json", document, &NoNesting).unwrap_or_else(|e| panic!("{e}"))
}

// What newcomers do, and what they are told.

#[test]
fn wrong_1_a_misspelt_accessor() {
    says(
        MESH,
        r#"["let p = read_mesh_position(index);", "write_mesh_positions(index, p);"]"#,
        "g.json:3:19: unknown function `read_mesh_position`; did you mean `read_mesh_positions`?",
    );
    says(
        MESH,
        r#""write_mesh_postions(index, vec3f(0.0));""#,
        "g.json:3:10: unknown function `write_mesh_postions`; did you mean `write_mesh_positions`?",
    );
}

#[test]
fn wrong_2_a_wrong_type_written() {
    says(
        MESH,
        "[\"fn kernel(index: u32) {\",\n\"    write_mesh_positions(index, 1.0);\",\n\"}\"]",
        "g.json:4:34: expected `vec3<f32>`, found a number with a fraction; it is declared as \
         `fn write_mesh_positions(i: u32, v: vec3f)`",
    );
}

#[test]
fn wrong_3_atomic_addition_of_floats() {
    let pins = r#""domain": "vertex", "inputs": { "mesh": { "type": "mesh", "link": "body" } },
 "outputs": { "sums": { "type": "buffer", "element": "float", "write": "atomic_add" } }"#;
    says(
        pins,
        r#""add_sums(index, 1.0);""#,
        "g.json:2:72: only int and uint buffers allow atomic_add, but 'sums' is a buffer of float; use \"element\": \"int\" and \
         scaled floats: i32(x * 32767.0)",
    );
}

#[test]
fn wrong_4_no_kernel() {
    says(
        MESH,
        r#""fn main(index: u32) { write_mesh_positions(index, vec3f(0.0)); }""#,
        "g.json:3:13: there is no function `kernel`; the kernel begins with `fn kernel(index: u32)`",
    );
}

#[test]
fn wrong_5_an_unknown_pin() {
    says(
        MESH,
        r#""write_mesh_positions(index, read_body_positions(index));""#,
        "g.json:3:38: unknown function `read_body_positions`; did you mean `read_mesh_positions`?",
    );
    says(
        MESH,
        r#""write_mesh_positions(index, vec3f(read_something_else_entirely(index)));""#,
        "g.json:3:44: unknown function `read_something_else_entirely`; functions that read are `read_mesh_tangents`, \
         `read_mesh_uvs`, `read_mesh_colors`; docs/nodes/kernel.md lists all functions",
    );
    says(
        MESH,
        r#""WritePosition(index, vec3f(0.0));""#,
        "g.json:3:10: unknown function `WritePosition`; functions that write are `write_mesh_positions`; docs/nodes/kernel.md \
         lists all functions",
    );
    says(
        MESH,
        r#""something(index);""#,
        "g.json:3:10: unknown function `something`; its inputs are `mesh`, its outputs are `mesh`; docs/nodes/kernel.md lists the \
         functions",
    );
}

#[test]
fn wrong_6_a_missing_semicolon() {
    says(
        MESH,
        "[\"let p = read_mesh_positions(index)\",\n\"write_mesh_positions(index, p);\"]",
        "g.json:3:44: expected `;` after `)`",
    );
}

#[test]
fn wrong_7_a_reserved_name() {
    says(
        MESH,
        r#""let target = read_mesh_positions(index); write_mesh_positions(index, target);""#,
        "g.json:3:14: `target` is a reserved word of WGSL; choose another name",
    );
    says(
        &format!(r#"{MESH}, "constants": {{ "target": 1 }}"#),
        r#""write_mesh_positions(index, vec3f(1.0));""#,
        "g.json:2:85: 'target' cannot be a name in constants; `target` is a reserved word of WGSL",
    );
    says(
        MESH,
        r#""fn given_up() {} fn kernel(index: u32) { write_mesh_positions(index, vec3f(1.0)); }""#,
        "g.json:3:13: the name `given_up` is reserved for generated code; choose another name",
    );
}

#[test]
fn wrong_8_a_barrier() {
    says(
        MESH,
        r#""if (index > 3u) { workgroupBarrier(); } write_mesh_positions(index, vec3f(0.0));""#,
        "g.json:3:28: `workgroupBarrier` is not reached by all threads of a group; a kernel cannot use barriers: threads \
         beyond the last element do not run it",
    );
}

#[test]
fn wrong_9_writing_an_input() {
    says(
        SUMS,
        r#""write_mesh_positions(index, vec3f(0.0)); write_sums(index, 1.0);""#,
        "g.json:3:10: `mesh` is an input, which a kernel can only read; declare an output: \"outputs\": { \"mesh\": { \"type\": \"mesh\", \
         \"writes\": [\"positions\"] } }",
    );
    says(
        MESH,
        r#""write_mesh_positions(index, vec3f(0.0)); write_mesh_colors(index, vec4f(0.0));""#,
        "g.json:3:51: the output `mesh` does not declare that it writes colors; add \"colors\" to its \"writes\"",
    );
}

#[test]
fn wrong_10_a_missing_file() {
    let text = r#"{ "sinew": "1.0", "nodes": {
  "mine": { "node": "kernel", "domain": "vertex", "file": "wave.wgsl",
    "inputs": { "mesh": { "type": "mesh", "link": "body" } },
    "outputs": { "mesh": { "type": "mesh", "writes": ["positions"] } } } },
  "outputs": { "body": "mine" } }"#;
    let found = compile("g.json", text, &Files(BTreeMap::new())).expect_err("no such file");
    assert_eq!(
        found.to_string(),
        "g.json:2:59: the kernel 'wave.wgsl' cannot be read: there is no such file; paths are relative to the document that names \
         them"
    );
}

#[test]
fn wrong_11_writing_what_is_added_to_and_the_other_way_round() {
    says(
        ADDED,
        r#""write_sums(index, 1);""#,
        "g.json:3:10: the output `sums` accepts atomic additions, not writes; use `add_sums(i, v)`, or declare it with \"write\": \"write\"",
    );
    says(
        SUMS,
        r#""add_sums(index, 1.0);""#,
        "g.json:3:10: the output `sums` accepts writes, not atomic additions; use `write_sums(i, v)`, or declare it with \"write\": \
         \"atomic_add\"",
    );
    says(
        ADDED,
        r#""add_sums(index, 1.0);""#,
        "g.json:3:26: expected `i32`, found a number with a fraction; it is declared as `fn add_sums(i: u32, v: i32)`",
    );
    says(
        ADDED,
        r#""let s = read_sums(index); add_sums(index, s);""#,
        "g.json:3:18: `sums` is an output, which its kernel cannot read; link it to an input of another kernel, and read \
         it there",
    );
    let least = ADDED.replace("atomic_add", "atomic_min");
    says(
        &least,
        r#""max_sums(index, 1);""#,
        "g.json:3:10: the output `sums` accepts atomic minima, not atomic maxima; use `min_sums(i, v)`, or declare it with \"write\": \
         \"atomic_max\"",
    );
    says(
        &least,
        r#""min_sums(index, 1u);""#,
        "g.json:3:26: argument 2 of `min_sums` must be `i32`, found `u32`; it is declared as `fn min_sums(i: u32, v: i32)`",
    );
    says(
        &ADDED.replace("atomic_add", "atomic_mean"),
        r#""add_sums(index, 1);""#,
        "g.json:2:70: a buffer has no write mode \"atomic_mean\"; expected \"write\": one of write, atomic_add, atomic_min, atomic_max",
    );
    says(
        &SUMS.replace(
            "\"element\": \"float\"",
            "\"element\": \"float\", \"write\": \"atomic_max\"",
        ),
        r#""max_sums(index, 1.0);""#,
        "g.json:2:72: only int and uint buffers allow atomic_max, but 'sums' is a buffer of float; use \"element\": \"int\" and scaled floats: \
         i32(x * 32767.0)",
    );
}

#[test]
fn wrong_12_moving_somebody_elses_vertex() {
    says(
        MESH,
        r#""write_mesh_positions(index + 1u, vec3f(0.0));""#,
        "g.json:3:10: a kernel may write mesh attributes only for its own vertex, inside the function `kernel`; call \
         `write_mesh_positions(index, ...)`; to write other elements, use a buffer output",
    );
    let pins = r#""domain": "triangle", "inputs": { "mesh": { "type": "mesh", "link": "body" } },
 "outputs": { "mesh": { "type": "mesh", "writes": ["positions"] } }"#;
    says(
        pins,
        r#""write_mesh_positions(index, vec3f(0.0));""#,
        "g.json:2:15: a kernel over triangles cannot write a mesh: triangles share vertices; write a buffer with \"write\": \
         \"atomic_add\" here, and write the mesh in a kernel over vertices",
    );
}

#[test]
fn wrong_13_other_shading_languages() {
    says(
        MESH,
        r#""float3 p = read_mesh_positions(index); write_mesh_positions(index, p);""#,
        "g.json:3:10: this is HLSL or GLSL, but a kernel must be WGSL; in WGSL it is `var p: vec3f = read_mesh_positions(index);`; docs/nodes/kernel.md has a table of words",
    );
    // As a reader of another program's pages begins: nothing of this is a function here.
    says(
        MESH,
        r#"["let side = 1.0;", "float4 q = mul(float4(p, 1.0), Wave);", "WriteOutPosition(Index, lerp(p, q.xyz, saturate(0.5 * side)));"]"#,
        "g.json:3:30: this is HLSL or GLSL, but a kernel must be WGSL; in WGSL it is `var q: vec4f = vec4f(p, 1.0) * Wave;`; docs/nodes/kernel.md has a table of words",
    );
    says(
        MESH,
        r#""@group(0) @binding(0) var<storage> x: array<f32>; fn kernel(index: u32) { write_mesh_positions(index, vec3f(x[0])); }""#,
        "g.json:3:11: a kernel cannot declare resources; @group is not allowed here; declare a pin of the kernel in the graph and \
         use its accessor",
    );
}

#[test]
fn wrong_14_parameters() {
    let with = |value: &str| {
        format!(r#"{MESH}, "parameters": {{ "blend": {{ "type": "float"{value} }} }}"#)
    };
    says(
        &with(r#", "value": 0.5"#),
        r#""write_mesh_positions(index, vec3f(blend));""#,
        "g.json:3:44: the parameter `blend` is a function; call it: `blend()`",
    );
    says(
        &with(""),
        r#""write_mesh_positions(index, vec3f(blend()));""#,
        "g.json:2:86: the parameter 'blend' of 'mine' has no value; add \"value\": a value, \"$blend\" for a parameter of the graph, or { \"keys\": \
         ... }",
    );
    says(
        &with(r#", "value": "$amount""#),
        r#""write_mesh_positions(index, vec3f(blend()));""#,
        "g.json:2:123: there is no parameter 'amount'; declare it under \"parameters\": {\"amount\": {\"type\": ..., \"default\": ...}}",
    );
}

#[test]
fn wrong_15_a_declaration_that_does_not_hold_together() {
    says(
        r#""domain": "edge", "inputs": { "mesh": { "type": "mesch", "link": "body" } }"#,
        r#""let a = 1;""#,
        "g.json:1:68: there is no domain \"edge\"; add \"domain\": \"vertex\", \"triangle\", \"strand\", \"joint\" or { \"count\": 64 }; a count is a whole number from 1 to 16777216\n\
         g.json:1:106: the type of 'mesh' is missing or unknown; did you mean \"mesh\"?\n\
         g.json:1:30: the kernel 'mine' has no output; add \"outputs\": { \"mesh\": { \"type\": \"mesh\", \"writes\": [\"positions\"] } }",
    );
    says(
        r#""domain": "vertex""#,
        r#""let a = 1;""#,
        "g.json:1:30: the kernel 'mine' has no mesh to run over; add \"inputs\": { \"mesh\": { \"type\": \"mesh\", \"link\": \"body\" } }\n\
         g.json:1:30: the kernel 'mine' has no output; add \"outputs\": { \"mesh\": { \"type\": \"mesh\", \"writes\": [\"positions\"] } }",
    );
    says(
        r#""domain": "vertex", "group_size": 0, "inputs": { "mesh": { "type": "mesh", "link": "body" } },
 "outputs": { "mesh": { "type": "mesh", "writes": ["position"] } }"#,
        r#""let a = 1;""#,
        "g.json:1:92: 'group_size' is 0; expected a whole number from 1 to 1024; 64 suits most GPUs\n\
         g.json:2:52: a mesh has no attribute \"position\"; did you mean \"positions\"?",
    );
    says(
        r#""domain": "vertex", "inputs": { "mesh": { "type": "mesh", "link": "body" } },
 "outputs": { "mesh": { "type": "mesh", "writes": ["positions", "colors"] } }"#,
        r#""write_mesh_positions(index, vec3f(0.0));""#,
        "g.json:2:65: the kernel 'mine' never writes this output; call `write_mesh_colors(index, ...)` in its text, or remove this declaration",
    );
    says(
        r#""domain": "vertex", "inputs": { "mesh": { "type": "mesh", "link": "body" },
 "mask": { "type": "mask", "link": "pose" } },
 "outputs": { "mesh": { "type": "mesh", "writes": ["positions"] } }"#,
        r#""write_mesh_positions(index, vec3f(0.0));""#,
        "g.json:2:36: input 'mask' of 'mine' takes a mask, but 'pose' is a pose; link an input or an output of type mask",
    );
    let sixteen: String = (0..17)
        .map(|i| format!(r#""mesh_{i}": {{ "type": "mesh", "link": "body" }},"#))
        .collect();
    says(
        &format!(
            r#""outputs": {{ "mesh": {{ "type": "mesh", "writes": ["positions"] }} }}, "domain": "vertex",
 "inputs": {{ {sixteen} }}"#
        ),
        r#""write_mesh_positions(index, vec3f(0.0));""#,
        "g.json:2:12: the kernel 'mine' has 17 inputs, but at most 16 are allowed; remove some, or split the kernel in two",
    );
}

#[test]
fn rounds_are_whole_numbers_and_feed_something() {
    let help = "expected a whole number from 1 to 256, or in a nested graph an int parameter that the outer graph sets to one";
    for (given, found) in [
        ("0", "0"),
        ("2.5", "2.5"),
        ("257", "257"),
        ("\"many\"", "\"many\""),
        ("\"$up\"", "\"$up\", which may change later"),
    ] {
        let pins = format!("{MESH}, \"repeat\": {given}");
        let expected = format!("g.json:2:80: 'repeat' of 'mine' is {found}; {help}");
        let document = document(&pins, "\"write_mesh_positions(index, vec3f());\"");
        let document = document.replacen(
            "\"nodes\"",
            "\"parameters\": { \"up\": { \"type\": \"int\", \"default\": 1 } }, \"nodes\"",
            1,
        );
        let said = message(&document);
        assert!(said.contains(&expected), "{said}");
    }
    says(
        &format!("{SUMS}, \"repeat\": 2"),
        r#""write_sums(index, 1.0);""#,
        "g.json:2:77: no output of 'mine' is an input of the next round; write a mesh, or give a buffer output the name and the element of \
         a buffer input",
    );
}

/// What a persistent buffer held is read by another function than its input; others hold nothing.
#[test]
fn only_persistent_buffers_have_a_past() {
    let kept = SUMS.replace("\"float\"", "\"float\", \"persistent\": true");
    says(
        &kept,
        r#""write_sums(index, read_sums(index));""#,
        "g.json:3:28: `sums` is an output, which its kernel cannot read; `last_sums(i)` is what it held before this frame",
    );
    says(
        SUMS,
        r#""write_sums(index, last_sums(index));""#,
        "g.json:3:28: the output `sums` is empty at the start of each frame; add \"persistent\": true to keep what it held before",
    );
    says(
        &SUMS.replace("\"float\"", "\"float\", \"persistent\": 1"),
        r#""write_sums(index, 1.0);""#,
        "g.json:2:77: 'persistent' of 'sums' is 1; expected true or false",
    );
    says(
        &format!("{kept}, \"repeat\": 2"),
        r#""write_sums(index, 1.0);""#,
        "g.json:2:97: 'mine' has a persistent buffer and repeats; keep the buffer in a kernel of its own, which does not repeat",
    );
}

/// The outer graph says how often a nested one repeats. All rounds of a document count together.
#[test]
fn nested_graphs_repeat_as_often_as_they_are_told() {
    let inner = r#"{ "sinew": "1.0", "inputs": { "mesh": { "type": "mesh" } }, "parameters": { "rounds": { "type": "int", "default": 1 } },
  "nodes": { "move": { "node": "kernel", "domain": "vertex", "repeat": "$rounds", "text": "write_mesh_positions(index, vec3f(1.0));",
    "inputs": { "mesh": { "type": "mesh", "link": "mesh" } }, "outputs": { "mesh": { "type": "mesh", "writes": ["positions"] } } } },
  "outputs": { "mesh": "move" } }"#;
    let files = Files(BTreeMap::from([("kernels/waves.json", inner)]));
    let three = OUTER.replace("\"mesh\": \"body\"", "\"mesh\": \"body\", \"rounds\": 3");
    let plan = compile("g.json", &three, &files).unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<&str> = plan.nodes().iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["waves/move/1", "waves/move/2", "waves/move"]);
    let node = |i: usize| {
        format!(
            r#""n{i}": {{ "node": "kernel", "domain": "vertex", "repeat": 256, "text": "write_mesh_positions(index, vec3f());",
"inputs": {{ "mesh": {{ "type": "mesh", "link": "body" }} }}, "outputs": {{ "mesh": {{ "type": "mesh", "writes": ["positions"] }} }} }}"#
        )
    };
    let nodes: Vec<String> = (0..17).map(node).collect();
    let many = format!(
        r#"{{ "sinew": "1.0", "nodes": {{ {} }}, "outputs": {{ "body": "n16" }} }}"#,
        nodes.join(",\n")
    );
    let expected = "g.json:33:58: the kernels up to this one repeat 4352 times; at most 4096 are allowed; repeat fewer times";
    assert_eq!(message(&many), expected);
}

#[test]
fn problems_of_several_functions_come_together() {
    let text = "[\"fn a() -> f32 { return 1; }\",\n\"fn b() -> vec3f { return 2.0; }\",\n\
                \"fn kernel(index: u32) { write_mesh_positions(index, b() * a()); }\"]";
    let found = message(&document(MESH, text));
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), 1, "{found}");
    assert!(lines[0].starts_with("g.json:4:"), "{found}");
}

const WAVE: &str = "// A wave along x.
fn kernel(index: u32) {
    let p = read_mesh_positions(index);
    write_mesh_positions(index, p + vec3f(0.0, sine(p.x), 0.0));
}
";

const TWO_WAVES: &str = r#"{ "sinew": "1.0", "inputs": { "mesh": { "type": "mesh" } }, "nodes": {
  "one": { "node": "kernel", "domain": "vertex", "file": "wave.wgsl",
    "inputs": { "mesh": { "type": "mesh", "link": "mesh" } }, "outputs": { "mesh": { "type": "mesh", "writes": ["positions"] } } },
  "two": { "node": "kernel", "domain": "vertex", "file": "wave.wgsl",
    "inputs": { "mesh": { "type": "mesh", "link": "one" } }, "outputs": { "mesh": { "type": "mesh", "writes": ["positions"] } } } },
  "outputs": { "mesh": "two" } }"#;

const OUTER: &str = r#"{ "sinew": "1.0", "nodes": {
  "waves": { "node": "graph", "file": "kernels/waves.json", "mesh": "body" } }, "outputs": { "body": "waves" } }"#;

/// A text is relative to the graph that names it, and what is wrong with it is said once, in its own file.
#[test]
fn nested_graphs_share_one_file() {
    let wrong = Files(BTreeMap::from([
        ("kernels/waves.json", TWO_WAVES),
        ("kernels/wave.wgsl", WAVE),
    ]));
    let found = compile("g.json", OUTER, &wrong).expect_err("no function `sine`");
    assert_eq!(
        found.to_string(),
        "kernels/wave.wgsl:4:48: unknown function `sine`; did you mean `sin`?"
    );
    let right = WAVE.replace("sine(", "sin(");
    let right = Files(BTreeMap::from([
        ("kernels/waves.json", TWO_WAVES),
        ("kernels/wave.wgsl", &*right.leak()),
    ]));
    let plan = compile("g.json", OUTER, &right).unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<&str> = plan.nodes().iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["waves/one", "waves/two"]);
    let kernels: Vec<_> = plan
        .nodes()
        .iter()
        .filter_map(|n| n.kernel.as_ref())
        .collect();
    assert_eq!(kernels[0].file(), "kernels/wave.wgsl");
    assert!(
        std::ptr::eq(kernels[0].desc(), kernels[1].desc()),
        "one signature"
    );
}

#[test]
fn domains_need_their_elements() {
    let domain = |domain: &str| {
        format!(
            r#""domain": {domain},
"inputs": {{ "mesh": {{ "type": "mesh", "link": "body" }} }}, "outputs": {{ "out": {{ "type": "buffer", "element": "float", "per": "joint" }} }}"#
        )
    };
    let text = r#""write_out(index, 1.0);""#;
    says(
        &domain("\"joint\""),
        text,
        "g.json:1:68: the kernel 'mine' has no pose whose joints it could run over; add \"inputs\": { \"pose\": { \"type\": \"pose\", \"link\": \"pose\" } }",
    );
    for count in ["0", "1.5", "16777217", "\"many\""] {
        let found = message(&document(
            &domain(&format!("{{ \"count\": {count} }}")),
            text,
        ));
        let expected = "g.json:1:68: there is no domain";
        assert!(found.starts_with(expected), "{found}");
    }
    let pins = domain("{ \"count\": 3, \"per\": 1 }");
    let found = message(&document(&pins, text));
    assert!(found.contains("'per'"), "{found}");
}

#[test]
fn what_is_declared_is_in_the_plan() {
    let plan = plan(&document(
        r#""domain": "triangle", "group_size": 32,
  "inputs": { "mesh": { "type": "mesh", "link": "body" }, "pose": { "type": "pose", "link": "pose" } },
  "outputs": { "sums": { "type": "buffer", "element": "uint", "per": "vertex", "count": 8, "write": "atomic_add" },
    "areas": { "type": "buffer", "element": "float", "per": "triangle" } },
  "parameters": { "scale": { "type": "vec3", "value": [1, 2, 3] } },
  "constants": { "COUNT": 8 }"#,
        r#""add_sums(COUNT * index, u32(scale().x)); write_areas(index, read_pose_matrix(0u)[3].x);""#,
    )
    .replace(r#""body": "mine""#, r#""areas": "mine.areas""#));
    let node = &plan.nodes()[0];
    let kernel = node.kernel.as_ref().expect("a kernel");
    assert_eq!(kernel.domain(), KernelDomain::Triangle);
    assert_eq!(kernel.group_size(), Some(32));
    let sums = &kernel.buffers()[0];
    assert_eq!(
        (sums.write, sums.count, sums.cleared),
        (BufferWrite::AtomicAdd, 8, true)
    );
    // Each triangle writes its own area: nothing is left to be set to zero.
    assert!(!kernel.buffers()[1].cleared);
    assert_eq!(node.desc.outputs[0].ty, PortType::Buffer(Element::Uint));
    assert!(!node.runs_in_setup, "a pose changes");
    assert!(
        plan.explain().contains("mine (kernel, kernel)"),
        "{}",
        plan.explain()
    );
}

/// Kernels without poses and moving parameters run once; row 28.
#[test]
fn phases_are_derived() {
    let steady = plan(&document(
        MESH,
        r#""write_mesh_positions(index, read_mesh_positions(index));""#,
    ));
    assert!(steady.nodes()[0].runs_in_setup);
    let keyed = format!(
        r#"{MESH}, "parameters": {{ "up": {{ "type": "float", "value": {{ "keys": [[0, 0], [1, 1]] }} }} }}"#
    );
    let keyed = plan(&document(
        &keyed,
        r#""write_mesh_positions(index, vec3f(up()));""#,
    ));
    assert!(!keyed.nodes()[0].runs_in_setup);
}

/// What each invocation writes need not be there before: nothing is made to be overwritten.
#[test]
fn surely_written_attributes_are_not_asked_for() {
    let moved = |text: &str| {
        let document = format!(
            r#"{{ "sinew": "1.0", "nodes": {{
  "moved": {{ "node": "kernel", {MESH}, "text": "write_mesh_positions(index, vec3f(f32(index)));" }},
  "mine": {{ "node": "kernel", "domain": "vertex", "inputs": {{ "mesh": {{ "type": "mesh", "link": "moved" }} }},
    "outputs": {{ "mesh": {{ "type": "mesh", "writes": ["normals"] }} }}, "text": "{text}" }} }}, "outputs": {{ "body": "mine" }} }}"#
        );
        let plan = Arc::new(plan(&document));
        let mesh = Arc::new(sinew_testkit::meshes::cube());
        let bind = |ty: PortType| match ty {
            PortType::Mesh => InputBinding::Mesh(mesh.clone()),
            _ => InputBinding::Pose(Arc::default()),
        };
        let inputs = plan.inputs().iter().map(|i| bind(i.ty.port_type()));
        let inputs: Vec<InputBinding> = inputs.collect();
        let graph =
            BoundGraph::bind(plan, &inputs, &[], Par::Seq).unwrap_or_else(|e| panic!("{e}"));
        let steps = graph.program().steps(Phase::Setup).iter();
        steps.map(|s| s.desc.name).collect::<Vec<_>>()
    };
    assert_eq!(
        moved("write_mesh_normals(index, vec3f(0.0, 1.0, 0.0));"),
        ["kernel", "kernel"]
    );
    assert_eq!(
        moved("if (index > 2u) { write_mesh_normals(index, vec3f(0.0, 1.0, 0.0)); }"),
        ["kernel", "tangent_frames", "kernel"]
    );
}

#[test]
fn constants_fit_where_numbers_fit() {
    let constants = r#""constants": { "A": 1, "B": 0.5, "C": [1, 2, 3], "D": true, "E": -2 }"#;
    plan(&document(
        &format!("{MESH}, {constants}"),
        r#"["let n: u32 = A; let m: i32 = A + E; let x = f32(n) * A * B;",
            "write_mesh_positions(index, select(C, vec3f(x * f32(m)), D));"]"#,
    ));
}

#[test]
fn buffers_of_whole_numbers_stay_inside() {
    let text = document(ADDED, r#""add_sums(index, 1);""#);
    assert_eq!(
        message(&text),
        "g.json:3:57: output 'body' is a buffer of int, which cannot be an output of the graph; link a mesh, a pose, a mask, values, lines, a field or a buffer of float"
    );
}

/// Whatever a text holds, it ends in a plan or in messages.
#[test]
fn damaged_texts_do_no_harm() {
    for damaged in (0..WAVE.len()).flat_map(|i| {
        let without = format!("{}{}", &WAVE[..i], &WAVE[i + 1..]);
        let cut = WAVE[..i].to_owned();
        let foreign = format!("{}\u{1f600}\\u0000{}", &WAVE[..i], &WAVE[i..]);
        [without, cut, foreign]
    }) {
        let text = serde_json::to_string(&damaged).expect("text");
        let _ = message(&document(MESH, &text));
    }
}

/// A document asks for no more than a few seconds of checks.
#[test]
fn texts_are_limited() {
    let line = format!("// {}", "x".repeat(1 << 20));
    let text = serde_json::to_string(&[line.as_str(), "write_mesh_positions(index, vec3f(0.0));"]);
    let found = message(&document(MESH, &text.expect("text")));
    assert_eq!(
        found,
        "g.json:3:11: the text has 1048620 bytes, but at most 1048576 are allowed"
    );
    let constants: String = (0..257).map(|i| format!("\"C{i}\": {i},")).collect();
    says(
        &format!("{MESH},\n\"constants\": {{ {constants} }}"),
        r#""write_mesh_positions(index, vec3f(0.0));""#,
        "g.json:3:14: the kernel 'mine' has 257 constants, but at most 256 are allowed; remove some, or split the kernel in two",
    );
    let node = |i: usize| {
        format!(
            r#""k{i}": {{ "node": "kernel", {MESH}, "text": "write_mesh_positions(index, vec3f({i}.0));" }}"#
        )
    };
    let nodes: Vec<String> = (0..4100).map(node).collect();
    let text = format!(
        r#"{{ "sinew": "1.0", "nodes": {{ {} }}, "outputs": {{ "body": "k0" }} }}"#,
        nodes.join(",\n")
    );
    let found = message(&text);
    assert!(
        found.contains("the kernels of this graph have more than 4194304 bytes"),
        "{}",
        &found[..200.min(found.len())]
    );
}

/// The first kernel of the documents is right as it stands.
#[test]
fn the_documents_first_kernel_compiles() {
    let page = sinew_graph::KERNEL_PAGE;
    let document = page
        .split("```json\n")
        .nth(1)
        .and_then(|d| d.split("```").next());
    let plan = plan(document.expect("a document"));
    assert!(plan.nodes()[0].kernel.is_some());
    assert_eq!(plan.parameters()[0].name, "height");
}

/// In a stack, pins called `mesh` and `pose` follow the chain; a text without a link would be refused elsewhere.
#[test]
fn stacks_link_kernels() {
    let stack = r#"{ "sinew": "1.0", "stack": [
  "skin",
  { "node": "kernel", "domain": "vertex", "inputs": { "mesh": { "type": "mesh" }, "pose": { "type": "pose" } },
    "outputs": { "mesh": { "type": "mesh", "writes": ["positions"] } },
    "text": "write_mesh_positions(index, read_pose_matrix(0u)[3] + read_mesh_positions(index));" },
  { "node": "smooth" } ] }"#;
    let plan = plan(stack);
    let explained = plan.explain();
    assert!(
        explained.contains("kernel (kernel, kernel)  mesh <- skin, pose <- pose"),
        "{explained}"
    );
    assert!(explained.contains("mesh <- kernel"), "{explained}");
    says(
        r#""domain": "vertex", "inputs": { "mesh": { "type": "mesh" } },
 "outputs": { "mesh": { "type": "mesh", "writes": ["positions"] } }"#,
        r#""write_mesh_positions(index, vec3f(1.0));""#,
        "g.json:1:90: the input 'mesh' of 'mine' is not linked; add \"link\": \"NAME\", a link to a mesh",
    );
}

/// The schema for editors knows the node as the checks do.
#[test]
fn the_schema_knows_kernels() {
    let schema = sinew_graph::schema();
    let kernel = &schema["$defs"]["node_kernel"];
    let keys: Vec<&str> = kernel["properties"]
        .as_object()
        .expect("keys")
        .keys()
        .map(String::as_str)
        .collect();
    let example = include_str!("../../../../examples/custom_kernels.json");
    let plain = sinew_graph::to_plain_json("example", example).unwrap_or_else(|e| panic!("{e}"));
    let example: serde_json::Value = serde_json::from_str(&plain).expect("JSON");
    let mut seen = 0;
    for node in example["nodes"].as_object().expect("nodes").values() {
        if node["node"] == "kernel" {
            seen += 1;
            for key in node.as_object().expect("a node").keys() {
                assert!(keys.contains(&key.as_str()), "{key}");
            }
        }
    }
    assert_eq!(seen, 8);
}
