//! Barriers must be reached by all threads of a group or by none. WGSL demands it and browsers check it; naga 30 does not, so
//! that a kernel would hang or compute nonsense on some adapters only.
//!
//! The analysis follows that of the WGSL specification but is coarser in one point: a variable that differs between threads
//! at one place is taken to differ everywhere in its function.
//!
//! Each value has a set of parameters on which it depends, and a bit for "differs between threads" (`taint.rs`). Control flow has such a
//! set, too: the union of the conditions that lead to a statement, and of earlier exits that some threads may have taken. Functions are
//! analysed before their callers, with a summary of what their result and their barriers depend on. Loops and variables repeat the walk
//! over a function until nothing changes, at most 64 times; after that, everything counts as different.

use std::collections::HashMap;
use std::ops::Range;

use naga::{Block, Expression, Function, Handle, Module, Span, Statement};

use crate::findings::Finding;
use crate::taint::{Taint, VARYING, Values};

/// Passes over one function before everything in it counts as differing between threads.
const PASSES: usize = 64;

/// A barrier, as seen from outside of its function.
#[derive(Clone, Copy, Debug)]
struct Requirement {
    barrier: Span,
    /// The barrier, or the call of a function with it that only some threads may come to.
    site: Span,
    /// Parameters that must not differ between threads.
    taint: Taint,
    /// The condition that may keep threads from it.
    cause: Option<Span>,
}

/// What callers have to know of a function.
#[derive(Clone, Debug, Default)]
struct Summary {
    result: Taint,
    requirements: Vec<Requirement>,
}

/// Control flow at a place: what decides whether a thread comes there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Flow {
    taint: Taint,
    cause: Option<Span>,
}

impl Flow {
    fn join(self, other: Self) -> Self {
        Self {
            taint: self.taint | other.taint,
            // The cause that matters is that of what differs between threads.
            cause: match self.taint & VARYING == 0 && other.taint != 0 {
                true => other.cause.or(self.cause),
                false => self.cause.or(other.cause),
            },
        }
    }
}

/// Ways by which threads leave a block early.
#[derive(Clone, Copy, Debug, Default)]
struct Exits {
    returns: Flow,
    breaks: Flow,
    continues: Flow,
}

impl Exits {
    fn join(self, other: Self) -> Self {
        Self {
            returns: self.returns.join(other.returns),
            breaks: self.breaks.join(other.breaks),
            continues: self.continues.join(other.continues),
        }
    }

    fn any(self) -> Flow {
        self.returns.join(self.breaks).join(self.continues)
    }
}

struct Walk<'a> {
    text: &'a str,
    function: &'a Function,
    summaries: &'a HashMap<Handle<Function>, Summary>,
    values: Values<'a>,
    /// Control flow at the start of each loop, by the address of its body.
    loops: HashMap<usize, Flow>,
    summary: Summary,
    findings: Vec<Finding>,
}

/// Barriers that only some threads reach. Linear in practice; nothing where the module has no barrier.
pub(crate) fn check(text: &str, module: &Module) -> Vec<Finding> {
    let functions = || module.functions.iter().map(|(_, f)| f);
    let entries = || module.entry_points.iter().map(|e| &e.function);
    if !functions().chain(entries()).any(|f| has_barrier(&f.body)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut summaries = HashMap::new();
    // Functions stand behind those that they call.
    for (handle, function) in module.functions.iter() {
        let (summary, found) = analyse(text, module, function, &summaries, false);
        summaries.insert(handle, summary);
        findings.extend(found);
    }
    for entry in &module.entry_points {
        let (_, found) = analyse(text, module, &entry.function, &summaries, true);
        findings.extend(found);
    }
    findings
}

fn has_barrier(block: &Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::ControlBarrier(_)
        | Statement::MemoryBarrier(_)
        | Statement::WorkGroupUniformLoad { .. } => true,
        Statement::Block(b) => has_barrier(b),
        Statement::If { accept, reject, .. } => has_barrier(accept) || has_barrier(reject),
        Statement::Switch { cases, .. } => cases.iter().any(|c| has_barrier(&c.body)),
        Statement::Loop {
            body, continuing, ..
        } => has_barrier(body) || has_barrier(continuing),
        _ => false,
    })
}

fn analyse(
    text: &str,
    module: &Module,
    function: &Function,
    summaries: &HashMap<Handle<Function>, Summary>,
    entry: bool,
) -> (Summary, Vec<Finding>) {
    let mut walk = Walk {
        text,
        function,
        summaries,
        values: Values::new(module, function, entry),
        loops: HashMap::new(),
        summary: Summary::default(),
        findings: Vec::new(),
    };
    for pass in 0.. {
        if pass == PASSES {
            walk.values.give_up();
        }
        let before = (walk.values.version(), walk.loops.clone());
        walk.summary = Summary::default();
        walk.findings.clear();
        walk.values.evaluate();
        walk.block(&function.body, Flow::default());
        if pass >= PASSES || before == (walk.values.version(), walk.loops.clone()) {
            break;
        }
    }
    (walk.summary, walk.findings)
}

impl Walk<'_> {
    fn block(&mut self, block: &Block, start: Flow) -> Exits {
        let mut exits = Exits::default();
        for (statement, span) in block.span_iter() {
            // Threads that left early do not come here.
            let flow = start.join(exits.any());
            exits = exits.join(self.statement(statement, *span, flow));
        }
        exits
    }

    fn statement(&mut self, statement: &Statement, span: Span, flow: Flow) -> Exits {
        let none = Exits::default();
        match statement {
            Statement::Block(b) => self.block(b, flow),
            Statement::If {
                condition,
                accept,
                reject,
            } => {
                let inside = self.branch(*condition, flow);
                self.block(accept, inside).join(self.block(reject, inside))
            }
            Statement::Switch { selector, cases } => {
                let inside = self.branch(*selector, flow);
                let exits = cases
                    .iter()
                    .fold(none, |all, case| all.join(self.block(&case.body, inside)));
                Exits {
                    breaks: Flow::default(),
                    ..exits
                }
            }
            Statement::Loop {
                body,
                continuing,
                break_if,
            } => self.repeat(body, continuing, *break_if, flow),
            Statement::Break => Exits {
                breaks: flow,
                ..none
            },
            Statement::Continue => Exits {
                continues: flow,
                ..none
            },
            Statement::Return { value } => {
                let value = value.map_or(0, |v| self.values.of(v));
                self.summary.result |= value | flow.taint;
                Exits {
                    returns: flow,
                    ..none
                }
            }
            other => {
                self.simple(other, span, flow);
                none
            }
        }
    }

    fn branch(&self, condition: Handle<Expression>, flow: Flow) -> Flow {
        flow.join(Flow {
            taint: self.values.of(condition),
            cause: Some(self.function.expressions.get_span(condition)),
        })
    }

    fn repeat(
        &mut self,
        body: &Block,
        continuing: &Block,
        break_if: Option<Handle<Expression>>,
        flow: Flow,
    ) -> Exits {
        let key = std::ptr::from_ref(body).addr();
        let known = self.loops.get(&key).copied().unwrap_or_default();
        let start = flow.join(known);
        let mut exits = self.block(body, start);
        let behind = start.join(exits.returns).join(exits.breaks);
        exits = exits.join(self.block(continuing, behind));
        if let Some(condition) = break_if {
            exits.breaks = exits.breaks.join(self.branch(condition, behind));
        }
        // Who left in one round is missing in the next.
        self.loops
            .insert(key, start.join(exits.returns).join(exits.breaks));
        Exits {
            returns: exits.returns,
            ..Exits::default()
        }
    }

    fn simple(&mut self, statement: &Statement, span: Span, flow: Flow) {
        match statement {
            Statement::ControlBarrier(_) | Statement::MemoryBarrier(_) => {
                self.require(span, span, flow);
            }
            Statement::WorkGroupUniformLoad { .. } => self.require(span, span, flow),
            Statement::Store { pointer, value } => {
                let taint = self.values.of(*value) | self.values.of(*pointer) | flow.taint;
                self.values.store(*pointer, taint);
            }
            Statement::Call {
                function,
                arguments,
                result,
            } => self.call(*function, arguments, *result, span, flow),
            _ => {}
        }
    }

    fn call(
        &mut self,
        function: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
        span: Span,
        flow: Flow,
    ) {
        let Some(callee) = self.summaries.get(&function) else {
            return;
        };
        let given: Vec<Taint> = arguments.iter().map(|a| self.values.read(*a)).collect();
        let here = |taint: Taint| crate::taint::substitute(taint, &given);
        let needed: Vec<(Requirement, Flow)> = callee
            .requirements
            .iter()
            .map(|r| {
                let inside = Flow {
                    taint: here(r.taint),
                    cause: r.cause,
                };
                let decided_here = flow.taint != 0;
                let site = if decided_here { span } else { r.site };
                (Requirement { site, ..*r }, flow.join(inside))
            })
            .collect();
        if let Some(result) = result {
            self.values
                .set_result(result, here(callee.result) | flow.taint);
        }
        for argument in arguments {
            // What a function does to a variable that it gets a pointer to is not followed.
            self.values.store(*argument, VARYING);
        }
        for (requirement, flow) in needed {
            self.require(requirement.site, requirement.barrier, flow);
        }
    }

    /// A barrier, behind the call at `site` or there itself.
    fn require(&mut self, site: Span, barrier: Span, flow: Flow) {
        if flow.taint & VARYING == 0 {
            let known = &mut self.summary.requirements;
            match known.iter_mut().find(|r| r.barrier == barrier) {
                Some(r) => r.taint |= flow.taint,
                None => known.push(Requirement {
                    barrier,
                    site,
                    taint: flow.taint,
                    cause: flow.cause,
                }),
            }
            return;
        }
        let spans: Vec<Range<usize>> = [site, barrier]
            .into_iter()
            .filter_map(Span::to_range)
            .collect();
        let name = spans
            .last()
            .and_then(|s| self.text.get(s.clone()))
            .and_then(|s| s.split('(').next())
            .unwrap_or("workgroupBarrier")
            .trim();
        self.findings.push(Finding {
            message: format!("`{name}` is not reached by all threads of a group"),
            spans,
            condition: flow.cause.and_then(Span::to_range),
            ..Finding::default()
        });
    }
}
