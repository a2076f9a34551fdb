// The eased lattice: two control points an axis. Along its own axis a component of the displacement is linear, across it
// smoothstep; so each component has weights of its own.

// Weight of the second point of each axis for the three components, and its derivative; the first has the rest.
struct Weights {
    start: u32,
    w: vec3f,
    d: vec3f,
}

fn weights_at(axis: Axis, own: vec3<bool>, s: f32) -> Weights {
    if (axis.kind == ONE) {
        return Weights(0u, vec3f(0.0), vec3f(0.0));
    }
    let cell = cell_at(axis, s);
    let t = cell.t;
    let w = select(vec3f(t * t * (3.0 - 2.0 * t)), vec3f(t), own);
    let d = select(vec3f(6.0 * t * (1.0 - t)), vec3f(1.0), own);
    return Weights(cell.start, w + d * cell.beyond, d * cell.scale);
}

// A row of points: value and derivative.
fn row_at(first: u32, x: Weights) -> array<vec3f, 2> {
    let p = read_offsets(first);
    if (TAPS_X == 1u) {
        return array(p, vec3f(0.0));
    }
    let q = read_offsets(first + 1u);
    return array(p * (1.0 - x.w) + q * x.w, (q - p) * x.d);
}

// A layer of points: value and derivatives along the first and the second axis.
fn layer_at(first: u32, x: Weights, y: Weights) -> array<vec3f, 3> {
    let a = row_at(first, x);
    if (TAPS_Y == 1u) {
        return array(a[0], a[1], vec3f(0.0));
    }
    let b = row_at(first + STRIDE_X, x);
    return array(a[0] * (1.0 - y.w) + b[0] * y.w, a[1] * (1.0 - y.w) + b[1] * y.w, (b[0] - a[0]) * y.d);
}

// The sum along the box's axes.
fn sum_in_box(place: vec3f) -> Sum {
    let x = weights_at(AXIS_X, vec3<bool>(true, false, false), place.x);
    let y = weights_at(AXIS_Y, vec3<bool>(false, true, false), place.y);
    let z = weights_at(AXIS_Z, vec3<bool>(false, false, true), place.z);
    let first = x.start + STRIDE_X * (y.start + STRIDE_Y * z.start);
    let a = layer_at(first, x, y);
    if (TAPS_Z == 1u) {
        return Sum(a[0], mat3x3f(a[1], a[2], vec3f(0.0)));
    }
    let b = layer_at(first + STRIDE_X * STRIDE_Y, x, y);
    let low = 1.0 - z.w;
    return Sum(
        a[0] * low + b[0] * z.w,
        mat3x3f(a[1] * low + b[1] * z.w, a[2] * low + b[2] * z.w, (b[0] - a[0]) * z.d),
    );
}

fn sum_at(u: Uniforms, place: vec3f) -> Sum {
    let sum = sum_in_box(place);
    let to_scene = u.scene_from_unit;
    return Sum(
        rotate(to_scene, sum.value),
        mat3x3f(
            rotate(to_scene, sum.by_place[0]),
            rotate(to_scene, sum.by_place[1]),
            rotate(to_scene, sum.by_place[2]),
        ),
    );
}
