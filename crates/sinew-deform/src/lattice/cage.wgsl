// Edges of the moved lattice: first those along x, then along y, then along z; in each group x fastest.

// Where a control point is.
fn cage_point(u: Uniforms, i: vec3u) -> vec3f {
    let points = vec3u(POINTS_X, POINTS_Y, POINTS_Z);
    // One point on an axis sits in the middle.
    let along = select(vec3f(i) / vec3f(max(points, vec3u(2u)) - 1u), vec3f(0.5), points == vec3u(1u));
    let to_scene = u.scene_from_unit;
    let rest = rotate(to_scene, along) + vec3f(to_scene[0].w, to_scene[1].w, to_scene[2].w);
    let offset = read_offsets(i.x + BEFORE_X + STRIDE_X * (i.y + BEFORE_Y + STRIDE_Y * (i.z + BEFORE_Z)));
    if (u.along_box != 0u) {
        return rest + rotate(to_scene, offset);
    }
    return rest + offset;
}

fn kernel(index: u32) {
    let count_x = (POINTS_X - 1u) * POINTS_Y * POINTS_Z;
    let count_y = POINTS_X * (POINTS_Y - 1u) * POINTS_Z;
    var edge = index;
    // Edges along each axis in a row of that group.
    var cells = vec3u(POINTS_X - 1u, POINTS_Y, POINTS_Z);
    var step = vec3u(1u, 0u, 0u);
    if (index >= count_x + count_y) {
        edge = index - count_x - count_y;
        cells = vec3u(POINTS_X, POINTS_Y, POINTS_Z - 1u);
        step = vec3u(0u, 0u, 1u);
    } else if (index >= count_x) {
        edge = index - count_x;
        cells = vec3u(POINTS_X, POINTS_Y - 1u, POINTS_Z);
        step = vec3u(0u, 1u, 0u);
    }
    cells = max(cells, vec3u(1u));
    let i = vec3u(edge % cells.x, edge / cells.x % cells.y, edge / (cells.x * cells.y));
    let u = uniforms();
    write_cage(index, cage_point(u, i), cage_point(u, i + step), vec4f(1.0, 0.6, 0.1, 1.0));
}
