// A direction plus deltas, normalised; as it was where that has no length.
fn moved_direction(base: vec3f, delta: vec3f, any: bool) -> vec3f {
    let v = base + delta;
    let squared = dot(v, v);
    if (any && squared > 1e-24) {
        return v / sqrt(squared);
    }
    return base;
}
