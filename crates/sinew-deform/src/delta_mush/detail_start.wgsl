// Some frames come from the points before smoothing.
fn fan_point(k: u32, before: bool) -> vec3f {
    if (before) {
        return fan_start(k);
    }
    return fan_points(k);
}
