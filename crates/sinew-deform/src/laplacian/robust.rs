//! Cotangent weights of the intrinsic Delaunay triangulation of the tufted cover (Sharp and Crane, *A Laplacian for Nonmanifold Triangle
//! Meshes*, 2020).
//!
//! Every triangle is doubled into a front and a back copy. Around each edge, the copies that face each other are glued, so that every edge
//! has exactly two sides on any mesh. Flips only need lengths.
//!
//! 1. Lengths: one length is added to all edges, the smallest that keeps every triangle inequality by 1e-5 of the mean length (intrinsic
//!    mollification).
//! 2. Cover: around an edge, the triangles are sorted by angle, and each copy is glued to the next copy that faces it.
//! 3. Flips: an edge whose opposite angles sum to more than pi is replaced by the other diagonal, until none is left. Lengths of diagonals
//!    come from laying both triangles flat.
//! 4. Each half-edge gives a quarter of its cotangent to its edge: a half by the formula, and each triangle is there twice.
//!
//! Cost: O(T log T) for the sorts, plus the flips, whose number is limited to 100 per half-edge.

use super::edges::EdgeTable;
use sinew_geom::index32;
use sinew_geom::vec3::{cross, distance, dot, length, sub};

/// Mollification: smallest slack of the triangle inequality as a fraction of the mean length.
const SLACK: f64 = 1e-5;

/// Half-edges `3 * face + k` of the cover; half-edge `h` runs from `tail[h]` to `tail[next(h)]`.
pub(super) struct Cover {
    pub(super) tail: Vec<u32>,
    pub(super) twin: Vec<u32>,
    pub(super) length: Vec<f64>,
}

pub(super) fn next(h: u32) -> u32 {
    if h % 3 == 2 { h - 2 } else { h + 1 }
}

pub(super) fn previous(h: u32) -> u32 {
    next(next(h))
}

pub(super) fn robust(triangles: &[[u32; 3]], positions: &[[f64; 3]]) -> EdgeTable {
    let mut cover = Cover::build(triangles, positions);
    cover.flip_to_delaunay();
    let pairs: Vec<(u32, u32, f64)> = (0..index32(cover.tail.len()))
        // A quarter: half of each cotangent, and each triangle is there twice.
        .map(|h| {
            let (a, b) = (cover.tail[h as usize], cover.tail[next(h) as usize]);
            (a, b, 0.25 * cover.cotangent(h))
        })
        .collect();
    EdgeTable::from_pairs(positions.len(), &pairs)
}

impl Cover {
    pub(super) fn build(triangles: &[[u32; 3]], positions: &[[f64; 3]]) -> Self {
        let lengths = mollified_lengths(triangles, positions);
        let count = triangles.len() * 6;
        let mut this = Self {
            tail: Vec::with_capacity(count),
            twin: vec![0; count],
            length: Vec::with_capacity(count),
        };
        for (t, l) in triangles.iter().zip(&lengths) {
            // Front, then back: the same triangle the other way round. Back edge k is front edge 2 - k reversed.
            this.tail
                .extend_from_slice(&[t[0], t[1], t[2], t[0], t[2], t[1]]);
            this.length
                .extend_from_slice(&[l[0], l[1], l[2], l[2], l[1], l[0]]);
        }
        this.glue(triangles, positions);
        this
    }

    fn glue(&mut self, triangles: &[[u32; 3]], positions: &[[f64; 3]]) {
        // (low end, high end, triangle, edge of the triangle)
        let mut sides: Vec<(u32, u32, u32, u32)> = Vec::with_capacity(triangles.len() * 3);
        for (f, t) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                sides.push((a.min(b), a.max(b), index32(f), index32(k)));
            }
        }
        sides.sort_unstable();
        let mut fan: Vec<(f64, u32, u32)> = Vec::new();
        for group in sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            fan.clear();
            let reference = Around::new(group[0], triangles, positions);
            fan.extend(group.iter().map(|&side| {
                let t = triangles[side.2 as usize];
                let apex = t[(side.3 as usize + 2) % 3];
                let front = 6 * side.2 + side.3;
                let back = 6 * side.2 + 3 + (2 - side.3);
                // The copy whose half-edge runs from the low to the high end faces growing angles.
                let rises = t[side.3 as usize] == side.0;
                let (up, down) = if rises { (front, back) } else { (back, front) };
                (reference.angle(positions[apex as usize]), up, down)
            }));
            if fan.len() > 2 {
                fan.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            }
            for i in 0..fan.len() {
                let (up, down) = (fan[i].1, fan[(i + 1) % fan.len()].2);
                self.twin[up as usize] = down;
                self.twin[down as usize] = up;
            }
        }
    }

    /// Cotangent of the angle opposite half-edge `h`, from lengths.
    pub(super) fn cotangent(&self, h: u32) -> f64 {
        let [a, b, c] = [h, next(h), previous(h)].map(|h| self.length[h as usize]);
        let area4 = 4.0 * area(a, b, c);
        if area4 > 0.0 {
            (b * b + c * c - a * a) / area4
        } else {
            0.0
        }
    }

    pub(super) fn is_delaunay(&self, h: u32) -> bool {
        self.cotangent(h) + self.cotangent(self.twin[h as usize]) >= -1e-9
    }

    pub(super) fn flip_to_delaunay(&mut self) {
        let count = index32(self.tail.len());
        let mut queue: Vec<u32> = (0..count)
            .filter(|&h| h < self.twin[h as usize])
            .rev()
            .collect();
        let mut queued = vec![false; count as usize];
        for &h in &queue {
            queued[h as usize] = true;
        }
        // Flips end by themselves; the bound is for rounding that goes in circles.
        let mut left = 100 * u64::from(count) + 1000;
        while let Some(h) = queue.pop() {
            queued[h as usize] = false;
            if left == 0 {
                break;
            }
            if self.is_delaunay(h) || !self.flip(h) {
                continue;
            }
            left -= 1;
            let t = self.twin[h as usize];
            for e in [next(h), previous(h), next(t), previous(t)] {
                let e = e.min(self.twin[e as usize]);
                if !std::mem::replace(&mut queued[e as usize], true) {
                    queue.push(e);
                }
            }
        }
    }

    /// Replaces the edge of `h` by the other diagonal of its two triangles; `false` where there is none.
    fn flip(&mut self, h: u32) -> bool {
        let t = self.twin[h as usize];
        if h / 3 == t / 3 {
            return false;
        }
        // Triangles (a, b, c) with h = a-b and (b, a, d) with t = b-a.
        let (h1, h2, t1, t2) = (next(h), previous(h), next(t), previous(t));
        let Some(diagonal) = self.other_diagonal(h) else {
            return false;
        };
        let at = |v: &[u32], i: u32| v[i as usize];
        let (c, d) = (at(&self.tail, h2), at(&self.tail, t2));
        let old = [h1, h2, t1, t2].map(|e| (at(&self.twin, e), self.length[e as usize]));
        let tails = [h1, h2, t1, t2].map(|e| at(&self.tail, e));
        // New triangles: h = d-c, c-a, a-d; and t = c-d, d-b, b-c.
        let place = [(h1, 1), (h2, 2), (t1, 3), (t2, 0)];
        self.tail[h as usize] = d;
        self.tail[t as usize] = c;
        for (to, from) in place {
            self.tail[to as usize] = tails[from];
            self.length[to as usize] = old[from].1;
        }
        // An outer twin may itself be one of the four sides that just moved.
        let moved = |e: u32| {
            let from = [h1, h2, t1, t2].iter().position(|&x| x == e);
            from.and_then(|from| place.iter().find(|p| p.1 == from))
                .map_or(e, |p| p.0)
        };
        for (to, from) in place {
            let twin = moved(old[from].0);
            self.twin[to as usize] = twin;
            self.twin[twin as usize] = to;
        }
        self.length[h as usize] = diagonal;
        self.length[t as usize] = diagonal;
        true
    }

    /// Length between the two apexes when the triangles on both sides of `h` are laid flat.
    fn other_diagonal(&self, h: u32) -> Option<f64> {
        let t = self.twin[h as usize];
        let l = |h: u32| self.length[h as usize];
        let base = l(h);
        // `h` from the origin along x; apex of h above, apex of t below (t runs the other way).
        let (cx, cy) = apex(base, l(previous(h)), l(next(h)))?;
        let (dx, dy) = apex(base, l(next(t)), l(previous(t)))?;
        let d = ((cx - dx).powi(2) + (cy + dy).powi(2)).sqrt();
        (d.is_finite() && d > 0.0).then_some(d)
    }
}

/// Third corner of a triangle on the x axis: `from_start` and `from_end` are its distances to the ends.
fn apex(base: f64, from_start: f64, from_end: f64) -> Option<(f64, f64)> {
    if base <= 0.0 {
        return None;
    }
    let x = (base * base + from_start * from_start - from_end * from_end) / (2.0 * base);
    Some((x, 2.0 * area(base, from_start, from_end) / base))
}

/// Area from side lengths in Kahan's stable form; zero where the triangle inequality fails.
fn area(a: f64, b: f64, c: f64) -> f64 {
    let mut s = [a, b, c];
    s.sort_by(f64::total_cmp);
    let [c, b, a] = s;
    let product = (a + (b + c)) * (c - (a - b)) * (c + (a - b)) * (a + (b - c));
    0.25 * product.max(0.0).sqrt()
}

fn mollified_lengths(triangles: &[[u32; 3]], positions: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let p = |v: u32| positions[v as usize];
    let mut lengths: Vec<[f64; 3]> = triangles
        .iter()
        .map(|&[a, b, c]| {
            [
                distance(p(a), p(b)),
                distance(p(b), p(c)),
                distance(p(c), p(a)),
            ]
        })
        .collect();
    let count = (3 * lengths.len()).max(1) as f64;
    let mean = lengths.iter().flatten().sum::<f64>() / count;
    let slack = SLACK * mean;
    let epsilon = lengths
        .iter()
        .flat_map(|l| (0..3).map(|k| slack - (l[k] + l[(k + 1) % 3] - l[(k + 2) % 3])))
        .fold(0.0_f64, f64::max);
    for l in lengths.iter_mut().flatten() {
        *l += epsilon;
    }
    lengths
}

/// Angles around an edge, measured from one triangle.
struct Around {
    origin: [f64; 3],
    x: [f64; 3],
    y: [f64; 3],
}

impl Around {
    fn new(side: (u32, u32, u32, u32), triangles: &[[u32; 3]], positions: &[[f64; 3]]) -> Self {
        let (origin, end) = (positions[side.0 as usize], positions[side.1 as usize]);
        let axis = sub(end, origin);
        let apex = triangles[side.2 as usize][(side.3 as usize + 2) % 3];
        let spoke = sub(positions[apex as usize], origin);
        let y = cross(axis, spoke);
        // Same length as y: |axis| |y|, brought down by |axis|.
        let length = length(axis);
        let x = cross(y, axis).map(|c| if length > 0.0 { c / length } else { 0.0 });
        Self { origin, x, y }
    }

    fn angle(&self, p: [f64; 3]) -> f64 {
        let d = sub(p, self.origin);
        let angle = dot(d, self.y).atan2(dot(d, self.x));
        if angle < 0.0 {
            angle + std::f64::consts::TAU
        } else {
            angle
        }
    }
}
