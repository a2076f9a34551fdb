// Carries a vertex with points of the driver.
// Moves 4 bytes a point and vertex, 16 where directions are wanted or the vertex is not at its origin, and 12 + 12 bytes of position.

struct Carried {
    moved: vec3f,
    jacobian: mat3x3f,
}

// Displacement of a vertex of the driver from rest.
fn displacement(point: u32) -> vec3f {
    return read_driver_positions(point) - read_driver_rest(point);
}

fn kernel(index: u32) {
    let u = uniforms();
    // With the strength by distance.
    let origin = read_origins(index);
    let w = masked_weight(index, u.weight, u.mask_invert) * origin.w;
    if (w == 0.0) {
        stay(index);
        return;
    }
    let p = read_mesh_positions(index);
    let found = carried(index, p, origin.xyz);
    write_mesh_positions(index, p + (found.moved - p) * w);
    if (wants_mesh_normals || wants_mesh_tangents) {
        write_directions(index, found.jacobian, w);
    }
}
