//! Inputs of a kernel.

use super::super::Collector;
use super::{ELEMENTS, INPUT_TYPES, Link, Reading};
use crate::diagnostic::{closest, listed};
use crate::json::{Json, Member};
use sinew_deform::{AttributeRead, MAX_PORTS, MeshAttribute, MeshReads, PortDesc, PortType};
use std::ops::Range;

impl Collector<'_> {
    pub(super) fn kernel_inputs(
        &mut self,
        r: &Reading,
        span: &Range<usize>,
        json: &Json,
        defaults: &[(&str, String)],
    ) -> (Vec<PortDesc>, Vec<Link>) {
        let (mut ports, mut links) = (Vec::new(), Vec::new());
        for m in self.at_most(r, json, "inputs", MAX_PORTS) {
            if let Some((port, link)) = self.kernel_input(r, m, defaults) {
                ports.push(port);
                links.push(link);
            }
        }
        let named_wrong = json.get("inputs").and_then(Json::members);
        let said = named_wrong.is_some_and(|all| all.len() > ports.len());
        if !said && !ports.iter().any(|p| p.ty == PortType::Mesh && p.required) {
            let message = format!("the kernel '{}' has no mesh to run over", r.node);
            let help = "add \"inputs\": { \"mesh\": { \"type\": \"mesh\", \"link\": \"body\" } }";
            self.reporter(r.scope)
                .error("kernel_mesh", span, message, help);
        }
        (ports, links)
    }

    pub(super) fn kernel_input(
        &mut self,
        r: &Reading,
        m: &Member,
        defaults: &[(&str, String)],
    ) -> Option<(PortDesc, Link)> {
        let scope = r.scope;
        let known = ["type", "element", "link", "optional", "doc"];
        self.unknown_keys(scope, &m.value, "an input of a kernel", &known);
        let name = self.kept_name(r, m)?;
        let ty = self.pin_type(r, m, &INPUT_TYPES)?;
        let optional = m
            .value
            .get("optional")
            .and_then(Json::bool)
            .unwrap_or(false);
        if optional && matches!(ty, PortType::Mesh | PortType::Pose | PortType::Field) {
            let message = format!("the {} '{}' cannot be optional", ty.as_str(), m.key);
            let help = "only buffers, masks and values can be optional";
            let span = m
                .value
                .get("optional")
                .map_or(&m.key_span, |o| &o.span)
                .clone();
            self.reporter(scope)
                .error("kernel_input", &span, message, help);
            return None;
        }
        let link = match m.value.get("link") {
            Some(link) => match link.text() {
                Some(text) => Some((text.to_owned(), link.span.clone())),
                None => {
                    let message = format!("'link' of '{}' is {}", m.key, link.describe());
                    let help = "expected the name of an input, a node, or node.port";
                    self.reporter(scope)
                        .error("wrong_type", &link.span, message, help);
                    return None;
                }
            },
            None => {
                let default = defaults.iter().find(|(port, _)| *port == m.key);
                default.map(|(_, link)| (link.clone(), m.key_span.clone()))
            }
        };
        if link.is_none() && !optional {
            let message = format!("the input '{}' of '{}' is not linked", m.key, r.node);
            let help = format!("add \"link\": \"NAME\", a link to a {}", ty.as_str());
            self.reporter(scope)
                .error("missing_input", &m.key_span, message, help);
            return None;
        }
        let port = PortDesc::input(name, ty, "");
        let reads = MeshReads {
            positions: r.reads(name, MeshAttribute::Positions),
            normals: r.reads(name, MeshAttribute::Normals),
            tangents: r.reads(name, MeshAttribute::Tangents),
            colors: r.reads(name, MeshAttribute::Colors),
        };
        let port = PortDesc {
            required: !optional,
            ..port.reading(reads)
        };
        Some((port, link))
    }

    pub(super) fn pin_type(&mut self, r: &Reading, m: &Member, known: &[&str]) -> Option<PortType> {
        let given = m.value.get("type");
        let word = given.and_then(Json::text).filter(|w| known.contains(w));
        let Some(word) = word else {
            let span = given.map_or(&m.key_span, |t| &t.span).clone();
            let close = given
                .and_then(Json::text)
                .and_then(|w| closest(w, known.iter().copied()));
            let help = match close {
                Some(word) => format!("did you mean \"{word}\"?"),
                None => format!(
                    "expected \"type\": one of {}",
                    listed(known.iter().copied())
                ),
            };
            let message = format!("the type of '{}' is missing or unknown", m.key);
            self.reporter(r.scope)
                .error("wrong_type", &span, message, help);
            return None;
        };
        if word != "buffer" {
            if let Some(element) = m.value.get("element") {
                let message = format!("'{}' is a {word}, which has no \"element\"", m.key);
                let help = "remove it, or use \"type\": \"buffer\"";
                self.reporter(r.scope)
                    .error("unknown_key", &element.span, message, help);
                return None;
            }
            return Some(match word {
                "mesh" => PortType::Mesh,
                "pose" => PortType::Pose,
                "mask" => PortType::Mask,
                "field" => PortType::Field,
                _ => PortType::Values,
            });
        }
        let element = m.value.get("element");
        let word = element.and_then(Json::text);
        let found = ELEMENTS.iter().find(|(name, _)| Some(*name) == word);
        if found.is_none() {
            let span = element.map_or(&m.key_span, |e| &e.span).clone();
            let message = match element {
                Some(e) => format!("a buffer cannot have elements of type {}", e.describe()),
                None => format!("the buffer '{}' has no element type", m.key),
            };
            let words = listed(ELEMENTS.iter().map(|e| e.0));
            let help = format!("expected \"element\": one of {words}");
            self.reporter(r.scope)
                .error("wrong_type", &span, message, help);
        }
        found.map(|(_, element)| PortType::Buffer(*element))
    }
}

impl Reading {
    /// Whether the text reads an attribute of a mesh. An attribute that it writes only for some vertices is copied for the others.
    fn reads(&self, port: &str, attribute: MeshAttribute) -> AttributeRead {
        let attribute_word = attribute.wgsl_name();
        if self
            .names
            .contains(&format!("read_{port}_{attribute_word}"))
        {
            return AttributeRead::Always;
        }
        let writes = |name: &String| {
            name.starts_with("write_")
                && name.ends_with(&format!("_{attribute_word}"))
                && !self.sure_calls.contains(name)
        };
        match self.names.iter().any(writes) {
            true => AttributeRead::WithOutput,
            false => AttributeRead::Never,
        }
    }
}
