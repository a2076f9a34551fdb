//! What follows each other: frames, or turns of a turntable.

use super::layout::Format;
use crate::exit::{Failure, Outcome};
use crate::frames::frame_list;
use crate::load;
use crate::render_args::RenderArgs;
use crate::reporter::Reporter;
use crate::saved_state::SavedState;
use sinew::io::PointCacheReader;
use sinew::play::Character;

/// Pictures on a sheet where nobody says how many.
const SHEET_PICTURES: usize = 24;
/// Turns of a turntable, at most.
const MOST_TURNS: usize = 10_000;

/// What is drawn at one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) frame: i64,
    /// Number of the turn on a turntable.
    pub(super) turn: usize,
}

pub(super) fn steps(
    args: &RenderArgs,
    format: Format,
    character: &Character,
    reporter: &Reporter,
) -> Outcome<Vec<Step>> {
    character.find_clip_name(args.play.clip.as_deref())?;
    let frames = frames(args, format, character, reporter)?;
    let Some(turns) = args.kind.turntable else {
        let step = |frame| Step { frame, turn: 0 };
        return Ok(frames.into_iter().map(step).collect());
    };
    if turns == 0 || turns > MOST_TURNS {
        return Err(Failure::usage(format!(
            "--turntable is {turns}, expected 1 to {MOST_TURNS}"
        )));
    }
    let step = |turn: usize| Step {
        frame: frames[turn * frames.len() / turns],
        turn,
    };
    Ok((0..turns).map(step).collect())
}

/// Drops the steps up to the frame after which a state was saved.
pub(super) fn retain_later(
    steps: &mut Vec<Step>,
    state: &SavedState,
    reporter: &Reporter,
) -> Outcome {
    // A file that is no state is reported when it is restored.
    let Some(saved) = state.frame() else {
        return Ok(());
    };
    steps.retain(|s| s.frame > saved);
    state.check_left(steps, saved, reporter).map(drop)
}

/// The frames that cameras, light and colours fit: those of `--fit`, or those of the steps.
pub(super) fn fitted(
    args: &RenderArgs,
    steps: &[Step],
    character: &Character,
    reporter: &Reporter,
) -> Outcome<Vec<i64>> {
    let clip = character.asset.find_clip(args.play.clip.as_deref());
    match &args.play.fit {
        Some(range) => frame_list(Some(range), clip, None, args.play.fps, reporter),
        None => {
            let mut frames: Vec<i64> = steps.iter().map(|s| s.frame).collect();
            frames.dedup();
            Ok(frames)
        }
    }
}

/// Those of `--frames`; else the first, or all of the clip in an animation, or some of them on a sheet.
fn frames(
    args: &RenderArgs,
    format: Format,
    character: &Character,
    reporter: &Reporter,
) -> Outcome<Vec<i64>> {
    let asset = &character.asset;
    let cached = match asset.sequence {
        Some(_) => None,
        None => cached_frames(args, character, reporter)?,
    };
    let clip = asset.find_clip(args.play.clip.as_deref());
    // Checks the rate, too.
    let (frames, fps) = (args.play.frames.as_deref(), args.play.fps);
    let numbers = frame_list(frames, clip, cached, fps, reporter)?;
    Ok(match (&args.play.frames, &asset.sequence) {
        (Some(_), _) => numbers,
        (None, Some(sequence)) => thinned(args, format, sequence.numbers.clone(), reporter),
        (None, None) => thinned(args, format, numbers, reporter),
    })
}

/// First and last frame of the first point cache: of `--point-cache`, of the document, or of a sequence.
fn cached_frames(
    args: &RenderArgs,
    character: &Character,
    reporter: &Reporter,
) -> Outcome<Option<(i64, i64)>> {
    let graph = &args.play.graph;
    let given = load::point_caches(&graph.inputs.point_caches);
    let mut found = given.into_iter().next().map(|c| c.path);
    if found.is_none()
        && let Some(path) = &graph.graph
    {
        let document = load::document(path, reporter)?;
        // Errors of the document are reported when it is played.
        let plan = document.compile().ok();
        let inputs = plan.iter().flat_map(|p| p.inputs());
        let name = inputs.filter_map(|i| i.point_cache.as_deref()).next();
        let path = name.map(|name| document.folders.find_point_cache(name));
        found = path.transpose().map_err(Failure::input)?;
    }
    let Some(path) = found.or_else(|| character.point_cache.clone()) else {
        return Ok(None);
    };
    let reader = PointCacheReader::open(&path).map_err(Failure::input)?;
    Ok(Some(reader.frames(args.play.fps)))
}

fn thinned(args: &RenderArgs, format: Format, all: Vec<i64>, reporter: &Reporter) -> Vec<i64> {
    if format != Format::Picture && args.kind.turntable.is_none() {
        return all;
    }
    if !args.kind.sheet {
        return all.into_iter().take(1).collect();
    }
    let count = all.len().min(SHEET_PICTURES);
    if count < all.len() {
        let message = format!(
            "the sheet shows {count} of {} frames; select others with --frames",
            all.len()
        );
        reporter.info("frames_left_out", &message);
    }
    let last = all.len().saturating_sub(1);
    let pick = |i: usize| all[i * last / count.saturating_sub(1).max(1)];
    (0..count).map(pick).collect()
}
