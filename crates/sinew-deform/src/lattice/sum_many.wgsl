// Lattices in which any number of control points acts on a vertex: Bernstein polynomials and B-splines.

// Weights of the points from `start` on and their derivatives; MOST is the largest number of them on an axis.
struct Weights {
    start: u32,
    w: array<f32, MOST>,
    d: array<f32, MOST>,
}

// de Casteljau on the basis: b_i <- (1 - s) b_i + s b_(i-1), all terms non-negative.
fn bernstein(points: u32, s: f32) -> Weights {
    var b: Weights;
    b.w[0] = 1.0;
    let lower = 1.0 - s;
    for (var k = 1u; k < points; k += 1u) {
        if (k == points - 1u) {
            // `b` has degree one less here: the derivative is n (b_(i-1) - b_i).
            let n = f32(k);
            b.d[0] = -n * b.w[0];
            for (var i = 1u; i < points; i += 1u) {
                b.d[i] = n * (b.w[i - 1u] - b.w[i]);
            }
        }
        for (var i = k; i > 0u; i -= 1u) {
            b.w[i] = lower * b.w[i] + s * b.w[i - 1u];
        }
        b.w[0] *= lower;
    }
    return b;
}

// Uniform B-splines at t in the middle cell: Cox and de Boor's recurrence on integer knots.
fn bspline(points: u32, t: f32) -> Weights {
    var b: Weights;
    b.w[0] = 1.0;
    for (var degree = 1u; degree < points; degree += 1u) {
        if (degree == points - 1u) {
            b.d[0] = -b.w[0];
            for (var j = 1u; j < points; j += 1u) {
                b.d[j] = b.w[j - 1u] - b.w[j];
            }
        }
        let whole = f32(degree);
        for (var j = degree; j > 0u; j -= 1u) {
            let index = f32(j);
            b.w[j] = ((t + whole - index) * b.w[j - 1u] + (1.0 - t + index) * b.w[j]) / whole;
        }
        b.w[0] *= (1.0 - t) / whole;
    }
    return b;
}

fn weights_at(axis: Axis, s: f32) -> Weights {
    var a: Weights;
    if (axis.kind == ONE) {
        a.w[0] = 1.0;
        return a;
    }
    let cell = cell_at(axis, s);
    if (axis.kind == BERNSTEIN) {
        a = bernstein(axis.taps, cell.t);
    } else {
        a = bspline(axis.taps, cell.t);
    }
    a.start = cell.start;
    for (var i = 0u; i < axis.taps; i += 1u) {
        a.w[i] += a.d[i] * cell.beyond;
        a.d[i] *= cell.scale;
    }
    return a;
}

fn sum_at(u: Uniforms, place: vec3f) -> Sum {
    var x = weights_at(AXIS_X, place.x);
    var y = weights_at(AXIS_Y, place.y);
    var z = weights_at(AXIS_Z, place.z);
    var sum = Sum(vec3f(0.0), mat3x3f(vec3f(0.0), vec3f(0.0), vec3f(0.0)));
    for (var k = 0u; k < TAPS_Z; k += 1u) {
        var plane = vec3f(0.0);
        var plane_by_x = vec3f(0.0);
        var plane_by_y = vec3f(0.0);
        for (var j = 0u; j < TAPS_Y; j += 1u) {
            let first = x.start + STRIDE_X * (y.start + j + STRIDE_Y * (z.start + k));
            var row = vec3f(0.0);
            var row_by_x = vec3f(0.0);
            for (var i = 0u; i < TAPS_X; i += 1u) {
                let p = read_offsets(first + i);
                row += p * x.w[i];
                row_by_x += p * x.d[i];
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
