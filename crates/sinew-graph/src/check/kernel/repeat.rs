//! `repeat`: a kernel that runs several times in a row becomes as many nodes, each linked to the one before.

use super::super::{Collector, FixedValue, ParameterRef, RawNode, Symbol};
use super::Reading;
use crate::json::Json;
use sinew_deform::{NodeDesc, NodeKind, ParameterValue, PortType};
use std::ops::Range;

/// Rounds of a kernel, at most.
const MOST_ROUNDS: usize = 256;
/// Rounds of all kernels of a document, at most: each takes memory as a node of its own.
const MOST_ROUNDS_OF_ALL: usize = 4096;

impl Collector<'_> {
    /// The rounds that a node asks for. `None` if a problem was reported.
    pub(super) fn kernel_rounds(&mut self, r: &Reading, json: &Json) -> Option<usize> {
        let Some(given) = json.get("repeat") else {
            return Some(1);
        };
        let whole = |n: f64| {
            let fits = n.fract() == 0.0 && (1.0..=MOST_ROUNDS as f64).contains(&n);
            fits.then_some(n as usize)
        };
        let (found, rounds) = match given.text().and_then(|t| t.strip_prefix('$')) {
            None => (given.describe(), given.number().and_then(whole)),
            Some(name) => match self.reference(r.scope, name, &given.span)? {
                Some(ParameterRef::Fixed {
                    source: FixedValue::Constant(ParameterValue::Int(n)),
                    ..
                }) => (n.to_string(), whole(n as f64)),
                _ => (format!("\"${name}\", which may change later"), None),
            },
        };
        if rounds.is_none() {
            let message = format!("'repeat' of '{}' is {found}", r.node);
            let help = format!(
                "expected a whole number from 1 to {MOST_ROUNDS}, or in a nested graph an int parameter that the outer graph sets to one"
            );
            self.reporter(r.scope)
                .error("kernel_repeat", &given.span, message, help);
        }
        let rounds = rounds?;
        self.kernels.rounds += rounds;
        if self.kernels.rounds > MOST_ROUNDS_OF_ALL {
            let message = format!(
                "the kernels up to this one repeat {} times",
                self.kernels.rounds
            );
            let help = format!("at most {MOST_ROUNDS_OF_ALL} are allowed; repeat fewer times");
            self.reporter(r.scope)
                .error("too_large", &given.span, message, help);
            return None;
        }
        Some(rounds)
    }

    /// Adds the rounds before the last one, which has the name of the node. Links the last one.
    pub(super) fn add_rounds(
        &mut self,
        (scope, name, span): (usize, &str, &Range<usize>),
        last: &mut RawNode,
        rounds: usize,
    ) {
        let feeds = feeds(last.desc);
        for round in 1..rounds {
            let own = format!("{name}/{round}");
            self.nodes.push(RawNode {
                name: format!("{}/{round}", last.name),
                scope,
                span: span.clone(),
                desc: last.desc,
                kernel: last.kernel.clone(),
                links: last.links.clone(),
                parameters: last.parameters.clone(),
                fit: None,
                parameter_links: last.parameter_links.clone(),
            });
            for (input, output) in &feeds {
                last.links[*input] = Some((format!("{own}.{output}"), span.clone()));
            }
            // No declared name has a slash.
            let symbol = Symbol::Node(self.nodes.len() - 1);
            self.scopes[scope].symbols.insert(own, symbol);
        }
    }

    /// Reports a kernel that would do the same in each round, or that has several pasts.
    pub(super) fn rounds_differ(
        &mut self,
        r: &Reading,
        json: &Json,
        desc: &NodeDesc,
        rounds: usize,
    ) {
        let Some(given) = json.get("repeat") else {
            return;
        };
        if desc.kind == NodeKind::Solver && rounds > 1 {
            let message = format!("'{}' has a persistent buffer and repeats", r.node);
            let help = "keep the buffer in a kernel of its own, which does not repeat";
            self.reporter(r.scope)
                .error("kernel_repeat", &given.span, message, help);
        } else if feeds(desc).is_empty() {
            let message = format!("no output of '{}' is an input of the next round", r.node);
            let help =
                "write a mesh, or give a buffer output the name and the element of a buffer input";
            self.reporter(r.scope)
                .error("kernel_repeat", &given.span, message, help);
        }
    }
}

/// Inputs of a round that an output of the round before is linked to: the mesh that a mesh output is made of, and the buffer of the same
/// name.
fn feeds(desc: &NodeDesc) -> Vec<(usize, &'static str)> {
    let inputs = desc.inputs.iter().enumerate();
    let fed = inputs.filter_map(|(i, input)| {
        let output = desc.outputs.iter().find(|output| match output.ty {
            PortType::Mesh => output.effect.is_some_and(|e| e.from == input.name),
            ty => output.name == input.name && input.ty.takes(ty),
        });
        Some((i, output?.name))
    });
    fed.collect()
}
