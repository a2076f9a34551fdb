//! The node `sdf`: [`FieldBuffers`] for the mesh at its port, and the field as words.

use super::device;
use super::settings::{Axis, FieldBox, Resolution, SdfError, SdfSettings, SignMethod, Storage};
use super::words::{grid_words, move_words, write_grid};
use super::{FieldBuffers, FieldFrame, FieldReach, SdfBind};
use crate::follow::{FOLLOW, Follow};
use crate::{
    BindContext, BoundNode, Choice, DeviceFrame, DeviceFrameData, DeviceNode, Inputs, NodeDesc,
    NodeDocs, NodeError, NodeKind, NodeScratch, ParameterDesc, Parameters, PortDesc, PortType,
    UpdateContext,
};
use sinew_geom::Mesh;

/// The node `sdf`.
pub static DESC: NodeDesc = NodeDesc {
    name: "sdf",
    kind: NodeKind::Field,
    summary: "Signed distance field of a mesh, on a sparse grid that follows the mesh.",
    docs: NodeDocs::page(include_str!("README.md")).pictures(include_str!("pictures.txt")),
    rows: &[67, 69, 73, 74, 75, 76, 77, 80, 81, 83, 86],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Triangle mesh, skinned or not."),
        PortDesc::optional("pose", PortType::Pose, "Pose of the rig that has the joint named in `follow`."),
    ],
    outputs: &[PortDesc::output(
        "field",
        PortType::Field,
        "Signed distances, positive outside.",
    )],
    parameters: &[
        ParameterDesc::int(
            "cells",
            64,
            1,
            4096,
            "Number of cells along `axis` of the rest mesh. The grid adds `padding` cells on each side.",
        ),
        ParameterDesc::choice(
            "axis",
            "longest",
            &[
                Choice { name: "x", doc: "The first axis." },
                Choice { name: "y", doc: "The second axis." },
                Choice { name: "z", doc: "The third axis." },
                Choice { name: "longest", doc: "The axis along which the rest mesh is longest." },
            ],
            "Axis along which `cells` is counted.",
        ),
        ParameterDesc::float(
            "cell_size",
            0.0,
            0.0,
            1e9,
            "Edge length of a cell. 0 derives it from `cells`.",
        )
        .with_unit("m")
        .in_setup(),
        ParameterDesc::choice(
            "box",
            "tight",
            &[
                Choice { name: "tight", doc: "Around the mesh of the current frame." },
                Choice { name: "rest", doc: "Around the rest mesh, in all frames." },
            ],
            "Bounding box of the grid. It moves with the joint `follow`.",
        ),
        ParameterDesc::float("padding", 4.0, 0.0, 1e4, "Number of cells between the bounding box and the edge of the grid.")
            .in_setup(),
        ParameterDesc::float(
            "band",
            3.0,
            1.0,
            1e4,
            "Within this many cells of the surface, distances are exact at all grid nodes. Farther away, they are exact at every seventh node along each axis.",
        )
        .in_setup(),
        ParameterDesc::choice(
            "sign",
            "automatic",
            &[
                Choice {
                    name: "automatic",
                    doc: "Winding numbers if several joints move the mesh, because it folds into itself. Otherwise pseudonormals.",
                },
                Choice {
                    name: "pseudonormals",
                    doc: "Side of the nearest face, edge or vertex. For closed meshes that do not intersect themselves.",
                },
                Choice {
                    name: "winding_number",
                    doc: "How often the mesh winds around a point. For open, self-intersecting and self-touching meshes.",
                },
            ],
            "How inside and outside are told apart.",
        ),
        ParameterDesc::choice(
            "storage",
            "single",
            &[
                Choice { name: "single", doc: "32 bits per distance." },
                Choice { name: "half", doc: "16 bits per distance: within 0.001 cells at a distance of 3 cells." },
            ],
            "How distances are stored.",
        ),
        FOLLOW,
    ],
    bind: bind_node,
    restore: None,
};

/// Whether more than one joint moves the mesh.
fn is_articulated(mesh: &Mesh) -> bool {
    mesh.influences.as_ref().is_some_and(|i| {
        let weighted = i
            .joints()
            .iter()
            .zip(i.weights())
            .filter(|(_, w)| **w > 0.0);
        let mut joints = weighted.map(|(joint, _)| joint);
        let first = joints.next();
        joints.any(|j| Some(j) != first)
    })
}

fn settings(p: &Parameters<'_>, mesh: &Mesh) -> SdfSettings {
    let cell_size = p.single("cell_size");
    let along = match p.text("axis") {
        "x" => Axis::X,
        "y" => Axis::Y,
        "z" => Axis::Z,
        _ => Axis::Longest,
    };
    let count = u32::try_from(p.int("cells")).unwrap_or(1);
    let bounds = sinew_geom::bounds(&mesh.positions).unwrap_or_default();
    SdfSettings {
        resolution: match cell_size > 0.0 {
            true => Resolution::CellSize(cell_size),
            false => Resolution::Cells { count, along },
        },
        field_box: match p.text("box") {
            "rest" => FieldBox::Fixed {
                low: bounds.0,
                high: bounds.1,
            },
            _ => FieldBox::Tight,
        },
        padding_cells: p.single("padding"),
        band_cells: p.single("band"),
        sign: match p.text("sign") {
            "winding_number" => SignMethod::WindingNumber,
            "automatic" if is_articulated(mesh) => SignMethod::WindingNumber,
            _ => SignMethod::Pseudonormals,
        },
        storage: match p.text("storage") {
            "half" => Storage::Half,
            _ => Storage::Single,
        },
        ..SdfSettings::default()
    }
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let mesh = context.mesh("mesh")?;
    let follow = Follow::bind(context)?;
    let settings = settings(&context.parameters, mesh);
    let bind = SdfBind::new_watched(
        &mesh.topology,
        &mesh.positions,
        &FieldFrame::default(),
        settings,
        context.par,
        &context.watch,
    );
    let bind = bind.map_err(|source| match source {
        SdfError::EmptyMesh => NodeError::Input {
            port: "mesh",
            message: "the mesh has no triangles, which a distance field needs".into(),
        },
        SdfError::Stopped(stopped) => stopped.into(),
        other => NodeError::Bind(Box::new(other)),
    })?;
    let report = bind.report();
    if report.doubled_triangles > 0 {
        context.warn(
            "every triangle exists twice, facing both ways (a double-sided export); the node uses the first of each pair",
        );
    }
    if report.is_turned {
        context.warn(
            "the mesh is inside out: it encloses a negative volume; the node flips its triangles. \
             To remove this warning, flip the faces in the authoring tool",
        );
    }
    if settings.sign == SignMethod::Pseudonormals && !report.is_closed() {
        context.warn(
            "the mesh is not closed: near its holes, inside and outside are only a guess; \
             for meshes with holes set `\"sign\": \"winding_number\"`",
        );
    }
    let scratch_bytes = FieldBuffers::new(&bind).bytes() + 12 * bind.vertex_count();
    Ok(Box::new(Sdf {
        bind,
        follow,
        scratch_bytes,
    }))
}

#[derive(Debug)]
struct Sdf {
    bind: SdfBind,
    follow: Follow,
    scratch_bytes: usize,
}

/// A vertex that moved less than this many cells since the field was built has not moved.
const STILL: f32 = 1e-3;

#[derive(Debug)]
struct Scratch {
    buffers: FieldBuffers,
    /// Where vertices were when the field was built, in the field's frame; none before.
    built_for: Vec<[f32; 3]>,
    is_built: bool,
    /// Where bricks got values.
    reach: FieldReach,
}

impl Scratch {
    /// Whether a vertex moved since the field was built.
    fn has_moved(&self, positions: &[[f32; 3]], frame: &FieldFrame, still: f32) -> bool {
        !self.is_built
            || self.built_for.iter().zip(positions).any(|(old, now)| {
                let now = frame.point_from_scene(*now);
                // Also where a number is none.
                !(0..3).all(|c| (old[c] - now[c]).abs() <= still)
            })
    }

    /// Notes what the field is built for.
    fn note(&mut self, positions: &[[f32; 3]], frame: &FieldFrame) {
        for (old, now) in self.built_for.iter_mut().zip(positions) {
            *old = frame.point_from_scene(*now);
        }
        self.is_built = true;
    }
}

impl Sdf {
    fn is_half(&self) -> bool {
        self.bind.settings().storage == Storage::Half
    }
}

impl BoundNode for Sdf {
    fn setup_bytes(&self) -> usize {
        self.bind.bytes()
    }
    fn output_len(&self, _port: &str) -> usize {
        let (entries, slots) = (self.bind.table_capacity(), self.bind.brick_capacity());
        grid_words(entries, slots, self.is_half())
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(Scratch {
            buffers: FieldBuffers::new(&self.bind),
            built_for: vec![[0.0; 3]; self.bind.vertex_count()],
            is_built: false,
            reach: FieldReach::EVERYWHERE,
        })
    }
    fn scratch_bytes(&self) -> usize {
        self.scratch_bytes
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(device::node(&self.bind, STILL * self.bind.cell()))
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        device::write_frame(&self.follow.carried(&frame.inputs), frame, data);
    }
    fn field_frame(&self, inputs: &Inputs<'_>) -> FieldFrame {
        self.follow.carried(inputs).field_frame()
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let frame = self.follow.carried(&context.inputs).field_frame();
        let positions = context.inputs.mesh("mesh").positions;
        let (Some(scratch), Some(words)) = (
            context.scratch.downcast_mut::<Scratch>(),
            context.outputs.field("field"),
        ) else {
            return;
        };
        if context.is_first {
            scratch.is_built = false;
        }
        let reach = context.reach.unwrap_or(FieldReach::EVERYWHERE);
        let has_moved = scratch.has_moved(positions, &frame, STILL * self.bind.cell());
        if !has_moved && scratch.reach.holds(&reach) {
            move_words(words, &frame);
            return;
        }
        let report = if has_moved {
            scratch.note(positions, &frame);
            scratch.reach = reach;
            let buffers = &mut scratch.buffers;
            buffers.build_within(&self.bind, positions, &frame, &reach, context.par)
        } else {
            // All bricks at once: those of a mesh that stands still are built a second time at most.
            scratch.reach = FieldReach::EVERYWHERE;
            let buffers = &mut scratch.buffers;
            buffers.build_bricks_again(&self.bind, &frame, &scratch.reach, context.par)
        };
        let slots = report.bricks_wanted - report.bricks_left_out;
        write_grid(words, &scratch.buffers.view(), slots);
    }
}
