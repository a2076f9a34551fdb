//! `sinew bake skin`.

use super::vat::watched;
use crate::args::LogFormat;
use crate::exit::{Code, Failure, Outcome};
use crate::frames::frame_numbers;
use crate::reporter::Reporter;
use crate::setup::{self, SetupFile};
use crate::skin_args::{BakeSkinArgs, DriveArg, MethodArg};
use crate::{device, load};
use sinew::bake::Watch;
use sinew::bake::skin::{
    ClipFrames, JointRange, MeshesError, Portable, SkinBake, SkinBakeError, SkinClipReport,
    SkinDrive, SkinError, SkinMethod, SkinReport, SkinRequest, bake_skin as bake, measure_skin,
    ranges_from_json, ranges_of, write_colored, write_report,
};
use sinew::deform::direct_delta_mush::{DirectDeltaMushError, SmoothingSettings};
use sinew::geom::Asset;
use sinew::geom::names::instead_of;
use sinew::io::IoError;
use sinew::play::Player;
use std::path::Path;
use std::sync::Arc;

/// How much more than a report says counts as the same: rounding of times and transforms.
const SLACK: f64 = 1.001;
/// Millimetres.
const SLACK_MM: f64 = 1e-3;

pub(super) fn bake_skin(args: &BakeSkinArgs, reporter: &Reporter) -> Outcome {
    for path in [&args.output, &args.color].into_iter().flatten() {
        load::check_glb_output(path)?;
    }
    if args.color.is_some() && args.color == args.output {
        return Err(Failure::usage(
            "--color and -o name the same file; choose another name for --color",
        ));
    }
    check_added(args)?;
    if !args.played.inputs.expressions.is_empty() {
        return Err(Failure::usage(
            "--expression: a skin is baked for all expressions, whose targets stay in the file; leave it out",
        ));
    }
    let character = load::character(&args.character, reporter)?;
    for path in [&args.output, &args.color].into_iter().flatten() {
        load::check_vrm_output(path, &character)?;
    }
    let portable = Portable::new(&character)?;
    for w in &portable.character.asset.warnings {
        reporter.warning(w.code, &w.message);
    }
    let document = load::chosen_document(args.played.graph.as_deref(), &character, reporter)?;
    let plan = Arc::new(load::compile(&document, reporter)?);
    let parameters = load::settings(&plan, &args.played.inputs.set)?;
    load::check_values_names(&plan, &args.played.inputs.values)?;
    let asset = portable.character.asset.clone();
    let fitted = clips(args, &asset, reporter)?;
    let (clips, held_out) = split(args, &asset, fitted, reporter)?;
    check_keyed(args, &clips)?;
    let (tolerance, ranges) = (tolerance(args)?, ranges(args, &asset)?);
    let all = clips.iter().chain(&held_out);
    let numbers: Vec<i64> = all.flat_map(|c| c.numbers.clone()).collect();
    let values = load::values(&plan, &args.played.inputs.values, &numbers)?;
    let main = portable.character.clone();
    let cast = load::cast(
        main,
        &plan,
        &document,
        (&args.played.inputs).into(),
        reporter,
    )?;
    if cast.has_point_caches() {
        return Err(Failure::usage(
            "a skin is baked from joints, but a point cache moves a mesh of this graph; bake it with `sinew bake vat`",
        ));
    }
    args.threads.pool()?.install(|| -> Outcome {
        let file = SetupFile::open(args.played.inputs.cache.as_deref())?;
        let graph = setup::bind(&cast, &plan, &parameters, &file, reporter)?;
        let runner = device::runner(&graph, args.evaluated.device, reporter)?;
        let mut player = Player::new(runner, cast, values, None, args.fps)?;
        let mut request = SkinRequest::default();
        request.method = method(args);
        request.influences = args.influences;
        request.helpers = args.helpers;
        request.correctives = args.correctives;
        request.tolerance = tolerance;
        request.hold = args.hold;
        request.clips = clips;
        request.ranges = ranges;
        request.held_out = held_out;
        request.drive = match args.drive {
            DriveArg::Clips => SkinDrive::Clips,
            DriveArg::Pose => SkinDrive::Pose,
            DriveArg::Both => SkinDrive::Both,
        };
        request.drive_poses = args.drive_poses;
        request.output = args.mesh_output.clone();
        request.graph = document.name.clone();
        match (&args.verify, &args.output) {
            (Some(file), _) => verify(args, &portable, &mut player, &request, file, reporter),
            (None, Some(out)) => {
                let made = watched(reporter, |watch: &Watch<'_>| {
                    bake(&portable, &mut player, &request, out, watch).map_err(Failure::from)
                })?;
                written(args, &portable, &made, out, reporter)
            }
            (None, None) => Ok(()),
        }
    })
}

fn check_added(args: &BakeSkinArgs) -> Outcome {
    if args.verify.is_some() {
        return Ok(());
    }
    if args.no_clips {
        check_keyed(args, &[])?;
    }
    let added = args.helpers.saturating_add(args.correctives) > 0;
    if !added && args.drive != DriveArg::Clips {
        return Err(Failure::usage(
            "--drive has no effect without --helpers or --correctives; add one of them",
        ));
    }
    Ok(())
}

/// What has keys needs clips that have them.
fn check_keyed(args: &BakeSkinArgs, fitted: &[ClipFrames]) -> Outcome {
    let added = args.helpers.saturating_add(args.correctives) > 0;
    let is_keyed = added && args.drive != DriveArg::Pose && args.verify.is_none();
    if !is_keyed || !fitted.is_empty() {
        return Ok(());
    }
    let why = match (args.no_clips, args.hold_out.is_empty()) {
        (true, _) => "--no-clips leaves none",
        (false, false) => "--hold-out leaves none to fit",
        (false, true) => "the character has none",
    };
    Err(Failure::usage(format!(
        "--helpers and --correctives need clips for their keys, but {why}; use --drive pose to drive them by the pose"
    )))
}

/// Takes out of the clips to fit what is held out.
fn split(
    args: &BakeSkinArgs,
    asset: &Asset,
    fitted: Vec<ClipFrames>,
    reporter: &Reporter,
) -> Outcome<(Vec<ClipFrames>, Vec<ClipFrames>)> {
    let mut clips: Vec<ClipFrames> = fitted;
    let mut held_out = Vec::new();
    for name in &args.hold_out {
        let clip = known(asset, name)?;
        if args.clip.contains(name) {
            return Err(Failure::usage(format!(
                "clip '{name}' is both fitted (--clip) and held out (--hold-out); remove one of the options"
            )));
        }
        clips.retain(|c| c.clip != clip);
        if !held_out.iter().any(|h: &ClipFrames| h.clip == clip) {
            held_out.push(frames(args, asset, clip, reporter)?);
        }
    }
    if clips.is_empty() && !held_out.is_empty() && args.ranges.is_none() {
        return Err(Failure::usage(
            "--hold-out leaves no clip to fit; keep a clip, or add --ranges",
        ));
    }
    let Some(every) = args.hold_every else {
        return Ok((clips, held_out));
    };
    for clip in &mut clips {
        let every = every as usize;
        let (mut kept, mut others) = (Vec::new(), Vec::new());
        for (k, number) in clip.numbers.iter().enumerate() {
            match (k + 1).is_multiple_of(every) {
                true => others.push(*number),
                false => kept.push(*number),
            }
        }
        clip.numbers = kept;
        if !others.is_empty() {
            held_out.push(ClipFrames {
                clip: clip.clip,
                numbers: others,
            });
        }
    }
    Ok((clips, held_out))
}

/// A clip by its name, the first of it.
fn known(asset: &Asset, name: &str) -> Outcome<usize> {
    let found = asset.clips.iter().position(|c| c.name == name);
    found.ok_or_else(|| {
        let known = asset.clips.iter().map(|c| c.name.as_str());
        let message = format!("there is no clip '{name}'; {}", instead_of(name, known));
        Failure::usage(message)
    })
}

fn frames(
    args: &BakeSkinArgs,
    asset: &Asset,
    clip: usize,
    reporter: &Reporter,
) -> Outcome<ClipFrames> {
    let numbers = frame_numbers(
        args.frames.as_deref(),
        asset.clips.get(clip),
        None,
        args.fps,
        reporter,
    )?;
    Ok(ClipFrames { clip, numbers })
}

fn method(args: &BakeSkinArgs) -> SkinMethod {
    match args.method {
        MethodArg::Fit => SkinMethod::Fitted,
        MethodArg::Smoothed => SkinMethod::Smoothed(SmoothingSettings {
            lambda: args.smoothing.lambda,
            kappa: args.smoothing.kappa,
            alpha: args.smoothing.alpha,
            iterations: args.smoothing.iterations,
            ..SmoothingSettings::default()
        }),
    }
}

fn tolerance(args: &BakeSkinArgs) -> Outcome<f64> {
    let found = args.tolerance;
    match found.is_finite() && found >= 0.0 {
        true => Ok(found * 1e-3),
        false => Err(Failure::usage(format!(
            "--tolerance is {found}, expected millimetres, 0 or more"
        ))),
    }
}

/// The largest root mean square that is taken, millimetres.
fn limit(args: &BakeSkinArgs) -> Outcome<f64> {
    match args.limit {
        None => Ok(f64::INFINITY),
        Some(limit) if limit >= 0.0 => Ok(limit),
        Some(limit) => Err(Failure::usage(format!(
            "--limit is {limit}, expected millimetres, 0 or more"
        ))),
    }
}

/// Clips and their frames; clips that another one of the same name hides are left out.
fn clips(args: &BakeSkinArgs, asset: &Asset, reporter: &Reporter) -> Outcome<Vec<ClipFrames>> {
    if args.no_clips {
        return Ok(Vec::new());
    }
    let first = |name: &str| asset.clips.iter().position(|c| c.name == name);
    let mut wanted = Vec::new();
    for name in &args.clip {
        let clip = known(asset, name)?;
        if !wanted.contains(&clip) {
            wanted.push(clip);
        }
    }
    if args.clip.is_empty() {
        for (clip, of) in asset.clips.iter().enumerate() {
            match first(&of.name) == Some(clip) {
                true => wanted.push(clip),
                false => reporter.warning(
                    "clip_hidden",
                    &format!(
                        "a second clip named '{}' is not fitted; rename it to fit it as well",
                        of.name
                    ),
                ),
            }
        }
    }
    let found = wanted
        .into_iter()
        .map(|clip| frames(args, asset, clip, reporter));
    let found: Vec<ClipFrames> = found.collect::<Outcome<_>>()?;
    if found.is_empty() && args.ranges.is_none() {
        reporter.warning("no_clips", "the character has no clips, so weights are fitted to the rest pose, which does not determine them; add joint rotations with --ranges");
    }
    Ok(found)
}

fn ranges(args: &BakeSkinArgs, asset: &Asset) -> Outcome<Vec<JointRange>> {
    let Some(text) = &args.ranges else {
        return Ok(Vec::new());
    };
    if let Ok(degrees) = text.parse::<f64>() {
        return match degrees.is_finite() && degrees > 0.0 {
            true => Ok(ranges_of(asset, degrees)),
            false => Err(Failure::usage(format!(
                "--ranges is {degrees}, expected degrees above 0, or a file"
            ))),
        };
    }
    let content = sinew::io::read_text(Path::new(text)).map_err(Failure::input)?;
    ranges_from_json(asset, &content, text).map_err(Failure::input)
}

/// Says what was written, and writes what was asked for beside it.
fn written(
    args: &BakeSkinArgs,
    portable: &Portable,
    made: &SkinBake,
    out: &Path,
    reporter: &Reporter,
) -> Outcome {
    if let Some(folder) = &args.report {
        write_report(folder, &made.report, &made.triangles, &made.moments)
            .map_err(SkinBakeError::from)?;
    }
    if let Some(path) = &args.color {
        write_colored(portable, made, path)?;
    }
    let report = &made.report;
    tell(&report.clips, reporter);
    let helpers = match report.helpers.len() {
        0 => String::new(),
        n => format!(", {n} helper joints"),
    };
    let targets = match report.targets {
        0 => String::new(),
        n => format!(
            ", {n} morph targets over {} vertices",
            report.target_vertices
        ),
    };
    let drivers = match report.drivers.len() {
        0 => String::new(),
        n => {
            let poses: usize = report.drivers.iter().map(|d| d.poses).sum();
            format!(", {n} pose drivers of {poses} poses")
        }
    };
    if !report.undriven.is_empty() {
        let names = report.undriven.join(", ");
        let told = format!(
            "no pose driver was made for {names}: no joint with a unique name that influences them moves in the samples, or the error without them is within --tolerance"
        );
        reporter.warning("undriven", &told);
    }
    let message = format!(
        "wrote {}: {} vertices, at most {} joints per vertex{helpers}{targets}{drivers}; {} bytes (the source as GLB: {})",
        out.display(),
        report.vertices,
        report.influences_found,
        report.written_bytes,
        report.source_bytes
    );
    reporter.info("written", &message);
    for path in [&args.color, &args.report].into_iter().flatten() {
        reporter.info("written", &format!("wrote {}", path.display()));
    }
    Ok(())
}

/// A line for each clip.
fn tell(clips: &[SkinClipReport], reporter: &Reporter) {
    for clip in clips {
        match reporter.format() {
            LogFormat::Text | LogFormat::Openjd => reporter.print(&clip.words()),
            LogFormat::Json => reporter.print(&serde_json::to_string(clip).unwrap_or_default()),
        }
    }
}

fn verify(
    args: &BakeSkinArgs,
    portable: &Portable,
    player: &mut Player,
    request: &SkinRequest,
    file: &Path,
    reporter: &Reporter,
) -> Outcome {
    let limit = limit(args)?;
    let claims = args.report.as_deref().map(claims).transpose()?;
    let measured = watched(reporter, |watch: &Watch<'_>| {
        measure_skin(portable, player, request, file, watch).map_err(Failure::from)
    })?;
    tell(&measured, reporter);
    if let Some(report) = &claims {
        tell_other_file(report, file, reporter)?;
        check_measured(report, &measured, args.fps, file)?;
    }
    for found in &measured {
        let claim = match &claims {
            Some(report) => Some(claim_of(&report.clips, found, file)?),
            None => None,
        };
        check_claim(found, claim, limit, args.drive).map_err(|told| {
            let (file, name) = (file.display(), &found.name);
            Failure::bind(format!("{file}: clip '{name}' {told}"))
        })?;
    }
    reporter.info(
        "verified",
        &format!("{} matches the frames of the graph", file.display()),
    );
    Ok(())
}

/// Which samples an entry of a report is about: names may be those of several clips.
fn samples_of(clip: &SkinClipReport) -> (&str, Option<usize>, bool) {
    (&clip.name, clip.clip, clip.held_out)
}

/// The same in words.
fn place(clip: &SkinClipReport) -> String {
    let name = &clip.name;
    let number = clip.clip.map_or(String::new(), |c| format!(" (clip {c})"));
    let held_out = if clip.held_out { ", held out" } else { "" };
    format!("clip '{name}'{number}{held_out}")
}

/// Whether all that a report says was measured, at its frames a second.
fn check_measured(
    report: &SkinReport,
    measured: &[SkinClipReport],
    fps: f64,
    file: &Path,
) -> Outcome {
    let file = file.display();
    if (report.fps - fps).abs() > 1e-9 * fps.abs() {
        return Err(Failure::bind(format!(
            "{file}: measured at {fps} frames per second, but the report is for {}; use the --fps of the report",
            report.fps
        )));
    }
    let is_missing =
        |claim: &&SkinClipReport| !measured.iter().any(|m| samples_of(m) == samples_of(claim));
    match report.clips.iter().find(is_missing) {
        None => Ok(()),
        Some(claim) => Err(Failure::bind(format!(
            "{file}: the report has {}, which was not measured; use the options of the bake (--clip, --ranges, --hold-out, --hold-every)",
            place(claim)
        ))),
    }
}

/// What a report says of the same samples: exactly one entry, of as many samples.
fn claim_of<'a>(
    claims: &'a [SkinClipReport],
    found: &SkinClipReport,
    file: &Path,
) -> Outcome<&'a SkinClipReport> {
    let is_same = |c: &&SkinClipReport| samples_of(c) == samples_of(found);
    let same: Vec<&SkinClipReport> = claims.iter().filter(is_same).collect();
    let (file, place) = (file.display(), place(found));
    match same.as_slice() {
        [one] if one.samples == found.samples => Ok(one),
        [one] => Err(Failure::bind(format!(
            "{file}: {place} was measured in {} samples, but the report has {}; use the options of the bake (--frames, --ranges, --hold-every)",
            found.samples, one.samples
        ))),
        all => {
            let count = all.len();
            Err(Failure::bind(format!(
                "{file}: the report has {count} entries of {place}, expected 1"
            )))
        }
    }
}

/// Root mean square and largest distance, millimetres.
type Distances = (f64, f64);

/// What the file's own graph shows, where it has one.
fn driven(clip: &SkinClipReport) -> Option<Distances> {
    clip.driven_rms_mm.zip(clip.driven_largest_mm)
}

/// Whether a clip is as near as it was said to be, in both ways of playing. `limit` holds both, too; of a file that the pose alone drives only what the
/// graph shows: others play its weights alone.
fn check_claim(
    found: &SkinClipReport,
    claim: Option<&SkinClipReport>,
    limit: f64,
    drive: DriveArg,
) -> Result<(), String> {
    let by_pose = driven(found);
    let is_bare = by_pose.is_some() && drive == DriveArg::Pose;
    let plain_limit = if is_bare { f64::INFINITY } else { limit };
    let plain = |c: &SkinClipReport| (c.rms_mm, c.largest_mm);
    check_distances("", plain(found), claim.map(plain), plain_limit)?;
    match (claim.and_then(driven), by_pose) {
        (claimed, Some(found)) => check_distances("driven by the pose ", found, claimed, limit),
        (Some(_), None) => {
            Err("has no graph that drives it, but the report has numbers for one".into())
        }
        (None, None) => Ok(()),
    }
}

/// NaN is never within the limits.
fn check_distances(
    how: &str,
    found: Distances,
    claim: Option<Distances>,
    limit: f64,
) -> Result<(), String> {
    let allowed = |mm: f64| mm * SLACK + SLACK_MM;
    let claimed = claim.map(|(rms, largest)| (allowed(rms), allowed(largest)));
    let (rms, largest) = claimed.unwrap_or((f64::INFINITY, f64::INFINITY));
    let rms = rms.min(limit);
    match found.0 <= rms && found.1 <= largest {
        true => Ok(()),
        false => Err(format!(
            "{how}has an error of {:.4} mm (rms) and at most {:.3} mm; allowed are {rms:.4} and {largest:.3}",
            found.0, found.1
        )),
    }
}

/// A bake that was killed between its two files leaves a new one beside an old report; tools that write the file anew change it as well.
fn tell_other_file(report: &SkinReport, file: &Path, reporter: &Reporter) -> Outcome {
    let found = SkinReport::hash_of(&sinew::io::read_bytes(file).map_err(Failure::input)?);
    if !report.hash.is_empty() && report.hash != found {
        let message = format!(
            "{} is not the file of the report: its bytes differ, so it was written again or is from another bake",
            file.display()
        );
        reporter.warning("other_file", &message);
    }
    Ok(())
}

/// What a report says.
fn claims(folder: &Path) -> Outcome<SkinReport> {
    let path = folder.join("report.json");
    let text = sinew::io::read_text(&path).map_err(Failure::input)?;
    serde_json::from_str(&text).map_err(|e| Failure::input(format!("{}: {e}", path.display())))
}

impl From<SkinBakeError> for Failure {
    fn from(error: SkinBakeError) -> Self {
        let code = match &error {
            SkinBakeError::Skin(SkinError::Cancelled) => Code::Interrupted,
            SkinBakeError::Skin(SkinError::Setting { .. })
            | SkinBakeError::Meshes(MeshesError::Frames { .. })
            | SkinBakeError::Smoothed(DirectDeltaMushError::Setting { .. })
            | SkinBakeError::Meshes(MeshesError::Output { .. } | MeshesError::Twice { .. }) => {
                Code::Usage
            }
            SkinBakeError::Io(IoError::Write { .. })
            | SkinBakeError::Skin(SkinError::Io(IoError::Write { .. })) => Code::Output,
            SkinBakeError::Io(_) | SkinBakeError::Skin(SkinError::Io(_)) => Code::Input,
            _ => Code::Bind,
        };
        match error {
            SkinBakeError::Play(error) => error.into(),
            SkinBakeError::Skin(SkinError::Bake(error)) => error.into(),
            error => Self::new(code, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clip(name: &str, clip: Option<usize>, held_out: bool) -> SkinClipReport {
        let mut report = SkinClipReport::default();
        report.name = name.into();
        report.clip = clip;
        report.held_out = held_out;
        report
    }

    /// Names alone do not say which claim is meant.
    #[test]
    fn claims_are_of_the_same_clip() {
        let file = Path::new("a.glb");
        let claims = [
            clip("walk", Some(0), false),
            clip("walk", Some(2), false),
            clip("walk", Some(0), true),
            clip("joint ranges", None, false),
            clip("joint ranges", Some(1), false),
        ];
        for claim in &claims {
            let found = claim_of(&claims, claim, file).expect("one");
            assert_eq!(found, claim);
        }
        let told = |claims: &[SkinClipReport], found: &SkinClipReport| {
            claim_of(claims, found, file).expect_err("not one").message
        };
        assert_eq!(
            told(&claims, &clip("walk", Some(1), false)),
            "a.glb: the report has 0 entries of clip 'walk' (clip 1), expected 1"
        );
        let twice = [claims[0].clone(), claims[0].clone()];
        assert_eq!(
            told(&twice, &claims[0]),
            "a.glb: the report has 2 entries of clip 'walk' (clip 0), expected 1"
        );
        assert_eq!(
            told(&[], &claims[2]),
            "a.glb: the report has 0 entries of clip 'walk' (clip 0), held out, expected 1"
        );
        let mut fewer = claims[0].clone();
        fewer.samples = 3;
        assert_eq!(
            told(&claims, &fewer),
            "a.glb: clip 'walk' (clip 0) was measured in 3 samples, but the report has 0; use the options of the bake (--frames, --ranges, --hold-every)"
        );
    }

    /// A claim that nothing was measured of does not hold.
    #[test]
    fn all_claims_are_measured() {
        let mut report = SkinReport::default();
        report.fps = 29.97;
        report.clips = vec![clip("walk", Some(0), false), clip("walk", Some(0), true)];
        let file = Path::new("a.glb");
        let told = |measured: &[SkinClipReport], fps: f64| {
            let found = check_measured(&report, measured, fps, file);
            found.err().map_or(String::new(), |e| e.message)
        };
        assert_eq!(told(&report.clips, 29.97), "");
        let one = told(&report.clips[..1], 29.97);
        assert!(
            one.contains("clip 'walk' (clip 0), held out, which was not measured"),
            "{one}"
        );
        let slow = told(&report.clips, 15.0);
        assert!(
            slow.contains("at 15 frames per second, but the report is for 29.97"),
            "{slow}"
        );
    }

    #[test]
    fn a_claim_is_held_in_every_number() {
        let mut found = SkinClipReport::default();
        found.rms_mm = 1.0;
        found.largest_mm = 5.0;
        found.driven_rms_mm = Some(2.0);
        found.driven_largest_mm = Some(6.0);
        let fits = |change: &dyn Fn(&mut SkinClipReport)| {
            let mut claim = found.clone();
            change(&mut claim);
            check_claim(&found, Some(&claim), f64::INFINITY, DriveArg::Both).is_ok()
        };
        assert!(fits(&|_| {}));
        assert!(!fits(&|c| c.rms_mm = 0.99));
        assert!(!fits(&|c| c.largest_mm = 4.9));
        assert!(!fits(&|c| c.driven_rms_mm = Some(1.98)));
        assert!(!fits(&|c| c.driven_largest_mm = Some(5.9)));
        assert!(fits(&|c| c.driven_rms_mm = None), "claims nothing");
        let mut none = found.clone();
        none.rms_mm = f64::NAN;
        let all = f64::INFINITY;
        let both = DriveArg::Both;
        assert!(check_claim(&none, None, all, both).is_err(), "no number");
        let mut none = found.clone();
        none.driven_largest_mm = Some(f64::NAN);
        assert!(check_claim(&none, None, all, both).is_err(), "no number");
        let mut plain = found.clone();
        plain.driven_rms_mm = None;
        assert!(check_claim(&plain, Some(&found), 9.0, both).is_err());
    }

    /// Plain 1 mm and driven 2 mm, or the other way round: the worse of both decides, and of what the pose alone drives the driven one.
    #[test]
    fn a_limit_holds_what_the_graph_shows() {
        let of = |rms_mm: f64, driven: Option<f64>| {
            let mut report = SkinClipReport::default();
            report.rms_mm = rms_mm;
            report.driven_rms_mm = driven;
            report.driven_largest_mm = driven;
            report
        };
        let fits = |clip: &SkinClipReport, limit: f64, drive: DriveArg| {
            check_claim(clip, None, limit, drive).is_ok()
        };
        for drive in [DriveArg::Clips, DriveArg::Both] {
            for worst in [of(1.0, Some(2.0)), of(2.0, Some(1.0))] {
                assert!(!fits(&worst, 1.5, drive), "{drive:?} {worst:?}");
                assert!(fits(&worst, 2.0, drive), "{drive:?} {worst:?}");
            }
        }
        assert!(!fits(&of(1.0, Some(2.0)), 1.5, DriveArg::Pose));
        assert!(fits(&of(2.0, Some(1.0)), 1.5, DriveArg::Pose));
        assert!(!fits(&of(2.0, None), 1.5, DriveArg::Pose), "no graph");
        assert!(!fits(&of(2.0, Some(1.0)), 0.9, DriveArg::Pose));
    }
}
