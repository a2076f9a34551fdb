//! `sinew run`.

use crate::args::RunArgs;
use crate::character::{Cast, Character};
use crate::document::Document;
use crate::exit::{Code, Failure, Outcome};
use crate::frames::frame_numbers;
use crate::output::{Collected, Options, check_ending, write_all};
use crate::runner::{Output, Runner};
use crate::talk::Talk;
use crate::values::{self, Values};
use sinew::deform::{Par, ParameterValue};
use sinew::graph::{BindError, BoundGraph, Frame, InputType, Plan};
use sinew::io::gltf_write::GlbSource;
use std::path::Path;
use std::sync::Arc;

pub(super) fn run(args: &RunArgs, talk: &Talk) -> Outcome {
    args.output.iter().try_for_each(|o| check_ending(o))?;
    let character = Character::load(&args.character, talk)?;
    let document = match (&args.graph, &character.asset.graph) {
        (Some(path), _) => Document::from_file(path)?,
        (None, Some(text)) => Document::embedded(&args.character, text),
        (None, None) => {
            let message = format!(
                "{} carries no graph; give one with --graph, `sinew init` writes a starter",
                args.character.display()
            );
            return Err(Failure::usage(message));
        }
    };
    let plan = Arc::new(document.compile(talk)?);
    let parameters = parse_settings(&plan, &args.set)?;
    let clip = chosen_clip(&character, args.clip.as_deref())?;
    let numbers = frame_numbers(
        args.frames.as_deref(),
        character.asset.find_clip(clip.as_deref()),
        args.fps,
    )?;
    let values = values::read_all(&plan, &args.values, &numbers)?;
    let source = character
        .source
        .as_ref()
        .map(|s| GlbSource::of(s, &args.character));
    let mut cast = Cast::assemble(character, &plan, &document.folder, talk)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads)
        .build()
        .map_err(Failure::output)?;
    let collected = pool.install(|| -> Outcome<Collected> {
        let graph = bind(&plan, &cast, &parameters, args.cache.as_deref(), talk)?;
        let mut runner = Runner::new(&graph, args.device, talk)?;
        run_frames(
            &mut runner,
            &mut cast,
            &values,
            clip.as_deref(),
            &numbers,
            args.fps,
            talk,
        )
    })?;
    let options = Options {
        source: source.as_ref(),
        interpolation: args.interpolation,
    };
    write_all(&args.output, collected, &options, talk)
}

/// The clip to play: the named one, else the first; a wrong name is an error that lists the right ones.
pub(super) fn chosen_clip(character: &Character, name: Option<&str>) -> Outcome<Option<String>> {
    let asset = &character.asset;
    if let (Some(name), None) = (name, asset.find_clip(name)) {
        let known: Vec<&str> = asset.clips.iter().map(|c| c.name.as_str()).collect();
        let message = format!(
            "{} has no clip '{name}'; it has {}",
            character.path.display(),
            if known.is_empty() {
                "none".into()
            } else {
                known.join(", ")
            }
        );
        return Err(Failure::usage(message));
    }
    Ok(asset.find_clip(name).map(|c| c.name.clone()))
}

pub(super) fn parse_settings<'a>(
    plan: &Plan,
    set: &'a [String],
) -> Outcome<Vec<(&'a str, ParameterValue)>> {
    set.iter()
        .map(|s| {
            let (name, text) = s
                .split_once('=')
                .ok_or_else(|| Failure::usage(format!("--set {s}: expected NAME=VALUE")))?;
            let value = plan
                .parse_parameter(name, text)
                .map_err(|e| Failure::usage(format!("--set {s}: {e}")))?;
            Ok((name, value))
        })
        .collect()
}

/// Binds, from saved setup results where they fit.
fn bind(
    plan: &Arc<Plan>,
    cast: &Cast,
    parameters: &[(&str, ParameterValue)],
    cache: Option<&Path>,
    talk: &Talk,
) -> Outcome<Arc<BoundGraph>> {
    if let Some(path) = cache.filter(|p| p.exists()) {
        let bytes = sinew::io::read_bytes(path).map_err(Failure::input)?;
        match BoundGraph::bind_cached(plan.clone(), &cast.bindings, parameters, Par::Rayon, &bytes)
        {
            Ok(graph) => {
                talk.info("cache_read", &format!("setup read from {}", path.display()));
                return Ok(Arc::new(graph));
            }
            Err(BindError::Cache(e)) => talk.warning("cache", &format!("{}: {e}", path.display())),
            Err(e) => return Err(Failure::bind(e)),
        }
    }
    let graph = BoundGraph::bind(plan.clone(), &cast.bindings, parameters, Par::Rayon)
        .map_err(Failure::bind)?;
    if let Some(path) = cache {
        sinew::io::write_bytes(path, &graph.setup_cache()).map_err(Failure::output)?;
        talk.info(
            "cache_written",
            &format!("setup written to {}", path.display()),
        );
    }
    Ok(Arc::new(graph))
}

/// Evaluates the frames in order.
pub(crate) fn run_frames(
    runner: &mut Runner,
    cast: &mut Cast,
    values: &[Values],
    clip: Option<&str>,
    numbers: &[i64],
    fps: f64,
    talk: &Talk,
) -> Outcome<Collected> {
    let graph = runner.graph().clone();
    let plan = graph.plan();
    let progress = talk.progress(numbers.len(), "frames");
    let mut collected = Collected::default();
    let mut before: Option<f64> = None;
    for (done, &number) in numbers.iter().enumerate() {
        talk.check_interrupt()?;
        #[expect(
            clippy::cast_precision_loss,
            reason = "frame numbers are far below 2^53"
        )]
        let time_secs = number as f64 / fps;
        cast.pose(clip, time_secs);
        let poses: Vec<(usize, &sinew::geom::Pose)> = cast
            .of_input
            .iter()
            .enumerate()
            .filter(|(i, _)| plan.inputs()[*i].ty == InputType::Pose)
            .map(|(i, &c)| (i, &cast.poses[c]))
            .collect();
        let values: Vec<(usize, &[f32])> = values
            .iter()
            .map(|v| (v.input, v.of_frame(number)))
            .collect();
        let frame = Frame {
            time_secs,
            dt_secs: before.map_or(0.0, |b| time_secs - b),
            pose: None,
            poses: &poses,
            values: &values,
        };
        runner
            .update(&frame)
            .map_err(|e| Failure::bind(format!("frame {number}: {e}")))?;
        let outputs = runner.outputs()?;
        if let Some((output, vertex)) = not_finite(&outputs) {
            let message = format!(
                "frame {number}: vertex {vertex} of output '{output}' is not finite; check scales and parameters of the graph"
            );
            return Err(Failure::new(Code::Bind, message));
        }
        collected.add(&graph, outputs, number, time_secs);
        before = Some(time_secs);
        progress.step(done + 1);
    }
    Ok(collected)
}

fn not_finite(outputs: &[(String, Output)]) -> Option<(&str, usize)> {
    outputs.iter().find_map(|(name, output)| {
        let Output::Mesh(mesh) = output else {
            return None;
        };
        let bad = |p: &[f32; 3]| p.iter().any(|c| !c.is_finite());
        Some((name.as_str(), mesh.positions.iter().position(bad)?))
    })
}
