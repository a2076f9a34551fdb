fn place(index: u32) -> vec3f {
    return read_rest(index);
}
