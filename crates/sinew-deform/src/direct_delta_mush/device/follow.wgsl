// A vertex that follows virtual bones by linear skinning. Reads as much of it as `skin` does, and nothing else of its own.
fn kernel(index: u32) {
    let u = uniforms();
    var v = read_vertex(index);
    v.position -= u.origin;
    var out = through_rows(blend_palette(row_of(index)), v);
    out.position += u.reference;
    write_vertex(index, out);
}
