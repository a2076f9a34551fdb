struct Uniforms {
    scale: f32,
    unused_x: f32,
    unused_y: f32,
    unused_z: f32,
}

// The sum of a vertex, and whether any weighted delta applies.
struct Sum {
    position: vec3f,
    normal: vec3f,
    tangent: vec3f,
    any: bool,
}

const TURNS_NORMALS = has_mesh_normals && wants_mesh_normals;
const TURNS_TANGENTS = has_mesh_tangents && wants_mesh_tangents;

// Vertices without deltas read nothing but where their list would be.
fn sum_of(index: u32) -> Sum {
    var sum: Sum;
    let end = read_offsets(index + 1u);
    for (var at = read_offsets(index); at < end; at++) {
        let weight = target_weight(unpacked(read_targets(at / TARGETS_PER_WORD), at, TARGETS_PER_WORD));
        if (weight != 0.0) {
            sum.any = true;
            sum.position += read_position_deltas(at) * weight;
            if (TURNS_NORMALS) {
                sum.normal += normal_delta(at) * weight;
            }
            if (TURNS_TANGENTS) {
                sum.tangent += tangent_delta(at) * weight;
            }
        }
    }
    return sum;
}

fn kernel(index: u32) {
    let scale = uniforms().scale;
    let sum = sum_of(index);
    write_mesh_positions(index, read_mesh_positions(index) + sum.position * scale);
    if (TURNS_NORMALS) {
        let n = read_mesh_normals(index);
        write_mesh_normals(index, moved_direction(n, sum.normal * scale, sum.any));
    }
    if (TURNS_TANGENTS) {
        let t = read_mesh_tangents(index);
        write_mesh_tangents(index, vec4f(moved_direction(t.xyz, sum.tangent * scale, sum.any), t.w));
    }
}
