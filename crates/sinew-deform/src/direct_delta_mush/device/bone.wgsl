// Writes down how a virtual bone moves from rest space less the origin to posed space less the reference: three rows of a matrix. Given is
// the motion about its centre; `turns` is of no use here.
fn write_moved(index: u32, center: vec3f, linear: mat3x3f, translation: vec3f, turns: bool) {
    let rows = transpose(linear);
    let start = translation - linear * center;
    let at = 3u * index;
    write_palette(at, vec4f(rows[0], start.x));
    write_palette(at + 1u, vec4f(rows[1], start.y));
    write_palette(at + 2u, vec4f(rows[2], start.z));
}
