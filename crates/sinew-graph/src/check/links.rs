//! Links: names to sources, types, order, cycles.

use super::{Collector, Symbol};
use crate::diagnostic::listed;
use crate::plan::InputType;
use sinew_deform::{Element, PortType};
use std::ops::Range;

/// A link's start before nodes are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RawSource {
    Input(usize),
    Node { node: usize, port: usize },
}

/// Sources of each node's inputs and of the links of its parameters, and of the outputs.
pub(super) type Resolved = (Vec<Vec<Option<RawSource>>>, Vec<(String, RawSource)>);

/// One step along a link.
enum Step<'a> {
    End(RawSource),
    On { scope: usize, link: &'a str },
}

/// Why a link leads nowhere.
pub(super) enum Unresolved {
    /// Already reported where the name was declared or linked on.
    Said,
    /// Message and help.
    Wrong(String, String),
}

/// The name of a type of data in a sentence: `a mesh`, but `values`.
pub(super) fn with_article(ty: PortType) -> String {
    match ty {
        PortType::Values | PortType::Lines => ty.as_str().to_owned(),
        _ => format!("a {}", ty.as_str()),
    }
}

impl Collector<'_> {
    pub(super) fn resolve_all(&mut self) -> Option<Resolved> {
        let outputs = self.scopes.iter().map(|s| s.outputs.len());
        self.most_steps = self.aliases.len() + outputs.sum::<usize>();
        let mut sources = Vec::with_capacity(self.nodes.len());
        // Each link is checked once, at its own location; links that lead on over it then find it good or broken.
        let mut ok = self.check_nested();
        for n in 0..self.nodes.len() {
            let scope = self.nodes[n].scope;
            let mut row = Vec::new();
            for (i, link) in self.nodes[n].links.clone().into_iter().enumerate() {
                let Some((link, span)) = link else {
                    row.push(None);
                    continue;
                };
                let expected = self.nodes[n].desc.inputs[i].ty;
                let what = format!(
                    "input '{}' of '{}'",
                    self.nodes[n].desc.inputs[i].name, self.nodes[n].name
                );
                let source = self.resolve_link(scope, &link, &span, &what, Some(expected));
                ok &= source.is_some();
                row.push(source);
            }
            let parameters = self.resolve_parameters(n);
            ok &= parameters.iter().all(Option::is_some);
            row.extend(parameters);
            sources.push(row);
        }
        let mut outputs = Vec::new();
        for (name, link, span) in self
            .scopes
            .first()
            .map(|s| s.outputs.clone())
            .unwrap_or_default()
        {
            match self.resolve_link(0, &link, &span, &format!("output '{name}'"), None) {
                Some(s) if self.can_leave(s, &name, &span) => outputs.push((name, s)),
                _ => ok = false,
            }
        }
        ok.then_some((sources, outputs))
    }

    /// Baked animations and buffers of anything except floats cannot be outputs.
    fn can_leave(&mut self, source: RawSource, name: &str, span: &Range<usize>) -> bool {
        let found = self.type_of(source);
        let inside = match found {
            PortType::Buffer(element) => element != Element::Float,
            other => other == PortType::VertexAnimation,
        };
        if inside {
            let message = format!(
                "output '{name}' is a {}, which cannot be an output of the graph",
                found.as_str()
            );
            let help = "link a mesh, a pose, a mask, values, lines, a field or a buffer of float";
            self.reporter(0)
                .error("wrong_link_type", span, message, help);
        }
        !inside
    }

    /// The links into and out of nested graphs.
    fn check_nested(&mut self) -> bool {
        let mut ok = true;
        for i in 0..self.aliases.len() {
            let a = &self.aliases[i];
            let (outer, ty, count) = (a.outer, a.ty, a.count);
            let (link, span, what) = (a.link.clone(), a.span.clone(), a.what.clone());
            let source = self.resolve_link(outer, &link, &span, &what, Some(ty.port_type()));
            let fits = source.is_some_and(|s| self.check_count(outer, s, count, ty, &span, &what));
            self.aliases[i].broken = !fits;
            ok &= fits;
        }
        for scope in 1..self.scopes.len() {
            for (name, link, span) in self.scopes[scope].outputs.clone() {
                let what = format!("output '{name}'");
                ok &= self
                    .resolve_link(scope, &link, &span, &what, None)
                    .is_some();
            }
        }
        ok
    }

    /// Checks that values from outside have the count that the nested graph declares.
    fn check_count(
        &mut self,
        scope: usize,
        source: RawSource,
        expected: usize,
        ty: InputType,
        span: &Range<usize>,
        what: &str,
    ) -> bool {
        if ty != InputType::Values {
            return true;
        }
        let RawSource::Input(i) = source else {
            // The number of values of a node is known when it is bound.
            let location = self.location(scope, span.start);
            self.counts
                .push((source, expected, format!("{location}: {what}")));
            return true;
        };
        let found = self.inputs[i].count;
        if found == expected {
            return true;
        }
        let message = format!(
            "{what} takes {expected} values, but '{}' has {found}",
            self.inputs[i].name
        );
        self.reporter(scope)
            .error("value_count", span, message, "give both the same \"count\"");
        false
    }

    pub(super) fn resolve_link(
        &mut self,
        scope: usize,
        link: &str,
        span: &Range<usize>,
        what: &str,
        expected: Option<PortType>,
    ) -> Option<RawSource> {
        let source = match self.resolve(scope, link) {
            Ok(source) => source,
            Err(Unresolved::Said) => return None,
            Err(Unresolved::Wrong(message, help)) => {
                self.reporter(scope).error(
                    "unknown_link",
                    span,
                    format!("{what}: {message}"),
                    help,
                );
                return None;
            }
        };
        let found = self.type_of(source);
        if expected.is_some_and(|e| !e.takes(found)) {
            let takes = expected.map_or_else(String::new, with_article);
            let expected = expected.map_or("", PortType::as_str);
            let message = format!(
                "{what} takes {takes}, but '{link}' is {}",
                with_article(found)
            );
            let help = format!("link an input or an output of type {expected}");
            self.reporter(scope)
                .error("wrong_link_type", span, message, help);
            return None;
        }
        Some(source)
    }

    pub(super) fn type_of(&self, source: RawSource) -> PortType {
        match source {
            RawSource::Input(i) => self.inputs[i].ty.port_type(),
            RawSource::Node { node, port } => self.nodes[node].desc.outputs[port].ty,
        }
    }

    /// Follows a link through nested graphs to where the data comes from.
    pub(super) fn resolve(&self, scope: usize, link: &str) -> Result<RawSource, Unresolved> {
        let (mut scope, mut link) = (scope, link);
        for step in 0..=self.most_steps {
            let (next_scope, next_link) = match self.follow(scope, link) {
                Ok(Step::End(source)) => return Ok(source),
                Ok(Step::On { scope, link }) => (scope, link),
                Err(why) if step == 0 => return Err(why),
                Err(_) => return Err(Unresolved::Said),
            };
            (scope, link) = (next_scope, next_link);
        }
        Err(Unresolved::Wrong(
            format!("'{link}' leads back to itself"),
            "a graph cannot have loops; link something else".into(),
        ))
    }

    fn follow(&self, scope: usize, link: &str) -> Result<Step<'_>, Unresolved> {
        let (name, port) = match link.split_once('.') {
            Some((name, port)) => (name, Some(port)),
            None => (link, None),
        };
        let s = &self.scopes[scope];
        let Some(symbol) = s.symbols.get(name) else {
            if s.broken.contains(name) {
                return Err(Unresolved::Said);
            }
            let help = match self.suggestion(scope, name, s.names.iter().map(String::as_str)) {
                Some(word) => format!("did you mean '{word}'?"),
                None => format!(
                    "inputs and nodes are {}",
                    listed(s.names.iter().map(String::as_str))
                ),
            };
            let message = format!("there is no input or node '{name}'");
            return Err(Unresolved::Wrong(message, help));
        };
        let no_port = |what: &str, known: &mut dyn Iterator<Item = &str>| {
            Err(Unresolved::Wrong(
                format!(
                    "{what} '{name}' has no output '{}'",
                    port.unwrap_or_default()
                ),
                format!("its outputs are {}", listed(known)),
            ))
        };
        match symbol {
            Symbol::Input(_) | Symbol::Alias(_) if port.is_some() => Err(Unresolved::Wrong(
                format!("input '{name}' has no ports"),
                format!("link '{name}' instead"),
            )),
            Symbol::Input(i) => Ok(Step::End(RawSource::Input(*i))),
            Symbol::Alias(i) => {
                let alias = &self.aliases[*i];
                if alias.broken {
                    return Err(Unresolved::Said);
                }
                Ok(Step::On {
                    scope: alias.outer,
                    link: &alias.link,
                })
            }
            Symbol::Node(node) => {
                let outputs = self.nodes[*node].desc.outputs;
                match port.map_or(Some(0), |p| outputs.iter().position(|o| o.name == p)) {
                    Some(port) => Ok(Step::End(RawSource::Node { node: *node, port })),
                    None => no_port("node", &mut outputs.iter().map(|o| o.name)),
                }
            }
            Symbol::Graph { scope } => {
                let outputs = &self.scopes[*scope].outputs;
                let found = match port {
                    None => outputs.first(),
                    Some(p) => outputs.iter().find(|o| o.0 == p),
                };
                match found {
                    Some((_, link, _)) => Ok(Step::On {
                        scope: *scope,
                        link,
                    }),
                    // A graph without outputs has been reported.
                    None if outputs.is_empty() => Err(Unresolved::Said),
                    None => no_port("graph", &mut outputs.iter().map(|o| o.0.as_str())),
                }
            }
        }
    }

    /// Nodes that an output needs. Each comes after the nodes it reads; otherwise the document order holds.
    pub(super) fn order(&mut self, sources: &[Vec<Option<RawSource>>]) -> Option<Vec<usize>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut marks = vec![Mark::New; self.nodes.len()];
        let mut order = Vec::new();
        let needed = self.needed(sources);
        for (root, is_needed) in needed.into_iter().enumerate() {
            if !is_needed {
                let (name, span, scope) = (
                    self.nodes[root].name.clone(),
                    self.nodes[root].span.clone(),
                    self.nodes[root].scope,
                );
                self.reporter(scope).warning(
                    "unused_node",
                    &span,
                    format!("no output needs node '{name}'"),
                    "link it to an output, or remove it",
                );
                continue;
            }
            // Depth first without recursion: documents may chain any number of nodes.
            let mut path = vec![(root, 0_usize)];
            while let Some((node, next)) = path.pop() {
                if next == 0 {
                    match marks[node] {
                        Mark::Done => continue,
                        Mark::Open => {
                            self.report_cycle(node, &path.iter().map(|p| p.0).collect::<Vec<_>>());
                            return None;
                        }
                        Mark::New => marks[node] = Mark::Open,
                    }
                }
                let following = sources[node]
                    .iter()
                    .skip(next)
                    .position(Option::is_some)
                    .map(|i| i + next);
                match following.map(|i| (i, sources[node][i])) {
                    Some((i, Some(RawSource::Node { node: from, .. }))) => {
                        path.push((node, i + 1));
                        path.push((from, 0));
                    }
                    Some((i, _)) => path.push((node, i + 1)),
                    None => {
                        marks[node] = Mark::Done;
                        order.push(node);
                    }
                }
            }
        }
        Some(order)
    }

    fn needed(&self, sources: &[Vec<Option<RawSource>>]) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        let mut open: Vec<usize> = Vec::new();
        for (_, link, _) in self
            .scopes
            .first()
            .map(|s| s.outputs.as_slice())
            .unwrap_or_default()
        {
            if let Ok(RawSource::Node { node, .. }) = self.resolve(0, link) {
                open.push(node);
            }
        }
        while let Some(n) = open.pop() {
            if !std::mem::replace(&mut needed[n], true) {
                open.extend(sources[n].iter().flatten().filter_map(|s| match s {
                    RawSource::Node { node, .. } => Some(*node),
                    RawSource::Input(_) => None,
                }));
            }
        }
        needed
    }

    fn report_cycle(&mut self, node: usize, path: &[usize]) {
        let start = path.iter().position(|&p| p == node).unwrap_or(0);
        let mut names: Vec<String> = path[start..]
            .iter()
            .map(|&p| self.nodes[p].name.clone())
            .collect();
        names.push(self.nodes[node].name.clone());
        names.reverse();
        let (scope, span) = (self.nodes[node].scope, self.nodes[node].span.clone());
        self.reporter(scope).error(
            "cycle",
            &span,
            format!("nodes depend on each other: {}", names.join(" -> ")),
            "a graph cannot have loops; to keep state from frame to frame, use a solver node",
        );
    }
}
