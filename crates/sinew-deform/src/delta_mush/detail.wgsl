// The point of a slot plus its detail, turned by a frame made of neighbours.
// Moves, for a fan of n entries: 16 (point) + 4 (head) + 2 n near or 4 n far (entries) + 4 n (factors of frames from UV)
// + 16 (detail) + 16 (written) bytes. The entries' points, 16 n more, come from caches mostly: 70 bytes from memory for
// the nine near entries of a closed fan of six.

const TINY = 1e-36;
// Inverse square of the sine between tangent and normal below which a frame fades.
const SINE = 1e6;

// Before smoothing or after.
fn point(slot: u32, before: bool) -> vec3f {
    if (has_unsmoothed && before) {
        return read_start(slot).xyz;
    }
    return read_points(slot).xyz;
}

struct Fan {
    // Where the entries are: block or long row.
    at: u32,
    count: u32,
    long: bool,
}

fn fan_of(slot: u32) -> Fan {
    let head = read_fans(slot);
    let count = row_length(head);
    if (count == LONG_ROW) {
        let at = row_block(head);
        return Fan(at + 1u, read_fans(at), true);
    }
    return Fan(row_start(head, slot), count, false);
}

fn entry(fan: Fan, k: u32, slot: u32) -> u32 {
    if (fan.long) {
        return read_fans(fan.at + k * select(1u, 2u, fan_factored));
    }
    let more = select(0u, 2u, fan_factored);
    if (fan_narrow) {
        let word = read_fans(fan.at + (k >> 1u) * (1u + more) * ROW_STRIDE);
        return select(near_low(word, slot), near_high(word, slot), (k & 1u) != 0u);
    }
    return read_fans(fan.at + ((k >> 1u) * (2u + more) + (k & 1u)) * ROW_STRIDE);
}

fn factor(fan: Fan, k: u32) -> f32 {
    if (fan.long) {
        return bitcast<f32>(read_fans(fan.at + 2u * k + 1u));
    }
    let numbers = select(2u, 1u, fan_narrow);
    let row = (k >> 1u) * (numbers + 2u) + numbers + (k & 1u);
    return bitcast<f32>(read_fans(fan.at + row * ROW_STRIDE));
}

fn unit(v: vec3f) -> vec3f {
    return v / sqrt(max(dot(v, v), TINY));
}

fn kernel(slot: u32) {
    let smoothed = read_points(slot).xyz;
    let stored = read_details(slot);
    // The sign says where the frame comes from.
    let before = stored.w < 0.0;
    let fan = fan_of(slot);
    var area = vec3f(0.0, 0.0, 1.0);
    var edge = vec3f(1.0, 0.0, 0.0);
    if (fan.count >= 2u) {
        let base = point(entry(fan, 0u, slot), before);
        area = vec3f(0.0);
        edge = point(entry(fan, 1u, slot), before) - base;
        if (fan_factored) {
            edge *= factor(fan, 1u);
        }
        var last = vec3f(0.0);
        for (var k = 2u; k < fan.count; k++) {
            let next = point(entry(fan, k, slot), before) - base;
            area += cross(last, next);
            if (fan_factored) {
                edge += next * factor(fan, k);
            }
            last = next;
        }
    }
    let normal = unit(area);
    let across = edge - normal * dot(normal, edge);
    let tangent = unit(across);
    let sine = dot(across, across) * SINE / max(dot(edge, edge), TINY);
    // Limited before the multiplication: factors go up to 1e37.
    let rest = abs(stored.w);
    let left = min(dot(area, area), 1.0 / rest) * rest * min(sine, 1.0);
    let detail = tangent * stored.x + cross(normal, tangent) * stored.y + normal * stored.z;
    write_goal(slot, vec4f(smoothed + detail * (left * uniforms().displacement), 0.0));
}
