// Many small things that only need the triangles: normals of edges and points, boxes higher up, and the tally of the next frame.

fn own_normal(triangle: u32) -> vec3f {
    return read_planes(6u * triangle + 3u).xyz;
}

fn is_flat(triangle: u32) -> bool {
    return read_planes(6u * triangle + 5u).w != 0.0;
}

// A triangle without area stands for its neighbours, so that the surface has no gap in signs.
fn face_normal(triangle: u32) -> vec3f {
    if (!is_flat(triangle)) {
        return own_normal(triangle);
    }
    var sum = vec3f(0.0);
    for (var k = 0u; k < 3u; k++) {
        let edge = read_mesh_words(FEATURES + 6u * triangle + k);
        let end = read_mesh_words(EDGE_STARTS + edge + 1u);
        for (var i = read_mesh_words(EDGE_STARTS + edge); i < end; i++) {
            let other = read_mesh_words(EDGE_LISTS + i);
            if (!is_flat(other)) {
                sum += own_normal(other);
            }
        }
    }
    let length = sqrt(dot(sum, sum));
    return select(vec3f(0.0), sum / length, length > 1.1754944e-38);
}

fn of_edge(edge: u32) {
    var sum = vec3f(0.0);
    let end = read_mesh_words(EDGE_STARTS + edge + 1u);
    for (var i = read_mesh_words(EDGE_STARTS + edge); i < end; i++) {
        sum += face_normal(read_mesh_words(EDGE_LISTS + i));
    }
    write_normals(edge, vec4f(sum, 0.0));
}

fn of_point(point: u32) {
    var sum = vec3f(0.0);
    let end = read_mesh_words(POINT_STARTS + point + 1u);
    for (var i = read_mesh_words(POINT_STARTS + point); i < end; i++) {
        let corner = read_mesh_words(POINT_LISTS + i);
        let angles = read_planes(2u * (corner - corner % 3u) + 5u);
        sum += face_normal(corner / 3u) * angles[corner % 3u];
    }
    write_normals(EDGES + point, vec4f(sum, 0.0));
}

// A box higher up than those of the leaves' parents: around all leaves below it.
fn of_box(slot: u32) {
    var width = 8u;
    for (var level = 3u; level < LEVELS; level++) {
        width *= 8u;
    }
    var index = slot;
    var count = 8u;
    for (var level = 3u; level < LEVELS; level++) {
        if (index < count) {
            break;
        }
        index -= count;
        count *= 8u;
        width /= 8u;
    }
    var low = vec3f(NOWHERE);
    var high = vec3f(-NOWHERE);
    let end = min((index + 1u) * width, LEAF_BLOCKS);
    for (var i = index * width; i < end; i++) {
        low = min(low, read_boxes(2u * (8u * PARENT_START + i)).xyz);
        high = max(high, read_boxes(2u * (8u * PARENT_START + i) + 1u).xyz);
    }
    write_boxes(2u * slot, vec4f(low, 0.0));
    write_boxes(2u * slot + 1u, vec4f(high, 0.0));
}

fn kernel(index: u32) {
    if (index < count_tally) {
        write_tally(index, 0u);
        return;
    }
    if (read_state(MOVED) == 0u) {
        return;
    }
    var i = index - count_tally;
    if (i < UPPER_BOXES) {
        of_box(i);
        return;
    }
    i -= UPPER_BOXES;
    if (i < EDGES) {
        of_edge(i);
    } else {
        of_point(i - EDGES);
    }
}
