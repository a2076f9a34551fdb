// Parameters of the vertex where it was in setup.
fn place(unit_from_scene: array<vec4f, 3>, index: u32, p: vec3f) -> vec3f {
    return read_rest_places(index);
}
