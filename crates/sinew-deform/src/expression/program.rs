//! An expression as steps of a machine with a stack.

/// One step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Number(f64),
    /// The input of that index.
    Read(usize),
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
    Three(fn(f64, f64, f64) -> f64),
    /// Takes so many numbers from the stack; at least one.
    Many(fn(&[f64]) -> f64, usize),
}

impl Op {
    /// How many numbers it takes.
    fn takes(&self) -> usize {
        match self {
            Self::Number(_) | Self::Read(_) => 0,
            Self::One(_) => 1,
            Self::Two(_) => 2,
            Self::Three(_) => 3,
            Self::Many(_, count) => *count,
        }
    }
}

/// Steps that leave one number on the stack.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    ops: Vec<Op>,
    height: usize,
    stack_size: usize,
}

impl Program {
    pub(super) fn push(&mut self, op: Op) {
        self.height = self.height.saturating_sub(op.takes()) + 1;
        self.stack_size = self.stack_size.max(self.height);
        self.ops.push(op);
    }

    pub(super) fn bytes(&self) -> usize {
        self.ops.len() * size_of::<Op>()
    }

    /// The most numbers that the stack holds.
    pub(super) fn stack_size(&self) -> usize {
        self.stack_size
    }

    /// The result. Does not allocate if the stack has room for [`Self::stack_size`].
    pub(super) fn run(&self, inputs: &[f64], stack: &mut Vec<f64>) -> f64 {
        stack.clear();
        for op in &self.ops {
            let from = stack.len().saturating_sub(op.takes());
            let result = match (op, stack.get(from..).unwrap_or_default()) {
                (Op::Number(number), _) => *number,
                (Op::Read(index), _) => inputs.get(*index).copied().unwrap_or(f64::NAN),
                (Op::One(f), [a]) => f(*a),
                (Op::Two(f), [a, b]) => f(*a, *b),
                (Op::Three(f), [a, b, c]) => f(*a, *b, *c),
                (Op::Many(f, _), all) => f(all),
                // The parser pushes what an operation takes.
                _ => f64::NAN,
            };
            stack.truncate(from);
            stack.push(result);
        }
        stack.last().copied().unwrap_or(f64::NAN)
    }
}
