//! What is done to frames before anything is looked at: each by itself, or where triangles stay the same, simplified by one collapse for all.

use super::mode;
use super::records::{COLLAPSES, LostPieces};
use super::scan::{is_points, triangles_of};
use super::settings::VatSettings;
use super::{VatJob, Verified, read_manifest};
use crate::vat::maker::matching::{SurfaceDistance, numbers_mean_the_same, surface_deviation};
use crate::vat::maker::prepare::simplify::{SharedCollapse, SimplifyReport, shared_frames};
use crate::vat::maker::prepare::{PrepareReport, PrepareSettings, prepare};
use crate::vat::maker::rigid::Pieces;
use crate::{BakeError, FrameRange, FrameSource, LoadOrder, LoadedFrame, Watch};
use rayon::prelude::*;
use sinew_geom::{Mesh, index32};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// How frames of a bake are prepared.
#[derive(Clone, Debug)]
pub(crate) struct Preparation<'a> {
    settings: &'a VatSettings,
    /// Where frames are simplified by one collapse.
    shared: Option<SharedCollapse>,
}

/// A frame behind its preparation.
pub(crate) struct Prepared {
    pub(crate) mesh: Mesh,
    pub(crate) report: PrepareReport,
    /// What was simplified, where that moved anything.
    simplified_from: Option<Mesh>,
    simplified: Option<Mesh>,
    /// Whether simplification changed it without regard for other frames.
    pub(crate) is_simplified_by_itself: bool,
}

impl Prepared {
    /// How far simplification moved the surface, both ways.
    pub(crate) fn deviation(&self) -> Option<SurfaceDistance> {
        let (from, to) = (self.simplified_from.as_ref()?, self.simplified.as_ref());
        Some(surface_deviation(from, to.unwrap_or(&self.mesh)))
    }

    /// How many pieces (of triangles that are connected) the frame had before simplification, and of how many of them nothing is left. Those without an
    /// area count for nothing: nobody sees them.
    pub(crate) fn lost_pieces(&self) -> Option<LostPieces> {
        let from = self.simplified_from.as_ref()?;
        let pieces = Pieces::connected(from);
        let left = self.simplified.as_ref().unwrap_or(&self.mesh);
        let bits = |p: [f32; 3]| p.map(|c| (c + 0.0).to_bits());
        // Simplification keeps some of the vertices, where they are.
        let left: HashSet<[u32; 3]> = corners_of(left).into_iter().flatten().map(bits).collect();
        let mut found = BTreeMap::new();
        for t in from.topology.triangles() {
            let places = t.map(|v| from.positions[v as usize]);
            let (is_seen, is_left) = found
                .entry(pieces.of_vertex(t[0] as usize))
                .or_insert((false, false));
            *is_seen |= has_area(places);
            *is_left |= places.into_iter().any(|p| left.contains(&bits(p)));
        }
        let seen = found.values().filter(|(is_seen, _)| *is_seen);
        let is_left: Vec<bool> = seen.map(|(_, is_left)| *is_left).collect();
        let lost = is_left.iter().filter(|is_left| !**is_left).count();
        Some(LostPieces {
            before: index32(is_left.len()),
            lost: index32(lost),
        })
    }
}

impl<'a> Preparation<'a> {
    /// For frames of a source: looks at some of them where one collapse may be for all.
    ///
    /// # Errors
    /// [`BakeError::NotSimplified`] where the mode needs one collapse and triangles change.
    pub(crate) fn new(
        source: &dyn FrameSource,
        settings: &'a VatSettings,
    ) -> Result<Self, BakeError> {
        let shared = match may_share(settings) {
            true => shared_of(source, settings)?,
            false => None,
        };
        Ok(Self { settings, shared })
    }

    /// The same for a job: the collapse is kept in its work folder, since all chunks need it.
    pub(crate) fn of_job(job: &'a VatJob, source: &dyn FrameSource) -> Result<Self, BakeError> {
        let settings = job.settings();
        if !may_share(settings) {
            let shared = None;
            return Ok(Self { settings, shared });
        }
        if let Some(shared) = job.work.read(COLLAPSES, 0, &job.key)? {
            return Ok(Self { settings, shared });
        }
        let shared = shared_of(source, settings)?;
        job.work.write(COLLAPSES, 0, &job.key, &shared)?;
        Ok(Self { settings, shared })
    }

    /// Whether frames of a job were simplified by one collapse.
    pub(crate) fn is_shared(job: &VatJob) -> Result<bool, BakeError> {
        if !may_share(job.settings()) {
            return Ok(false);
        }
        let kept: Option<Option<SharedCollapse>> = job.work.read(COLLAPSES, 0, &job.key)?;
        Ok(kept.flatten().is_some())
    }

    /// Prepares a frame.
    ///
    /// # Errors
    /// [`BakeError::Prepare`]; [`BakeError::NotSimplified`] where one collapse is for all frames and this one has other triangles.
    pub(crate) fn prepare(&self, mesh: &Mesh, number: i64) -> Result<Prepared, BakeError> {
        let fault = |source| BakeError::Prepare { number, source };
        let settings = &self.settings.prepare;
        if is_points(mesh, self.settings) {
            // Points are taken as they are: no step is for them.
            let (mesh, report) = prepare(mesh, &PrepareSettings::default()).map_err(fault)?;
            return Ok(Prepared::as_it_is(mesh, report));
        }
        if settings.simplify.is_none() {
            let (mesh, report) = prepare(mesh, settings).map_err(fault)?;
            return Ok(Prepared::as_it_is(mesh, report));
        }
        let (from, mut report) = prepare(mesh, &before(settings)).map_err(fault)?;
        let mut mesh = from.clone();
        let simplified = match &self.shared {
            Some(shared) => {
                let fits = shared.check(&from);
                fits.map_err(|source| BakeError::NotSimplified { number, source })?;
                shared.apply(&mut mesh)
            }
            None => self.simplify_alone(&mut mesh).map_err(fault)?,
        };
        // One collapse for all frames cuts all of them in one way, even where it takes no face away.
        let is_changed = mesh.topology.triangles() != from.topology.triangles();
        report.simplify = Some(simplified);
        let after = after(settings);
        let is_relaxed = after.relax_after.is_some();
        let simplified = (is_relaxed && is_changed).then(|| mesh.clone());
        if is_relaxed {
            let (relaxed, of_relaxing) = prepare(&mesh, &after).map_err(fault)?;
            (mesh, report.relax_after) = (relaxed, of_relaxing.relax_after);
        }
        report.faces_after = mesh.topology.triangles().len();
        report.vertices_after = mesh.vertex_count();
        Ok(Prepared {
            mesh,
            report,
            simplified_from: is_changed.then_some(from),
            simplified,
            is_simplified_by_itself: is_changed && self.shared.is_none(),
        })
    }

    fn simplify_alone(
        &self,
        mesh: &mut Mesh,
    ) -> Result<SimplifyReport, crate::vat::maker::prepare::PrepareError> {
        let only = PrepareSettings {
            simplify: self.settings.prepare.simplify.clone(),
            ..PrepareSettings::default()
        };
        let (simplified, report) = prepare(mesh, &only)?;
        *mesh = simplified;
        Ok(report.simplify.unwrap_or_default())
    }
}

impl Prepared {
    fn as_it_is(mesh: Mesh, report: PrepareReport) -> Self {
        Self {
            mesh,
            report,
            simplified_from: None,
            simplified: None,
            is_simplified_by_itself: false,
        }
    }
}

/// The steps in front of simplification.
fn before(settings: &PrepareSettings) -> PrepareSettings {
    PrepareSettings {
        simplify: None,
        relax_after: None,
        ..settings.clone()
    }
}

/// The steps behind it.
fn after(settings: &PrepareSettings) -> PrepareSettings {
    PrepareSettings {
        relax_after: settings.relax_after.clone(),
        ..PrepareSettings::default()
    }
}

/// Whether frames may be simplified by one collapse: where triangles may stay the same.
fn may_share(settings: &VatSettings) -> bool {
    let may_stay = settings.mode.is_none_or(|m| mode::of(m).has_first_frame());
    may_stay && settings.prepare.simplify.is_some()
}

/// The collapse for all frames, from some of them. Nothing where their triangles change and the mode does not forbid it.
fn shared_of(
    source: &dyn FrameSource,
    settings: &VatSettings,
) -> Result<Option<SharedCollapse>, BakeError> {
    let Some(simplify) = &settings.prepare.simplify else {
        return Ok(None);
    };
    let chosen = shared_frames(source.frame_count());
    let load = |frame: &usize| {
        let number = source.number(*frame);
        let loaded = source.load(*frame)?.mesh;
        let prepared = prepare(&loaded, &before(&settings.prepare));
        let prepared = prepared.map_err(|source| BakeError::Prepare { number, source });
        Ok::<_, BakeError>(prepared?.0)
    };
    let frames: Vec<Mesh> = match source.order() {
        LoadOrder::Any => chosen.par_iter().map(load).collect::<Result<_, _>>()?,
        LoadOrder::Rising => chosen.iter().map(load).collect::<Result<_, _>>()?,
    };
    let Some(first) = frames.first().filter(|f| !is_points(f, settings)) else {
        return Ok(None);
    };
    let is_asked = settings.mode.is_some();
    // Loose triangles have the same numbers whatever they are.
    let means_the_same = |mesh: &Mesh| {
        numbers_mean_the_same(&triangles_of(first, &None), &triangles_of(mesh, &None))
    };
    if !is_asked && !frames.iter().all(means_the_same) {
        return Ok(None);
    }
    match SharedCollapse::new(&frames, simplify) {
        Ok(shared) => Ok(Some(shared)),
        Err((i, fault)) if is_asked => Err(BakeError::NotSimplified {
            number: source.number(chosen[i]),
            source: fault,
        }),
        Err(_) => Ok(None),
    }
}

fn has_area([a, b, c]: [[f32; 3]; 3]) -> bool {
    let side = |to: [f32; 3]| std::array::from_fn(|k| f64::from(to[k]) - f64::from(a[k]));
    let (ab, ac): ([f64; 3], [f64; 3]) = (side(b), side(c));
    (0..3).any(|k| ab[k] * ac[(k + 1) % 3] != ab[(k + 1) % 3] * ac[k])
}

fn corners_of(mesh: &Mesh) -> Vec<[[f32; 3]; 3]> {
    let place = |v: u32| mesh.positions[v as usize];
    let triangles = mesh.topology.triangles().iter();
    triangles.map(|t| t.map(place)).collect()
}

/// Compares a bake with a sequence; `settings` are those that it was made with (mode, preparation, crease, matching).
///
/// Memory: as many frames as there are threads, and two; eleven where frames are simplified.
///
/// # Errors
/// [`BakeError`] where either cannot be read, or has another number of frames.
pub fn verify(
    bake: &Path,
    source: &dyn FrameSource,
    settings: &VatSettings,
    watch: &Watch<'_>,
) -> Result<Verified, BakeError> {
    if settings.prepare.simplify.is_none() {
        return super::verify::verify(bake, source, settings, watch);
    }
    // Without a word of the mode it may have been forced; where triangles stay the same they had one collapse by themselves.
    let made = read_manifest(bake)?.1.mode;
    let made = (!mode::of(made).has_first_frame()).then_some(made);
    let like_made = VatSettings {
        mode: settings.mode.or(made),
        ..settings.clone()
    };
    let prepared = PreparedSource {
        preparation: Preparation::new(source, &like_made)?,
        source,
    };
    let done = VatSettings {
        prepare: PrepareSettings::default(),
        ..settings.clone()
    };
    super::verify::verify(bake, &prepared, &done, watch)
}

/// The frames of a source behind their preparation.
struct PreparedSource<'a> {
    source: &'a dyn FrameSource,
    preparation: Preparation<'a>,
}

impl FrameSource for PreparedSource<'_> {
    fn name(&self) -> &str {
        self.source.name()
    }
    fn frame_count(&self) -> usize {
        self.source.frame_count()
    }
    fn clips(&self) -> Vec<FrameRange> {
        self.source.clips()
    }
    fn number(&self, frame: usize) -> i64 {
        self.source.number(frame)
    }
    fn key(&self, frame: usize) -> Result<String, BakeError> {
        self.source.key(frame)
    }
    fn origin(&self) -> Option<[f64; 3]> {
        self.source.origin()
    }
    fn order(&self) -> LoadOrder {
        self.source.order()
    }
    fn load(&self, frame: usize) -> Result<LoadedFrame, BakeError> {
        let loaded = self.source.load(frame)?;
        let prepared = self.preparation.prepare(&loaded.mesh, self.number(frame))?;
        Ok(LoadedFrame {
            mesh: prepared.mesh,
            warnings: loaded.warnings,
            read_loss: loaded.read_loss,
        })
    }
}
