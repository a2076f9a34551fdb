//! Text that explains a compiled graph.

use crate::bind::FRAME_POSITIONS;
use crate::instance::Instance;
use crate::plan::{ParameterSource, Plan, PlanNode, Takes};
use crate::program::{BufferDesc, Content, Step};
use sinew_deform::{Element, ParameterValue, Phase};
use std::fmt::Write;

impl Plan {
    /// Describes phases, order and links of the nodes as text.
    pub fn explain(&self) -> String {
        let mut out = String::new();
        for (title, in_setup) in [(SETUP, true), (UPDATE, false)] {
            let nodes = self.nodes().iter().filter(|n| n.runs_in_setup == in_setup);
            let nodes: String = nodes.map(|n| self.node_text(n)).collect();
            section(&mut out, title, &nodes);
        }
        self.add_outputs(&mut out);
        out
    }

    /// A node: its name, kind and links, and what its parameters follow.
    fn node_text(&self, n: &PlanNode) -> String {
        let links = n.inputs.iter().zip(n.desc.inputs);
        let links: Vec<String> = links
            .filter_map(|(s, p)| s.map(|s| format!("{} <- {}", p.name, self.source_name(s))))
            .collect();
        let (kind, links) = (n.desc.kind.as_str(), links.join(", "));
        let mut out = format!("  {} ({}, {kind})  {links}", n.name, n.desc.name);
        out.truncate(out.trim_end().len());
        out.push('\n');
        let parameters = n.parameters.iter().zip(n.desc.parameters);
        let varying: Vec<String> = parameters
            .filter_map(|(s, d)| self.varying(n, s, d.name))
            .collect();
        if !varying.is_empty() {
            let _ = writeln!(out, "      {}", varying.join(", "));
        }
        out
    }

    /// What a parameter follows; `None` for a constant.
    fn varying(&self, node: &PlanNode, source: &ParameterSource, name: &str) -> Option<String> {
        Some(match source {
            ParameterSource::Parameter(p) => format!("{name} = ${}", self.parameters()[*p].name),
            ParameterSource::Keyed(k) => format!("{name} keyed at {} times", k.times.len()),
            ParameterSource::Linked(link) => {
                let from = self.source_name(*node.parameter_inputs.get(link.input)?);
                match &link.takes {
                    Takes::Numbers { first, .. } => format!("{name} <- {from}[{first}]"),
                    Takes::Joint { name: joint, .. } => {
                        format!("{name} <- {} of {from}", self.joint_words(joint))
                    }
                }
            }
            ParameterSource::FrameTime => format!("{name} = time of the frame"),
            ParameterSource::Constant(_) => return None,
        })
    }

    fn add_outputs(&self, out: &mut String) {
        let _ = writeln!(out, "outputs:");
        for o in self.outputs() {
            let (source, ty) = (self.source_name(o.source), self.source_type(o.source));
            let _ = writeln!(out, "  {} <- {source} ({})", o.name, ty.as_str());
        }
    }

    fn joint_words(&self, name: &ParameterSource) -> String {
        match name {
            ParameterSource::Constant(ParameterValue::Text(name)) => format!("joint '{name}'"),
            ParameterSource::Parameter(p) => format!("joint ${}", self.parameters()[*p].name),
            _ => "no joint".into(),
        }
    }
}

const SETUP: &str = "setup (once)";
const UPDATE: &str = "update (each frame)";

fn section(out: &mut String, title: &str, nodes: &str) {
    let nodes = if nodes.is_empty() {
        "  nothing\n"
    } else {
        nodes
    };
    let _ = write!(out, "{title}:\n{nodes}");
}

impl Instance {
    /// Describes the bound graph as text: what [`Plan::explain`] lists, with the steps that binding added, notes and memory.
    pub fn explain(&self) -> String {
        let mut out = String::new();
        let program = self.graph().program();
        for (title, phase) in [(SETUP, Phase::Setup), (UPDATE, Phase::Update)] {
            let steps = program.steps(phase);
            let text: String = steps.iter().map(|s| self.step_text(s, phase)).collect();
            section(&mut out, title, &text);
        }
        if !program.dropped().is_empty() {
            let _ = writeln!(out, "left out, because no output needs it:");
        }
        for name in program.dropped() {
            let _ = writeln!(out, "  {name}");
        }
        self.graph().plan().add_outputs(&mut out);
        let count = |element: Element| {
            let is_it = |d: &&BufferDesc| matches!(d.content, Content::Array { element: e, .. } if e == element);
            let buffers = program.buffers(Phase::Update).iter().filter(is_it);
            buffers.map(|d| 1 + usize::from(d.previous)).sum::<usize>()
        };
        let _ = writeln!(
            out,
            "buffers: {} of 3 floats, {} of 4 floats, {} of 1 float; {} bytes",
            count(Element::Vec3),
            count(Element::Vec4),
            count(Element::Float),
            self.buffer_bytes()
        );
        let all = self.graph().memory_bytes() + self.memory_bytes();
        let _ = writeln!(out, "memory: {all} bytes in all");
        out
    }

    /// A node as in the plan, or a step that binding added; the notes of its setup, and its memory if it runs in each frame.
    fn step_text(&self, step: &Step, phase: Phase) -> String {
        let plan = self.graph().plan();
        let node = plan.nodes().iter().find(|n| n.name == step.name);
        let mut out = match (node.filter(|_| !step.implicit), step.desc.name) {
            (Some(node), _) => plan.node_text(node),
            (None, kind) => {
                let why = match kind {
                    FRAME_POSITIONS => "for the positions of a point cache",
                    _ => "to compute missing or stale normals and tangents",
                };
                format!("  {} ({kind})  added {why}\n", step.name)
            }
        };
        if phase == Phase::Update {
            for note in step.region.iter().chain(&step.bound.note()) {
                let _ = writeln!(out, "      {}", note.text);
            }
            let (setup, scratch) = (step.bound.setup_bytes(), step.bound.scratch_bytes());
            let _ = writeln!(out, "      {setup} bytes of setup, {scratch} of scratch");
        }
        out
    }
}
