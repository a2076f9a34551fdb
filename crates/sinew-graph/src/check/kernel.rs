//! Nodes `kernel`: from JSON to a checked [`CustomKernel`].

use super::nodes::COMMON_KEYS;
use super::{Collector, LEAST_KERNEL_BYTES, MAX_KERNEL_BYTES, RawNode, Symbol};
use crate::diagnostic::{closest, listed};
use crate::json::{Json, Kind, Member, Reporter};
use crate::kernel::given::{given, parameter_type};
use crate::kernel::source::Source;
use crate::kernel::{
    BufferPer, BufferWrite, CustomKernel, KernelBuffer, KernelDomain, signature, text, word,
};
use crate::plan::ParameterSource;
use sinew_deform::{
    AttributeEffect, AttributeRead, DefaultValue, Element, MAX_PORTS, MeshAttribute, MeshEffect,
    MeshReads, NodeDesc, ParameterDesc, ParameterType, Phase, PortDesc, PortType,
};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Keys of a kernel node beside those that every node has.
const KERNEL_KEYS: [&str; 8] = [
    "domain",
    "group_size",
    "inputs",
    "outputs",
    "parameters",
    "constants",
    "file",
    "text",
];
/// Invocations of a workgroup that some adapter can have.
const LARGEST_GROUP: u32 = 1024;
/// Parameters of a kernel, at most: they travel with each frame.
const MOST_PARAMETERS: usize = 64;
const ELEMENTS: [(&str, Element); 6] = [
    ("float", Element::Float),
    ("int", Element::Int),
    ("uint", Element::Uint),
    ("vec2", Element::Vec2),
    ("vec3", Element::Vec3),
    ("vec4", Element::Vec4),
];
const INPUT_TYPES: [&str; 5] = ["mesh", "pose", "buffer", "mask", "values"];

type Link = Option<(String, Range<usize>)>;

/// What a node declares, while it is read. `None` anywhere means that a problem was reported.
struct Reading {
    scope: usize,
    /// Name of the node, for messages.
    node: String,
    names: BTreeSet<String>,
    /// What each invocation writes for its own element.
    sure_writes: BTreeSet<String>,
}

impl Collector<'_> {
    /// A node with a kernel of the user's own.
    pub(super) fn collect_kernel(
        &mut self,
        scope: usize,
        name: &str,
        span: &Range<usize>,
        json: &Json,
        defaults: &[(&str, String)],
    ) {
        let problems = self.problem_count();
        let known: Vec<&str> = COMMON_KEYS.into_iter().chain(KERNEL_KEYS).collect();
        self.unknown_keys(scope, json, "a kernel", &known);
        let Some(source) = self.kernel_source(scope, name, span, json) else {
            return;
        };
        let reading = Reading {
            scope,
            node: name.to_owned(),
            names: text::names(&source.text),
            sure_writes: text::sure_writes(&source.text),
        };
        let domain = self.kernel_domain(&reading, span, json);
        let group_size = self.kernel_group_size(&reading, json);
        let (inputs, links) = self.kernel_inputs(&reading, span, json, defaults);
        let (outputs, buffers) = self.kernel_outputs(&reading, span, json, domain, &inputs);
        let (parameters, sources) = self.kernel_parameters(&reading, json);
        let constants = self.kernel_constants(&reading, json);
        // What is wrong with the declaration would only be said again of each use in the text.
        if self.problem_count() > problems {
            return;
        }
        let Some(desc) = signature::description(&inputs, &outputs, &parameters) else {
            let message = "no room is left for another signature of a kernel";
            let help = format!(
                "names and types of pins are kept while the program runs, {} bytes at most",
                signature::MOST_KEPT
            );
            self.reporter(scope)
                .error("too_many_kernels", span, message, help);
            return;
        };
        let declared = Declared {
            desc,
            domain,
            group_size,
            buffers,
            constants,
        };
        let kernel = self.kernel_text(&reading, json, &source, declared);
        let Some(kernel) = kernel else { return };
        self.add_kernel(scope, name, span, kernel, links, sources);
    }

    fn problem_count(&self) -> usize {
        self.reporters.iter().map(|r| r.found.len()).sum()
    }

    fn add_kernel(
        &mut self,
        scope: usize,
        name: &str,
        span: &Range<usize>,
        kernel: CustomKernel,
        links: Vec<Link>,
        parameters: Vec<ParameterSource>,
    ) {
        if !self.declare(scope, name, span, Symbol::Node(self.nodes.len())) {
            return;
        }
        let full = format!("{}{name}", self.scopes[scope].prefix);
        self.nodes.push(RawNode {
            name: full,
            scope,
            span: span.clone(),
            desc: kernel.desc(),
            kernel: Some(Arc::new(kernel)),
            links,
            parameters,
        });
    }

    /// The text: inline or in a file.
    fn kernel_source(
        &mut self,
        scope: usize,
        name: &str,
        span: &Range<usize>,
        json: &Json,
    ) -> Option<Source> {
        match (json.get("text"), json.get("file")) {
            (Some(inline), None) => {
                let reporter = self.scopes[scope].reporter;
                let document = self.reporters[reporter].text.clone();
                let source = Source::inline(reporter, &document, inline);
                if source.is_none() {
                    let message = format!("'text' is {}", inline.describe());
                    let help = "expected WGSL: one text, or a list of lines";
                    self.reporter(scope)
                        .error("wrong_type", &inline.span, message, help);
                }
                source
            }
            (None, Some(file_json)) => {
                let Some(file) = file_json.text() else {
                    let message = format!("'file' is {}", file_json.describe());
                    let help = "expected the path of a WGSL file";
                    self.reporter(scope)
                        .error("wrong_type", &file_json.span, message, help);
                    return None;
                };
                let found = self.other_file(scope, "kernel", file, &file_json.span)?;
                let source = Source::file(self.reporters.len(), &found.text);
                self.reporters.push(Reporter::new(&found.name, &found.text));
                Some(source)
            }
            (given, _) => {
                let message = match given {
                    Some(_) => format!("the kernel '{name}' has two texts"),
                    None => format!("the kernel '{name}' has no text"),
                };
                let help = "give either \"file\": \"name.wgsl\" or \"text\": [\"line\", \"line\"]";
                self.reporter(scope)
                    .error("kernel_text", span, message, help);
                None
            }
        }
    }

    fn kernel_domain(&mut self, r: &Reading, span: &Range<usize>, json: &Json) -> KernelDomain {
        let given = json.get("domain");
        match given.and_then(Json::text) {
            Some("vertex") => return KernelDomain::Vertex,
            Some("triangle") => return KernelDomain::Triangle,
            _ => {}
        }
        let (span, message) = match given {
            Some(given) => {
                let what = given.describe();
                (&given.span, format!("there is no domain {what}"))
            }
            None => (
                span,
                format!("the kernel '{}' does not say what it runs over", r.node),
            ),
        };
        let help = "add \"domain\": \"vertex\" or \"triangle\"";
        self.reporter(r.scope)
            .error("kernel_domain", span, message, help);
        KernelDomain::Vertex
    }

    fn kernel_group_size(&mut self, r: &Reading, json: &Json) -> Option<u32> {
        let given = json.get("group_size")?;
        let range = 1.0..=f64::from(LARGEST_GROUP);
        let size = given
            .number()
            .filter(|v| v.fract() == 0.0 && range.contains(v));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and in range"
        )]
        match size {
            Some(size) => Some(size as u32),
            None => {
                let message = format!("'group_size' is {}", given.describe());
                let help = format!(
                    "expected a whole number from 1 to {LARGEST_GROUP}; 64 suits most devices"
                );
                self.reporter(r.scope)
                    .error("out_of_range", &given.span, message, help);
                None
            }
        }
    }

    /// The members of `inputs`, `outputs`, `parameters` or `constants` whose names may stand in a text.
    fn kernel_members(&mut self, r: &Reading, json: &Json, key: &str) -> Vec<Member> {
        let Some(json) = json.get(key) else {
            return Vec::new();
        };
        let mut members = self.members_of(r.scope, json, key);
        let alone = matches!(key, "parameters" | "constants");
        members.retain(|m| match text::check_name(&m.key, alone) {
            Ok(()) => true,
            Err(why) => {
                let message = format!("'{}' cannot be a name in {key}", m.key);
                self.reporter(r.scope)
                    .error("kernel_name", &m.key_span, message, why);
                false
            }
        });
        members
    }

    fn kept_name(&mut self, r: &Reading, m: &Member) -> Option<&'static str> {
        let kept = signature::name(&m.key);
        if kept.is_none() {
            let message = "no room is left for another name";
            self.reporter(r.scope)
                .error("too_many_kernels", &m.key_span, message, "");
        }
        kept
    }

    fn too_many(&mut self, r: &Reading, json: &Json, what: &str, found: usize, most: usize) {
        if found > most {
            let message = format!("{found} {what}, at most {most} can be");
            let span = json.span.clone();
            self.reporter(r.scope)
                .error("too_many_pins", &span, message, "");
        }
    }

    fn kernel_inputs(
        &mut self,
        r: &Reading,
        span: &Range<usize>,
        json: &Json,
        defaults: &[(&str, String)],
    ) -> (Vec<PortDesc>, Vec<Link>) {
        let (mut ports, mut links) = (Vec::new(), Vec::new());
        for m in self.kernel_members(r, json, "inputs") {
            if let Some((port, link)) = self.kernel_input(r, &m, defaults) {
                ports.push(port);
                links.push(link);
            }
        }
        let at = json.get("inputs").unwrap_or(json);
        self.too_many(r, at, "inputs", ports.len(), MAX_PORTS);
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

    fn kernel_input(
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
        if optional && matches!(ty, PortType::Mesh | PortType::Pose) {
            let message = format!("the {} '{}' cannot be optional", ty.as_str(), m.key);
            let help = "buffers, masks and values can";
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
            let help = format!("add \"link\": \"...\", a {}", ty.as_str());
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

    fn pin_type(&mut self, r: &Reading, m: &Member, known: &[&str]) -> Option<PortType> {
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
            let message = format!("'{}' has no known type", m.key);
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
                _ => PortType::Values,
            });
        }
        let element = m.value.get("element");
        let word = element.and_then(Json::text);
        let found = ELEMENTS.iter().find(|(name, _)| Some(*name) == word);
        if found.is_none() {
            let span = element.map_or(&m.key_span, |e| &e.span).clone();
            let message = match element {
                Some(e) => format!("a buffer cannot be made of {}", e.describe()),
                None => format!("the buffer '{}' does not say what it is made of", m.key),
            };
            let words = listed(ELEMENTS.iter().map(|e| e.0));
            let help = format!("expected \"element\": one of {words}");
            self.reporter(r.scope)
                .error("wrong_type", &span, message, help);
        }
        found.map(|(_, element)| PortType::Buffer(*element))
    }

    fn kernel_outputs(
        &mut self,
        r: &Reading,
        span: &Range<usize>,
        json: &Json,
        domain: KernelDomain,
        inputs: &[PortDesc],
    ) -> (Vec<PortDesc>, Vec<KernelBuffer>) {
        let (mut ports, mut buffers) = (Vec::new(), Vec::new());
        let members = self.kernel_members(r, json, "outputs");
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
        let at = json.get("outputs").unwrap_or(json);
        self.too_many(r, at, "outputs", ports.len(), MAX_PORTS);
        if members.is_empty() && json.get("outputs").is_none_or(|o| o.members().is_some()) {
            let message = format!("the kernel '{}' has no output", r.node);
            let help = "add \"outputs\": { \"mesh\": { \"type\": \"mesh\", \"writes\": [\"positions\"] } }";
            self.reporter(r.scope)
                .error("kernel_outputs", span, message, help);
        }
        (ports, buffers)
    }

    fn mesh_effect(
        &mut self,
        r: &Reading,
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
        if domain == KernelDomain::Triangle {
            let message = "a kernel over triangles cannot write a mesh: triangles share vertices";
            let help = "write a buffer with \"write\": \"atomic_add\", and the mesh in a kernel over vertices";
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
            let message = format!("the mesh '{}' does not say what is written", m.key);
            let help = "add \"writes\": a list of positions, normals, tangents, colors";
            self.reporter(scope)
                .error("kernel_writes", &span, message, help);
            return None;
        };
        let mut effects = [AttributeEffect::Keep; 4];
        for item in listed {
            let attribute = MeshAttribute::ALL
                .into_iter()
                .find(|a| item.text() == Some(word(*a)));
            let Some(attribute) = attribute else {
                let message = format!("a mesh has no {} to write", item.describe());
                let close = item
                    .text()
                    .and_then(|t| closest(t, MeshAttribute::ALL.into_iter().map(word)));
                let help = match close {
                    Some(word) => format!("did you mean \"{word}\"?"),
                    None => "it has positions, normals, tangents and colors".into(),
                };
                self.reporter(scope)
                    .error("kernel_writes", &item.span, message, help);
                return None;
            };
            let accessor = format!("write_{}_{}", m.key, word(attribute));
            self.expect_use(r, &accessor, &item.span);
            effects[attribute.index()] = AttributeEffect::Recompute;
        }
        let [positions, normals, tangents, colors] = effects;
        // Whoever moves points leaves normals and tangents behind that no longer fit.
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

    /// An output that the text never writes is a mistake in one of the two.
    fn expect_use(&mut self, r: &Reading, accessor: &str, span: &Range<usize>) {
        if !r.names.contains(accessor) {
            let message = format!("the kernel '{}' never writes this", r.node);
            let help = format!("call `{accessor}(index, ...)` in its text, or remove it here");
            self.reporter(r.scope)
                .error("kernel_writes", span, message, help);
        }
    }

    fn kernel_buffer(
        &mut self,
        r: &Reading,
        m: &Member,
        name: &'static str,
        element: Element,
    ) -> Option<KernelBuffer> {
        let scope = r.scope;
        let known = ["type", "element", "per", "count", "write", "doc"];
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
            Some((Some("mesh"), ..)) => BufferPer::Mesh,
            Some((_, span, found)) => {
                let message = format!("a buffer has no elements per {found}");
                let help = "expected \"per\": \"vertex\", \"triangle\" or \"mesh\"";
                self.reporter(scope)
                    .error("kernel_buffer", &span, message, help);
                return None;
            }
        };
        let write = match text_of("write") {
            None => BufferWrite::Write,
            Some((Some("write"), ..)) => BufferWrite::Write,
            Some((Some("atomic_add"), ..)) => BufferWrite::AtomicAdd,
            Some((_, span, found)) => {
                let message = format!("a buffer cannot be written by {found}");
                let help = "expected \"write\": \"write\" or \"atomic_add\"";
                self.reporter(scope)
                    .error("kernel_buffer", &span, message, help);
                return None;
            }
        };
        if write == BufferWrite::AtomicAdd && !matches!(element, Element::Int | Element::Uint) {
            let span = m
                .value
                .get("write")
                .map_or(&m.key_span, |w| &w.span)
                .clone();
            let message = format!(
                "only whole numbers can be added atomically, '{}' is a {}",
                m.key,
                PortType::Buffer(element).as_str()
            );
            let help = "use \"element\": \"int\" and add scaled numbers: i32(x * 32767.0)";
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
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "whole and in range"
                )]
                whole.map(|n| n as u32)
            }
        }?;
        let verb = match write {
            BufferWrite::Write => "write",
            BufferWrite::AtomicAdd => "add",
        };
        let other = match write {
            BufferWrite::Write => "add",
            BufferWrite::AtomicAdd => "write",
        };
        // The other verb is said in the text, at its place.
        if !r.names.contains(&format!("{other}_{name}")) {
            self.expect_use(r, &format!("{verb}_{name}"), &m.key_span);
        }
        Some(KernelBuffer {
            name,
            element,
            per,
            count,
            write,
            cleared: false,
        })
    }

    fn kernel_parameters(
        &mut self,
        r: &Reading,
        json: &Json,
    ) -> (Vec<ParameterDesc>, Vec<ParameterSource>) {
        let (mut descs, mut sources) = (Vec::new(), Vec::new());
        for m in self.kernel_members(r, json, "parameters") {
            if let Some((desc, source)) = self.kernel_parameter(r, &m) {
                descs.push(desc);
                sources.push(source);
            }
        }
        let at = json.get("parameters").unwrap_or(json);
        self.too_many(r, at, "parameters", descs.len(), MOST_PARAMETERS);
        (descs, sources)
    }

    fn kernel_parameter(
        &mut self,
        r: &Reading,
        m: &Member,
    ) -> Option<(ParameterDesc, ParameterSource)> {
        let scope = r.scope;
        let known = ["type", "value", "min", "max", "doc"];
        self.unknown_keys(scope, &m.value, "a parameter of a kernel", &known);
        let name = self.kept_name(r, m)?;
        let ty = self.read_declared_type(scope, m)?;
        let default = match ty {
            ParameterType::Bool => DefaultValue::Bool(false),
            ParameterType::Int { min, max } => DefaultValue::Int(0.clamp(min, max)),
            ParameterType::Float { min, max } => DefaultValue::Float(0.0_f64.clamp(min, max)),
            ParameterType::Vec3 => DefaultValue::Vec3([0.0; 3]),
            ParameterType::Vec4 => DefaultValue::Vec4([0.0; 4]),
            ParameterType::Int3 { min, max } => DefaultValue::Int3([0.clamp(min, max); 3]),
            _ => DefaultValue::Identity,
        };
        if parameter_type(ty).is_none() {
            let span = m.value.get("type").map_or(&m.key_span, |t| &t.span).clone();
            let message = format!("a kernel cannot take '{}': WGSL has no such type", m.key);
            let help = "expected float, int, bool, vec3, vec4, int3 or transform";
            self.reporter(scope)
                .error("wrong_type", &span, message, help);
            return None;
        }
        let desc = ParameterDesc {
            name,
            ty,
            default,
            unit: "",
            phase: Phase::Update,
            doc: "",
        };
        let Some(value) = m.value.get("value") else {
            let message = format!("the parameter '{}' of '{}' has no value", m.key, r.node);
            let help = format!(
                "add \"value\": a value, \"${}\" of the graph, or {{ \"keys\": ... }}",
                m.key
            );
            self.reporter(scope)
                .error("missing_value", &m.key_span, message, help);
            return None;
        };
        let named = Member {
            key: m.key.clone(),
            key_span: m.key_span.clone(),
            value: value.clone(),
        };
        let source = self.read_source(scope, &desc, &named)?;
        Some((desc, source))
    }

    /// Names and values in WGSL.
    fn kernel_constants(&mut self, r: &Reading, json: &Json) -> Vec<(String, String)> {
        let mut out = Vec::new();
        for m in self.kernel_members(r, json, "constants") {
            match constant(&m.value) {
                Some(value) => out.push((m.key, value)),
                None => {
                    let message = format!("the constant '{}' is {}", m.key, m.value.describe());
                    let help = "expected a number, true, false, or a list of two to four numbers";
                    self.reporter(r.scope)
                        .error("wrong_type", &m.value.span, message, help);
                }
            }
        }
        out
    }

    /// Checks the text and reports what is wrong at its places.
    fn kernel_text(
        &mut self,
        r: &Reading,
        json: &Json,
        source: &Source,
        declared: Declared,
    ) -> Option<CustomKernel> {
        let Declared {
            desc,
            domain,
            group_size,
            mut buffers,
            constants,
        } = declared;
        let writes = |name: &str| {
            let buffer = buffers.iter().find(|b| b.name == name);
            buffer.map_or(BufferWrite::Write, |b| b.write)
        };
        let given = given(desc, &writes, &constants);
        if let Some(twice) = repeated(given.iter().map(|g| g.name.as_str())) {
            let message = format!(
                "two pins, parameters or constants of '{}' make `{twice}`",
                r.node
            );
            let help = "rename one of them";
            self.reporter(r.scope)
                .error("duplicate_name", &json.span, message, help);
            return None;
        }
        let one_each = |b: &KernelBuffer| {
            b.count == 1
                && matches!(
                    (b.per, domain),
                    (BufferPer::Vertex, KernelDomain::Vertex)
                        | (BufferPer::Triangle, KernelDomain::Triangle)
                )
        };
        let around = text::Around {
            desc,
            buffers: &buffers,
            given: &given,
            one_each: &one_each,
        };
        let file = self.reporters[source.reporter].file.clone();
        let mut key = blake3::Hasher::new();
        key.update(source.text.as_bytes());
        key.update(format!("{:p}{domain:?}{buffers:?}{constants:?}", desc).as_bytes());
        let key = *key.finalize().as_bytes();
        let analysis = match self.checked_kernels.get(&key) {
            Some(known) => known.clone(),
            None => {
                self.kernel_bytes += source.text.len().max(LEAST_KERNEL_BYTES);
                if self.kernel_bytes > MAX_KERNEL_BYTES {
                    let message = format!(
                        "the kernels of this graph have more than {MAX_KERNEL_BYTES} bytes"
                    );
                    let help = format!(
                        "each different one counts, short ones as {LEAST_KERNEL_BYTES} bytes"
                    );
                    self.reporter(r.scope)
                        .error("too_large", &json.span, message, help);
                    return None;
                }
                match text::check(&file, &source.text, around) {
                    Ok(analysis) => {
                        self.checked_kernels.insert(key, analysis.clone());
                        analysis
                    }
                    Err(problems) => {
                        for p in problems {
                            self.kernel_problem(source, &p.bytes, p.message, p.help);
                        }
                        return None;
                    }
                }
            }
        };
        for buffer in &mut buffers {
            buffer.cleared = analysis.cleared.contains(buffer.name);
        }
        Some(CustomKernel {
            desc,
            domain,
            group_size,
            buffers,
            constants,
            file,
            text: source.text.as_str().into(),
            analysis,
        })
    }

    /// Reports a problem once, however many nodes share the file.
    fn kernel_problem(
        &mut self,
        source: &Source,
        bytes: &Range<usize>,
        message: String,
        help: String,
    ) {
        let span = source.span(bytes);
        let reporter = &self.reporters[source.reporter];
        let file = reporter.file.clone();
        let said = self
            .reporters
            .iter()
            .filter(|other| other.file == file)
            .flat_map(|other| &other.found)
            .any(|d| d.span == span && d.message == message);
        if !said {
            self.reporters[source.reporter].error("kernel", &span, message, help);
        }
    }
}

/// What a document says of a kernel, without its text.
struct Declared {
    desc: &'static NodeDesc,
    domain: KernelDomain,
    group_size: Option<u32>,
    buffers: Vec<KernelBuffer>,
    constants: Vec<(String, String)>,
}

impl Reading {
    /// Whether the text reads an attribute of a mesh; what it writes now and then, it takes over otherwise.
    fn reads(&self, port: &str, attribute: MeshAttribute) -> AttributeRead {
        let attribute_word = word(attribute);
        if self
            .names
            .contains(&format!("read_{port}_{attribute_word}"))
        {
            return AttributeRead::Always;
        }
        let writes = |name: &String| {
            name.starts_with("write_")
                && name.ends_with(&format!("_{attribute_word}"))
                && !self.sure_writes.contains(name)
        };
        match self.names.iter().any(writes) {
            true => AttributeRead::WithOutput,
            false => AttributeRead::Never,
        }
    }
}

fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    let mut names = names;
    names.find(|name| !seen.insert(*name))
}

/// A constant in WGSL: numbers keep their form, so that whole ones fit wherever WGSL takes whole numbers.
fn constant(json: &Json) -> Option<String> {
    let float = |json: &Json| {
        let v = json.number()?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "WGSL computes in single precision"
        )]
        let single = v as f32;
        single.is_finite().then(|| format!("{single:?}"))
    };
    match &json.kind {
        Kind::Bool(v) => Some(v.to_string()),
        Kind::Number(v) if v.fract() == 0.0 && v.abs() < 2_147_483_648.0 => Some(format!("{v}")),
        Kind::Number(_) => float(json),
        Kind::Array(list) if (2..=4).contains(&list.len()) => {
            let parts: Vec<String> = list.iter().map(float).collect::<Option<_>>()?;
            Some(format!("vec{}f({})", list.len(), parts.join(", ")))
        }
        _ => None,
    }
}
