//! Node `curve`: maps numbers through keys.

mod keys;
#[cfg(test)]
mod tests;

use crate::pose_driver::choice;
use crate::{
    BindContext, BoundNode, Choice, Example, NodeDesc, NodeDocs, NodeError, NodeKind,
    ParameterDesc, PortDesc, PortType, UpdateContext,
};
use keys::{Key, Keys, KeysError, Outside, Shape};

const SHAPES: &[Choice] = &[
    choice("step", "Holds the value of the key before."),
    choice("linear", "A straight line."),
    choice("smooth", "Smoothstep: flat at each key."),
    choice(
        "cubic_spline",
        "A cubic with the slopes `in` and `out` of the keys, as in glTF.",
    ),
];
const OUTSIDES: &[Choice] = &[
    choice("hold", "The value of the first or last key."),
    choice("line", "A straight line with the slope of the end."),
    choice("repeat", "The curve again and again."),
    choice(
        "mirror",
        "The curve again and again, every second time backwards.",
    ),
];
const KEY: &[ParameterDesc] = &[
    number(
        "at",
        "The number that comes in. Above that of the key before.",
    )
    .required(),
    number("value", "The number that goes out.").required(),
    number("in", "For `cubic_spline`: slope before the key."),
    number("out", "For `cubic_spline`: slope after the key."),
];

const fn number(name: &'static str, doc: &'static str) -> ParameterDesc {
    ParameterDesc::float(name, 0.0, f64::MIN, f64::MAX, doc).in_setup()
}

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "curve",
    kind: NodeKind::Driver,
    summary: "Maps numbers, or the time, through a curve with keys.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "curve",
            graph: include_str!("curve.json"),
            sample: "ball",
            before: "rest",
            frame: 12,
        }]),
    rows: &[],
    inputs: &[PortDesc::optional(
        "values",
        PortType::Values,
        "The numbers to map, each by itself. Without a link, `time`.",
    )],
    outputs: &[PortDesc::output(
        "values",
        PortType::Values,
        "The mapped numbers, as many.",
    )],
    parameters: &[
        ParameterDesc::records(
            "keys",
            KEY,
            "The keys. Without keys, numbers stay as they are.",
        ),
        ParameterDesc::choice(
            "interpolation",
            "linear",
            SHAPES,
            "What the curve is between two keys.",
        ),
        ParameterDesc::choice(
            "outside",
            "hold",
            OUTSIDES,
            "What the curve is before the first key and after the last.",
        ),
        ParameterDesc::frame_time("time", "Read where `values` has no link."),
    ],
    bind: bind_node,
    restore: None,
};

#[derive(Debug)]
struct BoundCurve {
    keys: Keys,
    count: usize,
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let p = context.parameters;
    let keys = p.records("keys").map(|k| Key {
        at: k.float("at"),
        value: k.float("value"),
        slopes: [k.float("in"), k.float("out")],
    });
    let shape = match p.text("interpolation") {
        "step" => Shape::Step,
        "smooth" => Shape::Smooth,
        "cubic_spline" => Shape::CubicSpline,
        _ => Shape::Linear,
    };
    let outside = match p.text("outside") {
        "line" => Outside::Line,
        "repeat" => Outside::Repeat,
        "mirror" => Outside::Mirror,
        _ => Outside::Hold,
    };
    let keys = Keys::new(keys.collect(), shape, outside);
    Ok(Box::new(BoundCurve {
        keys: keys.map_err(|e: KeysError| NodeError::Bind(Box::new(e)))?,
        count: context.value_count("values").unwrap_or(1),
    }))
}

impl BoundNode for BoundCurve {
    fn setup_bytes(&self) -> usize {
        self.keys.bytes()
    }
    fn output_len(&self, _port: &str) -> usize {
        self.count
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let Some(out) = context.outputs.floats("values") else {
            return;
        };
        let time = context.parameters.float("time");
        match context.inputs.floats("values") {
            Some(numbers) => {
                for (to, from) in out.iter_mut().zip(numbers) {
                    *to = self.keys.at(f64::from(*from)) as f32;
                }
            }
            None => out.fill(self.keys.at(time) as f32),
        }
    }
}
