// Columns of nodes that cross the surface: winding numbers without a tree.
//
// Where a column rises through a triangle that faces down, the winding number grows by one; where it faces up, it falls by one. The
// number of a node is the sum of what its column crosses below it. The sides of edges are decided once for both triangles at an edge: the
// sums of a closed surface are whole and right, whatever the rounding. On an open surface a wall stands on each edge of the rim, up to
// infinity. Mesh and walls are closed, no column crosses a wall, and the angles of the walls are subtracted from the sums.
//
// Counts are bytes, four a word; sums of bytes below zero borrow from those above them, which `BIAS` mends. First 128 words for each brick
// with values: two for each of its 8 x 8 columns, a byte between nodes. Then bytes for all columns of the grid: what they cross below
// it, and in each brick.

const BIAS: u32 = 0x80808080u;
const COLUMN_WORDS: u32 = 128u;
// Columns stand this far beside their nodes: seldom on an edge or a corner.
const ASIDE: vec2f = vec2f(2e-6, 3e-6);

// Whether the origin is to the left of an edge that rises from `low` to `high`. Products alone: no compiler may round one pair otherwise.
fn is_left(low: vec2f, high: vec2f) -> bool {
    return low.x * high.y > high.x * low.y;
}

// First byte of a column.
fn column_start(column: vec2u, bricks: vec3u) -> u32 {
    return (column.x + (7u * bricks.x + 1u) * column.y) * (bricks.z + 1u);
}
