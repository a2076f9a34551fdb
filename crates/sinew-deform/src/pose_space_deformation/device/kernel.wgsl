struct Uniforms {
    rate: f32,
    weight: f32,
    mask_invert: u32,
    moves: u32,
}

// What is added to a vertex.
struct Sum {
    position: vec3f,
    normal: vec3f,
    tangent: vec3f,
}

const TURNS_NORMALS = has_mesh_normals && wants_mesh_normals;
const TURNS_TANGENTS = has_mesh_tangents && wants_mesh_tangents;

// Squared distance from a pose, as the vertex sees it whose joints are listed from `begin` to `end`.
fn squared_distance(begin: u32, end: u32, pose: u32) -> f32 {
    var sum = 0.0;
    for (var at = begin; at < end; at++) {
        let joint = read_seen(at);
        sum += bitcast<f32>(joint.y) * read_squares(joint.x * POSES + pose);
    }
    return sum;
}

fn sum_of(slot: u32, rate: f32) -> Sum {
    var sum: Sum;
    let row = read_rows(slot);
    for (var pose = 0u; pose < POSES; pose++) {
        let influence = influence_at(squared_distance(row.x, row.y, pose), rate);
        let at = pose * SLOTS + slot;
        sum.position += read_coefficients(at) * influence;
        if (TURNS_NORMALS) {
            sum.normal += normal_coefficient(at) * influence;
        }
        if (TURNS_TANGENTS) {
            sum.tangent += tangent_coefficient(at) * influence;
        }
    }
    return sum;
}

fn kernel(index: u32) {
    let u = uniforms();
    let slot = read_slots(index);
    var sum: Sum;
    // Vertices that do not move read nothing but that.
    if (slot > 0u && u.moves != 0u) {
        sum = sum_of(slot - 1u, u.rate);
    }
    let w = masked_weight(index, u.weight, u.mask_invert);
    write_mesh_positions(index, read_mesh_positions(index) + sum.position * w);
    if (TURNS_NORMALS) {
        let step = sum.normal * w;
        write_mesh_normals(index, moved_direction(read_mesh_normals(index), step, any(step != vec3f(0.0))));
    }
    if (TURNS_TANGENTS) {
        let t = read_mesh_tangents(index);
        let step = sum.tangent * w;
        write_mesh_tangents(index, vec4f(moved_direction(t.xyz, step, any(step != vec3f(0.0))), t.w));
    }
}
