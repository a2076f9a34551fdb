//! `sinew run`.

use crate::args::RunArgs;
use crate::exit::{Failure, Outcome};
use crate::frames::{frame_list, tell_held};
use crate::output::{
    check_compress, check_ending, check_frames, check_size, ending_of, holds_numbers, tell_left_out,
};
use crate::reporter::Reporter;
use crate::results::{Options, Results};
use crate::resume::RunRecord;
use crate::saved_state::SavedState;
use crate::setup::{self, SetupFile};
use crate::{device, load};
use sinew::bake::content_key_of;
use sinew::graph::Plan;
use sinew::io::gltf_write::GlbSource;
use sinew::play::{Character, Player};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) fn run(args: &RunArgs, reporter: &Reporter) -> Outcome {
    args.output.iter().try_for_each(|o| check_ending(o))?;
    check_compress(args.compress, &args.output)?;
    let character = load::character(&args.character, reporter)?;
    let document = load::chosen_document(args.played.graph.as_deref(), &character, reporter)?;
    let mut plan = load::compile(&document, reporter)?;
    load::keep_outputs(&mut plan, &args.chosen.only)?;
    let plan = Arc::new(plan);
    let parameters = load::settings(&plan, &args.played.inputs.set)?;
    load::check_values_names(&plan, &args.played.inputs.values)?;
    let clip = character.find_clip_name(args.clip.as_deref())?;
    tell_vrm(args, &character, reporter);
    let source = character
        .source
        .as_ref()
        .map(|s| GlbSource::of(s, &args.character));
    let cast = load::cast(
        character,
        &plan,
        &document,
        (&args.played.inputs).into(),
        reporter,
    )?;
    let cached = cast.point_cache_frames(args.fps).next();
    let numbers = frame_list(
        args.frames.as_deref(),
        cast.main().asset.find_clip(clip.as_deref()),
        cached.map(|c| c.1),
        args.fps,
        reporter,
    )?;
    tell_held(&cast, &numbers, args.fps, reporter);
    check_gaps(args, &numbers)?;
    let continues = args.resume || args.state.is_some();
    check_frames(&args.output, &numbers, continues, reporter)?;
    let values = load::values(&plan, &args.played.inputs.values, &numbers)?;
    let state = args.state.as_deref().map(SavedState::read).transpose()?;
    tell_simulation(args, &plan, &numbers, reporter);
    let chosen = state
        .as_ref()
        .map_or(args.evaluated.device, |s| s.device(args.evaluated.device));
    let pool = args.threads.pool()?;
    let options = Options {
        source: source.as_ref(),
        interpolation: args.interpolation,
        compress: args.compress,
        clip: clip.clone().unwrap_or_else(|| stem(&args.character)),
    };
    pool.install(|| -> Outcome {
        let file = SetupFile::open(args.played.inputs.cache.as_deref())?;
        let graph = setup::bind(&cast, &plan, &parameters, &file, reporter)?;
        check_size(&args.output, &graph, numbers.len(), args.compress)?;
        let runner = device::runner(&graph, chosen, reporter)?;
        let mut player = Player::new(runner, cast, values, clip.as_deref(), args.fps)?;
        let left = match &state {
            Some(state) => {
                let saved = state.restore(&mut player, reporter)?;
                let left = numbers.partition_point(|n| *n <= saved);
                state.check_left(&numbers[left..], saved, reporter)?
            }
            None => &numbers,
        };
        let record = args.resume.then(|| {
            let key = frames_key(args, &player, clip.as_deref(), state.as_ref())?;
            RunRecord::open(&args.output, &numbers, &key, reporter)
        });
        let record = record.transpose()?;
        let left = record.as_ref().map_or(left.to_vec(), |r| r.left(left));
        let frames = (&left[..], &numbers[..]);
        let done = |number| record.as_ref().map_or(Ok(()), |r| r.is_done(number));
        let results = run_frames(&mut player, &args.output, frames, &options, reporter, done)?;
        let has_field = |name: &str| results.has_field(name);
        tell_left_out(&args.output, has_field, player.graph(), reporter);
        let summary = results.finish()?;
        // Last: where a state is, the frames before it are complete.
        if let Some(path) = &args.save_state {
            // With --resume, the last frame may be complete and not evaluated.
            if let Some(&last) = numbers.last().filter(|&&n| player.frame() != Some(n)) {
                player.seek(last, |_| reporter.check_interrupt())?;
            }
            let state = player.save_state()?;
            sinew::io::write_bytes(path, &state).map_err(Failure::output)?;
            reporter.wrote_file();
        }
        record.map_or(Ok(()), RunRecord::finish)?;
        summary.tell(reporter);
        Ok(())
    })
}

/// Says that a file of frames is no avatar.
fn tell_vrm(args: &RunArgs, character: &Character, reporter: &Reporter) {
    let is_vrm = character.source.as_ref().is_some_and(|s| s.is_vrm());
    let glb = args.output.iter().find(|p| ending_of(p) == "glb");
    if let (true, Some(path)) = (is_vrm, glb) {
        let message = format!(
            "{} has the frames and materials, but no VRM data: its nodes and morph targets are new ones. `sinew embed`, `sinew bake skin` and `sinew convert` keep VRM data",
            path.display()
        );
        reporter.warning("vrm_left_out", &message);
    }
}

/// What needs the same step between all frames.
fn check_gaps(args: &RunArgs, numbers: &[i64]) -> Outcome {
    let is_even = numbers.array_windows().all(|[a, b, c]| b - a == c - b);
    let is_pc2 = |path: &&PathBuf| ending_of(path) == "pc2";
    let frames = args.frames.as_deref().unwrap_or_default();
    match args.output.iter().find(is_pc2) {
        _ if is_even => Ok(()),
        Some(path) => Err(Failure::usage(format!(
            "--frames {frames}: {} has one step between all frames; write .mdd or .npz, which have times, or give one range",
            path.display()
        ))),
        None if args.resume => Err(Failure::usage(format!(
            "--frames {frames}: --resume takes one range of frames, for example 0-120"
        ))),
        None => Ok(()),
    }
}

/// Says what a chunk of a simulation costs, and what it does not need.
fn tell_simulation(args: &RunArgs, plan: &Plan, numbers: &[i64], reporter: &Reporter) {
    let simulates = solvers(plan);
    let first = numbers.first().copied().unwrap_or(0);
    if simulates.is_empty() {
        if args.save_state.is_some() {
            let message = "--save-state: this graph does not simulate, and no frame depends on an earlier one. Runs of later frames need no state; leave out --save-state";
            reporter.warning("state_unneeded", message);
        }
        return;
    }
    if first > 0 && args.state.is_none() {
        let message = format!(
            "this graph simulates ({simulates}): frames 0 to {} are simulated first and not written. To go on after them instead, run them with --save-state FILE, then frames {first} and later with --state FILE",
            first - 1
        );
        reporter.info("simulated_from_start", &message);
    }
}

/// The nodes that simulate, as text: `node 'sim', hair_sim`.
pub(crate) fn solvers(plan: &Plan) -> String {
    let nodes = plan.solvers();
    let nodes: Vec<String> = nodes
        .map(|n| format!("node '{}', {}", n.name, n.desc.name))
        .collect();
    nodes.join("; ")
}

/// What a file is called, without its folder and extension; of a built-in sample its name.
fn stem(character: &Path) -> String {
    let name = character.file_stem().unwrap_or_default().to_string_lossy();
    name.trim_start_matches("sample:").to_owned()
}

/// What frames depend on.
fn frames_key(
    args: &RunArgs,
    player: &Player,
    clip: Option<&str>,
    state: Option<&SavedState>,
) -> Outcome<String> {
    let graph = player.graph().content_key();
    let (device, values) = (args.evaluated.device, &args.played.inputs.values);
    let played = load::key_of(player.inputs(), clip, values, device)?;
    let state = state.map(|s| content_key_of(s.bytes()));
    let version = env!("CARGO_PKG_VERSION");
    let all = format!(
        "{version} {graph:?} {played} {} {state:?} {:?}",
        args.fps,
        args.output.iter().map(|o| ending_of(o)).collect::<Vec<_>>()
    );
    Ok(content_key_of(all.as_bytes()))
}

/// Evaluates the frames in order and writes them. What waits for the last frame is in the results. Fields are brought back only if a file holds them, as
/// they are large. `asked` are all frames of the run, of which `numbers` are left; `written` hears of each.
pub(crate) fn run_frames<'a>(
    player: &mut Player,
    outputs: &'a [PathBuf],
    (numbers, asked): (&'a [i64], &'a [i64]),
    options: &'a Options<'a>,
    reporter: &'a Reporter,
    written: impl Fn(i64) -> Outcome,
) -> Outcome<Results<'a>> {
    let progress = reporter.progress(numbers.len(), "frames");
    let times = numbers.iter().map(|n| player.time_secs(*n) as f32);
    let times = times.collect();
    let mut results = Results::begin(
        outputs,
        player.graph(),
        (numbers, asked),
        times,
        options,
        reporter,
    )?;
    for (done, &number) in numbers.iter().enumerate() {
        player.seek(number, |_| reporter.check_interrupt())?;
        let frame = player.read_outputs()?;
        let fields = match holds_numbers(outputs) {
            true => player.read_fields()?,
            false => Vec::new(),
        };
        results.add(frame, fields)?;
        written(number)?;
        progress.step(done + 1);
    }
    Ok(results)
}
