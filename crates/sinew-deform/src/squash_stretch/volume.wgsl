struct Map {
    // First coordinates of the control points of the curve and of its inverse.
    m: f32,
    inverse_m: f32,
    stretch: f32,
    // 1 - 2 m.
    lean: f32,
    // How evenly the cross axes share: 1 equally, 0 one alone.
    even: f32,
    // The first cross axis takes the larger share.
    first_leads: f32,
    unused: vec2f,
}

// The height profile over the region in units of its length: f, f', and f'' / f'.
//
// f(u) = S B^-1(h(B(u))) with h(b) = atan2(sin pi b, S cos pi b) / pi.
fn stretched_height(map: Map, u: f32) -> vec3f {
    let pi = 3.1415927;
    let stretch = map.stretch;
    let sigma = bezier_sigma(map.m, u);
    let wave = sine_cosine(pi * bezier_height(map.m, u, sigma));
    // Rounding may take the sine below zero at the top.
    let s = max(wave.x, 0.0);
    let c = wave.y;
    let h = angle_above(s, stretch * c) / pi;
    let q = stretch * stretch * c * c + s * s;
    let sigma_back = bezier_sigma(map.inverse_m, h);
    let v = bezier_height(map.inverse_m, h, sigma_back);
    let by_curve = (1.0 - sigma) / sigma;
    let by_height = stretch / q;
    let by_inverse = (1.0 - sigma_back) / sigma_back;
    // Logarithmic derivatives of the three factors of f'.
    let of_curve = -map.lean / (2.0 * sigma * sigma * (1.0 - sigma));
    let of_height = -2.0 * pi * s * c * (1.0 - stretch * stretch) / q;
    let of_inverse = map.lean / (2.0 * sigma_back * sigma_back * (1.0 - sigma_back));
    return vec3f(
        stretch * v,
        stretch * by_curve * by_height * by_inverse,
        of_curve + by_curve * (of_height + by_height * of_inverse),
    );
}

fn map_at(map: Map, region: Region, p: vec3f) -> Local {
    // At rest nothing moves, to the last bit.
    if (map.stretch == 1.0) {
        return Local(vec3f(0.0), mat3x3f(vec3f(0.0), vec3f(0.0), vec3f(0.0)));
    }
    let u = region_fraction(region, p.z);
    let f = stretched_height(map, u.x);
    // Rigid outside: the slope is 1 at the limits, and exactly 1 beyond.
    let slope = select(1.0, f.y, region_inside(region, p.z) > 0.0);
    let r = 1.0 / sqrt(slope);
    let by_r = -0.5 * r * f.z * u.y;
    // One axis takes `follow`, the other what is left of r^2: their product is 1 / f' for any share.
    let follow = (1.0 - map.even) + map.even * r;
    let by_follow = map.even * by_r;
    let lead = r * r / follow;
    let by_lead = (r + r) * by_r / follow - lead * by_follow / follow;
    let first_leads = map.first_leads != 0.0;
    let scale = select(vec2f(follow, lead), vec2f(lead, follow), first_leads) - 1.0;
    let by_z = select(vec2f(by_follow, by_lead), vec2f(by_lead, by_follow), first_leads);
    return Local(
        vec3f(p.xy * scale, region.span * (f.x - u.x)),
        mat3x3f(vec3f(scale.x, 0.0, 0.0), vec3f(0.0, scale.y, 0.0), vec3f(p.xy * by_z, slope - 1.0)),
    );
}
