// Direction of the vertex's reference edge in the plane of `n`.
fn reference_edge(index: u32, n: vec3f) -> vec3f {
    if (open_reference(index) == 2u) {
        let from_point = reference_mesh_positions(0u);
        let t = gram_schmidt(reference_mesh_positions(1u) - from_point, n);
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
