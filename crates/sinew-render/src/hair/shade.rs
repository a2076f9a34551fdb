//! Colours of points: three lights and their surroundings, through the hair in front.

use super::density::DensityGrid;
use super::lobes::scattered;
use super::{Hair, Point, V, bounds};
use crate::view::ViewUniforms;
use std::f32::consts::PI;

/// Part of the light that a hair in front takes away. The rest goes on forwards.
const TAKEN: f32 = 0.75;
/// Part of the surroundings' light that a hair in front takes away.
const TAKEN_AROUND: f32 = 0.45;
/// Highlights and brightness differ from strand to strand by up to this part.
const TILT_VARIES: f32 = 1.5;
const BRIGHTNESS_VARIES: f32 = 0.2;
/// `SKY` and `FLOOR` of light.wgsl.
const SKY: [f32; 3] = [0.25, 0.27, 0.30];
const FLOOR: [f32; 3] = [0.125, 0.115, 0.105];

/// Directions from which surroundings shine: corners and faces of a cube.
fn surroundings() -> impl Iterator<Item = V> {
    let all = (0..27)
        .map(|i| V::new((i % 3) as f32, (i / 3 % 3) as f32, (i / 9) as f32) - V::repeat(1.0));
    all.filter(|d| matches!(d.abs().sum() as u32, 1 | 3))
        .map(|d| d.normalize())
}

/// What shines through the hair of a picture.
pub(super) struct Shading {
    grid: DensityGrid,
    /// For each node: optical depth to each light; share of the surroundings' light.
    to_lights: [Vec<f32>; 3],
    open: Vec<f32>,
    lights: [[V; 2]; 3],
    eye: V,
    backward: V,
    is_orthographic: bool,
}

impl Shading {
    pub(super) fn new(hair: &[&Hair], view: &ViewUniforms) -> Self {
        let points = hair.iter().flat_map(|h| h.points.iter().map(|p| p.at));
        let mut grid = DensityGrid::new(bounds(points));
        for [from, to] in hair.iter().flat_map(|h| h.segments()) {
            grid.add(from.at, to.at, 0.5 * (from.diameter + to.diameter));
        }
        let lights = view.lights().map(|(d, c)| [V::from(d), V::from(c)]);
        let mut open = vec![0.0; grid.nodes.len()];
        let around: Vec<V> = surroundings().collect();
        for direction in &around {
            let depths = grid.depths(*direction);
            for (open, depth) in open.iter_mut().zip(depths) {
                *open += (-TAKEN_AROUND * depth).exp() / around.len() as f32;
            }
        }
        Self {
            to_lights: lights.map(|[direction, _]| grid.depths(direction)),
            open,
            lights,
            eye: view.eye().into(),
            backward: view.backward().into(),
            is_orthographic: view.is_orthographic(),
            grid,
        }
    }

    /// Distance from the camera along its axis.
    pub(super) fn depth(&self, at: V) -> f32 {
        (self.eye - at).dot(&self.backward)
    }

    /// Linear RGB of the key light alone, and of all other light.
    pub(super) fn colors(&self, p: &Point) -> [[f32; 3]; 2] {
        let eye = match self.is_orthographic {
            true => self.backward,
            false => (self.eye - p.at)
                .try_normalize(1e-12)
                .unwrap_or(self.backward),
        };
        let varied = 2.0 * p.chance - 1.0;
        let color = p
            .color
            .map(|c| c.max(0.0) * (1.0 + BRIGHTNESS_VARIES * varied));
        // The side of the hair that the camera sees, turned to where the hair ends.
        let facing = (eye - p.along * p.along.dot(&eye))
            .try_normalize(1e-6)
            .unwrap_or(eye);
        let out = self.grid.outwards(p.at).unwrap_or(facing);
        let normal = (facing * 0.4 + out).try_normalize(1e-6).unwrap_or(facing);
        let fibre = Fibre {
            color,
            eye,
            normal,
            along: p.along,
            tilt: TILT_VARIES * varied,
        };
        let [key, fill, rim] = std::array::from_fn(|i| {
            let depth = self.grid.value(&self.to_lights[i], p.at);
            fibre.lit(self.lights[i], depth)
        });
        let open = self.grid.value(&self.open, p.at);
        let up = 0.5 + 0.5 * normal.y;
        let around = |c: usize| color[c] * open * (FLOOR[c] + (SKY[c] - FLOOR[c]) * up);
        [key, std::array::from_fn(|c| fill[c] + rim[c] + around(c))]
    }
}

/// A hair at one point.
struct Fibre {
    color: [f32; 3],
    eye: V,
    normal: V,
    along: V,
    tilt: f32,
}

impl Fibre {
    /// Light of one lamp (direction and colour) behind that many hairs: what the hair scatters itself, and what comes from its
    /// neighbours, as from a rough surface that takes on more colour with each hair on the way.
    fn lit(&self, [direction, light]: [V; 2], depth: f32) -> [f32; 3] {
        let lobes = scattered(self.color, self.along, direction, self.eye, self.tilt);
        let arrives = (-TAKEN * depth).exp();
        let across = 1.0 - self.along.dot(&direction).abs();
        let wrapped = 0.25 * (1.0 + self.normal.dot(&direction)).max(0.0).powi(2);
        let rough = wrapped + (across - wrapped) * 0.33;
        let bright = self.color.iter().fold(1e-4_f32, |a, b| a.max(*b));
        std::array::from_fn(|c| {
            let tint = (self.color[c] / bright).max(1e-4).powf(1.0 - arrives);
            let around = self.color[c].max(0.0).powf(0.8) * rough * tint;
            light[c] * arrives * (PI * lobes[c] + around)
        })
    }
}
