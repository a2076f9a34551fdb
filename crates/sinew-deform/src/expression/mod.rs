//! Node `expression`: arithmetic on numbers.

mod functions;
mod parse;
mod program;
#[cfg(test)]
mod tests;

use crate::{
    BindContext, BoundNode, Example, NodeDesc, NodeDocs, NodeError, NodeKind, NodeScratch,
    ParameterDesc, PortDesc, PortType, UpdateContext,
};

use parse::Scope;
use program::Program;

/// Links, at most.
const LINKS: usize = 8;

/// The ports of all links: a list in documents.
const INPUTS: [PortDesc; LINKS] = [
    PortDesc::optional(
        "values",
        PortType::Values,
        "The numbers that expressions read: one link, or a list of up to eight.",
    )
    .first_of_list(7),
    port("values_2"),
    port("values_3"),
    port("values_4"),
    port("values_5"),
    port("values_6"),
    port("values_7"),
    port("values_8"),
];

const fn port(name: &'static str) -> PortDesc {
    PortDesc::optional(
        name,
        PortType::Values,
        "More numbers. You can write the link as an item of the list `values` instead.",
    )
}

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "expression",
    kind: NodeKind::Driver,
    summary: "Computes numbers from others by arithmetic.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "expression",
            graph: include_str!("expression.json"),
            sample: "ball",
            before: "rest",
            frame: 12,
        }]),
    rows: &[],
    inputs: &INPUTS,
    outputs: &[PortDesc::output(
        "values",
        PortType::Values,
        "One number for each expression, in their order.",
    )],
    parameters: &[
        ParameterDesc::texts(
            "expressions",
            "The expressions, such as \"1 + 0.5 * length(speed)\".",
        ),
        ParameterDesc::texts(
            "names",
            "Names of the linked numbers, in the order of the links. Links without a name are called a, b, c, ...",
        ),
        ParameterDesc::frame_time("time", "What `time` is in expressions."),
    ],
    bind: bind_node,
    restore: None,
};

#[derive(Debug)]
struct BoundExpression {
    programs: Vec<Program>,
    /// How many numbers come in.
    numbers: usize,
}

#[derive(Debug)]
struct Scratch {
    /// The numbers of all ports, and the time.
    inputs: Vec<f64>,
    stack: Vec<f64>,
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let counts = INPUTS.map(|port| context.value_count(port.name));
    let names = context.parameters.texts("names");
    let scope = Scope::new(names, &counts).map_err(|e| NodeError::Bind(Box::new(e)))?;
    let texts = context.parameters.texts("expressions").iter().enumerate();
    let programs = texts.map(|(index, text)| {
        let program = parse::parse(text, &scope);
        program.map_err(|e| NodeError::Bind(Box::new(e.in_expression(index, text))))
    });
    Ok(Box::new(BoundExpression {
        programs: programs.collect::<Result<_, _>>()?,
        numbers: counts.into_iter().flatten().sum(),
    }))
}

impl BoundExpression {
    fn stack_size(&self) -> usize {
        let sizes = self.programs.iter().map(Program::stack_size);
        sizes.max().unwrap_or(0)
    }
}

impl BoundNode for BoundExpression {
    fn setup_bytes(&self) -> usize {
        self.programs.iter().map(Program::bytes).sum()
    }
    fn output_len(&self, _port: &str) -> usize {
        self.programs.len()
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(Scratch {
            inputs: vec![0.0; self.numbers + 1],
            stack: Vec::with_capacity(self.stack_size()),
        })
    }
    fn scratch_bytes(&self) -> usize {
        (self.numbers + 1 + self.stack_size()) * size_of::<f64>()
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let (Some(scratch), Some(out)) = (
            context.scratch.downcast_mut::<Scratch>(),
            context.outputs.floats("values"),
        ) else {
            return;
        };
        let links = INPUTS
            .iter()
            .filter_map(|port| context.inputs.floats(port.name));
        let numbers = links.flatten();
        let time = context.parameters.float("time");
        let all = numbers.map(|n| f64::from(*n)).chain([time]);
        for (to, from) in scratch.inputs.iter_mut().zip(all) {
            *to = from;
        }
        for (out, program) in out.iter_mut().zip(&self.programs) {
            let number = program.run(&scratch.inputs, &mut scratch.stack) as f32;
            *out = if number.is_finite() { number } else { 0.0 };
        }
    }
}
