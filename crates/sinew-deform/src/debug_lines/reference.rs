//! The lines of each shape.

use crate::Line;
use sinew_geom::{Affine, Real, Vec3};

/// Shapes, in the local frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape<'a> {
    /// The three axes from the origin, in red, green and blue.
    Axes,
    /// A square across an axis.
    Plane {
        /// Axis it is perpendicular to: 0 to 2.
        normal: usize,
        /// Cells along each side, at least 1.
        divisions: u32,
    },
    /// The edges of a cube.
    Box,
    /// A cross at each point.
    Points(&'a [[f64; 3]]),
}

impl Shape<'_> {
    /// How many lines it has.
    pub(crate) fn line_count(&self) -> usize {
        match self {
            Self::Axes => 3,
            Self::Plane { divisions, .. } => 2 * ((*divisions).max(1) as usize + 1) + 2,
            Self::Box => 12,
            Self::Points(points) => 3 * points.len(),
        }
    }
}

fn axis_color(axis: usize) -> [f32; 4] {
    let mut color = [0.0, 0.0, 0.0, 1.0];
    color[axis] = 1.0;
    color
}

fn unit(axis: usize, length: f64) -> Vec3<f64> {
    let mut v = Vec3::zeros();
    v[axis] = length;
    v
}

/// Calls `add` with each segment of `shape`, in scene space. `size` is the half extent in local units; [`Shape::Axes`] ignores `color`.
pub fn draw(
    transform: &Affine<f64>,
    shape: Shape<'_>,
    size: f64,
    color: [f32; 4],
    mut add: impl FnMut(Line),
) {
    let mut line = |from: Vec3<f64>, to: Vec3<f64>, color| {
        add(Line {
            from: f64::array3(transform.point(from)),
            to: f64::array3(transform.point(to)),
            color,
        });
    };
    match shape {
        Shape::Axes => {
            for axis in 0..3 {
                line(Vec3::zeros(), unit(axis, size), axis_color(axis));
            }
        }
        Shape::Plane { normal, divisions } => {
            let (a, b) = ((normal + 1) % 3, (normal + 2) % 3);
            let divisions = divisions.max(1);
            for i in 0..=divisions {
                let at = size * (2.0 * f64::from(i) / f64::from(divisions) - 1.0);
                line(
                    unit(a, at) - unit(b, size),
                    unit(a, at) + unit(b, size),
                    color,
                );
                line(
                    unit(b, at) - unit(a, size),
                    unit(b, at) + unit(a, size),
                    color,
                );
            }
            for axis in [a, b] {
                line(Vec3::zeros(), unit(axis, size), axis_color(axis));
            }
        }
        Shape::Box => {
            for axis in 0..3 {
                let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
                for (sa, sb) in [(-size, -size), (size, -size), (size, size), (-size, size)] {
                    let middle = unit(a, sa) + unit(b, sb);
                    line(middle - unit(axis, size), middle + unit(axis, size), color);
                }
            }
        }
        Shape::Points(points) => {
            for &point in points {
                let point = Vec3::from(point);
                for axis in 0..3 {
                    line(point - unit(axis, size), point + unit(axis, size), color);
                }
            }
        }
    }
}
