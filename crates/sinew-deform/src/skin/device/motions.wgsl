// A weighted sum of dual quaternions, x y z w.
struct Motion {
    real: vec4f,
    dual: vec4f,
}

// Adds a joint's, turned to the side of the strongest joint's.
fn with_motion(sum: Motion, joint: u32, weight: f32, strongest: vec4f) -> Motion {
    let real = read_motions(2u * joint);
    let w = select(weight, -weight, dot(real, strongest) < 0.0);
    return Motion(sum.real + real * w, sum.dual + read_motions(2u * joint + 1u) * w);
}

fn blend_motions(row: Row) -> Motion {
    let strongest = read_motions(2u * row.joints.x);
    let weight = row.weights.x;
    var sum = Motion(strongest * weight, read_motions(2u * row.joints.x + 1u) * weight);
    if (INFLUENCES > 1u) {
        sum = with_motion(sum, row.joints.y, row.weights.y, strongest);
    }
    if (INFLUENCES > 2u) {
        sum = with_motion(sum, row.joints.z, row.weights.z, strongest);
    }
    if (INFLUENCES > 3u) {
        sum = with_motion(sum, row.joints.w, row.weights.w, strongest);
    }
    if (HAS_TAIL) {
        for (var at = row.more.x; at < row.more.y; at++) {
            let next = influence(at);
            sum = with_motion(sum, next.joint, next.weight, strongest);
        }
    }
    return sum;
}

// `v + twice r x (r x v + w v)`.
fn turned(q: vec4f, twice: f32, v: vec3f) -> vec3f {
    return v + cross(q.xyz, cross(q.xyz, v) + q.w * v) * twice;
}

// The vector part of `q` times the conjugate of `real`.
fn without_rotation(real: vec4f, q: vec4f) -> vec3f {
    return q.xyz * real.w - real.xyz * q.w + cross(real.xyz, q.xyz);
}

// The rigid motion of a sum: both parts are divided by the length of the real one.
fn through_motion(m: Motion, v: SkinVertex) -> SkinVertex {
    // Never zero: the strongest joint's part is not cancelled by any other.
    let twice = 2.0 / max(dot(m.real, m.real), 1e-30);
    var out = v;
    out.position = turned(m.real, twice, v.position) + without_rotation(m.real, m.dual) * twice;
    if (TURNS_NORMALS) {
        out.normal = turned(m.real, twice, v.normal);
    }
    if (TURNS_TANGENTS) {
        out.tangent = vec4f(turned(m.real, twice, v.tangent.xyz), v.tangent.w);
    }
    return out;
}

struct Uniforms {
    // Whether any joint is stretched.
    stretched: u32,
    // For method `blended`.
    blend: f32,
    unused: vec2f,
}
