//! Bakes of cloth that tears: triangles stay the same, vertices are split.

use super::job::VatJob;
use super::plan::VatPlan;
use super::records::{CARRIERS, ScanRecord};
use super::scan::{mesh_of, missing};
use super::settings::{Mode, VatSettings};
use crate::{BakeError, Watch};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sinew_geom::{Mesh, Topology};
use sinew_vat::soft::{SoftCarrier, SoftError, triangles_like_first};
use sinew_vat::tearing::{CornerClasses, KeptEdges, SharedEdges};
use sinew_vat::texture::Extent;

/// What was found of cloth that tears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TearPlan {
    /// Vertices of which the first frame has one, and the carrier two or more.
    pub split_vertices: u32,
}

impl TearPlan {
    /// For people.
    pub(crate) fn words(self) -> String {
        format!("cloth that tears: {} vertices split", self.split_vertices)
    }
}

/// Whether it may turn out that a sequence is cloth that tears.
pub(crate) fn may_tear(settings: &VatSettings) -> bool {
    matches!(settings.mode, None | Some(Mode::Soft))
}

/// Of a frame with other triangles than the first one, how many edges both have and how far corners are from the first frame, where it may be
/// one of cloth that tears.
pub(crate) fn tears_of(first: &Mesh, mesh: &Mesh) -> Option<(KeptEdges, Option<Extent>)> {
    let topology = triangles_like_first(&first.topology, &mesh.topology).ok()?;
    let edges = SharedEdges::new(&first.topology).compared_with(&SharedEdges::new(&topology));
    let offset = || offsets_of_corners(first, &topology, &mesh.positions);
    edges.is_tearing().then(|| (edges, offset()))
}

/// Whether scans are of cloth that tears: no frame has other triangles, one at least has other vertices. Who asks for mode soft
/// gets cloth in shreds, too.
pub(crate) fn is_torn(scans: &[ScanRecord], is_asked: bool) -> bool {
    let is_torn = |edges: &KeptEdges| match is_asked {
        true => edges.is_tearing(),
        false => edges.is_surely_tearing(),
    };
    let fits = |s: &ScanRecord| s.is_first_surface || s.edges.as_ref().is_some_and(is_torn);
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
    let mut out = Extent {
        least: vec![f32::MAX; 3],
        most: vec![f32::MIN; 3],
    };
    for (now, rest) in now.iter().zip(&rest) {
        for k in 0..3 {
            out.least[k] = out.least[k].min(now[k] - rest[k]);
            out.most[k] = out.most[k].max(now[k] - rest[k]);
        }
    }
    Some(out)
}

/// Finds the finest split of all frames and keeps it for the steps behind. As many frames as there are threads are in memory.
pub(crate) fn plan_tears(
    job: &VatJob,
    first: &Mesh,
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
        TearPlan { split_vertices },
    ))
}

/// The carrier of a plan of mode soft.
pub(crate) fn soft_carrier(
    job: &VatJob,
    plan: &VatPlan,
    first: &Mesh,
) -> Result<SoftCarrier, BakeError> {
    if plan.tears.is_none() {
        let middles = plan.recut.as_ref().map_or(&[][..], |r| &r.middles[..]);
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
