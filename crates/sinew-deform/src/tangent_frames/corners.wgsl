// Sums over the triangles around a vertex. `surface_own(vertex)` and `surface_point(k)` say where vertices are.
// Moves, for a vertex with n corners around it: 4 (head) + 2 n near or 4 n far (where corners follow each other, each adds one vertex)
// + 12 (position) + 12 or 16 (written) bytes; other positions come from caches or workgroup memory. Where vertices share their corners,
// all three vertices of each are listed: 6 n near or 12 n far. Tangents take one word of factors an entry or corner: 4 n more.
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

// Edges from the vertex of a corner to the other two of its triangle.
struct Edges {
    next: vec3f,
    previous: vec3f,
}

// What the triangle of a corner adds to its vertex.
fn corner_terms(e: Edges, factors: u32) -> Sums {
    var weight = 1.0;
    var normal = cross(e.next, e.previous);
    if (!area_weighted) {
        let largest = max(largest_component(e.next), largest_component(e.previous));
        if (!(largest > 1e-30 && largest < 1e30)) {
            return Sums(vec3f(0.0), vec3f(0.0));
        }
        let scale = 1.0 / largest;
        let a = e.next * scale;
        let b = e.previous * scale;
        normal = cross(a, b);
        let square = dot(normal, normal);
        if (square <= SLIVER) {
            return Sums(vec3f(0.0), vec3f(0.0));
        }
        let length = sqrt(square);
        normal /= length;
        weight = angle(length, dot(a, b));
    }
    var tangent = vec3f(0.0);
    if (with_tangents) {
        tangent = u_direction(factors, e.next, e.previous) * weight;
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

struct Gathered {
    sums: Sums,
    // Whole numbers, as an atomic addition of each triangle would sum them: exact in any order.
    normal_steps: vec3i,
    tangent_steps: vec3i,
}

fn add_steps(g: ptr<function, Gathered>) {
    (*g).sums.normal += vec3f((*g).normal_steps);
    (*g).sums.tangent += vec3f((*g).tangent_steps);
    (*g).normal_steps = vec3i(0);
    (*g).tangent_steps = vec3i(0);
}

fn add_corner(g: ptr<function, Gathered>, edges: Edges, k: u32) {
    let terms = corner_terms(edges, corner_factors(k));
    if (fixed_point) {
        (*g).normal_steps += to_fixed(terms.normal);
        (*g).tangent_steps += to_fixed(terms.tangent);
        // Before the sum can leave 32 bits: every 16384 entries, or, counting by threes, every 16384 corners.
        if ((k & 0x3fffu) == 0x3fffu) {
            add_steps(g);
        }
    } else {
        (*g).sums.normal += terms.normal;
        (*g).sums.tangent += terms.tangent;
    }
}

// Corners with points of their own: three entries each, its own first.
fn gather_corners(g: ptr<function, Gathered>) {
    for (var c = 0u; c < around_groups(); c++) {
        let first = surface_point(3u * c);
        let next = surface_point(3u * c + 1u);
        add_corner(g, Edges(next - first, surface_point(3u * c + 2u) - first), 3u * c);
    }
}

// Corners one after another around the vertex: each entry but the first ends the corner that begins with the one before.
fn gather_ring(g: ptr<function, Gathered>, own: vec3f) {
    var last = surface_point(0u) - own;
    for (var k = 1u; k < around_count(); k++) {
        let next = surface_point(k) - own;
        add_corner(g, Edges(last, next), k);
        last = next;
    }
}

fn vertex_sums(vertex: u32) -> Sums {
    let count = open_around(vertex);
    var gathered: Gathered;
    if (lists_own) {
        gather_corners(&gathered);
    } else if (count > 0u) {
        gather_ring(&gathered, surface_own(vertex));
    }
    if (fixed_point) {
        add_steps(&gathered);
    }
    return gathered.sums;
}
