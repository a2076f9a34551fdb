// Signs by the pseudonormal of the nearest feature.

// Whether `p` is behind the feature of the triangle that it is nearest to.
fn is_inside(slot: u32, p: vec3f) -> bool {
    let triangle = min(slot, TRIANGLES - 1u);
    let t = plane_of(triangle);
    let at = in_plane(t, p);
    if (contains(t, at.xy)) {
        return at.z < 0.0;
    }
    let along01 = clamp(at.x, 0.0, t.length);
    let along02 = clamp(dot(at.xy, t.edge02.xy), 0.0, t.edge02.z);
    let from1 = vec2f(at.x - t.length, at.y);
    let along12 = clamp(dot(from1, t.edge12.xy), 0.0, t.edge12.z);
    let off01 = vec2f(at.x - along01, at.y);
    let off02 = at.xy - t.edge02.xy * along02;
    let off12 = from1 - t.edge12.xy * along12;
    // Features: edges from corner k to the next, then corners. Ends of an edge belong to its corners.
    let e01 = t.first;
    let e12 = (t.first + 1u) % 3u;
    let e20 = (t.first + 2u) % 3u;
    let on01 = select(select(e01, 3u + e12, along01 >= t.length), 3u + e01, along01 <= 0.0);
    let on02 = select(select(e20, 3u + e20, along02 >= t.edge02.z), 3u + e01, along02 <= 0.0);
    let on12 = select(select(e12, 3u + e20, along12 >= t.edge12.z), 3u + e12, along12 <= 0.0);
    let is01 = dot(off01, off01) <= dot(off02, off02);
    let off = select(off02, off01, is01);
    let isnot12 = dot(off, off) <= dot(off12, off12);
    let feature = select(on12, select(on02, on01, is01), isnot12);
    let flat_way = select(off12, off, isnot12);
    let way = t.x * flat_way.x + t.y * flat_way.y + t.n * at.z;
    let index = read_mesh_words(FEATURES + 6u * triangle + feature);
    let normal = read_normals(select(index, EDGES + index, feature >= 3u)).xyz;
    return dot(normal, way) < 0.0;
}
