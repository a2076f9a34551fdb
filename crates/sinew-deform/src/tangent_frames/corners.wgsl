// Sums over the triangles around a vertex. `surface_position(vertex)` says where vertices are.
// Moves, for a vertex with n corners around it: 4 (head) + 4 n (corners) + 12 (positions) bytes, and 16 a triangle, of which
// there are n / 3 a vertex; the rest comes from caches: 72 bytes from memory for n = 6.
// A triangle is looked at from each of its corners: three times the arithmetic, but nothing written in between.

// Squared length of the cross product, edges scaled to one, below which a triangle counts as a line.
const SLIVER = 1e-13;

struct Sums {
    normal: vec3f,
    tangent: vec3f,
}

// `atan2(y, x)` for `y >= 0` within 3e-7: the odd polynomial of Cephes' `atanf`. WGSL's own may be off by 1e-3.
fn angle(y: f32, x: f32) -> f32 {
    let ax = abs(x);
    let low = min(ax, y);
    let high = max(ax, y);
    if (high == 0.0) {
        return 0.0;
    }
    let folded = low > high * 0.41421357;
    let t = select(low, low - high, folded) / select(high, low + high, folded);
    let z = t * t;
    let p = ((8.0537445e-2 * z - 1.3877686e-1) * z + 1.9977711e-1) * z - 3.333295e-1;
    var r = p * z * t + t;
    r = select(r, r + 0.78539816, folded);
    r = select(r, 1.57079633 - r, y > ax);
    return select(r, 3.14159265 - r, x < 0.0);
}

// Direction in which u grows over a triangle, unit; zero where its UVs are degenerate.
// One factor of the edges is 1 or -1, its sign in bit 1; bit 0 says which; the other bits are the other factor.
fn u_direction(factors: u32, e01: vec3f, e02: vec3f) -> vec3f {
    if (factors == 0xffffffffu) {
        return vec3f(0.0);
    }
    let other = bitcast<f32>(factors & 0xfffffffcu);
    let one = select(1.0, -1.0, (factors & 2u) != 0u);
    let first = (factors & 1u) == 0u;
    return unit_or_zero(e01 * select(other, one, first) + e02 * select(one, other, first));
}

// What the triangle of a corner adds to it. `corner`: the triangle from bit 3 on, whether its tangent counts in bit 2,
// which of its corners in bits 0 and 1.
fn corner_terms(corner: u32) -> Sums {
    let t = read_triangles(corner >> 3u);
    let p0 = surface_position(t.x);
    let p1 = surface_position(t.y);
    let p2 = surface_position(t.z);
    let e01 = p1 - p0;
    let e02 = p2 - p0;
    var weight = 1.0;
    var normal = cross(e01, e02);
    if (!area_weighted) {
        let largest = max(largest_component(e01), largest_component(e02));
        if (!(largest > 1e-30 && largest < 1e30)) {
            return Sums(vec3f(0.0), vec3f(0.0));
        }
        let scale = 1.0 / largest;
        let s01 = e01 * scale;
        let s02 = e02 * scale;
        let s12 = (p2 - p1) * scale;
        normal = cross(s01, s02);
        let square = dot(normal, normal);
        if (square <= SLIVER) {
            return Sums(vec3f(0.0), vec3f(0.0));
        }
        // All three corners have the same sine side: twice the area.
        let length = sqrt(square);
        normal /= length;
        let which = corner & 3u;
        var cosine = dot(s01, s02);
        cosine = select(cosine, -dot(s01, s12), which == 1u);
        cosine = select(cosine, dot(s02, s12), which == 2u);
        weight = angle(length, cosine);
    }
    var tangent = vec3f(0.0);
    if (with_tangents && (corner & 4u) != 0u) {
        tangent = u_direction(t.w, e01, e02) * weight;
    }
    return Sums(normal * weight, tangent);
}

// Cut towards zero to steps of 1 / 32767. `32767 m` is `32768 m - m`, of which the first product is exact.
fn to_fixed(v: vec3f) -> vec3i {
    let m = abs(v);
    let scaled = m * 32768.0;
    let whole = floor(scaled);
    let left = (scaled - whole) - m;
    let steps = vec3i(whole) + vec3i(floor(left));
    return select(steps, -steps, v < vec3f(0.0));
}

fn vertex_sums(vertex: u32) -> Sums {
    let head = read_corners(vertex);
    var count = row_length(head);
    var at = row_start(head, vertex);
    var stride = ROW_STRIDE;
    if (count == LONG_ROW) {
        at = row_block(head);
        count = read_corners(at);
        at += 1u;
        stride = 1u;
    }
    var sums = Sums(vec3f(0.0), vec3f(0.0));
    var normal_steps = vec3i(0);
    var tangent_steps = vec3i(0);
    for (var k = 0u; k < count; k++) {
        let terms = corner_terms(read_corners(at + k * stride));
        if (!fixed_point) {
            sums.normal += terms.normal;
            sums.tangent += terms.tangent;
            continue;
        }
        // Whole numbers, as an atomic addition of each triangle would sum them: exact in any order.
        normal_steps += to_fixed(terms.normal);
        tangent_steps += to_fixed(terms.tangent);
        // Before the sum can leave 32 bits.
        if ((k & 0x3fffu) == 0x3fffu) {
            sums.normal += vec3f(normal_steps);
            sums.tangent += vec3f(tangent_steps);
            normal_steps = vec3i(0);
            tangent_steps = vec3i(0);
        }
    }
    if (fixed_point) {
        sums.normal += vec3f(normal_steps);
        sums.tangent += vec3f(tangent_steps);
    }
    return sums;
}
