//! `struct Uniforms` of each node lies in WGSL as in Rust, member by member: without a device, so that drift is found everywhere.

use crate::common::{assets, running};
use sinew::deform::{DeviceNode, REGISTRY, UniformLayout};
use sinew_gpu::test_support::assert_layout;
use sinew_wgsl::{Module, ModuleBuilder, ModuleOptions};
use std::collections::BTreeSet;

/// All `struct NAME {...}` of a text, each without what stands around it.
fn structs(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("struct ").map(|(at, _)| at);
    let alone = starts.filter(|&at| at == 0 || text[..at].ends_with('\n'));
    alone.filter_map(|at| {
        let end = text[at..].find('}')?;
        Some(&text[at..=at + end])
    })
}

fn name_of(structure: &str) -> &str {
    structure.split_whitespace().nth(1).unwrap_or_default()
}

fn mentions(structure: &str, name: &str) -> bool {
    let members = structure.split_once('{').map_or("", |s| s.1);
    let mut words = members.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.any(|word| word == name)
}

/// A module of `struct Uniforms` in the texts of a node.
fn module(name: &str, node: &DeviceNode) -> Module {
    let passes = node.passes.iter().map(|p| p.text);
    let written = node.written.iter().map(String::as_str);
    let texts = node.shared.iter().copied().chain(passes).chain(written);
    let all: BTreeSet<&str> = texts.flat_map(structs).collect();
    // `struct Uniforms`, and what its members and theirs are. Other names may mean something else in each pass.
    let mut text = String::new();
    let mut wanted = vec!["Uniforms"];
    while let Some(wanted_name) = wanted.pop() {
        let of_name = all.iter().filter(|s| name_of(s) == wanted_name);
        for found in of_name.filter(|s| !text.contains(**s)).collect::<Vec<_>>() {
            text += found;
            text += "\n";
            wanted.extend(
                all.iter()
                    .map(|s| name_of(s))
                    .filter(|n| mentions(found, n)),
            );
        }
    }
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    builder.declare(name, &text);
    let module = builder.finish();
    module.unwrap_or_else(|e| panic!("{name}: {e}\n{text}"))
}

#[test]
fn rust_and_wgsl_agree_about_their_members() {
    let mut compared = 0;
    for asset in assets() {
        for desc in REGISTRY {
            let instance = running(&asset, desc);
            let graph = instance.graph();
            let steps = graph.program().all_steps();
            for step in steps.filter(|s| s.desc.name == desc.name) {
                let Some(node) = graph.device_node(step) else {
                    continue;
                };
                let module = module(desc.name, &node);
                if node.uniforms == UniformLayout::default() {
                    assert_eq!(module.struct_layout("Uniforms"), None, "{}", desc.name);
                    continue;
                }
                assert_layout(&module, "Uniforms", &node.uniforms);
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "{compared} nodes with uniforms");
}
