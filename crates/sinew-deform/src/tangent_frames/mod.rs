//! Node `tangent_frames`: normals and tangents from current positions.
//!
//! Setup finds smoothing groups and tangent groups once, because topology and texture coordinates do not change (`groups.rs`, `uv.rs`,
//! `mikk.rs`). Each frame has two passes: triangles compute a normal, corner angles and a tangent; vertices sum those of the corners in
//! their groups. Gathering needs no atomics, and sums have a fixed order: the result is the same bits for any number of threads.

mod bind;
mod device;
mod groups;
mod mikk;
mod reference;
mod simd;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_mikk;
mod uv;

use crate::{
    AttributeEffect, BindContext, BoundNode, Choice, DeviceNode, MeshAttribute, MeshEffect,
    NodeDesc, NodeDocs, NodeError, NodeKind, NodeScratch, Par, ParameterDesc, Parameters, PortDesc,
    PortType, Restore, UpdateContext, for_each_chunk,
};
use sinew_geom::{Mesh, Real};

pub use bind::TangentFramesError;
pub use bind::{NormalMode, TangentFramesBind, TangentFramesConfig, TangentMode};

pub use bind::HardEdges;
pub(crate) use device::UNIT_WGSL;
pub use groups::Rows;
pub use reference::FaceTerms;
#[cfg(test)]
pub(crate) use reference::gather_fixed;
pub use reference::{angle_between, gather, unit};
pub(crate) use reference::{
    any_perpendicular, face_tangent, face_terms, gram_schmidt, vertex_normal, vertex_tangent,
};

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "tangent_frames",
    kind: NodeKind::Deformer,
    summary: "Recomputes normals and tangents from current positions.",
    docs: NodeDocs::page(include_str!("README.md")).pictures(include_str!("pictures.txt")),
    rows: &[30, 31, 32, 33, 34, 35, 36, 37],
    inputs: &[PortDesc::input(
        "mesh",
        PortType::Mesh,
        "Mesh whose normals and tangents no longer match its positions.",
    )],
    outputs: &[PortDesc::mesh_output(
        MeshEffect {
            positions: AttributeEffect::Keep,
            normals: AttributeEffect::Recompute,
            tangents: AttributeEffect::Recompute,
            ..MeshEffect::MOVES_POINTS
        },
        "The same mesh with unit normals and tangents.",
    )],
    parameters: &[
        ParameterDesc::choice(
            "normals",
            "angle_weighted",
            NORMALS,
            "How normals are computed from the triangles around a point.",
        ),
        ParameterDesc::choice(
            "tangents",
            "uv",
            TANGENTS,
            "How tangents are computed. They are written only if a node downstream or an output needs them.",
        ),
        ParameterDesc::choice(
            "hard_edges",
            "authored",
            HARD_EDGES,
            "Which vertices at one position share a normal.",
        ),
        ParameterDesc::float(
            "hard_angle",
            std::f64::consts::FRAC_PI_6,
            0.0,
            std::f64::consts::PI,
            "For `hard_edges` `angle`: largest angle at rest that is smoothed.",
        )
        .with_unit("rad")
        .in_setup(),
        ParameterDesc::float(
            "weld_tolerance",
            0.0,
            0.0,
            f64::MAX,
            "Vertices at most this far apart at rest count as one position. 0 joins only equal positions.",
        )
        .with_unit("m")
        .in_setup(),
        ParameterDesc::int(
            "uv_set",
            0,
            0,
            255,
            "Index of the texture coordinate set that tangents follow.",
        ),
    ],
    bind,
    restore: Some(Restore {
        version: 2,
        restore,
    }),
};

const NORMALS: &[Choice] = &[
    Choice {
        name: "angle_weighted",
        doc: "Face normals weighted by the corner angle. Independent of the triangulation of flat faces.",
    },
    Choice {
        name: "area_weighted",
        doc: "Face normals weighted by area.",
    },
    Choice {
        name: "keep_authored_delta",
        doc: "Authored rest normals, carried in the frame of the angle-weighted normal.",
    },
    Choice {
        name: "fixed_point",
        doc: "For compatibility: angle weights, with each addend truncated to an integer of 0x7fff steps per unit.",
    },
];
const TANGENTS: &[Choice] = &[
    Choice {
        name: "uv",
        doc: "Angle-weighted direction of increasing u, made perpendicular to the normal.",
    },
    Choice {
        name: "mikktspace",
        doc: "MikkTSpace with welding, groups and orientation of the rest mesh.",
    },
    Choice {
        name: "project",
        doc: "Authored rest tangents, carried in the frame of the normal and one edge.",
    },
    Choice {
        name: "none",
        doc: "Ignores UVs: perpendicular to the normal, along one edge.",
    },
];
const HARD_EDGES: &[Choice] = &[
    Choice {
        name: "authored",
        doc: "Vertices whose authored rest normals agree within 1 degree. All vertices if the mesh has no normals.",
    },
    Choice {
        name: "angle",
        doc: "Vertices whose own rest normals differ by at most `hard_angle`.",
    },
    Choice {
        name: "none",
        doc: "All vertices: no hard edges.",
    },
    Choice {
        name: "split",
        doc: "No vertices: each vertex uses only its own triangles.",
    },
];

/// Triangle results between the two passes: 24 bytes per triangle, and 12 more for tangents from texture coordinates.
#[derive(Debug)]
pub struct TangentFramesScratch {
    faces: Vec<FaceTerms<f32>>,
    tangents: Vec<[f32; 3]>,
}

impl TangentFramesBind {
    /// Whether tangents come out: always from modes `project` and `none`, from the others where the mesh has
    /// texture coordinates.
    pub(crate) fn makes_tangents(&self) -> bool {
        match self.config.tangents {
            TangentMode::Uv | TangentMode::Mikktspace => self.uv.is_some(),
            TangentMode::Project | TangentMode::None => true,
        }
    }
    /// Scratch of one instance. Allocates.
    pub fn new_scratch(&self) -> TangentFramesScratch {
        let n = self.topology.triangles().len();
        TangentFramesScratch {
            faces: vec![FaceTerms::default(); n],
            tangents: vec![[0.0; 3]; if self.uv.is_some() { n } else { 0 }],
        }
    }
}

/// One frame. If positions, outputs or scratch do not fit the bind, nothing is written.
#[derive(Debug)]
pub struct TangentFramesJob<'a> {
    /// From setup of the mesh.
    pub bind: &'a TangentFramesBind,
    /// Current positions, one per vertex.
    pub positions: &'a [[f32; 3]],
    /// Output: unit normals, one per vertex.
    pub normals: Option<&'a mut [[f32; 3]]>,
    /// Output: unit tangents, one per vertex, perpendicular to the normal. `w` is the sign of glTF:
    /// `bitangent = w * cross(normal, tangent)`.
    pub tangents: Option<&'a mut [[f32; 4]]>,
    /// From [`TangentFramesBind::new_scratch`] of the same bind.
    pub scratch: &'a mut TangentFramesScratch,
    /// Threads.
    pub par: Par,
}

impl TangentFramesJob<'_> {
    /// Runs the job. All results are unit vectors and finite, also for degenerate triangles.
    ///
    /// # Cost
    /// O(vertices + triangles). It does not allocate.
    pub fn run(self) {
        let Self {
            bind,
            positions,
            normals,
            tangents,
            scratch,
            par,
        } = self;
        let n = bind.vertex_count();
        let triangles = bind.topology.triangles();
        let lengths_fit = positions.len() == n
            && normals.as_ref().is_none_or(|o| o.len() == n)
            && tangents.as_ref().is_none_or(|o| o.len() == n)
            && scratch.faces.len() == triangles.len()
            && scratch.tangents.len() == bind.uv.as_ref().map_or(0, |u| u.coefficients.len());
        if !lengths_fit || (normals.is_none() && tangents.is_none()) {
            return;
        }
        let faces = &mut scratch.faces[..];
        for_each_chunk(
            par,
            triangles.len(),
            1024,
            faces,
            &|range, out: &mut [_]| {
                face_pass(bind, positions, &triangles[range], out);
            },
        );
        if let (Some(uv), true) = (&bind.uv, tangents.is_some()) {
            let out = &mut scratch.tangents[..];
            for_each_chunk(par, triangles.len(), 1024, out, &|range, out: &mut [_]| {
                let start = range.start;
                for (i, (t, o)) in triangles[range].iter().zip(out).enumerate() {
                    let p = t.map(|v| f32::vec3(positions[v as usize]));
                    *o = face_tangent(p, uv.coefficients[start + i]);
                }
            });
        }
        let (faces, face_tangents) = (&scratch.faces[..], &scratch.tangents[..]);
        let outputs = (normals, tangents);
        for_each_chunk(
            par,
            n,
            1024,
            outputs,
            &|range, (mut normals, mut tangents)| {
                for (i, v) in range.enumerate() {
                    let normal = vertex_normal(bind, faces, positions, v);
                    if let Some(o) = &mut normals {
                        o[i] = normal.into();
                    }
                    if let Some(o) = &mut tangents {
                        o[i] = vertex_tangent(bind, faces, face_tangents, positions, normal, v);
                    }
                }
            },
        );
    }
}

fn face_pass(
    bind: &TangentFramesBind,
    positions: &[[f32; 3]],
    triangles: &[[u32; 3]],
    out: &mut [FaceTerms<f32>],
) {
    if bind.config.normals == NormalMode::AreaWeighted {
        for (t, o) in triangles.iter().zip(out) {
            *o = face_terms(t.map(|v| f32::vec3(positions[v as usize])), true);
        }
    } else {
        dispatch!(simd => simd::face_terms(simd, positions, triangles, out));
    }
}

/// Rest normals of a mesh: angle-weighted, smooth across vertices at equal positions, of unit length. A vertex without area around it keeps
/// the mesh's own normal, or gets +Y. Empty if the numbers of positions and vertices differ. Binds and allocates: for setup.
pub fn compute_normals(mesh: &Mesh) -> Vec<[f32; 3]> {
    let bare = Mesh {
        topology: mesh.topology.clone(),
        positions: mesh.positions.clone(),
        normals: mesh
            .normals
            .clone()
            .filter(|n| n.len() == mesh.positions.len()),
        ..Mesh::default()
    };
    let config = TangentFramesConfig {
        hard_edges: HardEdges::None,
        ..TangentFramesConfig::default()
    };
    let Ok(bind) = TangentFramesBind::new(&bare, config) else {
        return Vec::new();
    };
    let mut normals = vec![[0.0; 3]; mesh.vertex_count()];
    TangentFramesJob {
        bind: &bind,
        positions: &mesh.positions,
        normals: Some(&mut normals),
        tangents: None,
        scratch: &mut bind.new_scratch(),
        par: Par::Seq,
    }
    .run();
    normals
}

fn config(parameters: &Parameters<'_>) -> TangentFramesConfig {
    TangentFramesConfig {
        normals: match parameters.text("normals") {
            "area_weighted" => NormalMode::AreaWeighted,
            "keep_authored_delta" => NormalMode::KeepAuthoredDelta,
            "fixed_point" => NormalMode::FixedPoint,
            _ => NormalMode::AngleWeighted,
        },
        tangents: match parameters.text("tangents") {
            "mikktspace" => TangentMode::Mikktspace,
            "project" => TangentMode::Project,
            "none" => TangentMode::None,
            _ => TangentMode::Uv,
        },
        hard_edges: match parameters.text("hard_edges") {
            "angle" => HardEdges::Angle,
            "none" => HardEdges::None,
            "split" => HardEdges::Split,
            _ => HardEdges::Authored,
        },
        hard_angle: parameters.single("hard_angle"),
        weld_tolerance: parameters.single("weld_tolerance"),
        uv_set: usize::try_from(parameters.int("uv_set")).unwrap_or(0),
    }
}

fn bind(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let mesh = context.mesh("mesh")?;
    let bind = TangentFramesBind::new_watched(mesh, config(&context.parameters), &context.watch)?;
    Ok(Box::new(Bound { bind }))
}

fn restore(bytes: &[u8], context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let mesh = context.mesh("mesh")?;
    let saved: TangentFramesBind =
        postcard::from_bytes(bytes).map_err(|e| NodeError::Restore(e.to_string()))?;
    let bind = saved.restored(mesh, config(&context.parameters))?;
    Ok(Box::new(Bound { bind }))
}

#[derive(Debug)]
struct Bound {
    bind: TangentFramesBind,
}

impl BoundNode for Bound {
    fn setup_bytes(&self) -> usize {
        self.bind.bytes()
    }
    fn makes(&self, _port: &str, attribute: MeshAttribute) -> bool {
        attribute != MeshAttribute::Tangents || self.bind.makes_tangents()
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(self.bind.new_scratch())
    }
    fn scratch_bytes(&self) -> usize {
        let per_face = if self.bind.uv.is_some() { 36 } else { 24 };
        self.bind.topology.triangles().len() * per_face
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let input = context.inputs.mesh("mesh");
        let output = context.outputs.mesh("mesh");
        if let Some(p) = output
            .positions
            .filter(|p| p.len() == input.positions.len())
        {
            p.copy_from_slice(input.positions);
        }
        let Some(scratch) = context.scratch.downcast_mut() else {
            return;
        };
        TangentFramesJob {
            bind: &self.bind,
            positions: input.positions,
            normals: output.normals,
            tangents: output.tangents,
            scratch,
            par: context.par,
        }
        .run();
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(self.bind.device_node())
    }
    fn save(&self) -> Option<Vec<u8>> {
        postcard::to_stdvec(&self.bind).ok()
    }
}
