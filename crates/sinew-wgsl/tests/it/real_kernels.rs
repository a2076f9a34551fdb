//! Kernels as technical artists write them pass, put together in one module with accessors for every pin.

use sinew_wgsl::{BindingKind, ModuleBuilder, ModuleOptions, Snippet};

/// One iteration of smoothing: the bare body of a vertex kernel.
const SMOOTH: &str = "\
let position = read_position(index);
var sum = position;
var connected = 0u;
let most = connected_count(index);
for (; connected < most; connected++) {
    let other = connected_vertex(index, connected);
    if other == 0xFFFFFFFFu { break; }
    sum += read_position(other);
}
write_position(index, sum / f32(connected + 1u));
";

/// Angle-weighted normals of triangles, added up in fixed point: a triangle kernel with functions and structures.
const TRIANGLE_NORMALS: &str = "\
const ints = 8u;         // of each vertex
const range = f32(0x7fff);

struct Corner {
    vertex: u32,
    position: vec3<f32>,
    angle: f32,
}

fn angle_between(a: vec3<f32>, b: vec3<f32>) -> f32 {
    let scale = length(a) * length(b);
    if scale == 0.0 { return 0.0; }
    return acos(clamp(dot(a, b) / scale, -1.0, 1.0));
}

fn fixed(v: vec3<f32>) -> vec3<i32> { return vec3<i32>(round(v * range)); }

fn kernel(index: u32) {
    var corners: array<Corner, 3>;
    for (var c = 0u; c < 3u; c++) {
        corners[c].vertex = triangle_vertex(index, c);
        corners[c].position = read_position(corners[c].vertex);
    }
    for (var c = 0u; c < 3u; c++) {
        let a = corners[(c + 1u) % 3u].position - corners[c].position;
        let b = corners[(c + 2u) % 3u].position - corners[c].position;
        corners[c].angle = angle_between(a, b);
    }
    let normal = cross(corners[1].position - corners[0].position, corners[2].position - corners[0].position);
    let unit = select(vec3<f32>(), normal / length(normal), dot(normal, normal) > 0.0);
    for (var c = 0u; c < 3u; c++) {
        let weighted = fixed(unit * corners[c].angle);
        let at = corners[c].vertex * ints;
        add_sum(at, weighted.x);
        add_sum(at + 1u, weighted.y);
        add_sum(at + 2u, weighted.z);
    }
}
";

const GENERATED: &str = "\
struct sinew_Counts { vertices: u32, triangles: u32 }
@group(0) @binding(0) var<uniform> sinew_counts: sinew_Counts;
@group(0) @binding(1) var<storage, read> sinew_in: array<f32>;
@group(0) @binding(2) var<storage, read_write> sinew_out: array<f32>;
@group(0) @binding(3) var<storage, read> sinew_first: array<u32>;
@group(0) @binding(4) var<storage, read> sinew_ring: array<u32>;
@group(0) @binding(5) var<storage, read> sinew_indices: array<u32>;
@group(0) @binding(6) var<storage, read_write> sinew_sum: array<atomic<i32>>;
fn sinew_read(i: u32) -> vec3<f32> { return vec3<f32>(sinew_in[3u * i], sinew_in[3u * i + 1u], sinew_in[3u * i + 2u]); }
fn sinew_write(i: u32, v: vec3<f32>) { sinew_out[3u * i] = v.x; sinew_out[3u * i + 1u] = v.y; sinew_out[3u * i + 2u] = v.z; }
fn sinew_ring_count(i: u32) -> u32 { return sinew_first[i + 1u] - sinew_first[i]; }
fn sinew_ring_at(i: u32, k: u32) -> u32 { return sinew_ring[sinew_first[i] + k]; }
fn sinew_corner(t: u32, c: u32) -> u32 { return sinew_indices[3u * t + c]; }
fn sinew_add(i: u32, v: i32) { atomicAdd(&sinew_sum[i], v); }
";

const RENAMES: [(&str, &str); 6] = [
    ("read_position", "sinew_read"),
    ("write_position", "sinew_write"),
    ("connected_count", "sinew_ring_count"),
    ("connected_vertex", "sinew_ring_at"),
    ("triangle_vertex", "sinew_corner"),
    ("add_sum", "sinew_add"),
];

/// Rows 27 and 29: what a kernel writes and adds to is seen from outside, one entry point for each domain and group size.
#[test]
fn vertex_and_triangle_kernels_share_a_module() {
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    builder.declare("accessors", GENERATED);
    let kernels = [
        ("smooth", SMOOTH, "vertices", 64),
        ("normals", TRIANGLE_NORMALS, "triangles", 128),
    ];
    for (name, text, domain, group) in kernels {
        let snippet = Snippet::parse(name, text).unwrap_or_else(|e| panic!("{e}"));
        let entry = builder
            .add(&snippet, &format!("sinew_{name}_"), &RENAMES)
            .unwrap()
            .unwrap();
        let main = format!(
            "@compute @workgroup_size({group}) fn main_{name}(@builtin(global_invocation_id) id: vec3<u32>) {{
    if id.x >= sinew_counts.{domain} {{ return; }}
    {entry}(id.x);
}}"
        );
        builder.declare("entry points", &main);
    }
    let module = builder.finish().unwrap_or_else(|e| panic!("{e}"));
    let entries = module.entry_points();
    let sizes: Vec<_> = entries
        .iter()
        .map(|e| (e.name.as_str(), e.workgroup_size[0]))
        .collect();
    assert_eq!(sizes, [("main_smooth", 64), ("main_normals", 128)]);
    let written = |entry: usize| -> Vec<(&str, BindingKind)> {
        let bindings = entries[entry].bindings.iter();
        bindings
            .filter(|b| b.is_written)
            .map(|b| (b.type_name.as_str(), b.kind))
            .collect()
    };
    assert_eq!(written(0), [("array<f32>", BindingKind::StorageReadWrite)]);
    assert_eq!(
        written(1),
        [("array<atomic<i32>>", BindingKind::StorageReadWrite)]
    );
}

/// Entry points that send surplus threads away leave no room for barriers in kernels, and that is the kernel's line in the message.
#[test]
fn a_guard_in_the_entry_point_forbids_barriers() {
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    let snippet = Snippet::parse("k.wgsl", "let a = 1;\nworkgroupBarrier();").unwrap();
    let entry = builder.add(&snippet, "sinew_0_", &[]).unwrap().unwrap();
    let main = |guard: &str| {
        format!(
            "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ {guard} {entry}(id.x); }}"
        )
    };
    let without = builder.clone().declare("main", &main("")).finish();
    assert!(without.is_ok());
    let guarded = builder
        .declare("main", &main("if id.x >= 3u { return; }"))
        .finish();
    assert_eq!(
        guarded.unwrap_err().0[0].one_line(),
        "k.wgsl:2:1: `workgroupBarrier` is not reached by all threads of a group"
    );
}
