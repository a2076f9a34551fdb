// Back from classes to vertices: each moves like the mean of its class.
// Moves 4 (class) + 24 (points) + 12 (incoming) + 12 (written) bytes a vertex, 4 more with a mask.

fn kernel(index: u32) {
    let u = uniforms();
    let w = u.blend * masked_weight(index, u.weight, u.mask_invert);
    let count = open_class(index);
    let moved = (class_points(0u) - class_start(0u)) * u.unit;
    write_mesh_positions(index, read_mesh_positions(index) + moved * w);
}
