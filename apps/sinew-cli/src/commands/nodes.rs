//! `sinew nodes`: the registry, as text and as the pages of the docs.

use crate::args::NodesArgs;
use crate::exit::{Failure, Outcome};
use crate::talk::{Talk, print};
use sinew::deform::{DefaultValue, NodeDesc, ParameterType, Phase, REGISTRY, find_node};
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
                    "there is no node '{name}'; known are {}",
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

/// The picture of the demo that shows a node.
fn picture(node: &str) -> Option<&'static str> {
    Some(match node {
        "mask" | "transform" => "masked_transform",
        "skin" => "skin_dual_quaternion",
        "delta_mush" => "skin_delta_mush",
        "difference_color" => "difference",
        "tangent_frames" => "rigid_delta_mush",
        "morph" => "morph",
        "smooth" => "smooth",
        "lattice" => "lattice",
        "squash_stretch" => "squash_stretch",
        "bend" => "bend",
        "twist" => "twist",
        "taper" => "taper",
        "sine" => "sine",
        "wrap" => "wrap",
        "blend" => "blend",
        "debug_lines" => "debug_lines",
        _ => return None,
    })
}

/// The page of one node: ports, parameters, then the folder's own text.
fn page(d: &NodeDesc) -> String {
    let mut out = format!("# {}\n\n{} ({})\n\n", d.name, d.summary, d.kind.as_str());
    if let Some(picture) = picture(d.name) {
        let _ = writeln!(
            out,
            "![before and after](../pictures/{picture}.png)\n\nMade by `sinew demo` from `examples/{picture}.json`.\n"
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
        let unit = if p.unit.is_empty() {
            String::new()
        } else {
            format!(" {}", p.unit)
        };
        let _ = writeln!(
            out,
            "| `{}` | {}{unit} | {} | {read} | {}{} |",
            p.name,
            values(p.ty),
            default(p.default),
            p.doc,
            words(p.ty)
        );
    }
    let _ = write!(out, "\n{}", d.page);
    out
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
    }
}
