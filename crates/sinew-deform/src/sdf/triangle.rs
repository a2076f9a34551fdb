//! A triangle in a plane of its own: the form in which the fast kernels measure distances.

pub(crate) use sinew_geom::vec3::{add_scaled, cross, dot, scale as scaled, sub};

pub(crate) type P = [f32; 3];

/// Unit length, or zero where there is none.
#[inline(always)]
pub(super) fn unit(a: P) -> P {
    let length = dot(a, a).sqrt();
    if length > f32::MIN_POSITIVE {
        scaled(a, 1.0 / length)
    } else {
        [0.0; 3]
    }
}

/// Heights below this fraction of the longest edge count as none: the plane of such a triangle is rounding noise.
const FLAT: f32 = 1e-5;

/// Corner 0 is the origin, edge 0-1 (the longest) the x axis, corner 2 has y >= 0. Units are cells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LocalTriangle {
    /// Corner 0.
    pub(super) origin: P,
    /// Axes: along edge 0-1, across it, normal.
    pub(super) axes: [P; 3],
    /// Length of edge 0-1.
    pub(super) length: f32,
    /// Direction of edge 0-2 in the plane, and its length.
    pub(super) edge02: [f32; 3],
    /// Direction of edge 1-2 in the plane, and its length.
    pub(super) edge12: [f32; 3],
    /// Which corner of the mesh's triangle became corner 0.
    pub(super) first: u8,
    /// Angles at corners 0, 1 and 2; zero where the triangle has no area.
    pub(super) angles: [f32; 3],
}

impl LocalTriangle {
    /// From any three finite corners.
    pub(super) fn new(corners: [P; 3]) -> Self {
        let square = |i: usize| {
            let e = sub(corners[(i + 1) % 3], corners[i]);
            dot(e, e)
        };
        let first = (1..3).fold(0, |best, i| if square(i) > square(best) { i } else { best });
        let [a, b, c] = [0, 1, 2].map(|k| corners[(first + k) % 3]);
        let ab = sub(b, a);
        let length = dot(ab, ab).sqrt();
        let x = if length > f32::MIN_POSITIVE {
            scaled(ab, 1.0 / length)
        } else {
            [1.0, 0.0, 0.0]
        };
        let ac = sub(c, a);
        let along = dot(ac, x);
        // Twice, as the first remainder still leans towards x by rounding.
        let rest = add_scaled(ac, x, -along);
        let rest = add_scaled(rest, x, -dot(rest, x));
        let height = dot(rest, rest).sqrt();
        let flat = height.is_nan() || height <= FLAT * length || height <= f32::MIN_POSITIVE;
        let (y, height) = if flat {
            (any_across(x), 0.0)
        } else {
            (scaled(rest, 1.0 / height), height)
        };
        Self {
            origin: a,
            axes: [x, y, cross(x, y)],
            length,
            edge02: direction(along, height),
            edge12: direction(along - length, height),
            first: [0, 1, 2][first],
            angles: angles(flat, along, length, height),
        }
    }

    /// Whether it has no area to speak of.
    pub(super) fn is_flat(&self) -> bool {
        self.angles[2] == 0.0
    }
}

fn angles(flat: bool, along: f32, length: f32, height: f32) -> [f32; 3] {
    if flat {
        return [0.0; 3];
    }
    let (at0, at1) = (angle(height, along), angle(height, length - along));
    [at0, at1, (std::f32::consts::PI - at0 - at1).max(1e-6)]
}

/// `atan2(y, x)` for `y >= 0`, to 1e-4: enough for weights, a third of the time.
pub(super) fn angle(y: f32, x: f32) -> f32 {
    let (small, large) = if y < x.abs() {
        (y, x.abs())
    } else {
        (x.abs(), y)
    };
    let t = small / large.max(f32::MIN_POSITIVE);
    let s = t * t;
    let a =
        t * (0.999_866 + s * (-0.330_299_5 + s * (0.180_141 + s * (-0.085_133 + s * 0.020_835_1))));
    let a = if y < x.abs() {
        a
    } else {
        std::f32::consts::FRAC_PI_2 - a
    };
    if x < 0.0 { std::f32::consts::PI - a } else { a }
}

fn direction(x: f32, y: f32) -> [f32; 3] {
    let length = (x * x + y * y).sqrt();
    if length > f32::MIN_POSITIVE {
        [x / length, y / length, length]
    } else {
        [1.0, 0.0, 0.0]
    }
}

fn any_across(x: P) -> P {
    let least = (0..3).fold(0, |m, k| if x[k].abs() < x[m].abs() { k } else { m });
    let mut axis = [0.0; 3];
    axis[least] = 1.0;
    unit(cross(x, axis))
}
