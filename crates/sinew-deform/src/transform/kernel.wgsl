struct Uniforms {
    // Rows of the transform, then of its normal matrix.
    linear: array<vec4f, 3>,
    normal: array<vec4f, 3>,
    weight: f32,
    mask_invert: u32,
    determinant: f32,
    unused: f32,
}

fn kernel(index: u32) {
    let u = uniforms();
    let w = masked_weight(index, u.weight, u.mask_invert);
    let p = read_mesh_positions(index);
    let h = vec4f(p, 1.0);
    let moved = vec3f(dot(u.linear[0], h), dot(u.linear[1], h), dot(u.linear[2], h));
    write_mesh_positions(index, p + (moved - p) * w);
    if (has_mesh_normals && wants_mesh_normals) {
        let n = read_mesh_normals(index);
        let turned = vec3f(dot(u.normal[0].xyz, n), dot(u.normal[1].xyz, n), dot(u.normal[2].xyz, n));
        write_mesh_normals(index, towards(n, turned, w));
    }
    if (has_mesh_tangents && wants_mesh_tangents) {
        let t = read_mesh_tangents(index);
        let turned = vec3f(dot(u.linear[0].xyz, t.xyz), dot(u.linear[1].xyz, t.xyz), dot(u.linear[2].xyz, t.xyz));
        let flips = u.determinant < 0.0 && w > 0.5;
        write_mesh_tangents(index, vec4f(towards(t.xyz, turned, w), select(t.w, -t.w, flips)));
    }
}
