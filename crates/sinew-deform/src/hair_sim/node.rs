//! The node `hair_sim`.

use super::device;
use super::reach::RootBoxes;
use super::roots::{Blend, FIRST_COLLIDER, INPUTS, JOINT, OUTPUTS, Roots, bind_strands};
use super::{HairBind, HairJob, HairQuality, HairSettings, HairState};
use crate::collide::ports::{
    Contacts, FRICTIONS, MARGINS, Placements, RESET, contacts, fields, linked,
};
use crate::{
    BindContext, BoundNode, Choice, DeviceFrame, DeviceFrameData, DeviceNode, Example, NodeDesc,
    NodeDocs, NodeError, NodeKind, NodeScratch, ParameterDesc, Parameters, UpdateContext,
};
use sinew_geom::{PackedAffine, Pose};

/// The node `hair_sim`.
pub static DESC: NodeDesc = NodeDesc {
    name: "hair_sim",
    kind: NodeKind::Solver,
    summary: "Simulates hair strands that swing, keep their style and collide.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "hair",
            graph: include_str!("hair.json"),
            sample: "head",
            before: "rest",
            frame: 8,
        }])
        .presets(super::presets::PRESETS),
    rows: &[84, 85, 89, 90, 91, 92, 93, 94, 95, 96],
    inputs: &INPUTS,
    outputs: &OUTPUTS,
    parameters: PARAMETERS,
    bind: bind_node,
    restore: None,
};

#[expect(
    clippy::approx_constant,
    reason = "pages show this number; pi of any precision is below it"
)]
const PARAMETERS: &[ParameterDesc] = &[
    JOINT,
    MARGINS,
    FRICTIONS,
    ParameterDesc::float("damping", 2.0, 0.0, 1e4, "How fast motion dies out: velocity falls as exp(-damping t). 0 also switches off static friction.")
        .with_unit("1/s"),
    vector("gravity", [0.0, -9.81, 0.0], "m/s²", "Acceleration of all vertices."),
    ParameterDesc::float(
        "global_stiffness",
        1.0,
        0.0,
        1e3,
        "Frequency at which a vertex swings about its skinned rest position. 0 switches it off.",
    )
    .with_unit("Hz"),
    ParameterDesc::float(
        "global_range",
        0.3,
        0.0,
        1.0,
        "Fraction of the strand's length, from the root, that `global_stiffness` acts on. It fades out over a further 0.1.",
    ),
    ParameterDesc::float(
        "local_stiffness",
        2.0,
        0.0,
        1e3,
        "Frequency of the slowest bending mode of a straight strand that is clamped at the root. Keeps curls. 0 switches it off.",
    )
    .with_unit("Hz"),
    ParameterDesc::float(
        "root_motion",
        0.5,
        0.0,
        1.0,
        "Fraction of the root's motion that the whole strand follows without inertia.",
    ),
    ParameterDesc::float(
        "teleport_distance",
        0.25,
        1e-6,
        1e9,
        "If a root ends a frame farther than this from its predicted position, its strand follows rigidly. The effect is full at twice this distance.",
    )
    .with_unit("m"),
    ParameterDesc::float(
        "teleport_angle",
        2.1,
        0.0,
        3.1416,
        "If a root rotates in a frame by more than this, its strand follows rigidly. The effect is full at 1.25 times this angle, at half a turn at most. Half a turn switches it off.",
    )
    .with_unit("rad"),
    RESET,
    vector("wind", [0.0; 3], "m/s", "Velocity of the air. 5 m/s push a strand that lies across the wind as hard as gravity."),
    ParameterDesc::float("gusts", 0.5, 0.0, 1.0, "Variation of the wind: 0 is steady, 1 varies from calm to twice as strong. Gusts travel with the air."),
    ParameterDesc::float("gust_frequency", 0.7, 0.0, 1e3, "Frequency of gusts.").with_unit("Hz"),
    ParameterDesc::int("seed", 0, 0, u32::MAX as i64, "Seed for the small differences of gusts between strands."),
    ParameterDesc::float("tip_separation", 0.0, 0.0, 1e3, "Followers spread towards the tip: there they are 1 + tip_separation times as far from their guide."),
    ParameterDesc::float("detail", 1.0, 0.0, 1.0, "Share of the guides that is simulated and shown; of the followers, its square. Lower it for hair far from the camera: strands shrink and grow without a jump."),
    ParameterDesc::choice("quality", "standard", QUALITIES, "Steps per second and iterations in each step: 120 and 1 (`game`, vertices only), 240 and 2, or 480 and 3 (`film`).")
        .in_update(),
    ParameterDesc::float("volume", 0.0, 0.0, 100.0, "How hard hair pushes itself apart where it is denser than at rest. At 1 it carries its own weight. 0 switches it off.")
        .in_setup(),
    ParameterDesc::bool("collide_followers", true, "Lets followers collide, too."),
    ParameterDesc::float("pre_roll", 0.0, 0.0, 1e4, "Time that is simulated in the pose of the first frame before that frame is shown.")
        .with_unit("s")
        .in_setup(),
];

/// See [`HairQuality`].
const QUALITIES: &[Choice] = &[
    Choice {
        name: "game",
        doc: "120 steps per second with one iteration; vertices collide.",
    },
    Choice {
        name: "standard",
        doc: "240 steps per second with two iterations; vertices and segments collide.",
    },
    Choice {
        name: "film",
        doc: "480 steps per second with three iterations; vertices and segments collide.",
    },
];

const fn vector(
    name: &'static str,
    default: [f64; 3],
    unit: &'static str,
    doc: &'static str,
) -> ParameterDesc {
    ParameterDesc {
        name,
        ty: crate::ParameterType::Vec3,
        default: crate::DefaultValue::Vec3(default),
        unit,
        phase: crate::Phase::Update,
        role: crate::Role::Plain,
        doc,
    }
}

pub(super) fn settings(p: &Parameters<'_>) -> HairSettings {
    let vector = |name: &str| p.vec3(name).map(|v| v as f32);
    HairSettings {
        quality: HairQuality::named(p.text("quality")),
        damping_per_sec: p.single("damping"),
        gravity: vector("gravity"),
        global_stiffness_hz: p.single("global_stiffness"),
        global_range: p.single("global_range"),
        local_stiffness_hz: p.single("local_stiffness"),
        root_motion_share: p.single("root_motion"),
        teleport_distance: p.single("teleport_distance"),
        teleport_angle: p.single("teleport_angle"),
        wind: vector("wind"),
        gust_strength: p.single("gusts"),
        gust_hz: p.single("gust_frequency"),
        seed: p.int("seed") as u32,
        tip_separation: p.single("tip_separation"),
        volume: p.single("volume"),
        collide_followers: p.bool("collide_followers"),
        detail: p.single("detail"),
        pre_roll_secs: p.single("pre_roll"),
        ..HairSettings::default()
    }
}

#[derive(Debug)]
pub(super) struct Hair {
    pub(super) bind: HairBind,
    pub(super) roots: Roots,
    reach: RootBoxes,
    /// By port; those without a link are not read.
    pub(super) contacts: Contacts,
    /// How many have a link.
    pub(super) colliders: usize,
}

#[derive(Debug)]
struct Scratch {
    state: HairState,
    transforms: Vec<PackedAffine>,
    tangents: Vec<[f32; 3]>,
    placements: Placements,
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let (bind, roots) = (bind_strands(context)?, Roots::bind(context)?);
    let guides = bind.strands().guides().to_vec();
    let mut bind = bind.with_own_roots(|s| !roots.are_alike(s, guides[s] as usize));
    if context.parameters.single("volume") > 0.0 {
        bind = bind.with_volume();
    }
    Ok(Box::new(Hair {
        reach: RootBoxes::new(&bind, &roots),
        roots,
        contacts: contacts(context)?,
        colliders: linked(context),
        bind,
    }))
}

impl BoundNode for Hair {
    fn setup_bytes(&self) -> usize {
        self.bind.bytes()
    }
    fn makes(&self, _port: &str, attribute: crate::MeshAttribute) -> bool {
        attribute == crate::MeshAttribute::Tangents
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(Scratch {
            state: HairState::new(&self.bind),
            transforms: vec![PackedAffine::default(); self.bind.strands().len()],
            tangents: vec![[0.0; 3]; self.bind.vertex_count()],
            placements: Placements::default(),
        })
    }
    fn scratch_bytes(&self) -> usize {
        let state = HairState::<f32>::new(&self.bind).bytes();
        let strands = self.bind.strands().len() * size_of::<PackedAffine>();
        state + strands + 12 * self.bind.vertex_count()
    }
    fn save_state(&self, scratch: &NodeScratch) -> Vec<u8> {
        let Some(scratch) = scratch.downcast_ref::<Scratch>() else {
            return Vec::new();
        };
        let mut out: Vec<u8> = scratch.placements.save().collect();
        out.extend(scratch.state.save());
        out
    }
    fn restore_state(&self, bytes: &[u8], scratch: &mut NodeScratch) -> Result<(), NodeError> {
        let wrong = |what: &str| NodeError::Restore(what.to_owned());
        let scratch = scratch.downcast_mut::<Scratch>();
        let scratch = scratch.ok_or_else(|| wrong("this node has no state"))?;
        let (head, rest) = bytes
            .split_first_chunk()
            .ok_or_else(|| wrong("the state of the hair is truncated"))?;
        let placements = Placements::read(head)
            .ok_or_else(|| wrong("the position of a collider is not finite"))?;
        let restored = scratch.state.restore(rest);
        restored.map_err(|e| NodeError::Restore(e.to_string()))?;
        scratch.placements = placements;
        Ok(())
    }
    fn field_reach(&self, pose: Option<&Pose>, put: &mut dyn FnMut([f32; 3])) -> Option<f32> {
        self.reach.reach(pose, put)
    }
    fn device(&self, context: &BindContext<'_>) -> Option<DeviceNode> {
        device::node(self, context)
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        device::write_frame(self, frame, data);
    }
    fn device_passes(&self, frame: &DeviceFrame<'_>, _count: usize, run: &mut dyn FnMut(usize)) {
        device::passes(self, frame, run);
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
            .write_transforms(pose, Blend::KeepSize, &mut scratch.transforms);
        let fields = fields(&context.inputs, FIRST_COLLIDER);
        let begins = context.is_first || context.parameters.bool(RESET.name);
        if begins {
            scratch.state.reset();
            scratch.placements.follow(&fields);
        }
        let (colliders, contacts) = scratch.placements.colliders(&fields, &self.contacts);
        let wants_tangents = out.tangents.is_some();
        let ran = HairJob {
            bind: &self.bind,
            transforms: &scratch.transforms,
            // No time has passed since a frame that is the first one.
            dt_secs: if begins { 0.0 } else { context.dt_secs as f32 },
            settings: &settings,
            colliders: &colliders,
            contacts: &contacts,
            state: &mut scratch.state,
            positions,
            tangents: wants_tangents.then_some(&mut scratch.tangents),
            par: context.par,
        }
        .run();
        // All lengths are those of setup.
        debug_assert_eq!(ran, Ok(()));
        scratch.placements.follow(&fields);
        for (out, [x, y, z]) in out.tangents.into_iter().flatten().zip(&scratch.tangents) {
            *out = [*x, *y, *z, 1.0];
        }
    }
}
