//! Outputs of a kernel.

use super::super::Collector;
use super::Reading;
use crate::diagnostic::{closest, listed};
use crate::json::{Json, Member};
use crate::kernel::{BufferPer, BufferWrite, KernelBuffer, KernelDomain};
use sinew_deform::{
    AttributeEffect, Element, MAX_PORTS, MeshAttribute, MeshEffect, PortDesc, PortType,
};
use std::ops::Range;

impl Reading {
    /// Remembers an output that the text never writes: either the text or the declaration is wrong.
    fn expect_use(&mut self, accessor: String, span: &Range<usize>) {
        if !self.names.contains(&accessor) {
            self.unwritten.push((accessor, span.clone()));
        }
    }
}

impl Collector<'_> {
    pub(super) fn kernel_outputs(
        &mut self,
        r: &mut Reading,
        span: &Range<usize>,
        json: &Json,
        domain: KernelDomain,
        inputs: &[PortDesc],
    ) -> (Vec<PortDesc>, Vec<KernelBuffer>) {
        let (mut ports, mut buffers) = (Vec::new(), Vec::new());
        let members = self.at_most(r, json, "outputs", MAX_PORTS);
        for m in &members {
            let Some(name) = self.kept_name(r, m) else {
                continue;
            };
            match self.pin_type(r, m, &["mesh", "buffer"]) {
                Some(PortType::Mesh) => {
                    let effect = self.mesh_effect(r, m, domain, inputs);
                    ports.extend(effect.map(|effect| PortDesc {
                        effect: Some(effect),
                        ..PortDesc::output(name, PortType::Mesh, "")
                    }));
                }
                Some(ty @ PortType::Buffer(element)) => {
                    buffers.extend(self.kernel_buffer(r, m, name, element));
                    ports.push(PortDesc::output(name, ty, ""));
                }
                _ => {}
            }
        }
        if members.is_empty() && json.get("outputs").is_none_or(|o| o.members().is_some()) {
            let message = format!("the kernel '{}' has no output", r.node);
            let help = "add \"outputs\": { \"mesh\": { \"type\": \"mesh\", \"writes\": [\"positions\"] } }";
            self.reporter(r.scope)
                .error("kernel_outputs", span, message, help);
        }
        (ports, buffers)
    }

    pub(super) fn mesh_effect(
        &mut self,
        r: &mut Reading,
        m: &Member,
        domain: KernelDomain,
        inputs: &[PortDesc],
    ) -> Option<MeshEffect> {
        let scope = r.scope;
        self.unknown_keys(
            scope,
            &m.value,
            "a mesh output of a kernel",
            &["type", "writes", "doc"],
        );
        if domain != KernelDomain::Vertex {
            let message = match domain {
                KernelDomain::Triangle => {
                    "a kernel over triangles cannot write a mesh: triangles share vertices"
                        .to_owned()
                }
                other => format!("a kernel over {} cannot write a mesh", other.elements()),
            };
            let help = match domain {
                KernelDomain::Triangle => {
                    "write a buffer with \"write\": \"atomic_add\" here, and write the mesh in a kernel over vertices"
                }
                _ => "write a buffer here, and write the mesh in a kernel over vertices",
            };
            self.reporter(scope)
                .error("kernel_domain", &m.key_span, message, help);
            return None;
        }
        let from = inputs
            .iter()
            .find(|p| p.ty == PortType::Mesh && p.required)?;
        let listed = m
            .value
            .get("writes")
            .and_then(Json::array)
            .filter(|l| !l.is_empty());
        let Some(listed) = listed else {
            let span = m
                .value
                .get("writes")
                .map_or(&m.key_span, |w| &w.span)
                .clone();
            let message = format!("the mesh output '{}' does not list what it writes", m.key);
            let help = "add \"writes\": a list of positions, normals, tangents, colors";
            self.reporter(scope)
                .error("kernel_writes", &span, message, help);
            return None;
        };
        let mut effects = [AttributeEffect::Keep; 4];
        for item in listed {
            let attribute = MeshAttribute::ALL
                .into_iter()
                .find(|a| item.text() == Some(a.wgsl_name()));
            let Some(attribute) = attribute else {
                let message = format!("a mesh has no attribute {}", item.describe());
                let close = item.text().and_then(|t| {
                    closest(
                        t,
                        MeshAttribute::ALL.into_iter().map(MeshAttribute::wgsl_name),
                    )
                });
                let help = match close {
                    Some(word) => format!("did you mean \"{word}\"?"),
                    None => "its attributes are positions, normals, tangents and colors".into(),
                };
                self.reporter(scope)
                    .error("kernel_writes", &item.span, message, help);
                return None;
            };
            let accessor = format!("write_{}_{}", m.key, attribute.wgsl_name());
            r.expect_use(accessor, &item.span);
            effects[attribute.index()] = AttributeEffect::Recompute;
        }
        let [positions, normals, tangents, colors] = effects;
        // A kernel that moves vertices invalidates their normals and tangents.
        let follows = |effect| match (positions, effect) {
            (AttributeEffect::Recompute, AttributeEffect::Keep) => AttributeEffect::Invalidate,
            (_, effect) => effect,
        };
        Some(MeshEffect {
            from: from.name,
            positions,
            normals: follows(normals),
            tangents: follows(tangents),
            colors,
        })
    }

    pub(super) fn kernel_buffer(
        &mut self,
        r: &mut Reading,
        m: &Member,
        name: &'static str,
        element: Element,
    ) -> Option<KernelBuffer> {
        let scope = r.scope;
        let known = [
            "type",
            "element",
            "per",
            "count",
            "write",
            "persistent",
            "doc",
        ];
        self.unknown_keys(scope, &m.value, "a buffer", &known);
        let text_of = |key: &str| {
            m.value
                .get(key)
                .map(|v| (v.text(), v.span.clone(), v.describe()))
        };
        let per = match text_of("per") {
            None => BufferPer::Vertex,
            Some((Some("vertex"), ..)) => BufferPer::Vertex,
            Some((Some("triangle"), ..)) => BufferPer::Triangle,
            Some((Some("strand"), ..)) => BufferPer::Strand,
            Some((Some("joint"), ..)) => BufferPer::Joint,
            Some((Some("mesh"), ..)) => BufferPer::Mesh,
            Some((_, span, found)) => {
                let message = format!("a buffer cannot have elements per {found}");
                let help =
                    "expected \"per\": \"vertex\", \"triangle\", \"strand\", \"joint\" or \"mesh\"";
                self.reporter(scope)
                    .error("kernel_buffer", &span, message, help);
                return None;
            }
        };
        let write = match text_of("write") {
            None => BufferWrite::Write,
            Some((word, span, found)) => {
                let known = BufferWrite::ALL.into_iter();
                let write = known.clone().find(|w| Some(w.word()) == word);
                if write.is_none() {
                    let message = format!("a buffer has no write mode {found}");
                    let known = listed(known.map(BufferWrite::word));
                    let help = format!("expected \"write\": one of {known}");
                    self.reporter(scope)
                        .error("kernel_buffer", &span, message, help);
                }
                write?
            }
        };
        if write != BufferWrite::Write && !matches!(element, Element::Int | Element::Uint) {
            let span = m
                .value
                .get("write")
                .map_or(&m.key_span, |w| &w.span)
                .clone();
            let message = format!(
                "only int and uint buffers allow {}, but '{}' is a {}",
                write.word(),
                m.key,
                PortType::Buffer(element).as_str()
            );
            let help = "use \"element\": \"int\" and scaled floats: i32(x * 32767.0)";
            self.reporter(scope)
                .error("kernel_buffer", &span, message, help);
            return None;
        }
        let count = match m.value.get("count") {
            None => Some(1),
            Some(v) => {
                let range = 1.0..=f64::from(1 << 24);
                let whole = v.number().filter(|n| n.fract() == 0.0 && range.contains(n));
                if whole.is_none() {
                    let message = format!("'count' is {}", v.describe());
                    let help = "expected a whole number from 1 to 16777216";
                    self.reporter(scope)
                        .error("out_of_range", &v.span, message, help);
                }
                whole.map(|n| n as u32)
            }
        }?;
        let persistent = match m.value.get("persistent").map(|v| (v.bool(), v)) {
            None => false,
            Some((Some(persistent), _)) => persistent,
            Some((None, v)) => {
                let message = format!("'persistent' of '{}' is {}", m.key, v.describe());
                self.reporter(scope).error(
                    "wrong_type",
                    &v.span,
                    message,
                    "expected true or false",
                );
                return None;
            }
        };
        // A text that uses another verb is reported at the location of that call.
        let uses = |w: BufferWrite| r.names.contains(&format!("{}_{name}", w.verb()));
        if !BufferWrite::ALL.into_iter().any(uses) {
            r.expect_use(format!("{}_{name}", write.verb()), &m.key_span);
        }
        Some(KernelBuffer {
            name,
            element,
            per,
            count,
            write,
            persistent,
            cleared: false,
        })
    }
}
