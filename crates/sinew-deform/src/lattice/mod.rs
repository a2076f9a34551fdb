//! Node `lattice`: free-form deformation by a box of control points.
//!
//! See the page `README.md` beside this file.

mod basis;
mod bind;
mod cage;
mod device;
mod job;
mod local;
mod reference;
mod simd;
mod tensor;
#[cfg(test)]
mod tests;

use crate::{
    BindContext, BoundNode, Choice, DefaultValue, DeviceFrame, DeviceFrameData, DeviceNode,
    MASK_PORT, MaskWeight, MeshEffect, NodeDesc, NodeError, NodeKind, ParameterDesc, ParameterType,
    ParameterValue, Phase, PortDesc, PortType, UpdateContext,
};
use std::any::Any;

pub use bind::{
    Border, BoxOrigin, Interpolation, LatticeBind, LatticeBindError, LatticeConfig, MAX_POINTS,
    Outside,
};
pub use cage::{draw_cage, rest_points};
pub use job::{LatticeJob, LatticeScratch};
pub use reference::Displacement;

const fn word(name: &'static str, doc: &'static str) -> Choice {
    Choice { name, doc }
}

const INTERPOLATIONS: &[Choice] = &[
    word(
        "bernstein",
        "Bernstein polynomials over the whole box (Sederberg and Parry).",
    ),
    word(
        "local_bspline",
        "B-splines of degree `influence` - 1: each point acts nearby only.",
    ),
    word("linear", "Trilinear (Blender)."),
    word(
        "cardinal",
        "Cardinal spline of tension 0.71 (Blender); affine moves of the points are not reproduced.",
    ),
    word(
        "catmull_rom",
        "Cardinal spline of tension 0.5 (Blender): passes through the points.",
    ),
    word("bspline", "Cubic B-spline (Blender's default)."),
    word(
        "cell_eased",
        "Linear along each component's own axis, smoothstep across it.",
    ),
];

const OUTSIDES: &[Choice] = &[
    word(
        "none",
        "Vertices outside stay where they are; a tear where border points moved.",
    ),
    word(
        "clamp",
        "They move like the nearest point of the box; a crease at its faces.",
    ),
    word(
        "falloff",
        "Extrapolated, faded out smoothly within `falloff_distance`; no crease.",
    ),
    word(
        "extrapolate",
        "The basis of each axis continues linearly; no crease.",
    ),
    word(
        "natural",
        "The interpolation's own formula: constant after some cells for Blender's four with a clamped border, \
          rest within one cell for `cell_eased`, otherwise `extrapolate`.",
    ),
];

const SIZE: ParameterDesc = ParameterDesc {
    name: "size",
    ty: ParameterType::Vec3,
    default: DefaultValue::Vec3([1.0; 3]),
    unit: "m",
    phase: Phase::Setup,
    count_is: None,
    doc: "Edge lengths of the box before `rest_transform`; each above zero.",
};

const RESOLUTION: ParameterDesc = ParameterDesc {
    name: "resolution",
    ty: ParameterType::Int3 { min: 0, max: 256 },
    default: DefaultValue::Int3([4; 3]),
    unit: "",
    phase: Phase::Setup,
    count_is: None,
    doc: "Control points along each axis. One point holds its whole axis; 0 switches the lattice off.",
};

const INFLUENCE: ParameterDesc = ParameterDesc {
    name: "influence",
    ty: ParameterType::Int3 { min: 2, max: 30 },
    default: DefaultValue::Int3([2; 3]),
    unit: "",
    phase: Phase::Setup,
    count_is: None,
    doc: "For `local_bspline`: control points that act on a vertex, per axis; 2 is trilinear. No more than the axis has.",
};

const POINTS: ParameterDesc = ParameterDesc {
    name: "points",
    ty: ParameterType::Points,
    default: DefaultValue::Empty,
    unit: "m",
    phase: Phase::Update,
    count_is: Some("resolution"),
    doc: "Control points, x fastest, then y, then z; their count is the product of `resolution`. Empty: at rest.",
};

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "lattice",
    kind: NodeKind::Deformer,
    summary: "Bends a mesh with a box of control points (free-form deformation).",
    page: include_str!("README.md"),
    rows: &[
        38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54,
    ],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Mesh to bend."),
        MASK_PORT,
    ],
    outputs: &[
        PortDesc::mesh_output(MeshEffect::MOVES_FRAMES, "The bent mesh."),
        PortDesc::output("cage", PortType::Lines, "Edges of the moved lattice."),
    ],
    parameters: &[
        ParameterDesc::choice(
            "interpolation",
            "bernstein",
            INTERPOLATIONS,
            "How displacements are interpolated between control points.",
        ),
        RESOLUTION,
        ParameterDesc::transform(
            "rest_transform",
            "Where the unmoved box is, scene space; scale and shear allowed. While it flattens the box, the mesh stays as it is.",
        ),
        SIZE,
        ParameterDesc::choice(
            "origin",
            "center",
            &[
                word("center", "The box reaches from -size/2 to size/2."),
                word("corner", "The box reaches from 0 to size."),
            ],
            "Where the box lies about the origin of `rest_transform`.",
        ),
        POINTS,
        ParameterDesc::choice(
            "points_space",
            "local",
            &[
                word("local", "The space of `rest_transform`, before it."),
                word("world", "Scene space."),
            ],
            "Space of `points`.",
        ),
        ParameterDesc::choice(
            "points_are",
            "positions",
            &[
                word("positions", "Where the control points are."),
                word("offsets", "How far they moved from rest."),
            ],
            "What `points` holds.",
        ),
        INFLUENCE,
        ParameterDesc::choice(
            "border",
            "extrapolate",
            &[
                word(
                    "clamp",
                    "The border point again: Blender's numbers; near the border affine moves shrink.",
                ),
                word(
                    "extrapolate",
                    "The line through the two outermost points: affine moves are exact up to the border.",
                ),
            ],
            "What stands in for points beyond the border rows (local interpolations).",
        ),
        ParameterDesc::choice(
            "outside",
            "falloff",
            OUTSIDES,
            "What happens to vertices outside the box.",
        ),
        ParameterDesc::float(
            "falloff_distance",
            0.25,
            0.0,
            1e6,
            "For `falloff`: distance from the box at which vertices are untouched.",
        )
        .with_unit("m"),
        ParameterDesc::choice(
            "bind_to",
            "current",
            &[
                word("current", "Incoming positions of each frame."),
                word(
                    "rest",
                    "The mesh at rest: the lattice sticks to the mesh while it moves.",
                ),
            ],
            "Which positions say where in the box a vertex is. With `rest`, `rest_transform` is read once for that.",
        ),
        MaskWeight::WEIGHT,
        MaskWeight::INVERT,
    ],
    bind,
    restore: None,
};

fn bind(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    Ok(Box::new(Bound(bind::bind_node(context)?)))
}

#[derive(Debug)]
struct Bound(LatticeBind);

impl BoundNode for Bound {
    fn setup_bytes(&self) -> usize {
        self.0
            .rest_stu
            .as_ref()
            .map_or(0, |s| size_of_val(s.as_slice()))
    }
    fn output_len(&self, port: &str) -> usize {
        if port == "cage" {
            self.0.edge_count()
        } else {
            0
        }
    }
    fn check_value(&self, parameter: &str, value: &ParameterValue) -> Result<(), NodeError> {
        match (parameter, value) {
            ("points", ParameterValue::Points(points)) => {
                let checked = self.0.check_points(points);
                checked.map_err(|e| NodeError::Bind(Box::new(e)))
            }
            _ => Ok(()),
        }
    }
    fn new_scratch(&self) -> Box<dyn Any + Send> {
        Box::new(LatticeScratch::new(&self.0))
    }
    fn scratch_bytes(&self) -> usize {
        LatticeScratch::bytes(&self.0)
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(device::node(&self.0))
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        device::write_frame(&self.0, frame, data);
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let box_transform = context.parameters.transform("rest_transform");
        let points = context.parameters.points("points");
        if let Some(lines) = context.outputs.lines("cage") {
            draw_cage(&self.0, &box_transform, points, lines);
        }
        let weight = MaskWeight::from_context(&context);
        let input = context.inputs.mesh("mesh");
        let output = context.outputs.mesh("mesh");
        let Some(scratch) = context.scratch.downcast_mut::<LatticeScratch>() else {
            debug_assert!(false, "scratch of another node");
            return;
        };
        LatticeJob {
            bind: &self.0,
            box_transform,
            points,
            falloff_distance: context.parameters.float("falloff_distance"),
            scratch,
            weight,
            input,
            output,
            par: context.par,
        }
        .run();
    }
}
