struct Uniforms {
    factor: f32,
    weight: f32,
    mask_invert: u32,
    unused: f32,
}

// Between two directions, normalised; the first where they cancel or the weight is 0.
fn blend_direction(a: vec3f, b: vec3f, w: f32) -> vec3f {
    let v = a + (b - a) * w;
    let squared = dot(v, v);
    if (w != 0.0 && squared > 1e-24) {
        return v / sqrt(squared);
    }
    return a;
}

fn kernel(index: u32) {
    let u = uniforms();
    let w = u.factor * masked_weight(index, u.weight, u.mask_invert);
    let p = read_mesh_positions(index);
    write_mesh_positions(index, p + (read_target_positions(index) - p) * w);
    if (has_mesh_normals && wants_mesh_normals) {
        let a = read_mesh_normals(index);
        var b = a;
        if (has_target_normals) {
            b = read_target_normals(index);
        }
        write_mesh_normals(index, blend_direction(a, b, w));
    }
    if (has_mesh_tangents && wants_mesh_tangents) {
        let a = read_mesh_tangents(index);
        var b = a;
        if (has_target_tangents) {
            b = read_target_tangents(index);
        }
        let t = blend_direction(a.xyz, b.xyz, w);
        write_mesh_tangents(index, vec4f(t, select(a.w, b.w, w > 0.5)));
    }
}
