// One smoothing pass: `(1 - step) point + step mean` over the neighbours of a slot.
// Moves, for a slot with n neighbours: 16 (point) + 4 (head) + 2 n near or 4 n far (numbers) + 4 n (weights, unless all
// count alike) + 16 (written) bytes. The neighbours' points, 16 n more, come from caches where the order of the
// slots keeps neighbours together: 48 bytes from memory for six near neighbours that count alike.

struct Ring {
    sum: vec3f,
    count: u32,
}

fn neighbour(slot: u32, weight_at: u32) -> vec3f {
    let p = read_points(slot).xyz;
    if (weighted) {
        return p * bitcast<f32>(read_ring(weight_at));
    }
    return p;
}

fn long_ring(at: u32) -> Ring {
    let count = read_ring(at);
    let stride = select(1u, 2u, weighted);
    var sum = vec3f(0.0);
    for (var k = 0u; k < count; k++) {
        let entry = at + 1u + k * stride;
        sum += neighbour(read_ring(entry), entry + 1u);
    }
    return Ring(sum, count);
}

fn ring(slot: u32) -> Ring {
    let head = read_ring(slot);
    let count = row_length(head);
    if (count == LONG_ROW) {
        return long_ring(row_block(head));
    }
    let numbers = select(2u, 1u, ring_narrow) * ROW_STRIDE;
    let stride = numbers + select(0u, 2u * ROW_STRIDE, weighted);
    var at = row_start(head, slot);
    var sum = vec3f(0.0);
    for (var k = 0u; k < count; k += 2u) {
        let word = read_ring(at);
        let weights = at + numbers;
        sum += neighbour(select(word, near_low(word, slot), ring_narrow), weights);
        if (k + 1u < count) {
            var other = near_high(word, slot);
            if (!ring_narrow) {
                other = read_ring(at + ROW_STRIDE);
            }
            sum += neighbour(other, weights + ROW_STRIDE);
        }
        at += stride;
    }
    return Ring(sum, count);
}

fn kernel(slot: u32) {
    let own = read_points(slot).xyz;
    let around = ring(slot);
    if (around.count == 0u) {
        // Pinned or alone.
        write_goal(slot, vec4f(own, 0.0));
        return;
    }
    let step = uniforms().step;
    var keep = 1.0 - step;
    var each = step;
    if (!weighted) {
        let n = f32(around.count);
        if (counts_itself) {
            each = step / (n + 1.0);
            keep += each;
        } else {
            each = step / n;
        }
    }
    write_goal(slot, vec4f(own * keep + around.sum * each, 0.0));
}
