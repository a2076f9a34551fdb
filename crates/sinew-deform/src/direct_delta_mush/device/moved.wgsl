// Writes a vertex that moves from rest space about its centre by `linear` and `translation`; `turns` where `linear` only turns.
fn write_moved(index: u32, center: vec3f, linear: mat3x3f, translation: vec3f, turns: bool) {
    let u = uniforms();
    let v = read_vertex(index);
    let rest = v.position - u.origin - center;
    var out = v;
    out.position = (linear * rest + translation) + u.reference;
    if (TURNS_NORMALS || TURNS_TANGENTS) {
        if (turns) {
            if (TURNS_NORMALS) {
                out.normal = linear * v.normal;
            }
            if (TURNS_TANGENTS) {
                out.tangent = vec4f(linear * v.tangent.xyz, v.tangent.w);
            }
        } else {
            let rows = transpose(linear);
            let affine = mat3x4f(vec4f(rows[0], 0.0), vec4f(rows[1], 0.0), vec4f(rows[2], 0.0));
            let turned = through_rows(affine, v);
            out.normal = turned.normal;
            out.tangent = turned.tangent;
        }
    }
    write_vertex(index, out);
}
