//! Cameras: around a set of points, at a position, or from a file.

use sinew_geom::vec3::{add_scaled, cross, dot, length, sub, unit};
use sinew_geom::{Affine, Projection};

/// Half the vertical opening angle of a camera that frames, as a tangent (about 13 degrees: a portrait lens).
const TAN_HALF: f32 = 0.23;
/// Part of the picture the framed points may fill.
const FILL: f32 = 0.92;

/// Projection of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lens {
    /// Distant objects are smaller.
    Perspective {
        /// Tangent of half the vertical angle of view.
        tan_half_height: f32,
    },
    /// All objects have the same scale.
    Orthographic {
        /// Half the height of the picture, metres.
        half_height: f32,
    },
}

impl Default for Lens {
    fn default() -> Self {
        Self::Perspective {
            tan_half_height: TAN_HALF,
        }
    }
}

/// Position, direction and projection. Right-handed, Y up; the camera looks along `-backward`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    pub(crate) eye: [f32; 3],
    pub(crate) right: [f32; 3],
    pub(crate) up: [f32; 3],
    pub(crate) backward: [f32; 3],
    pub(crate) distance: f32,
    aspect: f32,
    lens: Lens,
}

/// Right, up and backward of a camera turned by `yaw` around +Y and lifted by `pitch`.
fn axes(yaw: f32, pitch: f32) -> [[f32; 3]; 3] {
    let (sy, cy) = yaw.sin_cos();
    let (sp, cp) = pitch.sin_cos();
    let right = [cy, 0.0, -sy];
    let backward = [sy * cp, sp, cy * cp];
    let up = [-sy * sp, cp, -cy * sp];
    [right, up, backward]
}

fn finite(points: &[[f32; 3]]) -> impl Iterator<Item = [f32; 3]> {
    let all = points.iter().copied();
    all.filter(|p| p.iter().all(|c| c.is_finite()))
}

/// The middle of the box around `points` along these axes, in scene space; the origin without points.
fn middle(points: &[[f32; 3]], axes: [[f32; 3]; 3]) -> [f32; 3] {
    let (mut lo, mut hi) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for p in finite(points) {
        for c in 0..3 {
            lo[c] = lo[c].min(dot(p, axes[c]));
            hi[c] = hi[c].max(dot(p, axes[c]));
        }
    }
    if lo[0] > hi[0] {
        return [0.0; 3];
    }
    let middle: [f32; 3] = std::array::from_fn(|c| 0.5 * (lo[c] + hi[c]));
    std::array::from_fn(|c| (0..3).map(|a| middle[a] * axes[a][c]).sum())
}

/// How far from `target` a camera must be to see all `points`; a metre or so for no points, never zero.
fn distance(points: &[[f32; 3]], target: [f32; 3], axes: [[f32; 3]; 3], aspect: f32) -> f32 {
    let [right, up, backward] = axes;
    let mut distance = if finite(points).next().is_some() {
        0.0
    } else {
        1.0 / TAN_HALF
    };
    let mut reach = 0.0_f32;
    for p in finite(points) {
        reach = p.iter().fold(reach, |most, c| most.max(c.abs()));
        let d = sub(p, target);
        let z = dot(d, backward);
        distance = distance
            .max(dot(d, right).abs() / (TAN_HALF * aspect * FILL) + z)
            .max(dot(d, up).abs() / (TAN_HALF * FILL) + z);
    }
    // Points at one place, up to rounding.
    if distance > 1e-5 * reach {
        distance
    } else {
        (1e-5 * reach).max(1e-3)
    }
}

impl Camera {
    fn around(target: [f32; 3], distance: f32, axes: [[f32; 3]; 3], aspect: f32) -> Self {
        let [right, up, backward] = axes;
        Self {
            eye: add_scaled(target, backward, distance),
            right,
            up,
            backward,
            distance,
            aspect,
            lens: Lens::default(),
        }
    }

    /// A camera around the centre of `points` (metres) that shows all of them in a picture of that `aspect` (width divided by height),
    /// filling 92 % of it. `yaw` moves it to the right around +Y, and `pitch` lifts it, in radians; at 0 it looks along -Z. The vertical
    /// field of view is 26 degrees.
    ///
    /// Points that are not finite are ignored. Without any, it looks at the origin. O(points).
    pub fn framing(points: &[[f32; 3]], yaw: f32, pitch: f32, aspect: f32) -> Self {
        let axes = axes(yaw, pitch);
        let target = middle(points, axes);
        let distance = distance(points, target, axes, aspect);
        Self::around(target, distance, axes, aspect)
    }

    /// `count` cameras on a circle around the centre of `points`, the first at `yaw`, each farther to the right. All look at the same point
    /// from the same distance, so that the object rotates and keeps its size. O(count * points).
    pub fn turntable(
        points: &[[f32; 3]],
        yaw: f32,
        pitch: f32,
        aspect: f32,
        count: usize,
    ) -> Vec<Self> {
        let target = middle(points, axes(0.0, 0.0));
        let turns = (0..count).map(|i| yaw + std::f32::consts::TAU * i as f32 / count as f32);
        let all: Vec<_> = turns.map(|yaw| axes(yaw, pitch)).collect();
        let farthest = all
            .iter()
            .map(|&axes| distance(points, target, axes, aspect))
            .fold(0.0, f32::max);
        all.into_iter()
            .map(|axes| Self::around(target, farthest, axes, aspect))
            .collect()
    }

    /// A camera at `eye` that looks at `target` (metres, scene space) with +Y upwards. `None` if both are equal or not finite. Straight
    /// down, -Z is upwards in the picture; straight up, +Z is.
    pub fn look_at(eye: [f32; 3], target: [f32; 3], lens: Lens, aspect: f32) -> Option<Self> {
        let offset = sub(eye, target);
        let backward = unit(offset)?;
        let right = unit(cross([0.0, 1.0, 0.0], backward))
            .filter(|_| backward[1].abs() < 0.99999)
            .unwrap_or([1.0, 0.0, 0.0]);
        let up = unit(cross(backward, right))?;
        Some(Self {
            eye,
            right: unit(cross(up, backward))?,
            up,
            backward,
            distance: length(offset),
            aspect,
            lens,
        })
    }

    /// The camera of a file, for a picture of that aspect. Its vertical field of view is kept; its own aspect, near and far distances are
    /// not read. Scales of the node have no effect. `None` if the axes of the node are zero or not finite.
    pub fn from_projection(
        scene_from_camera: &Affine<f64>,
        projection: Projection,
        aspect: f32,
    ) -> Option<Self> {
        let to_f32 = |v: [f64; 3]| v.map(|c| c as f32);
        let column = |c: usize| to_f32(std::array::from_fn(|r| scene_from_camera.linear[(r, c)]));
        let backward = unit(column(2))?;
        let right = unit(cross(column(1), backward))?;
        let t = scene_from_camera.translation;
        let lens = match projection {
            Projection::Perspective { fov_y, .. } => Lens::Perspective {
                tan_half_height: (0.5 * fov_y).tan(),
            },
            Projection::Orthographic { half_size, .. } => Lens::Orthographic {
                half_height: half_size[1].abs().max(f32::MIN_POSITIVE),
            },
        };
        let eye = to_f32([t[0], t[1], t[2]]);
        eye.iter().all(|c| c.is_finite()).then_some(Self {
            eye,
            right,
            up: cross(backward, right),
            backward,
            distance: 1.0,
            aspect,
            lens,
        })
    }

    /// Position in scene space, metres.
    pub fn eye(&self) -> [f32; 3] {
        self.eye
    }
    /// Direction to the right of the picture, unit length.
    pub fn right(&self) -> [f32; 3] {
        self.right
    }
    /// Direction upwards in the picture, unit length.
    pub fn up(&self) -> [f32; 3] {
        self.up
    }
    /// Direction from the scene to the camera, unit length.
    pub fn backward(&self) -> [f32; 3] {
        self.backward
    }
    /// Its lens.
    pub fn lens(&self) -> Lens {
        self.lens
    }
    /// Width divided by height of its pictures.
    pub fn aspect(&self) -> f32 {
        self.aspect
    }

    /// Distance of a point in front of the camera along the view direction, metres; negative behind it.
    pub fn depth(&self, point: [f32; 3]) -> f32 {
        -dot(sub(point, self.eye), self.backward)
    }

    /// Rows of the matrix from scene space to clip space: x right and y up from -w to w, z from 0 at `near` to w at `far` (metres in front
    /// of the camera), as in WebGPU.
    pub fn clip_from_scene(&self, near: f32, far: f32) -> [[f32; 4]; 4] {
        let row = |axis: [f32; 3], scale: f32| -> [f32; 4] {
            let [x, y, z] = axis.map(|c| c * scale);
            [x, y, z, -dot(axis, self.eye) * scale]
        };
        let forward = self.backward.map(|c| -c);
        let span = (far - near).max(f32::MIN_POSITIVE);
        let (scale, depth, w) = match self.lens {
            Lens::Perspective { tan_half_height } => {
                (1.0 / tan_half_height, far / span, row(forward, 1.0))
            }
            Lens::Orthographic { half_height } => {
                (1.0 / half_height, 1.0 / span, [0.0, 0.0, 0.0, 1.0])
            }
        };
        let mut z = row(forward, depth);
        z[3] -= near * depth;
        [
            row(self.right, scale / self.aspect),
            row(self.up, scale),
            z,
            w,
        ]
    }

    /// Pixel coordinates (x right, y down) and depth (metres in front of the camera) of a point in a picture of `width` x `height`. `None`
    /// if the point is not finite, behind the camera, or nearer than 1/1000 of the camera's distance to its target (1 mm for cameras of
    /// files).
    pub fn project(&self, point: [f32; 3], width: f32, height: f32) -> Option<[f32; 3]> {
        let d = sub(point, self.eye);
        let depth = -dot(d, self.backward);
        let near = self.distance * 1e-3;
        if !(depth > near && depth.is_finite()) {
            return None;
        }
        let scale = match self.lens {
            Lens::Perspective { tan_half_height } => 0.5 / (tan_half_height * depth),
            Lens::Orthographic { half_height } => 0.5 / half_height,
        };
        let x = (0.5 + dot(d, self.right) * scale / self.aspect) * width;
        let y = (0.5 - dot(d, self.up) * scale) * height;
        (x.is_finite() && y.is_finite()).then_some([x, y, depth])
    }

    /// The eight corners of a box, for [`Self::framing`].
    pub fn corners(lo: [f32; 3], hi: [f32; 3]) -> [[f32; 3]; 8] {
        std::array::from_fn(|i| {
            std::array::from_fn(|c| if i >> c & 1 == 1 { hi[c] } else { lo[c] })
        })
    }
}

#[cfg(test)]
mod tests;
