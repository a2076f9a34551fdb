//! `sinew demo`: every node on the built-in samples, as GLB files, pictures and one page that shows them.

mod drop;
mod look;
mod page;

use crate::args::{Compress, DemoArgs, Interpolation};
use crate::commands::run_frames;
use crate::exit::{Failure, Outcome};
use crate::load;
use crate::reporter::Reporter;
use crate::results::Options;
use crate::setup::{self, SetupFile};
use drop::{DROP, baked_drop};
use look::{Look, RATE, character, difference, draw, evaluate, rest};
use sinew::deform::{Example, NodeKind, REGISTRY};
use sinew::geom::Asset;
use sinew::graph::{KERNEL_EXAMPLE, KERNEL_SUMMARY, NoNesting, compile};
use sinew::io::Folders;
use sinew::play::{PlayInputs, Player, Runner};
use sinew_picture::{Camera, Image, Panel, sheet, side_by_side};
use std::path::Path;
use std::sync::Arc;

/// An example and the node that it shows.
struct Shown {
    node: &'static str,
    kind: NodeKind,
    summary: &'static str,
    name: &'static str,
    graph: &'static str,
    sample: &'static str,
    before: &'static str,
    frame: u32,
}

impl Shown {
    fn new(node: &'static str, kind: NodeKind, summary: &'static str, e: &Example) -> Self {
        Self {
            node,
            kind,
            summary,
            name: e.name,
            graph: e.graph,
            sample: e.sample,
            before: e.before,
            frame: e.frame,
        }
    }
}

/// The examples of all nodes.
fn shown() -> Vec<Shown> {
    let of = |d: &&'static sinew::deform::NodeDesc| {
        let d = *d;
        d.docs
            .examples
            .iter()
            .map(move |e| Shown::new(d.name, d.kind, d.summary, e))
    };
    let kernel = Shown::new("kernel", NodeKind::Kernel, KERNEL_SUMMARY, &KERNEL_EXAMPLE);
    REGISTRY.iter().flat_map(of).chain([kernel]).collect()
}

/// The graph of the left picture; `None` for the rest mesh.
fn before(example: &Shown) -> Outcome<Option<&'static Example>> {
    match example.before {
        "rest" => Ok(None),
        "linear" => load::example("skin_linear").map(Some),
        name => load::example(name).map(Some),
    }
}

pub(super) fn demo(args: &DemoArgs, reporter: &Reporter) -> Outcome {
    let shown = shown();
    let progress = reporter.progress(shown.len(), "demo");
    for (done, example) in shown.iter().enumerate() {
        reporter.check_interrupt()?;
        let asset = load::sample(example.sample)?.asset;
        animate(example, &asset, &args.output, reporter)?;
        picture(example, &asset, &args.output)?;
        progress.step(done + 1);
    }
    elbow_comparison(&args.output)?;
    baked_drop(&args.output)?;
    let more = [
        (
            "An elbow under three ways of skinning",
            "Linear skinning pinches, dual quaternions bulge, delta mush keeps the shape.",
            "elbow.png".to_owned(),
        ),
        (
            "Vertex animation textures",
            "A drop that parts, with triangles that change in each frame, as the bake shows it. The folder drop_vat holds the textures and players for engines.",
            format!("{DROP}_vat.png"),
        ),
    ];
    let index = args.output.join("index.html");
    sinew::io::write_text(&index, &page::page(&shown, &more)).map_err(Failure::output)?;
    reporter.info(
        "written",
        &format!(
            "wrote {} GLB files, {} pictures and a bake ({DROP}_vat) to {}; open {} in a browser",
            shown.len(),
            shown.len() + more.len(),
            args.output.display(),
            index.display()
        ),
    );
    Ok(())
}

/// The whole clip through the graph, as a GLB.
fn animate(example: &Shown, asset: &Asset, folder: &Path, reporter: &Reporter) -> Outcome {
    let plan = Arc::new(compile(example.name, example.graph, &NoNesting).map_err(Failure::bind)?);
    let cast = PlayInputs::load(character(asset), &plan, &Folders::default())?;
    let runner = Runner::cpu(&setup::bind(
        &cast,
        &plan,
        &[],
        &SetupFile::default(),
        reporter,
    )?);
    let mut player = Player::new(runner, cast, Vec::new(), None, RATE)?;
    let numbers: Vec<i64> = (0..=16).map(|i| i * 3).collect();
    let outputs = [folder.join(format!("{}.glb", example.name))];
    let options = Options {
        source: None,
        interpolation: Interpolation::Linear,
        compress: Compress::None,
        clip: example.name.to_owned(),
    };
    let frames = (&numbers[..], &numbers[..]);
    run_frames(
        &mut player,
        &outputs,
        frames,
        &options,
        reporter,
        |_| Ok(()),
    )?
    .finish()?;
    Ok(())
}

/// Yaw and pitch that show a sample well, radians.
fn view(sample: &str) -> (f32, f32) {
    match sample {
        "arm" => (0.25, 0.25),
        "ball" => (0.5, 0.25),
        _ => (0.9, 0.2),
    }
}

/// Before, after and what moved.
fn picture(example: &Shown, asset: &Asset, folder: &Path) -> Outcome {
    let after = evaluate(asset, example.graph, example.frame)?;
    let other = before(example)?;
    let before = match other {
        Some(other) => evaluate(asset, other.graph, example.frame)?,
        None => rest(asset)?,
    };
    let (yaw, pitch) = view(example.sample);
    let all: Vec<[f32; 3]> = before.points().chain(after.points()).collect();
    let camera = Camera::framing(&all, yaw, pitch, 1.0);
    let mesh = asset.merged(&Default::default()).map_err(Failure::bind)?;
    let triangles = mesh.topology.triangles();
    let label = other.map_or("rest", |_| "before");
    let images = [
        draw(&before, triangles, &camera)?,
        draw(&after, triangles, &camera)?,
    ];
    let moved = difference(&before, &after, triangles, &camera)?;
    let mut panels = vec![
        Panel::new(label, &images[0]),
        Panel::new(example.name, &images[1]),
    ];
    if let Some((image, _)) = &moved {
        panels.push(Panel::new("difference", image));
    }
    let legend = moved.as_ref().map(|(_, legend)| legend);
    let image = sheet(&panels, Some(panels.len()), legend, PAPER);
    sinew::io::write_png(&folder.join(format!("{}.png", example.name)), &image)
        .map_err(Failure::output)
}

/// Behind the panels.
const PAPER: [u8; 4] = [255; 4];

/// The elbow at 140 degrees under three ways of skinning.
fn elbow_comparison(folder: &Path) -> Outcome {
    let ways = [
        ("linear", load::example("skin_linear")?),
        ("dual quaternion", load::example("skin_dual_quaternion")?),
        ("delta mush", load::example("skin_delta_mush")?),
    ];
    let asset = load::sample("arm")?.asset;
    let mesh = asset.merged(&Default::default()).map_err(Failure::bind)?;
    let looks = ways
        .iter()
        .map(|(_, e)| evaluate(&asset, e.graph, e.frame))
        .collect::<Outcome<Vec<Look>>>()?;
    let all: Vec<[f32; 3]> = looks
        .iter()
        .flat_map(|l| l.positions.iter().copied())
        .collect();
    let camera = Camera::framing(&all, 0.0, 0.15, 1.0);
    let images = looks
        .iter()
        .map(|l| draw(l, mesh.topology.triangles(), &camera))
        .collect::<Outcome<Vec<Image>>>()?;
    let panels: Vec<(&str, &Image)> = ways.iter().zip(&images).map(|(w, i)| (w.0, i)).collect();
    sinew::io::write_png(&folder.join("elbow.png"), &side_by_side(&panels)).map_err(Failure::output)
}
