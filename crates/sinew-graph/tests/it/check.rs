//! Every way a document can be wrong, with the place and the help that the user sees.

use sinew_graph::{GraphSource, GraphText, NoNesting, compile};

struct Files(&'static [(&'static str, &'static str)]);

impl GraphSource for Files {
    fn graph_text(&self, _from: &str, name: &str) -> Result<GraphText, String> {
        self.0
            .iter()
            .find(|f| f.0 == name)
            .map(|f| GraphText::new(name.to_owned(), f.1.to_owned()))
            .ok_or_else(|| "no such file".to_owned())
    }
}

/// Compiles and returns the problems as the user reads them.
fn problems(text: &str) -> Vec<String> {
    match compile("g.json", text, &NoNesting) {
        Ok(plan) => plan.warnings().iter().map(ToString::to_string).collect(),
        Err(d) => d.0.iter().map(ToString::to_string).collect(),
    }
}

fn only_problem(text: &str) -> String {
    let found = problems(text);
    assert_eq!(found.len(), 1, "expected one problem, found {found:#?}");
    found[0].clone()
}

/// A valid document around one node.
fn with_node(node: &str) -> String {
    let blend = match node.contains('$') {
        true => r#""blend": {"type": "float", "default": 1, "min": 0, "max": 1}"#,
        false => "",
    };
    format!(
        "{{\"sinew\": \"1.0\",\n\"parameters\": {{{blend}}},\n\"nodes\": {{\"move\": {node}}},\n\"outputs\": {{\"body\": \"move\"}}}}"
    )
}

#[test]
fn a_valid_document_has_no_problem() {
    let text = with_node("{\"node\": \"transform\", \"mesh\": \"body\", \"weight\": \"$blend\"}");
    assert_eq!(problems(&text), Vec::<String>::new());
}

#[test]
fn comments_and_trailing_commas_are_allowed() {
    let text = with_node("{\"node\": \"transform\", /* here */ \"mesh\": \"body\",} // end\n");
    assert_eq!(problems(&text), Vec::<String>::new());
}

#[test]
fn wrong_nodes_are_located() {
    for (node, expected) in [
        (
            "{\"node\": \"transfrom\", \"mesh\": \"body\"}",
            "g.json:3:28: there is no node kind 'transfrom'; did you mean 'transform'?",
        ),
        (
            "{\"mesh\": \"body\"}",
            "g.json:3:11: node 'move' has no kind; add \"node\": \"skin\" or another kind; `sinew nodes` lists them",
        ),
        (
            "{\"node\": \"transform\", \"mesh\": \"bdy\"}",
            "g.json:3:49: input 'mesh' of 'move': there is no input or node 'bdy'; did you mean 'body'?",
        ),
        (
            "{\"node\": \"lattice\", \"mesh\": \"body\", \"resolution\": [2, 2, 1], \"points\": [[0, 0, 0], [1, 0, 0]]}",
            "g.json:3:90: 'points' of 'move' has 2 points, but resolution 2 x 2 x 1 needs 4; give one point for each grid point, x fastest, then y, then z; an empty list means the grid at rest",
        ),
        (
            "{\"node\": \"lattice\", \"mesh\": \"body\", \"resolution\": [1, 1, 1], \"points\": {\"keys\": [[0, [[0, 0, 0]]], [1, [[0, 0, 0], [1, 1, 1]]]]}}",
            "g.json:3:90: 'points' of 'move' has 2 points, but resolution 1 x 1 x 1 needs 1; give one point for each grid point, x fastest, then y, then z; an empty list means the grid at rest",
        ),
        (
            "{\"node\": \"transform\", \"mesh\": \"pose\"}",
            "g.json:3:49: input 'mesh' of 'move' takes a mesh, but 'pose' is a pose; link an input or an output of type mesh",
        ),
        (
            "{\"node\": \"transform\", \"mesh\": \"body.x\"}",
            "g.json:3:49: input 'mesh' of 'move': input 'body' has no ports; link 'body' instead",
        ),
        (
            "{\"node\": \"transform\", \"mesh\": \"body\", \"wieght\": 1}",
            "g.json:3:57: transform has no input or parameter 'wieght'; did you mean 'weight'?",
        ),
        (
            "{\"node\": \"transform\", \"mesh\": \"body\", \"weight\": 1.5}",
            "g.json:3:67: 'weight' is 1.5, which is out of range; expected a number from 0 to 1",
        ),
        (
            "{\"node\": \"transform\", \"mesh\": \"body\", \"weight\": \"full\"}",
            "g.json:3:67: there is no input or node 'full'; parameter 'weight' of 'move' takes a number from 0 to 1, or a link; no input and no node has numbers; add an input of type values",
        ),
        (
            "{\"node\": \"transform\", \"mesh\": \"body\", \"weight\": \"$blnd\"}",
            "g.json:3:67: there is no parameter 'blnd'; did you mean '$blend'?",
        ),
        (
            "{\"node\": \"transform\", \"mesh\": \"body\", \"mask_invert\": \"$blend\"}",
            "g.json:3:72: the type of '$blend' does not fit 'mask_invert'; expected true or false",
        ),
        (
            "{\"node\": \"transform\", \"mesh\": \"body\", \"weight\": {\"keys\": [[1, 0], [1, 1]]}}",
            "g.json:3:85: the first numbers in 'keys' of 'weight' must increase, but 1 does not; expected {\"keys\": [[seconds, value], ...], \"interpolation\": \"linear\"}, where each value is a number from 0 to 1 and the interpolation is \"step\", \"linear\" or \"smooth\"",
        ),
        (
            "{\"node\": \"transform\", \"mesh\": \"body\", \"transform\": {\"move\": [1, 2, 3]}}",
            "g.json:3:71: a transform has no key 'move'; expected translation, rotation, rotation_degrees, scale, matrix",
        ),
        (
            "{\"node\": \"kernel\"}",
            "g.json:3:11: the kernel 'move' has no WGSL text; give either \"file\": \"name.wgsl\" or \"text\": [\"line\", \"line\"]",
        ),
        (
            "\"transform\"",
            "g.json:3:19: node 'move' is \"transform\"; expected an object such as {\"node\": \"skin\", ...}",
        ),
    ] {
        let found = problems(&with_node(node));
        assert_eq!(
            found.len(),
            1,
            "one report a mistake, for {node}: {found:#?}"
        );
        assert_eq!(
            found.first().map(String::as_str),
            Some(expected),
            "for {node}, all: {found:#?}"
        );
    }
}

/// A wrong value is an error and does not count as absent: `select` would then mean all meshes.
#[test]
fn inputs_say_what_they_take_in_words() {
    for key in ["select", "file", "joints"] {
        for value in ["[\"Head\", \"Body\"]", "3", "true", "{}"] {
            let text = format!(
                "{{\"sinew\": \"1.0\", \"inputs\": {{\"body\": {{\"type\": \"mesh\", \"{key}\": {value}}}}}, \"outputs\": {{\"body\": \"body\"}}}}"
            );
            let found = problems(&text);
            let expected = format!("'{key}' of input 'body' is ");
            assert!(
                found.iter().any(|p| p.contains(&expected)),
                "{value}: {found:?}"
            );
        }
    }
}

#[test]
fn missing_input_says_what_to_add() {
    let found = problems(&with_node("{\"node\": \"transform\"}"));
    assert_eq!(
        found[0],
        "g.json:3:11: node 'move' (transform) needs the input 'mesh'; add \"mesh\": \"NAME\", a link to a mesh: Mesh to move."
    );
}

#[test]
fn cycles_are_named() {
    let text = r#"{"sinew": "1.0", "nodes": {
  "a": {"node": "transform", "mesh": "b"},
  "b": {"node": "transform", "mesh": "a"}},
 "outputs": {"body": "a"}}"#;
    assert_eq!(
        only_problem(text),
        "g.json:2:3: nodes depend on each other: a -> b -> a; a graph cannot have loops; to keep state from frame to frame, use a solver node"
    );
}

#[test]
fn unused_nodes_are_a_warning() {
    let text = r#"{"sinew": "1.0", "nodes": {
  "a": {"node": "transform", "mesh": "body"},
  "b": {"node": "transform", "mesh": "a"}},
 "outputs": {"body": "a"}}"#;
    assert_eq!(
        only_problem(text),
        "g.json:3:3: no output needs node 'b'; link it to an output, or remove it"
    );
    assert!(
        compile("g.json", text, &NoNesting).is_ok(),
        "a warning does not stop the graph"
    );
}

#[test]
fn unused_parameters_are_a_warning() {
    let text = r#"{"sinew": "1.0", "parameters": {
  "a": {"type": "float", "default": 1, "min": 0, "max": 1},
  "b": {"type": "float", "default": 1}},
 "nodes": {"t": {"node": "transform", "mesh": "body", "weight": "$a"}},
 "outputs": {"body": "t"}}"#;
    assert_eq!(
        only_problem(text),
        "g.json:3:8: no node reads the parameter 'b'; use it in a node as \"$b\", or remove it"
    );
}

#[test]
fn followers_that_cannot_be_are_located() {
    let with = |followers: &str| {
        only_problem(&format!(
            "{{\"sinew\": \"1.0\", \"inputs\": {{\"hair\": {{\"type\": \"strands\",\n\"followers\": {followers}}}}},\n\"outputs\": {{\"hair\": \"hair\"}}}}"
        ))
    };
    for (followers, expected) in [
        (
            r#"{"count": 3, "curl": 0.01, "curl_length": 0.05}"#,
            "g.json:2:35: 'curl' is 0.01, which is out of range; expected at most 0.0075 m, 0.15 of \"curl_length\": a wider curl is longer around than its hair; 4 mm are 0.004",
        ),
        (
            r#"{"count": 3, "skin": 3}"#,
            "g.json:2:35: 'skin' is 3; expected a text",
        ),
        (
            r#"{"count": 3, "curl_length": 0}"#,
            "g.json:2:42: 'curl_length' is 0, which is out of range; expected a number from 0.000001 to 1000000000",
        ),
        (
            r#"{"count": 3, "length_variation": 1.5}"#,
            "g.json:2:47: 'length_variation' is 1.5, which is out of range; expected a number from 0 to 1",
        ),
        (
            r#"{"count": 3, "curls": 0.01}"#,
            "g.json:2:27: \"followers\" has no key 'curls'; did you mean 'curl'?",
        ),
    ] {
        assert_eq!(with(followers), expected);
    }
}

#[test]
fn odd_entries_of_lists_are_named() {
    for (list, found) in [
        ("[1, \"a\", 3]", "a list of 3 with \"a\" at [1]"),
        ("[[1, 2], 2, 3]", "a list of 3 with a list of 2 at [0]"),
        ("[1, 2]", "a list of 2"),
        ("[\"1\", \"2\", \"3\"]", "a list of 3 texts"),
        ("[1, 2, null]", "a list of 3 with null at [2]"),
    ] {
        let text = format!(
            r#"{{"sinew": "1.0", "nodes": {{"t": {{"node": "transform", "mesh": "body",
 "transform": {{"translation": {list}}}}}}}, "outputs": {{"body": "t"}}}}"#
        );
        let problem = only_problem(&text);
        let expected = format!("'transform.translation' is {found}; expected a list of 3 numbers");
        assert!(problem.contains(&expected), "{problem}");
    }
}

#[test]
fn heads_are_checked() {
    assert_eq!(
        only_problem("{}"),
        "g.json:1:1: the document has no version; add \"sinew\": \"1.0\""
    );
    assert_eq!(
        only_problem("{\"sinew\": \"2.0\"}"),
        "g.json:1:11: the version of the document is \"2.0\"; this version of Sinew reads \"1.0\""
    );
    assert_eq!(
        only_problem("[1]"),
        "g.json:1:1: the document is a list of 1; expected an object with \"sinew\": \"1.0\""
    );
    assert!(
        only_problem("{\"sinew\": ").contains("this is not JSON"),
        "syntax"
    );
    assert!(only_problem("").contains("empty"), "empty");
    let double = r#"{"sinew": "1.0", "sinew": "1.0", "stack": ["transform"]}"#;
    assert_eq!(
        only_problem(double),
        "g.json:1:18: the key 'sinew' appears twice in this object; remove one of the two"
    );
}

/// Of endless problems ten thousand are kept; the last one says that there are more.
#[test]
fn endless_problems_are_cut_off() {
    let text = format!(
        "{{\"sinew\": \"1.0\", \"stack\": [{}0]}}",
        "0,".repeat(20_000)
    );
    let found = compile("g.json", &text, &NoNesting).expect_err("wrong").0;
    assert_eq!(found.len(), 10_001);
    let last = &found[10_000];
    assert_eq!(last.code, "too_many_problems");
    assert_eq!(
        last.to_string(),
        "g.json:1:20028: the document has more than 10000 problems; the others are not listed"
    );
}

/// Syntax errors: the message and the place of each.
#[test]
fn what_is_no_json_is_said_at_its_place() {
    for (text, message) in [
        (
            "{\"sinew\" \"1.0\"}",
            "g.json:1:10: this is not JSON: expected ':'",
        ),
        (
            "{\"a\": 1 \"b\": 2}",
            "g.json:1:9: this is not JSON: expected ',' or '}'",
        ),
        ("[1 2]", "g.json:1:4: this is not JSON: expected ',' or ']'"),
        ("[1, ,]", "g.json:1:5: this is not JSON: expected a value"),
        (
            "{a: 1}",
            "g.json:1:2: this is not JSON: expected a key in quotes",
        ),
        (
            "{\"a\": }",
            "g.json:1:7: this is not JSON: expected a value",
        ),
        (
            "{} {}",
            "g.json:1:4: this is not JSON: expected the end of the document",
        ),
        (
            "[1,\n 2",
            "g.json:1:1: this is not JSON: the list has no closing ']'",
        ),
        (
            "{\"a\": [",
            "g.json:1:7: this is not JSON: the list has no closing ']'",
        ),
        (
            "{\"a\": 1,",
            "g.json:1:1: this is not JSON: the object has no closing '}'",
        ),
        (
            "'a'",
            "g.json:1:1: this is not JSON: single-quoted strings are not allowed",
        ),
        ("[é]", "g.json:1:2: this is not JSON: unexpected token"),
        (
            "[0x10]",
            "g.json:1:2: this is not JSON: hexadecimal numbers are not allowed",
        ),
    ] {
        let help = "; comments and trailing commas are allowed, everything else is JSON";
        assert_eq!(only_problem(text), format!("{message}{help}"), "{text}");
    }
}

#[test]
fn setup_parameters_must_say_so() {
    // `mask_invert` may change each frame, so any parameter drives it; setup-only parameters may not be keyed.
    let text = r#"{"sinew": "1.0",
 "parameters": {"k": {"type": "float", "setup": true, "keys": [[0, 1]]}},
 "stack": ["transform"]}"#;
    assert_eq!(
        only_problem(text),
        "g.json:2:17: 'k' is read in setup only and cannot have keys; remove \"setup\" or \"keys\""
    );
}

#[test]
fn declared_ranges_narrow_to_the_node() {
    let text = r#"{"sinew": "1.0",
 "parameters": {"k": {"type": "float", "default": 3, "max": 5}},
 "nodes": {"m": {"node": "transform", "mesh": "body", "weight": "$k"}},
 "outputs": {"body": "m"}}"#;
    assert!(
        only_problem(text).starts_with("g.json:3:65: a value of '$k' does not fit 'weight'"),
        "default 3 is above 1"
    );
}

#[test]
fn order_of_keys_does_not_matter() {
    let text = r#"{"outputs": {"body": "b"}, "nodes": {
  "b": {"mesh": "a", "node": "transform"},
  "a": {"mesh": "body", "node": "transform"}}, "sinew": "1.0"}"#;
    let plan = compile("g.json", text, &NoNesting).expect("valid");
    let names: Vec<&str> = plan.nodes().iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn stacks_chain_and_number_their_nodes() {
    let text = r#"{"sinew": "1.0", "stack": ["transform", {"node": "transform", "weight": 0.5}]}"#;
    let plan = compile("g.json", text, &NoNesting).expect("valid");
    let names: Vec<&str> = plan.nodes().iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["transform", "transform_2"]);
    assert_eq!(plan.outputs()[0].name, "body");
}

const INNER: &str = r#"{"sinew": "1.0",
 "inputs": {"skin": {"type": "mesh"}},
 "parameters": {"w": {"type": "float", "default": 0.25}, "free": {"type": "float", "default": 1}},
 "nodes": {"m": {"node": "transform", "mesh": "skin", "weight": "$w"},
           "n": {"node": "transform", "mesh": "m", "weight": "$free"}},
 "outputs": {"out": "n", "half": "m"}}"#;

#[test]
fn nested_graphs_join_with_a_prefix() {
    let text = r#"{"sinew": "1.0",
 "parameters": {"k": {"type": "float", "default": 1}},
 "nodes": {"sub": {"node": "graph", "file": "inner.json", "skin": "body", "w": "$k"},
           "end": {"node": "transform", "mesh": "sub.half"}},
 "outputs": {"body": "sub", "other": "end"}}"#;
    let plan = compile("g.json", text, &Files(&[("inner.json", INNER)])).expect("valid");
    let names: Vec<&str> = plan.nodes().iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["sub/m", "sub/n", "end"]);
    let parameters: Vec<&str> = plan.parameters().iter().map(|p| p.name.as_str()).collect();
    assert_eq!(parameters, ["k", "sub/free"]);
}

#[test]
fn nested_problems_are_located_in_their_own_file() {
    let outer = |extra: &str| {
        format!(
            r#"{{"sinew": "1.0", "nodes": {{"sub": {{"node": "graph", "file": "inner.json", "skin": "body"{extra}}}}}, "outputs": {{"body": "sub"}}}}"#
        )
    };
    let found = |text: &str, files: &'static [(&'static str, &'static str)]| match compile(
        "g.json",
        text,
        &Files(files),
    ) {
        Err(d) => d.0[0].to_string(),
        Ok(_) => "no problem".into(),
    };
    assert_eq!(
        found(&outer(", \"w\": 7"), &[("inner.json", INNER)]),
        "inner.json:4:65: the value given for '$w' does not fit 'weight'; expected a number from 0 to 1"
    );
    assert_eq!(
        found(&outer(", \"v\": 7"), &[("inner.json", INNER)]),
        "g.json:1:91: the graph 'sub' has no input or parameter 'v'; did you mean 'w'?"
    );
    assert!(
        found(&outer(""), &[]).contains("the graph 'inner.json' cannot be read: no such file"),
        "missing file"
    );
    let recursive: &[(&str, &str)] = &[(
        "inner.json",
        r#"{"sinew": "1.0", "inputs": {"skin": {"type": "mesh"}}, "nodes": {"s": {"node": "graph", "file": "inner.json", "skin": "skin"}}, "outputs": {"out": "s"}}"#,
    )];
    assert!(
        found(&outer(""), recursive).contains("contains itself"),
        "recursion"
    );
}

#[test]
fn schema_covers_every_node() {
    let schema = sinew_graph::schema();
    for desc in sinew_deform::REGISTRY {
        let node = &schema["$defs"][format!("node_{}", desc.name)];
        for p in desc.parameters {
            assert!(
                node["properties"][p.name].is_object(),
                "{} {}",
                desc.name,
                p.name
            );
        }
    }
}

mod random {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_text_panics(text in "[ -~\n]{0,200}") {
            let _ = compile("g.json", &text, &NoNesting);
        }

        #[test]
        fn no_mutation_of_a_document_panics(at in 0_usize..400, byte in 0_u8..128) {
            let mut text = with_node("{\"node\": \"transform\", \"mesh\": \"body\", \"transform\": {\"scale\": [1, 2, 3]}}").into_bytes();
            let at = at % text.len();
            text[at] = byte;
            let _ = compile("g.json", &String::from_utf8_lossy(&text), &NoNesting);
        }
    }
}

/// `0.json` names `1.json` twice, which names `2.json` twice, and so on.
struct Doubling;

impl GraphSource for Doubling {
    fn graph_text(&self, _from: &str, name: &str) -> Result<GraphText, String> {
        let level: usize = name
            .trim_end_matches(".json")
            .parse()
            .map_err(|_| "no such file")?;
        Ok(GraphText::new(name.to_owned(), doubling(level)))
    }
}

fn doubling(level: usize) -> String {
    let next = level + 1;
    format!(
        "{{\"sinew\": \"1.0\", \"nodes\": {{\"a\": {{\"node\": \"graph\", \"file\": \"{next}.json\"}}, \
         \"b\": {{\"node\": \"graph\", \"file\": \"{next}.json\"}}}}, \"outputs\": {{\"body\": \"a\"}}}}"
    )
}

#[test]
fn graphs_that_double_at_each_level_end() {
    let problems = compile("0.json", &doubling(0), &Doubling).expect_err("2^32 graphs");
    let too_many = problems.0.iter().find(|d| d.code == "too_many_graphs");
    let message = too_many.expect("the count is bounded").to_string();
    assert!(message.contains("more than 4096 graphs"), "{message}");
    assert!(problems.0.len() < 5000, "{} problems", problems.0.len());
}

#[test]
fn equal_steps_of_a_stack_are_numbered() {
    let steps = vec!["\"smooth\""; 5000].join(", ");
    let text = format!(
        "{{\"sinew\": \"1.0\", \"stack\": [{steps}, {{\"node\": \"smooth\", \"name\": \"smooth_2\"}}]}}"
    );
    let plan = compile("g.json", &text, &NoNesting).expect("valid");
    let names: Vec<&str> = plan.nodes().iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names[..3], ["smooth", "smooth_2", "smooth_3"]);
    assert_eq!(names[4999..], ["smooth_5000", "smooth_2_2"]);
}

#[test]
fn wrong_links_among_many_names_stay_short() {
    let nodes: Vec<String> = (0..1000)
        .map(|i| format!("\"node_{i}\": {{\"node\": \"smooth\", \"mesh\": \"somewhere_else\"}}"))
        .collect();
    let text = format!(
        "{{\"sinew\": \"1.0\", \"nodes\": {{{}}}, \"outputs\": {{\"body\": \"node_0\"}}}}",
        nodes.join(", ")
    );
    let found = problems(&text);
    assert!(found[0].contains("and 982 more"), "{}", found[0]);
    assert!(found.iter().all(|p| p.len() < 500), "{}", found[0]);
}

#[test]
fn only_the_first_wrong_names_are_compared_with_all_others() {
    let long = "a".repeat(55);
    let nodes: Vec<String> = (0..100)
        .map(|i| format!("\"{long}_{i}\": {{\"node\": \"smooth\", \"mesh\": \"{long}x{i}\"}}"))
        .collect();
    let text = format!(
        "{{\"sinew\": \"1.0\", \"nodes\": {{{}}}, \"outputs\": {{\"body\": \"{long}_0\"}}}}",
        nodes.join(", ")
    );
    let found = problems(&text);
    assert_eq!(found.len(), 100);
    assert!(found[0].contains("did you mean"), "{}", found[0]);
    assert!(found[99].contains("inputs and nodes are"), "{}", found[99]);
}

/// One document under any name.
struct Same(String);

impl GraphSource for Same {
    fn graph_text(&self, _from: &str, name: &str) -> Result<GraphText, String> {
        Ok(GraphText::new(name.to_owned(), self.0.clone()))
    }
}

/// Compiles a graph that names `inner` `times` times; returns its problems.
fn named_many_times(inner: String, times: usize) -> Vec<String> {
    let nodes: Vec<String> = (0..times)
        .map(|i| format!("\"g{i}\": {{\"node\": \"graph\", \"file\": \"1.json\"}}"))
        .collect();
    let text = format!(
        "{{\"sinew\": \"1.0\", \"nodes\": {{{}}}, \"outputs\": {{\"body\": \"g0\"}}}}",
        nodes.join(", ")
    );
    let problems = compile("0.json", &text, &Same(inner)).expect_err("refused");
    problems.0.iter().map(ToString::to_string).collect()
}

#[test]
fn problems_of_a_document_that_is_named_many_times_are_said_once() {
    for (inner, said) in [
        (r#"{"sinew": "1.0", "stack": ["smoth"]}"#, "1.json:1:28: "),
        (r#"{"sinew": "9.0", "stack": ["smooth"]}"#, "1.json:1:11: "),
        (r#"{"sinew": "1.0", "stack": ["smooth"}"#, "1.json:1:36: "),
    ] {
        let problems = named_many_times(inner.into(), 5);
        let of_inner = problems.iter().filter(|p| p.starts_with("1.json"));
        assert_eq!(of_inner.count(), 1, "{problems:#?}");
        assert!(problems[0].starts_with(said), "{problems:#?}");
    }
}

#[test]
fn documents_named_many_times_count_many_times() {
    let spaces = " ".repeat(8 << 20);
    let large = format!("{{\"sinew\": \"1.0\", {spaces} \"stack\": [\"smooth\"]}}");
    let problem = &named_many_times(large, 8)[0];
    assert!(problem.contains("more than 67108864 bytes"), "{problem}");
    let steps = vec!["\"smooth\""; 10_000].join(", ");
    let many = format!("{{\"sinew\": \"1.0\", \"stack\": [{steps}]}}");
    let problem = &named_many_times(many, 8)[0];
    assert!(problem.contains("after 65536 nodes"), "{problem}");
}

#[test]
fn of_equally_close_parameters_the_first_by_name_is_meant() {
    let text = "{\"sinew\": \"1.0\", \"parameters\": {\"mucd\": {\"type\": \"float\"}, \"muca\": {\"type\": \"float\"}, \
        \"mucb\": {\"type\": \"float\"}}, \"stack\": [{\"node\": \"smooth\", \"blend\": \"$much\"}]}";
    let found = problems(text).join("\n");
    assert!(found.contains("did you mean '$muca'?"), "{found}");
}

#[test]
fn thickness_of_strands_is_checked() {
    let document = |ty: &str, thickness: &str| {
        format!(
            "{{\"sinew\": \"1.0\",\n\"inputs\": {{\"hair\": {{\"type\": \"{ty}\", \"thickness\": {thickness}}}}},\n\"outputs\": {{\"hair\": \"hair\"}}}}"
        )
    };
    let read = |thickness: &str| {
        let plan = compile("g.json", &document("strands", thickness), &NoNesting);
        let plan = plan.unwrap_or_else(|e| panic!("{e}"));
        let found = plan.inputs()[0].thickness.expect("given");
        (found.root, found.tip)
    };
    assert_eq!(read("{\"root\": 1e-4, \"tip\": 2e-5}"), (1e-4, 2e-5));
    assert_eq!(read("{\"root\": 1e-4}"), (1e-4, 0.0), "to a point");
    for (ty, thickness, expected) in [
        (
            "strands",
            "0.1",
            "input 'hair' cannot use this \"thickness\"",
        ),
        (
            "strands",
            "{\"tip\": 0.1}",
            "input 'hair' cannot use this \"thickness\"",
        ),
        (
            "mesh",
            "{\"root\": 0.1}",
            "input 'hair' cannot use this \"thickness\"",
        ),
        ("strands", "{\"root\": -0.1}", "root"),
        ("strands", "{\"root\": 0.1, \"tp\": 0.1}", "tp"),
    ] {
        let found = problems(&document(ty, thickness));
        let named = found
            .iter()
            .any(|p| p.starts_with("g.json:2:") && p.contains(expected));
        assert!(named, "{ty} {thickness}: {found:#?}");
    }
}

/// Ranges and descriptions of the wrong kind are told: they would be left out.
#[test]
fn members_of_the_wrong_kind_are_told() {
    let text = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh", "doc": 1}},
"parameters": {"a": {"type": "float", "min": "0", "max": true, "doc": ["x"]}},
"nodes": {"t": {"node": "twist", "mesh": "body", "weight": "$a", "doc": 2}}, "outputs": {"out": "t"}}"#;
    let expected = [
        "'doc' is 1; expected a text",
        "'min' is \"0\"; expected a number",
        "'max' is true; expected a number",
        "'doc' is a list of 1 text; expected a text",
        "'doc' is 2; expected a text",
    ];
    let found = problems(text);
    for part in expected {
        assert!(
            found.iter().any(|p| p.ends_with(part)),
            "{part}: {found:#?}"
        );
    }
}

#[test]
fn a_simulation_that_is_always_reset_is_a_warning() {
    for (reset, expected) in [("true", 1), ("false", 0), ("\"$cut\"", 0)] {
        let text = format!(
            r#"{{"sinew": "1.0", "inputs": {{"hair": {{"type": "strands"}}}}, "parameters": {{"cut": {{"type": "bool"}}}},
"nodes": {{"it": {{"node": "hair_sim", "strands": "hair", "reset": {reset}}}}}, "outputs": {{"hair": "it"}}}}"#
        );
        let plan = compile("g.json", &text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
        let found = plan
            .warnings()
            .iter()
            .filter(|d| d.code == "constant_reset");
        assert_eq!(found.count(), expected, "{reset}");
    }
}

/// The tested positions stand still: a volume that moves would leave them.
#[test]
fn a_volume_that_follows_a_joint_at_rest_is_a_warning() {
    let cases = [
        (r#""source": "box""#, 1),
        (r#""source": "plane", "space": "rest""#, 1),
        (r#""source": "sphere", "space": "current""#, 0),
        (r#""source": "constant""#, 0),
    ];
    for (more, expected) in cases {
        let text = format!(
            r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}}},
"nodes": {{"skin": {{"node": "skin", "mesh": "body", "pose": "pose"}},
"it": {{"node": "mask", "mesh": "skin", {more}, "follow": "head"}}}}, "outputs": {{"mask": "it"}}}}"#
        );
        let plan = compile("g.json", &text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
        let found = plan
            .warnings()
            .iter()
            .filter(|d| d.code == "follow_at_rest");
        assert_eq!(found.count(), expected, "{more}");
    }
}

#[test]
fn the_key_of_an_angle_in_degrees_is_guessed() {
    let found = only_problem(&with_node(
        r#"{"node": "twist", "mesh": "body", "angle_deg": 20}"#,
    ));
    assert!(found.ends_with("did you mean 'angle_degrees'?"), "{found}");
}

/// Of two forms of one transform, none is left out without a word.
#[test]
fn transforms_are_given_once() {
    let node = |transform: &str| {
        with_node(&format!(
            r#"{{"node": "transform", "mesh": "body", "transform": {transform}}}"#
        ))
    };
    let columns = "[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]";
    for key in ["translation", "rotation_degrees", "scale"] {
        let found = only_problem(&node(&format!(
            r#"{{"matrix": {columns}, "{key}": [1, 1, 1]}}"#
        )));
        let expected = format!("has both 'matrix' and '{key}'; use either 'matrix' or '{key}'");
        assert!(found.ends_with(&expected), "{found}");
    }
    let found = only_problem(&node(
        r#"{"rotation": [0, 0, 0, 1], "rotation_degrees": [0, 0, 10]}"#,
    ));
    assert!(
        found.contains("both 'rotation' and 'rotation_degrees'"),
        "{found}"
    );
    assert_eq!(
        problems(&node(r#"{"rotation": [0, 0, 0.7, 0.7]}"#)),
        [""; 0]
    );
    let found = only_problem(&node(r#"{"rotation": [0, 0, 90, 0]}"#));
    assert!(found.contains("a quaternion of length 90.000"), "{found}");
}

#[test]
fn a_parameter_that_was_reported_is_not_unknown() {
    let text = r#"{"sinew": "1.0", "parameters": {"blend": {"type": "float", "default": 7, "min": 0, "max": 1}},
"nodes": {"t": {"node": "twist", "mesh": "body", "weight": "$blend"}}, "outputs": {"out": "t"}}"#;
    let found = only_problem(text);
    assert!(found.contains("out of range"), "{found}");
}

/// Names of before are read as the new ones, and a warning says what to write.
#[test]
fn old_names_are_read_for_one_version() {
    let document = |kind: &str, rules: &str, mode: &str| {
        format!(
            r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "rig": {{"type": "pose"}}}},
"nodes": {{
"hair": {{"node": "{kind}", "strands": "body", "pose": "rig"}},
"driver": {{"node": "pose_driver", "pose": "rig", "joints": ["a"], "rules": "{rules}",
  "poses": [{{"name": "rest", "joints": [{{}}]}}]}},
"stretched": {{"node": "squash_stretch", "mesh": "hair", "mode": "{mode}"}}}},
"outputs": {{"body": "stretched", "weights": "driver"}}}}"#
        )
    };
    let compiled = |text: &str| match compile("g.json", text, &NoNesting) {
        Ok(plan) => plan,
        Err(problems) => panic!("{problems}"),
    };
    let old = compiled(&document(
        "documented_hair_sim",
        "document_004",
        "documented",
    ));
    let new = compiled(&document("tressfx_hair", "psd_json", "published"));
    assert!(new.warnings().is_empty());
    let codes: Vec<_> = old.warnings().iter().map(|w| w.code).collect();
    assert_eq!(codes, ["renamed"; 3]);
    for (warning, name) in old
        .warnings()
        .iter()
        .zip(["tressfx_hair", "psd_json", "published"])
    {
        let text = warning.to_string();
        assert!(text.contains(&format!("write \"{name}\"")), "{text}");
    }
    assert_eq!(format!("{:?}", old.nodes()), format!("{:?}", new.nodes()));
    // A choice that no parameter has is as unknown as before.
    let other = document("tressfx_hair", "documented", "published");
    assert!(only_problem(&other).contains("documented"));
}
