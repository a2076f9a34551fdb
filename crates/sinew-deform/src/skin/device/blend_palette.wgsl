// Rows of a joint's skinning matrix, as columns.
fn palette_rows(joint: u32) -> mat3x4f {
    let at = 3u * joint;
    return mat3x4f(read_palette(at), read_palette(at + 1u), read_palette(at + 2u));
}

fn blend_palette(row: Row) -> mat3x4f {
    if (INFLUENCES == 1u) {
        return palette_rows(row.joints.x);
    }
    var sum = palette_rows(row.joints.x) * row.weights.x + palette_rows(row.joints.y) * row.weights.y;
    if (INFLUENCES > 2u) {
        sum += palette_rows(row.joints.z) * row.weights.z;
    }
    if (INFLUENCES > 3u) {
        sum += palette_rows(row.joints.w) * row.weights.w;
    }
    if (HAS_TAIL) {
        for (var at = row.more.x; at < row.more.y; at++) {
            let next = influence(at);
            sum += palette_rows(next.joint) * next.weight;
        }
    }
    return sum;
}
