// One round of uniform smoothing: the mean of a vertex and its neighbours.
// Vertices at the same position have the same neighbours, so that seams stay closed.

fn kernel(index: u32) {
    var sum = read_mesh_positions(index);
    let count = mesh_connected_count(index);
    for (var k = 0u; k < count; k++) {
        sum += read_mesh_positions(mesh_connected_vertex(index, k));
    }
    write_mesh_positions(index, sum / f32(count + 1u));
}
