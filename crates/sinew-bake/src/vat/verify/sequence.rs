//! The frames of a sequence, each loaded once, and beside each the one that its blends go to.

use super::Verified;
use super::judge::Judge;
use super::mode::FrameJudge;
use crate::{BakeError, LoadOrder, Watch};
use rayon::prelude::*;
use sinew_geom::Mesh;
use sinew_vat::manifest::Manifest;
use sinew_vat::playback::AtEnd;
use std::collections::BTreeMap;

/// Judges all frames, as many at once as there are threads.
pub(super) fn judge_all(
    judge: &Judge<'_>,
    judged: &dyn FrameJudge,
    watch: &Watch<'_>,
) -> Result<Vec<Verified>, BakeError> {
    let manifest = judge.animation.manifest();
    let count = manifest.frame_count() as usize;
    let stage = watch.stage("frames", count);
    // Other bakes have no ends of their own: blends go to what the next frame is compared with.
    let follower = |frame: usize| match judged.ends() {
        Some(_) => follower(manifest, frame),
        None => None,
    };
    let mut loaded: BTreeMap<usize, Mesh> = BTreeMap::new();
    let mut results = Vec::with_capacity(count);
    let frames: Vec<usize> = (0..count).collect();
    for batch in frames.chunks(rayon::current_num_threads()) {
        stage.go_on()?;
        let followers = batch.iter().filter_map(|f| follower(*f));
        let mut needed: Vec<usize> = batch.iter().copied().chain(followers).collect();
        needed.sort_unstable();
        needed.dedup();
        needed.retain(|frame| !loaded.contains_key(frame));
        loaded.extend(load_all(judge, &needed)?);
        let one = |frame: &usize| {
            stage.go_on()?;
            let next = follower(*frame).map(|next| (next, &loaded[&next]));
            let out = judge.frame(judged, *frame, &loaded[frame], next)?;
            stage.step();
            Ok(out)
        };
        // All of them, so that of several errors the first one is told, whichever thread is faster.
        let found: Vec<Result<Verified, BakeError>> = batch.par_iter().map(one).collect();
        for one in found {
            results.push(one?);
        }
        let done = batch.last().map_or(0, |last| last + 1);
        loaded.retain(|frame, _| *frame >= done || is_awaited(manifest, *frame, done));
    }
    Ok(results)
}

fn load_all(judge: &Judge<'_>, frames: &[usize]) -> Result<Vec<(usize, Mesh)>, BakeError> {
    let load = |frame: &usize| Ok((*frame, judge.load(*frame)?));
    match judge.source.order() {
        LoadOrder::Any => {
            let all: Vec<Result<_, BakeError>> = frames.par_iter().map(load).collect();
            all.into_iter().collect()
        }
        LoadOrder::Rising => frames.iter().map(load).collect(),
    }
}

/// What blends of a frame go to: nothing is behind the last frame of a clip, unless it goes over into the first one.
fn follower(manifest: &Manifest, frame: usize) -> Option<usize> {
    let clips = manifest.clips.iter().map(|c| &c.frames);
    let ranges = clips.map(|c| (c.first as usize, c.count as usize, c.at_end));
    let mut around = ranges.filter(|(first, count, _)| (*first..first + count).contains(&frame));
    let (first, count, at_end) = around.next()?;
    match (frame + 1 == first + count, at_end) {
        (false, _) => Some(frame + 1),
        (true, AtEnd::SeamlessLoop) => Some(first),
        (true, _) => None,
    }
}

/// Whether a frame that was judged is what a later one, `from` on, goes to.
fn is_awaited(manifest: &Manifest, frame: usize, from: usize) -> bool {
    let mut clips = manifest.clips.iter().map(|c| &c.frames);
    clips.any(|c| {
        let (first, end) = (c.first as usize, c.first as usize + c.count as usize);
        c.at_end == AtEnd::SeamlessLoop && first == frame && from < end
    })
}
