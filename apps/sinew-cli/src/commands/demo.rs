//! `sinew demo`: every deformer on the built-in samples, as GLB files and before/after pictures.

use crate::args::{Compress, DemoArgs, Interpolation};
use crate::commands::run_frames;
use crate::exit::{Failure, Outcome};
use crate::load;
use crate::reporter::Reporter;
use crate::results::Options;
use crate::setup::{self, SetupFile};
use sinew::bake::vat::{VatSettings, bake, read_animation, remove_work};
use sinew::bake::{MeshFrames, Watch};
use sinew::deform::{Example, Par, examples};
use sinew::geom::Asset;
use sinew::graph::{Frame, Instance, NoNesting, compile};
use sinew::io::Folders;
use sinew::play::{Character, PlayInputs, Player, Runner};
use sinew::vat::quantity::Quantity;
use sinew_picture::{Background, Camera, Image, LinePicture, MeshPicture, Picture, side_by_side};
use std::path::Path;
use std::sync::Arc;

/// Frames a second of the clips of samples.
const RATE: f64 = 30.0;

/// The examples of all nodes; hair takes too long.
fn shown() -> impl Iterator<Item = &'static Example> {
    examples().filter(|e| e.sample != "head")
}

/// The graph of the left picture; `None` for the rest mesh.
fn before(example: &Example) -> Outcome<Option<&'static Example>> {
    match example.before {
        "rest" => Ok(None),
        "linear" => load::example("skin_linear").map(Some),
        name => load::example(name).map(Some),
    }
}

const PANEL: usize = 480;

pub(super) fn demo(args: &DemoArgs, reporter: &Reporter) -> Outcome {
    let count = shown().count();
    let progress = reporter.progress(count, "demo");
    for (done, example) in shown().enumerate() {
        reporter.check_interrupt()?;
        let asset = load::sample(example.sample)?.asset;
        animate(example, &asset, &args.output, reporter)?;
        picture(example, &asset, &args.output)?;
        progress.step(done + 1);
    }
    elbow_comparison(&args.output)?;
    baked_drop(&args.output)?;
    reporter.info(
        "written",
        &format!(
            "wrote {count} GLB files, {} pictures and a bake ({DROP}_vat) to {}",
            count + 2,
            args.output.display()
        ),
    );
    Ok(())
}

fn character(asset: &Asset) -> Arc<Character> {
    Arc::new(Character::from_asset(asset.clone()))
}

/// The whole clip through the graph, as a GLB.
fn animate(example: &Example, asset: &Asset, folder: &Path, reporter: &Reporter) -> Outcome {
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

/// What one evaluation looks like.
struct Look {
    positions: Vec<[f32; 3]>,
    normals: Option<Vec<[f32; 3]>>,
    colors: Option<Vec<[f32; 4]>>,
    lines: Vec<LinePicture>,
}

/// A frame, after all before it where the graph simulates.
fn evaluate(asset: &Asset, graph: &str, frame: u32) -> Outcome<Look> {
    let plan = Arc::new(compile("demo", graph, &NoNesting).map_err(Failure::bind)?);
    let mut cast = PlayInputs::load(character(asset), &plan, &Folders::default())?;
    let mut instance =
        Instance::bind(plan.clone(), cast.bindings(), &[], Par::Rayon).map_err(Failure::bind)?;
    let clip = asset.clips.first().map(|c| c.name.as_str());
    let first = match plan.solvers().next() {
        Some(_) => 0,
        None => frame,
    };
    for number in first..=frame {
        let at_secs = f64::from(number) / RATE;
        let dt = if number == first { 0.0 } else { 1.0 / RATE };
        cast.pose(clip, at_secs);
        let now = Frame::at(at_secs).dt(dt).pose(cast.poses().first());
        instance.update(&now, Par::Rayon).map_err(Failure::bind)?;
    }
    let body = instance
        .mesh_output("body")
        .ok_or_else(|| Failure::bind("the graph has no output 'body'"))?;
    let lines = plan
        .outputs()
        .iter()
        .filter_map(|o| instance.line_output(&o.name))
        .flatten();
    Ok(Look {
        positions: body.positions.to_vec(),
        normals: body.normals.map(<[_]>::to_vec),
        colors: body.colors.map(<[_]>::to_vec),
        lines: lines
            .map(|l| LinePicture {
                from: l.from,
                to: l.to,
                color: [l.color[0], l.color[1], l.color[2]],
            })
            .collect(),
    })
}

fn rest(asset: &Asset) -> Outcome<Look> {
    let mesh = asset.merged(&Default::default()).map_err(Failure::bind)?;
    Ok(Look {
        positions: mesh.positions,
        normals: mesh.normals,
        colors: mesh.colors.into_iter().next(),
        lines: Vec::new(),
    })
}

fn draw(look: &Look, triangles: &[[u32; 3]], camera: &Camera) -> Outcome<Image> {
    let mut picture = Picture::with_background(PANEL, PANEL, Background::STUDIO);
    let mut mesh = MeshPicture::new(&look.positions, triangles);
    mesh.normals = look.normals.as_deref();
    mesh.colors = look.colors.as_deref();
    picture.draw_mesh(&mesh, camera).map_err(Failure::output)?;
    picture.draw_lines(&look.lines, camera, 1.5, false);
    Ok(picture.resolve())
}

/// Yaw and pitch that show a sample well, radians.
fn view(sample: &str) -> (f32, f32) {
    match sample {
        "arm" => (0.25, 0.25),
        "ball" => (0.5, 0.25),
        _ => (0.9, 0.2),
    }
}

fn picture(example: &Example, asset: &Asset, folder: &Path) -> Outcome {
    let after = evaluate(asset, example.graph, example.frame)?;
    let other = before(example)?;
    let before = match other {
        Some(other) => evaluate(asset, other.graph, example.frame)?,
        None => rest(asset)?,
    };
    let (yaw, pitch) = view(example.sample);
    let ends = after.lines.iter().flat_map(|l| [l.from, l.to]);
    let all: Vec<[f32; 3]> = before
        .positions
        .iter()
        .chain(&after.positions)
        .copied()
        .chain(ends)
        .collect();
    let camera = Camera::framing(&all, yaw, pitch, 1.0);
    let mesh = asset.merged(&Default::default()).map_err(Failure::bind)?;
    let triangles = mesh.topology.triangles();
    let label = other.map_or("rest", |_| "before");
    let panels = [
        draw(&before, triangles, &camera)?,
        draw(&after, triangles, &camera)?,
    ];
    let image = side_by_side(&[(label, &panels[0]), (example.name, &panels[1])]);
    sinew::io::write_png(&folder.join(format!("{}.png", example.name)), &image)
        .map_err(Failure::output)
}

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

/// Name of the baked sequence.
const DROP: &str = "drop";
const DROP_FRAMES: usize = 24;

/// A drop that parts, whose triangles change from frame to frame: baked with its players and its report, and a picture of what the bake shows.
fn baked_drop(folder: &Path) -> Outcome {
    let frames = sinew_samples::parting_drop(DROP_FRAMES);
    let bounds = frames.iter().flat_map(|f| f.positions.iter().copied());
    let camera = Camera::framing(&bounds.collect::<Vec<_>>(), 0.5, 0.3, 1.0);
    let source = MeshFrames::new(DROP, frames);
    let [out, work] = ["vat", "vat.work"].map(|end| folder.join(format!("{DROP}_{end}")));
    let settings = VatSettings::default();
    bake(&source, &settings, &work, &out, &Watch::NOBODY)?;
    remove_work(&work)?;
    let baked = read_animation(&out)?;
    let places = baked.manifest().positions().unwrap_or(0);
    let vertices = baked.manifest().layout.vertices;
    let triangles: Vec<[u32; 3]> = (0..vertices / 3)
        .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
        .collect();
    let normals = baked.manifest().texture(&Quantity::Normal);
    let mut panels = Vec::new();
    for frame in [0, 8, 16, 23] {
        let row = frame * baked.manifest().frame_step();
        let vector = |texture, v| std::array::from_fn(|k| baked.value(texture, v, row, k));
        let vectors = |texture| {
            (0..vertices)
                .map(|v| vector(texture, v))
                .collect::<Vec<_>>()
        };
        let look = Look {
            positions: vectors(places),
            normals: normals.map(vectors),
            colors: None,
            lines: Vec::new(),
        };
        panels.push((format!("frame {frame}"), draw(&look, &triangles, &camera)?));
    }
    let panels: Vec<(&str, &Image)> = panels.iter().map(|(l, i)| (l.as_str(), i)).collect();
    sinew::io::write_png(
        &folder.join(format!("{DROP}_vat.png")),
        &side_by_side(&panels),
    )
    .map_err(Failure::output)
}
