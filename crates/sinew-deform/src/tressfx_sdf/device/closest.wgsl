// The point of a triangle that is closest to another one: `closest_point` in `sdf/reference.rs`.

struct Triangle {
    a: vec3f,
    b: vec3f,
    c: vec3f,
}

// Whether it is too flat to have a plane in single precision.
fn is_flat(t: Triangle, normal: vec3f) -> bool {
    let longest = max(max(length(t.b - t.a), length(t.c - t.b)), length(t.a - t.c));
    return length(normal) <= 1e-5 * longest * longest;
}

fn closest_of_edge(p: vec3f, a: vec3f, b: vec3f) -> vec3f {
    let edge = b - a;
    let along = dot(edge, p - a);
    let square = dot(edge, edge);
    if (along <= 0.0 || square <= 0.0) {
        return a;
    }
    if (along >= square) {
        return b;
    }
    return a + edge * (along / square);
}

fn closest_of_edges(p: vec3f, t: Triangle) -> vec3f {
    var nearest = closest_of_edge(p, t.a, t.b);
    let second = closest_of_edge(p, t.b, t.c);
    if (length(second - p) < length(nearest - p)) {
        nearest = second;
    }
    let third = closest_of_edge(p, t.c, t.a);
    if (length(third - p) < length(nearest - p)) {
        nearest = third;
    }
    return nearest;
}

fn closest_of_face(p: vec3f, t: Triangle) -> vec3f {
    let ab = t.b - t.a;
    let ac = t.c - t.a;
    let d1 = dot(ab, p - t.a);
    let d2 = dot(ac, p - t.a);
    if (d1 <= 0.0 && d2 <= 0.0) {
        return t.a;
    }
    let d3 = dot(ab, p - t.b);
    let d4 = dot(ac, p - t.b);
    if (d3 >= 0.0 && d4 <= d3) {
        return t.b;
    }
    let vc = d1 * d4 - d3 * d2;
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        return t.a + ab * (d1 / (d1 - d3));
    }
    let d5 = dot(ab, p - t.c);
    let d6 = dot(ac, p - t.c);
    if (d6 >= 0.0 && d5 <= d6) {
        return t.c;
    }
    let vb = d5 * d2 - d1 * d6;
    if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        return t.a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    let to_c = d4 - d3;
    let from_c = d5 - d6;
    if (va <= 0.0 && to_c >= 0.0 && from_c >= 0.0) {
        return t.b + (t.c - t.b) * (to_c / (to_c + from_c));
    }
    let sum = va + vb + vc;
    return t.a + ab * (vb / sum) + ac * (vc / sum);
}
