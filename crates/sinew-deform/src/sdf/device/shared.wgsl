// What all passes know: the frame, the shape of the grid, where things lie.

struct Uniforms {
    // Rotation, field axes from scene axes; the translation in w.
    row_x: vec4f,
    row_y: vec4f,
    row_z: vec4f,
    scale: f32,
    is_first: u32,
    unused_a: u32,
    unused_b: u32,
    // Where the field is looked up: a box in its frame.
    reach_low: vec4f,
    reach_high: vec4f,
}

// Words of `state`.
const MOVED: u32 = 0u;
const ORIGIN: u32 = 1u;
const CELL_EDGE: u32 = 4u;
const BRICKS: u32 = 5u;
const BUILT: u32 = 8u;
// The box in which bricks got values: three lowest and three highest coordinates.
const REACH: u32 = 9u;
// Words of `tally`: six bounds, why the field is built (see below) or 0, wanted bricks of each 256.
const ANY_MOVED: u32 = 6u;
// The mesh stands still, but is looked up elsewhere, too: then everywhere.
const REACHES_FARTHER: u32 = 1u;
const HAS_MOVED: u32 = 2u;
const WANTED: u32 = 8u;
// Of a brick's key: whether the surface may run through it.
const SURFACE: u32 = 0x80000000u;
// As in `words.rs`.
const HEADER: u32 = 32u;
const NO_BRICK: u32 = 0xffffffffu;
const NO_TRIANGLE: u32 = 0xffffffffu;
// Larger than any square, and the square of where nothing is.
const HUGE: f32 = 3e38;
const NOWHERE: f32 = 1e18;
// Half a brick's edge, in cells.
const HALF_EDGE: f32 = 3.5;
// Nodes of the coarse level that a workgroup takes, along each axis: the corners of a brick.
const COARSE_NODES: u32 = 2u;

fn placed(u: Uniforms, p: vec3f) -> vec3f {
    let turned = vec3f(dot(u.row_x.xyz, p), dot(u.row_y.xyz, p), dot(u.row_z.xyz, p));
    return turned * u.scale + vec3f(u.row_x.w, u.row_y.w, u.row_z.w);
}

// By its bits: compilers may take for granted that comparisons meet numbers only.
fn is_number(p: vec3f) -> bool {
    return all((bitcast<vec3u>(p) & vec3u(0x7f800000u)) != vec3u(0x7f800000u));
}

// Whole numbers in the order of the floats, zero below them all.
fn key_of(v: f32) -> u32 {
    let bits = bitcast<u32>(v);
    return select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
}

fn number_of(key: u32) -> f32 {
    return bitcast<f32>(select(~key, key & 0x7fffffffu, key >= 0x80000000u));
}

struct Shape {
    origin: vec3f,
    cell: f32,
    bricks: vec3u,
}

fn brick_count(bricks: vec3u) -> u32 {
    return bricks.x * bricks.y * bricks.z;
}

fn corner_count(bricks: vec3u) -> u32 {
    return brick_count(bricks + 1u);
}

// Workgroups that the coarse level needs along each axis.
fn coarse_groups(bricks: vec3u) -> vec3u {
    return (bricks + COARSE_NODES) / COARSE_NODES;
}

fn unflatten(index: u32, counts: vec3u) -> vec3u {
    let row = index / counts.x;
    return vec3u(index % counts.x, row % counts.y, row / counts.y);
}
