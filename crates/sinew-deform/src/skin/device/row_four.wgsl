// The second to fourth weight stand in 22, 21 and 20 bits (they are at most 1/2, 1/3, 1/4) in parts of 2^-22; what is
// left to 1 is the first. The last bit says whether there are further joints.
const ONE = 4194304u;

fn row_of(index: u32) -> Row {
    let words = read_weights(index);
    let parts = vec3u(
        words.x & 0x3fffffu,
        (words.x >> 22u) | ((words.y & 0x7ffu) << 10u),
        (words.y >> 11u) & 0xfffffu,
    );
    let first = ONE - parts.x - parts.y - parts.z;
    let weights = vec4f(vec4u(first, parts)) * (1.0 / f32(ONE));
    return Row(joints_of(index), weights, more_joints(index, (words.y >> 31u) != 0u));
}
