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
//! Operations and their order are those of the CPU. A GPU that fuses products with sums, or rounds quotients in another way, gives
//! distances with other last bits, and a node at the very end of a triangle's box may get a distance on one side only.

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
    let coordinates = field.nodes.iter().map(|&n| n as usize).sum();
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
        scratch: vec![array("keys", DeviceType::U32, nodes)],
        frame_arrays: vec![array("coordinates", DeviceType::F32, coordinates)],
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

const fn array(name: &'static str, ty: DeviceType, len: usize) -> DeviceArray {
    DeviceArray {
        name,
        ty,
        len,
        lasting: false,
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

/// The box of a frame whose centre is at `center`: its first node, then the coordinates of nodes along x, y and z.
pub(super) fn write_frame(
    field: &CompatibilityField,
    center: [f32; 3],
    data: &mut DeviceFrameData<'_>,
) {
    let origin = field.origin_around(center);
    let [x, y, z] = origin;
    data.set_uniforms(&Uniforms {
        origin: [x, y, z, 0.0],
    });
    let of_axis = |k: usize| (0..field.nodes[k]).map(move |n| (k, n));
    let all = (0..3).flat_map(of_axis);
    for (out, (k, n)) in data.array::<f32>(0).iter_mut().zip(all) {
        *out = field.cell.mul_add(n as f32, origin[k]);
    }
}
