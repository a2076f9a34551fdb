// Bounds of one character (z) from those of its parts. In front: PARTS.

@group(0) @binding(0) var<storage, read> parts: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> bounds: array<vec4f>;

@compute @workgroup_size(GROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) local: u32) {
    let first = 2u * group.z * PARTS;
    var low = parts[first].xyz;
    var high = parts[first + 1u].xyz;
    for (var i = local; i < PARTS; i += GROUP) {
        low = min(low, parts[first + 2u * i].xyz);
        high = max(high, parts[first + 2u * i + 1u].xyz);
    }
    reduce(local, low, high);
    if (local == 0u) {
        bounds[2u * group.z] = vec4f(lowest[0], 0.0);
        bounds[2u * group.z + 1u] = vec4f(highest[0], 0.0);
    }
}
