//! One collapse for all frames of a sequence whose triangles stay the same, so that they stay the same.
//!
//! A collapse that is made for one frame is blind to all others: where cloth lies flat at first, every collapse costs nothing, and the folds
//! of later frames get no triangles. So a few frames over the whole sequence are looked at together. The shape of one is kept as always; the places
//! of the vertices in the others are attributes to be kept, three numbers a frame, with the same weight (quadrics of attributes: Hoppe 1999,
//! "New quadric metric for simplifying meshes with appearance attributes"). The error of a collapse is then the sum over the frames of how
//! far it moves what lies on the triangles, along the surface, too. Vertices are joined where all these frames have them at one place; an edge
//! is flipped where that is allowed in all of them.
//!
//! Vertices that are left are a subset of those that came in, in every frame.

use super::{Method, SimplifyReport, SimplifySettings, faces, kept_triangles, shape};
use crate::vat::maker::soft::{SoftError, is_same_surface, turned_over};
use serde::{Deserialize, Serialize};
use sinew_geom::{Mesh, Topology, index32};

/// Most frames that are looked at: the simplifier takes 32 attributes, and a frame is three.
const MOST_FRAMES: usize = 11;

/// Share of the largest area of a frame from which on one is not collapsed into itself.
const ENOUGH_AREA: f64 = 0.5;

/// The frames that a collapse is made from: at most eleven, evenly over a sequence, the first and the last among them.
pub(crate) fn shared_frames(count: usize) -> Vec<usize> {
    let taken = count.min(MOST_FRAMES);
    let steps = taken.saturating_sub(1).max(1);
    let at = |i: usize| i * count.saturating_sub(1) / steps;
    (0..taken).map(at).collect()
}

/// Which triangles are left of those of every frame of a sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SharedCollapse {
    vertices: u32,
    source: Vec<[u32; 3]>,
    /// Of vertices of the source; nothing: all of it.
    kept: Option<Vec<[u32; 3]>>,
    report: SimplifyReport,
}

impl SharedCollapse {
    /// From frames with the same vertices and triangles, best those of [`shared_frames`]; frames behind the eleventh count for nothing.
    ///
    /// # Errors
    /// [`SoftError`] of the first frame that has others than the first one, and its index.
    ///
    /// # Cost
    /// At most three runs of the simplifier, each about twice the cost of one with a single frame, and a third more for each further one. One thread.
    pub(crate) fn new(
        frames: &[Mesh],
        settings: &SimplifySettings,
    ) -> Result<Self, (usize, SoftError)> {
        let empty = Mesh::new("", Topology::default(), Vec::new());
        let first = frames.first().unwrap_or(&empty);
        let mut out = Self {
            vertices: index32(first.topology.vertex_count()),
            source: first.topology.triangles().to_vec(),
            kept: None,
            report: SimplifyReport {
                target_faces: settings.target_faces,
                ..SimplifyReport::default()
            },
        };
        for (i, frame) in frames.iter().enumerate() {
            out.check(frame).map_err(|fault| (i, fault))?;
        }
        if out.source.len() > settings.target_faces {
            let frames = &frames[..frames.len().min(MOST_FRAMES)];
            let base = base_of(frames);
            let others = (0..frames.len()).filter(|i| *i != base);
            let poses: Vec<&[[f32; 3]]> = others.map(|i| &frames[i].positions[..]).collect();
            let kept = kept_triangles(&frames[base], &poses, settings, &mut out.report);
            out.kept = Some(kept);
        }
        Ok(out)
    }

    /// Whether a frame has the same vertices, and the same triangles or others that cut the same surface in another way.
    ///
    /// # Errors
    /// [`SoftError`] says what differs.
    pub(crate) fn check(&self, frame: &Mesh) -> Result<(), SoftError> {
        let found = &*frame.topology;
        if found.vertex_count() != self.vertices as usize {
            return Err(SoftError::Vertices {
                found: frame.vertex_count(),
                expected: self.vertices as usize,
            });
        }
        let pairs = found.triangles().iter().zip(&self.source);
        let first_other = pairs.into_iter().position(|(a, b)| a != b);
        if first_other.is_none() && found.triangles().len() == self.source.len() {
            return Ok(());
        }
        let source = Topology::new(self.vertices, self.source.clone());
        match source.is_ok_and(|source| is_same_surface(&source, found)) {
            true => Ok(()),
            false => Err(match turned_over(&self.source, found.triangles()) {
                Some(triangle) => SoftError::TurnedOver { triangle },
                None => SoftError::Triangle {
                    triangle: first_other.unwrap_or(self.source.len().min(found.triangles().len())),
                },
            }),
        }
    }

    /// Simplifies a frame that fits; one that does not stays as it is, and the report says [`Method::Unchanged`].
    pub(crate) fn apply(&self, mesh: &mut Mesh) -> SimplifyReport {
        let (faces_before, shape_before) = (mesh.topology.triangles().len(), shape(mesh));
        let fits = mesh.topology.vertex_count() == self.vertices as usize;
        let Some(kept) = self.kept.as_ref().filter(|_| fits) else {
            return SimplifyReport {
                target_faces: self.report.target_faces,
                faces_before,
                faces_after: faces_before,
                method: Method::Unchanged,
                shape_before,
                shape_simplified: shape_before,
                shape_after: shape_before,
                ..SimplifyReport::default()
            };
        };
        *mesh = faces::with_triangles(mesh, kept);
        SimplifyReport {
            faces_before,
            faces_after: kept.len(),
            shape_before,
            shape_after: shape(mesh),
            ..self.report.clone()
        }
    }
}

/// The first frame that is not collapsed into itself, as what grows out of a point is at first.
fn base_of(frames: &[Mesh]) -> usize {
    let areas: Vec<f64> = frames.iter().map(area).collect();
    let largest = areas.iter().copied().fold(0.0, f64::max);
    let enough = |a: &f64| *a >= ENOUGH_AREA * largest;
    areas.iter().position(enough).unwrap_or(0)
}

fn area(mesh: &Mesh) -> f64 {
    use sinew_geom::vec3::{area_vector, length};
    let triangles = mesh.topology.triangles().iter();
    triangles
        .map(|t| length(area_vector(faces::corners(mesh, t))))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_testkit::meshes::mesh_from;

    #[test]
    fn frames_to_look_at_are_even_and_have_both_ends() {
        assert!(shared_frames(0).is_empty());
        assert_eq!(shared_frames(1), [0]);
        assert_eq!(shared_frames(3), [0, 1, 2]);
        assert_eq!(shared_frames(11), (0..11).collect::<Vec<_>>());
        let many = shared_frames(1001);
        assert_eq!((many.len(), many[0], many[10]), (11, 0, 1000));
        assert!(many.windows(2).all(|w| w[1] - w[0] == 100));
    }

    const SIDE: u32 = 12;

    /// Two squares beside each other, each with vertices of its own at the line where they meet, `gap` apart there.
    fn squares(gap: f32) -> Mesh {
        let mut positions = Vec::new();
        let mut triangles = Vec::new();
        for half in 0..2_u32 {
            let base = half * SIDE * SIDE;
            for v in 0..SIDE * SIDE {
                let (x, y) = (v / SIDE, v % SIDE);
                let side = (SIDE - 1) as f32;
                positions.push([
                    x as f32 / side + half as f32 * (1.0 + gap),
                    y as f32 / side,
                    0.0,
                ]);
                if x + 1 < SIDE && y + 1 < SIDE {
                    let v = base + v;
                    triangles.push([v, v + SIDE, v + SIDE + 1]);
                    triangles.push([v, v + SIDE + 1, v + 1]);
                }
            }
        }
        mesh_from("", positions, triangles)
    }

    fn to(target_faces: usize) -> SimplifySettings {
        SimplifySettings {
            target_faces,
            ..SimplifySettings::default()
        }
    }

    #[test]
    fn what_parts_later_is_not_joined() {
        let frames = [squares(0.0), squares(0.5)];
        let shared = SharedCollapse::new(&frames, &to(40)).expect("like each other");
        let mut last = frames[1].clone();
        let report = shared.apply(&mut last);
        assert!(report.faces_after <= 40 && report.faces_after > 4);
        assert_eq!(report.faces_before, frames[1].topology.triangles().len());
        for t in last.topology.triangles() {
            let xs = t.map(|v| last.positions[v as usize][0]);
            let sides = xs.map(|x| x > 1.25);
            assert!(
                sides.iter().all(|s| *s == sides[0]),
                "a triangle over the gap: {xs:?}"
            );
        }
        // Both squares are still whole.
        let area_left = area(&last) / 2.0;
        assert!((area_left - 2.0).abs() < 1e-5, "{area_left}");
    }

    #[test]
    fn what_grows_out_of_a_point_keeps_its_shape() {
        let whole = squares(0.0);
        let point = Mesh {
            positions: vec![[0.5; 3]; whole.vertex_count()],
            ..whole.clone()
        };
        let shared = SharedCollapse::new(&[point, whole.clone()], &to(60)).expect("alike");
        let mut last = whole;
        let report = shared.apply(&mut last);
        assert!(report.faces_after > 8 && (area(&last) / 2.0 - 2.0).abs() < 1e-5);
    }

    #[test]
    fn frames_with_others_are_refused_and_few_faces_stay() {
        let (whole, mut fewer) = (squares(0.0), squares(0.0));
        let triangles = whole.topology.triangles()[1..].to_vec();
        fewer.topology = Topology::new(2 * SIDE * SIDE, triangles)
            .expect("in range")
            .into();
        let made = SharedCollapse::new(&[whole.clone(), fewer], &to(10));
        assert_eq!(made, Err((1, SoftError::Triangle { triangle: 0 })));
        // A quad along its other diagonal is the same surface.
        let mut triangles = whole.topology.triangles().to_vec();
        let ([a, b, c], [_, _, d]) = (triangles[0], triangles[1]);
        (triangles[0], triangles[1]) = ([a, b, d], [b, c, d]);
        let mut retriangulated = whole.clone();
        retriangulated.topology = Topology::new(2 * SIDE * SIDE, triangles)
            .expect("in range")
            .into();
        let shared =
            SharedCollapse::new(&[whole.clone(), retriangulated], &to(10_000)).expect("alike");
        let mut same = whole.clone();
        assert_eq!(shared.apply(&mut same).method, Method::Unchanged);
        assert_eq!(same.positions, whole.positions);
        assert_eq!(same.topology, whole.topology);
    }
}
