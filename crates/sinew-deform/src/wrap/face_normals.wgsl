// Modes that use the normal of the triangle alone.
fn third_axis(face: vec3f, corners: vec3u, barycentric: vec3f) -> vec3f {
    return face;
}
