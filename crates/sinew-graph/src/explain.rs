//! Text that explains a compiled graph.

use crate::bind::FRAME_POSITIONS;
use crate::instance::Instance;
use crate::plan::{ParameterSource, Plan, Takes};
use crate::program::{BufferDesc, Content};
use sinew_deform::{Element, ParameterValue, Phase};
use std::fmt::Write;

impl Plan {
    /// Describes phases, order and links of the nodes as text.
    pub fn explain(&self) -> String {
        let mut out = String::new();
        for (title, in_setup) in [("setup (once)", true), ("update (each frame)", false)] {
            let _ = writeln!(out, "{title}:");
            let nodes: Vec<_> = self
                .nodes()
                .iter()
                .filter(|n| n.runs_in_setup == in_setup)
                .collect();
            if nodes.is_empty() {
                let _ = writeln!(out, "  nothing");
            }
            for n in nodes {
                let links: Vec<String> = n
                    .inputs
                    .iter()
                    .zip(n.desc.inputs)
                    .filter_map(|(s, p)| {
                        s.map(|s| format!("{} <- {}", p.name, self.source_name(s)))
                    })
                    .collect();
                let _ = writeln!(
                    out,
                    "  {} ({}, {})  {}",
                    n.name,
                    n.desc.name,
                    n.desc.kind.as_str(),
                    links.join(", ")
                );
                let varying: Vec<String> = n
                    .parameters
                    .iter()
                    .zip(n.desc.parameters)
                    .filter_map(|(s, d)| match s {
                        ParameterSource::Parameter(p) => {
                            Some(format!("{} = ${}", d.name, self.parameters()[*p].name))
                        }
                        ParameterSource::Keyed(k) => {
                            Some(format!("{} keyed at {} times", d.name, k.times.len()))
                        }
                        ParameterSource::Linked(link) => {
                            let from = self.source_name(*n.parameter_inputs.get(link.input)?);
                            Some(match &link.takes {
                                Takes::Numbers { first, .. } => {
                                    format!("{} <- {from}[{first}]", d.name)
                                }
                                Takes::Joint { name, .. } => {
                                    format!("{} <- {} of {from}", d.name, self.joint_words(name))
                                }
                            })
                        }
                        ParameterSource::FrameTime => {
                            Some(format!("{} = time of the frame", d.name))
                        }
                        ParameterSource::Constant(_) => None,
                    })
                    .collect();
                if !varying.is_empty() {
                    let _ = writeln!(out, "      {}", varying.join(", "));
                }
            }
        }
        let _ = writeln!(out, "outputs:");
        for o in self.outputs() {
            let _ = writeln!(
                out,
                "  {} <- {} ({})",
                o.name,
                self.source_name(o.source),
                self.source_type(o.source).as_str()
            );
        }
        out
    }
}

impl Plan {
    fn joint_words(&self, name: &ParameterSource) -> String {
        match name {
            ParameterSource::Constant(ParameterValue::Text(name)) => format!("joint '{name}'"),
            ParameterSource::Parameter(p) => format!("joint ${}", self.parameters()[*p].name),
            _ => "no joint".into(),
        }
    }
}

impl Instance {
    /// Describes the steps and the memory they take as text.
    pub fn explain(&self) -> String {
        let mut out = String::new();
        let program = self.graph().program();
        let _ = writeln!(out, "setup (done):");
        for s in program.steps(Phase::Setup) {
            let _ = writeln!(out, "  {} ({})  ran once", s.name, s.desc.name);
        }
        for s in program.steps(Phase::Update) {
            let bytes = s.bound.setup_bytes();
            let _ = writeln!(out, "  {} ({})  bound, {bytes} bytes", s.name, s.desc.name);
            for note in s.region.iter().chain(&s.bound.note()) {
                let _ = writeln!(out, "      {}", note.text);
            }
        }
        let _ = writeln!(out, "update (each frame), in this order:");
        for s in program.steps(Phase::Update) {
            let added = match (s.implicit, s.desc.name) {
                (true, FRAME_POSITIONS) => ", added for the positions of a point cache",
                (true, _) => ", added to compute missing or stale normals and tangents",
                (false, _) => "",
            };
            let (name, kind, scratch) = (&s.name, s.desc.name, s.bound.scratch_bytes());
            let _ = writeln!(out, "  {name} ({kind})  {scratch} bytes of scratch{added}");
        }
        for name in program.dropped() {
            let _ = writeln!(out, "  {name}  dropped: no output needs it");
        }
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
}
