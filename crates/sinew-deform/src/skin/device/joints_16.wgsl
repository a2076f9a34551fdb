fn joints_of(index: u32) -> vec4u {
    let words = read_joints(index);
    return (words.xxyy >> vec4u(0u, 16u, 0u, 16u)) & vec4u(0xffffu);
}
