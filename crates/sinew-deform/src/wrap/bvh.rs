//! A box tree over triangles that answers "which are closest?". Our own, because the query needs a filter (normals
//! that oppose), the k best, and ties broken by index; `bvh` 0.13 offers the single nearest shape only.

use sinew_geom::Vec3;

type P = Vec3<f64>;

/// A point of a triangle, the result of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Index of the triangle.
    pub triangle: u32,
    /// Barycentric coordinates of corners 0, 1 and 2.
    pub barycentric: [f64; 3],
    /// Squared distance, m².
    pub square: f64,
}

/// Closest point of the triangle `t` to `p` as barycentric coordinates, after Ericson, "Real-Time Collision
/// Detection", 2005, section 5.1.5.
pub(crate) fn closest_point(p: P, [a, b, c]: [P; 3]) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let v = d1 / (d1 - d3);
        return [1.0 - v, v, 0.0];
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let w = d2 / (d2 - d6);
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - w, w];
    }
    let sum = va + vb + vc;
    [va / sum, vb / sum, vc / sum]
}

#[derive(Debug)]
struct Node {
    low: P,
    high: P,
    /// Inner: the right child (the left one follows its parent). Leaf: first entry of `order`.
    at: usize,
    /// Zero for inner nodes.
    count: usize,
}

/// Boxes around halves of halves of the triangles.
#[derive(Debug)]
pub(crate) struct Bvh {
    nodes: Vec<Node>,
    order: Vec<u32>,
    corners: Vec<[P; 3]>,
}

const LEAF: usize = 4;

impl Bvh {
    /// Over the triangles listed in `order`; `corners` holds all of them.
    pub(crate) fn build(corners: Vec<[P; 3]>, order: Vec<u32>) -> Self {
        let mut this = Self {
            nodes: Vec::new(),
            order: Vec::new(),
            corners,
        };
        let mut order = order;
        if !order.is_empty() {
            this.split(&mut order);
        }
        this
    }

    fn split(&mut self, order: &mut [u32]) {
        let (mut low, mut high) = (P::repeat(f64::INFINITY), P::repeat(f64::NEG_INFINITY));
        for c in order.iter().flat_map(|&t| &self.corners[t as usize]) {
            low = low.inf(c);
            high = high.sup(c);
        }
        let node = self.nodes.len();
        let leaf = order.len() <= LEAF;
        self.nodes.push(Node {
            low,
            high,
            at: self.order.len(),
            count: if leaf { order.len() } else { 0 },
        });
        if leaf {
            self.order.extend_from_slice(order);
            return;
        }
        let axis = (high - low).imax();
        let key = |t: u32| {
            self.corners[t as usize]
                .iter()
                .map(|c| c[axis])
                .sum::<f64>()
        };
        let middle = order.len() / 2;
        order.select_nth_unstable_by(middle, |&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
        let (left, right) = order.split_at_mut(middle);
        self.split(left);
        self.nodes[node].at = self.nodes.len();
        self.split(right);
    }

    /// The `k` closest triangles that `accept` lets through, closest first, ties by index; squared distances at
    /// most `limit`.
    pub(crate) fn nearest(
        &self,
        p: P,
        k: usize,
        limit: f64,
        accept: impl Fn(u32) -> bool,
    ) -> Vec<Hit> {
        let mut best: Vec<Hit> = Vec::with_capacity(k + 1);
        let mut stack = vec![0];
        while let Some(i) = stack.pop() {
            let Some(node) = self.nodes.get(i) else {
                continue;
            };
            let bound = if best.len() < k {
                limit
            } else {
                best.last().map_or(limit, |b| b.square)
            };
            let outside = p - p.sup(&node.low).inf(&node.high);
            if outside.norm_squared() > bound {
                continue;
            }
            if node.count == 0 {
                let near = |n: usize| {
                    let n = &self.nodes[n];
                    (p - p.sup(&n.low).inf(&n.high)).norm_squared()
                };
                let (a, b) = (i + 1, node.at);
                stack.extend(if near(a) <= near(b) { [b, a] } else { [a, b] });
                continue;
            }
            for &triangle in &self.order[node.at..node.at + node.count] {
                let corners = self.corners[triangle as usize];
                let barycentric = closest_point(p, corners);
                let at = (0..3).map(|c| corners[c] * barycentric[c]).sum::<P>();
                let square = (p - at).norm_squared();
                if square <= limit && accept(triangle) {
                    let rank =
                        best.partition_point(|b| (b.square, b.triangle) < (square, triangle));
                    best.insert(
                        rank,
                        Hit {
                            triangle,
                            barycentric,
                            square,
                        },
                    );
                    best.truncate(k);
                }
            }
        }
        best
    }
}
