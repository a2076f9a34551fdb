// The surface is the incoming mesh.

const with_tangents = sums_tangents && wants_mesh_tangents;

fn surface_position(vertex: u32) -> vec3f {
    return read_mesh_positions(vertex);
}

// Direction of the vertex's reference edge in the plane of `n`.
fn reference_edge(index: u32, n: vec3f) -> vec3f {
    let ends = read_reference_edges(index);
    if (ends.x != 0xffffffffu) {
        let t = gram_schmidt(surface_position(ends.y) - surface_position(ends.x), n);
        if (!is_zero(t)) {
            return t;
        }
    }
    return any_perpendicular(n);
}

// The part of `t` in the plane of `n`, or the reference edge where there is none.
fn tangent_along(t: vec3f, index: u32, n: vec3f) -> vec3f {
    let flat = gram_schmidt(t, n);
    if (is_zero(flat)) {
        return reference_edge(index, n);
    }
    return flat;
}
