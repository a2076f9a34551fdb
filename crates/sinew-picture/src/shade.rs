//! Three lights that move with the camera, so that every view is well lit.
//!
//! Lambert shading of a key, a fill and a rim light, a sky and ground colour by the height of the normal, and a weak Blinn-Phong highlight
//! of the key light. All in linear RGB.

use crate::camera::Camera;
use sinew_geom::vec3::{add, dot, unit};

/// Stands in for a normal that has no direction.
pub(crate) const UP: [f32; 3] = [0.0, 1.0, 0.0];

/// Direction to the light in camera axes (right, up, towards the camera), colour.
const LIGHTS: [([f32; 3], [f32; 3]); 3] = [
    ([-0.55, 0.75, 0.65], [0.86, 0.83, 0.78]),
    ([0.85, 0.10, 0.45], [0.18, 0.21, 0.26]),
    ([0.25, 0.55, -0.80], [0.34, 0.37, 0.42]),
];
const SKY: [f32; 3] = [0.20, 0.22, 0.25];
const GROUND: [f32; 3] = [0.10, 0.09, 0.08];
const GLOSS: f32 = 0.07;

/// Lights turned into scene space for one camera.
pub(crate) struct Lights {
    directions: [[f32; 3]; 3],
    halfway: [f32; 3],
}

impl Lights {
    pub(crate) fn new(camera: &Camera) -> Self {
        let directions = LIGHTS.map(|(d, _)| {
            let direction = std::array::from_fn(|c| {
                d[0] * camera.right[c] + d[1] * camera.up[c] + d[2] * camera.backward[c]
            });
            unit(direction).unwrap_or(UP)
        });
        Self {
            directions,
            halfway: unit(add(directions[0], camera.backward)).unwrap_or(UP),
        }
    }

    /// Linear RGB of a surface with that unit normal and linear base colour.
    pub(crate) fn shade(&self, normal: [f32; 3], base: [f32; 3]) -> [f32; 3] {
        let sky = 0.5 + 0.5 * normal[1];
        let gloss = dot(normal, self.halfway).max(0.0).powi(28) * GLOSS;
        std::array::from_fn(|c| {
            let mut light = GROUND[c] + (SKY[c] - GROUND[c]) * sky;
            for (direction, (_, color)) in self.directions.iter().zip(&LIGHTS) {
                light += color[c] * dot(normal, *direction).max(0.0);
            }
            base[c] * light + gloss
        })
    }
}
