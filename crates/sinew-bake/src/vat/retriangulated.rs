//! Frames that cut the surface of the first one into other triangles: which quads get a vertex in their middle, and how far the carrier is from the others.

use super::job::VatJob;
use super::job::mesh_of;
use super::plan::RetriangulatedPlan;
use super::plan::bounds_of;
use super::records::RetriangulatedScan;
use super::records::ScanRecord;
use super::settings::Mode;
use crate::vat::maker::middles::{Middles, Quad, quads_of};
use crate::vat::maker::retriangulated::{Retriangulated, surface_gap};
use crate::vat::maker::soft::triangles_like_first;
use crate::{BakeError, Watch};
use rayon::prelude::*;
use sinew_geom::vec3::{length, sub};
use sinew_geom::{Mesh, Topology, index32};
use std::collections::{BTreeMap, HashSet};

/// Share of the diagonal of the box that surfaces may be off where nothing else is asked for: little beside what 16 bits lose.
const TOLERANCE: f64 = 2e-5;

/// The same where nobody asked for triangles that stay the same: about a pixel where the box fills a screen. Beyond it loose triangles, which are exact,
/// are the better choice.
const UNASKED: f64 = 1e-3;

/// What a frame cuts otherwise; nothing where its triangles are those of the first one, or of another surface. Of cloth that tears quads
/// count as other triangles.
pub(crate) fn retriangulated_of(
    first: &Mesh,
    mesh: &Mesh,
    is_first_surface: bool,
) -> Option<RetriangulatedScan> {
    let shown = match is_first_surface {
        true => std::borrow::Cow::Borrowed(&*first.topology),
        false => triangles_like_first(&first.topology, &mesh.topology).ok()?,
    };
    if shown.triangles() == mesh.topology.triangles() {
        return None;
    }
    let (mut quads, mut rest) = quads_of(&shown, &mesh.topology);
    if !is_first_surface {
        let found = std::mem::take(&mut quads);
        rest.shown.extend(found.iter().flat_map(|q| q.triangles));
        let known: HashSet<u32> = rest.own.iter().copied().collect();
        let retriangulated = Retriangulated::between(shown.triangles(), mesh.topology.triangles());
        rest.own.extend(
            retriangulated
                .own
                .into_iter()
                .filter(|t| !known.contains(t)),
        );
    }
    if quads.is_empty() && rest.is_empty() {
        return None;
    }
    let corners = |topology: &Topology, chosen: &[u32]| {
        let chosen = chosen.iter().map(|t| topology.triangles()[*t as usize]);
        chosen
            .map(|t| t.map(|v| mesh.positions[v as usize]))
            .collect::<Vec<_>>()
    };
    let gap = |quad: &Quad| {
        let halves = |is_other| {
            quad.halves(is_other)
                .map(|h| h.map(|v| mesh.positions[v as usize]))
        };
        surface_gap(&halves(false), &halves(true))
    };
    Some(RetriangulatedScan {
        others: index32(rest.own.len()),
        off: surface_gap(
            &corners(&shown, &rest.shown),
            &corners(&mesh.topology, &rest.own),
        ),
        quads: quads.iter().map(|q| (*q, gap(q))).collect(),
    })
}

/// Decides which quads get a vertex in their middle: in mode soft, where vertices are not split along tears, all those that are farther off than the tolerance.
fn plan_retriangulated(
    job: &VatJob,
    (mode, is_torn): (Mode, bool),
    scans: &[ScanRecord],
) -> Option<RetriangulatedPlan> {
    let is_shown = |s: &ScanRecord| {
        if is_torn {
            s.retriangulated.is_some()
        } else {
            s.is_first_surface && s.retriangulated.is_some()
        }
    };
    let (low, high) = bounds_of(scans);
    let diagonal = length(sub(high, low).map(f64::from));
    let tolerance = job
        .settings()
        .retriangulate_tolerance
        .map_or(TOLERANCE * diagonal, f64::from);
    let mut found = RetriangulatedPlan {
        frames: scans.iter().filter(|s| is_shown(s)).count(),
        quads: 0,
        middles: Vec::new(),
        off: 0.0,
        worst: job.number(0),
        tolerance,
        unasked: tolerance.max(UNASKED * diagonal),
    };
    if found.frames == 0 {
        return None;
    }
    let mut all: BTreeMap<[u32; 2], (Quad, f64, usize)> = BTreeMap::new();
    for (frame, scan) in scans.iter().enumerate() {
        let Some(retriangulated) = scan.retriangulated.as_ref().filter(|_| is_shown(scan)) else {
            continue;
        };
        found.take(retriangulated.off, job.number(frame));
        for (quad, gap) in &retriangulated.quads {
            let known = all.entry(quad.triangles).or_insert((*quad, 0.0, frame));
            if *gap > known.1 {
                (known.1, known.2) = (*gap, frame);
            }
        }
    }
    found.quads = index32(all.len());
    let mut farthest_first: Vec<_> = all.into_values().collect();
    farthest_first.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.triangles.cmp(&b.0.triangles)));
    let mut taken = HashSet::new();
    for (quad, gap, frame) in farthest_first {
        let is_wanted = mode == Mode::Soft && !is_torn && gap > tolerance;
        // Faces of more corners may give other pairs in other frames.
        if is_wanted && quad.triangles.iter().all(|t| !taken.contains(t)) {
            taken.extend(quad.triangles);
            found.middles.push(quad);
        } else {
            found.take(gap, job.number(frame));
        }
    }
    found.middles.sort_unstable_by_key(|q| q.triangles);
    Some(found)
}

/// [`plan_retriangulated`], with the distance as it is where it is more than the tolerance: quads that overlap, or lie beside others, have been measured one by one,
/// which is too far. As many frames as there are threads are in memory.
pub(crate) fn measured_retriangulated(
    job: &VatJob,
    kind: (Mode, bool),
    scans: &[ScanRecord],
    watch: &Watch<'_>,
) -> Result<Option<RetriangulatedPlan>, BakeError> {
    let planned = plan_retriangulated(job, kind, scans);
    let Some(mut plan) = planned else {
        return Ok(None);
    };
    if !plan.is_beyond() {
        return Ok(Some(plan));
    }
    let first = mesh_of(job, 0)?;
    let middles = Middles::new(&first.topology, plan.middles.clone());
    let frames = scans.iter().enumerate();
    let frames: Vec<usize> = frames
        .filter_map(|(f, s)| s.retriangulated.as_ref().map(|_| f))
        .collect();
    let stage = watch.stage("surfaces", frames.len());
    (plan.off, plan.worst) = (0.0, job.number(frames.first().copied().unwrap_or(0)));
    for batch in frames.chunks(rayon::current_num_threads()) {
        let gap = |frame: &usize| {
            stage.go_on()?;
            let mesh = mesh_of(job, *frame)?;
            let off = match kind.1 {
                true => gap_of_torn(&first, &mesh),
                false => gap_between(&middles.refine(&mesh), &mesh),
            };
            stage.step();
            Ok((off, *frame))
        };
        let found: Vec<_> = batch
            .par_iter()
            .map(gap)
            .collect::<Result<_, BakeError>>()?;
        found
            .iter()
            .for_each(|(off, frame)| plan.take(*off, job.number(*frame)));
    }
    Ok(Some(plan))
}

/// The same of a frame of cloth that tears, whose numbers are its own.
fn gap_of_torn(first: &Mesh, mesh: &Mesh) -> f64 {
    match triangles_like_first(&first.topology, &mesh.topology) {
        Err(_) => 0.0,
        Ok(topology) => {
            let shown = Mesh::new("", topology.into_owned(), mesh.positions.clone());
            gap_between(&shown, mesh)
        }
    }
}

/// How far two surfaces are from each other where their triangles differ; numbers of vertices mean the same in both.
fn gap_between(shown: &Mesh, own: &Mesh) -> f64 {
    let (ours, theirs) = (shown.topology.triangles(), own.topology.triangles());
    let retriangulated = Retriangulated::between(ours, theirs);
    let corners = |mesh: &Mesh, chosen: &[u32]| {
        let triangles = mesh.topology.triangles();
        let chosen = chosen.iter().map(|t| triangles[*t as usize]);
        let places = chosen.map(|t| t.map(|v| mesh.positions[v as usize]));
        places.collect::<Vec<_>>()
    };
    surface_gap(
        &corners(shown, &retriangulated.shown),
        &corners(own, &retriangulated.own),
    )
}

impl RetriangulatedPlan {
    fn take(&mut self, off: f64, number: i64) {
        if off > self.off {
            (self.off, self.worst) = (off, number);
        }
    }
}
