// Unit normals of vertices, each the sum of its triangles' normals weighted by area, for outputs that bring none.

struct Sizes {
    vertices: u32,
    first_position: u32,
    // Invocations of a row of workgroups.
    row: u32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> positions: array<f32>;
// Vertices of triangles, three each.
@group(0) @binding(2) var<storage, read> indices: array<u32>;
// Where the triangles around each vertex begin in what follows, and then those; vertices at one place have the same.
@group(0) @binding(3) var<storage, read> around: array<u32>;
@group(0) @binding(4) var<storage, read_write> normals: array<f32>;

fn position_of(vertex: u32) -> vec3f {
    let i = sizes.first_position + 3u * vertex;
    return vec3f(positions[i], positions[i + 1u], positions[i + 2u]);
}

@compute @workgroup_size(64)
fn smooth_normals(@builtin(global_invocation_id) id: vec3<u32>) {
    let vertex = id.x + id.y * sizes.row;
    if vertex >= sizes.vertices {
        return;
    }
    let first = around[2u * vertex];
    let count = around[2u * vertex + 1u];
    var sum = vec3f();
    for (var i = first; i < first + count; i++) {
        let t = 3u * around[i];
        let a = position_of(indices[t]);
        sum += cross(position_of(indices[t + 1u]) - a, position_of(indices[t + 2u]) - a);
    }
    let length = length(sum);
    let normal = select(vec3f(), sum / length, length > 0.0);
    normals[3u * vertex] = normal.x;
    normals[3u * vertex + 1u] = normal.y;
    normals[3u * vertex + 2u] = normal.z;
}
