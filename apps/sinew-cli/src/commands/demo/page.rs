//! The page of the demo: one file that shows what each node does.

use super::Shown;
use sinew::deform::NodeKind;
use std::fmt::Write;

const STYLE: &str = "\
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 96rem; padding: 1rem 2rem; color: #222; background: #fff }
section { border-top: 1px solid #ddd; padding: .5rem 0 1rem }
img { max-width: 100%; height: auto; display: block }
nav a { margin-right: .8rem; white-space: nowrap }
pre { background: #f5f5f5; padding: 1rem; overflow: auto; font-size: 13px }
h2 { margin: 2.5rem 0 .5rem } h3 { margin: .5rem 0 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b } pre { background: #262626 } a { color: #8bf } section { border-color: #444 } }
";

/// Kinds of nodes in the order of the page, with their headings.
const KINDS: [(NodeKind, &str); 5] = [
    (NodeKind::Deformer, "Deformers"),
    (NodeKind::Driver, "Drivers"),
    (NodeKind::Solver, "Solvers"),
    (NodeKind::Field, "Distance fields"),
    (NodeKind::Kernel, "Your own kernels"),
];

/// HTML. `more`: headings, texts and pictures that belong to no node.
pub(super) fn page(shown: &[Shown], more: &[(&str, &str, String)]) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>Sinew: what each node does</title>\n<style>\n{STYLE}</style>\n<h1>What each node of Sinew does</h1>\n<p>Each example runs on a built-in character: before, after, and how far each vertex moved. Its GLB file holds the animation, and its graph is a file to start from: <code>sinew init --example NAME</code>.</p>\n"
    );
    out += "<nav>";
    for example in KINDS.iter().flat_map(|k| of_kind(shown, k.0)) {
        let name = escaped(example.name);
        let _ = write!(out, "<a href=\"#{name}\">{name}</a> ");
    }
    out += "</nav>\n";
    for (kind, heading) in KINDS {
        let mut all = of_kind(shown, kind).peekable();
        if all.peek().is_none() {
            continue;
        }
        let _ = writeln!(out, "<h2>{heading}</h2>");
        all.for_each(|example| section(&mut out, example));
    }
    for (heading, text, picture) in more {
        let _ = writeln!(
            out,
            "<h2>{}</h2>\n<section><p>{}</p>\n<img loading=\"lazy\" src=\"{picture}\" alt=\"{}\"></section>",
            escaped(heading),
            escaped(text),
            escaped(heading)
        );
    }
    out + "</html>\n"
}

fn of_kind(shown: &[Shown], kind: NodeKind) -> impl Iterator<Item = &Shown> {
    shown.iter().filter(move |s| s.kind == kind)
}

fn section(out: &mut String, example: &Shown) {
    let name = escaped(example.name);
    let plain = sinew::graph::to_plain_json(example.name, example.graph).unwrap_or_default();
    let json: serde_json::Value = serde_json::from_str(&plain).unwrap_or_default();
    let description = json["description"].as_str().unwrap_or_default();
    let _ = writeln!(
        out,
        "<section id=\"{name}\"><h3>{name}</h3>\n<p><code>{}</code>: {} {}</p>\n<img loading=\"lazy\" src=\"{name}.png\" alt=\"{name}: before, after, difference\">\n<p><a href=\"{name}.glb\">{name}.glb</a> · on <code>sample:{}</code></p>\n<details><summary>The graph</summary><pre>{}</pre></details></section>",
        escaped(example.node),
        escaped(example.summary),
        escaped(description),
        escaped(example.sample),
        escaped(example.graph)
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
