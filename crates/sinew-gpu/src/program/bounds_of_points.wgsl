// Bounds of a part of the points of one character (z). In front: POINTS, PARTS, and STRIDE, floats from one character's points to
// those of the next, 0 where all share them.

@group(0) @binding(0) var<storage, read> points: array<f32>;
@group(0) @binding(1) var<storage, read_write> bounds: array<vec4f>;

fn point(first: u32, i: u32) -> vec3f {
    let b = first + 3u * i;
    return vec3f(points[b], points[b + 1u], points[b + 2u]);
}

@compute @workgroup_size(GROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) local: u32) {
    let first = group.z * STRIDE;
    let begin = group.x * GROUP + local;
    // Some point that is there: invocations without one of their own change nothing.
    var low = point(first, min(begin, POINTS - 1u));
    var high = low;
    for (var i = begin; i < POINTS; i += PARTS * GROUP) {
        let p = point(first, i);
        low = min(low, p);
        high = max(high, p);
    }
    reduce(local, low, high);
    if (local == 0u) {
        let at = 2u * (group.z * PARTS + group.x);
        bounds[at] = vec4f(lowest[0], 0.0);
        bounds[at + 1u] = vec4f(highest[0], 0.0);
    }
}
