//! Node `lattice`: free-form deformation by a box of control points.
//!
//! Sederberg and Parry, *Free-Form Deformation of Solid Geometric Models*, SIGGRAPH 1986. A vertex gets the sum of the displacements of the
//! control points, weighted by the products of one basis function per axis at its position in the box. Formulas and differences:
//! `README.md` beside this file.
//!
//! | file | content |
//! |---|---|
//! | `bind.rs`, `basis.rs` | rules of each axis; basis functions and their derivatives |
//! | `cage.rs` | control points of a frame, and their drawing |
//! | `cage_mesh.rs` | control points that follow a mesh |
//! | `reference.rs` | one vertex, in any precision |
//! | `simd.rs`, `tensor.rs` | kernels in which all control points act on each vertex |
//! | `local.rs` | kernel for control points that act nearby only |

mod basis;
mod bind;
mod cage;
mod cage_mesh;
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
    Example, MASK_PORT, MaskWeight, MeshEffect, NodeDesc, NodeDocs, NodeError, NodeKind,
    NodeScratch, ParameterDesc, ParameterType, ParameterValue, Phase, PortDesc, PortType, Role,
    UpdateContext,
};

pub use bind::LatticeBindError;
#[cfg(test)]
pub(crate) use bind::{Border, BoxOrigin};
pub use bind::{Interpolation, LatticeBind, LatticeConfig, Outside};
pub(crate) use cage::draw_cage;
pub use cage::rest_points;
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
        "B-splines of degree `influence` - 1: each control point acts nearby only.",
    ),
    word("linear", "Trilinear (Blender)."),
    word(
        "cardinal",
        "Cardinal spline of tension 0.71 (Blender). Does not reproduce affine moves of the control points.",
    ),
    word(
        "catmull_rom",
        "Cardinal spline of tension 0.5 (Blender): passes through the control points.",
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
        "Vertices outside do not move. The mesh tears where border points have moved.",
    ),
    word(
        "clamp",
        "Vertices outside move like the nearest point of the box. Leaves a crease at its faces.",
    ),
    word(
        "falloff",
        "As `extrapolate`, and fades out smoothly within `falloff_distance`. No crease.",
    ),
    word(
        "extrapolate",
        "The basis of each axis continues linearly. No crease.",
    ),
    word(
        "natural",
        "The formula of the interpolation: as in Blender with a clamped border, back to rest within one cell for \
          `cell_eased`, otherwise as `extrapolate`.",
    ),
];

const SIZE: ParameterDesc = ParameterDesc {
    name: "size",
    ty: ParameterType::Vec3,
    default: DefaultValue::Vec3([1.0; 3]),
    unit: "m",
    phase: Phase::Setup,
    role: Role::Plain,
    doc: "Edge lengths of the box before `rest_transform`. Each must be above 0. A linked `cage` replaces size and origin.",
};

const RESOLUTION: ParameterDesc = ParameterDesc {
    name: "resolution",
    ty: ParameterType::Int3 { min: 0, max: 256 },
    default: DefaultValue::Int3([4; 3]),
    unit: "",
    phase: Phase::Setup,
    role: Role::Plain,
    doc: "Number of control points along each axis. A single point acts on the whole axis; 0 switches the lattice off.",
};

const INFLUENCE: ParameterDesc = ParameterDesc {
    name: "influence",
    ty: ParameterType::Int3 { min: 2, max: 30 },
    default: DefaultValue::Int3([2; 3]),
    unit: "",
    phase: Phase::Setup,
    role: Role::Plain,
    doc: "For `local_bspline`: control points per axis that act on a vertex. 2 is trilinear. At most as many as the axis has.",
};

const POINTS: ParameterDesc = ParameterDesc {
    name: "points",
    ty: ParameterType::Points,
    default: DefaultValue::Empty,
    unit: "m",
    phase: Phase::Update,
    role: Role::PointsOf("resolution"),
    doc: "Control points: x fastest, then y, then z. Their number is the product of `resolution`. Empty means at rest.",
};

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "lattice",
    kind: NodeKind::Deformer,
    summary: "Deforms a mesh with a box of control points (free-form deformation).",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "lattice",
            graph: include_str!("lattice.json"),
            sample: "ball",
            before: "rest",
            frame: 24,
        }]),
    rows: &[
        38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54,
    ],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Mesh to deform."),
        MASK_PORT,
        PortDesc::optional(
            "cage",
            PortType::Mesh,
            "Mesh whose vertices are the control points. The box is its bounding box at rest.",
        ),
    ],
    outputs: &[
        PortDesc::mesh_output(MeshEffect::MOVES_FRAMES, "The deformed mesh."),
        PortDesc::output(
            "cage",
            PortType::Lines,
            "Edges of the deformed lattice, as lines.",
        ),
    ],
    parameters: &[
        ParameterDesc::choice(
            "interpolation",
            "bernstein",
            INTERPOLATIONS,
            "How displacements are interpolated between control points.",
        ),
        RESOLUTION,
        ParameterDesc::placement(
            "rest_transform",
            crate::Region::SizedBox,
            "Transform of the box at rest, in scene space. Scale and shear are allowed. A flat box leaves the mesh unchanged.",
        ),
        SIZE,
        ParameterDesc::choice(
            "origin",
            "center",
            &[
                word("center", "The box reaches from -size/2 to size/2."),
                word("corner", "The box reaches from 0 to size."),
            ],
            "Position of the box relative to the origin of `rest_transform`.",
        ),
        POINTS,
        ParameterDesc::choice(
            "points_space",
            "local",
            &[
                word(
                    "local",
                    "The local space of the box, before `rest_transform`. A `cage` stands in the bind pose, and the box carries it along.",
                ),
                word(
                    "world",
                    "Scene space. A `cage` is where it is, for example skinned with the mesh.",
                ),
            ],
            "Space of `points` or of the `cage`.",
        ),
        ParameterDesc::choice(
            "points_are",
            "positions",
            &[
                word("positions", "Positions of the control points."),
                word("offsets", "Offsets of the control points from rest."),
            ],
            "Meaning of `points`.",
        ),
        INFLUENCE,
        ParameterDesc::choice(
            "border",
            "extrapolate",
            &[
                word(
                    "clamp",
                    "Repeats the border point, as Blender does. Affine moves shrink near the border.",
                ),
                word(
                    "extrapolate",
                    "Continues the line through the two outermost points. Affine moves are exact up to the border.",
                ),
            ],
            "For interpolations other than `bernstein` and `cell_eased`: control points beyond the border.",
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
            "For `falloff`: distance from the box beyond which vertices do not move.",
        )
        .with_unit("m"),
        ParameterDesc::choice(
            "bind_to",
            "current",
            &[
                word("current", "Incoming positions of each frame."),
                word(
                    "rest",
                    "Rest positions: the lattice sticks to the moving mesh.",
                ),
            ],
            "Positions that are looked up in the box. With `rest`, the look-up uses `rest_transform` as it was in setup.",
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
        let rest = self.0.rest_stu.as_deref().map_or(0, size_of_val);
        let cage = self.0.cage.as_ref().map_or(0, |c| {
            size_of_val(&c.offsets[..]) + size_of_val(&c.entries[..]) + size_of_val(&c.rest[..])
        });
        rest + cage
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
    fn new_scratch(&self) -> Box<NodeScratch> {
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
        let given = context.parameters.points("points");
        let lines = context.outputs.lines("cage");
        let weight = MaskWeight::from_context(&context);
        let input = context.inputs.mesh("mesh");
        let output = context.outputs.mesh("mesh");
        let Some(scratch) = context.scratch.downcast_mut::<LatticeScratch>() else {
            debug_assert!(false, "scratch of another node");
            return;
        };
        // Taken out of the scratch while the job has it.
        let mut followed = std::mem::take(&mut scratch.points);
        let points = match &self.0.cage {
            Some(cage) => {
                let positions = context.inputs.mesh("cage").positions;
                cage.displacements(&box_transform, positions, &mut followed);
                &followed
            }
            None => given,
        };
        if let Some(lines) = lines {
            draw_cage(&self.0, &box_transform, points, lines);
        }
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
        scratch.points = followed;
    }
}
