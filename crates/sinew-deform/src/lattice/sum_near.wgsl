// Lattices in which at most four control points an axis act on a vertex.

// Weights of the points from `start` on and their derivatives.
struct Weights {
    start: u32,
    w: vec4f,
    d: vec4f,
}

fn bernstein(points: u32, t: f32) -> Weights {
    let l = 1.0 - t;
    switch points {
        case 2u: {
            return Weights(0u, vec4f(l, t, 0.0, 0.0), vec4f(-1.0, 1.0, 0.0, 0.0));
        }
        case 3u: {
            return Weights(0u, vec4f(l * l, 2.0 * t * l, t * t, 0.0), vec4f(-2.0 * l, 2.0 * (l - t), 2.0 * t, 0.0));
        }
        default: {
            let w = vec4f(l * l * l, 3.0 * t * l * l, 3.0 * t * t * l, t * t * t);
            let d = vec4f(-l * l, l * (l - 2.0 * t), t * (2.0 * l - t), t * t);
            return Weights(0u, w, 3.0 * d);
        }
    }
}

// Uniform B-splines.
fn bspline(points: u32, t: f32) -> Weights {
    let l = 1.0 - t;
    switch points {
        case 2u: {
            return bernstein(2u, t);
        }
        case 3u: {
            return Weights(0u, vec4f(0.5 * l * l, 0.5 + t * l, 0.5 * t * t, 0.0), vec4f(-l, l - t, t, 0.0));
        }
        default: {
            let t2 = t * t;
            let l2 = l * l;
            let w = vec4f(l * l2, 4.0 + t2 * (3.0 * t - 6.0), 4.0 + l2 * (3.0 * l - 6.0), t * t2);
            let d = vec4f(-0.5 * l2, t * (1.5 * t - 2.0), l * (2.0 - 1.5 * l), 0.5 * t2);
            return Weights(0u, w / 6.0, d);
        }
    }
}

// Cardinal splines.
fn cardinal(c: f32, t: f32) -> Weights {
    // Coefficients of t^3, t^2, t, 1.
    let a = vec4f(-c, 2.0 - c, c - 2.0, c);
    let b = vec4f(2.0 * c, c - 3.0, 3.0 - 2.0 * c, -c);
    let e = vec4f(-c, 0.0, c, 0.0);
    let f = vec4f(0.0, 1.0, 0.0, 0.0);
    return Weights(0u, ((a * t + b) * t + e) * t + f, (3.0 * a * t + 2.0 * b) * t + e);
}

fn weights_at(axis: Axis, s: f32) -> Weights {
    if (axis.kind == ONE) {
        return Weights(0u, vec4f(1.0, 0.0, 0.0, 0.0), vec4f(0.0));
    }
    let cell = cell_at(axis, s);
    var a: Weights;
    switch axis.kind {
        case BERNSTEIN: {
            a = bernstein(axis.taps, cell.t);
        }
        case BSPLINE: {
            a = bspline(axis.taps, cell.t);
        }
        default: {
            a = cardinal(TENSION, cell.t);
        }
    }
    return Weights(cell.start, a.w + a.d * cell.beyond, a.d * cell.scale);
}

fn sum_at(u: Uniforms, place: vec3f) -> Sum {
    let x = weights_at(AXIS_X, place.x);
    let y = weights_at(AXIS_Y, place.y);
    let z = weights_at(AXIS_Z, place.z);
    var sum = Sum(vec3f(0.0), mat3x3f(vec3f(0.0), vec3f(0.0), vec3f(0.0)));
    for (var k = 0u; k < TAPS_Z; k += 1u) {
        var plane = vec3f(0.0);
        var plane_by_x = vec3f(0.0);
        var plane_by_y = vec3f(0.0);
        for (var j = 0u; j < TAPS_Y; j += 1u) {
            let first = x.start + STRIDE_X * (y.start + j + STRIDE_Y * (z.start + k));
            let p = read_offsets(first);
            var row = p * x.w.x;
            var row_by_x = p * x.d.x;
            if (TAPS_X > 1u) {
                let q = read_offsets(first + 1u);
                row += q * x.w.y;
                row_by_x += q * x.d.y;
            }
            if (TAPS_X > 2u) {
                let q = read_offsets(first + 2u);
                row += q * x.w.z;
                row_by_x += q * x.d.z;
            }
            if (TAPS_X > 3u) {
                let q = read_offsets(first + 3u);
                row += q * x.w.w;
                row_by_x += q * x.d.w;
            }
            plane += row * y.w[j];
            plane_by_x += row_by_x * y.w[j];
            plane_by_y += row * y.d[j];
        }
        sum.value += plane * z.w[k];
        sum.by_place[0] += plane_by_x * z.w[k];
        sum.by_place[1] += plane_by_y * z.w[k];
        sum.by_place[2] += plane * z.d[k];
    }
    return sum;
}
