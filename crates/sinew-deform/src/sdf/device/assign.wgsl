// Slots for bricks, in the order of space; where not all find room, those on the surface first. And the header.

// Sums in two halves of a word: bricks on the surface below, all of them above.
var<workgroup> sums: array<u32, 256>;
// Before this group: on the surface, all; then of all groups.
var<workgroup> totals: array<atomic<u32>, 4>;

fn put_number(word: u32, value: f32) {
    write_field(word, bitcast<u32>(value));
}

fn write_header(built: u32, has_moved: bool) {
    let u = uniforms();
    for (var k = 0u; k < 3u; k++) {
        put_number(1u + k, u.row_x[k]);
        put_number(4u + k, u.row_y[k]);
        put_number(7u + k, u.row_z[k]);
    }
    put_number(10u, u.row_x.w);
    put_number(11u, u.row_y.w);
    put_number(12u, u.row_z.w);
    put_number(13u, u.scale);
    if (!has_moved) {
        return;
    }
    let shape = known_shape();
    write_field(0u, select(1u, 2u, IS_HALF));
    for (var k = 0u; k < 3u; k++) {
        put_number(14u + k, shape.origin[k]);
        write_field(18u + k, shape.bricks[k]);
    }
    put_number(17u, shape.cell);
    write_field(21u, built);
    write_field(22u, HEADER);
    write_field(23u, HEADER + brick_count(shape.bricks));
    write_field(24u, HEADER + brick_count(shape.bricks) + corner_count(shape.bricks));
}

fn kernel(group: u32, local: u32) {
    let has_moved = read_state(MOVED) != 0u;
    let count = select(0u, brick_count(known_shape().bricks), has_moved);
    if (local < 4u) {
        atomicStore(&totals[local], 0u);
    }
    let brick = 256u * group + local;
    var near = 0u;
    if (brick < count) {
        near = read_near(brick);
        // For the next frame.
        write_near(brick, 0u);
    }
    let is_on = (near & SURFACE) != 0u;
    let own = select(0u, 0x10000u, near != 0u) + select(0u, 1u, is_on);
    sums[local] = own;
    workgroupBarrier();
    let groups = (count + 255u) / 256u;
    for (var i = local; i < groups; i += 256u) {
        let wanted = read_tally(WANTED + i);
        atomicAdd(&totals[2], wanted & 0xffffu);
        atomicAdd(&totals[3], wanted >> 16u);
        if (i < group) {
            atomicAdd(&totals[0], wanted & 0xffffu);
            atomicAdd(&totals[1], wanted >> 16u);
        }
    }
    for (var step = 0u; step < 8u; step++) {
        let back = 1u << step;
        var other = 0u;
        if (local >= back) {
            other = sums[local - back];
        }
        workgroupBarrier();
        sums[local] += other;
        workgroupBarrier();
    }
    let before = sums[local] - own;
    let surface = atomicLoad(&totals[0]) + (before & 0xffffu);
    let near_before = atomicLoad(&totals[1]) + (before >> 16u);
    let all = atomicLoad(&totals[3]);
    var slot = near_before;
    if (all > SLOTS) {
        // Those on the surface first.
        slot = select(atomicLoad(&totals[2]) + near_before - surface, surface, is_on);
    }
    let is_built = near != 0u && slot < SLOTS;
    if (brick < count) {
        write_field(HEADER + brick, select(NO_BRICK, slot, is_built));
        write_bricks(2u * SLOTS + brick, select(0u, slot + 1u, is_built));
        if (is_built) {
            write_bricks(2u * slot, brick);
            write_bricks(2u * slot + 1u, near & SLOT_MASK);
        }
    }
    if (group == 0u && local == 0u) {
        let built = min(all, SLOTS);
        write_state(BUILT, built);
        write_header(built, has_moved);
    }
}
