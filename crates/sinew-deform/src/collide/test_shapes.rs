//! Solids for tests: grids of samples, and what fills them.

use super::shape::Distance;

/// A dense grid of distances, trilinear, with the derivatives of the interpolation.
pub(crate) struct Grid {
    pub(crate) origin: [f32; 3],
    pub(crate) cell: f32,
    size: [usize; 3],
    values: Vec<f32>,
}

impl Grid {
    pub(crate) fn new(
        low: [f32; 3],
        high: [f32; 3],
        cell: f32,
        distance: impl Fn([f32; 3]) -> f32,
    ) -> Self {
        let size = [0, 1, 2].map(|c| ((high[c] - low[c]) / cell).ceil() as usize + 1);
        let mut values = Vec::new();
        for k in 0..size[2] {
            for j in 0..size[1] {
                for i in 0..size[0] {
                    let at = [i, j, k];
                    values.push(distance([0, 1, 2].map(|c| low[c] + cell * at[c] as f32)));
                }
            }
        }
        Self {
            origin: low,
            cell,
            size,
            values,
        }
    }
}

impl Distance for Grid {
    fn distance(&self, point: [f32; 3]) -> f32 {
        self.distance_and_gradient(point).0
    }
    fn distance_and_gradient(&self, point: [f32; 3]) -> (f32, [f32; 3]) {
        let (mut base, mut part, mut outside) = ([0_usize; 3], [0.0_f32; 3], 0.0_f32);
        for c in 0..3 {
            let most = (self.size[c] - 1) as f32;
            let wanted = (point[c] - self.origin[c]) / self.cell;
            let u = wanted.clamp(0.0, most);
            outside += ((wanted - u) * self.cell).powi(2);
            base[c] = (u as usize).min(self.size[c] - 2);
            part[c] = u - base[c] as f32;
        }
        let (mut value, mut gradient) = (0.0, [0.0; 3]);
        for corner in 0..8_usize {
            let bit = [corner & 1, corner >> 1 & 1, corner >> 2];
            let at = [0, 1, 2].map(|c| base[c] + bit[c]);
            let v = self.values[at[0] + self.size[0] * (at[1] + self.size[1] * at[2])];
            let w = [0, 1, 2].map(|c| if bit[c] == 1 { part[c] } else { 1.0 - part[c] });
            value += v * w[0] * w[1] * w[2];
            for c in 0..3 {
                let sign = if bit[c] == 1 { 1.0 } else { -1.0 };
                gradient[c] += sign * v * w[(c + 1) % 3] * w[(c + 2) % 3] / self.cell;
            }
        }
        // The solid is within the grid, so both are lower bounds beyond it.
        (
            if outside > 0.0 {
                value.max(outside.sqrt())
            } else {
                value
            },
            gradient,
        )
    }
    fn feature_size(&self) -> f32 {
        self.cell
    }
}

/// A box around the origin.
pub(crate) fn cuboid(p: [f32; 3], half: [f32; 3]) -> f32 {
    let q = [0, 1, 2].map(|c| p[c].abs() - half[c]);
    let out = q.iter().map(|v| v.max(0.0).powi(2)).sum::<f32>().sqrt();
    out + q[0].max(q[1]).max(q[2]).min(0.0)
}

/// A cone with its tip at `tip` above the ground y = 0, as wide as `radius` there, and the ground itself; a bound.
pub(crate) fn spike(p: [f32; 3], tip: f32, radius: f32) -> f32 {
    let r = (p[0] * p[0] + p[2] * p[2]).sqrt();
    let slant = (tip * tip + radius * radius).sqrt();
    let side = (r * tip + (p[1] - tip) * radius) / slant;
    // Above the tip the tip itself is the closest point.
    let above = (p[1] - tip) * tip - r * radius;
    let cone = if above > 0.0 {
        (r * r + (p[1] - tip).powi(2)).sqrt()
    } else {
        side
    };
    cone.min(p[1])
}

/// A block with a round pocket (a cup) from above: a ball of `radius` at `center` taken out of a box.
pub(crate) fn cup(p: [f32; 3], half: [f32; 3], center: [f32; 3], radius: f32) -> f32 {
    let from = [0, 1, 2].map(|c| p[c] - center[c]);
    let ball = from.iter().map(|v| v * v).sum::<f32>().sqrt() - radius;
    cuboid(p, half).max(-ball)
}
