//! `sinew bake skin`.

use super::vat::watched;
use crate::args::LogFormat;
use crate::exit::{Code, Failure, Outcome};
use crate::frames::frame_numbers;
use crate::setup::{self, SetupFile};
use crate::skin_args::{BakeSkinArgs, MethodArg};
use crate::talk::{Talk, print};
use crate::{device, load};
use sinew::bake::Watch;
use sinew::bake::skin::{
    ClipFrames, JointRange, MeshesError, Portable, SkinBake, SkinBakeError, SkinClipReport,
    SkinError, SkinMethod, SkinReport, SkinRequest, bake_skin as bake, measure_skin,
    ranges_from_json, ranges_of, write_colored, write_report,
};
use sinew::deform::direct_delta_mush::{DirectDeltaMushError, SmoothingSettings};
use sinew::geom::Asset;
use sinew::io::IoError;
use sinew::play::{Document, Player};
use std::path::Path;
use std::sync::Arc;

/// How much more than a report says counts as the same: rounding of times and transforms.
const SLACK: f64 = 1.01;
/// Millimetres.
const SLACK_MM: f64 = 1e-3;

pub(super) fn bake_skin(args: &BakeSkinArgs, talk: &Talk) -> Outcome {
    for path in [&args.output, &args.color].into_iter().flatten() {
        check_ending(path)?;
    }
    if args.color.is_some() && args.color == args.output {
        return Err(Failure::usage(
            "--color and -o name the same file; the coloured one is another",
        ));
    }
    let character = load::character(&args.character, talk)?;
    let portable = Portable::new(&character)?;
    for w in &portable.character.asset.warnings {
        talk.warning(w.code, &w.message);
    }
    let document = match &args.graph {
        Some(path) => load::document(path)?,
        None => Document::of_character(&character),
    };
    let plan = Arc::new(load::compile(&document, talk)?);
    let parameters = load::settings(&plan, &args.set)?;
    let asset = portable.character.asset.clone();
    let clips = clips(args, &asset, talk)?;
    let numbers: Vec<i64> = clips.iter().flat_map(|c| c.numbers.clone()).collect();
    let values = load::values(&plan, &args.values, &numbers)?;
    let main = portable.character.clone();
    let cast = load::cast(main, &plan, &document.folder, &args.input_files, talk)?;
    args.threads.pool()?.install(|| -> Outcome {
        let file = SetupFile::open(args.cache.as_deref())?;
        let graph = setup::bind(&cast, &plan, &parameters, &file, talk)?;
        let runner = device::runner(&graph, args.device, talk)?;
        let mut player = Player::new(runner, cast, values, None, args.fps)?;
        let request = SkinRequest {
            method: method(args),
            influences: args.influences,
            helpers: args.helpers,
            correctives: args.correctives,
            tolerance: tolerance(args)?,
            hold: args.hold,
            clips,
            ranges: ranges(args, &asset)?,
            output: args.mesh_output.clone(),
            graph: document.name.clone(),
        };
        match (&args.verify, &args.output) {
            (Some(file), _) => verify(args, &portable, &mut player, &request, file, talk),
            (None, Some(out)) => {
                let made = watched(talk, |watch: &Watch<'_>| {
                    bake(&portable, &mut player, &request, out, watch).map_err(Failure::from)
                })?;
                written(args, &portable, &made, out, talk)
            }
            (None, None) => Ok(()),
        }
    })
}

fn check_ending(path: &Path) -> Outcome {
    let ending = path.extension();
    if ending.is_some_and(|e| e.eq_ignore_ascii_case("glb")) {
        return Ok(());
    }
    let path = path.display();
    Err(Failure::usage(format!(
        "{path}: expected a file that ends in .glb"
    )))
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

/// Clips and their frames; clips that another one of the same name hides are left out.
fn clips(args: &BakeSkinArgs, asset: &Asset, talk: &Talk) -> Outcome<Vec<ClipFrames>> {
    if args.no_clips {
        return Ok(Vec::new());
    }
    let first = |name: &str| asset.clips.iter().position(|c| c.name == name);
    let mut wanted = Vec::new();
    for name in &args.clip {
        match first(name) {
            Some(clip) if !wanted.contains(&clip) => wanted.push(clip),
            Some(_) => {}
            None => {
                let known: Vec<&str> = asset.clips.iter().map(|c| c.name.as_str()).collect();
                let known = known.join(", ");
                return Err(Failure::usage(format!(
                    "there is no clip '{name}'; there are: {known}"
                )));
            }
        }
    }
    if args.clip.is_empty() {
        for (clip, of) in asset.clips.iter().enumerate() {
            match first(&of.name) == Some(clip) {
                true => wanted.push(clip),
                false => talk.warning(
                    "clip_hidden",
                    &format!(
                        "a second clip '{}' is left out: another one has its name",
                        of.name
                    ),
                ),
            }
        }
    }
    let frames = |clip: usize| {
        let numbers = frame_numbers(args.frames.as_deref(), asset.clips.get(clip), args.fps)?;
        Ok(ClipFrames { clip, numbers })
    };
    let found: Vec<ClipFrames> = wanted.into_iter().map(frames).collect::<Outcome<_>>()?;
    if found.is_empty() && args.ranges.is_none() {
        talk.warning("no_clips", "the character has no clips: fitted to its rest pose, which says nothing about weights; --ranges turns its joints");
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
                "--ranges is {degrees}, expected degrees above 0 or a file"
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
    talk: &Talk,
) -> Outcome {
    if let Some(folder) = &args.report {
        write_report(folder, &made.report, &made.triangles, &made.moments)
            .map_err(SkinBakeError::from)?;
    }
    if let Some(path) = &args.color {
        write_colored(portable, made, path)?;
    }
    let report = &made.report;
    tell(&report.clips, talk);
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
    let message = format!(
        "wrote {}: {} vertices, {} joints a vertex at most{helpers}{targets}; {} bytes (the source as GLB: {})",
        out.display(),
        report.vertices,
        report.influences_found,
        report.written_bytes,
        report.source_bytes
    );
    talk.info("written", &message);
    for path in [&args.color, &args.report].into_iter().flatten() {
        talk.info("written", &format!("wrote {}", path.display()));
    }
    Ok(())
}

/// A line for each clip.
fn tell(clips: &[SkinClipReport], talk: &Talk) {
    for clip in clips {
        match talk.format() {
            LogFormat::Text => print(&clip.words()),
            LogFormat::Json => print(&serde_json::to_string(clip).unwrap_or_default()),
        }
    }
}

fn verify(
    args: &BakeSkinArgs,
    portable: &Portable,
    player: &mut Player,
    request: &SkinRequest,
    file: &Path,
    talk: &Talk,
) -> Outcome {
    let claims = args.report.as_deref().map(claims).transpose()?;
    let measured = watched(talk, |watch: &Watch<'_>| {
        measure_skin(portable, player, request, file, watch).map_err(Failure::from)
    })?;
    tell(&measured, talk);
    for found in &measured {
        let claim = claims.iter().flatten().find(|c| c.name == found.name);
        let claimed = claim.map(|c| [c.rms_mm, c.largest_mm]);
        let allowed = claimed.map(|c| c.map(|mm| mm * SLACK + SLACK_MM));
        let [rms, largest] = allowed.unwrap_or([f64::INFINITY; 2]);
        let rms = rms.min(args.limit.unwrap_or(f64::INFINITY));
        if claims.is_some() && claim.is_none() {
            let message = format!(
                "{}: the report has no clip '{}'",
                file.display(),
                found.name
            );
            return Err(Failure::bind(message));
        }
        // Numbers that are none fit nothing.
        let fits = found.rms_mm <= rms && found.largest_mm <= largest;
        if !fits {
            let message = format!(
                "{}: clip '{}' is off by {:.4} mm (rms), {:.3} mm at most; {rms:.4} and {largest:.3} are allowed",
                file.display(),
                found.name,
                found.rms_mm,
                found.largest_mm
            );
            return Err(Failure::bind(message));
        }
    }
    talk.info(
        "verified",
        &format!("{} shows what it should", file.display()),
    );
    Ok(())
}

/// What a report says.
fn claims(folder: &Path) -> Outcome<Vec<SkinClipReport>> {
    let path = folder.join("report.json");
    let text = sinew::io::read_text(&path).map_err(Failure::input)?;
    let report: SkinReport = serde_json::from_str(&text)
        .map_err(|e| Failure::input(format!("{}: {e}", path.display())))?;
    Ok(report.clips)
}

impl From<SkinBakeError> for Failure {
    fn from(error: SkinBakeError) -> Self {
        let code = match &error {
            SkinBakeError::Skin(SkinError::Cancelled) => Code::Interrupted,
            SkinBakeError::Skin(SkinError::Setting { .. })
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
