//! Which frames to evaluate.

use crate::exit::{Failure, Outcome};
use crate::reporter::Reporter;
use sinew::geom::Clip;
use sinew::play::PlayInputs;

/// Frames, at most: a slip of the finger must not fill the disk.
const MAX_FRAMES: i64 = 1_000_000;

/// How many frames of the clip are from one to the next: 2 of `0-8/2`.
pub(crate) fn step_of(text: Option<&str>) -> u32 {
    let step = text.and_then(|t| t.rsplit_once('/')?.1.trim().parse().ok());
    step.filter(|s| *s > 0).unwrap_or(1)
}

/// Frame numbers from `--frames`, or those of a point cache (first and last), or the whole clip; warns where they go on after it.
pub(crate) fn frame_numbers(
    text: Option<&str>,
    clip: Option<&Clip>,
    cached: Option<(i64, i64)>,
    fps: f64,
    reporter: &Reporter,
) -> Outcome<Vec<i64>> {
    let numbers = chosen(text, clip, cached, fps)?;
    if let (Some(clip), Some(&last)) = (clip, numbers.last()) {
        tell_past(clip, last, fps, reporter);
    }
    Ok(numbers)
}

/// As [`frame_numbers`], and `--frames` may also be a list of frames and ranges: `0,5,10-20`.
pub(crate) fn frame_list(
    text: Option<&str>,
    clip: Option<&Clip>,
    cached: Option<(i64, i64)>,
    fps: f64,
    reporter: &Reporter,
) -> Outcome<Vec<i64>> {
    let Some(text) = text.filter(|t| t.contains(',')) else {
        return frame_numbers(text, clip, cached, fps, reporter);
    };
    let numbers = listed(text, fps)?;
    if let (Some(clip), Some(&last)) = (clip, numbers.last()) {
        tell_past(clip, last, fps, reporter);
    }
    Ok(numbers)
}

fn listed(text: &str, fps: f64) -> Outcome<Vec<i64>> {
    let mut numbers: Vec<i64> = Vec::new();
    for part in text.split(',') {
        let next = chosen(Some(part.trim()), None, None, fps)?;
        if let (Some(last), Some(first)) = (numbers.last(), next.first())
            && first <= last
        {
            return Err(Failure::usage(format!(
                "--frames is '{text}': frame {first} comes after frame {last}, but a list must be in ascending order"
            )));
        }
        numbers.extend(next);
        if numbers.len() as i64 > MAX_FRAMES {
            return Err(Failure::usage(format!(
                "--frames is '{text}': expected 1 to {MAX_FRAMES} frames"
            )));
        }
    }
    Ok(numbers)
}

/// Warns if the last frame is after the end of the clip.
pub(crate) fn tell_past(clip: &Clip, last: i64, fps: f64, reporter: &Reporter) {
    let end = f64::from(clip.range().1);
    let end_frame = (end * fps).round() as i64;
    if last > end_frame {
        let message = format!(
            "the last frame is {last}, but clip '{}' ends at frame {end_frame} ({end:.2} s at {fps} frames per second); later frames show its last pose",
            clip.name
        );
        reporter.warning("frames_past_clip", &message);
    }
}

/// Warns about frames that a point cache does not have, and about another rate than its own.
pub(crate) fn tell_held(inputs: &PlayInputs, numbers: &[i64], fps: f64, reporter: &Reporter) {
    let (Some(&from), Some(&to)) = (numbers.first(), numbers.last()) else {
        return;
    };
    for (path, rate) in inputs.point_cache_rates() {
        // Every second sample, or a step between two, is asked for on purpose.
        let is_whole = |ratio: f64| (ratio - ratio.round()).abs() < 1e-3 && ratio > 0.5;
        if !is_whole(rate / fps) && !is_whole(fps / rate) {
            let (path, rate) = (path.display(), (rate * 1e3).round() / 1e3);
            let message = format!(
                "{path} has {rate} samples per second, but --fps is {fps}: frames between samples are interpolated; use --fps {rate} for the frames of the export"
            );
            reporter.warning("point_cache_rate", &message);
        }
    }
    for (path, (first, last)) in inputs.point_cache_frames(fps) {
        let path = path.display();
        if to < first || from > last {
            let shown = if to < first { first } else { last };
            let message = format!(
                "{path} has the frames {first} to {last}, and none of {from} to {to}: all of them show frame {shown}"
            );
            reporter.warning("frames_past_point_cache", &message);
        } else if from < first || to > last {
            let message = format!(
                "{path} has the frames {first} to {last}, but frames {from} to {to} are evaluated; frames outside show its first or last frame"
            );
            reporter.warning("frames_past_point_cache", &message);
        }
        if first < 0 && from == 0 {
            let message = format!("{path} begins at frame {first}; frames before 0 are not played");
            reporter.warning("frames_before_zero", &message);
        }
    }
}

fn chosen(
    text: Option<&str>,
    clip: Option<&Clip>,
    cached: Option<(i64, i64)>,
    fps: f64,
) -> Outcome<Vec<i64>> {
    if !(fps.is_finite() && fps > 0.0) {
        return Err(Failure::usage(format!(
            "--fps is {fps}, expected a number above 0"
        )));
    }
    let (first, last, step) = match (text, cached) {
        (Some(text), _) => parse(text).ok_or_else(|| {
            Failure::usage(format!(
                "--frames is '{text}', expected 21, 0-120 or 0-120/2; frames start at 0"
            ))
        })?,
        (None, Some((first, last))) => (first.max(0), last, 1),
        (None, None) => {
            let (start, end) = clip.map_or((0.0, 0.0), Clip::range);
            let number = |t: f32| (f64::from(t) * fps).round() as i64;
            (number(start), number(end), 1)
        }
    };
    // Clips end anywhere, also where no number of a frame is.
    let count = last.saturating_sub(first) / step;
    let wrong = match (first, last) {
        (..0, _) => "frames start at 0".to_owned(),
        _ if last < first => "the first frame is after the last one".to_owned(),
        _ if count >= MAX_FRAMES => format!("expected 1 to {MAX_FRAMES} frames"),
        _ => return Ok((0..=count).map(|i| first + i * step).collect()),
    };
    let message = format!("frames {first} to {last}: {wrong}; give --frames, for example 0-120");
    Err(Failure::usage(message))
}

fn parse(text: &str) -> Option<(i64, i64, i64)> {
    let (range, step) = match text.split_once('/') {
        Some((range, step)) => (range, step.parse().ok().filter(|&s| s > 0)?),
        None => (text, 1),
    };
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
    // Far below overflow in what follows.
    (first <= 1 << 40 && last <= 1 << 40 && step <= 1 << 40).then_some((first, last, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let numbers = |t: &str| chosen(Some(t), None, None, 30.0).ok();
        assert_eq!(numbers("21"), Some(vec![21]));
        assert_eq!(numbers("1-7/3"), Some(vec![1, 4, 7]));
        let list = |t: &str| listed(t, 30.0).ok();
        assert_eq!(list("0,5,10-14/2"), Some(vec![0, 5, 10, 12, 14]));
        assert_eq!(list("3, 4"), Some(vec![3, 4]));
        for bad in ["5,5", "5,1", "0-9,4", "1,", ",1", "1,a", "0-999999,1000000"] {
            assert_eq!(list(bad), None, "{bad}");
        }
        for bad in ["", "a", "5-1", "1-9/0", "-3", "1-99999999999999999999"] {
            assert_eq!(numbers(bad), None, "{bad}");
        }
    }
}
