// How much of the displacement is left at a place, and the derivative of that by the three parameters.
struct Fade {
    value: f32,
    slope: vec3f,
}

fn fade_at(u: Uniforms, place: vec3f) -> Fade {
    if (!STAYS_OUTSIDE && !FADES_OUTSIDE) {
        return Fade(1.0, vec3f(0.0));
    }
    // In a sheared box the way to it is along the box's axes.
    let beyond = place - clamp(place, vec3f(0.0), vec3f(1.0));
    if (STAYS_OUTSIDE) {
        let inside = all(abs(beyond) <= vec3f(u.edge_x, u.edge_y, u.edge_z));
        return Fade(select(0.0, 1.0, inside), vec3f(0.0));
    }
    let way = rotate(u.scene_from_unit, beyond);
    let distance_out = sqrt(dot(way, way));
    if (distance_out <= 0.0) {
        return Fade(1.0, vec3f(0.0));
    }
    let reach = u.falloff_distance;
    if (distance_out >= reach) {
        return Fade(0.0, vec3f(0.0));
    }
    let x = distance_out / reach;
    let slope = -6.0 * x * (1.0 - x) / reach;
    let by_place = vec3f(
        dot(vec3f(u.scene_from_unit[0].x, u.scene_from_unit[1].x, u.scene_from_unit[2].x), way),
        dot(vec3f(u.scene_from_unit[0].y, u.scene_from_unit[1].y, u.scene_from_unit[2].y), way),
        dot(vec3f(u.scene_from_unit[0].z, u.scene_from_unit[1].z, u.scene_from_unit[2].z), way),
    );
    let outward = select(by_place / distance_out, vec3f(0.0), beyond == vec3f(0.0));
    return Fade(1.0 - x * x * (3.0 - 2.0 * x), outward * slope);
}

// The direction of `to`; where it has none, the one that came in.
fn direction_or(given: vec3f, to: vec3f) -> vec3f {
    let squared = dot(to, to);
    if (squared > 1e-30 && squared < 3.4e38) {
        return to / sqrt(squared);
    }
    return given;
}

fn keep(index: u32) {
    write_mesh_positions(index, read_mesh_positions(index));
    write_mesh_normals(index, read_mesh_normals(index));
    write_mesh_tangents(index, read_mesh_tangents(index));
}

fn kernel(index: u32) {
    let u = uniforms();
    let w = masked_weight(index, u.weight, u.mask_invert);
    if (u.is_active == 0u || w == 0.0) {
        keep(index);
        return;
    }
    let p = read_mesh_positions(index);
    let where_in_box = place(u.unit_from_scene, index, p);
    let fade = fade_at(u, where_in_box);
    if (fade.value == 0.0) {
        keep(index);
        return;
    }
    let sum = sum_at(u, where_in_box);
    write_mesh_positions(index, p + sum.value * fade.value * w);
    if (!(wants_mesh_normals && has_mesh_normals) && !(wants_mesh_tangents && has_mesh_tangents)) {
        return;
    }
    // By the three parameters, times the strength; then by the scene's coordinates.
    let a = w * (sum.by_place[0] * fade.value + sum.value * fade.slope.x);
    let b = w * (sum.by_place[1] * fade.value + sum.value * fade.slope.y);
    let c = w * (sum.by_place[2] * fade.value + sum.value * fade.slope.z);
    let m = u.unit_from_scene;
    let j = mat3x3f(
        vec3f(1.0, 0.0, 0.0) + a * m[0].x + b * m[1].x + c * m[2].x,
        vec3f(0.0, 1.0, 0.0) + a * m[0].y + b * m[1].y + c * m[2].y,
        vec3f(0.0, 0.0, 1.0) + a * m[0].z + b * m[1].z + c * m[2].z,
    );
    let cofactor = mat3x3f(cross(j[1], j[2]), cross(j[2], j[0]), cross(j[0], j[1]));
    let flips = dot(j[0], cofactor[0]) < 0.0;
    if (has_mesh_normals && wants_mesh_normals) {
        let n = read_mesh_normals(index);
        let carried = cofactor * n;
        write_mesh_normals(index, direction_or(n, select(carried, -carried, flips)));
    }
    if (has_mesh_tangents && wants_mesh_tangents) {
        let t = read_mesh_tangents(index);
        write_mesh_tangents(index, vec4f(direction_or(t.xyz, j * t.xyz), select(t.w, -t.w, flips)));
    }
}
