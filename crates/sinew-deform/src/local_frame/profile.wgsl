// How a quantity rises from 0 to 1 over the region: value and derivative at u in 0..1.
fn profile_at(u: f32) -> vec2f {
    if (SMOOTH) {
        return vec2f(u * u * (3.0 - 2.0 * u), 6.0 * u * (1.0 - u));
    }
    return vec2f(u, 1.0);
}
