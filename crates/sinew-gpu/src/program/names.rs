//! Which functions and constants a pass calls, and which arrays stand behind them.

use super::memory::{ArrayShape, Memory};
use super::nodes::NodeOnDevice;
use sinew_deform::{DevicePass, Locality, MeshAttribute, PortDesc, PortType};
use sinew_graph::Link;
use sinew_wgsl::Snippet;
use sinew_wgsl::tokens::{TokenKind, tokenize};
use std::collections::BTreeSet;

/// Something that a text may use under a name.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Given {
    /// `const NAME: bool`, `u32` or `f32`, with its value as text.
    Constant { ty: &'static str, value: String },
    /// `read_NAME(i)`; zero where there is no array.
    Read {
        memory: Option<Memory>,
        part: Part,
        ty: &'static str,
    },
    /// `write_NAME(i, v)`; does nothing where there is no array.
    Write {
        memory: Option<Memory>,
        ty: &'static str,
    },
    /// `write_NAME(i, from, to, color)`.
    WriteLine { memory: Option<Memory> },
    /// `add_NAME(i, v)`, `min_NAME(i, v)`, `max_NAME(i, v)`, or a `write_NAME(i, v)` that may leave elements as they were.
    Scatter {
        memory: Option<Memory>,
        ty: &'static str,
        how: Scatter,
    },
    /// `uniforms()`.
    Uniforms { memory: Memory },
    /// `open_RELATION(i)`.
    Open { relation: RelationId },
    /// `RELATION_extra(k)`.
    Extra { relation: RelationId },
    /// `RELATION_count()`, or `RELATION_groups()`.
    Count { relation: RelationId, groups: bool },
    /// `RELATION_NAME(k)`: the element that entry `k` names; zero where there is no array.
    Through {
        relation: RelationId,
        memory: Option<Memory>,
        part: Part,
        ty: &'static str,
    },
}

/// What is done to an element that others may write, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scatter {
    /// It gets another value.
    Write,
    /// Something is added to it.
    Add,
    /// It becomes the smaller of itself and something.
    Min,
    /// It becomes the larger of itself and something.
    Max,
}

/// Functions that combine an element with something, by what they begin with.
const COMBINED: [(&str, Scatter); 3] = [
    ("add", Scatter::Add),
    ("min", Scatter::Min),
    ("max", Scatter::Max),
];

/// Node and place in its list.
pub(super) type RelationId = (usize, usize);

/// Which part of an element is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    LineFrom,
    LineTo,
    LineColor,
}

impl Given {
    pub(super) fn reads(&self) -> Option<Memory> {
        match self {
            // What is not overwritten comes from before.
            Self::Read { memory, .. }
            | Self::Through { memory, .. }
            | Self::Scatter { memory, .. } => *memory,
            Self::Uniforms { memory } => Some(*memory),
            _ => None,
        }
    }
    pub(super) fn writes(&self) -> Option<Memory> {
        match self {
            Self::Write { memory, .. }
            | Self::WriteLine { memory }
            | Self::Scatter { memory, .. } => *memory,
            _ => None,
        }
    }
}

/// A name in a text and what it stands for.
pub(super) type NamedGiven = (String, Given);

/// All that the texts of a node may use, under the names that they use.
pub(super) fn all_given(
    node: &NodeOnDevice,
    shape: &dyn Fn(Memory) -> ArrayShape,
) -> Vec<NamedGiven> {
    let mut out: Vec<NamedGiven> = Vec::new();
    let mut constant = |name: String, ty: &'static str, value: String| {
        out.push((name, Given::Constant { ty, value }));
    };
    constant(
        "vertex_count".into(),
        "u32",
        format!("{}u", node.vertex_count),
    );
    for (name, setting) in &node.device.settings {
        use sinew_deform::DeviceSetting as S;
        match setting {
            S::Bool(v) => constant((*name).into(), "bool", v.to_string()),
            S::U32(v) => constant((*name).into(), "u32", format!("{v}u")),
            // The shortest text that reads as the same float.
            S::F32(v) => constant((*name).into(), "f32", format!("{v:?}f")),
        }
    }
    let links = node.step.links.iter();
    for ((port, place), link) in node.step.desc.inputs.iter().zip(&node.inputs).zip(links) {
        input(&mut out, port, place, shape);
        if let Some(Link::Mesh(mesh)) = link {
            out.push(rest_positions(port, *mesh));
        }
    }
    for (port, place) in node.step.desc.outputs.iter().zip(&node.outputs) {
        output(&mut out, port, place);
    }
    arrays(&mut out, node);
    relations(&mut out, node);
    if node.device.uniforms.bytes > 0 {
        let memory = Memory::Uniforms { node: node.index };
        out.push(("uniforms".into(), Given::Uniforms { memory }));
    }
    out
}

/// Arrays at a port: by attribute for meshes, the first alone for others.
pub(super) type PortMemory = [Option<Memory>; sinew_deform::MESH_ATTRIBUTES];

/// A mesh input's authored positions.
fn rest_positions(port: &PortDesc, mesh: usize) -> NamedGiven {
    let attribute = MeshAttribute::Positions;
    let given = Given::Read {
        memory: Some(Memory::Rest { mesh, attribute }),
        part: Part::Whole,
        ty: "vec3f",
    };
    (format!("read_{}_rest_positions", port.name), given)
}

fn flag(out: &mut Vec<NamedGiven>, name: String, is: bool) {
    let value = is.to_string();
    out.push((name, Given::Constant { ty: "bool", value }));
}

fn input(
    out: &mut Vec<NamedGiven>,
    port: &PortDesc,
    place: &PortMemory,
    shape: &dyn Fn(Memory) -> ArrayShape,
) {
    let name = port.name;
    let mut read = |suffix: &str, memory: Option<Memory>, part: Part, ty: &'static str| {
        out.push((
            format!("read_{name}{suffix}"),
            Given::Read { memory, part, ty },
        ));
    };
    match port.ty {
        PortType::Mesh => {
            for (attribute, &memory) in MeshAttribute::ALL.into_iter().zip(place) {
                let suffix = format!("_{}", attribute.wgsl_name());
                read(&suffix, memory, Part::Whole, attribute.element().wgsl());
            }
            for (attribute, memory) in MeshAttribute::ALL.into_iter().zip(place) {
                let name = format!("has_{name}_{}", attribute.wgsl_name());
                flag(out, name, memory.is_some());
            }
            return;
        }
        PortType::Pose | PortType::VertexAnimation => return,
        PortType::Mask | PortType::Values => read("", place[0], Part::Whole, "f32"),
        PortType::Field => read("", place[0], Part::Whole, "u32"),
        PortType::Buffer(element) => read("", place[0], Part::Whole, element.wgsl()),
        PortType::Lines => {
            read("_from", place[0], Part::LineFrom, "vec3f");
            read("_to", place[0], Part::LineTo, "vec3f");
            read("_color", place[0], Part::LineColor, "vec4f");
        }
    }
    flag(out, format!("has_{name}"), place[0].is_some());
    let count = place[0].map_or(0, |memory| shape(memory).len);
    let value = format!("{count}u");
    out.push((
        format!("count_{name}"),
        Given::Constant { ty: "u32", value },
    ));
}

fn output(out: &mut Vec<NamedGiven>, port: &PortDesc, place: &PortMemory) {
    let name = port.name;
    match port.ty {
        PortType::Mesh => {
            for (attribute, &memory) in MeshAttribute::ALL.into_iter().zip(place) {
                let word = attribute.wgsl_name();
                let ty = attribute.element().wgsl();
                out.push((format!("write_{name}_{word}"), Given::Write { memory, ty }));
                flag(out, format!("wants_{name}_{word}"), memory.is_some());
            }
            return;
        }
        PortType::Pose | PortType::VertexAnimation => return,
        PortType::Mask | PortType::Values => {
            let (memory, ty) = (place[0], "f32");
            out.push((format!("write_{name}"), Given::Write { memory, ty }));
        }
        PortType::Lines => {
            let memory = place[0];
            out.push((format!("write_{name}"), Given::WriteLine { memory }));
        }
        PortType::Field => {
            let (memory, ty) = (place[0], "u32");
            out.push((format!("write_{name}"), Given::Write { memory, ty }));
        }
        PortType::Buffer(element) => {
            let (memory, ty) = (place[0], element.wgsl());
            out.push((format!("write_{name}"), Given::Write { memory, ty }));
            for (verb, how) in COMBINED {
                out.push((format!("{verb}_{name}"), Given::Scatter { memory, ty, how }));
            }
        }
    }
    flag(out, format!("wants_{name}"), place[0].is_some());
}

fn arrays(out: &mut Vec<NamedGiven>, node: &NodeOnDevice) {
    let device = &node.device;
    let mut array =
        |name: &str, memory: Memory, ty: sinew_deform::DeviceType, len: usize, writes: bool| {
            let memory = Some(memory);
            let (part, wgsl) = (Part::Whole, ty.wgsl());
            out.push((
                format!("read_{name}"),
                Given::Read {
                    memory,
                    part,
                    ty: wgsl,
                },
            ));
            if writes {
                out.push((format!("write_{name}"), Given::Write { memory, ty: wgsl }));
            }
            let whole = matches!(
                ty,
                sinew_deform::DeviceType::U32 | sinew_deform::DeviceType::I32
            );
            if writes && whole {
                for (word, how) in COMBINED {
                    let ty = wgsl;
                    out.push((format!("{word}_{name}"), Given::Scatter { memory, ty, how }));
                }
            }
            let value = format!("{len}u");
            out.push((
                format!("count_{name}"),
                Given::Constant { ty: "u32", value },
            ));
        };
    let node = node.index;
    for (index, c) in device.constants.iter().enumerate() {
        array(
            c.name,
            Memory::Constant { node, index },
            c.ty,
            c.len(),
            false,
        );
    }
    for (index, a) in device.frame_arrays.iter().enumerate() {
        array(
            a.name,
            Memory::FrameArray { node, index },
            a.ty,
            a.len,
            false,
        );
    }
    for (index, a) in device.scratch.iter().enumerate() {
        array(a.name, Memory::Scratch { node, index }, a.ty, a.len, true);
    }
}

/// Every array that can be read can be read through every relation.
fn relations(out: &mut Vec<NamedGiven>, node: &NodeOnDevice) {
    let mut more = Vec::new();
    for (index, relation) in node.device.relations.iter().enumerate() {
        let (id, name) = ((node.index, index), relation.name);
        more.push((format!("open_{name}"), Given::Open { relation: id }));
        more.push((format!("{name}_extra"), Given::Extra { relation: id }));
        for (word, groups) in [("count", false), ("groups", true)] {
            let relation = id;
            more.push((format!("{name}_{word}"), Given::Count { relation, groups }));
        }
        for (array, given) in out.iter() {
            if let (Some(array), Given::Read { memory, part, ty }) =
                (array.strip_prefix("read_"), given)
            {
                let through = Given::Through {
                    relation: id,
                    memory: *memory,
                    part: *part,
                    ty,
                };
                more.push((format!("{name}_{array}"), through));
            }
        }
    }
    out.extend(more);
}

/// What a pass uses: names in its text, aliases followed.
pub(super) fn used(
    pass: &DevicePass,
    relations: &[&str],
    snippet: &Snippet,
    given: &[NamedGiven],
) -> Vec<NamedGiven> {
    let tokens = tokenize(snippet.text());
    let names = tokens.iter().filter(|t| t.kind == TokenKind::Name);
    let words: BTreeSet<&str> = names.map(|t| t.text(snippet.text())).collect();
    let find = |name: &str| given.iter().find(|(known, _)| known == name);
    // An alias stands for an array, whatever is done with it.
    let functions = |alias: &(&str, &str)| {
        let (alias, name) = *alias;
        let plain = ["read_", "write_", "count_", "add_", "min_", "max_"]
            .map(str::to_owned)
            .into_iter();
        let through = relations.iter().map(|r| format!("{r}_"));
        let prefixes = plain.chain(through);
        prefixes
            .map(|p| (format!("{p}{alias}"), format!("{p}{name}")))
            .collect::<Vec<_>>()
    };
    let aliases: Vec<(String, String)> = pass.aliases.iter().flat_map(functions).collect();
    let aliased = aliases.iter().filter_map(|(alias, name)| {
        let (_, what) = find(name)?;
        Some((alias.clone(), what.clone()))
    });
    let plain = given
        .iter()
        .filter(|(name, _)| aliases.iter().all(|(alias, _)| alias != name))
        .cloned();
    let all = aliased.chain(plain);
    let used = all.filter(|(name, _)| words.contains(name.as_str()));
    used.map(|(name, what)| match (pass.locality, what) {
        (Locality::Scatter, Given::Write { memory, ty }) => {
            let how = Scatter::Write;
            (name, Given::Scatter { memory, ty, how })
        }
        (_, what) => (name, what),
    })
    .collect()
}
