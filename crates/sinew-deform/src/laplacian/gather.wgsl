// The point of a slot: the mean of the vertices that share it.
// Moves 4 (who) + 12 (position) + 16 (written) bytes a slot where each has one vertex.

fn kernel(slot: u32) {
    let member = read_members(slot);
    // The upper bit says that there are more than one: a list, its length first.
    if ((member & 0x80000000u) == 0u) {
        write_goal(slot, vec4f(read_mesh_positions(member), 0.0));
        return;
    }
    let at = member & 0x7fffffffu;
    let count = read_shared_members(at);
    let first = read_mesh_positions(read_shared_members(at + 1u));
    // Relative to the first, so that equal positions give exactly that position.
    var sum = vec3f(0.0);
    for (var k = 2u; k <= count; k++) {
        sum += read_mesh_positions(read_shared_members(at + k)) - first;
    }
    write_goal(slot, vec4f(first + sum / f32(count), 0.0));
}
