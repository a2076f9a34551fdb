fn carried_normal(index: u32, n: vec3f) -> vec3f {
    return n;
}
