// The detail that smoothing removes from the rest mesh, in a frame that two neighbours make. It does not depend on the pose
// and runs once.

// Two edges make a good frame if the sine of their angle is at least this.
const OPEN = 0.1;
// Below this sine the edges count as parallel.
const CLOSED = 1e-4;

fn edge_to(index: u32, k: u32) -> vec3f {
    let neighbour = smooth_connected_vertex(index, k);
    return read_smooth_positions(neighbour) - read_smooth_positions(index);
}

fn kernel(index: u32) {
    // The first pair of consecutive neighbours with a good angle, otherwise the pair with the widest one.
    let count = smooth_connected_count(index);
    var pairs = select(max(count, 1u) - 1u, count, smooth_connected_closed(index));
    if (count < 2u) {
        pairs = 0u;
    }
    var best = 0.0;
    var first = 0u;
    for (var k = 0u; k < pairs; k++) {
        let a = edge_to(index, k);
        let b = edge_to(index, (k + 1u) % count);
        let sine = length(cross(a, b)) / max(length(a) * length(b), 1e-30);
        if (sine > best) {
            best = sine;
            first = k;
        }
        if (sine >= OPEN) {
            break;
        }
    }
    let detail = read_rest_positions(index) - read_smooth_positions(index);
    if (best < CLOSED) {
        // No frame: both neighbours are the vertex itself.
        write_pair(2u * index, index);
        write_pair(2u * index + 1u, index);
        write_detail(index, detail);
        return;
    }
    let second = (first + 1u) % count;
    write_pair(2u * index, smooth_connected_vertex(index, first));
    write_pair(2u * index + 1u, smooth_connected_vertex(index, second));
    let edge = edge_to(index, first);
    let normal = normalize(cross(edge, edge_to(index, second)));
    let tangent = normalize(edge);
    let bitangent = cross(normal, tangent);
    write_detail(index, vec3f(dot(detail, tangent), dot(detail, bitangent), dot(detail, normal)));
}
