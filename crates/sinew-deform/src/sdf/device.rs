//! What the field runs on the GPU: the same tree, tests and words as on the CPU.
//!
//! | pass | runs over | makes |
//! |---|---|---|
//! | `place` | vertices | the box of the mesh, and whether anything moved or reaches farther; if not, all later passes end at once |
//! | `triangles` | clusters of triangles, eight per group | planes of triangles, boxes of clusters, the shape of the grid, copies of vertex positions |
//! | `mark` | bricks around clusters; edges, points, boxes | which bricks come near the surface, and a triangle near each; pseudonormals, boxes of higher levels |
//! | `moments` | clusters, then level after level | for winding numbers of meshes with long rims only |
//! | `assign` | bricks | slots, by prefix sums, so that they do not depend on the order of threads; the header |
//! | `cross` | triangles, sixteen invocations each | for other winding numbers: where columns of nodes cross the surface (`columns.wgsl`) |
//! | `fill` | slots, then parts of the coarse level, a workgroup each | the coarse level and the values of bricks |
//!
//! No pass searches a tree, except for winding numbers of meshes with long rims: triangles go to the bricks around them, and a group that fills a brick gathers the
//! leaves, clusters and triangles near it side by side. No pass binds more than eight buffers or uses more than 16 KiB of workgroup memory,
//! which every device has. Lists in workgroup memory have a random order, but only the minimum of each list is used: every run gives the
//! same bits. In contrast to the CPU, all values of bricks are exact, also beyond the band.

use super::bind::LEAN;
use super::columns::{COUNTS, rim, vertices_of_classes};
use super::settings::{FieldBox, SignMethod, Storage};
use super::tree::CLUSTER;
use super::{FieldReach, SdfBind};
use crate::follow::Carried;
use crate::{
    DeviceArray, DeviceConstant, DeviceDomain, DeviceFrame, DeviceFrameData, DeviceNode,
    DevicePass, DeviceSetting, DeviceType, UniformLayout,
};
use sinew_geom::index32;

macro_rules! text {
    ($($name:literal),+) => {
        concat!($(include_str!(concat!("device/", $name, ".wgsl")), "\n"),+)
    };
}

/// Vertices of a group of `place`, triangles of one of `triangles`, bricks of one of `assign`.
const PLACED: usize = 128;
const PREPARED: usize = 64;
const ASSIGNED: usize = 256;
/// Invocations of a group of `mark` and of `fill`.
const MARKED: usize = 128;
const FILLED: usize = 128;
/// Groups of `mark`, where clusters alone are fewer: large triangles come near many bricks.
const MARKING: usize = 1024;
/// Where more triangles than this come on a brick, eight groups fill one. Bricks are few then, and the one with the most triangles would
/// hold up all others; but eight groups do up to twice the work.
const CROWD: usize = 32;
/// Groups of `fill`, at most: where there are more parts each takes one after another. With a group for each part the device hands
/// them out as others end.
const FILLING: usize = 16384;
/// Edges of the longest rim whose angle each node adds up; behind longer ones a walk through the tree is faster.
const LONGEST_RIM: usize = 2048;
/// Words of what a brick's columns cross, as in `columns.wgsl`.
const COLUMN_WORDS: usize = 128;
/// Words of the tally before the counts of wanted bricks.
const TALLY: usize = 8;
/// Words of the state.
const STATE: usize = 16;

crate::uniform_struct! {
    /// As in `shared.wgsl`.
    struct Uniforms {
        row_x: [f32; 4],
        row_y: [f32; 4],
        row_z: [f32; 4],
        scale: f32,
        is_first: u32,
        unused: [u32; 2],
        reach_low: [f32; 4],
        reach_high: [f32; 4],
    }
}

/// The tree with blocks numbered from the root: children of block b begin at 8b + 1.
struct Heap {
    levels: u32,
    clusters: usize,
    leaves: usize,
}

impl Heap {
    fn new(bind: &SdfBind) -> Self {
        Self {
            levels: u32::try_from(bind.tree.levels.len()).unwrap_or(1),
            clusters: bind.tree.clusters,
            leaves: bind.tree.clusters.div_ceil(CLUSTER),
        }
    }
    /// First block of a depth.
    fn start(depth: u32) -> usize {
        (8_usize.pow(depth) - 1) / 7
    }
    fn leaf_start(&self) -> usize {
        Self::start(self.levels - 1)
    }
    fn parent_start(&self) -> usize {
        Self::start(self.levels.saturating_sub(2))
    }
    /// Groups of `mark` for each cluster.
    fn shares(&self) -> usize {
        MARKING.div_ceil(self.clusters.max(1))
    }
    /// Boxes above those of the leaves' parents.
    fn upper_boxes(&self) -> usize {
        match self.levels {
            0..=2 => 0,
            _ => 8 * self.parent_start(),
        }
    }
    fn blocks(&self) -> usize {
        self.leaf_start() + self.leaves
    }
    /// Groups of leaves that must be written, so that each block above has all its boxes.
    fn written_leaves(&self) -> usize {
        match self.levels {
            1 => 1,
            _ => self.leaves.next_multiple_of(CLUSTER),
        }
    }
    /// Blocks of a depth that hold something.
    fn count(&self, depth: u32) -> usize {
        self.clusters.div_ceil(8_usize.pow(self.levels - depth))
    }
}

/// How sides are found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sides {
    Pseudonormals,
    /// Winding numbers from what columns of nodes cross.
    Columns,
    /// Winding numbers from walks through the tree.
    Tree,
}

impl Sides {
    fn new(bind: &SdfBind, mesh: &MeshWords) -> Self {
        match bind.settings().sign {
            SignMethod::Pseudonormals => Self::Pseudonormals,
            SignMethod::WindingNumber if mesh.rim > LONGEST_RIM => Self::Tree,
            SignMethod::WindingNumber => Self::Columns,
        }
    }
    fn when<T: Default>(self, sides: Self, value: T) -> T {
        if self == sides { value } else { T::default() }
    }
    /// Words of what columns cross: of bricks, then of the grid, where a column has a byte for each brick and one more.
    fn column_counts(self, bind: &SdfBind) -> usize {
        let of_grid = (COUNTS * entries(bind)).div_ceil(4);
        self.when(
            Self::Columns,
            COLUMN_WORDS * bind.brick_capacity() + of_grid,
        )
    }
}

const fn array(name: &'static str, ty: DeviceType, len: usize) -> DeviceArray {
    DeviceArray {
        name,
        ty,
        // Buffers hold something.
        len: if len == 0 { 1 } else { len },
        lasting: false,
    }
}

const fn lasting(array: DeviceArray) -> DeviceArray {
    DeviceArray {
        lasting: true,
        ..array
    }
}

fn entries(bind: &SdfBind) -> usize {
    bind.table_capacity().max(8)
}

pub(super) fn node(bind: &SdfBind, still: f32) -> DeviceNode {
    let heap = Heap::new(bind);
    let mesh = MeshWords::new(bind);
    let sides = Sides::new(bind, &mesh);
    let (passes, written) = passes(bind, &heap, sides);
    let mut scratch = vec![
        lasting(array("built_for", DeviceType::Vec3F, bind.vertex_count())),
        lasting(array("tally", DeviceType::U32, tally(bind))),
        lasting(array("state", DeviceType::U32, STATE)),
        array("planes", DeviceType::Vec4F, 6 * CLUSTER * heap.clusters),
        array("boxes", DeviceType::Vec4F, 16 * heap.blocks()),
        array(
            "normals",
            DeviceType::Vec4F,
            bind.edge_count() + bind.class_count(),
        ),
        lasting(array("near", DeviceType::U32, entries(bind))),
        array(
            "bricks",
            DeviceType::U32,
            2 * bind.brick_capacity() + entries(bind),
        ),
    ];
    scratch.push(array("crossed", DeviceType::U32, sides.column_counts(bind)));
    match sides {
        Sides::Pseudonormals => {}
        Sides::Columns => scratch.push(array("rim", DeviceType::Vec4F, 2 * mesh.rim)),
        Sides::Tree => scratch.push(array("moments", DeviceType::Vec4F, 16 * heap.blocks())),
    }
    DeviceNode {
        shared: vec![text!("shared")],
        settings: settings(bind, &heap, &mesh, sides, still),
        constants: vec![DeviceConstant::new(
            "mesh_words",
            DeviceType::U32,
            &mesh.words,
        )],
        scratch,
        uniforms: UniformLayout::of::<Uniforms>(),
        passes,
        written,
        ..DeviceNode::default()
    }
}

fn tally(bind: &SdfBind) -> usize {
    TALLY + entries(bind).div_ceil(ASSIGNED)
}

/// Things of a group of `mark` that are no bricks: boxes higher up, where walks begin; edges and points, for pseudonormals.
fn small_things(bind: &SdfBind, heap: &Heap, sides: Sides) -> [usize; 3] {
    [
        sides.when(Sides::Tree, heap.upper_boxes()),
        sides.when(Sides::Pseudonormals, bind.edge_count()),
        sides.when(Sides::Pseudonormals, bind.class_count()),
    ]
}

fn passes(bind: &SdfBind, heap: &Heap, sides: Sides) -> (Vec<DevicePass>, Vec<String>) {
    let over = |name, text, count| {
        DevicePass::per_vertex(name, text)
            .over(DeviceDomain::Elements(count))
            .scattering()
    };
    let groups = DevicePass::in_groups;
    let around = heap.clusters * heap.shares();
    let small: usize = small_things(bind, heap, sides).iter().sum();
    let marking = around + small.div_ceil(MARKED);
    let mut out = vec![
        groups(
            "place",
            text!("place"),
            bind.vertex_count().div_ceil(PLACED),
            PLACED as u32,
        ),
        groups(
            "triangles",
            text!("shape", "triangles"),
            heap.written_leaves(),
            PREPARED as u32,
        ),
        groups(
            "mark",
            text!("shape", "distance", "mark"),
            marking,
            MARKED as u32,
        ),
    ];
    let mut written = vec![String::new(); out.len()];
    if sides == Sides::Tree {
        out.push(over("moments", text!("distance", "moments"), heap.clusters));
        written.push(String::new());
        for depth in (1..heap.levels).rev() {
            let children = match depth + 1 == heap.levels {
                true => heap.clusters,
                false => heap.count(depth + 1),
            };
            out.push(over("moments", text!("moments_above"), heap.count(depth)));
            written.push(format!(
                "\nconst LEVEL_START = {}u;\nconst LEVEL_CHILDREN = {children}u;\n",
                Heap::start(depth)
            ));
        }
    }
    let fill = match sides {
        Sides::Pseudonormals => text!(
            "shape",
            "distance",
            "near",
            "pseudonormals",
            "sides",
            "fill"
        ),
        Sides::Columns => text!("shape", "distance", "near", "columns", "crossings", "fill"),
        Sides::Tree => text!(
            "shape", "distance", "near", "walk", "winding", "sides", "fill"
        ),
    };
    let assigned = entries(bind).div_ceil(ASSIGNED);
    out.push(groups(
        "assign",
        text!("shape", "assign"),
        assigned,
        ASSIGNED as u32,
    ));
    if sides == Sides::Columns {
        let text = text!("shape", "columns", "cross");
        out.push(groups("cross", text, around, MARKED as u32));
    }
    out.push(groups("fill", fill, filling(bind), FILLED as u32));
    (out, written)
}

/// Groups of `fill`: as many as there may be parts, up to a limit.
fn filling(bind: &SdfBind) -> usize {
    let shared_by = if splits(bind) { 8 } else { 1 };
    (shared_by * bind.brick_capacity() + entries(bind)).min(FILLING)
}

/// Whether each block of a brick has a group of its own.
fn splits(bind: &SdfBind) -> bool {
    let bricks = bind.brick_capacity() as f32 / bind.settings().spare_bricks;
    bind.triangles.len() as f32 > CROWD as f32 * bricks
}

fn settings(
    bind: &SdfBind,
    heap: &Heap,
    mesh: &MeshWords,
    sides: Sides,
    still: f32,
) -> Vec<(&'static str, DeviceSetting)> {
    let s = bind.settings();
    let number = |n: usize| DeviceSetting::U32(index32(n));
    let (is_fixed, low, high) = match s.field_box {
        FieldBox::Tight => (false, [0.0; 3], [0.0; 3]),
        FieldBox::Fixed { low, high } => (true, low, high),
    };
    let float = DeviceSetting::F32;
    let [upper_boxes, edges, points] = small_things(bind, heap, sides);
    vec![
        ("LEAN", float(LEAN)),
        ("PADDING", DeviceSetting::U32(bind.padding())),
        ("CELL", float(bind.cell())),
        ("BAND", float(s.band_cells)),
        ("STILL", float(still)),
        ("LOW_X", float(low[0])),
        ("LOW_Y", float(low[1])),
        ("LOW_Z", float(low[2])),
        ("HIGH_X", float(high[0])),
        ("HIGH_Y", float(high[1])),
        ("HIGH_Z", float(high[2])),
        ("IS_FIXED", DeviceSetting::Bool(is_fixed)),
        ("IS_HALF", DeviceSetting::Bool(s.storage == Storage::Half)),
        ("IS_CLOSED", DeviceSetting::Bool(bind.report().is_closed())),
        ("ENTRIES", number(entries(bind))),
        ("SLOTS", number(bind.brick_capacity())),
        (
            "SLOT_MASK",
            number((CLUSTER * heap.clusters).next_power_of_two() - 1),
        ),
        ("MARKED", number(MARKED)),
        ("SHARES", number(heap.shares())),
        ("MARKING_GROUPS", number(heap.clusters * heap.shares())),
        ("FILLED", number(FILLED)),
        ("FILLING_GROUPS", number(filling(bind))),
        ("SPLITS", DeviceSetting::Bool(splits(bind))),
        ("TRIANGLES", number(bind.triangles.len())),
        ("CLUSTERS", number(heap.clusters)),
        ("LEVELS", DeviceSetting::U32(heap.levels)),
        ("LEAF_BLOCKS", number(heap.leaves)),
        ("WRITTEN_LEAVES", number(heap.written_leaves())),
        ("LEAF_START", number(heap.leaf_start())),
        ("PARENT_START", number(heap.parent_start())),
        ("UPPER_BOXES", number(upper_boxes)),
        // Each block once for each of its children, and once more to leave it.
        ("VISITS", number(9 * heap.blocks())),
        ("EDGES", number(edges)),
        ("POINTS", number(points)),
        ("FEATURES", number(mesh.features)),
        ("EDGE_STARTS", number(mesh.edge_starts)),
        ("EDGE_LISTS", number(mesh.edge_lists)),
        ("POINT_STARTS", number(mesh.point_starts)),
        ("POINT_LISTS", number(mesh.point_lists)),
        ("POINTS_OF_TRIANGLES", number(mesh.points)),
        ("RIM_POINTS", number(mesh.rim_points)),
        ("RIM", number(mesh.rim)),
        ("COLUMN_COUNTS", number(sides.column_counts(bind))),
    ]
}

/// The mesh in words, one list behind the other: corners of triangles; their features (edges from corner k to the next, then points);
/// triangles around edges and corners around points, each as starts and lists; a vertex for each of a triangle's points, and for both ends
/// of each edge of the rim.
struct MeshWords {
    words: Vec<u32>,
    features: usize,
    edge_starts: usize,
    edge_lists: usize,
    point_starts: usize,
    point_lists: usize,
    points: usize,
    rim_points: usize,
    /// Edges of the rim.
    rim: usize,
}

impl MeshWords {
    fn new(bind: &SdfBind) -> Self {
        let numbers = |n: usize| 0..index32(n);
        let edges: Vec<&[u32]> = numbers(bind.edge_count())
            .map(|e| bind.triangles_of_edge(e))
            .collect();
        let points: Vec<&[u32]> = numbers(bind.class_count())
            .map(|c| bind.corners_of_class(c))
            .collect();
        let vertex_of = vertices_of_classes(bind);
        let rim: Vec<[u32; 2]> = (rim(bind).iter())
            .map(|edge| edge.map(|c| vertex_of[c as usize]))
            .collect();
        let mut words = bind.triangles.as_flattened().to_vec();
        let mut add = |more: &[u32]| {
            let start = words.len();
            words.extend(more);
            start
        };
        let [
            features,
            edge_starts,
            edge_lists,
            point_starts,
            point_lists,
            points,
            rim_points,
        ] = [
            features(bind),
            starts(&edges),
            edges.concat(),
            starts(&points),
            points.concat(),
            points_of_triangles(bind, &vertex_of),
            rim.concat(),
        ]
        .map(|list| add(&list));
        Self {
            words,
            features,
            edge_starts,
            edge_lists,
            point_starts,
            point_lists,
            points,
            rim_points,
            rim: rim.len(),
        }
    }
}

/// Where each list begins behind the others, and where the last one ends.
fn starts(lists: &[&[u32]]) -> Vec<u32> {
    let mut out = vec![0];
    let mut end = 0;
    for list in lists {
        end += list.len();
        out.push(index32(end));
    }
    out
}

/// Edges from corner k to the next, then points, of each triangle.
fn features(bind: &SdfBind) -> Vec<u32> {
    let (edges, classes) = bind.edges_and_classes();
    let of_each = edges.iter().zip(classes);
    of_each
        .flat_map(|(e, c)| e.iter().chain(c).copied())
        .collect()
}

fn points_of_triangles(bind: &SdfBind, vertex_of: &[u32]) -> Vec<u32> {
    let classes = bind.edges_and_classes().1.as_flattened();
    classes.iter().map(|&c| vertex_of[c as usize]).collect()
}

pub(super) fn write_frame(
    carried: &Carried,
    frame: &DeviceFrame<'_>,
    data: &mut DeviceFrameData<'_>,
) {
    let FieldReach { low, high } = frame.reach.unwrap_or(FieldReach::EVERYWHERE);
    let padded = |[x, y, z]: [f32; 3]| [x, y, z, 0.0];
    let (r, scale, t) = carried.field_frame().parts();
    let [row_x, row_y, row_z] = [0, 1, 2].map(|k| [r[3 * k], r[3 * k + 1], r[3 * k + 2], t[k]]);
    data.set_uniforms(&Uniforms {
        row_x,
        row_y,
        row_z,
        scale,
        is_first: u32::from(frame.is_first),
        unused: [0; 2],
        reach_low: padded(low),
        reach_high: padded(high),
    });
}
