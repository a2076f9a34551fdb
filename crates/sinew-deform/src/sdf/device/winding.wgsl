// Signs by generalised winding numbers: triangles near by exactly, sets of them far away by their first moment.

// A set of triangles is far where it is this many of its radii away.
const FAR: f32 = 2.3;
const PI: f32 = 3.1415927;

// Half the solid angle of a triangle (Van Oosterom and Strackee 1983).
fn half_angle(slot: u32, p: vec3f) -> f32 {
    let t = plane_of(slot);
    let a = t.origin - p;
    let b = a + t.x * t.length;
    let c = a + t.x * (t.edge02.x * t.edge02.z) + t.y * (t.edge02.y * t.edge02.z);
    let la = length(a);
    let lb = length(b);
    let lc = length(c);
    let volume = dot(a, cross(b, c));
    let other = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    if (volume == 0.0 && other == 0.0) {
        return 0.0;
    }
    return atan2(volume, other);
}

fn of_cluster(cluster: u32, p: vec3f) -> f32 {
    var sum = 0.0;
    let end = min(8u * cluster + 8u, TRIANGLES);
    for (var slot = 8u * cluster; slot < end; slot++) {
        sum += half_angle(slot, p);
    }
    return sum;
}

// Whether the winding number at `p` is above a half.
fn is_inside(nearest: u32, p: vec3f) -> bool {
    var sum = 0.0;
    var block = 0u;
    var depth = 0u;
    var open = vec3u(0xffu, 0u, 0u);
    for (var step = 0u; step < VISITS; step++) {
        let mask = open_at(open, depth);
        if (mask == 0u) {
            if (depth == 0u) {
                break;
            }
            block = (block - 1u) / 8u;
            depth -= 1u;
            continue;
        }
        let lane = firstTrailingBit(mask);
        open = with_open(open, depth, mask & (mask - 1u));
        let slot = 8u * block + lane;
        if (read_boxes(2u * slot).x >= NOWHERE) {
            continue;
        }
        let moment = read_moments(2u * slot);
        let off = moment.xyz - p;
        let square = dot(off, off);
        if (sqrt(square) > FAR * (moment.w + 0.9)) {
            sum += dot(off, read_moments(2u * slot + 1u).xyz) * 0.5 / (square * sqrt(square));
        } else if (depth == LEVELS - 1u) {
            sum += of_cluster(8u * (block - LEAF_START) + lane, p);
        } else {
            block = 8u * block + 1u + lane;
            depth += 1u;
            open = with_open(open, depth, 0xffu);
        }
    }
    // Half of the half: a winding number of one is 2 pi here.
    return sum > PI;
}
