// Back from classes to vertices, of which some lie apart from their point: each beside it as it did at rest.
// Moves 4 (class) + 48 (point and axes) + 12 (offset) + 12 (incoming) + 12 (written) bytes a vertex, 4 more with a mask.

fn kernel(index: u32) {
    let u = uniforms();
    let w = u.blend * masked_weight(index, u.weight, u.mask_invert);
    let count = open_class(index);
    let e = read_apart(index);
    let beside = class_tangent_axis(0u) * e.x + class_bitangent_axis(0u) * e.y + class_normal_axis(0u) * e.z;
    let goal = leave_space(class_points(0u) + beside);
    write_mesh_positions(index, read_mesh_positions(index) * (1.0 - w) + goal * w);
}
