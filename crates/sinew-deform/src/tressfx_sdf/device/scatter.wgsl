// A group takes a triangle, or a share of its nodes, and tells them how far it is: `scatter` in `field.rs`.

fn corner(triangle: u32, k: u32) -> vec3f {
    return read_mesh_positions(read_corners(3u * triangle + k));
}

// By its bits: compilers may take for granted that comparisons meet numbers only.
fn is_number(p: vec3f) -> bool {
    return all((bitcast<vec3u>(p) & vec3u(0x7f800000u)) != vec3u(0x7f800000u));
}

// From the CPU, which fuses products with sums: GPUs may not.
fn position_of(node: vec3u) -> vec3f {
    let y = NODES_X + node.y;
    let z = NODES_X + NODES_Y + node.z;
    return vec3f(read_coordinates(node.x), read_coordinates(y), read_coordinates(z));
}

// Cells before a point along each axis, whole ones, and `more` of them.
fn whole_cells(p: vec3f, more: f32) -> vec3u {
    let cells = trunc((p - uniforms().origin.xyz) / CELL) + more;
    return vec3u(clamp(cells, vec3f(0.0), vec3f(node_counts())));
}

fn kernel(group: u32, local: u32) {
    let triangle = group / SHARES;
    let t = Triangle(corner(triangle, 0u), corner(triangle, 1u), corner(triangle, 2u));
    let low = whole_cells(min(min(t.a, t.b), t.c) - CELL, -1.0);
    let high = min(whole_cells(max(max(t.a, t.b), t.c) + CELL, 1.0), node_counts() - 1u);
    if (!(is_number(t.a) && is_number(t.b) && is_number(t.c)) || any(low > high)) {
        return;
    }
    let size = high - low + 1u;
    let normal = cross(t.b - t.a, t.c - t.a);
    let flat_one = is_flat(t, normal);
    for (var n = LANES * (group % SHARES) + local; n < size.x * size.y * size.z; n += LANES * SHARES) {
        let node = low + vec3u(n % size.x, n / size.x % size.y, n / (size.x * size.y));
        let p = position_of(node);
        var closest = vec3f(0.0);
        if (flat_one) {
            closest = closest_of_edges(p, t);
        } else {
            closest = closest_of_face(p, t);
        }
        let is_front = dot(normal, p - t.a) >= 0.0;
        let key = (bitcast<u32>(length(p - closest)) << 1u) | select(1u, 0u, is_front);
        max_keys(node_index(node), ~key);
    }
}
