//! The node `tressfx_hair`.

use super::{TressFxJob, TressFxSettings, TressFxState, device};
use crate::collide::ports::{RESET, by_collider, fields};
use crate::collide::{Collider, GRADIENTS, GradientMode, MAX_COLLIDERS};
use crate::hair_sim::HairBind;
use crate::hair_sim::roots::{Blend, FIRST_COLLIDER, INPUTS, JOINT, OUTPUTS, Roots, bind_strands};
use crate::{
    BindContext, BoundNode, DeviceFrame, DeviceFrameData, DeviceNode, Example, NodeDesc, NodeDocs,
    NodeError, NodeKind, NodeScratch, ParameterDesc, Parameters, UpdateContext,
};
use arrayvec::ArrayVec;
use sinew_geom::PackedAffine;

/// The node `tressfx_hair`.
pub static DESC: NodeDesc = NodeDesc {
    name: "tressfx_hair",
    kind: NodeKind::Solver,
    summary: "TressFX-compatible hair: moves strands as TressFX 4.1 does, for hair that was tuned with it.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "tressfx_hair",
            graph: include_str!("tressfx_hair.json"),
            sample: "head",
            before: "rest",
            frame: 8,
        }]),
    rows: &[87, 88, 96],
    inputs: &INPUTS,
    outputs: &OUTPUTS,
    parameters: PARAMETERS,
    bind: bind_node,
    restore: None,
};

/// Distance that is kept from each collider.
const MARGINS: ParameterDesc = ParameterDesc::floats(
    "margins",
    "Distance that strands keep from each collider, in cells of its grid: one number for all, or one for each. Empty means 0.",
);

const PARAMETERS: &[ParameterDesc] = &[
    RESET,
    JOINT,
    MARGINS,
    ParameterDesc::float(
        "damping",
        0.08,
        0.0,
        1e4,
        "Damping per 1/60 s: a frame of h seconds keeps exp(-60 damping h) of the velocity.",
    ),
    ParameterDesc::float("gravity", 0.0, 0.0, 1e6, "Gravity along -Y.").with_unit("m/s²"),
    ParameterDesc::float(
        "global_stiffness",
        0.0,
        0.0,
        1.0,
        "Fraction of the way back to the skinned rest position that a vertex moves in each frame.",
    ),
    ParameterDesc::float(
        "global_range",
        0.0,
        0.0,
        1.0,
        "Fraction of the vertices, counted from the root, that `global_stiffness` acts on.",
    ),
    ParameterDesc::float(
        "local_stiffness",
        0.9,
        0.0,
        1.0,
        "Fraction of the way back to the rest bend in each pass, limited to 0.95 and halved.",
    ),
    ParameterDesc::int(
        "local_iterations",
        2,
        0,
        64,
        "Number of bend passes in each frame.",
    ),
    ParameterDesc::int(
        "length_iterations",
        2,
        0,
        64,
        "Number of length passes in each frame.",
    ),
    ParameterDesc::float(
        "shock_coefficient",
        0.8,
        0.0,
        1.0,
        "Fraction of the root's motion that is applied to all vertices.",
    ),
    ParameterDesc::float(
        "shock_threshold",
        1.4,
        0.0,
        1e9,
        "If the second vertex accelerates by more than this, in metres per frame², the full motion of the root is applied to all vertices.",
    ),
    ParameterDesc::float(
        "tip_separation",
        0.0,
        0.0,
        1e3,
        "Followers spread towards the tip: the offset at vertex i of n is multiplied by 1 + tip_separation i / n.",
    ),
    ParameterDesc::float(
        "wind_magnitude",
        0.0,
        0.0,
        1e6,
        "Wind strength as in TressFX: wind blows against `wind_direction` and grows with the squared segment length.",
    ),
    ParameterDesc {
        name: "wind_direction",
        ty: crate::ParameterType::Vec3,
        default: crate::DefaultValue::Vec3([1.0, 0.0, 0.0]),
        unit: "",
        phase: crate::Phase::Update,
        role: crate::Role::Plain,
        doc: "Wind direction, a unit vector.",
    },
    ParameterDesc::choice(
        "gradient",
        "forward",
        GRADIENTS,
        "How the gradient of a grid field is computed.",
    ),
];

pub(super) fn settings(p: &Parameters<'_>) -> TressFxSettings {
    TressFxSettings {
        damping: p.single("damping"),
        gravity: p.single("gravity"),
        global_stiffness: p.single("global_stiffness"),
        global_range: p.single("global_range"),
        local_stiffness: p.single("local_stiffness"),
        local_iterations: p.int("local_iterations") as usize,
        length_iterations: p.int("length_iterations") as usize,
        shock_coefficient: p.single("shock_coefficient"),
        shock_threshold: p.single("shock_threshold"),
        tip_separation: p.single("tip_separation"),
        wind_magnitude: p.single("wind_magnitude"),
        wind_direction: p.vec3("wind_direction").map(|v| v as f32),
        gradient: GradientMode::named(p.text("gradient")),
    }
}

#[derive(Debug)]
pub(super) struct TressFxHair {
    pub(super) bind: HairBind,
    pub(super) roots: Roots,
    /// By port, in cells; those of ports without a link are not read.
    pub(super) margins: [f32; MAX_COLLIDERS],
}

#[derive(Debug)]
struct Scratch {
    state: TressFxState,
    transforms: Vec<PackedAffine>,
    /// What the last step wrote, for frames that come without time.
    positions: Vec<[f32; 3]>,
    tangents: Vec<[f32; 3]>,
    has_stepped: bool,
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    Ok(Box::new(TressFxHair {
        bind: bind_strands(context)?,
        roots: Roots::bind(context)?,
        margins: by_collider(context, MARGINS.name, 0.0)?,
    }))
}

impl BoundNode for TressFxHair {
    fn setup_bytes(&self) -> usize {
        self.bind.bytes()
    }
    fn makes(&self, _port: &str, attribute: crate::MeshAttribute) -> bool {
        attribute == crate::MeshAttribute::Tangents
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(Scratch {
            state: TressFxState::new(&self.bind),
            transforms: vec![PackedAffine::default(); self.bind.strands().len()],
            positions: vec![[0.0; 3]; self.bind.vertex_count()],
            tangents: vec![[0.0; 3]; self.bind.vertex_count()],
            has_stepped: false,
        })
    }
    fn scratch_bytes(&self) -> usize {
        let strands = self.bind.strands().len() * size_of::<PackedAffine>();
        48 * self.bind.guide_vertex_count() + strands + 24 * self.bind.vertex_count()
    }
    fn save_state(&self, scratch: &NodeScratch) -> Vec<u8> {
        let scratch = scratch.downcast_ref::<Scratch>();
        scratch.map(|s| s.state.save()).unwrap_or_default()
    }
    fn restore_state(&self, bytes: &[u8], scratch: &mut NodeScratch) -> Result<(), NodeError> {
        let Some(scratch) = scratch.downcast_mut::<Scratch>() else {
            return Err(NodeError::Restore("this node has no state".to_owned()));
        };
        scratch.has_stepped = false;
        let restored = scratch.state.restore(bytes);
        restored.map_err(|e| NodeError::Restore(e.to_string()))
    }
    fn device(&self, context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(device::node(self, context))
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        device::write_frame(self, frame, data);
    }
    fn device_passes(&self, frame: &DeviceFrame<'_>, count: usize, run: &mut dyn FnMut(usize)) {
        device::passes(frame, count, run);
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let settings = settings(&context.parameters);
        let Some(scratch) = context.scratch.downcast_mut::<Scratch>() else {
            return;
        };
        let out = context.outputs.mesh("strands");
        let Some(positions) = out.positions else {
            return;
        };
        let pose = context.inputs.pose("pose");
        self.roots
            .write_transforms(pose, Blend::Sum, &mut scratch.transforms);
        if context.is_first || context.parameters.bool(RESET.name) {
            scratch.state.restart();
            scratch.has_stepped = false;
        }
        // The TressFX step goes on by a frame whatever the time; the same moment shown again is no further frame.
        if scratch.has_stepped && context.dt_secs <= 0.0 {
            positions.copy_from_slice(&scratch.positions);
            write_tangents(&scratch.tangents, out.tangents);
            return;
        }
        let fields = fields(&context.inputs, FIRST_COLLIDER);
        // Solids are taken where they are: how they came there is not looked at.
        let colliders: ArrayVec<Collider<'_>, MAX_COLLIDERS> = fields
            .iter()
            .map(|(_, f)| f.moving(f.placement()))
            .collect();
        let margins: ArrayVec<f32, MAX_COLLIDERS> =
            fields.iter().map(|(port, _)| self.margins[*port]).collect();
        let wants_tangents = out.tangents.is_some();
        let ran = TressFxJob {
            bind: &self.bind,
            transforms: &scratch.transforms,
            dt_secs: context.dt_secs as f32,
            settings: &settings,
            colliders: &colliders,
            margins_cells: &margins,
            state: &mut scratch.state,
            positions: &mut *positions,
            tangents: wants_tangents.then_some(&mut scratch.tangents),
            par: context.par,
        }
        .run();
        // All lengths are those of setup.
        debug_assert_eq!(ran, Ok(()));
        scratch.positions.copy_from_slice(positions);
        scratch.has_stepped = true;
        write_tangents(&scratch.tangents, out.tangents);
    }
}

fn write_tangents(tangents: &[[f32; 3]], out: Option<&mut [[f32; 4]]>) {
    for (out, [x, y, z]) in out.into_iter().flatten().zip(tangents) {
        *out = [*x, *y, *z, 1.0];
    }
}
