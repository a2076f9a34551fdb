// Vertex normals of the driver. Moves 16 bytes written beside what `corners.wgsl` says.

fn kernel(vertex: u32) {
    let n = unit_or_zero(vertex_sums(vertex).normal);
    if (is_zero(n)) {
        write_surface_normals(vertex, vec4f(read_rest_normals(vertex), 0.0));
    } else {
        write_surface_normals(vertex, vec4f(n, 0.0));
    }
}
