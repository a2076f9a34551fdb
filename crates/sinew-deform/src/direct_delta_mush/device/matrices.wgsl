fn kernel(index: u32) {
    let row = pair_row_of(index);
    let center = vec4f(read_centers(index).xyz, 1.0);
    let start = center * matrix_of(pair_of(index, row, row.begin).joint);
    var linear = mat3x3f();
    var shift = vec3f(0.0);
    for (var at = row.begin; at < row.end; at++) {
        let pair = pair_of(index, row, at);
        let m = matrix_of(pair.joint);
        let turning = linear_of(m);
        linear += turning * pair.weight;
        shift += (center * m - start) * pair.weight + turning * pair.first;
    }
    write_moved(index, center.xyz, linear, start + shift, false);
}
