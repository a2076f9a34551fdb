fn kernel(index: u32) {
    let stretched = uniforms().stretched != 0u;
    let row = pair_row_of(index);
    let center = vec4f(read_centers(index).xyz, 1.0);
    let strongest = pair_of(index, row, row.begin).joint;
    let pivot = rotation_of(strongest);
    let start = center * matrix_of(strongest);
    var blended = vec4f(0.0);
    var shift = vec3f(0.0);
    var stretch = mat3x3f();
    for (var at = row.begin; at < row.end; at++) {
        let pair = pair_of(index, row, at);
        let m = matrix_of(pair.joint);
        let q = rotation_of(pair.joint);
        blended += q * select(pair.weight, -pair.weight, dot(q, pivot) < 0.0);
        shift += (center * m - start) * pair.weight;
        if (HAS_FIRST) {
            shift += linear_of(m) * pair.first;
        }
        if (stretched) {
            stretch += stretch_of(pair.joint) * pair.weight;
        }
    }
    var linear = turn_of(blended);
    if (stretched) {
        linear = linear * stretch;
    }
    write_moved(index, center.xyz, linear, start + shift, !stretched);
}
