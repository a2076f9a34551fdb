// Each vertex follows its strongest joint. Influences are sorted, strongest first.

fn kernel(index: u32) {
    let point = vec4f(read_mesh_positions(index), 1.0);
    if (mesh_influence_count(index) == 0u) {
        write_mesh_positions(index, point.xyz);
        return;
    }
    let joint = mesh_influence_joint(index, 0u);
    write_mesh_positions(index, read_pose_matrix(joint) * point);
}
