// Displacements of the control points that follow a mesh, and of the points that stand in beyond borders.

// How far a vertex of the mesh has moved, by the scene's axes.
fn cage_displacement(u: Uniforms, vertex: u32) -> vec3f {
    let now = read_cage_positions(vertex);
    let rest = read_cage_rest(vertex);
    let m = u.cage_motion;
    if (CAGE_IN_SCENE) {
        return now - (rotate(m, rest) + vec3f(m[0].w, m[1].w, m[2].w));
    }
    return rotate(m, now - rest);
}

fn kernel(index: u32) {
    let u = uniforms();
    var sum = vec3f(0.0);
    let end = read_source_offsets(index + 1u);
    for (var at = read_source_offsets(index); at < end; at += 1u) {
        let source = read_sources(at);
        sum += cage_displacement(u, source.x) * bitcast<f32>(source.y);
    }
    if (u.along_box != 0u) {
        sum = rotate(u.unit_from_scene, sum);
    }
    write_offsets(index, sum);
}
