// Unit vectors that know when there is none.

fn largest_component(v: vec3f) -> f32 {
    let a = abs(v);
    return max(a.x, max(a.y, a.z));
}

fn is_zero(v: vec3f) -> bool {
    return all(v == vec3f(0.0));
}

// The unit vector along `v`; zero where the length is zero, not finite or lost to underflow.
fn unit_or_zero(v: vec3f) -> vec3f {
    let largest = largest_component(v);
    if (!(largest > 1e-30 && largest < 1e30)) {
        return vec3f(0.0);
    }
    // Scaled first, so that squares neither vanish nor overflow.
    let scaled = v / largest;
    return scaled / sqrt(dot(scaled, scaled));
}

// Part of `t` perpendicular to the unit vector `n`, unit; zero where nothing is left of it.
fn gram_schmidt(t: vec3f, n: vec3f) -> vec3f {
    let direction = unit_or_zero(t);
    let across = direction - n * dot(n, direction);
    // Less than this is what rounding leaves of a parallel vector.
    if (dot(across, across) > 1e-10) {
        return unit_or_zero(across);
    }
    return vec3f(0.0);
}

// Any unit vector perpendicular to the unit vector `n`.
fn any_perpendicular(n: vec3f) -> vec3f {
    let axis = select(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 0.0, 1.0), abs(n.z) < 0.5);
    let t = gram_schmidt(axis, n);
    if (is_zero(t)) {
        return vec3f(1.0, 0.0, 0.0);
    }
    return t;
}
