fn joints_of(index: u32) -> vec4u {
    return read_joints(index);
}
