// Every vertex follows one joint.
fn row_of(index: u32) -> Row {
    let word = read_joints(index / JOINTS_PER_WORD);
    let joint = unpacked(word, index, JOINTS_PER_WORD);
    return Row(vec4u(joint), vec4f(1.0, 0.0, 0.0, 0.0), more_joints(index, false));
}
