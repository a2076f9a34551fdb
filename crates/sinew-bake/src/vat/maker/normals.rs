//! Normals of corners, from the welded mesh: smooth, with creases kept.
//!
//! Around a point, triangles that meet at an edge flatter than the crease angle belong together; a corner's normal is the mean
//! of its group's, weighted by the angles at the point (Thürmer and Wüthrich 1998). A triangle without area takes part in no mean.

use sinew_geom::vec3::{add, add_scaled, area_vector, dot, sub, unit};
use sinew_geom::{CornerFans, Topology, WeldMap};

/// Largest angle between two triangles that are shaded as one surface, radians; `PI` makes everything smooth.
#[cfg(test)]
pub(crate) const DEFAULT_CREASE: f32 = std::f32::consts::FRAC_PI_3;

/// Corners that share a normal: those at one point (positions equal to the bit) whose triangles meet at soft edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShadingGroups {
    /// Group of each corner, `3 * triangle + corner`; groups are numbered by point, then by first corner.
    group_of_corner: Vec<u32>,
    /// Point (weld class) of each group.
    point_of_group: Vec<u32>,
    points: usize,
}

impl ShadingGroups {
    /// From one shape of a mesh; edges sharper than `crease` (radians) part groups. Cost: corners times the triangles around
    /// a point.
    pub(crate) fn new(topology: &Topology, positions: &[[f32; 3]], crease: f32) -> Self {
        let faces = face_normals(topology, positions);
        Self::with_faces(topology, positions, &faces, crease)
    }

    /// From one frame of a sequence: corners meet where they do in this frame (`positions`, equal to the bit), and edges are hard where triangles
    /// of the same numbers are steeper to each other than `crease` (radians) in the shape `rest`. So cloth that folds stays smooth, and cloth
    /// that tears is no longer smoothed across the tear. `rest` has as many triangles as `topology`; those that it lacks have hard edges. Cost as
    /// of [`Self::new`].
    pub(crate) fn with_edges_of(
        rest: (&Topology, &[[f32; 3]]),
        topology: &Topology,
        positions: &[[f32; 3]],
        crease: f32,
    ) -> Self {
        let mut faces = face_normals(rest.0, rest.1);
        faces.resize(topology.triangles().len(), None);
        Self::with_faces(topology, positions, &faces, crease)
    }

    fn with_faces(
        topology: &Topology,
        positions: &[[f32; 3]],
        faces: &[Option<[f64; 3]>],
        crease: f32,
    ) -> Self {
        let weld = WeldMap::by_position(positions, 0.0);
        let fans = CornerFans::build(topology, &weld);
        let triangles = topology.triangles();
        let classes: Vec<[u32; 3]> = triangles
            .iter()
            .map(|t| t.map(|v| weld.class_of_vertex[v as usize]))
            .collect();
        let around = Around {
            faces,
            classes: &classes,
            least_cosine: f64::from(crease).cos() - 1e-9,
            all_smooth: crease >= std::f32::consts::PI,
        };
        let mut this = Self {
            group_of_corner: vec![0; triangles.len() * 3],
            point_of_group: Vec::new(),
            points: weld.class_count(),
        };
        let mut groups = Vec::new();
        for point in 0..weld.class_count() {
            let fan = fans.corners_of(point);
            around.group(fan, &mut groups);
            this.add_point(point, fan, &groups);
        }
        this
    }

    /// Numbers the groups of a fan; within it a group is called by the place of its first corner.
    fn add_point(&mut self, point: usize, fan: &[u32], groups: &[u32]) {
        for (i, (&corner, &group)) in fan.iter().zip(groups).enumerate() {
            let first = group as usize;
            let number = if first == i {
                self.point_of_group.push(point as u32);
                self.point_of_group.len() as u32 - 1
            } else {
                self.group_of_corner[fan[first] as usize]
            };
            self.group_of_corner[corner as usize] = number;
        }
    }

    /// Group of corner `k` of triangle `t`.
    pub(crate) fn of_corner(&self, t: usize, k: usize) -> usize {
        self.group_of_corner[3 * t + k] as usize
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.point_of_group.len()
    }

    /// Unit normals of the corners of each triangle, for any shape of the mesh. What has no normal of its own (a triangle without area,
    /// faces that cancel out) gets that of its triangle, else the mean around its point, else +Y. Linear time.
    pub(crate) fn corner_normals(
        &self,
        topology: &Topology,
        positions: &[[f32; 3]],
    ) -> Vec<[[f32; 3]; 3]> {
        let faces = face_normals(topology, positions);
        let mut of_group = vec![[0.0; 3]; self.count()];
        for (t, triangle) in topology.triangles().iter().enumerate() {
            let Some(face) = faces[t] else { continue };
            let points = triangle.map(|v| positions[v as usize].map(f64::from));
            for k in 0..3 {
                let angle = angle_at(points, k);
                let sum = &mut of_group[self.of_corner(t, k)];
                *sum = add_scaled(*sum, face, angle);
            }
        }
        let mut of_point = vec![[0.0; 3]; self.points];
        for (sum, point) in of_group.iter().zip(&self.point_of_group) {
            let mean = &mut of_point[*point as usize];
            *mean = add(*mean, *sum);
        }
        let normal = |t: usize, k: usize| {
            let group = self.of_corner(t, k);
            let mean = || unit(of_point[self.point_of_group[group] as usize]);
            let found = unit(of_group[group]).or(faces[t]).or_else(mean);
            found.unwrap_or([0.0, 1.0, 0.0]).map(|c| c as f32)
        };
        (0..topology.triangles().len())
            .map(|t| [0, 1, 2].map(|k| normal(t, k)))
            .collect()
    }
}

/// Unit normals of the corners of each triangle, `3 * triangle + corner`.
///
/// `positions` (metres) are welded where they are equal to the bit. Corners of triangles without area get the mean of the
/// whole fan, or +Y where that is nothing. Cost: corners times the triangles around a point.
pub(crate) fn corner_normals(
    topology: &Topology,
    positions: &[[f32; 3]],
    crease: f32,
) -> Vec<[[f32; 3]; 3]> {
    ShadingGroups::new(topology, positions, crease).corner_normals(topology, positions)
}

fn face_normals(topology: &Topology, positions: &[[f32; 3]]) -> Vec<Option<[f64; 3]>> {
    let corners = topology.triangles().iter();
    corners
        .map(|t| unit(area_vector(t.map(|v| positions[v as usize].map(f64::from)))))
        .collect()
}

struct Around<'a> {
    faces: &'a [Option<[f64; 3]>],
    classes: &'a [[u32; 3]],
    least_cosine: f64,
    all_smooth: bool,
}

impl Around<'_> {
    /// Numbers corners of a fan so that those that share a number are one surface.
    fn group(&self, fan: &[u32], groups: &mut Vec<u32>) {
        groups.clear();
        if self.all_smooth {
            groups.resize(fan.len(), 0);
            return;
        }
        groups.extend(0..fan.len() as u32);
        for i in 1..fan.len() {
            for j in 0..i {
                if groups[i] != groups[j] && self.are_smooth(fan[i], fan[j]) {
                    let (from, to) = (groups[i].max(groups[j]), groups[i].min(groups[j]));
                    groups
                        .iter_mut()
                        .filter(|g| **g == from)
                        .for_each(|g| *g = to);
                }
            }
        }
    }

    /// Whether two corners at one point belong to triangles that share an edge there and are nearly in one plane.
    fn are_smooth(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        let (Some(n), Some(m)) = (self.faces[a / 3], self.faces[b / 3]) else {
            return false;
        };
        let others = |corner: usize| {
            let t = self.classes[corner / 3];
            [t[(corner + 1) % 3], t[(corner + 2) % 3]]
        };
        let ends = others(b);
        let share = others(a).iter().any(|c| ends.contains(c));
        share && dot(n, m) >= self.least_cosine
    }
}

/// Angle of a triangle at its corner `k`, radians.
fn angle_at(points: [[f64; 3]; 3], k: usize) -> f64 {
    let at = points[k];
    let u = unit(sub(points[(k + 1) % 3], at));
    let v = unit(sub(points[(k + 2) % 3], at));
    match (u, v) {
        (Some(u), Some(v)) => dot(u, v).clamp(-1.0, 1.0).acos(),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_testkit::meshes::box_triangles;

    /// A sphere with poles, every triangle with vertices of its own.
    fn split_sphere(rings: u32, sides: u32) -> (Topology, Vec<[f32; 3]>) {
        let at = |r: u32, s: u32| {
            let polar = std::f32::consts::PI * r as f32 / rings as f32;
            let around = std::f32::consts::TAU * (s % sides) as f32 / sides as f32;
            if r == 0 || r == rings {
                return [0.0, if r == 0 { 1.0 } else { -1.0 }, 0.0];
            }
            [
                polar.sin() * around.sin(),
                polar.cos(),
                polar.sin() * around.cos(),
            ]
        };
        let mut positions = Vec::new();
        for r in 0..rings {
            for s in 0..sides {
                let q = [at(r, s), at(r + 1, s), at(r + 1, s + 1), at(r, s + 1)];
                if r + 1 < rings {
                    positions.extend([q[0], q[1], q[2]]);
                }
                if r > 0 {
                    positions.extend([q[0], q[2], q[3]]);
                }
            }
        }
        let count = positions.len() as u32;
        let triangles = (0..count / 3)
            .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
            .collect();
        (
            Topology::new(count, triangles).expect("in range"),
            positions,
        )
    }

    /// The corners of a box from -1 to 1, two triangles a side, welded.
    fn cube() -> (Topology, Vec<[f32; 3]>) {
        let positions =
            (0..8_u32).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { 1.0 } else { -1.0 }));
        let topology = Topology::new(8, box_triangles()).expect("in range");
        (topology, positions.collect())
    }

    #[test]
    fn row_115_defect_24_a_split_sphere_is_smooth() {
        let (topology, positions) = split_sphere(24, 48);
        let normals = corner_normals(&topology, &positions, DEFAULT_CREASE);
        for (t, corners) in topology.triangles().iter().zip(&normals) {
            for (v, n) in t.iter().zip(corners) {
                let p = positions[*v as usize];
                // The normal of a sphere is its position.
                let cosine: f32 = (0..3).map(|k| p[k] * n[k]).sum();
                assert!(cosine > 0.999, "{p:?}: {n:?}");
            }
        }
    }

    #[test]
    fn row_116_edges_of_a_box_stay_hard_and_are_smooth_on_request() {
        let (topology, positions) = cube();
        let hard = corner_normals(&topology, &positions, DEFAULT_CREASE);
        for (t, corners) in topology.triangles().iter().zip(&hard) {
            let face = area_vector(t.map(|v| positions[v as usize].map(f64::from)))
                .map(|c| c as f32 / 4.0);
            assert!(
                face.iter().filter(|c| c.abs() == 1.0).count() == 1,
                "{face:?}"
            );
            assert_eq!(*corners, [face; 3]);
        }
        let smooth = corner_normals(&topology, &positions, std::f32::consts::PI);
        let third = 1.0 / 3.0_f32.sqrt();
        for (t, corners) in topology.triangles().iter().zip(&smooth) {
            for (v, n) in t.iter().zip(corners) {
                // Angle weights make the normal of a box's corner its diagonal, however the sides are cut.
                let p = positions[*v as usize];
                for k in 0..3 {
                    assert!((n[k] - p[k] * third).abs() < 1e-6, "{p:?}: {n:?}");
                }
            }
        }
    }

    #[test]
    fn triangles_without_area_have_normals_and_change_none() {
        let (topology, positions) = cube();
        let mut triangles = topology.triangles().to_vec();
        triangles.push([0, 0, 4]);
        triangles.push([0, 4, 4]);
        let more = Topology::new(8, triangles).expect("in range");
        let with = corner_normals(&more, &positions, DEFAULT_CREASE);
        assert_eq!(
            with[..12],
            corner_normals(&topology, &positions, DEFAULT_CREASE)
        );
        for n in with[12..].iter().flatten() {
            assert!(
                (n.iter().map(|c| c * c).sum::<f32>() - 1.0).abs() < 1e-6,
                "{n:?}"
            );
        }
        let point = Topology::new(1, vec![[0, 0, 0]]).expect("in range");
        assert_eq!(
            corner_normals(&point, &[[1.0; 3]], 1.0),
            [[[0.0, 1.0, 0.0]; 3]]
        );
    }
}
