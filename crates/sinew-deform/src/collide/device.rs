//! What `collide` runs on the GPU. `hair_sim` shares its kernel texts, its layout of colliders and [`Teams`].
//!
//! | pass | one invocation or team per | does |
//! |---|---|---|
//! | `place` | collider | its transform in this frame and in the frame before |
//! | `clear` | strand, a team of invocations each | moves the strand out of solids |
//! | `out` | vertex | positions and tangents |
//!
//! If no strand has more than [`LONGEST_SHARED`] vertices, a team works in workgroup memory, 64 bytes per vertex; otherwise all strands use
//! a storage array. State: 16 bytes per vertex. The difference schemes of `gradient` exist on the CPU only.

use super::node::Collide;
use super::ports::{Contacts, PORTS, RESET};
use crate::{
    BindContext, DeviceArray, DeviceConstant, DeviceDomain, DeviceFrame, DeviceFrameData,
    DeviceNode, DevicePass, DeviceSetting, DeviceType, Locality, UniformLayout,
};
use sinew_geom::{Strands, index32};
use std::fmt::Write;

/// Vectors of a collider's placement, as in `place.wgsl`.
pub(crate) const PLACEMENT: usize = 14;
/// Vertices of strands that are worked on in memory of the workgroup: a few groups fit beside each other.
const LONGEST_SHARED: usize = 32;
/// Vectors of room a vertex of a strand that forgets its contacts, as in `light.wgsl`.
pub(crate) const LIGHT_ROOMS: usize = 4;

crate::uniform_struct! {
    /// As in `layout.wgsl`.
    #[derive(Default)]
    struct Uniforms {
        frame: [u32; 4],
    }
}

macro_rules! texts {
    ($($file:literal),+) => { concat!($(include_str!($file), "\n"),+) };
}

const PLACE: &str = texts!(
    "motion.wgsl",
    "field.wgsl",
    "place.wgsl",
    "device/layout.wgsl",
    "device/place.wgsl"
);
const CLEAR: &str = texts!(
    "motion.wgsl",
    "field.wgsl",
    "solid.wgsl",
    "contact.wgsl",
    "settle.wgsl",
    "device/light.wgsl",
    "device/layout.wgsl",
    "device/clear.wgsl"
);
const OUT: &str = texts!(
    "motion.wgsl",
    "device/layout.wgsl",
    "device/tangents.wgsl",
    "device/out.wgsl"
);

/// Ports of colliders with a link.
pub(crate) fn linked_ports(context: &BindContext<'_>) -> Vec<usize> {
    let is_linked = |&i: &usize| context.is_linked(PORTS[i].name);
    (0..PORTS.len()).filter(is_linked).collect()
}

/// How invocations of a workgroup share strands: teams of as many as the longest strand has vertices, up to a power of two between 4 and
/// 32.
#[derive(Clone, Copy)]
pub(crate) struct Teams {
    /// Invocations of a team.
    lanes: usize,
    /// Teams of a group.
    pub(crate) teams: usize,
}

impl Teams {
    /// Invocations of a group.
    pub(crate) const SIZE: u32 = 64;

    pub(crate) fn new(longest: usize) -> Self {
        let lanes = longest.next_power_of_two().clamp(4, 32);
        Self {
            lanes,
            teams: Self::SIZE as usize / lanes,
        }
    }
    /// Groups of that many strands.
    pub(crate) fn groups(self, strands: usize) -> usize {
        strands.div_ceil(self.teams)
    }
    pub(crate) fn settings(self) -> [(&'static str, usize); 2] {
        [("LANES", self.lanes), ("TEAMS", self.teams)]
    }
    /// Text of `room`, `set_room` and `sync`: in memory of the workgroup.
    pub(crate) fn shared_room(self, rooms: usize, longest: usize) -> String {
        let all = self.teams * rooms * longest.max(1);
        let text = include_str!("device/work_shared.wgsl");
        format!("{text}\nconst ROOMS = {rooms}u;\nvar<workgroup> rooms: array<vec4f, {all}>;\n")
    }
}

/// The same in memory of the invocation, without `sync`.
pub(crate) fn private_room(rooms: usize, longest: usize) -> String {
    let all = rooms * longest.max(1);
    let text = include_str!("device/work_private.wgsl");
    format!("{text}\nvar<private> rooms: array<vec4f, {all}>;\n")
}

/// The same in an array `work`, for so many vertices.
pub(crate) fn stored_room(vertices: usize) -> String {
    let text = include_str!("device/work_stored.wgsl");
    format!("{text}\nconst WORK_VERTICES = {vertices}u;\n")
}

/// `None` where a difference scheme is asked for, or may be in some frame.
pub(super) fn node(collide: &Collide, context: &BindContext<'_>) -> Option<DeviceNode> {
    let strands = collide.strands()?;
    let is_analytic = context.parameters.text("gradient") == "analytic";
    if !(is_analytic && context.is_fixed("gradient")) {
        return None;
    }
    let ports = linked_ports(context);
    let fields = fields_text(&ports, &collide.contacts);
    let (vertices, longest) = (strands.vertex_count(), strands.longest());
    let (is_small, teams) = (longest <= LONGEST_SHARED, Teams::new(longest));
    let mut node = DeviceNode {
        settings: settings(strands, ports.len(), teams),
        constants: vec![rows(strands)],
        scratch: arrays(vertices, ports.len()),
        uniforms: UniformLayout::of::<Uniforms>(),
        ..DeviceNode::default()
    };
    if !is_small {
        let room = LIGHT_ROOMS * vertices;
        node.scratch.push(array("work", DeviceType::Vec4F, room));
    }
    let room = match is_small {
        true => teams.shared_room(LIGHT_ROOMS, longest),
        false => stored_room(vertices),
    };
    let over = |name, text, domain| DevicePass {
        domain,
        locality: Locality::Scatter,
        ..DevicePass::per_vertex(name, text)
    };
    let colliders = DeviceDomain::Elements(ports.len().max(1));
    let passes = [
        (over("place", PLACE, colliders), fields.clone()),
        (
            DevicePass::in_groups("clear", CLEAR, teams.groups(strands.len()), Teams::SIZE),
            room + &fields,
        ),
        (over("out", OUT, DeviceDomain::Vertices), String::new()),
    ];
    (node.passes, node.written) = passes.into_iter().unzip();
    Some(node)
}

fn settings(
    strands: &Strands,
    colliders: usize,
    teams: Teams,
) -> Vec<(&'static str, DeviceSetting)> {
    let settings = [
        ("COLLIDERS", colliders),
        ("LONGEST", strands.longest()),
        ("VERTICES", strands.vertex_count()),
        ("STRANDS", strands.len()),
    ];
    let setting = |(name, n)| (name, DeviceSetting::U32(index32(n)));
    settings
        .into_iter()
        .chain(teams.settings())
        .map(setting)
        .collect()
}

/// Each vertex's strand, then the first vertex and the number of vertices of each strand.
fn rows(strands: &Strands) -> DeviceConstant {
    let of_vertex = (0..strands.len()).flat_map(|s| strands.range(s).map(move |_| [index32(s), 0]));
    let of_strand = strands
        .ranges()
        .map(|r| [index32(r.start), index32(r.len())]);
    let all: Vec<[u32; 2]> = of_vertex.chain(of_strand).collect();
    DeviceConstant::new("rows", DeviceType::Vec2U, &all)
}

fn arrays(vertices: usize, colliders: usize) -> Vec<DeviceArray> {
    vec![
        // Vertices where the frame before left them, then where colliders were.
        array("state", DeviceType::Vec4F, vertices + 2 * colliders),
        array("moment", DeviceType::Vec4U, (PLACEMENT * colliders).max(1)),
    ]
}

fn array(name: &'static str, ty: DeviceType, len: usize) -> DeviceArray {
    DeviceArray {
        name,
        ty,
        len,
        lasting: true,
    }
}

pub(super) fn write_frame(frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
    let count = |name: &str| u32::try_from(frame.parameters.int(name)).unwrap_or(0);
    data.set_uniforms(&Uniforms {
        frame: [
            u32::from(frame.is_first || frame.parameters.bool(RESET.name)),
            u32::from(frame.parameters.bool("paths")),
            count("exempt"),
            count("iterations").max(1),
        ],
    });
}

/// Functions that reach the words of the linked fields, by their place among them, and their margins and frictions.
pub(crate) fn fields_text(ports: &[usize], contacts: &Contacts) -> String {
    let [mut word, mut rows, mut words, mut contact] = [const { String::new() }; 4];
    for (place, &port) in ports.iter().enumerate() {
        let name = PORTS[port].name;
        let (margin, friction) = contacts[port];
        // Writing to strings does not fail.
        let _ = writeln!(word, "    case {place}u: {{ return read_{name}(at); }}");
        let pair = |of: char| format!("read_{name}(at.{of}), read_{name}(at.{of} + 1u)");
        let [x, y, z, w] = ['x', 'y', 'z', 'w'].map(pair);
        let _ = writeln!(
            rows,
            "    case {place}u: {{ return Rows(vec4u({x}, {y}), vec4u({z}, {w})); }}"
        );
        let _ = writeln!(words, "    case {place}u: {{ return count_{name}; }}");
        let _ = writeln!(
            contact,
            "    case {place}u: {{ return vec2f({margin:?}f, {friction:?}f); }}"
        );
    }
    format!(
        "
fn field_word(collider: u32, at: u32) -> u32 {{
  switch collider {{
{word}    default: {{ return 0u; }}
  }}
}}

fn field_rows(collider: u32, at: vec4u) -> Rows {{
  switch collider {{
{rows}    default: {{ return Rows(vec4u(0u), vec4u(0u)); }}
  }}
}}

fn field_words(collider: u32) -> u32 {{
  switch collider {{
{words}    default: {{ return 0u; }}
  }}
}}

fn contact_of(collider: u32) -> vec2f {{
  switch collider {{
{contact}    default: {{ return vec2f(0.0); }}
  }}
}}
"
    )
}
