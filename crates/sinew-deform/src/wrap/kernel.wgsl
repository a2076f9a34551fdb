// Carries a vertex with the places of the driver that it hangs on.
// Moves 80 bytes a binding, 12 + 12 bytes of position, 24 and 32 for normal and tangent where they are wanted; the corners of the
// driver (36 bytes, 84 with normals) come from caches mostly: 104 bytes from memory for one binding and positions alone.

struct Binding {
    // The driver's triangle.
    corners: vec3u,
    barycentric: vec3f,
    weight: f32,
    // The place at rest.
    origin: vec3f,
    local_from_rest: mat3x3f,
}

// Five vectors a binding, each kind of all vertices together.
const VECTORS = 5u;

fn binding(index: u32, k: u32) -> Binding {
    let at = k * VECTORS * vertex_count + index;
    let corners = read_bindings(at);
    let origin = bitcast<vec4f>(read_bindings(at + vertex_count));
    let x = bitcast<vec4f>(read_bindings(at + 2u * vertex_count));
    let y = bitcast<vec4f>(read_bindings(at + 3u * vertex_count));
    let z = bitcast<vec4f>(read_bindings(at + 4u * vertex_count));
    return Binding(
        corners.xyz,
        vec3f(1.0 - x.w - y.w, x.w, y.w),
        origin.w,
        origin.xyz,
        mat3x3f(x.xyz, y.xyz, z.xyz),
    );
}

// Strength by distance: the one number left in the vertex's first vectors.
fn strength(index: u32) -> f32 {
    return bitcast<f32>(read_bindings(index).w);
}

// Some unit normal of a triangle, also of one that collapsed to a line or a point.
fn face_normal(area: vec3f, e1: vec3f, e2: vec3f) -> vec3f {
    let face = unit_or_zero(area);
    if (!is_zero(face)) {
        return face;
    }
    let first = unit_or_zero(e1);
    let second = unit_or_zero(e2);
    if (!is_zero(first)) {
        return any_perpendicular(first);
    }
    if (!is_zero(second)) {
        return any_perpendicular(second);
    }
    return vec3f(0.0, 1.0, 0.0);
}

struct Frame {
    origin: vec3f,
    axes: mat3x3f,
}

fn local_frame(b: Binding) -> Frame {
    let p0 = read_driver_positions(b.corners.x);
    let p1 = read_driver_positions(b.corners.y);
    let p2 = read_driver_positions(b.corners.z);
    let e1 = p1 - p0;
    let e2 = p2 - p0;
    let origin = p0 * b.barycentric.x + p1 * b.barycentric.y + p2 * b.barycentric.z;
    let area = cross(e1, e2);
    let face = face_normal(area, e1, e2);
    if (rigid_frames) {
        var x = gram_schmidt(e1, face);
        if (is_zero(x)) {
            x = any_perpendicular(face);
        }
        return Frame(origin, mat3x3f(x, cross(face, x), face));
    }
    var normal = third_axis(face, b.corners, b.barycentric);
    if (scaled_normals) {
        // The offset grows with the square root of the area, so that scaling the driver scales the result.
        normal *= sqrt(sqrt(dot(area, area)));
    }
    return Frame(origin, mat3x3f(e1, e2, normal));
}

fn kernel(index: u32) {
    let u = uniforms();
    let w = masked_weight(index, u.weight, u.mask_invert) * strength(index);
    // Shares fall from binding to binding and end with zeros.
    var b = binding(index, 0u);
    if (w == 0.0 || b.weight == 0.0) {
        stay(index);
        return;
    }
    let p = read_mesh_positions(index);
    var moved = vec3f(0.0);
    var jacobian = mat3x3f(vec3f(0.0), vec3f(0.0), vec3f(0.0));
    for (var k = 0u; k < binding_count; k++) {
        if (k > 0u) {
            b = binding(index, k);
        }
        if (b.weight == 0.0) {
            break;
        }
        let frame = local_frame(b);
        let j = frame.axes * b.local_from_rest;
        moved += (frame.origin + j * (p - b.origin)) * b.weight;
        jacobian += j * b.weight;
    }
    write_mesh_positions(index, p + (moved - p) * w);
    if (wants_mesh_normals || wants_mesh_tangents) {
        write_directions(index, jacobian, w);
    }
}
