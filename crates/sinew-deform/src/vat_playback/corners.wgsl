// What has the texel of a vertex: itself.
fn point_of(vertex: u32, frame: u32) -> u32 {
    return vertex;
}
