//! Node `debug_lines`: Draws axes, planes, boxes or points of a local frame as lines.

mod device;
mod reference;
#[cfg(test)]
mod tests;

use crate::{
    BindContext, BoundNode, Choice, DefaultValue, DeviceFrame, DeviceFrameData, DeviceNode,
    Example, Line, NodeDesc, NodeDocs, NodeError, NodeKind, ParameterDesc, ParameterType,
    Parameters, Phase, PortDesc, PortType, Role, UpdateContext,
};
use sinew_geom::Affine;

pub use reference::{Shape, draw};

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "debug_lines",
    kind: NodeKind::Driver,
    summary: "Draws axes, planes, boxes or points of a local frame as lines.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "debug_lines",
            graph: include_str!("debug_lines.json"),
            sample: "ball",
            before: "rest",
            frame: 24,
        }]),
    rows: &[64],
    inputs: &[PortDesc::optional(
        "lines",
        PortType::Lines,
        "Lines that come first in the output, before the ones that this node draws.",
    )],
    outputs: &[PortDesc::output(
        "lines",
        PortType::Lines,
        "The lines, in scene space.",
    )],
    parameters: &[
        ParameterDesc::placement(
            "transform",
            crate::Region::Frame,
            "Local frame to draw, in scene space.",
        ),
        ParameterDesc::choice(
            "shape",
            "axes",
            &[
                Choice {
                    name: "axes",
                    doc: "The three axes.",
                },
                Choice {
                    name: "plane",
                    doc: "A square perpendicular to an axis.",
                },
                Choice {
                    name: "box",
                    doc: "The edges of a cube.",
                },
                Choice {
                    name: "points",
                    doc: "A cross at each point.",
                },
            ],
            "Shape to draw.",
        ),
        ParameterDesc::choice(
            "axis",
            "y",
            &[
                Choice {
                    name: "x",
                    doc: "Perpendicular to local x.",
                },
                Choice {
                    name: "y",
                    doc: "Perpendicular to local y.",
                },
                Choice {
                    name: "z",
                    doc: "Perpendicular to local z.",
                },
            ],
            "For shape `plane`: its normal.",
        ),
        ParameterDesc::float(
            "size",
            0.1,
            0.0,
            1e6,
            "Extent from the origin, or from each point, in units of the local frame.",
        )
        .with_unit("m"),
        ParameterDesc::int(
            "divisions",
            1,
            1,
            1024,
            "For shape `plane`: number of cells along each side.",
        ),
        ParameterDesc {
            name: "color",
            ty: ParameterType::Vec4,
            default: DefaultValue::Vec4([1.0, 1.0, 0.0, 1.0]),
            unit: "",
            phase: Phase::Update,
            role: Role::Plain,
            doc: "Colour of planes, boxes and points, in linear RGBA.",
        },
        ParameterDesc {
            name: "points",
            ty: ParameterType::Points,
            default: DefaultValue::Empty,
            unit: "m",
            phase: Phase::Setup,
            role: Role::Plain,
            doc: "For shape `points`: positions in the local frame.",
        },
    ],
    bind,
    restore: None,
};

/// One frame: the segments of a shape.
#[derive(Debug)]
pub struct DebugLinesJob<'a> {
    /// Scene space from the local frame.
    pub transform: Affine<f64>,
    /// Shape to draw.
    pub shape: Shape<'a>,
    /// Half extent of the shape, in local units.
    pub size: f64,
    /// Linear RGBA.
    pub color: [f32; 4],
    /// Segments to write first, for example those of other nodes.
    pub before: &'a [Line],
    /// As long as `before` and the lines of the shape together. Lines that do not fit are left out.
    pub output: &'a mut [Line],
}

impl DebugLinesJob<'_> {
    /// Runs the job.
    pub fn run(self) {
        let count = self.before.len().min(self.output.len());
        let (first, rest) = self.output.split_at_mut(count);
        first.copy_from_slice(&self.before[..count]);
        let mut rest = rest.iter_mut();
        draw(&self.transform, self.shape, self.size, self.color, |line| {
            if let Some(to) = rest.next() {
                *to = line;
            }
        });
    }
}

fn shape<'a>(parameters: &Parameters<'a>) -> Shape<'a> {
    match parameters.text("shape") {
        "plane" => Shape::Plane {
            normal: match parameters.text("axis") {
                "x" => 0,
                "z" => 2,
                _ => 1,
            },
            divisions: u32::try_from(parameters.int("divisions")).unwrap_or(1),
        },
        "box" => Shape::Box,
        "points" => Shape::Points(parameters.points("points")),
        _ => Shape::Axes,
    }
}

fn bind(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let linked = context.line_count("lines").unwrap_or(0);
    Ok(Box::new(Bound {
        count: linked + shape(&context.parameters).line_count(),
    }))
}

#[derive(Debug)]
struct Bound {
    count: usize,
}

impl BoundNode for Bound {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn output_len(&self, _port: &str) -> usize {
        self.count
    }
    fn device(&self, context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(device::node(shape(&context.parameters), self.count))
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        device::write_frame(&frame.parameters, data);
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let Some(output) = context.outputs.lines("lines") else {
            return;
        };
        DebugLinesJob {
            transform: context.parameters.transform("transform"),
            shape: shape(&context.parameters),
            size: context.parameters.float("size"),
            color: context
                .parameters
                .vec4("color")
                .map(sinew_geom::Real::to_single),
            before: context.inputs.lines("lines").unwrap_or_default(),
            output,
        }
        .run();
    }
}
