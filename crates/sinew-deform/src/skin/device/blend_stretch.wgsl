// Rows of a joint's stretch, as columns.
fn stretch_rows(joint: u32) -> mat3x4f {
    let at = 3u * joint;
    return mat3x4f(read_stretch(at), read_stretch(at + 1u), read_stretch(at + 2u));
}

fn blend_stretch(row: Row) -> mat3x4f {
    if (INFLUENCES == 1u) {
        return stretch_rows(row.joints.x);
    }
    var sum = stretch_rows(row.joints.x) * row.weights.x + stretch_rows(row.joints.y) * row.weights.y;
    if (INFLUENCES > 2u) {
        sum += stretch_rows(row.joints.z) * row.weights.z;
    }
    if (INFLUENCES > 3u) {
        sum += stretch_rows(row.joints.w) * row.weights.w;
    }
    if (HAS_TAIL) {
        for (var at = row.more.x; at < row.more.y; at++) {
            let next = influence(at);
            sum += stretch_rows(next.joint) * next.weight;
        }
    }
    return sum;
}
