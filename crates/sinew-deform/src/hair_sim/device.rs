//! What `hair_sim` runs on the GPU: a team of invocations for each guide, which goes through all steps of a frame.
//!
//! | pass | one invocation or team per | does |
//! |---|---|---|
//! | `start` | guide | in first frames: puts the strand at rest on the skin |
//! | `aim` | guide | blends joints, computes where the root goes; moves strands that are hidden |
//! | `place` | step of a run and collider | transform of the collider in that step; gusts |
//! | `strands` | guide | all steps of a run |
//! | `advance` | run | counts finished runs, if another one follows |
//! | `followers` | follower | lays the strand beside its guides, collides it |
//! | `out` | vertex | positions and tangents |
//! | `free` | guide | in first frames: brings strands out of what they begin in |
//! | `volume_clear` | node of a grid | hair that keeps its volume, before each run: nothing is there |
//! | `volume_add` | guide and node around a vertex | where vertices will be at the end of the run, and what they take up |
//! | `beside` | follower | if any follow joints of their own, before `followers`: where the roots go |
//!
//! A run has at most [`RUN`] steps, enough for all frames of ordinary length: `aim`, `place`, `strands`, `out`. Pre-rolls and longer frames are
//! several runs, so that no dispatch takes long.
//!
//! Guides are sorted by their number of vertices, by the detail from which on they are shown, in eighths, and by the position of their roots.
//! So neighbours are hidden together: a workgroup without a strand to show returns at once. Arrays hold all first vertices, then all second
//! ones, and so on. State: 64 bytes per guide vertex, and 80 per guide. A frame reads 64 bytes of setup per guide vertex. Strands of
//! more than [`GROUP`] vertices run on the CPU.
//!
//! The results are those of the CPU up to rounding: sums are in another order. Gusts count time in steps of 2^-32 s.

use super::bind::{HairBind, pinned, rest_turns};
use super::detail::morton_codes;
use super::node::{Hair, settings};
use super::roots::Roots;
use super::settings::{HairSettings, Piece};
use super::volume::{self, HairVolume};
use super::wind::{Gusts, RATIOS};
use crate::collide::ports::RESET;
use crate::collide::{PLACEMENT, fields_text, linked_ports};
use crate::strand_step::{GROUP, Teams};
use crate::{
    BindContext, DeviceArray, DeviceConstant, DeviceDomain, DeviceFrame, DeviceFrameData,
    DeviceNode, DevicePass, DeviceSetting, DeviceType, Locality, UniformLayout,
};
use sinew_geom::{Real, Vec3, index32};

/// Steps that one dispatch goes through, at most.
const RUN: usize = 32;
/// Vectors of a guide vertex in the state.
const KEPT: usize = 4;
/// Vectors of a guide's drive in the state.
const DRIVE: usize = 5;
/// Tiers of strands that are hidden together.
const TIERS: f32 = 8.0;
/// A strand that is no follower.
const NO_FOLLOWER: u32 = u32::MAX;

/// Places in the list of passes.
#[derive(Clone, Copy)]
enum Pass {
    Start,
    Aim,
    Place,
    Strands,
    Advance,
    Followers,
    Out,
    Free,
    /// With a volume only.
    VolumeClear,
    VolumeAdd,
}

crate::uniform_struct! {
    /// As in `uniforms.wgsl`.
    #[derive(Default)]
    struct Uniforms {
        steps: [u32; 4],
        fractions: [u32; 4],
        begin: [u32; 4],
        step_0: [f32; 4],
        step_1: [f32; 4],
        step_2: [f32; 4],
        calm: [f32; 4],
        gravity: [f32; 4],
        wind: [f32; 4],
        sideways: [f32; 4],
        air: [f32; 4],
        roots: [f32; 4],
        whole: [u32; 4],
        part: [u32; 4],
        runs: [u32; 4],
        shown: [f32; 4],
    }
}

macro_rules! texts {
    ($($file:literal),+) => { concat!($(include_str!($file), "\n"),+) };
}

const ROOTS: &str = texts!(
    "device/uniforms.wgsl",
    "../collide/motion.wgsl",
    "device/layout.wgsl",
    "device/root.wgsl"
);
/// Behind those.
const BESIDE: &str = texts!("device/outlet.wgsl", "device/beside.wgsl");
const PLACE: &str = texts!(
    "device/uniforms.wgsl",
    "../collide/motion.wgsl",
    "../collide/field.wgsl",
    "../collide/place.wgsl",
    "device/layout.wgsl",
    "device/place.wgsl"
);
const STRANDS: &str = texts!(
    "device/uniforms.wgsl",
    "../collide/motion.wgsl",
    "../collide/field.wgsl",
    "../collide/solid.wgsl",
    "../strand_step/device/strand.wgsl",
    "../strand_step/device/look.wgsl",
    "../strand_step/device/energy.wgsl",
    "../strand_step/device/solve.wgsl",
    "device/layout.wgsl",
    "device/gusts.wgsl",
    "device/guide.wgsl",
    "device/strands.wgsl"
);
const FREE: &str = texts!(
    "device/uniforms.wgsl",
    "../collide/motion.wgsl",
    "../collide/field.wgsl",
    "../collide/solid.wgsl",
    "../strand_step/device/strand.wgsl",
    "../strand_step/device/look.wgsl",
    "../strand_step/device/energy.wgsl",
    "../strand_step/device/solve.wgsl",
    "../strand_step/device/place.wgsl",
    "device/layout.wgsl",
    "device/guide.wgsl",
    "device/free.wgsl"
);
const VOLUME_ADD: &str = texts!(
    "device/uniforms.wgsl",
    "../collide/motion.wgsl",
    "device/layout.wgsl",
    "device/volume_grid.wgsl",
    "device/volume_add.wgsl"
);
/// Behind those of strands.
const VOLUME_PUSH: &str = texts!("device/volume_grid.wgsl", "device/volume_push.wgsl");
const ADVANCE: &str = texts!(
    "device/uniforms.wgsl",
    "device/layout.wgsl",
    "device/advance.wgsl",
    "device/advance_pass.wgsl"
);
const FOLLOWERS: &str = texts!(
    "device/uniforms.wgsl",
    "../collide/motion.wgsl",
    "../collide/field.wgsl",
    "../collide/solid.wgsl",
    "../strand_step/device/strand.wgsl",
    "../strand_step/device/look.wgsl",
    "../strand_step/device/energy.wgsl",
    "../strand_step/device/solve.wgsl",
    "../strand_step/device/place.wgsl",
    "device/layout.wgsl",
    "device/outlet.wgsl",
    "device/follower.wgsl"
);
const OUT: &str = texts!(
    "device/uniforms.wgsl",
    "../collide/motion.wgsl",
    "device/layout.wgsl",
    "device/outlet.wgsl",
    "device/advance.wgsl",
    "../collide/device/tangents.wgsl",
    "device/out.wgsl"
);

/// Strands sorted by their number of vertices and their tier, and where their planes begin.
struct Sorted {
    /// Strands, the longest first.
    strands: Vec<usize>,
    /// Where plane `k` begins: vertex `k` of all strands that have one.
    planes: Vec<usize>,
    vertices: usize,
}

impl Sorted {
    /// `roots` has the place of each strand's root. Where these are neighbours, invocations that run together read the same parts of fields
    /// and touch the same things. `shown_from` gives the detail from which on a strand is shown.
    fn new(
        strands: impl Iterator<Item = usize>,
        count: impl Fn(usize) -> usize,
        shown_from: impl Fn(usize) -> f32,
        roots: &[[f32; 3]],
    ) -> Self {
        let mut strands: Vec<usize> = strands.collect();
        let codes = morton_codes(roots);
        let tier = |s: usize| (shown_from(s) * TIERS) as u32;
        strands.sort_by_key(|&s| (std::cmp::Reverse(count(s)), tier(s), codes[s]));
        let (mut planes, mut vertices) = (Vec::new(), 0);
        loop {
            let plane = planes.len();
            let width = strands.partition_point(|&s| count(s) > plane);
            if width == 0 {
                break;
            }
            planes.push(vertices);
            vertices += width;
        }
        Self {
            strands,
            planes,
            vertices,
        }
    }
}

/// `None` for strands with too many vertices.
pub(super) fn node(hair: &Hair, context: &BindContext<'_>) -> Option<DeviceNode> {
    let bind = &hair.bind;
    let teams = Teams::new(bind.longest)?;
    let guides = Sorted::new(
        0..bind.guide_count(),
        |g| bind.guide_range(g).len(),
        |g| bind.shown_from[bind.guides[g] as usize],
        &bind.roots,
    );
    let strands = bind.strands();
    let root_of = |&guide: &u32| bind.roots[guide as usize];
    let roots: Vec<[f32; 3]> = bind.guide_of.iter().map(root_of).collect();
    let followers = (0..strands.len()).filter(|&s| !strands.is_guide(s));
    let followers = Sorted::new(
        followers,
        |s| strands.range(s).len(),
        |s| bind.shown_from[s],
        &roots,
    );
    let ports = linked_ports(context);
    let fields = fields_text(&ports, &hair.contacts);
    let mut node = DeviceNode {
        settings: settings_of(bind, (&guides, &followers), ports.len(), teams),
        constants: vec![
            DeviceConstant::new("bound", DeviceType::Vec4F, &bound(bind, &guides)),
            DeviceConstant::new("rest", DeviceType::Vec4F, &rest(bind, &guides)),
        ],
        uniforms: UniformLayout::of::<Uniforms>(),
        passes_vary: true,
        group_size: Some(64),
        ..DeviceNode::default()
    };
    let roots_text = add_roots(&mut node, hair, (&guides, &followers), context);
    let places = ports.len() * (RUN + 1);
    node.scratch = vec![
        vectors(
            "state",
            KEPT * guides.vertices + DRIVE * guides.strands.len() + 2 * ports.len(),
        ),
        DeviceArray {
            ty: DeviceType::Vec4U,
            ..vectors("moment", 1 + RUN + PLACEMENT * places)
        },
        vectors("followers", followers.vertices.max(1)),
    ];
    if let Some(volume) = &bind.volume {
        add_volume(&mut node, bind, volume, &guides);
    }
    let pass = |name, text, count: usize| DevicePass {
        name,
        text,
        domain: DeviceDomain::Elements(count),
        locality: Locality::Scatter,
        aliases: &[],
        when: None,
        group_size: None,
    };
    let count = guides.strands.len();
    let mut add = |pass: DevicePass, written: String| {
        node.passes.push(pass);
        node.written.push(written);
    };
    let start = format!("{roots_text}\n{}", include_str!("device/start.wgsl"));
    let aim = format!("{roots_text}\n{}", include_str!("device/aim.wgsl"));
    add(pass("start", ROOTS, count), start);
    add(pass("aim", ROOTS, count), aim);
    add(pass("place", PLACE, places.max(RUN)), fields.clone());
    let in_teams =
        |name, text, count| DevicePass::in_groups(name, text, teams.groups(count), GROUP as u32);
    let strands = in_teams("strands", STRANDS, count);
    let push = match bind.volume {
        Some(_) => VOLUME_PUSH,
        None => include_str!("device/volume_none.wgsl"),
    };
    add(strands, format!("{fields}\n{push}"));
    add(pass("advance", ADVANCE, 1), String::new());
    let of_followers = in_teams("followers", FOLLOWERS, followers.strands.len());
    add(of_followers, fields.clone());
    add(pass("out", OUT, bind.vertex_count()), String::new());
    add(in_teams("free", FREE, count), fields);
    if let Some(volume) = &bind.volume {
        let nodes = (volume.nodes as usize).pow(3);
        let clear = pass(
            "volume_clear",
            include_str!("device/volume_clear.wgsl"),
            nodes,
        );
        add(clear, String::new());
        add(pass("volume_add", VOLUME_ADD, 27 * count), String::new());
    }
    if !bind.own_roots.is_empty() {
        let text = format!("{roots_text}\n{BESIDE}");
        add(pass("beside", ROOTS, followers.strands.len()), text);
    }
    Some(node)
}

fn vectors(name: &'static str, len: usize) -> DeviceArray {
    DeviceArray {
        name,
        ty: DeviceType::Vec4F,
        len,
        lasting: true,
    }
}

fn settings_of(
    bind: &HairBind,
    (guides, followers): (&Sorted, &Sorted),
    colliders: usize,
    teams: Teams,
) -> Vec<(&'static str, DeviceSetting)> {
    let settings = [
        ("GUIDES", guides.strands.len()),
        ("GUIDE_VERTICES", guides.vertices),
        ("LONGEST", guides.planes.len()),
        ("COLLIDERS", colliders),
        ("BATCH", RUN),
        ("VERTICES", bind.vertex_count()),
        ("STRANDS", bind.strands().len()),
        ("FOLLOWERS", followers.strands.len()),
    ];
    let setting = |(name, n)| (name, DeviceSetting::U32(index32(n)));
    let settings = settings.into_iter().chain(teams.settings());
    settings.map(setting).collect()
}

/// What hair that keeps its volume needs.
fn add_volume(node: &mut DeviceNode, bind: &HairBind, volume: &HairVolume, guides: &Sorted) {
    node.settings.extend([
        ("VOLUME_NODES", DeviceSetting::U32(volume.nodes)),
        ("VOLUME_CELL", DeviceSetting::F32(volume.cell)),
        ("VOLUME_ONE", DeviceSetting::F32(volume::ONE)),
        ("VOLUME_MOST", DeviceSetting::F32(volume::MOST)),
        ("VOLUME_COURANT", DeviceSetting::F32(volume::COURANT as f32)),
    ]);
    let mut volumes = vec![0.0; guides.vertices];
    for (place, &guide) in guides.strands.iter().enumerate() {
        for (v, plane) in bind.guide_range(guide).zip(&guides.planes) {
            volumes[plane + place] = volume.volumes[v];
        }
    }
    let volumes = DeviceConstant::new("volumes", DeviceType::F32, &volumes);
    node.constants.push(volumes);
    let temporary = |name, ty, len| DeviceArray {
        name,
        ty,
        len,
        lasting: false,
    };
    let nodes = (volume.nodes as usize).pow(3);
    node.scratch.extend([
        temporary("places", DeviceType::Vec4F, guides.vertices),
        temporary("volume_sums", DeviceType::U32, nodes),
    ]);
}

/// What steps read of each guide vertex: three vectors, plane after plane.
fn bound(bind: &HairBind, guides: &Sorted) -> Vec<[f32; 4]> {
    let mut out = vec![[0.0; 4]; 3 * guides.vertices];
    for (place, &guide) in guides.strands.iter().enumerate() {
        let vertices = bind.guide_vertices(guide);
        let pins = pinned(vertices);
        for (i, (b, plane)) in vertices.iter().zip(&guides.planes).enumerate() {
            let [x, y, z] = b.offset;
            let kind = match i {
                _ if i < pins => 0.0,
                _ if b.inverse_mass > 0.0 => 1.0,
                _ => 2.0,
            };
            out[plane + place] = [x, y, z, kind];
            out[guides.vertices + plane + place] = [b.length, b.arc, b.way, b.bend];
            let [x, y, z] = b.direction;
            out[2 * guides.vertices + plane + place] = [x, y, z, b.mass];
        }
    }
    out
}

/// How segments are rotated at rest.
fn rest(bind: &HairBind, guides: &Sorted) -> Vec<[f32; 4]> {
    let mut out = vec![[0.0; 4]; guides.vertices];
    for (place, &guide) in guides.strands.iter().enumerate() {
        let vertices = bind.guide_vertices(guide);
        let points: Vec<Vec3<f64>> = vertices.iter().map(|b| f64::vec3(b.offset)).collect();
        for (turn, plane) in rest_turns(&points).iter().zip(&guides.planes) {
            out[plane + place] = [turn.i, turn.j, turn.k, turn.w].map(|c| c as f32);
        }
    }
    out
}

/// See `outlet.wgsl`. `own`: influences of each follower's root.
fn outlet(
    bind: &HairBind,
    (guides, followers): (&Sorted, &Sorted),
    own: &[(usize, usize)],
) -> DeviceConstant {
    let strands = bind.strands();
    let mut place_of_guide = vec![0; guides.strands.len()];
    for (place, &guide) in guides.strands.iter().enumerate() {
        place_of_guide[guide] = index32(place);
    }
    let mut number = vec![NO_FOLLOWER; strands.len()];
    for (place, &strand) in followers.strands.iter().enumerate() {
        number[strand] = index32(place);
    }
    let mut out: Vec<[u32; 4]> = Vec::with_capacity(bind.vertex_count() + strands.len());
    for strand in 0..strands.len() {
        let segments = &bind.segments[strands.range(strand)];
        out.extend(segments.iter().map(|s| {
            let [x, y, z] = s.map(f32::to_bits);
            [x, y, z, index32(strand)]
        }));
    }
    out.extend((0..strands.len()).map(|strand| {
        let range = strands.range(strand);
        let guide = place_of_guide[bind.guide_of[strand] as usize];
        let (first, count) = (index32(range.start), index32(range.len()));
        [guide, number[strand], first, count]
    }));
    let of_followers = followers.strands.iter().zip(own);
    out.extend(of_followers.map(|(&strand, own)| {
        let shown_from = bind.shown_from[strand].to_bits();
        [index32(strand), index32(own.0), index32(own.1), shown_from]
    }));
    out.extend(followers.planes.iter().map(|n| [index32(*n), 0, 0, 0]));
    DeviceConstant::new("outlet", DeviceType::Vec4U, &out)
}

/// Adds what guides are and which joints their roots follow; gives the text that blends those.
fn add_roots(
    node: &mut DeviceNode,
    hair: &Hair,
    (guides, followers): (&Sorted, &Sorted),
    context: &BindContext<'_>,
) -> &'static str {
    let bind = &hair.bind;
    let mut influences: Vec<[u32; 2]> = Vec::new();
    let alone = |n: &usize| [index32(*n), 0, 0, 0];
    let mut out: Vec<[u32; 4]> = guides.planes.iter().map(alone).collect();
    out.extend(guides.strands.iter().map(|&guide| {
        let [x, y, z] = bind.roots[guide].map(f32::to_bits);
        [x, y, z, bind.guides[guide]]
    }));
    // The first one and how many there are.
    let mut add_influences = |strand: usize| {
        let first = influences.len();
        if let Roots::Weights { joints, .. } = &hair.roots {
            let row = joints.row(strand);
            influences.extend(row.map(|(joint, weight)| [joint, weight.to_bits()]));
        }
        (first, influences.len() - first)
    };
    for &guide in &guides.strands {
        let (first, count) = add_influences(bind.guides[guide] as usize);
        let vertices = bind.guide_range(guide).len();
        let reach = bind.reaches[guide].to_bits();
        out.push([index32(vertices), index32(first), index32(count), reach]);
    }
    out.extend(guides.strands.iter().map(|&guide| {
        let shown_from = bind.shown_from[bind.guides[guide] as usize];
        [shown_from.to_bits(), 0, 0, 0]
    }));
    let of_follower = |&strand: &usize| match bind.has_own_root(strand) {
        true => add_influences(strand),
        false => (0, 0),
    };
    let own: Vec<(usize, usize)> = followers.strands.iter().map(of_follower).collect();
    node.constants.push(outlet(bind, (guides, followers), &own));
    let guides = DeviceConstant::new("guides", DeviceType::Vec4U, &out);
    node.constants.push(guides);
    let joints = match hair.roots {
        Roots::Still => return include_str!("device/roots_still.wgsl"),
        Roots::Joint(_) => 1,
        Roots::Weights { .. } => context.rig("pose").map_or(1, |rig| rig.joints().len()),
    };
    node.frame_arrays.push(DeviceArray {
        lasting: false,
        ..vectors("palette", 3 * joints)
    });
    if matches!(hair.roots, Roots::Joint(_)) {
        return include_str!("device/roots_joint.wgsl");
    }
    if influences.is_empty() {
        influences.push([0; 2]);
    }
    let influences = DeviceConstant::new("influences", DeviceType::Vec2U, &influences);
    node.constants.push(influences);
    include_str!("device/roots_weights.wgsl")
}

/// Steps of a frame, of the three sorts in `uniforms.wgsl`.
struct Sorts {
    pieces: [Piece; 3],
    /// Whether hair keeps its volume: runs are as long as that allows.
    has_volume: bool,
}

impl Sorts {
    fn new(hair: &Hair, settings: &HairSettings, frame: &DeviceFrame<'_>) -> Self {
        let none = Piece::default();
        let ([full, rest], dt_secs) = match begins(frame) {
            true => (settings.pre_roll(), 0.0),
            false => ([none; 2], frame.dt_secs as f32),
        };
        let (secs, steps) = settings.substeps(dt_secs);
        let frame = Piece {
            secs,
            steps,
            times: usize::from(steps > 0),
        };
        Self {
            pieces: [full, rest, frame],
            has_volume: hair.bind.volume.is_some() && settings.volume > 0.0,
        }
    }
    fn steps(&self, sort: usize) -> usize {
        let piece = self.pieces[sort];
        piece.steps.saturating_mul(piece.times)
    }
    /// Steps of a run at most.
    fn run(&self, sort: usize) -> usize {
        let secs = self.pieces[sort].step_secs();
        if self.has_volume && secs > 0.0 {
            HairVolume::steps(secs).min(RUN)
        } else {
            RUN
        }
    }
    /// Runs of a sort.
    fn runs(&self, sort: usize) -> usize {
        self.steps(sort).div_ceil(self.run(sort))
    }
}

/// Whether strands start at rest.
fn begins(frame: &DeviceFrame<'_>) -> bool {
    frame.is_first || frame.parameters.bool(RESET.name)
}

pub(super) fn passes(hair: &Hair, frame: &DeviceFrame<'_>, run: &mut dyn FnMut(usize)) {
    let sorts = Sorts::new(hair, &settings(&frame.parameters), frame);
    let beside = Pass::VolumeClear as usize + if hair.bind.volume.is_some() { 2 } else { 0 };
    let strands: &[Pass] = match sorts.has_volume {
        true => &[
            Pass::Place,
            Pass::VolumeClear,
            Pass::VolumeAdd,
            Pass::Strands,
        ],
        false => &[Pass::Place, Pass::Strands],
    };
    let all = |run: &mut dyn FnMut(usize), passes: &[Pass]| {
        for pass in passes {
            run(*pass as usize);
        }
    };
    if begins(frame) {
        all(run, &[Pass::Start]);
        // Strands come out of what they begin in.
        if hair.colliders > 0 {
            all(run, &[Pass::Place, Pass::Free, Pass::Advance]);
        }
    }
    for sort in [0, 1] {
        for _ in 0..sorts.runs(sort) {
            all(run, strands);
            all(run, &[Pass::Advance]);
        }
    }
    // Colliders move, even where time stands still.
    let moves = sorts.steps(2) > 0;
    all(run, if moves { &[Pass::Aim] } else { &[Pass::Place] });
    for i in 0..sorts.runs(2) {
        if i > 0 {
            all(run, &[Pass::Advance]);
        }
        all(run, strands);
    }
    if hair.bind.strands().len() > hair.bind.guide_count() {
        if !hair.bind.own_roots.is_empty() {
            run(beside);
        }
        all(run, &[Pass::Followers]);
    }
    all(run, &[Pass::Out]);
}

pub(super) fn write_frame(hair: &Hair, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
    let settings = settings(&frame.parameters);
    data.set_uniforms(&uniforms(hair, &settings, frame));
    let palette = frame.inputs.pose("pose").map(|p| p.palette.as_slice());
    let palette = palette.unwrap_or_default();
    let first = match hair.roots {
        Roots::Joint(joint) => joint,
        _ => 0,
    };
    let joints = palette.get(first..).unwrap_or_default().iter();
    let out = data.array::<[[f32; 4]; 3]>(0);
    for (i, out) in out.iter_mut().enumerate() {
        *out = joints.as_slice().get(i).copied().unwrap_or_default().rows;
    }
}

/// A whole number of 2^-32, and what is left of it: the whole part, which wraps.
fn fixed(value: f64) -> [u32; 2] {
    let scaled = (value * 4_294_967_296.0).round() as i64;
    [(scaled >> 32) as u32, scaled as u32]
}

fn uniforms(hair: &Hair, settings: &HairSettings, frame: &DeviceFrame<'_>) -> Uniforms {
    let sorts = Sorts::new(hair, settings, frame);
    let secs = sorts.pieces.map(|p| p.step_secs());
    let constants = |secs: f64| {
        let laws = settings.laws(secs);
        let squared = |hz: f64| laws.angle_squared(hz) as f32;
        [
            laws.h as f32,
            laws.drag as f32,
            squared(laws.pull_hz),
            squared(laws.bend_hz),
        ]
    };
    let laws = settings.laws(f64::from(settings.step_secs()));
    let gusts = Gusts::new(settings);
    let directions = gusts.directions().map(|v| v.map(|c| c as f32));
    let [wind, sideways, delay] = directions;
    let [turn, turn_more] = settings.teleport_turn();
    let vector = |v: [f32; 3], w: f32| [v[0], v[1], v[2], w];
    let [step_0, step_1, step_2] = secs.map(constants);
    let hz = RATIOS.map(|ratio| fixed(f64::from(settings.gust_hz) * ratio));
    let [seconds, fraction] = fixed(-f64::from(settings.pre_roll_secs.clamp(0.0, 1e4)));
    Uniforms {
        steps: [
            index32(sorts.steps(0)),
            index32(sorts.steps(1)),
            index32(sorts.steps(2)),
            u32::from(begins(frame)),
        ],
        fractions: {
            let [a, b, c] = secs.map(|s| fixed(s)[1]);
            [a, b, c, settings.seed]
        },
        begin: [
            seconds,
            fraction,
            index32(laws.iterations),
            u32::from(laws.segments),
        ],
        step_0,
        step_1,
        step_2,
        calm: constants(f64::from(settings.step_secs())),
        gravity: vector(settings.gravity, laws.dry as f32),
        wind: vector(wind, settings.gust_strength),
        sideways: vector(sideways, settings.global_range),
        air: vector(delay, turn),
        roots: [
            sorts.pieces[2].secs,
            settings.teleport_distance.max(1e-6),
            settings.root_motion_share.clamp(0.0, 1.0),
            settings.tip_separation,
        ],
        whole: [
            hz[0][0],
            hz[1][0],
            hz[2][0],
            u32::from(settings.collide_followers),
        ],
        part: [hz[0][1], hz[1][1], hz[2][1], turn_more.to_bits()],
        runs: [
            index32(sorts.run(0)),
            index32(sorts.run(1)),
            index32(sorts.run(2)),
            volume::push_of(settings.volume).to_bits(),
        ],
        shown: [settings.shown_detail(), 0.0, 0.0, 0.0],
    }
}
