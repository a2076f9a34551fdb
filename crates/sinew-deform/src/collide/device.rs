//! What `collide` runs on the GPU. `hair_sim` shares its texts for fields and its layout of colliders.
//!
//! | pass | one invocation or team per | does |
//! |---|---|---|
//! | `place` | collider | its transform in this frame and in the frame before |
//! | `strands` | strand, a team of invocations each | moves the strand out of solids |
//! | `out` | vertex | positions and tangents |
//!
//! State: 16 bytes per vertex. The difference schemes of `gradient`, and strands of more than [`GROUP`] vertices, run on the CPU only.

use super::node::Collide;
use super::ports::{Contacts, PORTS, RESET};
use crate::strand_step::{GROUP, Teams};
use crate::{
    BindContext, DeviceArray, DeviceConstant, DeviceDomain, DeviceFrame, DeviceFrameData,
    DeviceNode, DevicePass, DeviceSetting, DeviceType, Locality, UniformLayout,
};
use sinew_geom::{Strands, index32};
use std::fmt::Write;

/// Vectors of a collider's placement, as in `place.wgsl`.
pub(crate) const PLACEMENT: usize = 10;
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
const STRANDS: &str = texts!(
    "motion.wgsl",
    "field.wgsl",
    "solid.wgsl",
    "../strand_step/device/strand.wgsl",
    "../strand_step/device/look.wgsl",
    "../strand_step/device/energy.wgsl",
    "../strand_step/device/solve.wgsl",
    "../strand_step/device/place.wgsl",
    "device/layout.wgsl",
    "device/strands.wgsl"
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

/// `None` where a difference scheme is asked for, or may be in some frame, and for strands with too many vertices.
pub(super) fn node(collide: &Collide, context: &BindContext<'_>) -> Option<DeviceNode> {
    let strands = collide.strands()?;
    let is_analytic = context.parameters.text("gradient") == "analytic";
    if !(is_analytic && context.is_fixed("gradient")) {
        return None;
    }
    let ports = linked_ports(context);
    let fields = fields_text(&ports, &collide.contacts);
    let teams = Teams::new(strands.longest())?;
    let mut node = DeviceNode {
        settings: settings(strands, ports.len(), teams),
        constants: vec![rows(strands)],
        scratch: arrays(strands.vertex_count(), ports.len()),
        uniforms: UniformLayout::of::<Uniforms>(),
        ..DeviceNode::default()
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
            DevicePass::in_groups(
                "strands",
                STRANDS,
                teams.groups(strands.len()),
                GROUP as u32,
            ),
            fields,
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
            count("exempt").max(1),
            0,
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
