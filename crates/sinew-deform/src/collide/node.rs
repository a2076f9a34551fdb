//! The node `collide`: [`CollideJob`] with the fields at its ports as colliders.
//!
//! Its state is the strands and the placements of the fields in the last frame. Without them (first frame, `reset`), paths are not tested.

use super::device;
use super::ports::{
    Contacts, FRICTIONS, Fields, MARGINS, PORTS, Placements, RESET, contacts, fields, linked,
    strands_output,
};
use super::response::CHOICES;
use super::{CollideJob, CollideScratch, CollideSettings, GradientMode};
use crate::hair_sim::write_tangents;
use crate::{
    BindContext, BoundNode, DeviceFrame, DeviceFrameData, DeviceNode, Example, NodeDesc, NodeDocs,
    NodeError, NodeKind, NodeScratch, Par, ParameterDesc, Parameters, PortDesc, PortType,
    UpdateContext,
};
use sinew_geom::{Strands, Topology};
use std::sync::Arc;

/// Ports before those of colliders.
const FIRST_COLLIDER: usize = 1;

const INPUTS: [PortDesc; 9] = {
    let [a, b, c, d, e, f, g, h] = PORTS;
    let strands = PortDesc::input(
        "strands",
        PortType::Mesh,
        "Strands that another node moves, for example `skin` or `lattice`.",
    );
    [strands.of_strands(), a, b, c, d, e, f, g, h]
};

/// The node `collide`.
pub static DESC: NodeDesc = NodeDesc {
    name: "collide",
    kind: NodeKind::Solver,
    summary: "Pushes strands out of solids after other nodes have moved them.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "collide",
            graph: include_str!("collide.json"),
            sample: "head",
            before: "rest",
            frame: 8,
        }]),
    rows: &[84, 85, 89, 90, 91, 92, 93, 94],
    inputs: &INPUTS,
    outputs: &[strands_output(
        "The strands, outside of the solids, with tangents from root to tip.",
    )],
    parameters: &[
        MARGINS,
        FRICTIONS,
        RESET,
        ParameterDesc::int(
            "exempt",
            2,
            1,
            1 << 20,
            "Number of vertices at the root that colliders do not move.",
        ),
        ParameterDesc::bool(
            "paths",
            true,
            "Also tests the path of each vertex since the previous frame, so that fast strands do not pass through thin solids.",
        ),
        ParameterDesc::choice(
            "gradient",
            "analytic",
            CHOICES,
            "How the gradient of a grid field is computed. On the GPU only `analytic` is available.",
        ),
    ],
    bind: bind_node,
    restore: None,
};

#[derive(Debug)]
pub(super) struct Collide {
    topology: Arc<Topology>,
    pub(super) contacts: Contacts,
    /// How many colliders have a link.
    linked: usize,
}

#[derive(Debug)]
struct Scratch {
    room: CollideScratch,
    placements: Placements,
    /// Where the vertices were in the frame before; none before the first.
    previous: Vec<[f32; 3]>,
    has_previous: bool,
    tangents: Vec<[f32; 3]>,
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let mesh = context.mesh("strands")?;
    if mesh.topology.strands().is_none() {
        return Err(NodeError::Input {
            port: "strands",
            message: "found a mesh of triangles, expected strands".into(),
        });
    }
    Ok(Box::new(Collide {
        topology: mesh.topology.clone(),
        contacts: contacts(context)?,
        linked: linked(context),
    }))
}

/// What one frame works on.
struct FrameOf<'a> {
    strands: &'a Strands,
    parameters: Parameters<'a>,
    fields: &'a Fields<'a>,
    par: Par,
}

impl Collide {
    pub(super) fn strands(&self) -> Option<&Strands> {
        self.topology.strands()
    }
    fn run(&self, frame: &FrameOf<'_>, scratch: &mut Scratch, positions: &mut [[f32; 3]]) {
        let settings = CollideSettings {
            exempt: usize::try_from(frame.parameters.int("exempt")).unwrap_or(1),
        };
        let (colliders, contacts) = scratch.placements.colliders(frame.fields, &self.contacts);
        scratch.room.make_room(contacts.len());
        let previous = scratch.has_previous && frame.parameters.bool("paths");
        CollideJob {
            strands: frame.strands,
            settings: &settings,
            colliders: &colliders,
            contacts: &contacts,
            previous: previous.then_some(scratch.previous.as_slice()),
            positions,
            scratch: &mut scratch.room,
            par: frame.par,
        }
        .run();
    }
}

impl BoundNode for Collide {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn makes(&self, _port: &str, attribute: crate::MeshAttribute) -> bool {
        attribute == crate::MeshAttribute::Tangents
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        let Some(strands) = self.topology.strands() else {
            return Box::new(());
        };
        let count = strands.vertex_count();
        Box::new(Scratch {
            room: CollideScratch::new(strands, self.linked),
            placements: Placements::default(),
            previous: vec![[0.0; 3]; count],
            has_previous: false,
            tangents: vec![[0.0; 3]; count],
        })
    }
    fn scratch_bytes(&self) -> usize {
        self.topology.strands().map_or(0, |s| {
            24 * s.vertex_count() + CollideScratch::new(s, self.linked).bytes()
        })
    }
    fn save_state(&self, scratch: &NodeScratch) -> Vec<u8> {
        let Some(scratch) = scratch.downcast_ref::<Scratch>() else {
            return Vec::new();
        };
        let mut out: Vec<u8> = scratch.placements.save().collect();
        out.push(u8::from(scratch.has_previous));
        let numbers = scratch.previous.as_flattened().iter();
        out.extend(numbers.flat_map(|n| n.to_le_bytes()));
        out
    }
    fn restore_state(&self, bytes: &[u8], scratch: &mut NodeScratch) -> Result<(), NodeError> {
        let wrong = |what: &str| NodeError::Restore(what.to_owned());
        let scratch = scratch.downcast_mut::<Scratch>();
        let scratch = scratch.ok_or_else(|| wrong("this node has no state"))?;
        let parts = bytes.split_first_chunk().and_then(|(head, rest)| {
            let (flag, rest) = rest.split_first()?;
            (rest.len() == 12 * scratch.previous.len()).then_some((head, *flag, rest))
        });
        let (head, flag, rest) =
            parts.ok_or_else(|| wrong("the state belongs to other strands or is truncated"))?;
        let placements = Placements::read(head);
        let placements =
            placements.ok_or_else(|| wrong("the position of a collider is not finite"))?;
        let numbers = || {
            rest.as_chunks::<4>()
                .0
                .iter()
                .map(|b| f32::from_le_bytes(*b))
        };
        if numbers().any(|n| !n.is_finite()) {
            return Err(wrong("the position of a vertex is not finite"));
        }
        scratch.placements = placements;
        scratch.has_previous = flag != 0;
        for (to, from) in scratch
            .previous
            .as_flattened_mut()
            .iter_mut()
            .zip(numbers())
        {
            *to = from;
        }
        Ok(())
    }
    fn device(&self, context: &BindContext<'_>) -> Option<DeviceNode> {
        device::node(self, context)
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        device::write_frame(frame, data);
    }
    fn update(&self, context: UpdateContext<'_>) {
        let UpdateContext {
            parameters,
            inputs,
            mut outputs,
            par,
            ..
        } = context;
        let out = outputs.mesh("strands");
        let (Some(strands), Some(positions), Some(scratch)) = (
            self.topology.strands(),
            out.positions,
            context.scratch.downcast_mut::<Scratch>(),
        ) else {
            return;
        };
        positions.copy_from_slice(inputs.mesh("strands").positions);
        let mut fields = fields(&inputs, FIRST_COLLIDER);
        let gradient = GradientMode::named(parameters.text("gradient"));
        for (_, field) in &mut fields {
            *field = field.with_gradient(gradient);
        }
        if context.is_first || parameters.bool(RESET.name) {
            scratch.has_previous = false;
            scratch.placements.follow(&fields);
        }
        let frame = FrameOf {
            strands,
            parameters,
            fields: &fields,
            par,
        };
        self.run(&frame, scratch, positions);
        scratch.placements.follow(&fields);
        scratch.previous.copy_from_slice(positions);
        scratch.has_previous = true;
        let Some(tangents) = out.tangents else { return };
        for range in strands.ranges() {
            write_tangents(&positions[range.clone()], &mut scratch.tangents[range]);
        }
        for (out, [x, y, z]) in tangents.iter_mut().zip(&scratch.tangents) {
            *out = [*x, *y, *z, 1.0];
        }
    }
}
