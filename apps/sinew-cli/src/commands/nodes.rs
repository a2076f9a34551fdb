//! `sinew nodes`: the registry, as text and as the pages of the docs.

use crate::args::NodesArgs;
use crate::exit::{Failure, Outcome};
use crate::talk::{Talk, print};
use sinew::deform::{
    DefaultValue, NodeDesc, ParameterDesc, ParameterType, Phase, REGISTRY, find_node,
};
use sinew::graph::KERNEL_SUMMARY;
use std::fmt::Write;

/// Not in the registry: each kernel has pins of its own.
const KERNEL: &str = "kernel";

pub(super) fn nodes(args: &NodesArgs, talk: &Talk) -> Outcome {
    if let Some(folder) = &args.pages {
        for desc in REGISTRY {
            let path = folder.join(format!("{}.md", desc.name));
            sinew::io::write_text(&path, &page(desc)).map_err(Failure::output)?;
        }
        sinew::io::write_text(&folder.join("README.md"), &index()).map_err(Failure::output)?;
        talk.info(
            "written",
            &format!("wrote {} pages to {}", REGISTRY.len() + 1, folder.display()),
        );
        return Ok(());
    }
    match &args.node {
        None => {
            let mut out = String::new();
            for desc in REGISTRY {
                let _ = writeln!(
                    out,
                    "{:<18}{:<10}{}",
                    desc.name,
                    desc.kind.as_str(),
                    desc.summary
                );
            }
            let _ = writeln!(out, "{KERNEL:<18}{KERNEL:<10}{KERNEL_SUMMARY}");
            print(&out);
            Ok(())
        }
        Some(name) if name == KERNEL => {
            print(include_str!("../../../../docs/kernels.md"));
            Ok(())
        }
        Some(name) => match find_node(name) {
            Some(desc) => {
                print(&page(desc));
                Ok(())
            }
            None => {
                let known = REGISTRY.iter().map(|d| d.name).chain([KERNEL]);
                let known: Vec<&str> = known.collect();
                Err(Failure::usage(format!(
                    "there is no node '{name}'; the nodes are {}",
                    known.join(", ")
                )))
            }
        },
    }
}

fn index() -> String {
    let mut out = String::from(
        "# Nodes\n\nMade by `sinew nodes --pages docs/nodes` from the registry.\n\n| node | kind | what it does |\n|---|---|---|\n",
    );
    for d in REGISTRY {
        let _ = writeln!(
            out,
            "| [`{0}`]({0}.md) | {1} | {2} |",
            d.name,
            d.kind.as_str(),
            d.summary
        );
    }
    let _ = writeln!(
        out,
        "| [`{KERNEL}`](../kernels.md) | {KERNEL} | {KERNEL_SUMMARY} |"
    );
    out
}

/// Pictures of the docs, with the commands that make them.
const PICTURES: &str = include_str!("../../../../docs/pictures/commands.txt");

/// A picture on the page of a node.
struct Picture<'a> {
    file: &'a str,
    nodes: Vec<&'a str>,
    /// What is to be seen.
    text: &'a str,
    /// Of `sinew render`; files without their folders, but for those of the examples.
    arguments: Vec<&'a str>,
}

impl Picture<'_> {
    /// What `sinew` is asked; most pictures are those of `sinew render`.
    fn command(&self) -> String {
        let arguments = self.arguments.join(" ");
        match self.arguments.first() {
            Some(&("psd" | "field" | "vat")) => arguments,
            _ => format!("render {arguments}"),
        }
    }
}

/// The list, as its head describes it.
fn pictures(list: &str) -> Vec<Picture<'_>> {
    let mut out: Vec<Picture<'_>> = Vec::new();
    for line in list.lines().filter(|l| !l.starts_with('#')) {
        if line.starts_with(' ') {
            let Some(picture) = out.last_mut() else {
                continue;
            };
            let optional = |word: &'_ str| word.starts_with("../");
            picture.arguments.extend(line.split_whitespace().map(
                |word| match word.rsplit_once('/') {
                    Some((_, name)) if optional(word) => name,
                    _ => word,
                },
            ));
        } else if let Some((head, text)) = line.split_once(": ") {
            let mut words = head.split_whitespace();
            out.push(Picture {
                file: words.next().unwrap_or_default(),
                nodes: words.collect(),
                text,
                arguments: Vec::new(),
            });
        }
    }
    out
}

/// The page of one node: ports, parameters, then the folder's own text.
fn page(d: &NodeDesc) -> String {
    let mut out = format!("# {}\n\n{} ({})\n\n", d.name, d.summary, d.kind.as_str());
    for p in pictures(PICTURES)
        .iter()
        .filter(|p| p.nodes.contains(&d.name))
    {
        let _ = writeln!(
            out,
            "![{text}](../pictures/{file})\n\n{text}. Made by `sinew {} -o {file}`.\n",
            p.command(),
            file = p.file,
            text = capitalised(p.text),
        );
    }
    let _ = writeln!(out, "| input | type | |\n|---|---|---|");
    for p in d.inputs {
        let open = if p.required { "" } else { " May stay open." };
        let _ = writeln!(
            out,
            "| `{}` | {} | {}{open} |",
            p.name,
            p.ty.as_str(),
            p.doc
        );
    }
    let _ = writeln!(out, "\n| output | type | |\n|---|---|---|");
    for p in d.outputs {
        let _ = writeln!(out, "| `{}` | {} | {} |", p.name, p.ty.as_str(), p.doc);
    }
    if !d.parameters.is_empty() {
        let _ = writeln!(
            out,
            "\n| parameter | values | default | read | |\n|---|---|---|---|---|"
        );
    }
    for p in d.parameters {
        let read = if p.phase == Phase::Setup {
            "setup"
        } else {
            "each frame"
        };
        parameter_row(&mut out, p, Some(read));
    }
    if let Some(angle) = d.parameters.iter().find(|p| p.is_angle()) {
        let _ = writeln!(
            out,
            "\nAngles (rad) may be given in degrees instead: `{}_degrees`.",
            angle.name
        );
    }
    for p in d.parameters {
        if let ParameterType::Records(fields) = p.ty {
            let _ = writeln!(
                out,
                "\nEach object of `{}`:\n\n| field | values | default | |\n|---|---|---|---|",
                p.name
            );
            fields.iter().for_each(|f| parameter_row(&mut out, f, None));
        }
    }
    let _ = write!(out, "\n{}", d.page);
    out
}

/// A row of the table of parameters, or of fields, which all have one phase.
fn parameter_row(out: &mut String, p: &ParameterDesc, read: Option<&str>) {
    let unit = match p.unit {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    let read = read.map_or(String::new(), |read| format!(" {read} |"));
    let _ = writeln!(
        out,
        "| `{}` | {}{unit} | {} |{read} {}{} |",
        p.name,
        values(p.ty),
        default(p.default),
        p.doc,
        words(p.ty)
    );
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn values(ty: ParameterType) -> String {
    match ty {
        ParameterType::Bool => "true, false".into(),
        ParameterType::Int { min, max } if max == i64::MAX => format!("whole, from {min}"),
        ParameterType::Int { min, max } => format!("whole, {min} to {max}"),
        ParameterType::Float { min, max } => match (min == f64::MIN, max == f64::MAX) {
            (true, true) => "number".into(),
            (true, false) => format!("number, at most {max}"),
            (false, true) => format!("number, at least {min}"),
            _ => format!("number, {min} to {max}"),
        },
        ParameterType::Choice(c) => c
            .iter()
            .map(|c| format!("`{}`", c.name))
            .collect::<Vec<_>>()
            .join(", "),
        ParameterType::Text => "text".into(),
        ParameterType::Vec3 => "[x, y, z]".into(),
        ParameterType::Vec4 => "[x, y, z, w]".into(),
        ParameterType::Int3 { .. } => "[x, y, z], whole".into(),
        ParameterType::Transform => "transform".into(),
        ParameterType::Floats => "list of numbers".into(),
        ParameterType::Points => "list of points".into(),
        ParameterType::Texts => "list of texts".into(),
        ParameterType::Transforms => "list of transforms".into(),
        ParameterType::Records(_) => "list of objects, see below".into(),
    }
}

fn words(ty: ParameterType) -> String {
    match ty {
        ParameterType::Choice(c) => c
            .iter()
            .map(|c| format!(" `{}`: {}", c.name, c.doc))
            .collect(),
        _ => String::new(),
    }
}

fn default(d: DefaultValue) -> String {
    match d {
        DefaultValue::Bool(v) => v.to_string(),
        DefaultValue::Int(v) => v.to_string(),
        DefaultValue::Float(v) => v.to_string(),
        DefaultValue::Text(v) => format!("`{v}`"),
        DefaultValue::Vec3(v) => format!("{v:?}"),
        DefaultValue::Vec4(v) => format!("{v:?}"),
        DefaultValue::Int3(v) => format!("{v:?}"),
        DefaultValue::Identity => "identity".into(),
        DefaultValue::Empty => "empty".into(),
        DefaultValue::FrameTime => "time of the frame".into(),
        DefaultValue::Required => "must be given".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_has_a_picture() {
        let pictures = pictures(PICTURES);
        for node in REGISTRY {
            let shown = pictures.iter().any(|p| p.nodes.contains(&node.name));
            assert!(shown, "docs/pictures/commands.txt shows no {}", node.name);
        }
        for picture in &pictures {
            assert!(!picture.arguments.is_empty(), "{}", picture.file);
            for node in &picture.nodes {
                assert!(find_node(node).is_some(), "{}: {node}", picture.file);
            }
        }
    }
}
