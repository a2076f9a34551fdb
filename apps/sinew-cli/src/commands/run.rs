//! `sinew run`.

use crate::args::RunArgs;
use crate::exit::{Failure, Outcome};
use crate::frames::frame_numbers;
use crate::output::{Collected, Options, check_ending, write_all};
use crate::talk::Talk;
use crate::{device, load};
use sinew::deform::{Par, ParameterValue};
use sinew::graph::{BindError, BoundGraph, Plan};
use sinew::io::gltf_write::GlbSource;
use sinew::play::{Cast, Character, Document, Player};
use std::path::Path;
use std::sync::Arc;

pub(super) fn run(args: &RunArgs, talk: &Talk) -> Outcome {
    args.output.iter().try_for_each(|o| check_ending(o))?;
    let character = load::character(&args.character, talk)?;
    let document = chosen_document(args, &character)?;
    let plan = Arc::new(load::compile(&document, talk)?);
    let parameters = load::settings(&plan, &args.set)?;
    let clip = character.find_clip_name(args.clip.as_deref())?;
    let numbers = frame_numbers(
        args.frames.as_deref(),
        character.asset.find_clip(clip.as_deref()),
        args.fps,
    )?;
    let values = load::values(&plan, &args.values, &numbers)?;
    let source = character
        .source
        .as_ref()
        .map(|s| GlbSource::of(s, &args.character));
    let cast = load::cast(character, &plan, &document.folder, talk)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads)
        .build()
        .map_err(Failure::output)?;
    let collected = pool.install(|| -> Outcome<Collected> {
        let graph = bind(&plan, &cast, &parameters, args.cache.as_deref(), talk)?;
        let runner = device::runner(&graph, args.device, talk)?;
        let mut player = Player::new(runner, cast, values, clip.as_deref(), args.fps)?;
        run_frames(&mut player, &numbers, talk)
    })?;
    let options = Options {
        source: source.as_ref(),
        interpolation: args.interpolation,
    };
    write_all(&args.output, collected, &options, talk)
}

/// The graph of `--graph`, else the one in the character file.
fn chosen_document(args: &RunArgs, character: &Character) -> Outcome<Document> {
    if let Some(path) = &args.graph {
        return load::document(path);
    }
    Document::embedded(character).ok_or_else(|| {
        Failure::usage(format!(
            "{} carries no graph; give one with --graph, `sinew init` writes a starter",
            args.character.display()
        ))
    })
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
        match BoundGraph::bind_cached(
            plan.clone(),
            cast.bindings(),
            parameters,
            Par::Rayon,
            &bytes,
        ) {
            Ok(graph) => {
                talk.info("cache_read", &format!("setup read from {}", path.display()));
                return Ok(Arc::new(graph));
            }
            Err(BindError::Cache(e)) => talk.warning("cache", &format!("{}: {e}", path.display())),
            Err(e) => return Err(Failure::bind(e)),
        }
    }
    let graph = cast.bind(plan, parameters)?;
    if let Some(path) = cache {
        sinew::io::write_bytes(path, &graph.setup_cache()).map_err(Failure::output)?;
        talk.info(
            "cache_written",
            &format!("setup written to {}", path.display()),
        );
    }
    Ok(graph)
}

/// Evaluates the frames in order.
pub(crate) fn run_frames(player: &mut Player, numbers: &[i64], talk: &Talk) -> Outcome<Collected> {
    let progress = talk.progress(numbers.len(), "frames");
    let mut collected = Collected::default();
    for (done, &number) in numbers.iter().enumerate() {
        talk.check_interrupt()?;
        player.advance(number)?;
        let outputs = player.read_outputs()?;
        collected.add(player.graph(), outputs, number, player.time_secs(number));
        progress.step(done + 1);
    }
    Ok(collected)
}
