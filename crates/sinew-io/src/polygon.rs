//! Triangulates polygons so that their triangles do not overlap and face one way.
//!
//! Each polygon is projected along the normal of its best plane (Newell's method).
//! - A triangle fan from the first corner is kept if its triangles do not overlap. This is always true for convex
//!   polygons.
//! - A concave polygon with few corners starts at another corner, if the fan from there is valid. It stays one face.
//! - Other polygons are triangulated by ear clipping (Meisters 1975; O'Rourke, "Computational Geometry in C"). Their
//!   faces become triangles.
//! - Polygons that cross themselves or have no area stay fans.

use crate::fault::warning;
use sinew_geom::{Polygons, Topology, TopologyError, Warning, index32};
use std::collections::VecDeque;

/// Maximum number of corners of a polygon for which every corner is tried as the start of a fan.
const MOST_FANS: usize = 64;
/// Number of corners that ear clipping may test per corner of a polygon. The limit keeps time linear in the file size.
const LOOKS_FOR_A_CORNER: usize = 1 << 14;

/// The topology of polygons over vertices, triangulated so that triangles of a face do not overlap. The number of triangles is
/// that of fans, in face order. Offsets must be valid: see [`Polygons`]. Faces for which it found no such triangles are a warning.
///
/// # Errors
/// [`TopologyError`] with the first invalid face.
pub fn topology(
    positions: &[[f32; 3]],
    polygons: Polygons,
    warnings: &mut Vec<Warning>,
) -> Result<Topology, TopologyError> {
    let count = index32(positions.len());
    let mut out: Option<Polygons> = None;
    let mut flat = Vec::new();
    let mut crossing = 0_usize;
    for f in 0..polygons.len() {
        let face = polygons.face(f);
        if face.iter().any(|&v| v >= count) || face.len() < 3 {
            return Topology::from_polygons(count, polygons);
        }
        let cut = match face.len() {
            3 => Cut::Fan(0),
            _ => match Plane::of(face, positions, &mut flat) {
                Some(plane) => plane.cut(),
                None => Cut::Fan(0),
            },
        };
        crossing += usize::from(matches!(cut, Cut::Crossing));
        if out.is_none() && matches!(cut, Cut::Fan(0) | Cut::Crossing) {
            continue;
        }
        // The first that changes takes those before it along.
        let out = out.get_or_insert_with(|| {
            let start = polygons.offsets[f];
            Polygons {
                offsets: polygons.offsets[..=f].to_vec(),
                indices: polygons.indices[..start as usize].to_vec(),
            }
        });
        match cut {
            Cut::Fan(first) => {
                out.indices.extend(&face[first..]);
                out.indices.extend(&face[..first]);
                out.offsets.push(index32(out.indices.len()));
            }
            Cut::Crossing => {
                out.indices.extend(face);
                out.offsets.push(index32(out.indices.len()));
            }
            Cut::Triangles(triangles) => {
                for triangle in triangles {
                    out.indices.extend(triangle.map(|corner| face[corner]));
                    out.offsets.push(index32(out.indices.len()));
                }
            }
        }
    }
    if crossing > 0 {
        warnings.push(warning(
            "polygons_crossing",
            format!(
                "{crossing} polygons cross themselves or are too complex to triangulate; each became a triangle fan, whose triangles may overlap; triangulate them before you export the mesh"
            ),
        ));
    }
    Topology::from_polygons(count, out.unwrap_or(polygons))
}

enum Cut {
    /// A fan from this corner.
    Fan(usize),
    /// Triangles of corners.
    Triangles(Vec<[usize; 3]>),
    /// No valid triangulation.
    Crossing,
}

/// A polygon in its plane, counter-clockwise.
struct Plane<'a> {
    corners: &'a [[f64; 2]],
    /// Twice the area below which single precision cannot distinguish a triangle from none.
    flat: f64,
    /// The same for double precision, in which corners are compared.
    none: f64,
}

impl<'a> Plane<'a> {
    /// `None` where the corners span no plane.
    fn of(face: &[u32], positions: &[[f32; 3]], out: &'a mut Vec<[f64; 2]>) -> Option<Self> {
        let at = |v: u32| positions[v as usize].map(f64::from);
        let origin = at(face[0]);
        let from_origin = |v: u32| {
            let p = at(v);
            [p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]]
        };
        let mut normal = [0.0; 3];
        let mut largest = 0.0_f64;
        let mut extent = 0.0_f64;
        for pair in face.windows(2) {
            let (a, b) = (from_origin(pair[0]), from_origin(pair[1]));
            let n = cross(a, b);
            (0..3).for_each(|c| normal[c] += n[c]);
            largest = at(pair[1]).iter().fold(largest, |m, c| m.max(c.abs()));
            extent = b.iter().fold(extent, |m, c| m.max(c.abs()));
        }
        largest = origin.iter().fold(largest, |m, c| m.max(c.abs()));
        // Each coordinate is known to half a step of its size.
        let flat = extent * largest * f64::from(f32::EPSILON) * 4.0;
        let length = dot(normal, normal).sqrt();
        if !(length.is_finite() && length > flat) {
            return None;
        }
        let normal = normal.map(|c| c / length);
        let smallest = (0..3).fold(0, |s, c| match normal[c].abs() < normal[s].abs() {
            true => c,
            false => s,
        });
        let mut axis = [0.0; 3];
        axis[smallest] = 1.0;
        let u = cross(axis, normal);
        let length = dot(u, u).sqrt();
        let u = u.map(|c| c / length);
        let v = cross(normal, u);
        out.clear();
        out.extend(face.iter().map(|&corner| {
            let p = from_origin(corner);
            [dot(p, u), dot(p, v)]
        }));
        Some(Self {
            corners: out,
            flat,
            none: extent * extent * 1e-13,
        })
    }

    /// Twice the area of a triangle, positive where it faces as the polygon does.
    fn area(&self, [a, b, c]: [usize; 3]) -> f64 {
        let [a, b, c] = [a, b, c].map(|k| self.corners[k]);
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    }

    /// The smallest such area in a fan; looks no further than to the first below `least`.
    fn smallest_of_fan(&self, first: usize, least: f64) -> f64 {
        let n = self.corners.len();
        let mut smallest = f64::INFINITY;
        for k in 1..n - 1 {
            let area = self.area([first, (first + k) % n, (first + k + 1) % n]);
            smallest = smallest.min(area);
            if smallest < least {
                break;
            }
        }
        smallest
    }

    fn cut(&self) -> Cut {
        if self.smallest_of_fan(0, -self.flat) >= -self.flat {
            return Cut::Fan(0);
        }
        if self.corners.len() <= MOST_FANS {
            let mut best = (0, self.flat);
            for first in 1..self.corners.len() {
                let smallest = self.smallest_of_fan(first, best.1);
                if smallest > best.1 {
                    best = (first, smallest);
                }
            }
            if best.0 > 0 {
                return Cut::Fan(best.0);
            }
        }
        Ears::new(self).cut().map_or(Cut::Crossing, Cut::Triangles)
    }
}

/// State of ear clipping for a polygon.
struct Ears<'a> {
    plane: &'a Plane<'a>,
    /// Corners before and after each.
    beside: Vec<[usize; 2]>,
    is_cut: Vec<bool>,
    /// True if a corner may lie inside the triangle of another one.
    is_reflex: Vec<bool>,
    /// The coordinate of the largest extent.
    along: usize,
    /// Reflex corners sorted by that coordinate. Some may be clipped or no longer reflex.
    sorted: Vec<usize>,
    /// Number of such corners in `sorted`.
    gone: usize,
    left: usize,
    looks: usize,
    triangles: Vec<[usize; 3]>,
}

impl<'a> Ears<'a> {
    fn new(plane: &'a Plane<'a>) -> Self {
        let n = plane.corners.len();
        let mut this = Self {
            plane,
            beside: (0..n).map(|k| [(k + n - 1) % n, (k + 1) % n]).collect(),
            is_cut: vec![false; n],
            is_reflex: Vec::new(),
            along: 0,
            sorted: Vec::new(),
            gone: 0,
            left: n,
            looks: n.saturating_mul(LOOKS_FOR_A_CORNER),
            triangles: Vec::with_capacity(n - 2),
        };
        this.is_reflex = (0..n).map(|k| this.area(k) <= plane.none).collect();
        this.sorted = (0..n).filter(|&k| this.is_reflex[k]).collect();
        let extent = |c: usize| {
            let all = plane.corners.iter().map(|p| p[c]);
            all.clone().fold(f64::MIN, f64::max) - all.fold(f64::MAX, f64::min)
        };
        this.along = usize::from(extent(1) > extent(0));
        let x = |k: &usize| plane.corners[*k][this.along];
        this.sorted.sort_by(|a, b| x(a).total_cmp(&x(b)));
        this
    }

    fn triangle(&self, corner: usize) -> [usize; 3] {
        let [before, behind] = self.beside[corner];
        [before, corner, behind]
    }

    fn area(&self, corner: usize) -> f64 {
        self.plane.area(self.triangle(corner))
    }

    /// Triangles that all face one way; `None` if there are none.
    fn cut(mut self) -> Option<Vec<[usize; 3]>> {
        let mut takes_flat = false;
        while self.left > 3 {
            self.looks = self.looks.checked_sub(self.left)?;
            let before = self.left;
            let n = self.is_cut.len();
            let mut queue: VecDeque<usize> = (0..n).filter(|&k| !self.is_cut[k]).collect();
            while self.left > 3
                && let Some(corner) = queue.pop_front()
            {
                if self.is_cut[corner] {
                    continue;
                }
                let is_flat = takes_flat && self.area(corner).abs() <= self.plane.flat;
                if is_flat || self.is_ear(corner)? {
                    queue.extend(self.beside[corner]);
                    self.remove(corner);
                    takes_flat = false;
                }
            }
            if self.left == before {
                if takes_flat {
                    return None;
                }
                takes_flat = true;
            }
        }
        let last = self.is_cut.iter().position(|cut| !cut)?;
        if self.area(last) < -self.plane.flat {
            return None;
        }
        self.triangles.push(self.triangle(last));
        Some(self.triangles)
    }

    /// True if a corner's triangle has area and contains no other corner. `None` if the test limit is reached.
    fn is_ear(&mut self, corner: usize) -> Option<bool> {
        let t = self.triangle(corner);
        if self.plane.area(t) <= self.plane.none {
            return Some(false);
        }
        let corners = &self.plane.corners;
        let [a, b, c] = t.map(|k| corners[k]);
        let bounds = |k: usize| [a[k].min(b[k]).min(c[k]), a[k].max(b[k]).max(c[k])];
        let (along, across) = (self.along, 1 - self.along);
        let ([left, right], [low, high]) = (bounds(along), bounds(across));
        let start = self.sorted.partition_point(|&k| corners[k][along] < left);
        for &k in &self.sorted[start..] {
            let p = corners[k];
            if p[along] > right {
                break;
            }
            self.looks = self.looks.checked_sub(1)?;
            if p[across] < low || p[across] > high || self.is_cut[k] || !self.is_reflex[k] {
                continue;
            }
            // Ignores corners at the same position, where a hole is joined to the outline.
            if p == a || p == b || p == c {
                continue;
            }
            let inside = |from: usize, to: usize| self.plane.area([from, to, k]) >= 0.0;
            if inside(t[0], t[1]) && inside(t[1], t[2]) && inside(t[2], t[0]) {
                return Some(false);
            }
        }
        Some(true)
    }

    fn remove(&mut self, corner: usize) {
        self.triangles.push(self.triangle(corner));
        let [before, behind] = self.beside[corner];
        self.beside[before][1] = behind;
        self.beside[behind][0] = before;
        self.is_cut[corner] = true;
        self.left -= 1;
        self.gone += usize::from(self.is_reflex[corner]);
        for k in [before, behind] {
            if self.is_reflex[k] && self.area(k) > self.plane.none {
                self.is_reflex[k] = false;
                self.gone += 1;
            }
        }
        if 2 * self.gone > self.sorted.len() {
            let is_reflex = |k: &usize| self.is_reflex[*k] && !self.is_cut[*k];
            self.sorted.retain(is_reflex);
            self.gone = 0;
        }
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case_files::case_file;
    use crate::{read_any, read_mesh};
    use proptest::prelude::*;

    /// Area vectors (half the cross product of two sides) of the triangles of one polygon.
    fn area_vectors(topology: &Topology, positions: &[[f32; 3]]) -> Vec<[f64; 3]> {
        let at = |v: u32| positions[v as usize].map(f64::from);
        let from = |a: [f64; 3], b: [f64; 3]| [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
        let vector = |t: &[u32; 3]| {
            let [a, b, c] = t.map(at);
            cross(from(a, b), from(a, c)).map(|c| c / 2.0)
        };
        topology.triangles().iter().map(vector).collect()
    }

    fn one(positions: &[[f32; 3]]) -> (Topology, Vec<Warning>) {
        let n = positions.len() as u32;
        let polygons = Polygons {
            offsets: vec![0, n],
            indices: (0..n).collect(),
        };
        let mut warnings = Vec::new();
        let topology = topology(positions, polygons, &mut warnings).expect("valid");
        (topology, warnings)
    }

    /// Area of a polygon of z = 0, if every triangle faces up.
    fn area_facing_up(points: &[[f32; 2]]) -> f64 {
        let positions: Vec<[f32; 3]> = points.iter().map(|p| [p[0], p[1], 0.0]).collect();
        let (topology, warnings) = one(&positions);
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(topology.triangles().len(), points.len() - 2);
        let up = area_vectors(&topology, &positions)
            .into_iter()
            .map(|v| v[2]);
        up.inspect(|z| assert!(*z > -1e-9, "faces down by {z}"))
            .sum()
    }

    #[test]
    fn concave_polygons_are_covered_once() {
        let chevron = [[0.0, 0.0], [1.0, 1.0], [0.0, 0.5], [-1.0, 1.0]];
        // Half the diagonals' cross product: (0, 0.5) x (2, 0) / 2.
        for first in 0..4 {
            let mut points = chevron;
            points.rotate_left(first);
            assert!((area_facing_up(&points) - 0.5).abs() < 1e-9);
        }
        let l = [
            [0.0, 0.0],
            [2.0, 0.0],
            [2.0, 1.0],
            [1.0, 1.0],
            [1.0, 2.0],
            [0.0, 2.0],
        ];
        for first in 0..6 {
            let mut points = l;
            points.rotate_left(first);
            assert!((area_facing_up(&points) - 3.0).abs() < 1e-9);
        }
        // A comb of three teeth has no fan: a back of 5 x 1 and teeth of 1 x 2.
        let comb = [
            [0.0, 0.0],
            [5.0, 0.0],
            [5.0, 3.0],
            [4.0, 3.0],
            [4.0, 1.0],
            [3.0, 1.0],
            [3.0, 3.0],
            [2.0, 3.0],
            [2.0, 1.0],
            [1.0, 1.0],
            [1.0, 3.0],
            [0.0, 3.0],
        ];
        assert!((area_facing_up(&comb) - 11.0).abs() < 1e-9);
        // A square with a square hole, joined by two edges at one place.
        let ring = [
            [0.0, 0.0],
            [3.0, 0.0],
            [3.0, 3.0],
            [0.0, 3.0],
            [0.0, 0.0],
            [1.0, 1.0],
            [1.0, 2.0],
            [2.0, 2.0],
            [2.0, 1.0],
            [1.0, 1.0],
        ];
        assert!((area_facing_up(&ring) - 8.0).abs() < 1e-9);
        for (case, area) in [
            ("characters/13_obj_concave_quad/k_chevron.obj", 0.5),
            ("sequences/08_concave_polygon/l_shape.obj", 3.0),
        ] {
            let Some(path) = case_file(case) else {
                continue;
            };
            let mesh = &read_mesh(&path).expect("valid").meshes[0];
            let all = area_vectors(&mesh.topology, &mesh.positions);
            let size = |v: &[f64; 3]| dot(*v, *v).sqrt();
            let sum = all.iter().map(size).sum::<f64>();
            assert!((sum - area).abs() < 1e-9, "{case}: {sum}");
            assert!(all.iter().all(|v| dot(*v, all[0]) > 0.0), "{case}");
        }
    }

    #[test]
    fn fans_that_do_it_stay() {
        // Convex, with a corner on a side; and a quad that is bent over its diagonal.
        let flat = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [2.0, 0.0, 0.0],
            [2.0, 2.0, 0.0],
            [0.0, 2.0, 0.0],
        ];
        assert_eq!(one(&flat).0.triangles(), [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
        let bent = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.5],
            [1.0, 1.0, 0.0],
            [0.0, 1.0, 0.5],
        ];
        assert_eq!(one(&bent).0.triangles(), [[0, 1, 2], [0, 2, 3]]);
        assert!(one(&bent).0.polygons().is_some(), "stays a quad");
        // No area at all, and a bow tie, which nothing covers.
        let none = [[1.0, 2.0, 3.0]; 5];
        let (topology, warnings) = one(&none);
        assert_eq!((topology.triangles().len(), warnings.len()), (3, 0));
        let tie = [
            [0.0, 0.0, 0.0],
            [3.0, 3.0, 0.0],
            [3.0, 0.0, 0.0],
            [0.0, 2.0, 0.0],
        ];
        let (topology, warnings) = one(&tie);
        assert_eq!(topology.triangles(), [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(warnings[0].code, "polygons_crossing");
    }

    #[test]
    fn concave_quads_stay_quads_in_files() {
        let obj = "v 0 0 0\nv 1 1 0\nv 0 .5 0\nv -1 1 0\nv 5 5 5\nf 1 2 5\nf 1 4 2 3\nf 4 1 2 3\nf 1 2 4\n";
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.obj");
        std::fs::write(&path, obj).expect("write");
        let mesh = read_any(&path).expect("valid").asset.meshes.remove(0);
        let polygons = mesh.topology.polygons().expect("quads");
        assert_eq!(polygons.len(), 4);
        assert_eq!(polygons.face(0), [0, 1, 4]);
        assert_eq!(polygons.face(3), [0, 1, 3]);
        let mut corners = polygons.face(2).to_vec();
        corners.sort_unstable();
        assert_eq!(corners, [0, 1, 2, 3]);
    }

    #[test]
    fn tens_of_thousands_of_corners_take_no_minutes() {
        let start = std::time::Instant::now();
        // A saw of 20,000 teeth above a bar: half a unit square each, and the bar of height 1.
        let teeth = 20_000_u16;
        let mut points = vec![[0.0, -1.0], [f32::from(teeth), -1.0]];
        for k in (0..teeth).rev() {
            points.extend([[f32::from(k) + 1.0, 0.0], [f32::from(k) + 0.5, 1.0]]);
        }
        points.push([0.0, 0.0]);
        let area = area_facing_up(&points);
        assert!(
            (area - 1.5 * f64::from(teeth)).abs() < 1e-6 * area,
            "{area}"
        );
        // A star of as many spikes: each is two triangles with the centre, of radii 1 and 0.5 and the sine of the angle between.
        let corners = 20_000_u16;
        let step = std::f64::consts::TAU / f64::from(corners);
        let star: Vec<[f32; 2]> = (0..corners)
            .map(|k| {
                let radius = if k % 2 == 0 { 1.0 } else { 0.5 };
                let angle = step * f64::from(k);
                [(radius * angle.cos()) as f32, (radius * angle.sin()) as f32]
            })
            .collect();
        let expected = 0.25 * step.sin() * f64::from(corners);
        let found = area_facing_up(&star);
        assert!((found - expected).abs() < 1e-5, "{found} of {expected}");
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    }

    proptest! {
        #[test]
        fn stars_are_covered_once(
            radii in prop::collection::vec(0.05_f64..1.0, 4..150),
            first in 0..150_usize,
            euler in prop::array::uniform3(0.0..6.0_f64),
            centre in prop::array::uniform3(-10.0..10.0_f64),
        ) {
            let n = radii.len();
            let [a, b, c] = euler;
            // Two unit vectors at right angles.
            let u = [a.cos() * b.cos(), a.sin() * b.cos(), b.sin()];
            let w = [-a.sin(), a.cos(), 0.0];
            let v = cross(u, w);
            let (v, w): ([f64; 3], [f64; 3]) = (
                std::array::from_fn(|k| v[k] * c.cos() + w[k] * c.sin()),
                std::array::from_fn(|k| w[k] * c.cos() - v[k] * c.sin()),
            );
            let step = std::f64::consts::TAU / n as f64;
            let mut positions: Vec<[f32; 3]> = (0..n)
                .map(|k| {
                    let (x, y) = (radii[k] * (step * k as f64).cos(), radii[k] * (step * k as f64).sin());
                    std::array::from_fn(|i| (centre[i] + x * v[i] + y * w[i]) as f32)
                })
                .collect();
            positions.rotate_left(first % n);
            let (topology, warnings) = one(&positions);
            prop_assert!(warnings.is_empty());
            prop_assert_eq!(topology.triangles().len(), n - 2);
            // The triangles from the centre; four corners or more leave no angle of half a turn.
            let area: f64 = (0..n).map(|k| radii[k] * radii[(k + 1) % n] * step.sin() / 2.0).sum();
            let normal = cross(v, w);
            let areas: Vec<f64> = area_vectors(&topology, &positions).into_iter().map(|t| dot(t, normal)).collect();
            let sum: f64 = areas.iter().sum();
            let rounding = 1e-4;
            prop_assert!((sum - area).abs() < rounding, "{} of {}", sum, area);
            prop_assert!(areas.iter().all(|a| *a > -1e-5), "{:?}", areas);
        }

        #[test]
        fn any_polygon_has_as_many_triangles_as_a_fan(
            points in prop::collection::vec(prop::array::uniform3(-3_i8..3), 3..40)
        ) {
            let positions: Vec<[f32; 3]> = points.iter().map(|p| p.map(f32::from)).collect();
            prop_assert_eq!(one(&positions).0.triangles().len(), points.len() - 2);
        }
    }
}
