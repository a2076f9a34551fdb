//! Links: names to sources, types, order, cycles.

use super::{Collector, MAX_NESTING, Symbol};
use crate::diagnostic::listed;
use sinew_deform::PortType;
use std::ops::Range;

/// A link's start before nodes are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RawSource {
    Input(usize),
    Node { node: usize, port: usize },
}

/// Sources of each node's inputs, and of the outputs.
pub(super) type Resolved = (Vec<Vec<Option<RawSource>>>, Vec<(String, RawSource)>);

impl Collector<'_> {
    pub(super) fn resolve_all(&mut self) -> Option<Resolved> {
        let mut sources = Vec::with_capacity(self.nodes.len());
        let mut ok = true;
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
                Some(s) => outputs.push((name, s)),
                None => ok = false,
            }
        }
        ok.then_some((sources, outputs))
    }

    fn resolve_link(
        &mut self,
        scope: usize,
        link: &str,
        span: &Range<usize>,
        what: &str,
        expected: Option<PortType>,
    ) -> Option<RawSource> {
        let source = match self.resolve(scope, link, 0) {
            Ok(source) => source,
            // Said already, where the name was declared.
            Err((message, _)) if message.is_empty() => return None,
            Err((message, help)) => {
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
        if expected.is_some_and(|e| e != found) {
            let expected = expected.map_or("", PortType::as_str);
            self.reporter(scope).error(
                "wrong_link_type",
                span,
                format!(
                    "{what} takes a {expected}, but '{link}' is a {}",
                    found.as_str()
                ),
                format!("link something that gives a {expected}"),
            );
            return None;
        }
        Some(source)
    }

    fn type_of(&self, source: RawSource) -> PortType {
        match source {
            RawSource::Input(i) => self.inputs[i].ty.port_type(),
            RawSource::Node { node, port } => self.nodes[node].desc.outputs[port].ty,
        }
    }

    fn resolve(
        &self,
        scope: usize,
        link: &str,
        depth: usize,
    ) -> Result<RawSource, (String, String)> {
        if depth > 2 * MAX_NESTING {
            return Err((format!("'{link}' leads back to itself"), String::new()));
        }
        let (name, port) = match link.split_once('.') {
            Some((name, port)) => (name, Some(port)),
            None => (link, None),
        };
        let s = &self.scopes[scope];
        let Some(symbol) = s.symbols.get(name) else {
            if s.broken.contains(name) {
                return Err((String::new(), String::new()));
            }
            let help = match self.suggestion(scope, name, s.names.iter().map(String::as_str)) {
                Some(word) => format!("did you mean '{word}'?"),
                None => format!("known are {}", listed(s.names.iter().map(String::as_str))),
            };
            return Err((format!("there is no input or node '{name}'"), help));
        };
        let no_port = |what: &str, known: &mut dyn Iterator<Item = &str>| {
            Err((
                format!(
                    "{what} '{name}' has no output '{}'",
                    port.unwrap_or_default()
                ),
                format!("it has {}", listed(known)),
            ))
        };
        match symbol {
            Symbol::Input(i) if port.is_none() => Ok(RawSource::Input(*i)),
            Symbol::Input(_) => Err((
                format!("input '{name}' has no ports"),
                format!("link '{name}'"),
            )),
            Symbol::Alias { scope, link } if port.is_none() => {
                self.resolve(*scope, link, depth + 1)
            }
            Symbol::Alias { .. } => Err((
                format!("input '{name}' has no ports"),
                format!("link '{name}'"),
            )),
            Symbol::Node(node) => {
                let outputs = self.nodes[*node].desc.outputs;
                match port.map_or(Some(0), |p| outputs.iter().position(|o| o.name == p)) {
                    Some(port) => Ok(RawSource::Node { node: *node, port }),
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
                    Some((_, link, _)) => self.resolve(*scope, link, depth + 1),
                    None => no_port("graph", &mut outputs.iter().map(|o| o.0.as_str())),
                }
            }
        }
    }

    /// Nodes that some output needs, each after those it reads, otherwise in document order.
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
                    format!("nothing uses '{name}'"),
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
            if let Ok(RawSource::Node { node, .. }) = self.resolve(0, link, 0) {
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
            "a graph has no loops; for memory over time use a solver node",
        );
    }
}
