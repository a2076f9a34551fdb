// Per triangle, 64 a group: its own plane, in cells from the grid's origin; boxes of clusters and of the eight of them; where vertices
// are now.

var<workgroup> lows: array<vec3f, 64>;
var<workgroup> highs: array<vec3f, 64>;

// Further than any grid reaches, in cells.
const FAR: f32 = 1e7;
// As `FieldReach::EVERYWHERE`.
const FARTHEST: f32 = 1e30;
// Heights below this fraction of the longest edge count as none.
const FLAT: f32 = 1e-5;
const SMALLEST: f32 = 1.1754944e-38;
const PI: f32 = 3.1415927;

fn across(extent: vec3f, cell: f32) -> vec3u {
    let cells = vec3u(clamp(ceil(extent / cell - LEAN), vec3f(0.0), vec3f(1e9))) + 2u * PADDING + 1u;
    return (cells + 6u) / 7u;
}

fn fits(bricks: vec3u) -> bool {
    let corners = vec3f(bricks + 1u);
    // Beyond that whole numbers are no longer exact.
    if (corners.x * corners.y * corners.z > 4e9) {
        return false;
    }
    return corner_count(bricks) <= ENTRIES;
}

// As `SdfBind::shape`.
fn new_shape() -> Shape {
    var low = vec3f(LOW_X, LOW_Y, LOW_Z);
    var high = vec3f(HIGH_X, HIGH_Y, HIGH_Z);
    if (!IS_FIXED) {
        low = vec3f(0.0);
        high = vec3f(0.0);
        if (read_tally(0u) != 0u) {
            low = -vec3f(number_of(read_tally(0u)), number_of(read_tally(1u)), number_of(read_tally(2u)));
            high = vec3f(number_of(read_tally(3u)), number_of(read_tally(4u)), number_of(read_tally(5u)));
        }
    }
    var cell = CELL;
    var bricks = across(high - low, cell);
    for (var turn = 0u; turn < 2000u; turn++) {
        if (fits(bricks) || cell >= 1e30) {
            break;
        }
        cell *= 1.1;
        bricks = across(high - low, cell);
    }
    let first = floor(low / cell + LEAN) - f32(PADDING);
    return Shape(first * cell, cell, bricks);
}

// Where the mesh moved; otherwise what the field was built for stays.
fn vertex_now(vertex: u32, has_moved: bool) -> vec3f {
    if (has_moved) {
        return placed(uniforms(), read_mesh_positions(vertex));
    }
    return read_built_for(vertex);
}

fn corner(triangle: u32, k: u32, shape: Shape, has_moved: bool) -> vec3f {
    let p = vertex_now(read_mesh_words(3u * triangle + k), has_moved);
    return (p - shape.origin) * (1.0 / shape.cell);
}

// Unit length, or zero where there is none.
fn unit(a: vec3f) -> vec3f {
    let length = sqrt(dot(a, a));
    return select(vec3f(0.0), a / length, length > SMALLEST);
}

fn any_across(x: vec3f) -> vec3f {
    let a = abs(x);
    var axis = vec3f(1.0, 0.0, 0.0);
    if (a.y < a.x && a.y <= a.z) {
        axis = vec3f(0.0, 1.0, 0.0);
    } else if (a.z < a.x) {
        axis = vec3f(0.0, 0.0, 1.0);
    }
    return unit(cross(x, axis));
}

// Direction and length of an edge in the plane.
fn direction(x: f32, y: f32) -> vec3f {
    let length = sqrt(x * x + y * y);
    if (length > SMALLEST) {
        return vec3f(x / length, y / length, length);
    }
    return vec3f(1.0, 0.0, 0.0);
}

fn put(slot: u32, corners: array<vec3f, 3>) {
    var c = corners;
    var edges = vec3f(0.0);
    for (var k = 0u; k < 3u; k++) {
        let edge = c[(k + 1u) % 3u] - c[k];
        edges[k] = dot(edge, edge);
    }
    var first = select(0u, 1u, edges.y > edges.x);
    if (edges.z > max(edges.x, edges.y)) {
        first = 2u;
    }
    let a = c[first];
    let ab = c[(first + 1u) % 3u] - a;
    let ac = c[(first + 2u) % 3u] - a;
    let length = sqrt(dot(ab, ab));
    let x = select(vec3f(1.0, 0.0, 0.0), ab / length, length > SMALLEST);
    let along = dot(ac, x);
    // Twice, as the first remainder still leans towards x by rounding.
    let leaning = ac - x * along;
    let rest = leaning - x * dot(leaning, x);
    var height = sqrt(dot(rest, rest));
    let is_flat = height <= FLAT * length || height <= SMALLEST;
    var y = rest / height;
    var angles = vec3f(0.0);
    if (is_flat) {
        y = any_across(x);
        height = 0.0;
    } else {
        angles.x = atan2(height, along);
        angles.y = atan2(height, length - along);
        angles.z = max(PI - angles.x - angles.y, 1e-6);
    }
    let n = cross(x, y);
    let edge02 = direction(along, height);
    let edge12 = direction(along - length, height);
    let base = 6u * slot;
    write_planes(base, vec4f(a, length));
    write_planes(base + 1u, vec4f(x, edge02.x));
    write_planes(base + 2u, vec4f(y, edge02.y));
    write_planes(base + 3u, vec4f(n, edge02.z));
    write_planes(base + 4u, vec4f(edge12, f32(first)));
    // At the corners of the mesh.
    let k = vec3u(3u - first, 4u - first, 5u - first) % 3u;
    write_planes(base + 5u, vec4f(angles[k.x], angles[k.y], angles[k.z], select(0.0, 1.0, is_flat)));
}

fn write_box(slot: u32, low: vec3f, high: vec3f) {
    write_boxes(2u * slot, vec4f(low, 0.0));
    write_boxes(2u * slot + 1u, vec4f(high, 0.0));
}

fn note_shape(shape: Shape) {
    for (var k = 0u; k < 3u; k++) {
        write_state(ORIGIN + k, bitcast<u32>(shape.origin[k]));
        write_state(BRICKS + k, shape.bricks[k]);
    }
    write_state(CELL_EDGE, bitcast<u32>(shape.cell));
}

fn note_reach(everywhere: bool) {
    let u = uniforms();
    for (var k = 0u; k < 3u; k++) {
        write_state(REACH + k, bitcast<u32>(select(u.reach_low[k], -FARTHEST, everywhere)));
        write_state(REACH + 3u + k, bitcast<u32>(select(u.reach_high[k], FARTHEST, everywhere)));
    }
}

// Where vertices are, all of them: there may be more than triangles.
fn note_vertices(first: u32) {
    for (var v = first; v < vertex_count; v += 64u * WRITTEN_LEAVES) {
        write_built_for(v, placed(uniforms(), read_mesh_positions(v)));
    }
}

fn kernel(group: u32, local: u32) {
    let has_moved = read_tally(ANY_MOVED) == HAS_MOVED;
    let is_built = read_tally(ANY_MOVED) != 0u;
    let slot = 64u * group + local;
    if (has_moved) {
        note_vertices(slot);
    }
    lows[local] = vec3f(NOWHERE);
    highs[local] = vec3f(-NOWHERE);
    if (is_built && slot < 8u * CLUSTERS) {
        var shape: Shape;
        if (has_moved) {
            shape = new_shape();
        } else {
            shape = known_shape();
        }
        if (slot == 0u) {
            write_state(MOVED, 1u);
            note_reach(!has_moved);
            if (has_moved) {
                note_shape(shape);
            }
        }
        // Behind the end of the mesh the last one repeats.
        let triangle = min(slot, TRIANGLES - 1u);
        var corners = array(corner(triangle, 0u, shape, has_moved), corner(triangle, 1u, shape, has_moved), corner(triangle, 2u, shape, has_moved));
        let largest = max(max(abs(corners[0]), abs(corners[1])), abs(corners[2]));
        let is_good = is_number(corners[0]) && is_number(corners[1]) && is_number(corners[2]);
        // Beyond that squares are no longer finite.
        if (!is_good || max(largest.x, max(largest.y, largest.z)) > FAR) {
            corners = array(vec3f(FAR), vec3f(FAR), vec3f(FAR));
        }
        lows[local] = min(min(corners[0], corners[1]), corners[2]);
        highs[local] = max(max(corners[0], corners[1]), corners[2]);
        put(slot, corners);
    } else if (slot == 0u) {
        write_state(MOVED, 0u);
    }
    workgroupBarrier();
    if (local < 8u) {
        let own = 8u * local;
        for (var k = 1u; k < 8u; k++) {
            lows[own] = min(lows[own], lows[own + k]);
            highs[own] = max(highs[own], highs[own + k]);
        }
        if (is_built && group < LEAF_BLOCKS) {
            write_box(8u * (LEAF_START + group) + local, lows[own], highs[own]);
        }
    }
    workgroupBarrier();
    if (LEVELS > 1u && is_built && local == 0u) {
        for (var k = 1u; k < 8u; k++) {
            lows[0] = min(lows[0], lows[8u * k]);
            highs[0] = max(highs[0], highs[8u * k]);
        }
        write_box(8u * PARENT_START + group, lows[0], highs[0]);
    }
}
