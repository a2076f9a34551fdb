fn joints_of(index: u32) -> vec4u {
    return (vec4u(read_joints(index)) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(0xffu);
}
