//! The first step: every frame is made, prepared, looked at and matched with the next one.

use super::job::VatJob;
use super::job::mesh_of;
use super::mode::{self, RigidCarrier, scan_points, width_warning};
use super::points;
use super::preparation::{Preparation, Prepared};
use super::records::{FRAMES, MATCHES, MeshRecord, PieceScan, ScanRecord};
use super::retriangulated::retriangulated_of;
use super::settings::{Mode, VatSettings};
use super::shapes::ParticleSettings;
use super::tearing::{may_tear, tears_of};
use crate::vat::maker::carrier::FARTHEST;
use crate::vat::maker::derive::add_derived;
use crate::vat::maker::matching::{FrameMatch, Triangles, match_triangles, numbers_mean_the_same};
use crate::vat::maker::remesh::scan_frame;
use crate::vat::maker::soft::is_same_surface;
use crate::work::{is_sealed, sealed};
use crate::{BakeError, Chunk, FrameSource, LoadOrder, LoadedFrame, Watch};
use rayon::prelude::*;
use sinew_geom::vec3::sub;
use sinew_geom::{Attribute, Mesh, index32};
use sinew_vat::quantity::Quantity;
use sinew_vat::texture::Extent;

/// Makes the records of a chunk's frames that are missing.
///
/// The first frame is made by every chunk, since offsets count from it, and so is the one behind the chunk, which its last one is matched with.
///
/// # Errors
/// [`BakeError`]; what is done stays.
pub fn scan(
    job: &VatJob,
    source: &dyn FrameSource,
    chunk: Chunk,
    watch: &Watch<'_>,
) -> Result<(), BakeError> {
    let frames = chunk.frames(job.frame_count());
    if frames.is_empty() {
        return Ok(());
    }
    let behind = (frames.end + 1).min(job.frame_count());
    let last = if matches_frames(job.settings()) {
        behind
    } else {
        frames.end
    };
    let rest: Vec<usize> = (frames.start.max(1)..last).collect();
    let stage = watch.stage("frames", rest.len() + 1);
    stage.go_on()?;
    let scanner = Scanner {
        job,
        source,
        preparation: Preparation::of_job(job, source)?,
        first: None,
        pieces: None,
    };
    let first = scanner.first_frame()?;
    stage.step();
    let scanner = Scanner {
        pieces: pieces_of(job, &first)?,
        first: Some(first),
        ..scanner
    };
    let missing = scanner.missing(&rest)?;
    let at_once = rayon::current_num_threads();
    for batch in missing.chunks(at_once) {
        let is_rising = source.order() == LoadOrder::Rising;
        let load = |frame: &usize| {
            stage.go_on()?;
            Ok((*frame, source.load(*frame)?))
        };
        let keep = |(frame, loaded)| {
            scanner.keep(frame, loaded)?;
            stage.step();
            Ok(())
        };
        if is_rising {
            let loaded: Vec<_> = batch.iter().map(load).collect::<Result<_, BakeError>>()?;
            loaded.into_par_iter().try_for_each(keep)?;
        } else {
            batch
                .par_iter()
                .try_for_each(|frame| load(frame).and_then(keep))?;
        }
    }
    match matches_frames(job.settings()) {
        true => match_pairs(job, frames.start..last - 1, watch),
        false => Ok(()),
    }
}

/// Whether it may turn out that matches are needed.
pub(crate) fn matches_frames(settings: &VatSettings) -> bool {
    settings.may_be(Mode::Remesh) && settings.is_matched()
}

struct Scanner<'a> {
    job: &'a VatJob,
    source: &'a dyn FrameSource,
    preparation: Preparation<'a>,
    first: Option<Mesh>,
    pieces: Option<RigidCarrier>,
}

impl Scanner<'_> {
    /// The frames of which a record is missing.
    fn missing(&self, frames: &[usize]) -> Result<Vec<usize>, BakeError> {
        let (work, key) = (&self.job.work, &self.job.key);
        let mut out = Vec::new();
        for &frame in frames {
            let scan: Option<ScanRecord> = work.read_head(FRAMES, frame, key)?;
            let mesh = work.body(FRAMES, frame)?;
            if scan.is_none() || !mesh.is_some_and(|m| is_sealed(&m, key)) {
                out.push(frame);
            }
        }
        Ok(out)
    }

    /// The first frame, prepared.
    fn first_frame(&self) -> Result<Mesh, BakeError> {
        if self.missing(&[0])?.is_empty()
            && let Ok(mesh) = mesh_of(self.job, 0)
        {
            return Ok(mesh);
        }
        self.keep(0, self.source.load(0)?)
    }

    /// Prepares a frame and writes down what it is.
    fn keep(&self, frame: usize, loaded: LoadedFrame) -> Result<Mesh, BakeError> {
        let (job, number) = (self.job, self.job.number(frame));
        check_finite(&loaded.mesh, number)?;
        check_near(&loaded.mesh, number)?;
        let prepared = self.preparation.prepare(&loaded.mesh, number)?;
        let (simplified, lost_pieces) = (prepared.deviation(), prepared.lost_pieces());
        let is_by_itself = prepared.is_simplified_by_itself;
        let Prepared {
            mut mesh, report, ..
        } = prepared;
        let asked = job.settings().textures.iter().map(|t| &t.quantity);
        add_derived(&mut mesh, asked, job.settings().crease());
        check_motion(&mesh, job.settings(), number)?;
        check_points(&mesh, job.settings(), number)?;
        let first = self.first.as_ref().unwrap_or(&mesh);
        // Indices of frames that were simplified one by one are the same by chance at most.
        let is_first_surface = !is_by_itself
            && is_same_surface(&first.topology, &mesh.topology)
            && numbers_mean_the_same(&triangles_of(first, &None), &triangles_of(&mesh, &None));
        let may_be_torn = !is_by_itself && !is_first_surface && may_tear(job.settings());
        let tears = may_be_torn.then(|| tears_of(first, &mesh)).flatten();
        let is_shown = is_first_surface || tears.is_some();
        let keeps_points = tears.as_ref().is_some_and(|t| t.keeps_points);
        let retriangulated = is_shown.then(|| retriangulated_of(first, &mesh, is_first_surface));
        let retriangulated = retriangulated.flatten();
        let warnings = loaded.warnings.into_iter();
        let warnings = warnings.map(|w| (w.code.to_owned(), w.message));
        let is_points = is_points(&mesh, job.settings());
        let of_widths = is_points.then(|| width_warning(&mesh, &job.settings().particles));
        let scan = ScanRecord {
            triangles: index32(mesh.topology.triangles().len()),
            vertices: index32(mesh.positions.len()),
            is_first_surface,
            extents: extents_of(job, frame, &mesh)?,
            edges: tears.as_ref().map(|t| t.edges),
            keeps_points,
            read_loss: loaded.read_loss,
            offset: match tears {
                Some(tears) => tears.offset,
                None => offsets_from(first, &mesh).map(|offset| match &retriangulated {
                    Some(retriangulated) => retriangulated.with_middles(offset, first, &mesh),
                    None => offset,
                }),
            },
            retriangulated,
            points: points_of(job, frame, &mesh)?,
            pieces: self.pieces_in(frame, &mesh, is_first_surface)?,
            unique_points: points::count(job.settings(), &mesh),
            report,
            simplified,
            lost_pieces,
            warnings: warnings.chain(of_widths.flatten()).collect(),
        };
        let record = MeshRecord::from(&mesh);
        let mesh_bytes = sealed(&job.key, &record);
        let work = &job.work;
        work.write_with_head(FRAMES, frame, &job.key, &scan, mesh_bytes)?;
        Ok(mesh)
    }

    /// How the pieces of a frame lie, where the bake may be one of pieces.
    fn pieces_in(
        &self,
        frame: usize,
        mesh: &Mesh,
        is_first_surface: bool,
    ) -> Result<Option<PieceScan>, BakeError> {
        let own;
        let pieces = match (&self.first, is_first_surface) {
            (_, false) => None,
            (Some(_), true) => self.pieces.as_ref(),
            (None, true) => {
                own = pieces_of(self.job, mesh)?;
                own.as_ref()
            }
        };
        let number = self.job.number(frame);
        let scan = pieces.map(|p| p.scan(frame, mesh)).transpose();
        scan.map_err(|source| BakeError::Pieces { number, source })
    }
}

/// The pieces of the first frame, where the bake may be one of pieces.
fn pieces_of(job: &VatJob, first: &Mesh) -> Result<Option<RigidCarrier>, BakeError> {
    let settings = job.settings();
    if !settings.may_be(Mode::Rigid) || first.topology.triangles().is_empty() {
        return Ok(None);
    }
    let number = job.number(0);
    let made = RigidCarrier::new(first, settings);
    made.map(Some)
        .map_err(|source| BakeError::Pieces { number, source })
}

pub(crate) fn is_points(mesh: &Mesh, settings: &VatSettings) -> bool {
    match settings.mode {
        Some(mode) => mode::of(mode).is_points(),
        None => mesh.topology.triangles().is_empty(),
    }
}

fn points_of(
    job: &VatJob,
    frame: usize,
    mesh: &Mesh,
) -> Result<Vec<(Quantity, Extent)>, BakeError> {
    match is_points(mesh, job.settings()) {
        true => scan_points(job, frame, mesh),
        false => Ok(Vec::new()),
    }
}

/// Of all quantities that a bake of these settings may hold, whatever mode comes out. One that was asked for and is missing is an error.
fn extents_of(
    job: &VatJob,
    frame: usize,
    mesh: &Mesh,
) -> Result<Vec<(Quantity, Extent)>, BakeError> {
    let asked = job.settings().textures.iter().map(|t| t.quantity.clone());
    let mut quantities: Vec<_> = asked
        .filter(|q| !matches!(q, Quantity::Offset | Quantity::Size))
        .collect();
    for always in [Quantity::Position, Quantity::Normal] {
        if !quantities.contains(&always) {
            quantities.push(always);
        }
    }
    let seen = scan_frame(frame, mesh, &quantities);
    let seen = seen.map_err(|source| BakeError::Frame {
        number: job.number(frame),
        message: source.to_string(),
    })?;
    let extents = seen.extents.unwrap_or_default();
    Ok(quantities.into_iter().zip(extents).collect())
}

fn offsets_from(first: &Mesh, mesh: &Mesh) -> Option<Extent> {
    let used = mesh.topology.triangles();
    if first.positions.len() != mesh.positions.len() || used.is_empty() {
        return None;
    }
    let mut out = Extent::nothing(3);
    for &v in used.iter().flatten() {
        out.take(sub(mesh.positions[v as usize], first.positions[v as usize]));
    }
    Some(out)
}

/// Positions are looked at by the preparation, which drops faces; what else is baked must be numbers.
fn check_finite(mesh: &Mesh, number: i64) -> Result<(), BakeError> {
    // Faces with such corners are dropped, which points are not.
    if mesh.topology.triangles().is_empty()
        && let Some((vertex, found)) = first_bad(&mesh.positions)
    {
        return Err(BakeError::NotFinite {
            number,
            vertex,
            what: "position".into(),
            found,
        });
    }
    let uvs = mesh
        .uvs
        .iter()
        .map(|set| ("texture coordinate", first_bad(set)));
    let colors = mesh.colors.iter().map(|set| ("colour", first_bad(set)));
    let attributes = mesh.attributes.iter().map(|(name, attribute)| {
        let bad = match attribute {
            Attribute::Scalar(v) => first_bad(v.as_chunks::<1>().0),
            Attribute::Vec2(v) => first_bad(v),
            Attribute::Vec3(v) => first_bad(v),
            Attribute::Vec4(v) => first_bad(v),
        };
        (name.as_str(), bad)
    });
    let mut all = uvs.chain(colors).chain(attributes);
    match all.find_map(|(what, bad)| Some((what, bad?))) {
        None => Ok(()),
        Some((what, (vertex, found))) => Err(BakeError::NotFinite {
            number,
            vertex,
            what: what.to_owned(),
            found,
        }),
    }
}

/// Places of what is shown are near enough to be measured. Places that are no numbers are looked at elsewhere.
fn check_near(mesh: &Mesh, number: i64) -> Result<(), BakeError> {
    let is_far = |c: &&f32| c.is_finite() && c.abs() > FARTHEST;
    let far_in = |vertex: usize| {
        let found = mesh.positions[vertex].iter().find(is_far);
        found.map(|c| (vertex, *c))
    };
    let mut corners = mesh.topology.triangles().iter().flatten();
    let found = match mesh.topology.triangles().is_empty() {
        true => (0..mesh.positions.len()).find_map(far_in),
        false => corners.find_map(|v| far_in(*v as usize)),
    };
    match found {
        None => Ok(()),
        Some((vertex, found)) => Err(BakeError::TooFar {
            number,
            vertex,
            found,
        }),
    }
}

/// The first vertex with a number that is none, and that.
fn first_bad<const N: usize>(values: &[[f32; N]]) -> Option<(usize, f32)> {
    let mut vertices = values.iter().enumerate();
    vertices.find_map(|(v, numbers)| {
        let bad = numbers.iter().find(|n| !n.is_finite());
        bad.map(|n| (v, *n))
    })
}

/// Matches frames `pairs` with those behind them.
fn match_pairs(
    job: &VatJob,
    pairs: std::ops::Range<usize>,
    watch: &Watch<'_>,
) -> Result<(), BakeError> {
    let pairs = pairs.filter(|frame| !job.ends_clip(*frame));
    let missing = job.work.without(MATCHES, pairs, &job.key)?;
    let stage = watch.stage("matches", missing.len());
    missing.par_iter().try_for_each(|&frame| {
        stage.go_on()?;
        let (from, to) = (mesh_of(job, frame)?, mesh_of(job, frame + 1)?);
        let found = match_frames(job.settings(), &from, &to);
        job.work.write(MATCHES, frame, &job.key, &found)?;
        stage.step();
        Ok(())
    })
}

pub(crate) fn match_frames(settings: &VatSettings, from: &Mesh, to: &Mesh) -> FrameMatch {
    let motion = [from, to].map(|mesh| motion_of(settings, mesh));
    match_triangles(
        &triangles_of(from, &motion[0]),
        &triangles_of(to, &motion[1]),
    )
}

/// Whether a frame has the velocities that matching is told to use; empty frames need none.
fn check_motion(mesh: &Mesh, settings: &VatSettings, number: i64) -> Result<(), BakeError> {
    let Some(name) = settings.velocity.as_ref().filter(|_| settings.is_matched()) else {
        return Ok(());
    };
    match mesh.attributes.get(name) {
        Some(Attribute::Vec3(_)) => Ok(()),
        _ if mesh.positions.is_empty() => Ok(()),
        found => {
            let found = match found {
                None => "there is none",
                Some(_) => "its values are no three numbers",
            };
            let message = format!("velocity '{name}' of vertices: {found}");
            Err(BakeError::Frame { number, message })
        }
    }
}

/// Whether a frame of points has the attributes that were named; those that are read by default may be missing.
fn check_points(mesh: &Mesh, settings: &VatSettings, number: i64) -> Result<(), BakeError> {
    if mesh.positions.is_empty() || !is_points(mesh, settings) {
        return Ok(());
    }
    let (asked, default) = (&settings.particles, ParticleSettings::default());
    for (name, usual, what) in [
        (&asked.id, default.id, "numbers of points"),
        (&asked.size, default.size, "widths of points"),
    ] {
        let is_there = matches!(mesh.attributes.get(name), Some(Attribute::Scalar(_)));
        if *name != usual && !is_there {
            let message = format!("no scalar attribute '{name}', which is to be the {what}");
            return Err(BakeError::Frame { number, message });
        }
    }
    Ok(())
}

/// Where the points of a mesh go until the next frame, if an attribute says so.
pub(crate) fn motion_of(settings: &VatSettings, mesh: &Mesh) -> Option<Vec<[f32; 3]>> {
    let rate = settings.frames_per_second;
    match mesh.attributes.get(settings.velocity.as_ref()?)? {
        Attribute::Vec3(v) => Some(v.iter().map(|v| v.map(|c| c / rate)).collect()),
        _ => None,
    }
}

pub(crate) fn triangles_of<'a>(mesh: &'a Mesh, motion: &'a Option<Vec<[f32; 3]>>) -> Triangles<'a> {
    Triangles {
        points: &mesh.positions,
        triangles: mesh.topology.triangles(),
        motion: motion.as_deref(),
    }
}
