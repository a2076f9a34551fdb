// Parameters of the vertex where it is now. Fused in this order as on the processor: at the faces of the box and between cells
// the last bit decides.
fn place(unit_from_scene: array<vec4f, 3>, index: u32, p: vec3f) -> vec3f {
    let x = unit_from_scene[0];
    let y = unit_from_scene[1];
    let z = unit_from_scene[2];
    let shifted = fma(vec3f(p.z), vec3f(x.z, y.z, z.z), vec3f(x.w, y.w, z.w));
    return fma(vec3f(p.x), vec3f(x.x, y.x, z.x), fma(vec3f(p.y), vec3f(x.y, y.y, z.y), shifted));
}
