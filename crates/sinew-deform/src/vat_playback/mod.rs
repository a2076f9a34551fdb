//! Node `vat_playback`: plays a vertex animation texture on the mesh that carries it.

mod bind;
mod device;
mod pieces;
mod reference;
#[cfg(test)]
mod tests;

use crate::{
    AttributeEffect, BindContext, BoundNode, DeviceFrame, DeviceFrameData, DeviceNode,
    MeshAttribute, MeshEffect, MeshView, MeshViewMut, NodeDesc, NodeDocs, NodeError, NodeKind, Par,
    ParameterDesc, Parameters, PortDesc, PortType, UpdateContext, for_each_chunk,
};
use sinew_vat::playback::FrameBlend;

pub(crate) use bind::VatPlaybackBind;
#[cfg(test)]
pub(crate) use bind::VatPlaybackError;
pub(crate) use pieces::PieceCarrier;
pub use pieces::PiecePose;
pub(crate) use reference::{baked_normal, baked_position};

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "vat_playback",
    kind: NodeKind::Deformer,
    summary: "Plays a vertex animation texture on the mesh that carries it.",
    docs: NodeDocs::page(include_str!("README.md")).pictures(include_str!("pictures.txt")),
    rows: &[],
    inputs: &[
        PortDesc::input(
            "mesh",
            PortType::Mesh,
            "The carrier: the mesh that was written with the bake, with its vertices in the same order.",
        ),
        PortDesc::input(
            "animation",
            PortType::VertexAnimation,
            "The bake: a graph input of type `vertex_animation` that names a manifest.",
        ),
    ],
    outputs: &[PortDesc::mesh_output(
        MeshEffect {
            normals: AttributeEffect::Recompute,
            ..MeshEffect::MOVES_POINTS
        },
        "The baked mesh, with normals if the bake has them.",
    )],
    parameters: &[
        ParameterDesc::frame_time("time", "Time to show."),
        ParameterDesc::text("clip", "Name of the clip. Empty selects the first clip."),
        ParameterDesc::float(
            "speed",
            1.0,
            -1e6,
            1e6,
            "Playback speed. Below 0 the clip plays backwards.",
        ),
        ParameterDesc::float(
            "time_offset_secs",
            0.0,
            -1e9,
            1e9,
            "Time in the clip at `time` 0. Added after `speed` is applied.",
        )
        .with_unit("s"),
        ParameterDesc::bool(
            "blend",
            true,
            "Blends the frames before and after `time`, if the bake allows it.",
        )
        .in_update(),
    ],
    bind: bind_node,
    restore: None,
};

/// One frame of work.
#[derive(Debug)]
pub(crate) struct VatPlaybackJob<'a> {
    /// The bake.
    pub bind: &'a VatPlaybackBind,
    /// What is seen, from [`VatPlaybackBind::frames`].
    pub at: FrameBlend,
    /// The carrier.
    pub input: MeshView<'a>,
    /// Same vertex count; must not overlap the input.
    pub output: MeshViewMut<'a>,
    /// Threads.
    pub par: Par,
}

impl VatPlaybackJob<'_> {
    /// Runs the job; writes positions, and normals where the bake has them.
    pub(crate) fn run(self) {
        match &self.bind.pieces {
            Some(pieces) => self.run_pieces(pieces),
            None => self.run_vertices(),
        }
    }

    fn run_vertices(self) {
        let (Some(places), normals) = self.bind.textures() else {
            return;
        };
        let (at, carrier) = (self.at, self.input.positions);
        let has_offsets = self.bind.has_offsets;
        let outputs = (self.output.positions, self.output.normals);
        for_each_chunk(
            self.par,
            carrier.len(),
            4096,
            outputs,
            &|range, (mut p, mut n)| {
                for (i, (v, carrier)) in range.clone().zip(&carrier[range]).enumerate() {
                    let Ok(vertex) = u32::try_from(v) else {
                        continue;
                    };
                    if let Some(p) = &mut p {
                        let carrier = has_offsets.then_some(*carrier);
                        p[i] = baked_position::<f32>(&places, vertex, at, carrier);
                    }
                    if let (Some(n), Some(normals)) = (&mut n, &normals) {
                        n[i] = baked_normal::<f32>(normals, vertex, at);
                    }
                }
            },
        );
    }

    fn run_pieces(self, pieces: &PieceCarrier) {
        let textures = (
            self.bind.texture(self.bind.places),
            self.bind.texture(pieces.rotations),
        );
        let (Some(places), Some(rotations)) = textures else {
            return;
        };
        let (at, carrier) = (self.at, self.input.positions);
        let outputs = (self.output.positions, self.output.normals);
        for_each_chunk(
            self.par,
            carrier.len(),
            4096,
            outputs,
            &|range, (mut p, mut n)| {
                // Vertices of a piece mostly follow each other.
                let mut last: Option<(u32, PiecePose<f32>)> = None;
                for (i, v) in range.enumerate() {
                    let piece = pieces.of_vertex[v];
                    let pose = match last {
                        Some((same, pose)) if same == piece => pose,
                        _ => PiecePose::new(&places, &rotations, piece, at),
                    };
                    last = Some((piece, pose));
                    if let Some(p) = &mut p {
                        p[i] = pose.place(carrier[v]);
                    }
                    if let (Some(n), Some(normals)) = (&mut n, &pieces.normals) {
                        n[i] = pose.direction(normals[v]);
                    }
                }
            },
        );
    }
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let mesh = context.mesh("mesh")?;
    let animation = context.vertex_animation("animation")?;
    let clip = context.parameters.text("clip");
    let bind = VatPlaybackBind::new(animation, mesh, clip);
    Ok(Box::new(Bound {
        bind: bind.map_err(|e| NodeError::Bind(Box::new(e)))?,
    }))
}

#[derive(Debug)]
struct Bound {
    bind: VatPlaybackBind,
}

impl Bound {
    /// Worked out in double precision, and once for all devices.
    fn frames(&self, parameters: &Parameters<'_>) -> FrameBlend {
        let time = parameters.float("time") * parameters.float("speed");
        let secs = time + parameters.float("time_offset_secs");
        self.bind.frames(secs, parameters.bool("blend"))
    }
}

impl BoundNode for Bound {
    fn setup_bytes(&self) -> usize {
        let animation = &self.bind.animation;
        let textures = 0..animation.manifest().textures.len();
        let texels: usize = textures.map(|t| animation.texels(t).len()).sum();
        let vertices = self.bind.pieces.as_ref().map_or(0, |p| p.of_vertex.len());
        texels + animation.lookup().len() + vertices * size_of::<u32>()
    }
    fn makes(&self, _port: &str, attribute: MeshAttribute) -> bool {
        attribute != MeshAttribute::Normals || self.bind.has_normals()
    }
    fn invalidates(&self, _port: &str, attribute: MeshAttribute) -> bool {
        attribute == MeshAttribute::Normals && !self.bind.has_normals()
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        device::node(&self.bind)
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        let at = self.frames(&frame.parameters);
        data.set_uniforms(&device::uniforms(&self.bind, at));
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        VatPlaybackJob {
            bind: &self.bind,
            at: self.frames(&context.parameters),
            input: context.inputs.mesh("mesh"),
            output: context.outputs.mesh("mesh"),
            par: context.par,
        }
        .run();
    }
}
