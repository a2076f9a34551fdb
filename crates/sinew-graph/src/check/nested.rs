//! Nested graphs: their documents, inputs and parameters.

use super::nodes::{COMMON_KEYS, main_of, narrow};
use super::{
    Alias, Collector, FixedValue, GraphText, MAX_GRAPHS, MAX_NESTED_BYTES, MAX_NESTING,
    MAX_NODES_TO_NEST, ParameterRef, Symbol,
};
use crate::diagnostic::listed;
use crate::json::{self, Json, Kind, Member, Reporter};
use crate::plan::{InputDecl, InputType};
use crate::value::{check_value, expectation, read_keyed, read_value};
use sinew_deform::{ParameterType, Phase};
use sinew_geom::Selection;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// The document of a nested graph.
enum Root<'j> {
    /// It is part of the document around it.
    Inline(&'j Json),
    /// It is a file with this name.
    File(Rc<Json>, String),
}

impl Collector<'_> {
    /// A nested graph: its nodes join the outer graph under the prefix `name/`.
    pub(super) fn collect_graph(
        &mut self,
        outer: usize,
        name: &str,
        span: &Range<usize>,
        json: &Json,
        defaults: &[(&str, String)],
    ) {
        let Some((reporter, root)) = self.nested_document(outer, name, span, json) else {
            return;
        };
        let (root, file) = match &root {
            Root::Inline(root) => (*root, None),
            Root::File(root, file) => (&**root, Some(file.clone())),
        };
        let prefix = format!("{}{name}/", self.scopes[outer].prefix);
        let inner = self.new_scope(reporter, prefix);
        self.wire_nested(outer, inner, name, span, json, root, defaults);
        let opened = file.is_some();
        self.open_files.extend(file);
        self.collect_body(inner, root);
        if opened {
            self.open_files.pop();
        }
        self.declare(outer, name, span, Symbol::Graph { scope: inner });
    }

    fn nested_document<'j>(
        &mut self,
        outer: usize,
        name: &str,
        span: &Range<usize>,
        json: &'j Json,
    ) -> Option<(usize, Root<'j>)> {
        if self.scopes[outer].prefix.matches('/').count() >= MAX_NESTING {
            self.reporter(outer).error(
                "too_deep",
                span,
                format!("graphs are nested more than {MAX_NESTING} levels deep"),
                "reduce the nesting",
            );
            return None;
        }
        if self.scopes.len() > MAX_GRAPHS || self.nodes.len() > MAX_NODES_TO_NEST {
            let message = if self.scopes.len() > MAX_GRAPHS {
                format!("more than {MAX_GRAPHS} graphs are nested in this graph")
            } else {
                format!("a graph cannot be nested after {MAX_NODES_TO_NEST} nodes")
            };
            let help = "split the document; a nested graph counts once for each use";
            self.reporter(outer)
                .error("too_many_graphs", span, message, help);
            return None;
        }
        match (json.get("graph"), json.get("file")) {
            (Some(inline), None) => {
                let reporter = self.scopes[outer].reporter;
                if inline.members().is_none() {
                    let message = format!("'graph' is {}", inline.describe());
                    self.reporter(outer).error(
                        "wrong_type",
                        &inline.span,
                        message,
                        "expected a graph document",
                    );
                    return None;
                }
                self.check_keys(reporter, inline);
                Some((reporter, Root::Inline(inline)))
            }
            (None, Some(file_json)) => {
                let Some(file) = file_json.text() else {
                    let message = format!("'file' is {}", file_json.describe());
                    self.reporter(outer).error(
                        "wrong_type",
                        &file_json.span,
                        message,
                        "expected the path of a graph document",
                    );
                    return None;
                };
                let found = self.other_file(outer, "graph", file, &file_json.span)?;
                if self.open_files.contains(&found.name) {
                    self.reporter(outer).error(
                        "recursive_graph",
                        &file_json.span,
                        format!("the graph '{file}' contains itself"),
                        "remove the node that names it",
                    );
                    return None;
                }
                let (reporter, root) = self.document(&found)?;
                Some((reporter, Root::File(root, found.name)))
            }
            _ => {
                self.reporter(outer).error(
                    "nested_graph",
                    span,
                    format!("node '{name}' needs exactly one graph"),
                    "give either \"file\": \"path.json\" or \"graph\": {...}",
                );
                None
            }
        }
    }

    /// The document in a file. A file is read once and its problems are reported once, for any number of uses. `None` if it has problems.
    fn document(&mut self, found: &GraphText) -> Option<(usize, Rc<Json>)> {
        if let Some(known) = self.documents.get(&found.name) {
            return known.clone();
        }
        let reporter = self.reporters.len();
        self.reporters.push(Reporter::new(&found.name, &found.text));
        let root = json::parse(&mut self.reporters[reporter]);
        let root = root.filter(|root| self.check_head(reporter, root));
        let document = root.map(|root| (reporter, Rc::new(root)));
        self.documents.insert(found.name.clone(), document.clone());
        document
    }

    /// The text of a file that the current document names. `what` names the kind of file in messages.
    pub(super) fn other_file(
        &mut self,
        scope: usize,
        what: &str,
        file: &str,
        span: &Range<usize>,
    ) -> Option<GraphText> {
        let from = self.open_files.last().cloned().unwrap_or_default();
        let found = match self.nested.graph_text(&from, file) {
            Ok(found) => found,
            Err(why) => {
                self.reporter(scope).error(
                    "nested_file",
                    span,
                    format!("the {what} '{file}' cannot be read: {why}"),
                    "paths are relative to the document that names them",
                );
                return None;
            }
        };
        self.nested_bytes = self.nested_bytes.saturating_add(found.text.len());
        if self.nested_bytes > MAX_NESTED_BYTES {
            self.reporter(scope).error(
                "too_large",
                span,
                format!(
                    "the graphs and kernels in other files have more than {MAX_NESTED_BYTES} bytes"
                ),
                "each file counts once for each use",
            );
            return None;
        }
        Some(found)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the two scopes and the two documents are all needed to join them"
    )]
    fn wire_nested(
        &mut self,
        outer: usize,
        inner: usize,
        name: &str,
        span: &Range<usize>,
        json: &Json,
        root: &Json,
        defaults: &[(&str, String)],
    ) {
        let inputs = self.read_inputs(inner, root);
        let names: HashSet<&str> = inputs.iter().map(|i| i.name.as_str()).collect();
        let parameters = root.get("parameters");
        let declared = parameters.map_or_else(HashMap::new, Json::by_key);
        let given = json.by_key();
        for m in json.members().unwrap_or_default() {
            let key = m.key.as_str();
            if COMMON_KEYS.contains(&key)
                || ["graph", "file"].contains(&key)
                || names.contains(key)
                || self.scopes[inner].broken.contains(key)
            {
                continue;
            }
            match declared.get(key) {
                Some(d) => self.set_nested_parameter(outer, inner, d, m),
                None => {
                    let names = || {
                        let parameters = parameters.and_then(Json::members);
                        let parameters = parameters.unwrap_or_default().iter();
                        let inputs = inputs.iter().map(|i| i.name.as_str());
                        inputs.chain(parameters.map(|p| p.key.as_str()))
                    };
                    let help = match self.suggestion(outer, key, names()) {
                        Some(word) => format!("did you mean '{word}'?"),
                        None => format!("it has {}", listed(names())),
                    };
                    self.reporter(outer).error(
                        "unknown_port",
                        &m.key_span,
                        format!("the graph '{name}' has no input or parameter '{key}'"),
                        help,
                    );
                }
            }
        }
        self.declare_parameters(inner, root);
        let implicit = root.get("inputs").is_none();
        let main = InputType::ALL.map(|ty| {
            let of_type = inputs.iter().filter(|i| i.ty == ty);
            (ty, main_of(of_type.map(|i| i.name.as_str()), ty))
        });
        for input in &inputs {
            let is_main = main.contains(&(input.ty, Some(input.name.as_str())));
            let defaults = if is_main { defaults } else { &[] };
            let given = given.get(input.name.as_str()).map(|m| &m.value);
            let link = self.link_of_input(outer, name, span, given, input, defaults);
            match link {
                Ok(Some((link, span))) => {
                    let s = &mut self.scopes[inner];
                    s.names.push(input.name.clone());
                    s.symbols
                        .insert(input.name.clone(), Symbol::Alias(self.aliases.len()));
                    self.aliases.push(Alias {
                        what: format!("input '{}' of '{name}'", input.name),
                        outer,
                        link,
                        span,
                        ty: input.ty,
                        count: input.count,
                        broken: false,
                    });
                }
                // No document asked for it by name; a node that needs it reports the problem.
                Ok(None) if implicit => {}
                Ok(None) => {
                    self.scopes[inner].broken.insert(input.name.clone());
                    self.reporter(outer).error(
                        "missing_input",
                        span,
                        format!("the graph '{name}' needs the input '{}'", input.name),
                        format!(
                            "add \"{}\": \"NAME\", a link to a {}",
                            input.name,
                            input.ty.port_type().as_str()
                        ),
                    );
                }
                Err(()) => _ = self.scopes[inner].broken.insert(input.name.clone()),
            }
        }
    }

    /// Where an input of a nested graph comes from: the given link, the default of its type, or the outer graph's input of the
    /// same name and declaration. `Err` if a wrong link was reported.
    fn link_of_input(
        &mut self,
        outer: usize,
        name: &str,
        span: &Range<usize>,
        given: Option<&Json>,
        input: &InputDecl,
        defaults: &[(&str, String)],
    ) -> Result<Option<(String, Range<usize>)>, ()> {
        if let Some(given) = given {
            if let Some(link) = given.text() {
                return Ok(Some((link.to_owned(), given.span.clone())));
            }
            let message = format!("input '{}' of '{name}' is {}", input.name, given.describe());
            self.reporter(outer).error(
                "wrong_type",
                &given.span,
                message,
                "expected the name of an input, a node, or node.port",
            );
            return Err(());
        }
        let port = input.ty.port_type().as_str();
        let chained = defaults.iter().find(|(p, _)| *p == port);
        let same = || match self.scopes[outer].symbols.get(&input.name)? {
            Symbol::Input(i) => {
                let outer = &self.inputs[*i];
                let like = outer.ty == input.ty
                    && outer.count == input.count
                    && outer.selection == input.selection
                    && outer.file == input.file
                    && outer.point_cache == input.point_cache;
                like.then(|| input.name.clone())
            }
            // Its own declaration has been compared with the graph around.
            Symbol::Alias(i) => {
                let from_outside = input.file.is_some()
                    || input.point_cache.is_some()
                    || input.selection != Selection::All;
                let like = self.aliases[*i].ty == input.ty && self.aliases[*i].count == input.count;
                (like && !from_outside).then(|| input.name.clone())
            }
            Symbol::Node(_) | Symbol::Graph { .. } => None,
        };
        let link = chained.map(|d| d.1.clone()).or_else(same);
        Ok(link.map(|link| (link, span.clone())))
    }

    fn set_nested_parameter(
        &mut self,
        outer: usize,
        inner: usize,
        declared: &Member,
        given: &Member,
    ) {
        let said = self.reporter(inner).found.len();
        let Some(ty) = self.read_declared_type(inner, declared) else {
            // Reported where the parameter is declared.
            self.reporter(inner).found.truncate(said);
            return;
        };
        let setup = matches!(
            declared.value.get("setup").map(|s| &s.kind),
            Some(Kind::Bool(true))
        );
        if setup && given.value.get("keys").is_some() {
            self.reporter(outer).error(
                "keyed_setup",
                &given.value.span,
                format!("'{}' is read in setup only and cannot have keys", given.key),
                "use one value instead",
            );
            return;
        }
        let phase = if setup { Phase::Setup } else { Phase::Update };
        let reference = given.value.text().and_then(|t| t.strip_prefix('$'));
        let value = if let Some(reference) = reference {
            match self.reference(outer, reference, &given.value.span) {
                None => return,
                Some(Some(found)) => {
                    let span = &given.value.span;
                    let Some(found) =
                        self.narrowed(outer, found, ty, setup, &given.key, reference, span)
                    else {
                        return;
                    };
                    found
                }
                Some(None) => {
                    self.reporter(outer).error(
                        "unknown_parameter",
                        &given.value.span,
                        format!("there is no parameter '{reference}'"),
                        format!("declare '{reference}' under \"parameters\" of the outer graph"),
                    );
                    return;
                }
            }
        } else if let Some(linked) = self.read_parameter_link(outer, ty, phase, given) {
            let Some(linked) = linked else { return };
            ParameterRef::Fixed {
                ty,
                source: FixedValue::Linked(Box::new(linked)),
            }
        } else if let Some(keyed) = read_keyed(&given.key, ty, &given.value, self.reporter(outer)) {
            let Some(keyed) = keyed else { return };
            ParameterRef::Fixed {
                ty,
                source: FixedValue::Keyed(keyed),
            }
        } else {
            let Some(value) = read_value(&given.key, ty, &given.value, self.reporter(outer)) else {
                return;
            };
            ParameterRef::Fixed {
                ty,
                source: FixedValue::Constant(value),
            }
        };
        self.scopes[inner]
            .parameters
            .insert(declared.key.clone(), value);
    }

    /// A parameter of the outer graph as a nested one declares it.
    #[expect(
        clippy::too_many_arguments,
        reason = "both sides are named in messages"
    )]
    fn narrowed(
        &mut self,
        outer: usize,
        found: ParameterRef,
        ty: ParameterType,
        setup: bool,
        taker: &str,
        reference: &str,
        span: &Range<usize>,
    ) -> Option<ParameterRef> {
        let (given, source) = match found {
            ParameterRef::Declared(index) => {
                return self
                    .narrow_declared(outer, index, ty, setup, taker, reference, span)
                    .then_some(found);
            }
            ParameterRef::Fixed { ty, source } => (ty, source),
        };
        let both = narrow(given, ty)
            .filter(|both| {
                source
                    .values()
                    .iter()
                    .all(|v| check_value(*both, v).is_ok())
            })
            .filter(|_| !setup || matches!(source, FixedValue::Constant(_)));
        match both {
            Some(ty) => Some(ParameterRef::Fixed { ty, source }),
            None => {
                self.reporter(outer).error(
                    "wrong_type",
                    span,
                    format!("the value given for '${reference}' does not fit '{taker}'"),
                    format!("expected {}", expectation(ty)),
                );
                None
            }
        }
    }
}
