// The rotation nearest to a matrix; `rotation.rs` says how.

struct Turn {
    turn: mat3x3f,
    ended: bool,
}

// A step of Newton's method; `b` is the matrix as the rotation so far sees it.
fn turn_step(b: mat3x3f) -> Turn {
    let g = vec3f(b[1].z - b[2].y, b[2].x - b[0].z, b[0].y - b[1].x);
    let d = vec3f(b[1].y + b[2].z, b[0].x + b[2].z, b[0].x + b[1].y);
    // xy, xz, yz
    let o = vec3f(b[1].x + b[0].y, b[2].x + b[0].z, b[2].y + b[1].z) * -0.5;
    let h_of_g = vec3f(
        d.x * g.x + o.x * g.y + o.y * g.z,
        o.x * g.x + d.y * g.y + o.z * g.z,
        o.y * g.x + o.z * g.y + d.z * g.z,
    );
    let squared = dot(g, g);
    let h = dot(g, h_of_g) / max(squared, 1e-30);
    let shift = (sqrt(h * h + squared) - h) * 0.5;
    let minor = d.x * d.y - o.x * o.x;
    let whole = d.x * (d.y * d.z - o.z * o.z) + o.x * (o.z * o.y - o.x * d.z) + o.y * (o.x * o.z - d.y * o.y);
    let positive = d.x > 0.0 && minor > 0.0 && whole > 0.0;
    let e = d + shift;
    let diagonal = vec3f(e.y * e.z - o.z * o.z, e.x * e.z - o.y * o.y, e.x * e.y - o.x * o.x);
    let beside = vec3f(o.z * o.y - o.x * e.z, o.x * o.z - e.y * o.y, o.x * o.y - e.x * o.z);
    let det = e.x * diagonal.x + o.x * beside.x + o.y * beside.y;
    // Far from the goal it may be zero or negative: any step will do there, as long as it is finite.
    let factor = 0.5 / select(max(det, 1e-20), min(det, -1e-20), det < 0.0);
    let w = factor * vec3f(
        diagonal.x * g.x + beside.x * g.y + beside.y * g.z,
        beside.x * g.x + diagonal.y * g.y + beside.z * g.z,
        beside.y * g.x + beside.z * g.y + diagonal.z * g.z,
    );
    let length = dot(w, w);
    let c = w * (2.0 / (1.0 + length));
    let along = 1.0 - dot(c, w);
    let turn = mat3x3f(
        vec3f(c.x * w.x + along, c.x * w.y + c.z, c.x * w.z - c.y),
        vec3f(c.x * w.y - c.z, c.y * w.y + along, c.y * w.z + c.x),
        vec3f(c.x * w.z + c.y, c.y * w.z - c.x, c.z * w.z + along),
    );
    return Turn(turn, positive && length < 2.5e-7);
}

fn nearest_rotation(a: mat3x3f, start: mat3x3f) -> mat3x3f {
    var rotation = start;
    var b = transpose(start) * a;
    for (var i = 0u; i < 6u; i++) {
        let next = turn_step(b);
        rotation = rotation * next.turn;
        if (next.ended) {
            return rotation;
        }
        b = transpose(next.turn) * b;
    }
    return by_eigenvector(a, start);
}

// Davenport's matrix and Jacobi's method.
fn by_eigenvector(given: mat3x3f, otherwise: mat3x3f) -> mat3x3f {
    let largest = max(max(max(abs(given[0].x), abs(given[0].y)), max(abs(given[0].z), abs(given[1].x))),
        max(max(abs(given[1].y), abs(given[1].z)), max(max(abs(given[2].x), abs(given[2].y)), abs(given[2].z))));
    if (!(largest > 0.0 && largest < 1e30)) {
        return otherwise;
    }
    let a = given * (1.0 / largest);
    let trace = a[0].x + a[1].y + a[2].z;
    let axis = vec3f(a[1].z - a[2].y, a[2].x - a[0].z, a[0].y - a[1].x);
    var k = array<vec4f, 4>(
        vec4f(2.0 * a[0].x - trace, a[0].y + a[1].x, a[0].z + a[2].x, axis.x),
        vec4f(a[0].y + a[1].x, 2.0 * a[1].y - trace, a[1].z + a[2].y, axis.y),
        vec4f(a[0].z + a[2].x, a[1].z + a[2].y, 2.0 * a[2].z - trace, axis.z),
        vec4f(axis, trace),
    );
    var v = array<vec4f, 4>(
        vec4f(1.0, 0.0, 0.0, 0.0), vec4f(0.0, 1.0, 0.0, 0.0), vec4f(0.0, 0.0, 1.0, 0.0), vec4f(0.0, 0.0, 0.0, 1.0),
    );
    for (var sweep = 0u; sweep < 12u; sweep++) {
        var beside = 0.0;
        for (var p = 0u; p < 3u; p++) {
            for (var q = p + 1u; q < 4u; q++) {
                let off = k[p][q];
                beside = max(beside, abs(off));
                if (abs(off) > 3e-8) {
                    let zeta = (k[q][q] - k[p][p]) / (2.0 * off);
                    let tangent = select(1.0, -1.0, zeta < 0.0) / (abs(zeta) + sqrt(zeta * zeta + 1.0));
                    let cosine = 1.0 / sqrt(tangent * tangent + 1.0);
                    let sine = cosine * tangent;
                    for (var r = 0u; r < 4u; r++) {
                        let x = k[r][p];
                        let y = k[r][q];
                        k[r][p] = x * cosine - y * sine;
                        k[r][q] = x * sine + y * cosine;
                    }
                    let row = k[p];
                    k[p] = row * cosine - k[q] * sine;
                    k[q] = row * sine + k[q] * cosine;
                    let column = v[p];
                    v[p] = column * cosine - v[q] * sine;
                    v[q] = column * sine + v[q] * cosine;
                }
            }
        }
        if (beside <= 3e-8) {
            break;
        }
    }
    var best = 0u;
    for (var i = 1u; i < 4u; i++) {
        if (k[i][i] > k[best][best]) {
            best = i;
        }
    }
    return turn_of(v[best]);
}
