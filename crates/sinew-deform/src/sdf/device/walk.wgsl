// The nearest triangle of a point, and whether any comes near a box. The blocks of the tree are numbered from the root, the
// children of block b from 8b + 1; which children of the blocks above are still to be seen fits eight bits a level.

// Twelve levels in three words.
fn open_at(open: vec3u, depth: u32) -> u32 {
    let word = select(select(open.z, open.y, depth < 8u), open.x, depth < 4u);
    return (word >> (8u * (depth % 4u))) & 0xffu;
}

fn with_open(open: vec3u, depth: u32, mask: u32) -> vec3u {
    let shift = 8u * (depth % 4u);
    let words = (open & vec3u(~(0xffu << shift))) | vec3u(mask << shift);
    let word = vec3u(depth / 4u);
    return select(open, words, word == vec3u(0u, 1u, 2u));
}

fn try_cluster(cluster: u32, p: vec3f, known: Nearest) -> Nearest {
    var best = known;
    for (var k = 0u; k < 8u; k++) {
        let slot = 8u * cluster + k;
        best = nearer(best, square_from(slot, p), slot);
    }
    return best;
}

// No triangle where none is nearer than the square `limit`.
fn nearest(p: vec3f, limit: f32) -> Nearest {
    var best = Nearest(limit, NO_TRIANGLE);
    var block = 0u;
    var depth = 0u;
    var open = vec3u(0xffu, 0u, 0u);
    for (var step = 0u; step < VISITS; step++) {
        let mask = open_at(open, depth);
        var left = 0u;
        var lane = 8u;
        var least = HUGE;
        // All eight, so that their loads do not wait for each other.
        for (var k = 0u; k < 8u; k++) {
            let square = box_square(8u * block + k, p, p);
            if (((mask >> k) & 1u) != 0u && square <= best.square) {
                left |= 1u << k;
                if (square < least) {
                    least = square;
                    lane = k;
                }
            }
        }
        if (lane == 8u) {
            if (depth == 0u) {
                break;
            }
            block = (block - 1u) / 8u;
            depth -= 1u;
            continue;
        }
        open = with_open(open, depth, left & ~(1u << lane));
        if (depth == LEVELS - 1u) {
            best = try_cluster(8u * (block - LEAF_START) + lane, p, best);
        } else {
            block = 8u * block + 1u + lane;
            depth += 1u;
            open = with_open(open, depth, 0xffu);
        }
    }
    return best;
}

// How near a brick can come to a triangle with this distance and direction from its centre: no nearer than the plane in front
// of it.
fn least_distance(away: vec3f) -> f32 {
    let distance = sqrt(dot(away, away));
    if (distance <= 0.0) {
        return 0.0;
    }
    let a = abs(away);
    return distance - HALF_EDGE * (a.x + a.y + a.z) / distance;
}

fn cluster_reaches(cluster: u32, center: vec3f) -> bool {
    for (var k = 0u; k < 8u; k++) {
        if (least_distance(away_from(8u * cluster + k, center)) <= BAND) {
            return true;
        }
    }
    return false;
}

// Whether any triangle comes within the band of a brick.
fn reaches(center: vec3f) -> bool {
    let low = center - vec3f(HALF_EDGE);
    let high = center + vec3f(HALF_EDGE);
    var block = 0u;
    var depth = 0u;
    var open = vec3u(0xffu, 0u, 0u);
    for (var step = 0u; step < VISITS; step++) {
        let mask = open_at(open, depth);
        var lane = 8u;
        for (var k = 0u; k < 8u; k++) {
            let is_open = ((mask >> k) & 1u) != 0u;
            if (lane == 8u && is_open && box_square(8u * block + k, low, high) <= BAND * BAND) {
                lane = k;
            }
        }
        if (lane == 8u) {
            if (depth == 0u) {
                break;
            }
            block = (block - 1u) / 8u;
            depth -= 1u;
            continue;
        }
        // Those before it are too far.
        open = with_open(open, depth, mask & (0xfeu << lane));
        if (depth == LEVELS - 1u) {
            if (cluster_reaches(8u * (block - LEAF_START) + lane, center)) {
                return true;
            }
        } else {
            block = 8u * block + 1u + lane;
            depth += 1u;
            open = with_open(open, depth, 0xffu);
        }
    }
    return false;
}
