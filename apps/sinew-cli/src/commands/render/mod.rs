//! `sinew render`.
//!
//! Steps (frames, or turns of a turntable) follow each other; variants (`--compare`) stand side by side. One variant is an [`actor::Actor`]:
//! it plays, and its results are on the renderer's device. First all steps are gone through to see what the animation fills and
//! which numbers there are, where somebody wants to know; then each is drawn. Nothing is loaded or bound twice.

mod actor;
mod extras;
mod look;
mod overlay;
mod paint;
mod paper;
mod variants;
mod view;

use crate::exit::{Failure, Outcome};
use crate::frames::frame_numbers;
use crate::load;
use crate::render_args::RenderArgs;
use crate::talk::Talk;
use actor::{Actor, drawn};
use extras::Extras;
use look::Look;
use paint::{Numbers, Range, Worst};
use paper::{Format, Paper, Row};
use sinew::geom::{Asset, Image, SceneCamera};
use sinew::gpu::{Gpu, GpuOptions};
use sinew::io::{decode_image, read_appearance};
use sinew::picture::{Camera, ColorMap, Extent, Scale};
use sinew::play::{Character, Document, PlayError};
use sinew::render::{Layer, Lighting, Materials, Renderer, Scene, Shot, SurfaceLook, Wireframe};
use std::sync::Arc;
use variants::Variant;
use view::View;

/// Pictures on a sheet where nobody says how many.
const SHEET_PICTURES: usize = 24;
/// Edges of triangles: dark, a little blue; linear.
const WIRE: Wireframe = Wireframe {
    color: [0.02, 0.03, 0.05],
    width: 1.0,
};
/// Pictures a second of a turntable.
const TURNS_A_SECOND: f64 = 12.0;
/// What is drawn of one step.
#[derive(Clone, Copy, Debug)]
struct Step {
    frame: i64,
    /// Number of the turn on a turntable.
    turn: usize,
}

/// Everything that stays the same from step to step.
struct Studio<'a> {
    args: &'a RenderArgs,
    talk: &'a Talk,
    gpu: Gpu,
    character: Arc<Character>,
    look: Look,
    map: ColorMap,
    lighting: Lighting,
    view: View,
    paper: Paper,
    materials: Option<Materials>,
    /// Joints that the camera looks at.
    focus: Vec<u32>,
}

/// What the steps taken together fill and show.
#[derive(Default)]
struct Measured {
    /// All surfaces and lines, for light and depth.
    whole: Extent,
    /// What the camera looks at: all of it, or what the joints in focus move.
    framed: Extent,
    /// Lowest place of a surface.
    ground: Option<f32>,
    range: Range,
}

pub(super) fn render(args: &RenderArgs, talk: &Talk) -> Outcome {
    let format = Format::of(&args.output)?;
    let look = Look::parse(&args.look.look)?;
    let map = look::color_map(args.look.map.as_deref())?;
    // The device takes as long to start as the file to load.
    let (gpu, character) = std::thread::scope(|scope| {
        let gpu = scope.spawn(|| Gpu::new(&GpuOptions::from_env()));
        let character = load::character(&args.input, talk);
        (gpu.join(), character)
    });
    let character = character?;
    let gpu =
        gpu.map_err(|_| Failure::new(crate::exit::Code::Device, "the graphics driver failed"))?;
    let gpu = gpu.map_err(PlayError::Device)?;
    let (materials, cameras) = appearance(&gpu, &character, &look, talk)?;
    let steps = steps(args, format, &character)?;
    let studio = Studio {
        args,
        talk,
        view: View::parse(&args.camera, &cameras)?,
        paper: Paper::parse(&args.kind, format, steps.len())?,
        lighting: look.lighting(&args.look),
        focus: view::joints(&character.asset.rig, &args.camera.focus)?,
        gpu,
        character,
        look,
        map,
        materials,
    };
    studio.draw(&steps)
}

/// Materials where the look shows them, and the file's cameras.
fn appearance(
    gpu: &Gpu,
    character: &Character,
    look: &Look,
    talk: &Talk,
) -> Outcome<(Option<Materials>, Vec<SceneCamera>)> {
    let Some(source) = &character.source else {
        return Ok((None, Vec::new()));
    };
    let (appearance, warnings) = read_appearance(source).map_err(Failure::input)?;
    for w in &warnings {
        talk.warning(w.code, &w.message);
    }
    if *look != Look::Shaded || appearance.materials.is_empty() {
        return Ok((None, appearance.cameras));
    }
    let decode = |image: &Option<_>| {
        let decoded = decode_image(image.as_ref()?, &source.path);
        decoded
            .map_err(|e| talk.warning("image_left_out", &e.to_string()))
            .ok()
    };
    let images: Vec<Option<Image>> = appearance.images.iter().map(decode).collect();
    let materials = drawn(Materials::new(gpu, &appearance, &images))?;
    Ok((Some(materials), appearance.cameras))
}

/// The frames to show: those of `--frames`; else the first, or all of the clip in an animation, or some of them on a sheet.
fn frames(args: &RenderArgs, format: Format, asset: &Asset) -> Outcome<Vec<i64>> {
    if let (Some(sequence), None) = (&asset.sequence, &args.play.frames) {
        return Ok(thinned(args, format, sequence.numbers.clone()));
    }
    let clip = match &args.play.clip {
        Some(name) => asset.find_clip(Some(name)),
        None => asset.find_clip(None),
    };
    let numbers = frame_numbers(args.play.frames.as_deref(), clip, args.play.fps)?;
    Ok(match args.play.frames {
        Some(_) => numbers,
        None => thinned(args, format, numbers),
    })
}

fn thinned(args: &RenderArgs, format: Format, all: Vec<i64>) -> Vec<i64> {
    let turns = args.kind.turntable.is_some();
    match format {
        Format::Animation if !turns => all,
        Format::Picture if args.kind.sheet => {
            let count = all.len().min(SHEET_PICTURES);
            let last = all.len().saturating_sub(1);
            let pick = |i: usize| all[i * last / count.saturating_sub(1).max(1)];
            (0..count).map(pick).collect()
        }
        _ => all.into_iter().take(1).collect(),
    }
}

fn steps(args: &RenderArgs, format: Format, character: &Character) -> Outcome<Vec<Step>> {
    character.find_clip_name(args.play.clip.as_deref())?;
    let frames = frames(args, format, &character.asset)?;
    let Some(turns) = args.kind.turntable else {
        return Ok(frames
            .into_iter()
            .map(|frame| Step { frame, turn: 0 })
            .collect());
    };
    if turns == 0 || turns > 10_000 {
        return Err(Failure::usage(format!(
            "--turntable is {turns}, expected 1 to 10000"
        )));
    }
    let step = |turn: usize| Step {
        frame: frames[turn * frames.len() / turns],
        turn,
    };
    Ok((0..turns).map(step).collect())
}

impl Studio<'_> {
    fn draw(&self, steps: &[Step]) -> Outcome {
        let numbers: Vec<i64> = steps.iter().map(|s| s.frame).collect();
        let mut actors = self.actors(&numbers)?;
        let mut against = self.against(&numbers)?;
        let measured = self.measure(steps, &mut actors, against.as_mut())?;
        let mut renderer = drawn(Renderer::new(&self.gpu))?;
        let mut extras = Extras::new(&self.args.look, &self.character, self.talk);
        let progress = self.talk.progress(steps.len() * actors.len(), "pictures");
        let (mut rows, mut finished) = (Vec::new(), 0);
        for step in steps {
            let mut images = Vec::new();
            for actor in &mut actors {
                self.talk.check_interrupt()?;
                let mut range = Range::default();
                let worst = self.prepare(actor, against.as_mut(), step.frame, &mut range)?;
                let camera = self.camera(&measured, actor, step, steps.len())?;
                extras.prepare(&self.gpu, actor)?;
                let scene = self.scene(actor, &extras, &measured)?;
                let image = self.picture(&mut renderer, &scene, &camera, worst)?;
                images.push((actor.label.clone(), image));
                finished += 1;
                progress.step(finished);
            }
            rows.push(Row {
                label: self.step_label(step, steps.len()),
                images,
            });
        }
        let scale = self.scale(&measured);
        self.paper
            .write(&self.args.output, &rows, scale.as_ref(), self.rate(steps))?;
        let path = self.args.output.display();
        self.talk.info("written", &format!("wrote {path}"));
        Ok(())
    }

    /// One for each thing to compare, in order.
    fn actors(&self, numbers: &[i64]) -> Outcome<Vec<Actor>> {
        let document = self.document()?;
        let compared = &self.args.kind.compare;
        let variants = if compared.is_empty() {
            vec![Variant::of(document)]
        } else {
            let parse = |entry: &String| Variant::parse(entry, &document, &self.character);
            compared.iter().map(parse).collect::<Outcome<_>>()?
        };
        if self.character.asset.sequence.is_some() && variants.len() > 1 {
            return Err(Failure::usage(
                "--compare needs a character, this is a mesh sequence",
            ));
        }
        let actors: Vec<Actor> = variants
            .iter()
            .map(|v| self.actor(v, numbers))
            .collect::<Outcome<_>>()?;
        self.check_settings(&actors)?;
        Ok(actors)
    }

    /// The graph of `--graph`, else the character's own or the default.
    fn document(&self) -> Outcome<Document> {
        match &self.args.play.graph {
            Some(path) => load::document(path),
            None => Ok(Document::of_character(&self.character)),
        }
    }

    fn actor(&self, variant: &Variant, numbers: &[i64]) -> Outcome<Actor> {
        let play = &self.args.play;
        Actor::new(
            &self.gpu,
            &self.character,
            variant,
            play,
            numbers,
            self.talk,
        )
    }

    /// A setting that no actor knows is a slip.
    fn check_settings(&self, actors: &[Actor]) -> Outcome {
        for setting in &self.args.play.set {
            let name = setting.split('=').next().unwrap_or_default();
            if !actors.iter().any(|a| a.has_parameter(name)) {
                return Err(Failure::usage(format!(
                    "--set {setting}: no graph here has a parameter '{name}'"
                )));
            }
        }
        Ok(())
    }

    /// What the difference is measured to, where that is the look.
    fn against(&self, numbers: &[i64]) -> Outcome<Option<Actor>> {
        if self.look != Look::Numbers(look::Source::Difference) {
            return Ok(None);
        }
        let document = self.document()?;
        let entry = &self.args.look.against;
        let variant = Variant::parse(entry, &document, &self.character)?;
        self.actor(&variant, numbers).map(Some)
    }

    /// Goes through all steps where something has to be known of them before the first is drawn.
    fn measure(
        &self,
        steps: &[Step],
        actors: &mut [Actor],
        mut against: Option<&mut Actor>,
    ) -> Outcome<Measured> {
        let mut out = Measured::default();
        let mut last = None;
        let progress = self.talk.progress(steps.len(), "frames");
        for (i, step) in steps.iter().enumerate() {
            if last.replace(step.frame) == Some(step.frame) {
                continue;
            }
            for actor in actors.iter_mut() {
                self.talk.check_interrupt()?;
                self.prepare(actor, against.as_deref_mut(), step.frame, &mut out.range)?;
                self.add_extent(actor, &mut out)?;
            }
            progress.step(i + 1);
        }
        if actors.iter().all(Actor::is_empty) {
            let path = self.args.input.display();
            let message = format!("{path}: there is nothing to see, the meshes have no triangles");
            self.talk.warning("nothing_to_see", &message);
        }
        if !self.focus.is_empty() && out.framed.bounds().is_none() {
            return Err(Failure::usage(format!(
                "--focus {}: no vertex follows these joints more than others",
                self.args.camera.focus.join(",")
            )));
        }
        Ok(out)
    }

    fn add_extent(&self, actor: &mut Actor, out: &mut Measured) -> Outcome {
        let rests: Vec<_> = actor.parts.iter().map(|p| p.rest.clone()).collect();
        let Measured {
            whole,
            framed,
            ground,
            ..
        } = out;
        actor.each_positions(|i, positions| {
            whole.add(positions.iter().copied());
            let heights = positions.iter().map(|p| p[1]).filter(|h| h.is_finite());
            *ground = heights.chain(*ground).reduce(f32::min);
            match view::focused(&rests[i], &self.focus) {
                Some(vertices) => framed.add(vertices.iter().map(|&v| positions[v as usize])),
                None if self.focus.is_empty() => framed.add(positions.iter().copied()),
                None => {}
            }
        })?;
        if !self.args.look.no_lines {
            let ends = actor.line_ends()?;
            whole.add(ends.iter().copied());
            if self.focus.is_empty() {
                framed.add(ends);
            }
        }
        Ok(())
    }

    /// Brings an actor to a frame, with what the look needs.
    fn prepare(
        &self,
        actor: &mut Actor,
        mut against: Option<&mut Actor>,
        frame: i64,
        range: &mut Range,
    ) -> Outcome<Option<Worst>> {
        actor.advance(frame)?;
        if let Some(against) = against.as_deref_mut() {
            against.advance(frame)?;
        }
        match &self.look {
            Look::Weights if actor.is_painted => Ok(None),
            Look::Weights => {
                actor.is_painted = true;
                for part in &mut actor.parts {
                    let colors = look::weight_colors(&part.rest);
                    drawn(part.surface.paint_over(&self.gpu, &colors))?;
                }
                Ok(None)
            }
            Look::Numbers(source) => {
                let numbers = Numbers {
                    gpu: &self.gpu,
                    source,
                    rig: &self.character.asset.rig,
                };
                numbers.prepare(actor, against, range)
            }
            _ => Ok(None),
        }
    }

    fn camera(
        &self,
        measured: &Measured,
        actor: &Actor,
        step: &Step,
        steps: usize,
    ) -> Outcome<Camera> {
        let [width, height] = self.paper.size;
        let aspect = width as f32 / height as f32;
        let turns = self.args.kind.turntable.map(|_| steps);
        let cameras = self
            .view
            .cameras(&measured.framed, actor.pose(), aspect, turns)?;
        let last = cameras.len().saturating_sub(1);
        cameras
            .get(step.turn.min(last))
            .copied()
            .ok_or_else(|| Failure::usage("there is nothing to look at"))
    }

    fn picture(
        &self,
        renderer: &mut Renderer,
        scene: &Scene<'_>,
        camera: &Camera,
        worst: Option<Worst>,
    ) -> Outcome<Image> {
        let kind = &self.args.kind;
        let shot = Shot {
            background: self.paper.background,
            ground: !kind.no_ground,
            shadows: !kind.no_shadows,
            occlusion: !kind.no_occlusion,
            ..Shot::studio(self.paper.size[0], self.paper.size[1], *camera)
        };
        let mut image = drawn(renderer.render(scene, &shot))?;
        if let Some(worst) = worst {
            overlay::mark(&mut image, camera, &worst);
        }
        Ok(image)
    }

    fn scene<'a>(
        &'a self,
        actor: &'a Actor,
        extras: &'a Extras,
        measured: &Measured,
    ) -> Outcome<Scene<'a>> {
        let ends = self.ends(measured);
        let mut scene = Scene {
            bounds: measured.whole.bounds(),
            ground: measured.ground,
            ..Scene::default()
        };
        for part in &actor.parts {
            let materials = self.materials.as_ref();
            scene.surfaces.push(SurfaceLook {
                surface: &part.surface,
                paint: paint::paint(&self.look, part, materials, ends, self.map)?,
                lighting: self.lighting,
                wireframe: self.args.look.wireframe.then_some(WIRE),
                layer: Layer::Scene,
            });
        }
        extras.add_to(&mut scene, actor);
        Ok(scene)
    }

    /// The numbers of the first and last colour.
    fn ends(&self, measured: &Measured) -> [f32; 2] {
        match self.args.look.range {
            Some(given) => given.0,
            None => measured.range.ends(self.map.is_diverging()),
        }
    }

    fn scale(&self, measured: &Measured) -> Option<Scale> {
        let Look::Numbers(_) = self.look else {
            return None;
        };
        let [min, max] = self.ends(measured);
        Some(Scale {
            min,
            max,
            map: self.map,
            title: self.look.title(&self.args.look.against),
        })
    }

    fn step_label(&self, step: &Step, steps: usize) -> String {
        match self.args.kind.turntable {
            _ if steps == 1 => String::new(),
            Some(turns) => format!("{:.0}°", 360.0 * step.turn as f32 / turns as f32),
            None => format!("frame {}", step.frame),
        }
    }

    /// Pictures a second.
    fn rate(&self, steps: &[Step]) -> u16 {
        let stride = steps
            .windows(2)
            .map(|w| (w[1].frame - w[0].frame).abs())
            .max();
        let of_clip = self.args.play.fps / stride.unwrap_or(1).max(1) as f64;
        let of_clip = if self.args.kind.turntable.is_some() {
            TURNS_A_SECOND
        } else {
            of_clip
        };
        self.args
            .kind
            .rate
            .unwrap_or(of_clip.round().clamp(1.0, 1000.0) as u16)
    }
}
