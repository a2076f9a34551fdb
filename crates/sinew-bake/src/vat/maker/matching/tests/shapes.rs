//! Generated frames, the same on every machine.

use super::super::Vector;
use super::ply::Frame;

/// A small generator of numbers (Knuth's 64-bit linear congruence, upper half).
#[derive(Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    pub(super) fn unit(&mut self) -> f32 {
        self.below(1 << 20) as f32 / (1 << 20) as f32
    }

    pub(super) fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for index in (1..count).rev() {
            order.swap(index, self.below(index + 1));
        }
        order
    }
}

/// A bumpy ball of about unit radius: `8 * side²` triangles. Each eighth has its own points.
pub(super) fn ball(side: usize) -> Frame {
    let mut frame = Frame::default();
    for octant in 0..8 {
        let signs = [0, 1, 2].map(|axis| {
            if octant >> axis & 1 == 0 {
                1.0
            } else {
                -1.0_f32
            }
        });
        eighth(&mut frame, side, signs);
    }
    frame
}

fn eighth(frame: &mut Frame, side: usize, signs: [f32; 3]) {
    let start = frame.points.len() as u32;
    let mut rows = Vec::new();
    for i in 0..=side {
        rows.push(frame.points.len() as u32 - start);
        for j in 0..=side - i {
            let [x, y, z] = [i, j, side - i - j].map(|x| x as f32);
            let to = Vector::new(x * signs[0], y * signs[1], z * signs[2]).normalize();
            let bump = 1.0 + 0.15 * (3.0 * to.x + 1.0).sin() + 0.1 * (4.0 * to.y - to.z).sin();
            frame.points.push((to * bump).into());
        }
    }
    let outwards = signs[0] * signs[1] * signs[2] > 0.0;
    for i in 0..side {
        for j in 0..side - i {
            let [at, next] = [rows[i], rows[i + 1]].map(|row| start + row + j as u32);
            let mut push = |[a, b, c]: [u32; 3]| {
                frame
                    .triangles
                    .push(if outwards { [a, b, c] } else { [a, c, b] });
            };
            push([at, next, at + 1]);
            if j + 1 < side - i {
                push([next, next + 1, at + 1]);
            }
        }
    }
}

/// A flat square of side 1 in equal steps: `2 * side²` triangles, many of them equally far from each other.
pub(super) fn sheet(side: u32) -> Frame {
    let mut frame = Frame::default();
    let step = 1.0 / side as f32;
    for i in 0..=side {
        for j in 0..=side {
            frame.points.push([i as f32 * step, j as f32 * step, 0.0]);
        }
    }
    for i in 0..side {
        for j in 0..side {
            let at = |i: u32, j: u32| i * (side + 1) + j;
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            frame.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    frame
}

/// A frame with its points moved.
pub(super) fn moved(frame: &Frame, place: impl Fn(Vector) -> Vector) -> Frame {
    Frame {
        points: frame
            .points
            .iter()
            .map(|&point| place(point.into()).into())
            .collect(),
        triangles: frame.triangles.clone(),
    }
}

/// The same surface with other numbers; also, for each new triangle, the old one and its turn.
pub(super) fn shuffled(frame: &Frame, seed: u64) -> (Frame, Vec<(u32, u8)>) {
    let mut random = Random(seed);
    let points = random.order(frame.points.len());
    let mut numbers = vec![0; points.len()];
    for (new, &old) in points.iter().enumerate() {
        numbers[old] = new as u32;
    }
    let mut origins = Vec::new();
    let mut triangles = Vec::new();
    for old in random.order(frame.triangles.len()) {
        let turn = random.below(3);
        let corners = frame.triangles[old].map(|point| numbers[point as usize]);
        triangles.push([0, 1, 2].map(|k| corners[(k + turn) % 3]));
        origins.push((old as u32, turn as u8));
    }
    let shuffled = Frame {
        points: points.iter().map(|&old| frame.points[old]).collect(),
        triangles,
    };
    (shuffled, origins)
}
