//! Node `spring`: numbers that follow others with inertia.

pub(crate) mod follower;
#[cfg(test)]
mod tests;

use crate::collide::ports::RESET;
use crate::{
    BindContext, BoundNode, DefaultValue, Example, NodeDesc, NodeDocs, NodeError, NodeKind,
    NodeScratch, ParameterDesc, PortDesc, PortType, Preset, UpdateContext,
};
use follower::{Follower, Step};

/// How closely the follower follows.
pub(crate) const FREQUENCY: ParameterDesc = ParameterDesc::float(
    "frequency",
    2.0,
    1e-3,
    1e3,
    "Swings per second, without damping. Higher follows more closely.",
)
.with_unit("Hz");
/// How it settles.
pub(crate) const DAMPING: ParameterDesc = ParameterDesc::float(
    "damping",
    0.4,
    0.0,
    1e3,
    "0 swings forever, below 1 overshoots, 1 settles fastest without overshoot.",
);

/// Also of joints.
pub(crate) const PRESETS: &[Preset] = &[
    Preset {
        name: "cartoon",
        doc: "Lags visibly and swings about four times.",
        values: &[
            ("frequency", DefaultValue::Float(2.0)),
            ("damping", DefaultValue::Float(0.15)),
        ],
    },
    Preset {
        name: "subtle",
        doc: "Overshoots once, by less than a tenth.",
        values: &[
            ("frequency", DefaultValue::Float(4.0)),
            ("damping", DefaultValue::Float(0.65)),
        ],
    },
];

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "spring",
    kind: NodeKind::Solver,
    summary: "Numbers that follow others like a weight on a damped spring: they lag, overshoot and settle.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[
            Example {
                name: "spring",
                graph: include_str!("spring.json"),
                sample: "ball",
                before: "rest",
                frame: 6,
            },
            Example {
                name: "spring_speed",
                graph: include_str!("spring_speed.json"),
                sample: "arm",
                before: "linear",
                frame: 18,
            },
        ])
        .presets(PRESETS),
    rows: &[],
    inputs: &[PortDesc::input(
        "values",
        PortType::Values,
        "The numbers to follow.",
    )],
    outputs: &[
        PortDesc::output("values", PortType::Values, "What follows, as many numbers."),
        PortDesc::output(
            "velocity",
            PortType::Values,
            "How fast each of them changes, per second.",
        ),
    ],
    parameters: &[FREQUENCY, DAMPING, RESET],
    bind: bind_node,
    restore: None,
};

#[derive(Debug)]
struct BoundSpring {
    count: usize,
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let count = context.value_count("values").unwrap_or(0);
    Ok(Box::new(BoundSpring { count }))
}

impl BoundNode for BoundSpring {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn output_len(&self, _port: &str) -> usize {
        self.count
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(vec![Follower::default(); self.count])
    }
    fn scratch_bytes(&self) -> usize {
        self.count * size_of::<Follower>()
    }
    fn save_state(&self, scratch: &NodeScratch) -> Vec<u8> {
        let followers = scratch.downcast_ref::<Vec<Follower>>();
        let numbers = followers.into_iter().flatten().flat_map(|f| f.numbers());
        numbers.flat_map(f64::to_le_bytes).collect()
    }
    fn restore_state(&self, bytes: &[u8], scratch: &mut NodeScratch) -> Result<(), NodeError> {
        let (numbers, rest) = bytes.as_chunks::<8>();
        let (groups, more) = numbers.as_chunks::<3>();
        let wrong = |message: String| Err(NodeError::Restore(message));
        let Some(followers) = scratch.downcast_mut::<Vec<Follower>>() else {
            return wrong("this node has no state".into());
        };
        if groups.len() != followers.len() || !rest.is_empty() || !more.is_empty() {
            let expected = 24 * followers.len();
            let found = bytes.len();
            return wrong(format!(
                "found {found} bytes of springs, expected {expected}"
            ));
        }
        if !numbers.iter().all(|b| f64::from_le_bytes(*b).is_finite()) {
            return wrong("a number of a spring is not finite".into());
        }
        for (follower, group) in followers.iter_mut().zip(groups) {
            *follower = Follower::from(group.map(f64::from_le_bytes));
        }
        Ok(())
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let (Some(followers), Some(numbers)) = (
            context.scratch.downcast_mut::<Vec<Follower>>(),
            context.inputs.floats("values"),
        ) else {
            return;
        };
        let p = context.parameters;
        let begins = context.is_first || context.dt_secs < 0.0 || p.bool("reset");
        let step = Step::new(p.float("frequency"), p.float("damping"), context.dt_secs);
        for (follower, number) in followers.iter_mut().zip(numbers) {
            match f64::from(*number) {
                target if !target.is_finite() => {}
                target if begins => *follower = Follower::at_rest(target),
                target => follower.follow(target, &step),
            }
        }
        let mut write = |port: &str, of: fn(&Follower) -> f64| {
            let out = context.outputs.floats(port).into_iter().flatten();
            for (to, follower) in out.zip(&*followers) {
                *to = of(follower) as f32;
            }
        };
        write("values", |f| f.place);
        write("velocity", |f| f.velocity);
    }
}
