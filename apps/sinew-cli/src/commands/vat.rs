//! `sinew bake vat` and `sinew vat`.

use crate::bake_args::{
    AtEndArg, BakeCommand, BakeVatArgs, InBetweenArg, ModeArg, OrderArg, PointsArg, ShapeArgs,
    SourceArgs, Up, VatAssembleArgs, VatBlendErrorArgs, VatChunkArgs, VatCommand, VatInspectArgs,
    VatScanArgs, VatSettingsArgs, VatVerifyArgs,
};
use crate::exit::{Code, Failure, Outcome};
use crate::frames::frame_numbers;
use crate::talk::{Progress, Talk, print};
use crate::{device, load};
use sinew::bake::vat::{
    HeldBack, InBetweens, Mode, PiecePlan, PointSummary, Points, Summary, TriangleOrder, VatJob,
    VatSettings, Verified, assemble, bake, plan, read_manifest, scan, texels, verify,
};
use sinew::bake::{
    BakeError, ChainedFrames, Chunk, FileFrames, FrameSource, PlayedFrames, RangedFrames, Watch,
};
use sinew::play::{Cast, Document, Player};
use sinew::vat::matching::SurfaceDistance;
use sinew::vat::playback::AtEnd;
use sinew::vat::prepare::hidden::HiddenSettings;
use sinew::vat::prepare::relax::RelaxSettings;
use sinew::vat::prepare::simplify::SimplifySettings;
use sinew_picture::side_by_side;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) fn bake_command(command: &BakeCommand, talk: &Talk) -> Outcome {
    match command {
        BakeCommand::Vat(args) => bake_vat(args, talk),
    }
}

pub(super) fn vat(command: &VatCommand, talk: &Talk) -> Outcome {
    match command {
        VatCommand::Scan(args) => scan_chunk(args, talk),
        VatCommand::Plan(args) => {
            let job = VatJob::open(&args.work)?;
            let made = watched(talk, |watch| plan(&job, watch))?;
            let [width, height] = made.layout.size;
            let message = format!(
                "{} triangles, textures of {width} x {height}",
                made.triangles
            );
            talk.info("planned", &message);
            Ok(())
        }
        VatCommand::Bake(args) => bake_chunk(args, talk),
        VatCommand::Assemble(args) => assemble_all(args, talk),
        VatCommand::Size(args) => super::vat_size::size(args),
        VatCommand::Inspect(args) => inspect(args),
        VatCommand::BlendError(args) => measure_blends(args, talk),
        VatCommand::Verify(args) => verify_bake(args, talk),
    }
}

fn bake_vat(args: &BakeVatArgs, talk: &Talk) -> Outcome {
    let settings = settings_of(&args.settings, &args.source)?;
    let (work, is_ours) = match &args.work {
        Some(folder) => (folder.clone(), false),
        None => (beside(&args.output)?, true),
    };
    let summary = on_threads(args.source.threads, || {
        let source = source_of(&args.source, &settings, talk)?;
        let all = |watch: &Watch<'_>| bake(source.as_ref(), &settings, &work, &args.output, watch);
        Ok(watched(talk, all)?)
    })?;
    if is_ours {
        sinew::io::remove_folder(&work).map_err(Failure::output)?;
    }
    tell(&summary, talk);
    Ok(())
}

/// `OUT.work` beside the folder to write.
fn beside(out: &Path) -> Outcome<PathBuf> {
    let name = out.file_name().ok_or_else(|| {
        Failure::usage(format!(
            "-o {}: expected the name of a folder",
            out.display()
        ))
    })?;
    let mut name = name.to_owned();
    name.push(".work");
    Ok(out.with_file_name(name))
}

fn scan_chunk(args: &VatScanArgs, talk: &Talk) -> Outcome {
    let settings = settings_of(&args.settings, &args.source)?;
    on_threads(args.source.threads, || {
        let source = source_of(&args.source, &settings, talk)?;
        let job = VatJob::begin(&args.work, source.as_ref(), &settings)?;
        let chunk = args.chunk.unwrap_or(Chunk::ALL);
        watched(talk, |watch| scan(&job, source.as_ref(), chunk, watch))?;
        let frames = chunk.frames(job.frame_count()).len();
        let message = format!(
            "{frames} of {} frames are in {}",
            job.frame_count(),
            args.work.display()
        );
        talk.info("scanned", &message);
        Ok(())
    })
}

fn bake_chunk(args: &VatChunkArgs, talk: &Talk) -> Outcome {
    let job = VatJob::open(&args.work)?;
    let chunk = args.chunk.unwrap_or(Chunk::ALL);
    on_threads(args.threads, || {
        Ok(watched(talk, |watch| texels(&job, chunk, watch))?)
    })?;
    let message = format!("texels of {} frames", chunk.frames(job.frame_count()).len());
    talk.info("baked", &message);
    Ok(())
}

fn assemble_all(args: &VatAssembleArgs, talk: &Talk) -> Outcome {
    let job = VatJob::open(&args.work)?;
    let summary = watched(talk, |watch| assemble(&job, &args.output, watch))?;
    tell(&summary, talk);
    Ok(())
}

/// Says what a bake came to.
fn tell(summary: &Summary, talk: &Talk) {
    for (code, message, frames) in &summary.warnings {
        talk.warning(code, &format!("in {frames} frames: {message}"));
    }
    let mode = match summary.mode {
        Mode::Remesh => "triangles change",
        Mode::Soft => "triangles stay the same",
        Mode::Rigid => "pieces keep their shape",
        Mode::Particles => "points",
    };
    let [width, height] = summary.size;
    let errors = &summary.errors;
    let message = format!(
        "{} frames, {mode}; {} triangles, textures of {width} x {height}, {:.1} MB; positions within {:.3} mm (rms {:.4} mm), normals within {:.2} degrees; wrote {}",
        summary.frames,
        summary.triangles,
        summary.texture_bytes as f64 / 1e6,
        errors.position.largest * 1e3,
        errors.position.rms() * 1e3,
        errors.normal.largest.to_degrees(),
        summary.manifest.display(),
    );
    talk.info("baked", &message);
    if let Some(pieces) = &summary.pieces {
        tell_pieces(pieces, talk);
    }
    if let Some(tears) = &summary.tears {
        let message = tear_words(tears.split_vertices);
        talk.info("tears", &message);
    }
    if let Some(points) = &summary.points {
        tell_points(points, summary, talk);
    }
}

fn tear_words(split_vertices: u32) -> String {
    format!("cloth that tears: {split_vertices} vertices split")
}

/// Sizes of textures of unique points, and what they save.
fn tell_points(points: &PointSummary, summary: &Summary, talk: &Talk) {
    let [width, height] = points.size;
    let [lookup_width, lookup_height] = summary.size;
    let message = format!(
        "{} unique points in a frame at most, in textures of {width} x {height} ({:.1} % unused) and a lookup of {lookup_width} x {lookup_height}; {:.1} MB in all, {:.1} MB with a texel for each corner",
        points.most,
        points.unused_texels * 100.0,
        summary.texture_bytes as f64 / 1e6,
        points.corner_bytes as f64 / 1e6,
    );
    talk.info("points", &message);
}

/// How rigid pieces are before texels round them, and how fast they turn.
fn tell_pieces(pieces: &PiecePlan, talk: &Talk) {
    let residual = &pieces.residual;
    let message = format!(
        "{} pieces keep their shape within {:.4} mm (rms {:.5} mm, largest in frame {}); the largest turn between two frames is {:.1} degrees",
        pieces.count,
        residual.largest * 1e3,
        residual.rms() * 1e3,
        residual.frame,
        pieces.largest_turn_degrees,
    );
    talk.info("pieces", &message);
}

fn inspect(args: &VatInspectArgs) -> Outcome {
    let (path, manifest) = read_manifest(&args.bake)?;
    let mut out = String::new();
    let layout = &manifest.layout;
    let [width, height] = layout.size;
    let (low, high) = manifest.bounds;
    // Writing into a string cannot fail.
    let _ = writeln!(out, "{}: {:?}", path.display(), manifest.mode);
    let _ = writeln!(out, "frames    {}", manifest.frame_count());
    let _ = writeln!(out, "vertices  {}", layout.vertices);
    if let Some(split) = manifest.split_vertices {
        let _ = writeln!(out, "tears     {}", tear_words(split));
    }
    let _ = writeln!(
        out,
        "{}  {width} x {height}, {:.1} % unused",
        if manifest.lookup.is_some() {
            "lookup  "
        } else {
            "textures"
        },
        layout.waste() * 100.0
    );
    if let Some(lookup) = &manifest.lookup {
        let [width, height] = lookup.points.size;
        let _ = writeln!(
            out,
            "points    {} at most, in textures of {width} x {height}; which one a vertex shows is in {}",
            lookup.points.vertices, lookup.file
        );
    }
    let unit = match manifest.space.units_per_metre() {
        1.0 => "m",
        _ => "cm",
    };
    let _ = writeln!(out, "box       {low:?} to {high:?} {unit}");
    let _ = writeln!(out, "space     {}", manifest.space);
    let _ = writeln!(
        out,
        "carrier   {}, texture coordinates {}",
        manifest.carrier, manifest.uv_set
    );
    let _ = writeln!(
        out,
        "blending  {}",
        match (manifest.can_blend, manifest.has_ends) {
            (true, true) => "yes, closed: each frame has its end behind it",
            (true, false) => "yes",
            (false, _) => "no: frames are unrelated",
        }
    );
    for texture in &manifest.textures {
        let (spec, files) = (&texture.spec, texture.files.join(", "));
        let _ = writeln!(
            out,
            "{:<9} {:?}, {} channels: {files}",
            spec.quantity.file_name(),
            spec.format,
            spec.ranges.len()
        );
    }
    for clip in &manifest.clips {
        let f = &clip.frames;
        let _ = writeln!(
            out,
            "clip      {}: {} frames from {} on, {} a second, {:?}",
            clip.name, f.count, f.first, f.frames_per_second, f.at_end
        );
    }
    print(&out);
    Ok(())
}

fn measure_blends(args: &VatBlendErrorArgs, talk: &Talk) -> Outcome {
    let settings = settings_of(&args.settings, &args.source)?;
    let found = on_threads(args.source.threads, || {
        let source = source_of(&args.source, &settings, talk)?;
        let compare = |watch: &Watch<'_>| {
            let held = HeldBack::bake(source.as_ref(), &settings, &args.work, watch)?;
            let found = held.compare(watch)?;
            let frame = args.picture_frame.unwrap_or(found.fastest);
            let picture = args.output.as_ref().map(|path| {
                let all = held.pictures(frame, args.size as usize)?;
                Ok::<_, BakeError>((path, frame, all))
            });
            Ok((found, picture.transpose()?))
        };
        Ok(watched(talk, compare)?)
    })?;
    let (found, picture) = found;
    if let Some((path, frame, [truth, stepped, blended])) = &picture {
        let titles = [
            format!("frame {frame}"),
            "stepping".into(),
            "blending".into(),
        ];
        let panels = [truth, stepped, blended].into_iter().zip(&titles);
        let panels: Vec<(&str, &_)> = panels.map(|(p, t)| (t.as_str(), p)).collect();
        sinew::io::write_png(path, &side_by_side(&panels)).map_err(Failure::output)?;
    }
    let line = |what: &str, off: &SurfaceDistance| {
        let (rms, largest) = (off.rms() * 1e3, off.max * 1e3);
        format!("{what} rms {rms:.4} mm, {largest:.3} mm at most")
    };
    let message = format!(
        "{} frames held back; {}; {}",
        found.frames,
        line("blends are off by", &found.blended),
        line("steps by", &found.stepped),
    );
    talk.info("compared", &message);
    Ok(())
}

fn verify_bake(args: &VatVerifyArgs, talk: &Talk) -> Outcome {
    let settings = settings_of(&args.settings, &args.source)?;
    let found = on_threads(args.source.threads, || {
        let source = source_of(&args.source, &settings, talk)?;
        let found = watched(talk, |watch| {
            verify(&args.bake, source.as_ref(), &settings, watch)
        })?;
        let worst = source.number(found.errors.position.frame as usize);
        Ok((found, worst))
    })?;
    let (found, worst) = found;
    let promised = found.promised.iter().map(|p| p * p).sum::<f64>().sqrt();
    let promised = promised + found.promised_beyond;
    // Roundings of single precision beyond what the format promises.
    let tolerance = args.tolerance.unwrap_or(promised * 1.001 + 1e-6);
    let position = &found.errors.position;
    let what = match read_manifest(&args.bake)?.1.mode {
        Mode::Particles => "points",
        _ => "triangles",
    };
    let message = format!(
        "{} frames: {} {what} lost, {} invented; positions within {:.4} mm (rms {:.4} mm, largest in frame {}, allowed {:.4} mm){}",
        found.frames,
        found.lost,
        found.invented,
        position.largest * 1e3,
        position.rms() * 1e3,
        worst,
        tolerance * 1e3,
        normals_of(&found),
    );
    let message = message + &quantities_of(&found);
    let message = message + &found.ends.as_ref().map_or_else(String::new, |e| e.words());
    if found.is_same(tolerance) {
        talk.info("verified", &message);
        return Ok(());
    }
    let others = found.quantities.iter().filter_map(|q| q.first_wrong);
    let of_ends = found.ends.iter().filter_map(|e| e.first_wrong);
    let first = found.first_wrong.into_iter().chain(others).chain(of_ends);
    let first = first.min();
    let first = first.map_or_else(String::new, |n| format!("; first in frame {n}"));
    let bake = args.bake.display();
    Err(Failure::bind(format!(
        "{bake} differs from its sequence: {message}{first}"
    )))
}

/// `, normals within 0.38 degrees (allowed 0.39)`, or nothing where none were compared.
fn normals_of(found: &Verified) -> String {
    let normal = &found.errors.normal;
    if normal.samples() == 0 {
        return String::new();
    }
    let text = format!(
        ", normals within {:.2} degrees",
        normal.largest.to_degrees()
    );
    let allowed = found.promised_normal.map(f64::to_degrees);
    let text = text + &allowed.map_or_else(String::new, |a| format!(" (allowed {a:.2})"));
    match found.normals_beyond {
        0 => text,
        corners => format!("{text}, {corners} corners beyond that"),
    }
}

/// `; color0 within 0.002 (allowed 0.002)` for each of what else was compared.
fn quantities_of(found: &Verified) -> String {
    let each = found.quantities.iter().map(|q| {
        let (name, largest) = (q.quantity.file_name(), q.errors.largest);
        let text = format!("; {name} within {largest:.3e} (allowed {:.3e})", q.allowed);
        match q.beyond {
            0 => text,
            corners => format!("{text}, {corners} corners beyond that"),
        }
    });
    each.collect()
}

/// Runs on a number of threads; 0: all.
fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> Outcome<T> + Send) -> Outcome<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(Failure::output)?.install(work)
}

/// Runs with a progress bar for each stage; Ctrl-C stops it.
fn watched<T>(
    talk: &Talk,
    work: impl FnOnce(&Watch<'_>) -> Result<T, BakeError>,
) -> Result<T, BakeError> {
    let bar: Mutex<Option<(&'static str, Progress)>> = Mutex::new(None);
    let progress = |what: &'static str, done: usize, total: usize| {
        let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
        if bar.as_ref().is_none_or(|b| b.0 != what) {
            *bar = Some((what, talk.progress(total, what)));
        }
        if let Some((_, bar)) = bar.as_ref()
            && done > 0
        {
            bar.step(done);
        }
    };
    work(&Watch {
        is_cancelled: &|| talk.is_interrupted(),
        progress: &progress,
    })
}

fn settings_of(args: &VatSettingsArgs, source: &SourceArgs) -> Outcome<VatSettings> {
    let mut out = match &args.settings {
        Some(path) => settings_in(path)?,
        None => VatSettings::default(),
    };
    if let Some(fps) = source.fps {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "files store single precision"
        )]
        let rate = fps as f32;
        out.frames_per_second = rate;
    }
    match args.mode {
        ModeArg::Auto => {}
        ModeArg::Remesh => out.mode = Some(Mode::Remesh),
        ModeArg::Soft => out.mode = Some(Mode::Soft),
        ModeArg::Rigid => out.mode = Some(Mode::Rigid),
        ModeArg::Particles => out.mode = Some(Mode::Particles),
    }
    if !args.textures.is_empty() {
        out.textures.clone_from(&args.textures);
    }
    out.at_end = match args.at_end {
        None => out.at_end,
        Some(AtEndArg::Loop) => AtEnd::Loop,
        Some(AtEndArg::SeamlessLoop) => AtEnd::SeamlessLoop,
        Some(AtEndArg::Clamp) => AtEnd::Clamp,
    };
    out.largest_side = args.max_side.unwrap_or(out.largest_side);
    out.powers_of_two |= args.power_of_two;
    out.crease_degrees = args.crease.unwrap_or(out.crease_degrees);
    out.points = match args.points {
        None => out.points,
        Some(PointsArg::Corners) => Points::Corners,
        Some(PointsArg::Unique) => Points::Unique,
    };
    args.convention.apply(&mut out)?;
    order_of(args, &mut out)?;
    shapes_of(&args.shapes, &mut out);
    prepare_of(args, &mut out);
    out.check()?;
    Ok(out)
}

fn settings_in(path: &Path) -> Outcome<VatSettings> {
    let text = sinew::io::read_text(path).map_err(Failure::input)?;
    let fault = |e| Failure::input(format!("{}: {e}", path.display()));
    let mut value: serde_json::Value = serde_json::from_str(&text).map_err(fault)?;
    // The job of a work folder holds the settings that it was begun with.
    let is_job = value.get("format").is_some();
    let settings = match value.get_mut("settings").filter(|_| is_job) {
        Some(settings) => settings.take(),
        None => value,
    };
    serde_json::from_value(settings).map_err(fault)
}

fn order_of(args: &VatSettingsArgs, out: &mut VatSettings) -> Outcome {
    match args.order {
        None => {}
        Some(OrderArg::Match) if out.matching().is_some() => {}
        Some(OrderArg::Match) => out.order = TriangleOrder::default(),
        Some(OrderArg::File) => out.order = TriangleOrder::File,
        Some(OrderArg::Curve) => out.order = TriangleOrder::Curve,
        Some(OrderArg::Color) => out.order = TriangleOrder::Color,
    }
    let needs_matching = |flag: &str| {
        let message = format!("{flag} helps matching; it needs --order match");
        Err(Failure::usage(message))
    };
    let matching = match &mut out.order {
        TriangleOrder::Matched(matching) => matching,
        _ if args.velocity.is_some() => return needs_matching("--velocity"),
        _ if args.in_between.is_some() => return needs_matching("--in-between"),
        _ => return Ok(()),
    };
    if let Some(name) = &args.velocity {
        matching.velocity = Some(name.clone());
    }
    match args.in_between {
        None => {}
        Some(InBetweenArg::Closed) => matching.in_betweens = Some(InBetweens::Closed),
        Some(InBetweenArg::Slots) => matching.in_betweens = Some(InBetweens::Slots),
    }
    Ok(())
}

fn shapes_of(args: &ShapeArgs, out: &mut VatSettings) {
    let (pieces, particles) = (&mut out.pieces, &mut out.particles);
    pieces.attribute = args.pieces.clone().or(pieces.attribute.take());
    pieces.tolerance = args.rigid_tolerance.or(pieces.tolerance);
    pieces.blend &= !args.no_blend;
    for (asked, name) in [
        (&args.point_ids, &mut particles.id),
        (&args.point_sizes, &mut particles.size),
    ] {
        if let Some(asked) = asked {
            name.clone_from(asked);
        }
    }
    particles.scale = args.point_scale.unwrap_or(particles.scale);
}

fn prepare_of(args: &VatSettingsArgs, out: &mut VatSettings) {
    if args.delete_hidden {
        out.prepare
            .hidden
            .get_or_insert_with(HiddenSettings::default);
    }
    if let Some(iterations) = args.relax {
        let relax = out
            .prepare
            .relax_before
            .get_or_insert_with(RelaxSettings::default);
        relax.iterations = iterations;
    }
    if let Some(faces) = args.faces {
        let crease = out.crease();
        let simplify = out
            .prepare
            .simplify
            .get_or_insert_with(SimplifySettings::default);
        simplify.target_faces = faces;
        simplify.hard_edge_angle = Some(crease);
    }
}

/// The frames that the command line names.
fn source_of(
    args: &SourceArgs,
    settings: &VatSettings,
    talk: &Talk,
) -> Outcome<Box<dyn FrameSource>> {
    let ending = args.source.extension().and_then(|e| e.to_str());
    let ending = ending.unwrap_or_default().to_lowercase();
    let is_sample = args
        .source
        .to_str()
        .is_some_and(|s| s.starts_with("sample:"));
    if is_sample || matches!(ending.as_str(), "glb" | "gltf") {
        if !args.ranges.is_empty() {
            return Err(Failure::usage(
                "--range is for folders of files; of characters, name clips with --clip",
            ));
        }
        return played(args, settings, talk);
    }
    if args.graph.is_some() || !args.clip.is_empty() || args.frames.is_some() {
        return Err(Failure::usage(
            "--graph, --clip and --frames are for characters (.glb, .gltf, sample:NAME)",
        ));
    }
    let files = sinew::io::find_sequence(&args.source).map_err(Failure::input)?;
    for w in &files.warnings {
        talk.warning(w.code, &format!("{}: {}", args.source.display(), w.message));
    }
    let files = FileFrames::new(files, args.up == Up::Z);
    Ok(match args.ranges.as_slice() {
        [] => Box::new(files),
        ranges => Box::new(RangedFrames::new(files, ranges)?),
    })
}

/// The frames of a character's clips, one behind the other.
fn played(args: &SourceArgs, settings: &VatSettings, talk: &Talk) -> Outcome<Box<dyn FrameSource>> {
    let [_, _, ..] = args.clip.as_slice() else {
        let clip = args.clip.first().map(String::as_str);
        return Ok(Box::new(played_clip(args, clip, settings, talk)?.1));
    };
    if args.frames.is_some() {
        return Err(Failure::usage(
            "--frames is for one clip; several are taken whole",
        ));
    }
    let mut parts: Vec<(String, Box<dyn FrameSource + Send>)> = Vec::new();
    let mut name = String::new();
    for clip in &args.clip {
        let (asset, frames) = played_clip(args, Some(clip), settings, talk)?;
        name = asset;
        parts.push((clip.clone(), Box::new(frames)));
    }
    Ok(Box::new(ChainedFrames::new(name, parts)?))
}

/// Name of a character, and the frames of a clip.
fn played_clip(
    args: &SourceArgs,
    clip: Option<&str>,
    settings: &VatSettings,
    talk: &Talk,
) -> Outcome<(String, PlayedFrames)> {
    let character = load::character(&args.source, talk)?;
    let document = match &args.graph {
        Some(path) => load::document(path)?,
        None => Document::of_character(&character),
    };
    let plan = Arc::new(load::compile(&document, talk)?);
    let parameters = load::settings(&plan, &args.set)?;
    let clip = character.find_clip_name(clip)?;
    let fps = f64::from(settings.frames_per_second);
    let of_clip = character.asset.find_clip(clip.as_deref());
    let numbers = frame_numbers(args.frames.as_deref(), of_clip, fps)?;
    let values = load::values(&plan, &args.values, &numbers)?;
    let asset = character.asset.name.clone();
    let name = clip.clone().unwrap_or_else(|| asset.clone());
    let cast = load::cast(character, &plan, &document.folder, &args.input_files, talk)?;
    let key = key_of(args, &cast, clip.as_deref())?;
    let graph = load::bind(&cast, &plan, &parameters, talk)?;
    let runner = device::runner(&graph, args.device, talk)?;
    let player = Player::new(runner, cast, values, clip.as_deref(), fps)?;
    let output = args.mesh_output.as_deref();
    let frames = PlayedFrames::new(player, numbers, output, name, key);
    Ok((asset, frames.map_err(Failure::usage)?))
}

/// What the frames of a bound graph depend on beside it: the clip, and the files that clips and values are in.
fn key_of(args: &SourceArgs, cast: &Cast, clip: Option<&str>) -> Outcome<String> {
    let mut out = format!("clip {clip:?}, device {:?}", args.device);
    let characters = cast.characters().iter().map(|c| c.path.as_path());
    let values = args.values.iter().filter_map(|g| g.split_once('='));
    let files = characters.chain(values.map(|g| Path::new(g.1)));
    // Built-in samples have no file.
    for path in files.filter(|p| p.exists()) {
        let stamp = sinew::io::file_stamp(path).map_err(Failure::input)?;
        // Writing into a string cannot fail.
        let _ = write!(out, "\n{}: {stamp}", path.display());
    }
    Ok(out)
}

impl From<BakeError> for Failure {
    fn from(error: BakeError) -> Self {
        let code = match &error {
            BakeError::Cancelled => Code::Interrupted,
            BakeError::Setting { .. } | BakeError::Quantity { .. } | BakeError::Preparation(_) => {
                Code::Usage
            }
            BakeError::Io(sinew::io::IoError::Write { .. }) => Code::Output,
            BakeError::Missing { .. }
            | BakeError::NotSoft { .. }
            | BakeError::NotRigid { .. }
            | BakeError::UnclearTurn { .. }
            | BakeError::Pieces { .. }
            | BakeError::Convention { .. }
            | BakeError::Plan(_)
            | BakeError::Layout(_) => Code::Bind,
            _ => Code::Input,
        };
        Self::new(code, error)
    }
}
