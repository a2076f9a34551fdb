// The shape of the grid that `triangles` found.

fn known_shape() -> Shape {
    let origin = vec3u(read_state(ORIGIN), read_state(ORIGIN + 1u), read_state(ORIGIN + 2u));
    let bricks = vec3u(read_state(BRICKS), read_state(BRICKS + 1u), read_state(BRICKS + 2u));
    return Shape(bitcast<vec3f>(origin), bitcast<f32>(read_state(CELL_EDGE)), bricks);
}
