// Of a quaternion of any length above zero.
fn turn_of(q: vec4f) -> mat3x3f {
    // Never zero: the strongest joint's part is not cancelled by any other.
    let t = q.xyz * (2.0 / max(dot(q, q), 1e-30));
    let w = q.w * t;
    return mat3x3f(
        vec3f(1.0 - q.y * t.y - q.z * t.z, q.x * t.y + w.z, q.x * t.z - w.y),
        vec3f(q.x * t.y - w.z, 1.0 - q.x * t.x - q.z * t.z, q.y * t.z + w.x),
        vec3f(q.x * t.z + w.y, q.y * t.z - w.x, 1.0 - q.x * t.x - q.y * t.y),
    );
}
