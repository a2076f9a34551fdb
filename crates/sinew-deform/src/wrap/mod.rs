//! Node `wrap`: the surface or the points of one mesh move the vertices of another.
//!
//! Modes `surface`, `triangle` and `smooth`: setup finds, for each vertex, one or several closest points on the rest surface of the driver
//! (`bind.rs`, over the box tree of `bvh.rs`), and stores the inverse of the local frame there. Each frame rebuilds these frames on the
//! moved driver and carries the vertices with them.
//!
//! Modes `points`, `rbf` and `cage`: setup computes how much each vertex moves with points of the driver (`points.rs`, with `nearest.rs`,
//! `rbf.rs` and `cage.rs`), and each frame sums up their displacements. The page of the node has the formulas.

mod bind;
mod bvh;
mod cage;
mod device;
mod nearest;
mod points;
mod points_simd;
mod rbf;
mod reference;
mod simd;
#[cfg(test)]
mod tests;

use crate::tangent_frames::{TangentFramesJob, TangentFramesScratch};
use crate::{
    BindContext, BoundNode, Choice, DeviceFrame, DeviceFrameData, DeviceNode, Example, MASK_PORT,
    MaskWeight, MeshEffect, MeshView, MeshViewMut, NodeDesc, NodeDocs, NodeError, NodeKind,
    NodeScratch, Par, ParameterDesc, Parameters, PortDesc, PortType, Restore, UpdateContext,
    for_each_chunk,
};
use reference::Frame;
use serde::{Deserialize, Serialize};
use sinew_geom::Real;
use std::ops::Range;

pub use bind::WrapError;
pub use bind::{Binding, WrapBind};
pub(crate) use bvh::Bvh;
pub use bvh::Hit;
#[cfg(test)]
pub(crate) use bvh::closest_point;
pub use reference::{carry, local_frame};

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "wrap",
    kind: NodeKind::Deformer,
    summary: "The surface or the points of one mesh move the vertices of another.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[
            Example {
                name: "wrap",
                graph: include_str!("wrap.json"),
                sample: "arm",
                before: "linear",
                frame: 54,
            },
        ]),
    rows: &[],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Mesh to move."),
        PortDesc::input(
            "driver",
            PortType::Mesh,
            "Mesh whose surface or points move the vertices. They are bound to its authored rest shape.",
        ),
        MASK_PORT,
    ],
    outputs: &[PortDesc::mesh_output(
        MeshEffect::MOVES_FRAMES,
        "The moved mesh.",
    )],
    parameters: &[
        ParameterDesc::choice(
            "mode",
            "surface",
            MODES,
            "What each vertex is attached to.",
        ),
        ParameterDesc::float(
            "max_distance",
            0.0,
            0.0,
            f64::MAX,
            "Vertices farther than this from the driver at rest do not move. 0 means no limit. For `points` and `rbf`, from its nearest point.",
        )
        .with_unit("m")
        .in_setup(),
        ParameterDesc::float(
            "falloff",
            0.0,
            0.0,
            f64::MAX,
            "Width of the band inside `max_distance` over which the effect fades out.",
        )
        .with_unit("m")
        .in_setup(),
        ParameterDesc::int(
            "neighbours",
            8,
            1,
            256,
            "For modes `smooth` and `points`: number of triangles or points that move a vertex.",
        ),
        ParameterDesc::float(
            "radius",
            0.0,
            0.0,
            f64::MAX,
            "For mode `smooth`: distance at which the weight of a triangle has fallen to 1/e. 0 uses the mean edge length of the driver.",
        )
        .with_unit("m")
        .in_setup(),
        ParameterDesc::bool(
            "reject_opposing",
            false,
            "For modes `surface`, `triangle` and `smooth`: ignores driver triangles that face away from the vertex's rest normal. Useful at lips and eyelids.",
        ),
        MaskWeight::WEIGHT,
        MaskWeight::INVERT,
    ],
    bind,
    restore: Some(Restore {
        version: 3,
        restore,
    }),
};

const MODES: &[Choice] = &[
    Choice {
        name: "surface",
        doc: "One point of the smooth surface, with an offset along the interpolated normal. Continuous.",
    },
    Choice {
        name: "triangle",
        doc: "The rigid frame of the closest triangle.",
    },
    Choice {
        name: "smooth",
        doc: "A weighted blend of the frames of the closest triangles.",
    },
    Choice {
        name: "points",
        doc: "The nearest points of the driver, with their rotation and scale (moving least squares). The driver needs no triangles.",
    },
    Choice {
        name: "rbf",
        doc: "All points of the driver, by smooth interpolation (radial basis functions). At most 1024 points.",
    },
    Choice {
        name: "cage",
        doc: "All points of a closed driver around the mesh (mean value coordinates). At most 4096 points.",
    },
];

/// What a point is bound to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WrapMode {
    /// One point of the surface, with an offset along the interpolated vertex normal.
    #[default]
    Surface,
    /// The rigid frame of one triangle.
    Triangle,
    /// A weighted blend of the frames of several triangles.
    Smooth,
    /// The nearest points, by moving least squares with similarities.
    Points,
    /// All points, by triharmonic radial basis functions with a linear term.
    Rbf,
    /// All points of a closed mesh, by mean value coordinates.
    Cage,
}

impl WrapMode {
    /// Whether points of the driver move the vertices, and not its triangles.
    fn has_points(self) -> bool {
        matches!(self, Self::Points | Self::Rbf | Self::Cage)
    }
}

/// Settings of setup.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrapConfig {
    /// What a point is bound to.
    pub mode: WrapMode,
    /// Points farther from the driver do not move, metres; 0 means no limit.
    pub max_distance: f32,
    /// Width of the band inside `max_distance` in which the effect fades, metres.
    pub falloff: f32,
    /// For [`WrapMode::Smooth`] and [`WrapMode::Points`]: triangles or points per vertex.
    pub neighbours: usize,
    /// For [`WrapMode::Smooth`]: distance at which the weight is 1/e, metres; 0 takes the mean edge length of the driver.
    pub radius: f32,
    /// For modes with triangles: whether to ignore those that face away from the vertex's rest normal.
    pub reject_opposing: bool,
}

impl Default for WrapConfig {
    fn default() -> Self {
        Self {
            mode: WrapMode::Surface,
            max_distance: 0.0,
            falloff: 0.0,
            neighbours: 8,
            radius: 0.0,
            reject_opposing: false,
        }
    }
}

impl WrapConfig {
    /// Strength, 0 to 1, of a point at that distance in metres from the driver. `None` means that nothing is near, and gives 0.
    pub fn strength(&self, distance: Option<f64>) -> f32 {
        let Some(distance) = distance else {
            return 0.0;
        };
        let (limit, band) = (f64::from(self.max_distance), f64::from(self.falloff));
        if limit <= 0.0 || band <= 0.0 {
            return 1.0;
        }
        let t = ((limit - distance) / band).clamp(0.0, 1.0);
        (t * t * (3.0 - 2.0 * t)).to_single()
    }
}

/// Working memory of one instance: what a frame computes of the driver first.
#[derive(Debug)]
pub struct WrapScratch {
    /// Vertex normals, in [`WrapMode::Surface`].
    normals: Vec<[f32; 3]>,
    /// Displacements of all vertices, in modes with points.
    displacements: Vec<[f32; 3]>,
    frames: Option<TangentFramesScratch>,
}

impl WrapBind {
    /// Scratch of one instance. Allocates.
    pub fn new_scratch(&self) -> WrapScratch {
        WrapScratch {
            normals: self
                .normals
                .as_ref()
                .map_or_else(Vec::new, |n| vec![[0.0; 3]; n.vertex_count()]),
            displacements: self
                .points
                .as_ref()
                .map_or_else(Vec::new, |p| vec![[0.0; 3]; p.rest.len()]),
            frames: self.normals.as_ref().map(|n| n.new_scratch()),
        }
    }
}

/// One frame of wrapping, in scene space.
#[derive(Debug)]
pub struct WrapJob<'a> {
    /// From setup with the two meshes.
    pub bind: &'a WrapBind,
    /// Strength for each vertex.
    pub weight: MaskWeight<'a>,
    /// Mesh to move.
    pub input: MeshView<'a>,
    /// Current positions of the driver, one per vertex.
    pub driver: &'a [[f32; 3]],
    /// Attributes to write, each with the length of the input.
    pub output: MeshViewMut<'a>,
    /// From [`WrapBind::new_scratch`] of the same bind.
    pub scratch: &'a mut WrapScratch,
    /// Threads.
    pub par: Par,
}

impl WrapJob<'_> {
    /// Runs the job. Attributes that the input lacks are not written. If the lengths of input or driver do not fit the bind, nothing is
    /// written.
    ///
    /// # Cost
    /// O(bindings), and in [`WrapMode::Surface`] the vertex normals of the driver. O(vertices × points) in [`WrapMode::Rbf`] and
    /// [`WrapMode::Cage`]. It does not allocate. The result is the same bits for
    /// any [`Par`].
    pub fn run(self) {
        let Self {
            bind,
            weight,
            input,
            driver,
            output,
            scratch,
            par,
        } = self;
        let n = bind.vertex_count();
        if input.positions.len() != n || driver.len() != bind.driver.vertex_count() {
            return;
        }
        if let (Some(normals), Some(frames)) = (&bind.normals, &mut scratch.frames) {
            TangentFramesJob {
                bind: normals,
                positions: driver,
                normals: Some(&mut scratch.normals),
                tangents: None,
                scratch: frames,
                par,
            }
            .run();
        }
        if let Some(points) = &bind.points {
            let moved = scratch.displacements.iter_mut().zip(&points.rest);
            for ((d, rest), now) in moved.zip(driver) {
                *d = [0, 1, 2].map(|c| now[c] - rest[c]);
            }
        }
        let frame = Frame {
            bind,
            weight,
            input,
            driver,
            normals: &scratch.normals,
            displacements: &scratch.displacements,
        };
        let outputs = (output.positions, output.normals, output.tangents);
        let frames = outputs.1.is_some() || outputs.2.is_some();
        for_each_chunk(par, n, 1024, outputs, &|range, out| {
            run_chunk(&frame, frames, range, out);
        });
    }
}

/// Moves the vertices of `range`; `frames` says whether normals or tangents are wanted.
fn run_chunk(frame: &Frame<'_>, frames: bool, range: Range<usize>, out: Out<'_>) {
    if let Some(points) = &frame.bind.points {
        return dispatch!(simd => points_simd::run(simd, frame, points, frames, range, out));
    }
    dispatch!(simd => if frames {
        simd::run::<_, true>(simd, frame, range, out);
    } else {
        simd::run::<_, false>(simd, frame, range, out);
    });
}

/// What a chunk writes.
type Out<'a> = (
    Option<&'a mut [[f32; 3]]>,
    Option<&'a mut [[f32; 3]]>,
    Option<&'a mut [[f32; 4]]>,
);

fn config(parameters: &Parameters<'_>) -> WrapConfig {
    WrapConfig {
        mode: match parameters.text("mode") {
            "triangle" => WrapMode::Triangle,
            "smooth" => WrapMode::Smooth,
            "points" => WrapMode::Points,
            "rbf" => WrapMode::Rbf,
            "cage" => WrapMode::Cage,
            _ => WrapMode::Surface,
        },
        max_distance: parameters.single("max_distance"),
        falloff: parameters.single("falloff"),
        neighbours: usize::try_from(parameters.int("neighbours")).unwrap_or(1),
        radius: parameters.single("radius"),
        reject_opposing: parameters.bool("reject_opposing"),
    }
}

fn bind(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let (mesh, driver) = (context.mesh("mesh")?, context.mesh("driver")?);
    let config = config(&context.parameters);
    let bind = WrapBind::new_watched(mesh, driver, config, context.par, &context.watch)?;
    Ok(Box::new(Bound { bind }))
}

fn restore(bytes: &[u8], context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let (mesh, driver) = (context.mesh("mesh")?, context.mesh("driver")?);
    let saved: WrapBind =
        postcard::from_bytes(bytes).map_err(|e| NodeError::Restore(e.to_string()))?;
    let bind = saved.restored(mesh, driver, config(&context.parameters))?;
    Ok(Box::new(Bound { bind }))
}

#[derive(Debug)]
struct Bound {
    bind: WrapBind,
}

impl BoundNode for Bound {
    fn setup_bytes(&self) -> usize {
        self.bind.bytes()
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(self.bind.new_scratch())
    }
    fn scratch_bytes(&self) -> usize {
        let normals = self.bind.normals.as_ref().map_or(0, |n| {
            n.vertex_count() * 12 + self.bind.driver.triangles().len() * 24
        });
        normals + self.bind.points.as_ref().map_or(0, |p| 12 * p.rest.len())
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let weight = MaskWeight::from_context(&context);
        let output = context.outputs.mesh("mesh");
        let Some(scratch) = context.scratch.downcast_mut() else {
            return;
        };
        WrapJob {
            bind: &self.bind,
            weight,
            input: context.inputs.mesh("mesh"),
            driver: context.inputs.mesh("driver").positions,
            output,
            scratch,
            par: context.par,
        }
        .run();
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        self.bind.device_node()
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        device::Uniforms::write(frame, data);
    }
    fn save(&self) -> Option<Vec<u8>> {
        postcard::to_stdvec(&self.bind).ok()
    }
}
