//! Graphs within graphs: declared inputs and outputs, whatever the order of keys.

use sinew_graph::{GraphSource, GraphText, NoNesting, Plan, Source, compile};

struct Files(Vec<(&'static str, String)>);

impl GraphSource for Files {
    fn graph_text(&self, _from: &str, name: &str) -> Result<GraphText, String> {
        let found = self.0.iter().find(|f| f.0 == name);
        let (name, text) = found.ok_or("no such file")?;
        Ok(GraphText::new((*name).to_owned(), text.clone()))
    }
}

fn problems(text: &str) -> Vec<String> {
    match compile("g.json", text, &NoNesting) {
        Ok(plan) => plan.warnings().iter().map(ToString::to_string).collect(),
        Err(d) => d.0.iter().map(ToString::to_string).collect(),
    }
}

#[track_caller]
fn plan(text: &str) -> Plan {
    compile("g.json", text, &NoNesting).unwrap_or_else(|e| panic!("{e}"))
}

#[track_caller]
fn only_problem(text: &str) -> String {
    let found = problems(text);
    assert_eq!(found.len(), 1, "expected one problem, found {found:#?}");
    found[0].clone()
}

/// What the first input of each node is linked to.
fn chain(plan: &Plan) -> Vec<(String, String)> {
    let first = |n: &sinew_graph::PlanNode| {
        let source = n.inputs[0].map_or_else(String::new, |s| plan.source_name(s));
        (n.name.clone(), source)
    };
    plan.nodes().iter().map(first).collect()
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let pair = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
    pairs.iter().map(pair).collect()
}

/// A graph in a step of a stack.
const STEP: &str = r#"{"node": "graph", "name": "NAME", "graph": {"stack": ["transform"]}}"#;

#[test]
fn graphs_chain_in_a_stack() {
    let step = |name: &str| STEP.replace("NAME", name);
    let text = format!(
        r#"{{"sinew": "1.0", "stack": [{}, {}, "transform", {}]}}"#,
        step("a"),
        step("b"),
        step("c")
    );
    assert_eq!(
        chain(&plan(&text)),
        owned(&[
            ("a/transform", "body"),
            ("b/transform", "a/transform"),
            ("transform", "b/transform"),
            ("c/transform", "transform")
        ])
    );
    let result = plan(&text).outputs()[0].source;
    assert_eq!(result, Source::Node { node: 3, port: 0 });
}

#[test]
fn many_graphs_that_pass_their_input_on_are_no_loop() {
    let pass = r#"{"node": "graph", "graph": {"outputs": {"body": "body"}}}"#;
    let text = format!(
        r#"{{"sinew": "1.0", "stack": ["transform", {}, "transform"]}}"#,
        vec![pass; 200].join(", ")
    );
    assert_eq!(
        chain(&plan(&text)),
        owned(&[("transform", "body"), ("transform_2", "transform")])
    );
}

#[test]
fn the_order_of_keys_does_not_matter_for_nested_graphs() {
    let inputs = [
        r#""body": {"type": "mesh"}, "pose": {"type": "pose"}, "cage": {"type": "mesh"}"#,
        r#""cage": {"type": "mesh"}, "pose": {"type": "pose"}, "body": {"type": "mesh"}"#,
    ];
    let nodes = |inputs: &str, order: [usize; 2]| {
        let list = [
            format!(
                r#""g": {{"node": "graph", "body": "t", "cage": "body", "graph": {{"inputs": {{{inputs}}},
                 "stack": [{{"node": "skin", "name": "s"}}, {{"node": "wrap", "name": "w", "driver": "cage"}}]}}}}"#
            ),
            r#""t": {"node": "transform", "mesh": "body"}"#.to_owned(),
        ];
        format!(
            r#"{{"sinew": "1.0", "nodes": {{{}, {}}}, "outputs": {{"body": "g"}}}}"#,
            list[order[0]], list[order[1]]
        )
    };
    let stack = |inputs: &str| {
        format!(
            r#"{{"sinew": "1.0", "inputs": {{{inputs}}}, "stack": [{{"node": "transform", "name": "t"}},
             {{"node": "graph", "name": "g", "cage": "body", "graph": {{"inputs": {{{inputs}}},
             "stack": [{{"node": "skin", "name": "s"}}, {{"node": "wrap", "name": "w", "driver": "cage"}}]}}}}]}}"#
        )
    };
    let expected = owned(&[("t", "body"), ("g/s", "t"), ("g/w", "g/s")]);
    for inputs in inputs {
        assert_eq!(chain(&plan(&nodes(inputs, [0, 1]))), expected);
        assert_eq!(chain(&plan(&nodes(inputs, [1, 0]))), expected);
        assert_eq!(chain(&plan(&stack(inputs))), expected);
    }
}

#[test]
fn two_meshes_of_which_none_is_called_body_are_not_guessed() {
    let text = r#"{"sinew": "1.0", "inputs": {"a": {"type": "mesh"}, "b": {"type": "mesh"}},
 "stack": ["transform"]}"#;
    assert!(
        only_problem(text)
            .starts_with("g.json:2:12: node 'transform' (transform) needs the input 'mesh'"),
        "{}",
        only_problem(text)
    );
}

/// A graph `g` with one input `x` of that declaration, linked to `link`.
fn with_input(declaration: &str, link: &str) -> String {
    format!(
        "{{\"sinew\": \"1.0\", \"inputs\": {{\"body\": {{\"type\": \"mesh\"}}, \"pose\": {{\"type\": \"pose\"}}, \"v\": {{\"type\": \"values\", \"count\": 3}}}},\n\"nodes\": {{\"mask\": {{\"node\": \"mask\", \"mesh\": \"body\"}}, \"g\": {{\"node\": \"graph\", {link}\n\"graph\": {{\"inputs\": {{\"x\": {declaration}}}, \"nodes\": {{\"m\": {{\"node\": \"transform\", \"mesh\": \"x\"}}}}, \"outputs\": {{\"out\": \"m\"}}}}}},\n\"t\": {{\"node\": \"transform\", \"mesh\": \"g\", \"mask\": \"mask\"}}}}, \"outputs\": {{\"body\": \"t\"}}}}"
    )
}

#[test]
fn links_into_nested_graphs_are_checked_where_they_stand() {
    let mesh = r#"{"type": "mesh"}"#;
    for (link, expected) in [
        (
            "\"x\": \"mask\",",
            "g.json:2:81: input 'x' of 'g' takes a mesh, but 'mask' is a mask; link an input or an output of type mesh",
        ),
        (
            "\"x\": \"pose\",",
            "g.json:2:81: input 'x' of 'g' takes a mesh, but 'pose' is a pose; link an input or an output of type mesh",
        ),
        (
            "\"x\": \"bdy\",",
            "g.json:2:81: input 'x' of 'g': there is no input or node 'bdy'; did you mean 'body'?",
        ),
        (
            "\"x\": 3,",
            "g.json:2:81: input 'x' of 'g' is 3; expected the name of an input, a node, or node.port",
        ),
        (
            "",
            "g.json:2:53: the graph 'g' needs the input 'x'; add \"x\": \"NAME\", a link to a mesh",
        ),
    ] {
        let found = problems(&with_input(mesh, link));
        assert_eq!(found, [expected], "for {link}");
    }
    let round = problems(&with_input(mesh, "\"x\": \"g\","));
    assert!(
        round[0].contains("nodes depend on each other"),
        "{round:#?}"
    );
    assert_eq!(
        problems(&with_input(mesh, "\"x\": \"body\",")),
        Vec::<String>::new()
    );
}

#[test]
fn graphs_that_lead_back_to_themselves_are_named() {
    let text = r#"{"sinew": "1.0", "nodes": {
 "a": {"node": "graph", "body": "b", "graph": {"outputs": {"body": "body"}}},
 "b": {"node": "graph", "body": "a", "graph": {"outputs": {"body": "body"}}}},
 "outputs": {"body": "a"}}"#;
    let found = problems(text);
    assert!(found[0].contains("leads back to itself"), "{found:#?}");
}

#[test]
fn declarations_of_nested_inputs_are_checked() {
    let unknown = only_problem(&with_input(r#"{"type": "mash"}"#, "\"x\": \"body\","));
    assert!(
        unknown.starts_with("g.json:3:36: the type of input 'x' is missing or unknown"),
        "{unknown}"
    );
    let unknown = only_problem(&with_input(
        r#"{"type": "mesh", "slect": "a"}"#,
        "\"x\": \"body\",",
    ));
    assert!(
        unknown.starts_with("g.json:3:44: an input has no key 'slect'; did you mean 'select'?"),
        "{unknown}"
    );
    let weights = |count: u8, link: &str| {
        format!(
            "{{\"sinew\": \"1.0\", \"inputs\": {{\"body\": {{\"type\": \"mesh\"}}, \"w\": {{\"type\": \"values\", \"count\": 3}}}},\n\"stack\": [{{\"node\": \"graph\"{link},\n\"graph\": {{\"inputs\": {{\"body\": {{\"type\": \"mesh\"}}, \"w\": {{\"type\": \"values\", \"count\": {count}}}}}, \"stack\": [{{\"node\": \"morph\", \"weights\": \"w\"}}]}}}}]}}"
        )
    };
    assert_eq!(problems(&weights(3, "")), Vec::<String>::new());
    assert_eq!(
        only_problem(&weights(2, ", \"w\": \"w\"")),
        "g.json:2:34: input 'w' of 'graph' takes 2 values, but 'w' has 3; give both the same \"count\""
    );
    assert!(only_problem(&weights(2, "")).contains("needs the input 'w'"));
}

#[test]
fn an_input_that_selects_is_not_taken_for_another_one_of_the_same_name() {
    let text = |outer: &str, link: &str| {
        format!(
            r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "hair": {{"type": "mesh"{outer}}}}},
 "nodes": {{"g": {{"node": "graph", "body": "body"{link}, "graph": {{
   "inputs": {{"body": {{"type": "mesh"}}, "hair": {{"type": "mesh", "select": "hair*"}}}},
   "nodes": {{"w": {{"node": "wrap", "mesh": "body", "driver": "hair"}}}}, "outputs": {{"body": "w"}}}}}}}},
 "outputs": {{"body": "g"}}}}"#
        )
    };
    // Not said, and what the outer graph calls so is something else.
    assert!(
        only_problem(&text("", ""))
            .starts_with("g.json:2:12: the graph 'g' needs the input 'hair'")
    );
    // The same declaration, or a link: the graph around decides.
    assert_eq!(
        problems(&text(r#", "select": "hair*""#, "")),
        Vec::<String>::new()
    );
    assert_eq!(
        problems(&text("", r#", "hair": "hair""#)),
        Vec::<String>::new()
    );
    assert!(only_problem(&text(r#", "file": "other.glb""#, "")).contains("needs the input 'hair'"));
}

#[test]
fn references_keep_to_the_range_that_the_nested_graph_declares() {
    let text = |outer: &str, inner: &str| {
        format!(
            "{{\"sinew\": \"1.0\", \"parameters\": {{\"k\": {outer}}},\n\"stack\": [{{\"node\": \"graph\", \"w\": \"$k\",\n\"graph\": {{\"parameters\": {{\"w\": {inner}}}, \"stack\": [{{\"node\": \"transform\", \"weight\": \"$w\"}}]}}}}]}}"
        )
    };
    let narrow = r#"{"type": "float", "default": 0.3, "min": 0.25, "max": 0.5}"#;
    assert_eq!(
        only_problem(&text(r#"{"type": "float", "default": 1}"#, narrow)),
        "g.json:2:34: a value of '$k' does not fit 'w'; found 1, expected a number from 0.25 to 0.5"
    );
    assert_eq!(
        only_problem(&text(r#"{"type": "bool"}"#, narrow)),
        "g.json:2:34: the type of '$k' does not fit 'w'; expected a number from 0.25 to 0.5"
    );
    let setup = r#"{"type": "float", "default": 0.3, "setup": true}"#;
    assert!(
        only_problem(&text(r#"{"type": "float", "default": 0.3}"#, setup))
            .starts_with("g.json:2:34: 'w' is read in setup only, but '$k' may change")
    );
    assert!(
        problems(&text(
            r#"{"type": "float", "default": 0.3}"#,
            r#"{"type": "flaot"}"#
        ))
        .iter()
        .filter(|p| p.contains("is missing or unknown"))
        .count()
            == 1,
        "said once"
    );
    let plan = plan(&text(r#"{"type": "float", "default": 0.5}"#, narrow));
    let refused = plan.parse_parameter("k", "0.75");
    assert!(
        refused.is_err(),
        "--set keeps to the inner range: {refused:?}"
    );
}

#[test]
fn files_are_checked_like_inline_graphs() {
    let files = |inner: &str| Files(vec![("inner.json", inner.to_owned())]);
    let outer =
        r#"{"sinew": "1.0", "stack": ["transform", {"node": "graph", "file": "inner.json"}]}"#;
    let text = |key: &str| format!(r#"{{"sinew": "1.0", "{key}": ["transform"]}}"#);
    let plan = compile("g.json", outer, &files(&text("stack"))).expect("valid");
    assert_eq!(
        chain(&plan),
        owned(&[("transform", "body"), ("graph/transform", "transform")])
    );
    let inline = r#"{"sinew": "1.0", "stack": [{"node": "graph", "graph": {"stak": [], "stack": ["transform"]}}]}"#;
    assert_eq!(
        only_problem(inline),
        "g.json:1:56: a graph has no key 'stak'; did you mean 'stack'?"
    );
    let wrong = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "nodes": {"t": {"node": "transform", "mesh": "body"}}, "outputs": {"body": "t", "other": "tt"}}"#;
    let Err(found) = compile("g.json", outer, &files(wrong)) else {
        panic!("an output that leads nowhere")
    };
    assert_eq!(found.0.len(), 1, "{found}");
    assert_eq!(
        found.0[0].to_string(),
        "inner.json:1:145: output 'other': there is no input or node 'tt'; did you mean 't'?"
    );
}
