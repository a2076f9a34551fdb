//! The mesh as the simplifier shall see it: vertices joined where nothing tells them apart, split at hard edges.

use super::super::faces::corners;
use super::super::vector::{Point, unit, wide};
use crate::vat::maker::groups::Groups;
use meshopt::SimplifyVertex;
use sinew_geom::vec3::{area_vector, dot, sub};
use sinew_geom::{Attribute, Mesh, WeldMap, index32};
use std::collections::HashMap;

/// Largest size of another frame, in sides of the box of the one that gives the unit.
const MOST_EXTENTS: f64 = 1e6;

/// A mesh of wedges: what the faces around a place share, unless a seam or a hard edge parts them.
pub(super) struct Wedges {
    /// Corners as wedges; faces of which two corners share a place are left out.
    pub(super) triangles: Vec<[u32; 3]>,
    /// Which place each wedge is at.
    pub(super) place: Vec<u32>,
    /// The same, where wedges have one number only if they are at one place in all frames.
    pub(super) spot: Vec<u32>,
    /// [`Self::triangles`] and those of which two corners share a place in this frame, but not in all.
    pub(super) seen: Vec<[u32; 3]>,
    /// Position of each wedge as the simplifier gets it: centred, the longest side of the box one.
    pub(super) positions: Vec<[f32; 3]>,
    /// Length of that side, metres.
    pub(super) extent: f64,
    /// Which wedges must keep their place in a seam.
    pub(super) locks: Vec<SimplifyVertex>,
    /// Places of each wedge in the other frames of a sequence as the simplifier gets them, three numbers a frame; empty of a single frame.
    pub(super) motion: Vec<f32>,
    /// Place of each wedge, metres.
    wide: Vec<Point>,
    /// The same in the other frames.
    poses: Vec<Vec<Point>>,
    /// `wedge count + 1` offsets into `members`.
    offsets: Vec<u32>,
    /// Vertices that a corner at the wedge may use, rising.
    members: Vec<u32>,
}

impl Wedges {
    /// `poses`: positions of the same vertices in other frames. Only vertices that are at one place in all of them are joined.
    pub(super) fn of(mesh: &Mesh, poses: &[&[[f32; 3]]], hard_edge_angle: Option<f32>) -> Self {
        let weld = WeldMap::by_position(&mesh.positions, 0.0);
        let joined = join(mesh, poses, &weld);
        let place = |v: u32| weld.class_of_vertex[v as usize];
        let proper = |t: &&[u32; 3]| {
            let [a, b, c] = t.map(place);
            a != b && b != c && c != a
        };
        let faces: Vec<[u32; 3]> = mesh
            .topology
            .triangles()
            .iter()
            .filter(proper)
            .copied()
            .collect();
        let triangles = faces
            .iter()
            .map(|t| t.map(|v| joined[v as usize]))
            .collect();
        let mut parts = Parts {
            triangles,
            joined_of_wedge: (0..joined.iter().max().map_or(0, |m| m + 1)).collect(),
            is_hard: Vec::new(),
        };
        if let Some(angle) = hard_edge_angle {
            let count = parts.joined_of_wedge.len();
            parts = split(mesh, &weld, &faces, parts, f64::from(angle).cos());
            parts.add_missing(count);
        }
        let mut out = Self::assemble(mesh, &weld, &joined, parts);
        out.move_along(poses);
        out.see_all_frames(mesh, poses, &weld, &joined);
        out
    }

    /// What hangs together in all frames: a piece that is a point in this one is none in another.
    fn see_all_frames(
        &mut self,
        mesh: &Mesh,
        poses: &[&[[f32; 3]]],
        weld: &WeldMap,
        joined: &[u32],
    ) {
        self.seen.clone_from(&self.triangles);
        self.spot.clone_from(&self.place);
        if poses.is_empty() {
            return;
        }
        // Of joined vertices that hard edges part any wedge will do: they are at one place.
        let mut wedge_of = vec![0; joined.len()];
        for w in (0..self.place.len()).rev() {
            if let Some(v) = self.members.get(self.offsets[w] as usize) {
                wedge_of[joined[*v as usize] as usize] = index32(w);
            }
        }
        let mut spots = weld.class_of_vertex.clone();
        for pose in poses {
            let there = WeldMap::by_position(pose, 0.0).class_of_vertex;
            refine(&mut spots, |v| there[v]);
        }
        let differs = |t: &[u32; 3], of: &[u32]| {
            let [a, b, c] = t.map(|v| of[v as usize]);
            a != b && b != c && c != a
        };
        let only_later = mesh.topology.triangles().iter();
        let only_later = only_later
            .filter(|t| !differs(t, &weld.class_of_vertex) && differs(t, &spots))
            .map(|t| t.map(|v| wedge_of[joined[v as usize] as usize]));
        self.seen.extend(only_later);
        let first = |w: usize| self.members.get(self.offsets[w] as usize).copied();
        let wedges = 0..self.place.len();
        self.spot = wedges
            .map(|w| spots[first(w).unwrap_or(0) as usize])
            .collect();
    }

    /// Where wedges are in other frames: each is where its first vertex is.
    fn move_along(&mut self, poses: &[&[[f32; 3]]]) {
        let first = |w: usize| self.members.get(self.offsets[w] as usize).copied();
        let wedges = 0..self.place.len();
        let sources: Vec<usize> = wedges.map(|w| first(w).unwrap_or(0) as usize).collect();
        let at = |pose: &&[[f32; 3]]| sources.iter().map(|v| wide(pose[*v])).collect();
        self.poses = poses.iter().map(at).collect();
        let in_units = self.poses.iter();
        let in_units: Vec<_> = in_units
            .map(|pose| in_extents(pose, &self.triangles, self.extent, MOST_EXTENTS))
            .collect();
        let rows = (0..sources.len()).flat_map(|w| in_units.iter().map(move |pose| pose[w]));
        self.motion = rows.flatten().collect();
    }

    fn assemble(mesh: &Mesh, weld: &WeldMap, joined: &[u32], parts: Parts) -> Self {
        let joined_count = joined.iter().max().map_or(0, |m| *m as usize + 1);
        let rows = rows(joined, joined_count);
        let mut offsets = vec![0];
        let mut members = Vec::new();
        let mut place = Vec::new();
        for &class in &parts.joined_of_wedge {
            let row = &rows.1[rows.0[class as usize] as usize..rows.0[class as usize + 1] as usize];
            // Classes are numbered by their vertices, so every row has one.
            place.push(row.first().map_or(0, |&v| weld.class_of_vertex[v as usize]));
            members.extend_from_slice(row);
            offsets.push(index32(members.len()));
        }
        let at = |p: &u32| wide(mesh.positions[weld.first_vertex[*p as usize] as usize]);
        let wide: Vec<Point> = place.iter().map(at).collect();
        let (positions, extent) = normalised(&wide, &parts.triangles);
        let lock = |hard: &bool| {
            if *hard {
                SimplifyVertex::Protect
            } else {
                SimplifyVertex::None
            }
        };
        Self {
            triangles: parts.triangles,
            locks: parts.is_hard.iter().map(lock).collect(),
            place,
            spot: Vec::new(),
            seen: Vec::new(),
            positions,
            extent,
            motion: Vec::new(),
            wide,
            poses: Vec::new(),
            offsets,
            members,
        }
    }

    /// The corners of a triangle, metres.
    pub(super) fn corners(&self, triangle: &[u32; 3]) -> [Point; 3] {
        triangle.map(|w| self.wide[w as usize])
    }

    /// The same in one of the frames: 0 is this one, others follow.
    pub(super) fn corners_in(&self, frame: usize, triangle: &[u32; 3]) -> [Point; 3] {
        match frame.checked_sub(1).and_then(|other| self.poses.get(other)) {
            Some(pose) => triangle.map(|w| pose[w as usize]),
            None => self.corners(triangle),
        }
    }

    /// The corners of triangles in each of the other frames, metres.
    pub(super) fn corners_in_poses<const N: usize>(
        &self,
        triangles: [[u32; 3]; N],
    ) -> impl Iterator<Item = [[Point; 3]; N]> + '_ {
        let poses = self.poses.iter();
        poses.map(move |pose| triangles.map(|t| t.map(|w| pose[w as usize])))
    }

    /// How many other frames there are.
    pub(super) fn pose_count(&self) -> usize {
        self.poses.len()
    }

    /// Triangles of vertices of the mesh, each corner the vertex of its wedge whose normal fits the face best.
    pub(super) fn vertices_of(&self, mesh: &Mesh, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
        let one = |t: &[u32; 3]| {
            let normal = area_vector(self.corners(t));
            t.map(|w| self.vertex_of(mesh, w, normal))
        };
        triangles.iter().map(one).collect()
    }

    fn vertex_of(&self, mesh: &Mesh, wedge: u32, face_normal: Point) -> u32 {
        let wedge = wedge as usize;
        let row = &self.members[self.offsets[wedge] as usize..self.offsets[wedge + 1] as usize];
        let first = row.first().copied().unwrap_or(0);
        let (Some(normals), true) = (&mesh.normals, row.len() > 1) else {
            return first;
        };
        let fit = |v: u32| dot(wide(normals[v as usize]), face_normal);
        row.iter()
            .fold(first, |best, &v| if fit(v) > fit(best) { v } else { best })
    }
}

/// Wedges while they are made.
struct Parts {
    triangles: Vec<[u32; 3]>,
    joined_of_wedge: Vec<u32>,
    /// Whether a hard edge ends at each wedge; empty where nobody asked.
    is_hard: Vec<bool>,
}

impl Parts {
    /// A wedge for each class of which no face has one: those of faces without area in this frame.
    fn add_missing(&mut self, classes: usize) {
        let mut is_there = vec![false; classes];
        for class in &self.joined_of_wedge {
            is_there[*class as usize] = true;
        }
        for class in (0..classes).filter(|c| !is_there[*c]) {
            self.joined_of_wedge.push(index32(class));
            self.is_hard.push(false);
        }
    }
}

/// Classes of vertices that share places, texture coordinates, colours and user attributes, numbered by first vertex.
fn join(mesh: &Mesh, poses: &[&[[f32; 3]]], weld: &WeldMap) -> Vec<u32> {
    let mut class = weld.class_of_vertex.clone();
    if weld.is_identity() {
        return class;
    }
    for pose in poses {
        let there = WeldMap::by_position(pose, 0.0).class_of_vertex;
        refine(&mut class, |v| there[v]);
    }
    mesh.uvs
        .iter()
        .for_each(|set| refine(&mut class, |v| set[v].map(f32::to_bits)));
    mesh.colors
        .iter()
        .for_each(|set| refine(&mut class, |v| set[v].map(f32::to_bits)));
    for attribute in mesh.attributes.values() {
        match attribute {
            Attribute::Scalar(a) => refine(&mut class, |v| a[v].to_bits()),
            Attribute::Vec2(a) => refine(&mut class, |v| a[v].map(f32::to_bits)),
            Attribute::Vec3(a) => refine(&mut class, |v| a[v].map(f32::to_bits)),
            Attribute::Vec4(a) => refine(&mut class, |v| a[v].map(f32::to_bits)),
        }
    }
    class
}

/// Parts classes whose vertices differ in `key`.
fn refine<K: std::hash::Hash + Eq>(class: &mut [u32], key: impl Fn(usize) -> K) {
    let mut seen = HashMap::with_capacity(class.len());
    for (v, class) in class.iter_mut().enumerate() {
        let next = index32(seen.len());
        *class = *seen.entry((*class, key(v))).or_insert(next);
    }
}

/// The members of each class, in compressed rows.
fn rows(class: &[u32], count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0_u32; count + 1];
    class.iter().for_each(|&c| offsets[c as usize + 1] += 1);
    for c in 0..count {
        offsets[c + 1] += offsets[c];
    }
    let mut cursor = offsets.clone();
    let mut members = vec![0; class.len()];
    for (v, &c) in class.iter().enumerate() {
        members[cursor[c as usize] as usize] = index32(v);
        cursor[c as usize] += 1;
    }
    (offsets, members)
}

/// Parts the corners around each place where hard edges lie between them.
fn split(mesh: &Mesh, weld: &WeldMap, faces: &[[u32; 3]], parts: Parts, least: f64) -> Parts {
    let normals: Vec<_> = faces
        .iter()
        .map(|t| unit(area_vector(corners(mesh, t))))
        .collect();
    let mut groups = Groups::new(index32(3 * faces.len()));
    let mut at_hard_edge = vec![false; weld.class_count()];
    for edge in edges(weld, faces).chunk_by(|a, b| a.ends == b.ends) {
        let known: Vec<Point> = edge
            .iter()
            .filter_map(|e| normals[e.low as usize / 3])
            .collect();
        if known.windows(2).any(|n| dot(n[0], n[1]) < least) {
            for place in edge[0].ends {
                at_hard_edge[place as usize] = true;
            }
            continue;
        }
        for pair in edge.windows(2) {
            groups.join(pair[0].low, pair[1].low);
            groups.join(pair[0].high, pair[1].high);
        }
    }
    number(weld, faces, parts.triangles, &at_hard_edge, &mut groups)
}

/// New wedges for the corners at hard edges, one for each group of them; elsewhere the wedges as they were.
fn number(
    weld: &WeldMap,
    faces: &[[u32; 3]],
    triangles: Vec<[u32; 3]>,
    at_hard_edge: &[bool],
    groups: &mut Groups,
) -> Parts {
    let mut seen = HashMap::new();
    let mut out = Parts {
        triangles,
        joined_of_wedge: Vec::new(),
        is_hard: Vec::new(),
    };
    for (corner, wedge) in out.triangles.iter_mut().flatten().enumerate() {
        let place = weld.class_of_vertex[faces[corner / 3][corner % 3] as usize];
        let hard = at_hard_edge[place as usize];
        let group = if hard {
            groups.find(index32(corner))
        } else {
            u32::MAX
        };
        let next = index32(out.joined_of_wedge.len());
        let class = *wedge;
        *wedge = *seen.entry((class, group)).or_insert(next);
        if *wedge == next {
            out.joined_of_wedge.push(class);
            out.is_hard.push(hard);
        }
    }
    out
}

/// An edge of a face: its places and the face's corners at them, lower place first.
struct EdgeUse {
    ends: [u32; 2],
    low: u32,
    high: u32,
}

fn edges(weld: &WeldMap, faces: &[[u32; 3]]) -> Vec<EdgeUse> {
    let mut uses = Vec::with_capacity(3 * faces.len());
    for (face, t) in faces.iter().enumerate() {
        for (k, next) in [(0, 1), (1, 2), (2, 0)] {
            let [a, b] = [t[k], t[next]].map(|v| weld.class_of_vertex[v as usize]);
            let [from, to] = [index32(3 * face + k), index32(3 * face + next)];
            let (ends, low, high) = if a < b {
                ([a, b], from, to)
            } else {
                ([b, a], to, from)
            };
            uses.push(EdgeUse { ends, low, high });
        }
    }
    uses.sort_unstable_by_key(|e| (e.ends, e.low));
    uses
}

/// Positions centred, with the longest side of the box of the used ones as unit: neither size nor distance from the
/// origin costs the simplifier any digits.
fn normalised(wide: &[Point], triangles: &[[u32; 3]]) -> (Vec<[f32; 3]>, f64) {
    let (low, high) = used_box(wide, triangles);
    let extent = (0..3).map(|c| high[c] - low[c]).fold(0.0, f64::max);
    // Only what no triangle uses is outside of the box, and may be anywhere.
    (in_extents(wide, triangles, extent, 2.0), extent)
}

/// Positions from the low corner of the box of the used ones, in units of `extent`, `most` at most.
fn in_extents(wide: &[Point], triangles: &[[u32; 3]], extent: f64, most: f64) -> Vec<[f32; 3]> {
    let low = used_box(wide, triangles).0;
    let per_extent = if extent > 0.0 { 1.0 / extent } else { 1.0 };
    let place = |p: &Point| sub(*p, low).map(|c| (c * per_extent).clamp(-1.0, most) as f32);
    wide.iter().map(place).collect()
}

fn used_box(wide: &[Point], triangles: &[[u32; 3]]) -> (Point, Point) {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for &w in triangles.iter().flatten() {
        for c in 0..3 {
            low[c] = low[c].min(wide[w as usize][c]);
            high[c] = high[c].max(wide[w as usize][c]);
        }
    }
    (low, high)
}
