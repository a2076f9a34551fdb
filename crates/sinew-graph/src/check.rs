//! From document text to a [`Plan`]: checks names, types, ranges and cycles. Every problem is reported with its location.

pub(crate) mod angles;
mod declarations;
mod description;
#[cfg(feature = "kernels")]
mod kernel;
#[cfg(not(feature = "kernels"))]
#[path = "check/no_kernels.rs"]
mod kernel;
mod linked;
mod links;
mod nested;
mod nodes;
mod placed;
pub(crate) use nodes::PRESET;
pub(crate) use placed::FIT;

use crate::diagnostic::{Diagnostics, Severity, closest};
use crate::json::{self, Json, Reporter};
use crate::kernel::CustomKernel;
use crate::keyed::Keyed;
use crate::plan::{
    Fit, InputDecl, InputType, OutputDecl, ParameterDecl, ParameterSource, Plan, PlanNode,
};
use sinew_deform::{NodeDesc, ParameterType, ParameterValue};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// The version of graph documents that this library reads and writes.
pub const VERSION: &str = "1.0";
/// What the key `fit` of nodes does.
pub const FIT_DOC: &str = "Vertices of the rest mesh that the region is fitted to: `\"mesh\"`, `{\"mask\": NAME}` or `{\"joint\": NAME}`, with a \
     `margin` in metres if wanted. Replaces the transform and the size.";
/// Levels of nested graphs, at most.
const MAX_NESTING: usize = 32;
/// Nested graphs over all levels, at most: each level can double the number of graphs in the level below.
const MAX_GRAPHS: usize = 4096;
/// Bytes of all documents that a graph names. A document counts once for each use.
const MAX_NESTED_BYTES: usize = 64 << 20;
/// Bytes of values given to nested graphs. A value counts once for each reader, since each reader holds a copy.
const MAX_GIVEN_BYTES: usize = 256 << 20;
/// Nodes after which no further graph is nested.
const MAX_NODES_TO_NEST: usize = 1 << 16;
/// After this many problems in a document, messages no longer suggest a similar name.
const MAX_SUGGESTIONS: usize = 20;

/// Gives the text of the other files that a document names: nested graphs and kernels.
pub trait GraphSource {
    /// The graph or kernel called `name` in the document `from`. `from` is the file name of the root document or an earlier
    /// [`GraphText::name`].
    ///
    /// # Errors
    /// Why the text is not available, in words for the user.
    fn graph_text(&self, from: &str, name: &str) -> Result<GraphText, String>;
}

/// A document that another one names.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GraphText {
    /// Name for messages; names inside the document are relative to it. The same file must always get the same name.
    pub name: String,
    /// Text of the document.
    pub text: String,
}

impl GraphText {
    /// A document with its name for messages.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
        }
    }
}

/// A [`GraphSource`] without files: documents that name other files are refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNesting;

impl GraphSource for NoNesting {
    fn graph_text(&self, _from: &str, _name: &str) -> Result<GraphText, String> {
        Err("other files are not available here".into())
    }
}

/// What a name in a scope stands for.
#[derive(Clone, Debug)]
enum Symbol {
    /// An input of the whole graph.
    Input(usize),
    /// A node, by its index in `Collector::nodes`.
    Node(usize),
    /// An input of a nested graph, by its index in `Collector::aliases`.
    Alias(usize),
    /// A nested graph.
    Graph { scope: usize },
}

/// What `$name` stands for.
#[derive(Clone, Debug)]
enum ParameterRef {
    Declared(usize),
    Fixed {
        ty: ParameterType,
        source: FixedValue,
    },
}

#[derive(Clone, Debug)]
enum FixedValue {
    Constant(ParameterValue),
    Keyed(Keyed),
    Linked(Box<linked::Linked>),
}

impl FixedValue {
    fn values(&self) -> &[ParameterValue] {
        match self {
            Self::Constant(value) => std::slice::from_ref(value),
            Self::Keyed(keyed) => &keyed.values,
            Self::Linked(_) => &[],
        }
    }

    /// Bytes that a copy takes.
    fn bytes(&self) -> usize {
        let of = |value: &ParameterValue| {
            let list = match value {
                ParameterValue::Text(text) => text.len(),
                ParameterValue::Floats(list) => size_of_val(list.as_slice()),
                ParameterValue::Points(list) => size_of_val(list.as_slice()),
                _ => 0,
            };
            list + size_of::<ParameterValue>()
        };
        self.values().iter().map(of).sum()
    }
}

#[derive(Debug, Default)]
struct Scope {
    reporter: usize,
    prefix: String,
    symbols: HashMap<String, Symbol>,
    /// In document order, for suggestions.
    names: Vec<String>,
    /// Names of nodes that were reported already; links to them are not worth another report.
    broken: BTreeSet<String>,
    parameters: HashMap<String, ParameterRef>,
    /// Names of parameters that were reported already.
    broken_parameters: BTreeSet<String>,
    /// The next number for a name that is taken.
    next_number: HashMap<String, usize>,
    outputs: Vec<(String, String, Range<usize>)>,
}

/// An input of a nested graph: a declaration inside, a link outside.
#[derive(Debug)]
struct Alias {
    /// The nested graph's name and the input's, for messages.
    what: String,
    /// Scope that the link is read in.
    outer: usize,
    link: String,
    /// Location of the link.
    span: Range<usize>,
    /// As declared inside.
    ty: InputType,
    count: usize,
    /// The link is wrong, which has been said.
    broken: bool,
}

#[derive(Debug)]
struct RawNode {
    name: String,
    scope: usize,
    span: Range<usize>,
    desc: &'static NodeDesc,
    kernel: Option<Arc<CustomKernel>>,
    /// Text and location of the link for each input port.
    links: Vec<Option<(String, Range<usize>)>>,
    parameters: Vec<ParameterSource>,
    fit: Option<Fit>,
    /// Links of its parameters, which name them by their index.
    parameter_links: Vec<linked::RawLink>,
}

struct Collector<'a> {
    nested: &'a dyn GraphSource,
    kinds: &'a [&'static NodeDesc],
    reporters: Vec<Reporter>,
    scopes: Vec<Scope>,
    inputs: Vec<InputDecl>,
    parameters: Vec<ParameterDecl>,
    /// Scope and name of each declared parameter that nothing has read so far, by its index.
    unread_parameters: BTreeMap<usize, (usize, String, Range<usize>)>,
    nodes: Vec<RawNode>,
    /// Links of the parameters of the node that is being read.
    parameter_links: Vec<linked::RawLink>,
    /// Documents in other files, by their names: who reports their problems, and what was read, where it can be.
    documents: HashMap<String, Option<(usize, Rc<Json>)>>,
    /// Bytes of nested documents so far.
    nested_bytes: usize,
    /// Bytes of values that nested graphs were given so far.
    given_bytes: usize,
    #[cfg(feature = "kernels")]
    kernels: kernel::Checked,
    aliases: Vec<Alias>,
    /// Steps that a link can lead on at most, once all of the document is read.
    most_steps: usize,
    /// Values from nodes that go into nested graphs: the declared count, and the location of the declaration.
    counts: Vec<(links::RawSource, usize, String)>,
    /// Files being read, outermost first: finds graphs that contain themselves.
    open_files: Vec<String>,
}

pub(crate) fn compile(
    file: &str,
    text: &str,
    nested: &dyn GraphSource,
    kinds: &[&'static NodeDesc],
) -> Result<Plan, Diagnostics> {
    let mut c = Collector {
        nested,
        kinds,
        reporters: vec![Reporter::new(file, text)],
        scopes: Vec::new(),
        inputs: Vec::new(),
        parameters: Vec::new(),
        unread_parameters: BTreeMap::new(),
        nodes: Vec::new(),
        parameter_links: Vec::new(),
        documents: HashMap::new(),
        nested_bytes: 0,
        given_bytes: 0,
        most_steps: 0,
        #[cfg(feature = "kernels")]
        kernels: kernel::Checked::default(),
        aliases: Vec::new(),
        counts: Vec::new(),
        open_files: vec![file.to_owned()],
    };
    let plan = c.compile_root();
    let mut found: Vec<_> = c.reporters.into_iter().flat_map(|r| r.found).collect();
    // A document that is used often says the same each time.
    let mut said = HashSet::new();
    found.retain(|d| said.insert((d.file.clone(), d.span.clone(), d.message.clone())));
    match plan {
        Some(mut plan) if found.iter().all(|d| d.severity == Severity::Warning) => {
            plan.warnings = found;
            Ok(plan)
        }
        _ => {
            // Errors first; a failed compile always has one.
            found.sort_by_key(|d| d.severity == Severity::Warning);
            Err(Diagnostics(found))
        }
    }
}

impl Collector<'_> {
    fn compile_root(&mut self) -> Option<Plan> {
        let root = json::parse(&mut self.reporters[0])?;
        let scope = self.new_scope(0, String::new());
        if !self.check_head(0, &root) {
            return None;
        }
        self.declare_inputs(scope, &root);
        self.declare_parameters(scope, &root);
        self.collect_body(scope, &root);
        if self.has_errors() {
            // Links to broken parts would only repeat the same news, but unknown names are still worth saying.
            self.resolve_all();
            return None;
        }
        let (sources, outputs) = self.resolve_all()?;
        let order = self.order(&sources)?;
        for (scope, name, span) in std::mem::take(&mut self.unread_parameters).into_values() {
            let message = format!("no node reads the parameter '{name}'");
            let help = format!("use it in a node as \"${name}\", or remove it");
            self.reporter(scope)
                .warning("unused_parameter", &span, message, help);
        }
        self.assemble(&sources, outputs, &order)
    }

    fn new_scope(&mut self, reporter: usize, prefix: String) -> usize {
        self.scopes.push(Scope {
            reporter,
            prefix,
            ..Scope::default()
        });
        self.scopes.len() - 1
    }

    fn reporter(&mut self, scope: usize) -> &mut Reporter {
        let index = self.scopes[scope].reporter;
        &mut self.reporters[index]
    }

    /// The name of `known` that may be meant, while there are not too many problems to look for each.
    fn suggestion<'k>(
        &self,
        scope: usize,
        given: &str,
        known: impl Iterator<Item = &'k str>,
    ) -> Option<&'k str> {
        let problems = self.reporters[self.scopes[scope].reporter].found.len();
        if problems < MAX_SUGGESTIONS {
            closest(given, known)
        } else {
            None
        }
    }

    /// `file:line:column` of a byte.
    fn location(&self, scope: usize, byte: usize) -> String {
        let reporter = &self.reporters[self.scopes[scope].reporter];
        let at = reporter.location(byte);
        format!("{}:{}:{}", reporter.file, at.line, at.column)
    }

    fn has_errors(&self) -> bool {
        self.reporters
            .iter()
            .flat_map(|r| &r.found)
            .any(|d| d.severity == Severity::Error)
    }

    /// The document's version and keys. False where reading on makes no sense.
    fn check_head(&mut self, reporter: usize, root: &Json) -> bool {
        let r = &mut self.reporters[reporter];
        if root.members().is_none() {
            r.error(
                "wrong_type",
                &root.span,
                format!("the document is {}", root.describe()),
                "expected an object with \"sinew\": \"1.0\"",
            );
            return false;
        }
        match root.get("sinew") {
            None => {
                r.error(
                    "missing_version",
                    &(root.span.start..root.span.start + 1),
                    "the document has no version",
                    format!("add \"sinew\": \"{VERSION}\""),
                );
                return false;
            }
            Some(v) if v.text() != Some(VERSION) => {
                r.error(
                    "version",
                    &v.span,
                    format!("the version of the document is {}", v.describe()),
                    format!("this version of Sinew reads \"{VERSION}\""),
                );
                return false;
            }
            Some(_) => {}
        }
        self.check_keys(reporter, root);
        true
    }

    fn check_keys(&mut self, reporter: usize, root: &Json) {
        const KEYS: [&str; 9] = [
            "sinew",
            "name",
            "description",
            "inputs",
            "parameters",
            "nodes",
            "stack",
            "outputs",
            "$schema",
        ];
        let r = &mut self.reporters[reporter];
        for m in root.members().unwrap_or_default() {
            if !KEYS.contains(&m.key.as_str()) {
                let help = match closest(&m.key, KEYS.into_iter()) {
                    Some(k) => format!("did you mean '{k}'?"),
                    None => format!("the keys of a graph are {}", KEYS.join(", ")),
                };
                r.error(
                    "unknown_key",
                    &m.key_span,
                    format!("a graph has no key '{}'", m.key),
                    help,
                );
            }
        }
    }

    fn assemble(
        &mut self,
        sources: &[Vec<Option<links::RawSource>>],
        outputs: Vec<(String, links::RawSource)>,
        order: &[usize],
    ) -> Option<Plan> {
        let mut location = vec![None; self.nodes.len()];
        for (position, &raw) in order.iter().enumerate() {
            location[raw] = Some(position);
        }
        let convert = |s: links::RawSource| -> Option<crate::plan::Source> {
            Some(match s {
                links::RawSource::Input(i) => crate::plan::Source::Input(i),
                links::RawSource::Node { node, port } => crate::plan::Source::Node {
                    node: location[node]?,
                    port,
                },
            })
        };
        let of_mesh: Vec<Vec<usize>> = order
            .iter()
            .map(|&raw| {
                let links = self.nodes[raw].parameter_links.iter().enumerate();
                links.filter(|(_, l)| l.of_mesh).map(|(i, _)| i).collect()
            })
            .collect();
        let nodes = order
            .iter()
            .map(|&raw| {
                let n = &self.nodes[raw];
                let location = self.location(n.scope, n.span.start);
                let links = n.parameter_links.iter();
                let links: Vec<String> = links.map(|l| self.location(l.scope, l.at)).collect();
                let n = &mut self.nodes[raw];
                let (inputs, parameters) = sources[raw].split_at(n.desc.inputs.len());
                for source in &mut n.parameters {
                    if let ParameterSource::Linked(link) = source {
                        link.location.clone_from(&links[link.input]);
                    }
                }
                PlanNode {
                    location,
                    name: std::mem::take(&mut n.name),
                    desc: n.desc,
                    kernel: n.kernel.take(),
                    inputs: inputs.iter().map(|s| s.and_then(convert)).collect(),
                    parameter_inputs: parameters.iter().filter_map(|s| convert((*s)?)).collect(),
                    parameters: std::mem::take(&mut n.parameters),
                    fit: n.fit.take(),
                    runs_in_setup: false,
                    implicit: false,
                }
            })
            .collect();
        let outputs = outputs
            .into_iter()
            .map(|(name, s)| {
                Some(OutputDecl {
                    name,
                    source: convert(s)?,
                })
            })
            .collect::<Option<Vec<_>>>()?;
        let mut plan = Plan {
            inputs: std::mem::take(&mut self.inputs),
            parameters: std::mem::take(&mut self.parameters),
            nodes,
            outputs,
            warnings: Vec::new(),
            counts: self
                .counts
                .drain(..)
                .filter_map(|(source, count, what)| Some((convert(source)?, count, what)))
                .collect(),
            distrusted: false,
        };
        plan.link_poses_of_meshes(&of_mesh);
        plan.derive_phases(&[]);
        Some(plan)
    }
}
