//! The frames that a command line names: files, or a character's clips.

use crate::bake_args::{SourceArgs, Up};
use crate::exit::{Failure, Outcome};
use crate::frames::{frame_numbers, step_of, tell_held};
use crate::reporter::Reporter;
use crate::setup::{self, SetupFile};
use crate::{device, load};
use sinew::bake::vat::VatSettings;
use sinew::bake::{
    ChainedFrames, FileFrames, FrameRange, FrameSource, PlayedFrames, RangedFrames, is_closed,
};
use sinew::geom::names::instead_of;
use sinew::graph::BoundGraph;
use sinew::play::{PlayInputs, Player};
use sinew::vat::playback::AtEnd;
use std::sync::Arc;

/// The frames that the command line names.
pub(super) fn source_of(
    args: &SourceArgs,
    settings: &VatSettings,
    reporter: &Reporter,
) -> Outcome<Box<dyn FrameSource>> {
    let ending = args.source.extension().and_then(|e| e.to_str());
    let ending = ending.unwrap_or_default().to_lowercase();
    let is_sample = args
        .source
        .to_str()
        .is_some_and(|s| s.starts_with("sample:"));
    let graph = &args.played.graph;
    let has_graph = graph.graph.is_some() || !graph.inputs.point_caches.is_empty();
    if has_graph || is_sample || matches!(ending.as_str(), "glb" | "gltf" | "vrm" | "fbx") {
        if has_graph && args.up == Up::Z {
            return Err(Failure::usage(
                "--up z works for files without a graph only; export the rest mesh and its point cache with Y up",
            ));
        }
        if !args.played.ranges.is_empty() {
            return Err(Failure::usage(
                "--range works for folders of files only; for a character, select clips with --clip",
            ));
        }
        return played(args, settings, reporter);
    }
    if !args.played.clip.is_empty() || args.frames.is_some() {
        return Err(Failure::usage(
            "--clip and --frames need a character (.glb, .gltf, .vrm, .fbx, sample:NAME) or a graph (--graph); for a folder of files, select frames with --range",
        ));
    }
    let files = sinew::io::find_sequence(&args.source).map_err(Failure::input)?;
    for w in &files.warnings {
        reporter.warning(w.code, &format!("{}: {}", args.source.display(), w.message));
    }
    let files = FileFrames::new(files, args.up == Up::Z);
    if !args.played.ranges.is_empty() {
        let ranged = RangedFrames::new(files, &args.played.ranges)?;
        for clip in ranged.clips() {
            if loops(settings) && is_closed(&ranged, &clip)? {
                tell_closed(args, &clip.name, Closing::Kept, reporter);
            }
        }
        return Ok(Box::new(ranged));
    }
    let all = FrameRange {
        name: files.name().to_owned(),
        first: 0,
        count: files.frame_count(),
    };
    if loops(settings) && is_closed(&files, &all)? {
        tell_closed(args, &all.name, Closing::LeftOut, reporter);
        return Ok(Box::new(files.without_last()));
    }
    Ok(Box::new(files))
}

fn loops(settings: &VatSettings) -> bool {
    settings.at_end != AtEnd::Clamp
}

/// What becomes of a last frame that is the first one again.
#[derive(Clone, Copy)]
enum Closing {
    LeftOut,
    /// The user chose the frames.
    Kept,
}

fn tell_closed(args: &SourceArgs, clip: &str, closing: Closing, reporter: &Reporter) {
    if !args.baked_clips.is_empty() {
        return;
    }
    let what = match closing {
        Closing::LeftOut => {
            "it is left out, so that the loop does not pause there; keep it with --at-end clamp"
        }
        Closing::Kept => {
            "the loop shows it twice and pauses there; choose one frame fewer, or --at-end clamp"
        }
    };
    let message = format!("the last frame of '{clip}' equals the first one: {what}");
    reporter.warning("closing_frame", &message);
}

/// The frames of a character's clips, one after the other. The graph is compiled and bound once for all of them.
fn played(
    args: &SourceArgs,
    settings: &VatSettings,
    reporter: &Reporter,
) -> Outcome<Box<dyn FrameSource>> {
    if args.frames.is_some() && args.played.clip.len() > 1 {
        return Err(Failure::usage(
            "--frames works for one clip only; several clips are baked whole",
        ));
    }
    let stage = Stage::set(args, settings, reporter)?;
    let [_, _, ..] = stage.clips.as_slice() else {
        let clip = stage.clips.first().map(String::as_str);
        return Ok(Box::new(stage.clip(args, clip, reporter)?));
    };
    let mut parts: Vec<(String, Box<dyn FrameSource + Send>)> = Vec::new();
    for clip in &stage.clips {
        let frames = stage.clip(args, Some(clip), reporter)?;
        parts.push((clip.clone(), Box::new(frames)));
    }
    let name = stage.cast.main().asset.name.clone();
    Ok(Box::new(ChainedFrames::new(name, parts)?))
}

/// Bakes have normals of their own: that a mesh without normals is flat is lost below the crease.
fn tell_flat(graph: &BoundGraph, crease_degrees: f32, reporter: &Reporter) {
    let program = graph.program();
    let mut shown = program
        .outputs()
        .iter()
        .filter_map(|o| program.shown_mesh(o));
    let flat = shown.find(|m| m.parts.iter().any(|p| p.flat_shaded));
    if let (Some(mesh), true) = (flat, crease_degrees > 0.0) {
        let message = format!(
            "mesh '{}': parts without normals are flat-shaded, but the bake smooths edges below {crease_degrees} degrees; keep all edges hard with --crease 0",
            mesh.full_name()
        );
        reporter.warning("flat_shaded", &message);
    }
}

/// A bound graph and the characters that it was bound to.
struct Stage {
    cast: PlayInputs,
    graph: Arc<BoundGraph>,
    /// Those to play; none for the first.
    clips: Vec<String>,
    fps: f64,
    loops: bool,
}

impl Stage {
    fn set(args: &SourceArgs, settings: &VatSettings, reporter: &Reporter) -> Outcome<Self> {
        let character = load::character(&args.source, reporter)?;
        let document =
            load::chosen_document(args.played.graph.graph.as_deref(), &character, reporter)?;
        let plan = Arc::new(load::compile(&document, reporter)?);
        let parameters = load::settings(&plan, &args.played.graph.inputs.set)?;
        load::check_values_names(&plan, &args.played.graph.inputs.values)?;
        // What is not there is said before the work.
        for clip in &args.played.clip {
            character.find_clip_name(Some(clip))?;
        }
        let has = |clip: &String| character.asset.clips.iter().any(|c| c.name == *clip);
        let none_like = character.asset.clips.iter().map(|c| c.name.as_str());
        if let Some(other) = args.baked_clips.iter().find(|c| !has(c))
            && args.played.clip.is_empty()
            && !character.asset.clips.is_empty()
        {
            let help = instead_of(other, none_like);
            let message = format!(
                "the bake is of clip '{other}', but the character has no such clip; {help}"
            );
            reporter.warning("other_clip", &message);
        }
        let is_open = args.played.clip.is_empty() && args.frames.is_none();
        let clips = match is_open && args.baked_clips.iter().all(has) {
            true => &args.baked_clips,
            false => &args.played.clip,
        };
        let files = (&args.played.graph.inputs).into();
        let cast = load::cast(character, &plan, &document, files, reporter)?;
        let file = SetupFile::open(args.played.graph.inputs.cache.as_deref())?;
        let graph = setup::bind(&cast, &plan, &parameters, &file, reporter)?;
        if args.baked_clips.is_empty() {
            tell_flat(&graph, settings.crease_degrees, reporter);
        }
        Ok(Self {
            graph,
            cast,
            clips: clips.clone(),
            loops: loops(settings),
            fps: f64::from(settings.frames_per_second) * f64::from(step_of(args.frames.as_deref())),
        })
    }

    /// The frames of one clip.
    fn clip(
        &self,
        args: &SourceArgs,
        clip: Option<&str>,
        reporter: &Reporter,
    ) -> Outcome<PlayedFrames> {
        let character = self.cast.main();
        let clip = character.find_clip_name(clip)?;
        let of_clip = character.asset.find_clip(clip.as_deref());
        let cached = self.cast.point_cache_frames(self.fps).next();
        let mut numbers = frame_numbers(
            args.frames.as_deref(),
            of_clip,
            cached.map(|c| c.1),
            self.fps,
            reporter,
        )?;
        tell_held(&self.cast, &numbers, self.fps, reporter);
        let rig = &character.asset.rig;
        // A clip is closed by its poses; values and point caches may go on.
        let is_free = args.played.graph.inputs.values.is_empty() && cached.is_none();
        if let Some(found) = of_clip
            && self.loops
            && is_free
            && rig.is_closed(found, &numbers, self.fps)
        {
            let kept = args.frames.is_some();
            tell_closed(
                args,
                &found.name,
                if kept {
                    Closing::Kept
                } else {
                    Closing::LeftOut
                },
                reporter,
            );
            numbers.truncate(numbers.len() - usize::from(!kept));
        }
        let values = load::values(
            self.graph.plan(),
            &args.played.graph.inputs.values,
            &numbers,
        )?;
        let name = clip.clone().unwrap_or_else(|| character.asset.name.clone());
        let key = load::key_of(
            &self.cast,
            clip.as_deref(),
            &args.played.graph.inputs.values,
            args.played.evaluated.device,
        )?;
        let runner = device::runner(&self.graph, args.played.evaluated.device, reporter)?;
        let player = Player::new(runner, self.cast.clone(), values, clip.as_deref(), self.fps)?;
        let output = args.played.mesh_output.as_deref();
        let frames = PlayedFrames::new(player, numbers, output, name, key);
        frames.map_err(Failure::usage)
    }
}
