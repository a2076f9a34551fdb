//! Bakes of cloth that tears: triangles stay the same, vertices are split.

use super::job::VatJob;
use super::job::{mesh_of, missing};
use super::plan::Planned;
use super::plan::TearPlan;
use super::records::{CARRIERS, ScanRecord};
use super::settings::{Mode, VatSettings};
use crate::vat::maker::matching::{Triangles, numbers_mean_the_same};
use crate::vat::maker::soft::{SoftCarrier, SoftError, triangles_like_first};
use crate::vat::maker::tearing::{CornerClasses, KeptEdges, SharedEdges};
use crate::{BakeError, Watch};
use rayon::prelude::*;
use sinew_geom::vec3::sub;
use sinew_geom::{Mesh, Topology};
use sinew_vat::texture::Extent;

/// Whether it may turn out that a sequence is cloth that tears.
pub(crate) fn may_tear(settings: &VatSettings) -> bool {
    settings.may_be(Mode::Soft)
}

/// What was seen of a frame whose triangles have other vertices than those of the first one.
pub(crate) struct Tears {
    /// How many edges both have.
    pub(crate) edges: KeptEdges,
    /// How far corners are from the first frame.
    pub(crate) offset: Option<Extent>,
    /// Whether corners have the same points of the file.
    pub(crate) keeps_points: bool,
}

/// Of a frame with other triangles than the first one, where it may be one of cloth that tears, or has the first one's triangles with other vertices split.
pub(crate) fn tears_of(first: &Mesh, mesh: &Mesh) -> Option<Tears> {
    let topology = triangles_like_first(&first.topology, &mesh.topology).ok()?;
    let corners = [
        points_of(first, &first.topology),
        points_of(mesh, &topology),
    ];
    let keeps_points = keeps_points((first, &corners[0]), (mesh, &corners[1]));
    // Faces whose vertices are all split have no edge in common, though their points do.
    let [before, now] = &corners.map(|triangles| {
        let count = triangles.iter().flatten().max().map_or(0, |p| p + 1);
        SharedEdges::new(&Topology::new(count, triangles).unwrap_or_default())
    });
    let edges = before.compared_with(now);
    (keeps_points || edges.is_tearing()).then(|| Tears {
        edges,
        offset: offsets_of_corners(first, &topology, &mesh.positions),
        keeps_points,
    })
}

/// The points of the file at the corners of a frame's triangles, which are those of `topology`.
fn points_of(mesh: &Mesh, topology: &Topology) -> Vec<[u32; 3]> {
    let triangles = topology.triangles().iter();
    triangles.map(|t| t.map(|v| mesh.point_of(v))).collect()
}

/// Whether the triangles of two frames have the same points of their files at their corners, though not the same vertices.
fn keeps_points((first, there): (&Mesh, &[[u32; 3]]), (mesh, here): (&Mesh, &[[u32; 3]])) -> bool {
    let is_split = !(first.points.is_empty() && mesh.points.is_empty());
    if !is_split || there.is_empty() || there != here {
        return false;
    }
    let count = here.iter().flatten().max().map_or(0, |p| *p as usize + 1);
    let places = |mesh: &Mesh| {
        let mut out = vec![[0.0; 3]; count];
        for (v, place) in (0..).zip(&mesh.positions) {
            if let Some(point) = out.get_mut(mesh.point_of(v) as usize) {
                *point = *place;
            }
        }
        out
    };
    let (before, now) = (places(first), places(mesh));
    fn of<'a>(points: &'a [[f32; 3]], triangles: &'a [[u32; 3]]) -> Triangles<'a> {
        Triangles {
            points,
            triangles,
            motion: None,
        }
    }
    numbers_mean_the_same(&of(&before, there), &of(&now, here))
}

/// Whether scans are of cloth that tears, or of triangles with other vertices split: no frame has other triangles, one at least has other
/// vertices. Who asks for mode soft gets cloth in shreds, too.
pub(crate) fn is_torn(scans: &[ScanRecord], is_asked: bool) -> bool {
    let is_torn = |edges: &KeptEdges| match is_asked {
        true => edges.is_tearing(),
        false => edges.is_surely_tearing(),
    };
    let fits = |s: &ScanRecord| {
        s.is_first_surface || s.keeps_points || s.edges.as_ref().is_some_and(is_torn)
    };
    scans.iter().all(fits) && scans.iter().any(|s| !s.is_first_surface)
}

/// How far corners are from where they are in the first frame, metres.
fn offsets_of_corners(first: &Mesh, topology: &Topology, positions: &[[f32; 3]]) -> Option<Extent> {
    let corners = |topology: &Topology, positions: &[[f32; 3]]| {
        let corners = topology.triangles().iter().flatten();
        let places = corners.map(|v| positions[*v as usize]);
        places.collect::<Vec<_>>()
    };
    let rest = corners(&first.topology, &first.positions);
    let now = corners(topology, positions);
    if rest.is_empty() {
        return None;
    }
    let mut out = Extent::nothing(3);
    for (now, rest) in now.iter().zip(&rest) {
        out.take(sub(*now, *rest));
    }
    Some(out)
}

/// Finds the finest split of all frames and keeps it for the steps behind. As many frames as there are threads are in memory.
pub(crate) fn plan_tears(
    job: &VatJob,
    first: &Mesh,
    scans: &[ScanRecord],
    watch: &Watch<'_>,
) -> Result<(SoftCarrier, TearPlan), BakeError> {
    let crease = job.settings().crease();
    let stage = watch.stage("tears", job.frame_count());
    let classes = |frame: usize| {
        stage.go_on()?;
        let found = SoftCarrier::corner_classes(first, &mesh_of(job, frame)?, crease);
        stage.step();
        found.map_err(|source| not_soft(job, frame, source))
    };
    let whole = classes(0)?;
    let mut finest = whole.clone();
    let frames: Vec<usize> = (1..job.frame_count()).collect();
    for batch in frames.chunks(rayon::current_num_threads()) {
        let found: Vec<CornerClasses> = batch
            .par_iter()
            .map(|frame| classes(*frame))
            .collect::<Result<_, BakeError>>()?;
        finest = found.iter().fold(finest, |all, one| all.refined_by(one));
    }
    let split_vertices = whole.split_in(&finest);
    let triangles = finest.triangles().to_vec();
    job.work.write(CARRIERS, 0, &job.key, &triangles)?;
    Ok((
        carrier(job, first, &triangles)?,
        TearPlan {
            split_vertices,
            are_edges: scans.iter().all(|s| s.is_first_surface || s.keeps_points),
        },
    ))
}

/// The carrier of a plan of mode soft.
pub(crate) fn soft_carrier(of: Planned<'_>, first: &Mesh) -> Result<SoftCarrier, BakeError> {
    let Planned { job, plan } = of;
    if plan.tears().is_none() {
        let middles = plan.retriangulated().map_or(&[][..], |r| &r.middles[..]);
        let crease = job.settings().crease();
        return Ok(SoftCarrier::with_middles(first, crease, middles));
    }
    let triangles: Option<Vec<[u32; 3]>> = job.work.read(CARRIERS, 0, &job.key)?;
    let triangles = triangles.ok_or_else(|| missing(job, &[0], "vertices of a carrier", "plan"))?;
    carrier(job, first, &triangles)
}

fn carrier(job: &VatJob, first: &Mesh, triangles: &[[u32; 3]]) -> Result<SoftCarrier, BakeError> {
    let made = SoftCarrier::tearing(first, job.settings().crease(), triangles);
    made.map_err(|source| not_soft(job, 0, source))
}

/// A frame is not one of the sequence.
pub(crate) fn not_soft(job: &VatJob, frame: usize, source: SoftError) -> BakeError {
    let number = job.number(frame);
    BakeError::NotSoft { number, source }
}
