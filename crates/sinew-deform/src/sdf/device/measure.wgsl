// The coarse level, and which bricks come near the surface: one invocation for a corner of bricks, another one for a centre.

fn of_corner(index: u32, bricks: vec3u) {
    if (index >= corner_count(bricks)) {
        return;
    }
    let p = vec3f(unflatten(index, bricks + 1u) * 7u);
    let found = nearest(p, HUGE);
    let distance = sqrt(found.square);
    let value = select(distance, -distance, is_inside(min(found.slot, TRIANGLES - 1u), p));
    write_field(HEADER + brick_count(bricks) + index, bitcast<u32>(value));
}

// 0 where it is far, 1 within the band, 2 on the surface; the triangle nearest to the centre behind that.
fn nearness(center: vec3f) -> u32 {
    let limit = HALF_DIAGONAL + BAND + 1e-3;
    let found = nearest(center, limit * limit);
    if (found.slot == NO_TRIANGLE) {
        return 0u;
    }
    let side = least_distance(away_from(found.slot, center));
    let slot = found.slot << 2u;
    if (side <= 0.0) {
        return slot | 2u;
    }
    return select(0u, slot | 1u, side <= BAND || reaches(center));
}

fn of_center(index: u32, bricks: vec3u) {
    if (index >= brick_count(bricks)) {
        return;
    }
    let near = nearness(vec3f(unflatten(index, bricks) * 7u) + vec3f(HALF_EDGE));
    write_near(index, near);
    if (near != 0u) {
        add_tally(WANTED + index / 256u, select(0x10000u, 1u, (near & 3u) == 2u));
    }
}

fn kernel(index: u32) {
    if (read_state(MOVED) == 0u) {
        return;
    }
    let bricks = known_shape().bricks;
    if (index < CORNER_ROOM) {
        of_corner(index, bricks);
    } else {
        of_center(index - CORNER_ROOM, bricks);
    }
}
