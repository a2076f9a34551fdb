// Mode `surface`: the interpolated normal.
fn third_axis(face: vec3f, corners: vec3u, barycentric: vec3f) -> vec3f {
    let n = unit_or_zero(
        read_surface_normals(corners.x).xyz * barycentric.x
        + read_surface_normals(corners.y).xyz * barycentric.y
        + read_surface_normals(corners.z).xyz * barycentric.z);
    if (is_zero(n)) {
        return face;
    }
    return n;
}
