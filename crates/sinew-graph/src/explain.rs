//! What the compiler derived, for people.

use crate::instance::Instance;
use crate::plan::{ParameterSource, Plan};
use std::fmt::Write;

impl Plan {
    /// Phases, order and links, as text.
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

impl Instance {
    /// What runs when, and how much memory it takes, as text.
    pub fn explain(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "setup (done):");
        for (name, kind) in &self.report.in_setup {
            let _ = writeln!(out, "  {name} ({kind})  ran once");
        }
        for (name, kind, setup, _, _) in &self.report.steps {
            let _ = writeln!(out, "  {name} ({kind})  bound, {setup} bytes");
        }
        let _ = writeln!(out, "update (each frame), in this order:");
        for (name, kind, _, scratch, implicit) in &self.report.steps {
            let added = if *implicit {
                ", added because normals that are read no longer fit their positions"
            } else {
                ""
            };
            let _ = writeln!(out, "  {name} ({kind})  {scratch} bytes of scratch{added}");
        }
        for name in &self.report.dropped {
            let _ = writeln!(out, "  {name}  dropped: no output needs it");
        }
        let b = &self.buffers;
        let _ = writeln!(
            out,
            "buffers: {} of 3 floats, {} of 4 floats, {} of 1 float; {} bytes",
            b.threes.len() + b.previous_threes.iter().flatten().count(),
            b.fours.len() + b.previous_fours.iter().flatten().count(),
            b.floats.len(),
            b.bytes()
        );
        let _ = writeln!(out, "memory: {} bytes in all", self.memory_bytes());
        out
    }
}
