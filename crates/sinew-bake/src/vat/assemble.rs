//! The last step: textures, carrier, manifest and players, which appear together.

use super::earlier::{earlier, report_file};
use super::job::VatJob;
use super::job::missing;
use super::mode::{DEFAULT_WIDTH, unused_settings};
use super::plan::{Planned, VatPlan, all_scans};
use super::preparation::Preparation;
use super::quantities::shown_loss;
use super::read::read_manifest;
use super::records::{FrameErrors, ScanRecord};
use super::report::{Reported, report};
use super::target::write_obj_carrier;
use super::texels::done;
use super::textures::{file_names, lookup_file, write_lookup, write_texture};
use crate::{BakeError, CarrierMaterial, FrameRange, Watch};
use rayon::prelude::*;
use serde::Serialize;
use sinew_geom::{Mesh, Topology, index32};
use sinew_io::gltf_write::{GlbOptions, GlbSource, write_glb};
use sinew_io::{AtomicDir, FrameCache, write_text};
use sinew_vat::manifest::{self, Lookup, Manifest, NamedClip, TextureFile};
use sinew_vat::playback::ClipFrames;
use sinew_vat::players::players;
use std::path::{Path, PathBuf};

/// What a bake came to.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The manifest's file.
    pub manifest: PathBuf,
    /// How the sequence was taken, sizes and ranges.
    pub plan: VatPlan,
    /// Frames.
    pub frames: usize,
    /// Texels of all textures in memory, with those of a lookup, bytes.
    pub texture_bytes: u64,
    /// How far simplification moved surfaces, where it did.
    pub simplified: Option<SimplifiedSummary>,
    /// What the format loses.
    #[serde(skip)]
    pub errors: FrameErrors,
    /// The farthest that reading moved a vertex, metres, and the number of that frame: what single precision lost of the numbers in files.
    pub read_loss: (f64, i64),
    /// Where positions are counted from, metres in the axes of glTF, where that is not the origin of the source.
    pub origin: Option<[f64; 3]>,
    /// What was asked for and has no effect in this mode, in words.
    pub unused_settings: Vec<String>,
    /// The sequence whose bake was in the place of this one.
    pub replaced: Option<String>,
    /// What was asked for and could not be kept to, each with a code.
    pub not_kept: Vec<(String, String)>,
    /// What readers had to say, with the number of frames in which they said it.
    #[serde(skip)]
    pub warnings: Vec<(String, String, usize)>,
}

impl Summary {
    /// How far positions are from those of the source at most and in the mean of squares, metres: what the format loses, and what reading lost.
    pub fn position_errors(&self) -> [f64; 2] {
        let read = shown_loss(self.read_loss.0);
        let position = &self.errors.position;
        [position.largest + read, position.rms() + read]
    }
}

/// Positions are counted from elsewhere.
fn moved_origin(job: &VatJob) -> Option<(String, String)> {
    let [x, y, z] = job.origin()?;
    let message = format!(
        "positions are counted from ({x}, {y}, {z}) m (axes of glTF), since single precision would lose some of them so far from the origin; `origin` in the manifest keeps that: put the mesh there to have it where the source is"
    );
    Some(("origin_moved".into(), message))
}

/// Files without triangles between others that have some.
fn empty_frames(job: &VatJob, scans: &[ScanRecord]) -> Vec<(String, String)> {
    let triangles: Vec<usize> = scans.iter().map(|s| s.report.faces_before).collect();
    let warnings = job.empty_frames(&triangles).into_iter();
    warnings.map(|w| (w.code.to_owned(), w.message)).collect()
}

/// The frame that lost most when it was read.
fn read_loss(job: &VatJob, scans: &[ScanRecord]) -> (f64, i64) {
    let losses = scans.iter().enumerate();
    let most = losses.fold((0.0, 0), |most, (f, s)| match s.read_loss > most.0 {
        true => (s.read_loss, f),
        false => most,
    });
    (most.0, job.number(most.1))
}

/// How far simplification moved surfaces, both ways, measured at all vertices, and at four points inside of
/// some thousands of triangles of each frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SimplifiedSummary {
    /// Whether all frames have one collapse, so that their triangles stayed the same.
    pub is_shared: bool,
    /// Root of the mean square over all frames, metres.
    pub rms: f64,
    /// The largest distance of vertices and these points, metres; between them it may be larger.
    pub largest: f64,
    /// Number of the frame that has it.
    pub frame: i64,
}

impl SimplifiedSummary {
    fn new(job: &VatJob, is_shared: bool, scans: &[ScanRecord]) -> Option<Self> {
        let frames = scans.iter().enumerate();
        let moved = frames.filter_map(|(f, s)| Some((f, s.simplified?)));
        let moved: Vec<_> = moved.collect();
        let worst = moved.iter().max_by(|a, b| a.1.max.total_cmp(&b.1.max))?;
        let all = moved.iter().map(|m| m.1);
        let all = all.reduce(|a, b| a.and(&b)).unwrap_or_default();
        Some(Self {
            is_shared,
            rms: all.rms(),
            largest: all.max,
            frame: job.number(worst.0),
        })
    }

    /// What people are told.
    pub fn words(&self) -> String {
        let how = match self.is_shared {
            true => "all frames by one collapse",
            false => "each frame by itself",
        };
        format!(
            "{how}; distance to the source: {:.3} mm at most (frame {}), {:.4} mm RMS",
            self.largest * 1e3,
            self.frame,
            self.rms * 1e3
        )
    }
}

/// Simplification left nothing of some pieces.
fn lost_pieces(job: &VatJob, scans: &[ScanRecord]) -> Option<(String, String)> {
    let lost = scans.iter().enumerate();
    let lost = lost.filter_map(|(f, s)| Some((f, s.lost_pieces.filter(|p| p.lost > 0)?)));
    let lost: Vec<_> = lost.collect();
    // The first of those that lost most.
    let (frame, worst) = lost.iter().rev().max_by_key(|l| l.1.lost)?;
    let frames = match lost.len() {
        1 => "1 frame".to_owned(),
        frames => format!("{frames} frames"),
    };
    let message = format!(
        "simplification left nothing of pieces in {frames}: of {} of {} in frame {}; a larger --faces keeps them",
        worst.lost,
        worst.before,
        job.number(*frame),
    );
    Some(("lost_pieces".into(), message))
}

/// Share of the surface from which on tetrahedra in place of pieces are warned of.
const LARGE_SHARE: f64 = 0.5;

/// What little is left stands for pieces that are most of the surface.
fn large_stand_ins(job: &VatJob, scans: &[ScanRecord]) -> Option<(String, String)> {
    let found = scans.iter().enumerate();
    let found = found.filter_map(|(f, s)| Some((f, s.report.simplify.as_ref()?)));
    let large = found.filter(|(_, s)| s.stand_in_share >= LARGE_SHARE);
    let (frame, worst) = large
        .rev()
        .max_by(|a, b| a.1.stand_in_share.total_cmp(&b.1.stand_in_share))?;
    let pieces = match worst.stand_ins {
        1 => "1 piece".to_owned(),
        count => format!("{count} pieces"),
    };
    let message = format!(
        "simplification left a tetrahedron or a triangle of {pieces} with {:.0} % of the surface (in frame {}), while other faces stay; a larger --faces leaves more of them, or fewer seams",
        worst.stand_in_share * 100.0,
        job.number(frame),
    );
    Some(("large_stand_ins".into(), message))
}

/// The carrier has more triangles than were asked for.
fn more_triangles(of: Planned<'_>) -> Option<(String, String)> {
    let asked = of.job.settings().prepare.simplify.as_ref()?.target_faces;
    let found = of.plan.triangles as usize;
    if found <= asked {
        return None;
    }
    let (code, why) = of.plan.steps().why_more_triangles(of)?;
    let were = if asked == 1 { "was" } else { "were" };
    let message = format!("the carrier has {found} triangles, {asked} {were} asked for: {why}");
    Some((code.into(), message))
}

fn write_textures(
    of: Planned<'_>,
    files: &[Vec<PathBuf>],
    watch: &Watch<'_>,
) -> Result<(), BakeError> {
    let stage = watch.stage("textures", files.len());
    let write = |(texture, paths): (usize, &Vec<PathBuf>)| {
        stage.go_on()?;
        write_texture(of, texture, paths)?;
        stage.step();
        Ok(())
    };
    files.par_iter().enumerate().try_for_each(write)
}

/// Writes the files of a bake into a folder, all or none.
///
/// # Errors
/// [`BakeError::Missing`] names frames without texels; [`BakeError::Io`].
pub fn assemble(job: &VatJob, out: &Path, watch: &Watch<'_>) -> Result<Summary, BakeError> {
    let replaced = earlier(out, job.name(), job.sequence(), job.settings())?;
    let plan = VatPlan::read(job)?;
    let of = Planned { job, plan: &plan };
    let errors = check_texels(of, watch)?;
    let carrier = plan.steps().carrier(of)?;
    let scans = all_scans(job)?;
    let convention = &job.settings().convention;
    let mut summary = summary(of, &scans, &errors, replaced);
    let page = |files: &[String]| {
        report(&Reported {
            job,
            plan: &plan,
            scans: &scans,
            errors: &errors,
            summary: &summary,
            manifest: &manifest_like(of, &carrier, files),
            carrier: &in_order_of_texels(job, &carrier),
            files,
        })
    };
    if let Some(name) = convention.write(of, carrier.clone(), out, &page, watch)? {
        summary.manifest = out.join(name);
        return Ok(summary);
    }
    let manifest = manifest_of(of, &carrier);
    let name = format!("{}.vat.json", manifest.name);
    let mut folder = AtomicDir::create(out)?;
    folder.tells(&name);
    retire_earlier(&mut folder, &out.join(&name), &manifest.name);
    let files = manifest
        .textures
        .iter()
        .map(|t| stage_all(&mut folder, &t.files));
    let files: Vec<Vec<PathBuf>> = files.collect::<Result<_, _>>()?;
    let reported = Reported {
        job,
        plan: &plan,
        scans: &scans,
        errors: &errors,
        summary: &summary,
        manifest: &manifest,
        carrier: &carrier,
        files: &[],
    };
    // The report draws while textures are compressed, which are often fewer than threads.
    let (written, page) = rayon::join(|| write_textures(of, &files, watch), || report(&reported));
    written?;
    let page = page?;
    if let Some(lookup) = &manifest.lookup {
        write_lookup(of, &folder.stage(&lookup.file)?)?;
    }
    let materials = &job.content.materials;
    write_carrier(&folder.stage(&manifest.carrier)?, &carrier, materials)?;
    let is_asked = job.settings().obj_carrier;
    write_obj_carrier(&mut folder, is_asked, &manifest, &carrier)?;
    for player in players(&manifest) {
        write_text(&folder.stage(&player.name)?, &player.text)?;
    }
    let page_name = report_file(&manifest.name);
    write_text(&folder.stage(&page_name)?, &page)?;
    let text = serde_json::to_string_pretty(&manifest).unwrap_or_default();
    write_text(&folder.stage(&name)?, &text)?;
    folder.commit()?;
    summary.manifest = out.join(&name);
    Ok(summary)
}

/// Makes a report of the names of the other files.
pub(crate) type MakePage<'a> = &'a dyn Fn(&[String]) -> Result<String, BakeError>;

/// The report of a bake in another tool's convention, beside all its other files.
pub(crate) fn stage_report(
    folder: &mut AtomicDir,
    name: &str,
    page: MakePage<'_>,
) -> Result<(), BakeError> {
    let path = folder.stage(&report_file(name))?;
    let beside = path.parent().unwrap_or(&path);
    let files = sinew_io::files_ending_with(beside, "")?;
    let names = files.iter().filter_map(|f| f.file_name()?.to_str());
    let own: Vec<String> = names
        .filter(|n| n.starts_with(name))
        .map(Into::into)
        .collect();
    Ok(write_text(&path, &page(&own)?)?)
}

/// What a report needs of a manifest where there is none: the files are called otherwise.
fn manifest_like(of: Planned<'_>, carrier: &Mesh, files: &[String]) -> Manifest {
    let mut out = manifest_of(of, carrier);
    out.textures.iter_mut().for_each(|t| t.files.clear());
    let carrier = files.iter().find(|f| f.ends_with(".glb"));
    out.carrier = carrier.cloned().unwrap_or_default();
    out
}

/// The carrier with its vertices in the order of the texels.
fn in_order_of_texels(job: &VatJob, carrier: &Mesh) -> Mesh {
    let mut out = carrier.clone();
    if !job.settings().files().counts_from_the_last() {
        return out;
    }
    let count = index32(out.positions.len());
    let triangles = carrier.topology.triangles().iter();
    let triangles = triangles.map(|t| t.map(|v| count - 1 - v)).collect();
    // Every index stays below the count, so there is always a topology.
    out.topology = Topology::new(count, triangles).unwrap_or_default().into();
    out.positions.reverse();
    out
}

/// The files of an earlier bake of that name, textures of another format for example, go when the new ones are there. What is no manifest of
/// this version names no files, and which files it names does not count: anybody may have written it. Those go that a bake of this name makes of
/// such textures.
fn retire_earlier(folder: &mut AtomicDir, manifest: &Path, name: &str) {
    // A pipe would wait for its writer.
    let earlier = manifest.is_file().then(|| read_manifest(manifest));
    let Some(Ok((_, earlier))) = earlier.filter(|e| e.as_ref().is_ok_and(|e| e.1.name == name))
    else {
        return;
    };
    let textures = earlier
        .textures
        .iter()
        .flat_map(|t| file_names(name, &t.spec));
    let lookup = earlier.lookup.iter().map(|_| lookup_file(name));
    let players = players(&earlier).into_iter().map(|p| p.name);
    let others = [format!("{name}.obj"), format!("{name}.glb")];
    for file in textures.chain(lookup).chain(players).chain(others) {
        folder.retire(&file);
    }
}

pub(crate) fn stage_all(
    folder: &mut AtomicDir,
    names: &[String],
) -> Result<Vec<PathBuf>, BakeError> {
    names.iter().map(|n| Ok(folder.stage(n)?)).collect()
}

/// All texels are there and whole; tells how far those of each frame are from it.
fn check_texels(of: Planned<'_>, watch: &Watch<'_>) -> Result<Vec<FrameErrors>, BakeError> {
    let key = of.plan.key();
    let stage = watch.stage("check", of.job.frame_count());
    let check = |frame: usize| {
        stage.go_on()?;
        let record = done(of.job, &key, frame);
        stage.step();
        Ok(record.map(|r| r.errors))
    };
    let frames = 0..of.job.frame_count();
    let found: Vec<Option<FrameErrors>> = frames
        .into_par_iter()
        .map(check)
        .collect::<Result<_, BakeError>>()?;
    let absent: Vec<usize> = (0..)
        .zip(&found)
        .filter(|f| f.1.is_none())
        .map(|f| f.0)
        .collect();
    let errors = found.into_iter().flatten().collect();
    match absent.is_empty() {
        true => Ok(errors),
        false => Err(missing(of.job, &absent, "texels", "bake")),
    }
}

fn manifest_of(of: Planned<'_>, carrier: &Mesh) -> Manifest {
    let Planned { job, plan } = of;
    let name = job.name().to_owned();
    let texture = |spec: &sinew_vat::texture::TextureSpec| TextureFile {
        spec: spec.clone(),
        files: file_names(&name, spec),
    };
    Manifest {
        format: manifest::FORMAT.into(),
        version: match plan.points() {
            Some(_) => manifest::VERSION_WITH_LOOKUP,
            None => manifest::VERSION,
        },
        mode: plan.mode(),
        clips: of.job.clips().iter().map(|c| named_clip(job, c)).collect(),
        layout: plan.layout,
        bounds: plan.space.bounds(&plan.bounds),
        space: plan.space,
        carrier: format!("{name}.glb"),
        // The last one.
        uv_set: u32::try_from(carrier.uvs.len().saturating_sub(1)).unwrap_or(0),
        textures: plan.textures.iter().map(texture).collect(),
        can_blend: plan.steps().can_blend(job.settings()),
        has_ends: plan.has_ends(),
        split_vertices: plan.tears().map(|t| t.split_vertices),
        splits_are_edges: plan.tears().is_some_and(|t| t.are_edges),
        origin: job.origin(),
        middles: of
            .plan
            .retriangulated()
            .iter()
            .flat_map(|r| r.middles.iter().flat_map(|q| q.triangles))
            .collect(),
        surface_off: of
            .plan
            .retriangulated()
            .map(|r| r.off)
            .filter(|off| *off > 0.0),
        lookup: plan.points().map(|points| Lookup {
            file: lookup_file(&name),
            points: points.layout,
        }),
        name,
    }
}

fn named_clip(job: &VatJob, clip: &FrameRange) -> NamedClip {
    NamedClip {
        name: clip.name.clone(),
        frames: ClipFrames {
            first: clip.first as u32,
            count: clip.count as u32,
            frames_per_second: job.settings().frames_per_second,
            at_end: job.settings().at_end,
        },
    }
}

/// The carrier in the space of glTF, whatever that of the textures is: importers turn it into that of their engine.
pub(crate) fn write_carrier(
    path: &Path,
    carrier: &Mesh,
    materials: &[CarrierMaterial],
) -> Result<(), BakeError> {
    let material = |m: &CarrierMaterial| serde_json::json!({ "name": m.name, "pbrMetallicRoughness": { "baseColorFactor": m.base_color } });
    let materials: Vec<_> = materials.iter().map(material).collect();
    let source = (!materials.is_empty()).then(|| GlbSource {
        json: serde_json::json!({ "materials": materials }),
        ..GlbSource::default()
    });
    let options = GlbOptions {
        source: source.as_ref(),
        ..GlbOptions::default()
    };
    write_glb(path, &FrameCache::still(carrier), &options)?;
    Ok(())
}

/// The source has materials that the carrier does not tell apart.
fn lost_materials(of: Planned<'_>) -> Option<(String, String)> {
    let count = of.job.content.materials.len();
    if count < 2 {
        return None;
    }
    let why = of.plan.steps().why_no_materials(of)?;
    let message = format!(
        "the source has {count} materials, the carrier one primitive without any: {why}; tell them apart by vertex colours (a texture of color0)"
    );
    Some(("materials_lost".into(), message))
}

/// Texels of a lookup in memory.
pub(crate) fn lookup_bytes(of: Planned<'_>) -> u64 {
    of.plan.layout.texels() * of.job.settings().files().lookup_bytes()
}

/// All but where the manifest is.
fn summary(
    of: Planned<'_>,
    scans: &[ScanRecord],
    frames: &[FrameErrors],
    replaced: Option<String>,
) -> Summary {
    let Planned { job, plan } = of;
    let lookup = plan.points().map_or(0, |_| lookup_bytes(of));
    let mut errors = FrameErrors::default();
    frames.iter().for_each(|f| errors.join(f));
    let mut warnings: Vec<(String, String, usize)> = Vec::new();
    if let Some(retriangulated) = plan.retriangulated().filter(|r| r.is_beyond()) {
        let message = retriangulated.warning(plan.steps().exact_way());
        warnings.push((
            "retriangulated_faces".into(),
            message,
            retriangulated.frames,
        ));
    }
    for (code, message) in scans.iter().flat_map(|s| &s.warnings) {
        // Frames of points in a sequence of triangles have no widths.
        if code == DEFAULT_WIDTH && !plan.steps().is_points() {
            continue;
        }
        match warnings.iter_mut().find(|w| w.0 == *code) {
            Some(known) => known.2 += 1,
            None => warnings.push((code.clone(), message.clone(), 1)),
        }
    }
    Summary {
        manifest: PathBuf::new(),
        plan: plan.clone(),
        frames: job.frame_count(),
        texture_bytes: plan.texture_layout().texels() * plan.texel_bytes() + lookup,
        simplified: SimplifiedSummary::new(
            job,
            Preparation::is_shared(job).unwrap_or(false),
            scans,
        ),
        unused_settings: unused_settings(job.settings(), plan.mode()),
        replaced,
        not_kept: more_triangles(of)
            .into_iter()
            .chain(lost_pieces(job, scans))
            .chain(large_stand_ins(job, scans))
            .chain(lost_materials(of))
            .chain(moved_origin(job))
            .chain(empty_frames(job, scans))
            .collect(),
        errors,
        read_loss: read_loss(job, scans),
        origin: job.origin(),
        warnings,
    }
}
