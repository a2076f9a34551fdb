// Frames come from the smoothed points only.
fn fan_point(k: u32, before: bool) -> vec3f {
    return fan_points(k);
}
