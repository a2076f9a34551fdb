//! Nodes of kind `kernel`: from JSON to a checked [`CustomKernel`].

mod inputs;
mod outputs;
mod repeat;
mod values;

use super::nodes::COMMON_KEYS;
use super::{Collector, RawNode, Symbol};
use crate::json::{Json, Member, Reporter};
use crate::kernel::given::given;
use crate::kernel::source::Source;
use crate::kernel::{BufferPer, CustomKernel, KernelBuffer, KernelDomain, signature, text};
use crate::plan::ParameterSource;
use sinew_deform::{Element, NodeDesc, NodeKind, PortDesc, PortType};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Keys of a kernel node besides those that every node has.
const KERNEL_KEYS: [&str; 9] = [
    "domain",
    "group_size",
    "repeat",
    "inputs",
    "outputs",
    "parameters",
    "constants",
    "file",
    "text",
];
/// Most invocations of a workgroup on any adapter.
const LARGEST_GROUP: u32 = 1024;
/// Bytes of all kernels of a document, at most: checking takes seconds per megabyte. Equal kernels count once.
const MAX_KERNEL_BYTES: usize = 4 << 20;
/// Size that a shorter kernel counts with.
const LEAST_KERNEL_BYTES: usize = 1 << 10;
/// Constants of a kernel, at most.
const MOST_CONSTANTS: usize = 256;
/// Compile cost of all kernels of a graph together, at most; 1 is the limit of one kernel. About a minute on a software driver.
const MOST_KERNEL_SHARE: f64 = 8.0;
/// Elements of a kernel that runs over a count, at most.
const MOST_COUNT: f64 = 16_777_216.0;
/// Parameters of a kernel, at most: they are uploaded with each frame.
const MOST_PARAMETERS: usize = 64;
const ELEMENTS: [(&str, Element); 6] = [
    ("float", Element::Float),
    ("int", Element::Int),
    ("uint", Element::Uint),
    ("vec2", Element::Vec2),
    ("vec3", Element::Vec3),
    ("vec4", Element::Vec4),
];
const INPUT_TYPES: [&str; 6] = ["mesh", "pose", "buffer", "mask", "values", "field"];

type Link = Option<(String, Range<usize>)>;

/// The kernels of a document that were checked so far.
#[derive(Default)]
pub(super) struct Checked {
    /// Of those that are right, by what they were checked for: nodes may share a text.
    analyses: HashMap<[u8; 32], text::Analysis>,
    bytes: usize,
    /// What they take to compile.
    share: f64,
    /// Rounds of those that repeat.
    rounds: usize,
}

/// The declaration of a kernel node while it is read. `None` anywhere means that a problem was reported.
struct Reading {
    scope: usize,
    /// Name of the node, for messages.
    node: String,
    names: BTreeSet<String>,
    /// Functions that each invocation calls for its own element.
    sure_calls: BTreeSet<String>,
    /// Outputs that the text never writes: the function that would, and the location of the declaration.
    unwritten: Vec<(String, Range<usize>)>,
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
        let mut reading = Reading {
            scope,
            node: name.to_owned(),
            names: text::names(&source.text),
            sure_calls: text::sure_calls(&source.text),
            unwritten: Vec::new(),
        };
        let domain = self.kernel_domain(&reading, span, json);
        let group_size = self.kernel_group_size(&reading, json);
        let (inputs, links) = self.kernel_inputs(&reading, span, json, defaults);
        self.domain_has_pose(&reading, json, domain, &inputs);
        let (outputs, buffers) = self.kernel_outputs(&mut reading, span, json, domain, &inputs);
        let (parameters, sources) = self.kernel_parameters(&reading, json);
        let constants = self.kernel_constants(&reading, json);
        let rounds = self.kernel_rounds(&reading, json).unwrap_or(1);
        // A problem of the declaration would be reported again for each use in the text.
        if self.problem_count() > problems {
            return;
        }
        // As other nodes whose frames depend on the frames before: never in setup, always run, part of saved states.
        let kind = match buffers.iter().any(|b| b.persistent) {
            true => NodeKind::Solver,
            false => NodeKind::Kernel,
        };
        let Some(desc) = signature::description(&inputs, &outputs, &parameters, kind) else {
            let message = "the memory for kernel signatures is full";
            let help = format!(
                "names and types of pins are kept until the program ends, at most {} bytes; restart the program",
                signature::MOST_KEPT
            );
            self.reporter(scope)
                .error("too_many_kernels", span, message, help);
            return;
        };
        self.rounds_differ(&reading, json, desc, rounds);
        let declared = Declared {
            desc,
            domain,
            group_size,
            buffers,
            constants,
        };
        let kernel = self.kernel_text(&reading, json, &source, declared);
        // A wrong text is the reason.
        let Some(kernel) = kernel else { return };
        for (accessor, span) in &reading.unwritten {
            let message = format!("the kernel '{}' never writes this output", reading.node);
            let help =
                format!("call `{accessor}(index, ...)` in its text, or remove this declaration");
            self.reporter(scope)
                .error("kernel_writes", span, message, help);
        }
        if !reading.unwritten.is_empty() {
            return;
        }
        self.add_kernel((scope, name, span), kernel, links, sources, rounds);
    }

    fn problem_count(&self) -> usize {
        self.reporters.iter().map(|r| r.found.len()).sum()
    }

    fn add_kernel(
        &mut self,
        (scope, name, span): (usize, &str, &Range<usize>),
        kernel: CustomKernel,
        links: Vec<Link>,
        parameters: Vec<ParameterSource>,
        rounds: usize,
    ) {
        let index = self.nodes.len() + rounds - 1;
        if !self.declare(scope, name, span, Symbol::Node(index)) {
            return;
        }
        let full = format!("{}{name}", self.scopes[scope].prefix);
        let mut node = RawNode {
            name: full,
            scope,
            span: span.clone(),
            desc: kernel.desc(),
            kernel: Some(Arc::new(kernel)),
            links,
            parameters,
            fit: None,
            parameter_links: std::mem::take(&mut self.parameter_links),
        };
        self.add_rounds((scope, name, span), &mut node, rounds);
        self.nodes.push(node);
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
                    Some(_) => format!("the kernel '{name}' has both a \"text\" and a \"file\""),
                    None => format!("the kernel '{name}' has no WGSL text"),
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
            Some("strand") => return KernelDomain::Strand,
            Some("joint") => return KernelDomain::Joint,
            _ => {}
        }
        let count = given.and_then(|g| g.get("count")).and_then(Json::number);
        let is_valid = |n: &f64| n.fract() == 0.0 && (1.0..=MOST_COUNT).contains(n);
        if let Some(count) = count.filter(is_valid) {
            if let Some(given) = given {
                self.unknown_keys(r.scope, given, "a domain", &["count"]);
            }
            return KernelDomain::Count(count as u32);
        }
        let (span, message) = match given {
            Some(given) => {
                let what = given.describe();
                (&given.span, format!("there is no domain {what}"))
            }
            None => (span, format!("the kernel '{}' has no domain", r.node)),
        };
        let help = "add \"domain\": \"vertex\", \"triangle\", \"strand\", \"joint\" or { \"count\": 64 }; a count is a whole number from 1 to 16777216";
        self.reporter(r.scope)
            .error("kernel_domain", span, message, help);
        KernelDomain::Vertex
    }

    /// Joints are those of a pose.
    fn domain_has_pose(
        &mut self,
        r: &Reading,
        json: &Json,
        domain: KernelDomain,
        inputs: &[PortDesc],
    ) {
        let has_pose = inputs.iter().any(|p| p.ty == PortType::Pose);
        let given = json
            .get("domain")
            .filter(|_| domain == KernelDomain::Joint && !has_pose);
        if let Some(given) = given {
            let message = format!(
                "the kernel '{}' has no pose whose joints it could run over",
                r.node
            );
            let help = "add \"inputs\": { \"pose\": { \"type\": \"pose\", \"link\": \"pose\" } }";
            self.reporter(r.scope)
                .error("kernel_domain", &given.span, message, help);
        }
    }

    fn kernel_group_size(&mut self, r: &Reading, json: &Json) -> Option<u32> {
        let given = json.get("group_size")?;
        let range = 1.0..=f64::from(LARGEST_GROUP);
        let size = given
            .number()
            .filter(|v| v.fract() == 0.0 && range.contains(v));
        match size {
            Some(size) => Some(size as u32),
            None => {
                let message = format!("'group_size' is {}", given.describe());
                let help = format!(
                    "expected a whole number from 1 to {LARGEST_GROUP}; 64 suits most GPUs"
                );
                self.reporter(r.scope)
                    .error("out_of_range", &given.span, message, help);
                None
            }
        }
    }

    /// The members of `inputs`, `outputs`, `parameters` or `constants` with valid names. Reports the others.
    fn kernel_members<'j>(&mut self, r: &Reading, json: &'j Json, key: &str) -> Vec<&'j Member> {
        let Some(json) = json.get(key) else {
            return Vec::new();
        };
        let mut members: Vec<&Member> = self.members_of(r.scope, json, key).iter().collect();
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
            let message = "the memory for names in kernels is full";
            let help = format!(
                "names and types of pins are kept until the program ends, at most {} bytes; restart the program",
                signature::MOST_KEPT
            );
            self.reporter(r.scope)
                .error("too_many_kernels", &m.key_span, message, help);
        }
        kept
    }

    /// Reports and drops surplus members before any of them is kept.
    fn at_most<'j>(
        &mut self,
        r: &Reading,
        json: &'j Json,
        what: &str,
        most: usize,
    ) -> Vec<&'j Member> {
        let mut members = self.kernel_members(r, json, what);
        if members.len() > most {
            let message = format!(
                "the kernel '{}' has {} {what}, but at most {most} are allowed",
                r.node,
                members.len()
            );
            let span = json.get(what).unwrap_or(json).span.clone();
            let help = "remove some, or split the kernel in two";
            self.reporter(r.scope)
                .error("too_many_pins", &span, message, help);
            members.truncate(most);
        }
        members
    }

    /// Checks the text and reports its problems at their locations.
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
        let given = given(desc, &buffers, &constants);
        if let Some(twice) = repeated(given.iter().map(|g| g.name.as_str())) {
            let message = format!(
                "two pins, parameters or constants of '{}' define `{twice}`",
                r.node
            );
            let help = "rename one of them";
            self.reporter(r.scope)
                .error("duplicate_name", &json.span, message, help);
            return None;
        }
        let one_each = |b: &KernelBuffer| match (b.per, domain) {
            (BufferPer::Vertex, KernelDomain::Vertex)
            | (BufferPer::Triangle, KernelDomain::Triangle)
            | (BufferPer::Strand, KernelDomain::Strand)
            | (BufferPer::Joint, KernelDomain::Joint) => b.count == 1,
            (BufferPer::Mesh, KernelDomain::Count(count)) => b.count == count,
            _ => false,
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
        let analysis = match self.kernels.analyses.get(&key) {
            Some(known) => known.clone(),
            None => {
                self.kernels.bytes += source.text.len().max(LEAST_KERNEL_BYTES);
                if self.kernels.bytes > MAX_KERNEL_BYTES {
                    let message = format!(
                        "the kernels of this graph have more than {MAX_KERNEL_BYTES} bytes"
                    );
                    let help = format!(
                        "each different kernel counts as at least {LEAST_KERNEL_BYTES} bytes; shorten the kernels, or split the graph"
                    );
                    self.reporter(r.scope)
                        .error("too_large", &json.span, message, help);
                    return None;
                }
                match text::check(&file, &source.text, around) {
                    Ok(analysis) => {
                        self.kernels.analyses.insert(key, analysis.clone());
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
        self.kernels.share += analysis.compile_share;
        if self.kernels.share > MOST_KERNEL_SHARE {
            let message =
                "a driver may take more than a minute to compile the kernels up to this one";
            let help = format!(
                "this kernel takes {:.0} % of the limit for one kernel, and all kernels together may take {:.0} %; shorten the kernels, or split the graph",
                100.0 * analysis.compile_share,
                100.0 * MOST_KERNEL_SHARE
            );
            self.reporter(r.scope)
                .error("too_large", &json.span, message, help);
            return None;
        }
        for buffer in &mut buffers {
            buffer.cleared = !buffer.persistent && analysis.cleared.contains(buffer.name);
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

    /// Reports a problem once for all nodes that share the file.
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

/// The declaration of a kernel in a document, without its text.
struct Declared {
    desc: &'static NodeDesc,
    domain: KernelDomain,
    group_size: Option<u32>,
    buffers: Vec<KernelBuffer>,
    constants: Vec<(String, String)>,
}

fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    let mut names = names;
    names.find(|name| !seen.insert(*name))
}
