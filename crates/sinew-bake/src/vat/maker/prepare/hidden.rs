//! Deletes faces that are never seen from outside.
//!
//! The mesh is drawn without perspective from many directions that are spread evenly over the sphere. Opposite
//! directions share one drawing, which keeps the nearest and the farthest depth of each pixel. A face is seen when, in
//! any drawing, from either of its sides,
//!
//! * at the centre of a pixel that it covers it lies no deeper than the nearest surface, up to `1e-5` of the size of
//!   the mesh; or
//! * it covers the centre of no pixel, and one of four points on it lies no deeper than the surface at the centre of
//!   the point's pixel, up to `1 + slope` pixels (`slope`: depth over width of the face in this drawing, at most 4).
//!
//! The second rule errs on the side of keeping: small faces just below the surface, by about the size of a pixel, stay.
//! Corners are put on a grid of 1/256 pixel and edges count as covered, so faces that share an edge leave no gap, with
//! or without shared vertices. What can be seen only through openings narrower than a pixel may go.
//!
//! Open surfaces are seen from both sides: the inside of an open bowl is kept.

use super::faces;
use super::vector::{Point, centroid, unit, wide};
use super::{PrepareError, expect};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sinew_geom::Mesh;
use sinew_geom::vec3::{add, cross, dot, length, scale, sub};

/// Depths closer than this share of the radius of the mesh count as equal.
const SAME_DEPTH: f64 = 1e-5;
/// Parts of a pixel that corners are rounded to.
const SUBPIXELS: i64 = 256;
/// Steeper faces are taken to be this steep when their depth is carried from a point to the centre of its pixel.
const MAX_SLOPE: f64 = 4.0;

/// How to look for hidden faces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HiddenSettings {
    /// Directions to look from, both ends of each line counted; odd numbers are rounded up. At least 2; default 64.
    pub directions: u32,
    /// Pixels along each side of a drawing, 8 to 4096; default 512. The mesh fills it from any direction.
    pub resolution: u32,
}

impl Default for HiddenSettings {
    fn default() -> Self {
        Self {
            directions: 64,
            resolution: 512,
        }
    }
}

impl HiddenSettings {
    pub(super) fn check(&self) -> Result<(), PrepareError> {
        let directions = "hidden.directions";
        expect(
            (2..=65_536).contains(&self.directions),
            directions,
            self.directions,
            "2 to 65536",
        )?;
        let resolution = "hidden.resolution";
        expect(
            (8..=4096).contains(&self.resolution),
            resolution,
            self.resolution,
            "8 to 4096",
        )
    }
}

/// Which faces were hidden.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct HiddenReport {
    /// Faces before.
    pub faces_before: usize,
    /// Faces that were deleted.
    pub faces_deleted: usize,
    /// Directions that were looked from.
    pub directions: usize,
    /// Width of a pixel, metres: details smaller than that may be misjudged.
    pub pixel: f64,
}

/// Deletes the faces of `mesh` that no direction sees.
///
/// # Cost
/// `directions / 2` drawings of two passes: `O(directions * (faces + resolution^2 * depth complexity))`, spread over
/// threads; `16 * resolution^2` bytes a thread.
pub(super) fn delete(mesh: &mut Mesh, settings: &HiddenSettings) -> HiddenReport {
    let faces_before = mesh.topology.triangles().len();
    let lines = settings.directions.div_ceil(2);
    let mut report = HiddenReport {
        faces_before,
        directions: 2 * lines as usize,
        ..HiddenReport::default()
    };
    if faces_before == 0 {
        return report;
    }
    let view = View::of(mesh, settings.resolution);
    report.pixel = view.pixel;
    report.faces_deleted = faces::keep_faces(mesh, &seen(mesh, &view, lines));
    report
}

/// Whether each face is seen from any direction. Joining by "or" does not depend on the order of the drawings.
fn seen(mesh: &Mesh, view: &View, lines: u32) -> Vec<bool> {
    let none = || vec![false; mesh.topology.triangles().len()];
    let join = |mut all: Vec<bool>, one: Vec<bool>| {
        all.iter_mut().zip(one).for_each(|(a, b)| *a |= b);
        all
    };
    let directions = (0..lines).into_par_iter().map(|i| direction(i, lines));
    directions
        .map(|d| Drawing::of(mesh, view, d).seen())
        .reduce(none, join)
}

/// Direction `i` of `count` that spread over the upper half of the sphere on a golden spiral (Fibonacci lattice).
fn direction(i: u32, count: u32) -> Point {
    let height = (f64::from(i) + 0.5) / f64::from(count);
    let radius = (1.0 - height * height).sqrt();
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let turn = golden * f64::from(i);
    [radius * turn.cos(), radius * turn.sin(), height]
}

/// What all drawings share.
struct View {
    centre: Point,
    radius: f64,
    resolution: usize,
    /// Width of a pixel.
    pixel: f64,
}

impl View {
    /// A ball around the vertices that faces use fills the drawing, but for a margin of one pixel.
    fn of(mesh: &Mesh, resolution: u32) -> Self {
        let used = || mesh.topology.triangles().iter().flatten();
        let at = |v: &u32| wide(mesh.positions[*v as usize]);
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for p in used().map(at) {
            for c in 0..3 {
                low[c] = low[c].min(p[c]);
                high[c] = high[c].max(p[c]);
            }
        }
        let centre = scale(add(low, high), 0.5);
        let radius = used()
            .map(|v| length(sub(at(v), centre)))
            .fold(0.0, f64::max);
        // A mesh in one point needs some scale.
        let radius = if radius > 0.0 { radius } else { 1.0 };
        Self {
            centre,
            radius,
            resolution: resolution as usize,
            pixel: 2.0 * radius / (f64::from(resolution) - 2.0),
        }
    }
}

/// A corner as drawn: place in 1/256 pixel, depth in units of a pixel's width.
#[derive(Clone, Copy, Default)]
struct Corner {
    x: i64,
    y: i64,
    depth: f64,
}

/// The mesh seen along one line, from both ends.
struct Drawing<'a> {
    triangles: &'a [[u32; 3]],
    corners: Vec<Corner>,
    resolution: usize,
    /// Depths closer than this count as equal.
    same: f64,
    nearest: Vec<f64>,
    farthest: Vec<f64>,
}

impl<'a> Drawing<'a> {
    fn of(mesh: &'a Mesh, view: &View, direction: Point) -> Self {
        let pixels = view.resolution * view.resolution;
        let mut drawing = Self {
            triangles: mesh.topology.triangles(),
            corners: project(mesh, view, direction),
            resolution: view.resolution,
            same: SAME_DEPTH * view.radius / view.pixel,
            nearest: vec![f64::INFINITY; pixels],
            farthest: vec![f64::NEG_INFINITY; pixels],
        };
        drawing.draw();
        drawing
    }

    fn face(&self, triangle: &[u32; 3]) -> [Corner; 3] {
        triangle.map(|v| self.corners[v as usize])
    }

    fn draw(&mut self) {
        let (nearest, farthest) = (&mut self.nearest, &mut self.farthest);
        for triangle in self.triangles {
            let face = triangle.map(|v| self.corners[v as usize]);
            cover(&face, self.resolution, |pixel, depth| {
                nearest[pixel] = nearest[pixel].min(depth);
                farthest[pixel] = farthest[pixel].max(depth);
                false
            });
        }
    }

    /// Whether each face is seen from one end of the line or the other.
    fn seen(&self) -> Vec<bool> {
        let all = self.triangles.iter();
        all.map(|t| self.sees(&self.face(t))).collect()
    }

    fn sees(&self, face: &[Corner; 3]) -> bool {
        let covered = cover(face, self.resolution, |pixel, depth| {
            self.is_outermost(pixel, depth, self.same)
        });
        match covered {
            Covered::Stopped => true,
            Covered::Some => false,
            Covered::None => self.sees_small(face),
        }
    }

    fn is_outermost(&self, pixel: usize, depth: f64, tolerance: f64) -> bool {
        depth <= self.nearest[pixel] + tolerance || depth >= self.farthest[pixel] - tolerance
    }

    /// A face between the centres of pixels: four points on it, each against the pixel it falls in.
    fn sees_small(&self, face: &[Corner; 3]) -> bool {
        let points = face.map(|c| [c.x as f64, c.y as f64, c.depth * SUBPIXELS as f64]);
        let normal = unit(cross(sub(points[1], points[0]), sub(points[2], points[0])));
        let slope = normal.map_or([0.0; 2], slopes);
        let tolerance = 1.0 + slope[0].hypot(slope[1]);
        let middle = centroid(&points);
        let samples = points.map(|p| add(scale(middle, 0.3), scale(p, 0.7)));
        samples
            .into_iter()
            .chain([middle])
            .any(|sample| self.sees_point(sample, slope, tolerance))
    }

    /// Carries the depth of a point along its face to the centre of its pixel, and compares there.
    fn sees_point(&self, point: Point, slope: [f64; 2], tolerance: f64) -> bool {
        let at = [point[0], point[1]].map(|c| c / SUBPIXELS as f64);
        let cell = at.map(|c| c.floor().clamp(0.0, (self.resolution - 1) as f64));
        let shift = [0, 1].map(|k| (cell[k] + 0.5 - at[k]) * slope[k]);
        let depth = point[2] / SUBPIXELS as f64 + shift[0] + shift[1];
        let pixel = cell[1] as usize * self.resolution + cell[0] as usize;
        self.is_outermost(pixel, depth, tolerance)
    }
}

/// Change of depth per pixel along x and y of a plane with this normal, no steeper than [`MAX_SLOPE`].
fn slopes(normal: Point) -> [f64; 2] {
    let depth = if normal[2].abs() < 1e-9 {
        1e-9
    } else {
        normal[2]
    };
    let slope = [-normal[0] / depth, -normal[1] / depth];
    let steep = slope[0].hypot(slope[1]).max(1e-30);
    slope.map(|s| s * (MAX_SLOPE / steep).min(1.0))
}

fn project(mesh: &Mesh, view: &View, direction: Point) -> Vec<Corner> {
    let other = if direction[0].abs() < 0.6 {
        [1.0, 0.0, 0.0]
    } else {
        [0.0, 1.0, 0.0]
    };
    let right = unit(cross(other, direction)).unwrap_or([1.0, 0.0, 0.0]);
    let up = cross(direction, right);
    let half = view.resolution as f64 / 2.0;
    let place = |c: f64| ((c / view.pixel + half) * SUBPIXELS as f64).round() as i64;
    let corner = |p: &[f32; 3]| {
        let p = sub(wide(*p), view.centre);
        Corner {
            x: place(dot(p, right)),
            y: place(dot(p, up)),
            depth: -dot(p, direction) / view.pixel,
        }
    };
    // Vertices without faces may lie anywhere, even at infinity: the cast saturates and nobody looks at them.
    mesh.positions.iter().map(corner).collect()
}

/// How a face met the centres of pixels.
#[derive(PartialEq)]
enum Covered {
    /// None is covered.
    None,
    /// Some are covered, and the visitor wanted to see them all.
    Some,
    /// The visitor had seen enough.
    Stopped,
}

/// Calls `visit(pixel, depth)` for each centre of a pixel that a face covers, edges included, until it returns true.
fn cover(
    face: &[Corner; 3],
    resolution: usize,
    mut visit: impl FnMut(usize, f64) -> bool,
) -> Covered {
    let [a, b, c] = *face;
    let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    let (b, c) = if area < 0 { (c, b) } else { (b, c) };
    if area == 0 {
        return Covered::None;
    }
    let edges = [Edge::new(b, c), Edge::new(c, a), Edge::new(a, b)];
    let per_area = 1.0 / area.abs() as f64;
    let columns = centres([a.x, b.x, c.x], resolution);
    let mut covered = Covered::None;
    for row in centres([a.y, b.y, c.y], resolution) {
        for column in columns.clone() {
            let weights = edges.map(|e| e.at(column as i64, row as i64));
            if weights.iter().any(|w| *w < 0) {
                continue;
            }
            let [wa, wb, wc] = weights.map(|w| w as f64 * per_area);
            let depth = wa * a.depth + wb * b.depth + wc * c.depth;
            covered = Covered::Some;
            if visit(row * resolution + column, depth) {
                return Covered::Stopped;
            }
        }
    }
    covered
}

/// An edge function: not negative at points on the inner side.
#[derive(Clone, Copy)]
struct Edge {
    from: Corner,
    dx: i64,
    dy: i64,
}

impl Edge {
    fn new(from: Corner, to: Corner) -> Self {
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        Self { from, dx, dy }
    }

    /// At the centre of a pixel.
    fn at(&self, column: i64, row: i64) -> i64 {
        let x = column * SUBPIXELS + SUBPIXELS / 2 - self.from.x;
        let y = row * SUBPIXELS + SUBPIXELS / 2 - self.from.y;
        self.dx * y - self.dy * x
    }
}

/// The pixels along one axis whose centres lie between the lowest and the highest of three places.
fn centres(places: [i64; 3], resolution: usize) -> std::ops::Range<usize> {
    let low = places[0].min(places[1]).min(places[2]);
    let high = places[0].max(places[1]).max(places[2]);
    let half = SUBPIXELS / 2;
    // First centre at or above `low`, first centre above `high`.
    let first =
        (low - half).div_euclid(SUBPIXELS) + i64::from((low - half).rem_euclid(SUBPIXELS) > 0);
    let end = (high - half).div_euclid(SUBPIXELS) + 1;
    let inside = |c: i64| c.clamp(0, resolution as i64) as usize;
    inside(first)..inside(end)
}
