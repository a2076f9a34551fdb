// The surface is the incoming mesh.

fn surface_own(vertex: u32) -> vec3f {
    return read_mesh_positions(vertex);
}

fn surface_point(k: u32) -> vec3f {
    return around_mesh_positions(k);
}
