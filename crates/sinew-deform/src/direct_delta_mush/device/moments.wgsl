// Sums over the joints of a vertex.
struct Sums {
    posed: mat3x3f,
    rest: mat3x3f,
    stretch: mat3x3f,
    // Less that of the strongest joint.
    shift: vec3f,
}

fn sums_of(index: u32, row: PairRow, p: vec4f, start: vec3f, stretched: bool) -> Sums {
    var sums: Sums;
    for (var at = row.begin; at < row.end; at++) {
        let pair = pair_of(index, row, at);
        let m = matrix_of(pair.joint);
        let arm = p * m - start;
        let linear = linear_of(m);
        sums.shift += linear * pair.first + arm * pair.weight;
        var turning = linear;
        if (stretched) {
            turning = scaled_turn_of(pair.joint);
            sums.stretch += stretch_of(pair.joint) * pair.weight;
        }
        let f = pair.first;
        sums.posed += turning * pair.second + mat3x3f(arm * f.x, arm * f.y, arm * f.z);
        if (COFACTOR) {
            sums.rest += pair.second;
        }
    }
    return sums;
}

// `cof(A) S`, of the length of a rotation.
fn by_cofactor(a: mat3x3f, rest: mat3x3f, otherwise: mat3x3f) -> mat3x3f {
    let cofactor = mat3x3f(cross(a[1], a[2]), cross(a[2], a[0]), cross(a[0], a[1]));
    let turn = cofactor * rest;
    let squared = dot(turn[0], turn[0]) + dot(turn[1], turn[1]) + dot(turn[2], turn[2]);
    if (squared > 1e-24) {
        return turn * sqrt(3.0 / squared);
    }
    return otherwise;
}

fn kernel(index: u32) {
    let u = uniforms();
    let stretched = u.stretched != 0u;
    let row = pair_row_of(index);
    let center = read_centers(index);
    let strongest = pair_of(index, row, row.begin).joint;
    let own = matrix_of(strongest);
    let p = vec4f(center.xyz, 1.0);
    let place = p * own;
    var start = linear_of(own);
    var inverse_size = center.w;
    if (stretched) {
        let inverse_scale = inverse_scale_of(strongest);
        start = scaled_turn_of(strongest) * inverse_scale;
        inverse_size *= inverse_scale;
    }
    let sums = sums_of(index, row, p, place, stretched);
    let posed = sums.posed * inverse_size + start * u.pull;
    var linear: mat3x3f;
    if (COFACTOR) {
        let one = mat3x3f(vec3f(u.pull, 0.0, 0.0), vec3f(0.0, u.pull, 0.0), vec3f(0.0, 0.0, u.pull));
        linear = by_cofactor(posed, sums.rest * center.w + one, start);
    } else {
        linear = nearest_rotation(posed, start);
    }
    if (stretched) {
        linear = linear * sums.stretch;
    }
    write_moved(index, center.xyz, linear, place + sums.shift, !COFACTOR && !stretched);
}
