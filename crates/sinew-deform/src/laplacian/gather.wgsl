// The point of a class: the mean of the vertices in it.
// Moves 12 (position) + 12 (written) bytes where each class has one vertex.

fn kernel(class_index: u32) {
    let count = open_members(class_index);
    let first = members_mesh_positions(0u);
    if (count == 1u) {
        write_goal(class_index, enter_space(first));
        return;
    }
    // Relative to the first, so that equal positions give exactly that position.
    var sum = vec3f(0.0);
    for (var k = 1u; k < count; k++) {
        sum += members_mesh_positions(k) - first;
    }
    write_goal(class_index, enter_space(first) + sum * (uniforms().per_unit / f32(count)));
}
