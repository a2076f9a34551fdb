//! What `tressfx_hair` runs on the GPU: one invocation per guide, then one per vertex, as in the shaders of TressFX 4.1.
//!
//! | pass | one invocation per | does |
//! |---|---|---|
//! | `place` | collider | where it is; counts frames |
//! | `step` | guide | all stages of a frame up to the clamp |
//! | `lay` | vertex | lays guides and followers, collides them |
//! | `out` | vertex | positions and tangents; guides keep where they collided |
//!
//! A frame without time runs `out` alone, which shows what `lay` left. State: 48 bytes a guide vertex, and 16 a vertex for such frames.
//!
//! Operations and their order are those of the CPU; results differ by rounding. The wind's pulse comes from a whole number of frames.

use super::job::{EXEMPT, PULSE_PER_FRAME, WIND_PERIOD};
use super::node::{TressFxHair, settings};
use crate::collide::ports::RESET;
use crate::collide::{GradientMode, fields_text, linked_ports};
use crate::hair_sim::HairBind;
use crate::hair_sim::roots::Roots;
use crate::{
    BindContext, DeviceArray, DeviceConstant, DeviceDomain, DeviceFrame, DeviceFrameData,
    DeviceNode, DevicePass, DeviceSetting, DeviceType, UniformLayout,
};
use sinew_geom::{PackedAffine, index32};

/// Vectors of a collider, as in `place.wgsl`.
const PLACED: usize = 6;
const ANALYTIC: u32 = 0;
const FORWARD: u32 = 1;
const MIXED: u32 = 2;

crate::uniform_struct! {
    /// As in `shared.wgsl`.
    struct Uniforms {
        motion: [f32; 4],
        shape: [f32; 4],
        counts: [u32; 4],
        wind_first: [f32; 4],
        wind_second: [f32; 4],
        pulse: [u32; 4],
    }
}

macro_rules! texts {
    ($($file:literal),+) => { concat!($(include_str!($file), "\n"),+) };
}

const PLACE: &str = texts!(
    "../collide/motion.wgsl",
    "../collide/field.wgsl",
    "../collide/place.wgsl",
    "device/place.wgsl"
);
const STEP: &str = texts!(
    "../collide/motion.wgsl",
    "../local_frame/elementary.wgsl",
    "device/step.wgsl"
);
const LAY: &str = texts!(
    "../collide/motion.wgsl",
    "../collide/field.wgsl",
    "device/response.wgsl",
    "device/strands.wgsl",
    "device/lay.wgsl"
);
const OUT: &str = texts!("device/strands.wgsl", "device/out.wgsl");

pub(super) fn node(hair: &TressFxHair, context: &BindContext<'_>) -> DeviceNode {
    let bind = &hair.bind;
    let ports = linked_ports(context);
    let fields = fields_text(&ports, &hair.margins.map(|margin| (margin, 0.0)));
    let over = |name, text, count: usize| {
        let elements = DeviceDomain::Elements(count);
        let pass = DevicePass::per_vertex(name, text);
        pass.over(elements).scattering()
    };
    let none = String::new;
    let passes = [
        (over("place", PLACE, ports.len().max(1)), fields.clone()),
        (over("step", STEP, bind.guide_count()), none()),
        (over("lay", LAY, bind.vertex_count()), fields),
        (over("out", OUT, bind.vertex_count()), none()),
    ];
    let (passes, written) = passes.into_iter().unzip();
    let joints = match hair.roots {
        Roots::Still | Roots::Joint(_) => 1,
        Roots::Weights { .. } => context.rig("pose").map_or(1, |rig| rig.joints().len()),
    };
    let mut constants = strands(bind);
    constants.extend(guides(bind, &hair.roots));
    DeviceNode {
        shared: vec![include_str!("device/shared.wgsl")],
        settings: settings_of(bind, ports.len()),
        constants,
        scratch: vec![
            lasting("state", DeviceType::Vec4F, 3 * bind.guide_vertex_count()),
            lasting("shown", DeviceType::Vec4F, bind.vertex_count()),
            lasting("moment", DeviceType::Vec4U, 1 + PLACED * ports.len()),
        ],
        uniforms: UniformLayout::of::<Uniforms>(),
        frame_arrays: vec![DeviceArray {
            lasting: false,
            ..lasting("palette", DeviceType::Vec4F, 3 * joints)
        }],
        passes,
        written,
        passes_vary: true,
        ..DeviceNode::default()
    }
}

fn lasting(name: &'static str, ty: DeviceType, len: usize) -> DeviceArray {
    DeviceArray {
        name,
        ty,
        len,
        lasting: true,
    }
}

fn settings_of(bind: &HairBind, colliders: usize) -> Vec<(&'static str, DeviceSetting)> {
    let settings = [
        ("GUIDE_VERTICES", bind.guide_vertex_count()),
        ("STRANDS", bind.strands().len()),
        ("COLLIDERS", colliders),
        ("PLACED", PLACED),
        ("EXEMPT", EXEMPT),
        ("WIND_PERIOD", WIND_PERIOD),
        ("ANALYTIC", ANALYTIC as usize),
        ("MIXED", MIXED as usize),
    ];
    let setting = |(name, n)| (name, DeviceSetting::U32(index32(n)));
    settings.into_iter().map(setting).collect()
}

/// See `strands.wgsl`.
fn strands(bind: &HairBind) -> Vec<DeviceConstant> {
    let strands = bind.strands();
    let of_vertex = (0..strands.len()).flat_map(|s| strands.range(s).map(move |_| index32(s)));
    let of_vertex: Vec<u32> = of_vertex.collect();
    let row = |s: usize| {
        let (range, guide) = (strands.range(s), bind.guide_of[s] as usize);
        let first_of_guide = bind.guide_range(guide).start;
        let is_guide = usize::from(strands.is_guide(s));
        [range.start, first_of_guide, range.len(), is_guide].map(index32)
    };
    let separation = |s: usize| {
        let [x, y, z] = bind.segments[strands.range(s).start].map(f32::to_bits);
        [x, y, z, 0]
    };
    let rows = (0..strands.len()).map(row);
    let rows: Vec<[u32; 4]> = rows.chain((0..strands.len()).map(separation)).collect();
    vec![
        DeviceConstant::new("strand_of", DeviceType::U32, &of_vertex),
        DeviceConstant::new("strands", DeviceType::Vec4U, &rows),
    ]
}

/// Guides: root and first vertex; number of vertices, first influence and number of influences. Their vertices, as in `step.wgsl`. And
/// joints and weights, of the palette that [`write_frame`] writes.
fn guides(bind: &HairBind, roots: &Roots) -> [DeviceConstant; 3] {
    let (mut rows, mut influences) = (Vec::new(), Vec::new());
    for (guide, &strand) in bind.guides.iter().enumerate() {
        let first = influences.len();
        match roots {
            Roots::Still | Roots::Joint(_) => influences.push([0, 1.0_f32.to_bits()]),
            Roots::Weights { joints, .. } => {
                let row = joints.row(strand as usize);
                influences.extend(row.map(|(joint, weight)| [joint, weight.to_bits()]));
            }
        }
        let [x, y, z] = bind.roots[guide].map(f32::to_bits);
        let vertices = bind.guide_range(guide);
        rows.push([x, y, z, index32(vertices.start)]);
        let counts = [vertices.len(), first, influences.len() - first, 0];
        rows.push(counts.map(index32));
    }
    let bound = bind.vertices.iter().map(|b| {
        let [x, y, z] = b.offset;
        let pinned = if b.inverse_mass > 0.0 { 1.0 } else { -1.0 };
        [x, y, z, b.length.copysign(pinned)]
    });
    let bound: Vec<[f32; 4]> = bound.collect();
    if influences.is_empty() {
        influences.push([0; 2]);
    }
    [
        DeviceConstant::new("guides", DeviceType::Vec4U, &rows),
        DeviceConstant::new("bound", DeviceType::Vec4F, &bound),
        DeviceConstant::new("influences", DeviceType::Vec2U, &influences),
    ]
}

/// Whether strands start at rest.
fn begins(frame: &DeviceFrame<'_>) -> bool {
    frame.is_first || frame.parameters.bool(RESET.name)
}

pub(super) fn passes(frame: &DeviceFrame<'_>, count: usize, run: &mut dyn FnMut(usize)) {
    // The same moment shown again is no further frame.
    let is_shown_again = !begins(frame) && frame.dt_secs <= 0.0;
    let first = if is_shown_again { count - 1 } else { 0 };
    (first..count).for_each(run);
}

pub(super) fn write_frame(
    hair: &TressFxHair,
    frame: &DeviceFrame<'_>,
    data: &mut DeviceFrameData<'_>,
) {
    data.set_uniforms(&uniforms(frame));
    let palette = frame.inputs.pose("pose").map(|p| p.palette.as_slice());
    let palette: &[PackedAffine] = match (&hair.roots, palette) {
        (Roots::Still, _) | (_, None) => &[],
        (Roots::Joint(joint), Some(palette)) => palette.get(*joint..).unwrap_or_default(),
        (Roots::Weights { .. }, Some(palette)) => palette,
    };
    let out = data.array::<[[f32; 4]; 3]>(0);
    for (i, out) in out.iter_mut().enumerate() {
        *out = palette.get(i).copied().unwrap_or_default().rows;
    }
}

fn uniforms(frame: &DeviceFrame<'_>) -> Uniforms {
    let s = settings(&frame.parameters);
    let h = s.step_secs(frame.dt_secs as f32);
    let [first, second] = s.winds(f64::from(s.wind_magnitude));
    let wind = |v: sinew_geom::Vec3<f64>, w: f32| [v.x as f32, v.y as f32, v.z as f32, w];
    let gradient = match s.gradient {
        GradientMode::Analytic => ANALYTIC,
        GradientMode::Forward => FORWARD,
        GradientMode::Mixed { .. } => MIXED,
    };
    Uniforms {
        motion: [s.kept(h), s.fall(h), s.global_stiffness, s.global_range],
        shape: [
            s.bend_share(),
            s.shock_coefficient,
            s.shock_threshold,
            s.tip_separation,
        ],
        counts: [
            index32(s.local_iterations),
            index32(s.length_iterations),
            gradient,
            u32::from(begins(frame)),
        ],
        wind_first: wind(first, h * h),
        wind_second: wind(second, f32::from(s.wind_magnitude != 0.0)),
        pulse: [0, 8, 16, 24].map(|bits| pulse_turns(f64::from(1_u32 << bits))),
    }
}

/// Twice the angle of the wind's pulse for so many frames, in 2^-32 of a turn.
fn pulse_turns(frames: f64) -> u32 {
    let turns = PULSE_PER_FRAME * frames / std::f64::consts::PI;
    (turns.fract() * 4_294_967_296.0) as u32
}
