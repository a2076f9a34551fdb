//! `sinew render`.
//!
//! Steps (frames, or turns of a turntable) follow each other; variants (`--compare`) stand side by side. One variant is an [`actor::Actor`]:
//! it plays, and its results are on the renderer's device. First all steps are gone through to see what the animation fills and
//! which numbers there are, so that cameras, light and colours agree; then each is drawn. Nothing is loaded or bound twice.

mod actor;
mod built_in;
mod extras;
mod files;
mod inside;
mod layout;
mod look;
mod names;
mod overlay;
mod paint;
mod render_job;
mod steps;
mod variants;
mod view;

use crate::bake_args::Up;
use crate::device::gpu::tell;
use crate::exit::{Code, Failure, Outcome};
use crate::load;
use crate::render_args::RenderArgs;
use crate::reporter::Reporter;
use crate::saved_state::SavedState;
use actor::drawn;
use files::Files;
use inside::Part;
use layout::{Format, Paper};
use look::{Look, Source};
use render_job::RenderJob;
use sinew::gpu::{Gpu, GpuOptions};
use sinew::io::turn_z_up_to_y_up;
use sinew::play::{Character, PlayError};
use sinew::render::Renderer;
use std::sync::Arc;
use view::View;

pub(super) fn render(args: &RenderArgs, reporter: &Reporter) -> Outcome {
    let format = Format::of(&args.output, args.kind.sheet)?;
    let show = args.look.show.iter().map(|entry| Part::parse(entry));
    let show: Vec<Part> = show.collect::<Outcome<_>>()?;
    let look = look(args, &show)?;
    let map = look::color_map(args.look.map.as_deref())?;
    let compared = args.kind.compare.as_deref().map(variants::split);
    let compared = compared.unwrap_or_default();
    check_combinations(args, format, &look, &compared)?;
    check_up(args)?;
    let (gpu, character) = begin(args, reporter)?;
    check_character(args, &look, &character)?;
    let state = args.play.state.as_deref().map(SavedState::read);
    let state = state.transpose()?;
    let mut steps = steps::steps(args, format, &character, reporter)?;
    if let Some(state) = &state {
        steps::retain_later(&mut steps, state, reporter)?;
    }
    let fitted = steps::fitted(args, &steps, &character, reporter)?;
    if let Some(state) = &state {
        state.check_fit(&fitted)?;
    }
    let paper = Paper::parse(&args.kind, format, steps.len(), compared.len())?;
    drawn(Renderer::check_size(&gpu, paper.size[0], paper.size[1]))?;
    let files = Files::new(&character, reporter)?;
    let studio = RenderJob {
        args,
        reporter,
        fitted,
        state: state.map(Arc::new),
        view: View::parse(&args.camera, files.cameras())?,
        paper,
        lighting: look.lighting(&args.look),
        gpu,
        character,
        compared,
        look,
        show,
        map,
    };
    studio.draw(&steps, files)
}

/// What surfaces show: the look that is asked for, or the mask of `--show`.
fn look(args: &RenderArgs, show: &[Part]) -> Outcome<Look> {
    let look = Look::parse(&args.look.look)?;
    match show.iter().filter(|p| p.is_mask()).count() {
        0 => Ok(look),
        1 if look == Look::Shaded => Ok(Look::Numbers(Source::Output(inside::MASK.to_owned()))),
        1 => Err(Failure::usage(
            "--show mask and --look both colour the surface; leave out one of them",
        )),
        _ => Err(Failure::usage("--show has several masks; select one")),
    }
}

/// The device takes as long to start as the file to load.
fn begin(args: &RenderArgs, reporter: &Reporter) -> Outcome<(Gpu, Arc<Character>)> {
    let (gpu, character) = std::thread::scope(|scope| {
        let open = || reporter.overheard(|| Gpu::new(&GpuOptions::from_env()));
        let gpu = std::thread::Builder::new().spawn_scoped(scope, open);
        // Without a word: standard error is not ours meanwhile.
        let character = match plays_graph(args) {
            true => load::silent_rest(&args.input, reporter),
            false => load::silent_character(&args.input, reporter),
        };
        match gpu {
            Ok(gpu) => (gpu.join(), character),
            // The system allows no more threads.
            Err(_) => (Ok(open()), character),
        }
    });
    let failed = |_| Failure::new(Code::Device, "the GPU driver failed");
    let (gpu, said) = gpu.map_err(failed)?;
    tell(&said, reporter);
    let character = match args.play.up {
        Up::Y => character?,
        Up::Z => turned_up(character?),
    };
    load::show_warnings(&character, reporter);
    let gpu = gpu.map_err(PlayError::Device)?;
    gpu.limit_compiling(reporter.compile_limit());
    Ok((gpu, character))
}

/// Refuses `--up z` for what says itself where up is, and for graphs, whose regions and caches it would not rotate.
fn check_up(args: &RenderArgs) -> Outcome {
    if args.play.up == Up::Y {
        return Ok(());
    }
    let path = args.input.to_string_lossy().to_lowercase();
    let says_up = [".glb", ".gltf", ".vrm", ".fbx"]
        .iter()
        .any(|e| path.ends_with(e));
    if says_up || load::built_in(&args.input).is_some() {
        return Err(Failure::usage(format!(
            "--up z: {} has Y up; --up is for OBJ and PLY files",
            args.input.display()
        )));
    }
    match plays_graph(args) {
        true => Err(Failure::usage(
            "--up z works for files without a graph only; export the rest mesh and its point cache with Y up",
        )),
        false => Ok(()),
    }
}

/// The meshes of a character from files with Z up, with Y up.
fn turned_up(character: Arc<Character>) -> Arc<Character> {
    let mut character = Arc::unwrap_or_clone(character);
    let asset = &mut character.asset;
    let frames = asset.sequence.iter_mut().flat_map(|s| &mut s.frames);
    let meshes = asset.meshes.iter_mut().chain(&mut asset.strands);
    meshes.chain(frames).for_each(turn_z_up_to_y_up);
    Arc::new(character)
}

/// Whether a graph plays a mesh sequence. Without one, the files are shown as they are, also with a changing topology.
fn plays_graph(args: &RenderArgs) -> bool {
    let inputs = &args.play.graph.inputs;
    args.play.graph.graph.is_some()
        || !args.look.show.is_empty()
        || args.kind.compare.is_some()
        || args.look.look.starts_with("difference")
        || [&inputs.set, &inputs.values, &inputs.point_caches]
            .iter()
            .any(|given| !given.is_empty())
}

/// What would be passed over without a word.
fn check_combinations(
    args: &RenderArgs,
    format: Format,
    look: &Look,
    compared: &[String],
) -> Outcome {
    let numbers = matches!(look, Look::Numbers(_));
    let difference = *look == Look::Numbers(Source::Difference);
    let uses_graph = |entry: &String| entry.trim() == "graph" || entry.contains('=');
    let against_uses = args.look.against.as_ref().is_some_and(uses_graph);
    let graph_unused = !compared.is_empty() && !compared.iter().any(uses_graph) && !against_uses;
    let refused = [
        (
            args.look.map.is_some() && !numbers,
            "--map needs a --look with numbers (weights:JOINT, attribute:NAME, output:NAME, difference)",
        ),
        (
            args.look.range.is_some() && !numbers,
            "--range needs a --look with numbers (weights:JOINT, attribute:NAME, output:NAME, difference)",
        ),
        (
            args.look.against.is_some() && !difference,
            "--against needs --look difference",
        ),
        (
            args.kind.sheet && format == Format::Animation,
            "--sheet needs a .png output; an animation shows one frame at a time",
        ),
        (
            args.kind.rate.is_some() && format != Format::Animation,
            "--rate needs a .gif or .apng output",
        ),
        (
            args.play.graph.graph.is_some() && graph_unused,
            "--graph is not used, because --compare has neither 'graph' nor a parameter of it; add 'graph' to --compare",
        ),
    ];
    if let Some((_, why)) = refused.iter().find(|r| r.0) {
        return Err(Failure::usage(why));
    }
    match args.look.range {
        Some(range) if range.0[0] >= range.0[1] => Err(Failure::usage(format!(
            "--range is {},{}, expected a lower number before a higher one",
            range.0[0], range.0[1]
        ))),
        _ => Ok(()),
    }
}

/// What this character cannot do.
fn check_character(args: &RenderArgs, look: &Look, character: &Character) -> Outcome {
    for name in &args.camera.focus {
        look::joint(&character.asset.rig, name.trim())?;
    }
    let meshes = &character.asset.meshes;
    let bound = meshes.iter().any(|m| m.influences.is_some());
    if *look == Look::Weights && !bound {
        let path = character.path.display();
        return Err(Failure::usage(format!(
            "--look weights: no mesh in {path} has joint weights"
        )));
    }
    Ok(())
}
