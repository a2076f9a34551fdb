// Back from classes to vertices: from the incoming position towards the point of its class.
// Moves 4 (class, unless each vertex has its own) + 12 (point) + 12 (written) bytes a vertex, 12 more where the weight is not
// one, 4 more with a mask.

fn kernel(index: u32) {
    let u = uniforms();
    let w = u.blend * masked_weight(index, u.weight, u.mask_invert);
    let count = open_class(index);
    let goal = leave_space(class_points(0u));
    if (w == 1.0) {
        write_mesh_positions(index, goal);
        return;
    }
    write_mesh_positions(index, read_mesh_positions(index) * (1.0 - w) + goal * w);
}
