//! A perspective camera that looks at a set of points.

/// Half the vertical opening angle, as a tangent (about 13 degrees: a portrait lens).
const TAN_HALF: f32 = 0.23;
/// Part of the picture the framed points may fill.
const FILL: f32 = 0.92;

/// Where the picture is taken from. Right-handed, Y up; the camera looks along `-backward`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    pub(crate) eye: [f32; 3],
    pub(crate) right: [f32; 3],
    pub(crate) up: [f32; 3],
    pub(crate) backward: [f32; 3],
    pub(crate) distance: f32,
    aspect: f32,
}

pub(crate) fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn sub(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|c| a[c] - b[c])
}

impl Camera {
    /// A camera around the middle of `points` (in metres) that shows all of them in a picture of that `aspect`
    /// (width / height). `yaw` turns it to the right around +Y, `pitch` lifts it, both in radians; at zero it
    /// looks along -Z. Points that are not finite are ignored; without any, it looks at the origin.
    pub fn framing(points: &[[f32; 3]], yaw: f32, pitch: f32, aspect: f32) -> Self {
        let (sy, cy) = yaw.sin_cos();
        let (sp, cp) = pitch.sin_cos();
        let right = [cy, 0.0, -sy];
        let backward = [sy * cp, sp, cy * cp];
        let up = [-sy * sp, cp, -cy * sp];
        let axes = [right, up, backward];
        // The middle of the box in view axes, so that a slanted view is centred too.
        let (mut lo, mut hi) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        let finite = || points.iter().filter(|p| p.iter().all(|c| c.is_finite()));
        for p in finite() {
            for c in 0..3 {
                lo[c] = lo[c].min(dot(*p, axes[c]));
                hi[c] = hi[c].max(dot(*p, axes[c]));
            }
        }
        if lo[0] > hi[0] {
            (lo, hi) = ([-1.0; 3], [1.0; 3]);
        }
        let middle: [f32; 3] = std::array::from_fn(|c| 0.5 * (lo[c] + hi[c]));
        let target: [f32; 3] =
            std::array::from_fn(|c| (0..3).map(|a| middle[a] * axes[a][c]).sum());
        let mut distance = 1e-3_f32;
        for p in finite() {
            let d = sub(*p, target);
            let z = dot(d, backward);
            distance = distance
                .max(dot(d, right).abs() / (TAN_HALF * aspect * FILL) + z)
                .max(dot(d, up).abs() / (TAN_HALF * FILL) + z);
        }
        Self {
            eye: std::array::from_fn(|c| target[c] + backward[c] * distance),
            right,
            up,
            backward,
            distance,
            aspect,
        }
    }

    /// Pixel coordinates (x right, y down) and depth (metres before the camera) of a point in a picture of
    /// `width` x `height`; `None` behind the camera and for points that are not finite.
    pub fn project(&self, point: [f32; 3], width: f32, height: f32) -> Option<[f32; 3]> {
        let d = sub(point, self.eye);
        let depth = -dot(d, self.backward);
        let near = self.distance * 1e-3;
        if !(depth > near && depth.is_finite()) {
            return None;
        }
        let scale = 0.5 / (TAN_HALF * depth);
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
