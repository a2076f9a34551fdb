//! What the field runs on the GPU: the same triangles, nodes and keys as on the CPU.
//!
//! | pass | runs over | does |
//! |---|---|---|
//! | `clear` | nodes | forgets the frame before |
//! | `scatter` | triangles, one group or more each | distances to the nodes near it, by an atomic maximum of keys |
//! | `bricks` | bricks, a group each | header, table, values, coarse level |
//!
//! Keys are whole numbers in the order of distances, so that the order of triangles does not matter: every run gives the same bits. Each
//! brick has its values at its own number; bricks without distances keep theirs unwritten, and the table does not name them. The CPU
//! packs bricks. Triangles with a corner that is NaN or infinite are left out.
//!
//! Where sums and products are fused, or quotients rounded in another way, distances differ in their last bits, and a node at the very
//! end of a triangle's box may get a distance on one device only.

use super::field::key;
use super::{CompatibilityField, TressFxLayout, UNSET};
use crate::sdf::{GridShape, unset_in_cells};
use crate::{
    DeviceArray, DeviceConstant, DeviceDomain, DeviceFrameData, DeviceNode, DevicePass,
    DeviceSetting, DeviceType, UniformLayout,
};
use sinew_geom::{Topology, index32};

/// Invocations of a group.
const LANES: usize = 64;
/// Groups of `scatter`, where there are fewer triangles.
const LEAST_GROUPS: usize = 1024;
/// Nodes that an invocation visits, at most: drivers in software end loops after 65,535 turns.
const MOST_TURNS: usize = 32_768;

crate::uniform_struct! {
    /// As in `shared.wgsl`.
    struct Uniforms {
        origin: [f32; 4],
    }
}

pub(super) fn node(
    field: &CompatibilityField,
    layout: &TressFxLayout,
    topology: &Topology,
) -> DeviceNode {
    let (nodes, triangles) = (field.values.len(), topology.triangles());
    let shares =
        (LEAST_GROUPS.div_ceil(triangles.len().max(1))).max(nodes.div_ceil(LANES * MOST_TURNS));
    let bricks = layout.shape.brick_count();
    let groups = |name, text, count| DevicePass::in_groups(name, text, count, LANES as u32);
    DeviceNode {
        shared: vec![include_str!("device/shared.wgsl")],
        settings: settings(field, &layout.shape, shares),
        constants: vec![DeviceConstant::new(
            "corners",
            DeviceType::U32,
            triangles.as_flattened(),
        )],
        scratch: vec![DeviceArray {
            name: "keys",
            ty: DeviceType::U32,
            len: nodes,
            lasting: false,
        }],
        uniforms: UniformLayout::of::<Uniforms>(),
        passes: vec![
            DevicePass::per_vertex("clear", include_str!("device/clear.wgsl"))
                .over(DeviceDomain::Elements(nodes)),
            groups("scatter", SCATTER, triangles.len() * shares),
            groups("bricks", include_str!("device/bricks.wgsl"), bricks),
        ],
        ..DeviceNode::default()
    }
}

const SCATTER: &str = concat!(
    include_str!("device/closest.wgsl"),
    "\n",
    include_str!("device/scatter.wgsl")
);

fn settings(
    field: &CompatibilityField,
    shape: &GridShape,
    shares: usize,
) -> Vec<(&'static str, DeviceSetting)> {
    let [nodes_x, nodes_y, nodes_z] = field.nodes;
    let [bricks_x, bricks_y, bricks_z] = shape.bricks;
    let numbers = [
        ("NODES_X", nodes_x),
        ("NODES_Y", nodes_y),
        ("NODES_Z", nodes_z),
        ("BRICKS_X", bricks_x),
        ("BRICKS_Y", bricks_y),
        ("BRICKS_Z", bricks_z),
        ("BRICKS", index32(shape.brick_count())),
        ("SHARES", index32(shares)),
        ("LANES", index32(LANES)),
        ("UNSET_KEY", key(UNSET)),
    ];
    let lengths = [
        ("CELL", field.cell),
        ("UNSET_IN_CELLS", unset_in_cells(field.cell)),
    ];
    let numbers = numbers.map(|(name, n)| (name, DeviceSetting::U32(n)));
    let lengths = lengths.map(|(name, v)| (name, DeviceSetting::F32(v)));
    numbers.into_iter().chain(lengths).collect()
}

/// The box of a frame, whose centre is at `center`.
pub(super) fn write_frame(
    field: &CompatibilityField,
    center: [f32; 3],
    data: &mut DeviceFrameData<'_>,
) {
    let [x, y, z] = field.origin_around(center);
    data.set_uniforms(&Uniforms {
        origin: [x, y, z, 0.0],
    });
}
