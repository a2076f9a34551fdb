// Kept for vertices that lie apart from their points.
fn keep_axes(class_index: u32, tangent: vec3f, bitangent: vec3f, normal: vec3f) {
    write_tangent_axis(class_index, tangent);
    write_bitangent_axis(class_index, bitangent);
    write_normal_axis(class_index, normal);
}
