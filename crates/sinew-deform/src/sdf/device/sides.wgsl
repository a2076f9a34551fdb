// Sides of nodes, each asked for on its own: from the triangle nearest to it, or from the tree.

// Whether sides need to know which triangle is nearest.
const KEEPS_SLOTS: bool = true;
// Of the team, the one whose column has a node in the middle of the block, its second.
const MIDDLE: u32 = 5u;
// The furthest that a node of the block is from that one, and a little more.
const BLOCK_RADIUS: f32 = 3.6;

// Where a block is far from a closed surface one sign serves it: 0 or 1; 2 where it does not.
var<workgroup> block_inside: array<u32, 8>;

fn column_inside(slot: u32, at: vec3u, local: u32) -> vec4<bool> {
    let team = local / LANES;
    let lane = local % LANES;
    let low = vec3f(at * 7u) + vec3f(HALF_EDGE) + side_of(block_of(team)) * TO_BLOCK + column_offset(lane);
    let up = vec3f(0.0, 0.0, 1.0);
    if (lane == MIDDLE) {
        var inside = 2u;
        if (IS_CLOSED && squares.y > BLOCK_RADIUS * BLOCK_RADIUS) {
            inside = select(0u, 1u, is_inside(slots.y, low + up));
        }
        block_inside[team] = inside;
    }
    workgroupBarrier();
    let inside = block_inside[team];
    var out = vec4<bool>(inside == 1u);
    if (inside == 2u) {
        for (var k = 0u; k < 4u; k++) {
            // Of a single block each team tells one node of a column.
            if (!SPLITS || k == team) {
                out[k] = is_inside(slots[k], low + up * f32(k));
            }
        }
    }
    return out;
}

fn corner_inside(nearest: u32, corner: vec3u, local: u32) -> bool {
    return is_inside(nearest, vec3f(corner * 7u));
}
