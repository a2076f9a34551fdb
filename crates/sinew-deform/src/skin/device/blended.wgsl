fn kernel(index: u32) {
    let row = row_of(index);
    let v = read_vertex(index);
    let a = through_rows(blend_palette(row), v);
    let b = dual_quaternion(row, v);
    var share = uniforms().blend;
    if (has_dual_quaternion_mask) {
        share *= read_dual_quaternion_mask(index);
    }
    let w = clamp(share, 0.0, 1.0);
    var out: SkinVertex;
    out.position = a.position + (b.position - a.position) * w;
    if (TURNS_NORMALS) {
        out.normal = direction(a.normal + (b.normal - a.normal) * w, a.normal);
    }
    if (TURNS_TANGENTS) {
        let t = a.tangent.xyz + (b.tangent.xyz - a.tangent.xyz) * w;
        out.tangent = vec4f(direction(t, a.tangent.xyz), select(a.tangent.w, b.tangent.w, w > 0.5));
    }
    write_vertex(index, out);
}
