// Unit length, or `otherwise` where the length is zero or not finite. Scaled first: squares neither overflow nor vanish.
fn unit_scaled(v: vec3f, otherwise: vec3f) -> vec3f {
    let largest = max(abs(v.x), max(abs(v.y), abs(v.z)));
    if (!(largest > 1.2e-38 && largest < 8.0e37)) {
        return otherwise;
    }
    let scaled = v / largest;
    let squared = dot(scaled, scaled);
    // The largest component is 1 now, unless one of them was not a number.
    if (!(squared > 0.5 && squared < 4.0)) {
        return otherwise;
    }
    return scaled / sqrt(squared);
}

// p' = p + w L d(q), J = L (1 + w G) L^-1: normals by the cofactors of J, tangents by J.
fn kernel(index: u32) {
    let u = uniforms();
    let p = read_mesh_positions(index);
    let w = select(0.0, masked_weight(index, u.weight, u.mask_invert), u.is_active != 0u);
    let local = map_at(u.map, u.region, u.local_from_scene * p + u.offset);
    let moved = p + w * (u.scene_from_local * local.offset);
    let finite = abs(moved) < vec3f(3.4e38);
    let still = w == 0.0;
    write_mesh_positions(index, select(moved, p, !finite | vec3<bool>(still)));

    let jacobian = mat3x3f(
        vec3f(1.0, 0.0, 0.0) + w * local.gradient[0],
        vec3f(0.0, 1.0, 0.0) + w * local.gradient[1],
        vec3f(0.0, 0.0, 1.0) + w * local.gradient[2],
    );
    // Missing normals are zero, and then take nothing from the tangent.
    let given_normal = read_mesh_normals(index);
    var normal = given_normal;
    if (has_mesh_normals && (wants_mesh_normals || wants_mesh_tangents)) {
        let cofactor = mat3x3f(
            cross(jacobian[1], jacobian[2]),
            cross(jacobian[2], jacobian[0]),
            cross(jacobian[0], jacobian[1]),
        );
        let n = cofactor * (given_normal * u.scene_from_local);
        normal = select(unit_scaled(n * u.local_from_scene, given_normal), given_normal, still);
        write_mesh_normals(index, normal);
    }
    if (has_mesh_tangents && wants_mesh_tangents) {
        let given = read_mesh_tangents(index);
        let carried = u.scene_from_local * (jacobian * (u.local_from_scene * given.xyz));
        let t = unit_scaled(carried, given.xyz);
        let level = unit_scaled(t - dot(t, normal) * normal, t);
        write_mesh_tangents(index, vec4f(select(level, given.xyz, still), given.w));
    }
}
