// One smoothing pass: `(1 - step) point + step mean` over the neighbours of a class.
// Moves, for n neighbours: 12 (point) + 4 (head) + 2 n near or 4 n far (numbers) + 4 n (weights, unless all count alike)
// + 12 (written) bytes. The neighbours' points, 12 n more, come from caches or workgroup memory.

fn kernel(class_index: u32) {
    let own = read_points(class_index);
    let count = open_ring(class_index);
    if (count == 0u) {
        // Pinned or alone.
        write_goal(class_index, own);
        return;
    }
    var sum = vec3f(0.0);
    for (var k = 0u; k < ring_count(); k++) {
        if (weighted) {
            sum += ring_points(k) * bitcast<f32>(ring_extra(k));
        } else {
            sum += ring_points(k);
        }
    }
    let step = uniforms().step;
    var keep = 1.0 - step;
    var each = step;
    if (!weighted) {
        let n = f32(count);
        if (counts_itself) {
            each = step / (n + 1.0);
            keep += each;
        } else {
            each = step / n;
        }
    }
    write_goal(class_index, own * keep + sum * each);
}
