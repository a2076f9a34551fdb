// From one direction part of the way towards another; stays where there is none.
fn partly_towards(from_direction: vec3f, to: vec3f, w: f32) -> vec3f {
    var target_direction = unit_or_zero(to);
    if (is_zero(target_direction)) {
        target_direction = from_direction;
    }
    let between = unit_or_zero(from_direction + (target_direction - from_direction) * w);
    if (is_zero(between)) {
        return from_direction;
    }
    return between;
}

fn write_directions(index: u32, jacobian: mat3x3f, w: f32) {
    var n = vec3f(0.0);
    if (has_mesh_normals) {
        let own = read_mesh_normals(index);
        // The cofactors, their sign that of the determinant.
        let cofactor = mat3x3f(
            cross(jacobian[1], jacobian[2]),
            cross(jacobian[2], jacobian[0]),
            cross(jacobian[0], jacobian[1]),
        );
        let flips = dot(jacobian[0], cofactor[0]) < 0.0;
        let turned = cofactor * own;
        n = partly_towards(own, select(turned, -turned, flips), w);
        write_mesh_normals(index, n);
    }
    if (has_mesh_tangents && wants_mesh_tangents) {
        let own = read_mesh_tangents(index);
        var t = partly_towards(own.xyz, jacobian * own.xyz, w);
        if (has_mesh_normals) {
            let flat = gram_schmidt(t, n);
            if (!is_zero(flat)) {
                t = flat;
            }
        }
        let flips = determinant(jacobian) < 0.0 && w > 0.5;
        write_mesh_tangents(index, vec4f(t, select(own.w, -own.w, flips)));
    }
}

fn stay(index: u32) {
    write_mesh_positions(index, read_mesh_positions(index));
    if (has_mesh_normals && wants_mesh_normals) {
        write_mesh_normals(index, read_mesh_normals(index));
    }
    if (has_mesh_tangents && wants_mesh_tangents) {
        write_mesh_tangents(index, read_mesh_tangents(index));
    }
}
