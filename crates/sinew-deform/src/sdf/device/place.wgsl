// Per vertex: the box of the mesh in the field's frame, and whether anything moved or reaches farther since the field was built.

var<workgroup> highest: array<atomic<u32>, 7>;

fn note(now: vec3f) {
    for (var k = 0u; k < 3u; k++) {
        // Lowest coordinates as the highest of their negatives.
        atomicMax(&highest[k], key_of(-now[k]));
        atomicMax(&highest[k + 3u], key_of(now[k]));
    }
}

fn reaches_farther(u: Uniforms) -> bool {
    for (var k = 0u; k < 3u; k++) {
        let low = bitcast<f32>(read_state(REACH + k));
        let high = bitcast<f32>(read_state(REACH + 3u + k));
        if (!(low <= u.reach_low[k] && u.reach_high[k] <= high)) {
            return true;
        }
    }
    return false;
}

fn kernel(group: u32, local: u32) {
    if (local < 7u) {
        atomicStore(&highest[local], 0u);
    }
    workgroupBarrier();
    if (group == 0u && local == 0u && reaches_farther(uniforms())) {
        atomicMax(&highest[ANY_MOVED], REACHES_FARTHER);
    }
    let vertex = group * 128u + local;
    if (vertex < vertex_count) {
        let u = uniforms();
        let now = placed(u, read_mesh_positions(vertex));
        let before = read_built_for(vertex);
        let is_good = is_number(now);
        let is_still = is_good && is_number(before) && all(abs(before - now) <= vec3f(STILL));
        if (!is_still || u.is_first != 0u) {
            atomicMax(&highest[ANY_MOVED], HAS_MOVED);
        }
        if (is_good) {
            note(now);
        }
    }
    workgroupBarrier();
    if (local < 7u) {
        let value = atomicLoad(&highest[local]);
        if (value != 0u) {
            max_tally(local, value);
        }
    }
}
