//! What follows each other: frames, or turns of a turntable.

use super::layout::Format;
use crate::exit::{Failure, Outcome};
use crate::frames::frame_numbers;
use crate::render_args::RenderArgs;
use crate::reporter::Reporter;
use sinew::geom::Asset;
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
    let frames = frames(args, format, &character.asset, reporter)?;
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

/// The frames that cameras, light and colours fit: those of `--fit`, or those of the steps.
pub(super) fn fitted(
    args: &RenderArgs,
    steps: &[Step],
    character: &Character,
    reporter: &Reporter,
) -> Outcome<Vec<i64>> {
    let clip = character.asset.find_clip(args.play.clip.as_deref());
    match &args.play.fit {
        Some(range) => frame_numbers(Some(range), clip, args.play.fps, reporter),
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
    asset: &Asset,
    reporter: &Reporter,
) -> Outcome<Vec<i64>> {
    let clip = asset.find_clip(args.play.clip.as_deref());
    // Checks the rate, too.
    let numbers = frame_numbers(args.play.frames.as_deref(), clip, args.play.fps, reporter)?;
    Ok(match (&args.play.frames, &asset.sequence) {
        (Some(_), _) => numbers,
        (None, Some(sequence)) => thinned(args, format, sequence.numbers.clone(), reporter),
        (None, None) => thinned(args, format, numbers, reporter),
    })
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
