//! Goes through the steps twice: to measure, then to draw.

use super::actor::{Actor, Play, drawn};
use super::extras::Extras;
use super::files::Files;
use super::inside::Part;
use super::layout::{Format, Paper, Row};
use super::look::{self, Look, Source};
use super::paint::{self, Numbers, Range, Worst};
use super::steps::Step;
use super::variants::Variant;
use super::view::View;
use super::{names, overlay};
use crate::exit::{Failure, Outcome};
use crate::load;
use crate::output::frame_file;
use crate::render_args::RenderArgs;
use crate::reporter::{Reporter, counted};
use crate::saved_state::SavedState;
use crate::setup::SetupFile;
use sinew::geom::Image;
use sinew::gpu::Gpu;
use sinew::graph::Plan;
use sinew::picture::{Camera, ColorMap, Extent, Scale};
use sinew::play::Character;
use sinew::render::{Lighting, Renderer, Scene, Shot, SurfaceLook, Wireframe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Edges of triangles: dark, a little blue; linear.
const WIRE: Wireframe = Wireframe {
    color: [0.02, 0.03, 0.05],
    width: 1.0,
};
/// Pictures a second of a turntable.
const TURNS_A_SECOND: f64 = 12.0;
/// What differences are measured to where nobody says.
const AGAINST: &str = "default";

/// Everything that stays the same from step to step.
pub(super) struct RenderJob<'a> {
    pub(super) args: &'a RenderArgs,
    pub(super) reporter: &'a Reporter,
    /// Frames that are measured.
    pub(super) fitted: Vec<i64>,
    /// Where simulations go on.
    pub(super) state: Option<Arc<SavedState>>,
    pub(super) gpu: Gpu,
    pub(super) character: Arc<Character>,
    /// Entries of `--compare`.
    pub(super) compared: Vec<String>,
    pub(super) look: Look,
    /// The lattices, masks and fields that `--show` draws.
    pub(super) show: Vec<Part>,
    pub(super) map: ColorMap,
    pub(super) lighting: Lighting,
    pub(super) view: View,
    pub(super) paper: Paper,
}

/// What the steps taken together fill and show.
#[derive(Default)]
struct Measured {
    /// All surfaces, lines and bones, for light and depth.
    whole: Extent,
    /// What the camera looks at: all of it, or what the joints in focus move.
    framed: Extent,
    /// Lowest height of a surface.
    ground: Option<f32>,
    range: Range,
    /// Whether there ever was a triangle.
    has_triangles: bool,
}

/// Everything that plays.
struct Stage {
    actors: Vec<Actor>,
    /// What differences are measured to.
    against: Option<Actor>,
    extras: Extras,
    files: Files,
}

impl RenderJob<'_> {
    pub(super) fn draw(&self, steps: &[Step], files: Files) -> Outcome {
        if self.paper.format == Format::Numbered {
            let mut files = steps.iter().map(|s| self.file(s));
            files.try_for_each(|file| self.reporter.check_output(&file))?;
        }
        let mut stage = self.stage(steps, files)?;
        let measured = self.measure(&mut stage)?;
        let scale = self.scale(&measured);
        let mut cameras = Vec::new();
        if !self.view.moves() {
            cameras = self.cameras(&measured, &stage.actors[0])?;
        }
        let mut renderer = drawn(Renderer::new(&self.gpu))?;
        let total = steps.len() * stage.actors.len();
        let progress = self.reporter.progress(total, "pictures");
        let mut rows: Vec<Row> = Vec::new();
        for (done, step) in steps.iter().enumerate() {
            let mut images = Vec::new();
            for i in 0..stage.actors.len() {
                self.reporter.check_interrupt()?;
                let worst = self.prepare(&mut stage, i, step.frame, &mut Range::default())?;
                if self.view.moves() {
                    cameras = self.cameras(&measured, &stage.actors[i])?;
                }
                let camera = &cameras[step.turn.min(cameras.len() - 1)];
                let image = self.picture(&mut renderer, &stage, i, &measured, camera, worst)?;
                images.push((stage.actors[i].label.clone(), image));
                progress.step(done * stage.actors.len() + i + 1);
            }
            let label = self.step_label(step, steps.len());
            rows.push(Row { label, images });
            if self.paper.format == Format::Numbered {
                let rows = std::mem::take(&mut rows);
                self.write(&self.file(step), rows, scale.as_ref(), steps)?;
            }
        }
        drop(progress);
        if !rows.is_empty() {
            self.write(&self.args.output, rows, scale.as_ref(), steps)?;
        }
        self.tell_written(steps);
        Ok(())
    }

    fn write(&self, path: &Path, rows: Vec<Row>, scale: Option<&Scale>, steps: &[Step]) -> Outcome {
        self.paper.write(path, rows, scale, self.rate(steps))?;
        self.reporter.wrote_file();
        Ok(())
    }

    /// The file of a step, where each has its own: numbered by frames, or by the turns of a turntable.
    fn file(&self, step: &Step) -> PathBuf {
        let number = match self.args.kind.turntable {
            Some(_) => step.turn as i64,
            None => step.frame,
        };
        frame_file(&self.args.output, number, &[])
    }

    fn tell_written(&self, steps: &[Step]) {
        let message = match steps {
            [first, .., last] if self.paper.format == Format::Numbered => format!(
                "wrote {}, {} to {}",
                counted(steps.len() as u64, "file"),
                self.file(first).display(),
                self.file(last).display()
            ),
            [only] if self.paper.format == Format::Numbered => {
                format!("wrote {}", self.file(only).display())
            }
            _ => format!("wrote {}", self.args.output.display()),
        };
        self.reporter.info("written", &message);
    }

    fn stage(&self, steps: &[Step], mut files: Files) -> Outcome<Stage> {
        let drawn = steps.iter().map(|s| s.frame);
        let numbers: Vec<i64> = drawn.chain(self.fitted.iter().copied()).collect();
        let document = load::chosen_document(
            self.args.play.graph.graph.as_deref(),
            &self.character,
            self.reporter,
        )?;
        let parse = |entry: &str| Variant::parse(entry, &document, &self.character, self.reporter);
        let variants = if self.compared.is_empty() {
            vec![Variant::of(document.clone())]
        } else {
            let parsed = self.compared.iter().map(|entry| parse(entry));
            parsed.collect::<Outcome<_>>()?
        };
        let play = Play {
            args: &self.args.play,
            numbers: &numbers,
            state: self.state.as_ref(),
            show: &self.show,
            setup: &SetupFile::open(self.args.play.graph.inputs.cache.as_deref())?,
        };
        let against = match &self.look {
            Look::Numbers(Source::Difference) => {
                Some(parse(self.args.look.against.as_deref().unwrap_or(AGAINST))?)
            }
            _ => None,
        };
        self.check_names(variants.iter().chain(&against))?;
        let actors = variants.iter().map(|v| self.actor(v, &play));
        let actors: Vec<Actor> = actors.collect::<Outcome<_>>()?;
        let against = against.map(|v| self.actor(&v, &play)).transpose()?;
        if let Some(path) = &self.args.play.state
            && !actors.iter().chain(&against).any(Actor::goes_on)
        {
            return Err(Failure::usage(format!(
                "--state {}: none of the graphs simulates; leave out --state",
                path.display()
            )));
        }
        if self.look == Look::Shaded {
            files.load(&self.gpu, &self.character, self.reporter)?;
            for part in actors.iter().flat_map(|a| &a.parts) {
                files.load(&self.gpu, &part.character, self.reporter)?;
            }
        }
        Ok(Stage {
            actors,
            against,
            extras: Extras::new(&self.args.look, &self.character, self.reporter),
            files,
        })
    }

    fn actor(&self, variant: &Variant, play: &Play<'_>) -> Outcome<Actor> {
        let (character, focus) = (&self.character, &self.args.camera.focus);
        Actor::new(&self.gpu, character, variant, play, focus, self.reporter)
    }

    /// A name that no graph knows is a slip. It comes before what the graphs lack because of it.
    fn check_names<'v>(&self, variants: impl Iterator<Item = &'v Variant>) -> Outcome {
        // A graph that does not compile is reported when it is played; a sequence without a graph takes no names.
        let plan = |v: &Variant| match self.character.asset.sequence {
            Some(_) => None,
            None => v.document.compile().ok(),
        };
        let plans: Vec<Plan> = variants.filter_map(plan).collect();
        if plans.is_empty() && self.character.asset.sequence.is_none() {
            return Ok(());
        }
        names::check(&self.args.play.graph.inputs, &plans)
    }

    /// Goes through the frames to fit, so that cameras, light and colours fit every one of them.
    fn measure(&self, stage: &mut Stage) -> Outcome<Measured> {
        let mut out = Measured::default();
        let progress = self.reporter.progress(self.fitted.len(), "frames");
        for (i, frame) in self.fitted.iter().enumerate() {
            for actor in 0..stage.actors.len() {
                self.reporter.check_interrupt()?;
                self.prepare(stage, actor, *frame, &mut out.range)?;
                self.add_extent(stage, actor, &mut out)?;
            }
            progress.step(i + 1);
        }
        if !out.has_triangles {
            let path = self.args.input.display();
            let message = format!("{path}: nothing is drawn, because the meshes have no triangles");
            self.reporter.warning("nothing_to_see", &message);
        }
        if !self.args.camera.focus.is_empty() && out.framed.bounds().is_none() {
            return Err(Failure::usage(format!(
                "--focus {}: no vertex has more than half of its weight on these joints",
                self.args.camera.focus.join(",")
            )));
        }
        Ok(out)
    }

    fn add_extent(&self, stage: &mut Stage, actor: usize, out: &mut Measured) -> Outcome {
        let actor = &mut stage.actors[actor];
        out.has_triangles |= !actor.is_empty();
        let focused: Vec<_> = actor.parts.iter().map(|p| p.focused.clone()).collect();
        actor.each_positions(|i, positions| {
            let bounds = sinew::geom::bounds(positions);
            out.whole.add(bounds.into_iter().flat_map(|b| [b.0, b.1]));
            let lowest = bounds.map(|b| b.0[1]);
            out.ground = lowest.into_iter().chain(out.ground).reduce(f32::min);
            match &focused[i] {
                Some(vertices) => {
                    let all = vertices.iter().map(|&v| positions[v as usize]);
                    out.framed.add(all);
                }
                None => out.framed.add(positions.iter().copied()),
            }
        })?;
        let mut more = stage.extras.joint_places(actor);
        if !self.args.look.no_lines {
            more.extend(actor.line_ends()?);
        }
        out.whole.add(more.iter().copied());
        if self.args.camera.focus.is_empty() {
            out.framed.add(more);
        }
        Ok(())
    }

    /// Brings an actor to a frame, with what the look needs; for differences gives the worst vertex.
    fn prepare(
        &self,
        stage: &mut Stage,
        actor: usize,
        frame: i64,
        range: &mut Range,
    ) -> Outcome<Option<Worst>> {
        let actor = &mut stage.actors[actor];
        actor.advance(frame, self.reporter)?;
        if let Some(against) = &mut stage.against {
            against.advance(frame, self.reporter)?;
        }
        stage.extras.prepare(&self.gpu, actor)?;
        match &self.look {
            Look::Weights if !actor.is_painted => {
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
                numbers.prepare(actor, stage.against.as_mut(), range)
            }
            _ => Ok(None),
        }
    }

    /// One for each turn, or one.
    fn cameras(&self, measured: &Measured, actor: &Actor) -> Outcome<Vec<Camera>> {
        let [width, height] = self.paper.size;
        let aspect = width as f32 / height as f32;
        let turns = self.args.kind.turntable;
        let cameras = self
            .view
            .cameras(&measured.framed, actor.pose(), aspect, turns)?;
        if cameras.is_empty() {
            return Err(Failure::usage("the camera has nothing to frame"));
        }
        Ok(cameras)
    }

    fn picture(
        &self,
        renderer: &mut Renderer,
        stage: &Stage,
        actor: usize,
        measured: &Measured,
        camera: &Camera,
        worst: Option<Worst>,
    ) -> Outcome<Image> {
        let kind = &self.args.kind;
        let mut shot = Shot::studio(self.paper.size[0], self.paper.size[1], *camera);
        shot.background = self.paper.background;
        shot.ground = !kind.no_ground;
        shot.shadows = !kind.no_shadows;
        shot.occlusion = !kind.no_occlusion;
        let actor = &stage.actors[actor];
        let scene = self.scene(stage, actor, measured)?;
        let mut image = drawn(renderer.render(&scene, &shot))?;
        if self.args.look.names {
            let rig = &self.character.asset.rig;
            let joints = stage.extras.named_joints(actor, rig).into_iter();
            let named = joints.map(|(place, node)| (place, rig.nodes()[node].name.as_str()));
            overlay::names(&mut image, camera, named);
        }
        if let Some(worst) = worst {
            overlay::mark(&mut image, camera, &worst);
            self.tell(actor, &worst);
        }
        Ok(image)
    }

    /// The worst vertex as words, for reports.
    fn tell(&self, actor: &Actor, worst: &Worst) {
        let output = &actor.parts[worst.part].name;
        let label = match actor.label.as_str() {
            "" => String::new(),
            label => format!("{label}, "),
        };
        let message = format!(
            "{label}frame {}: {} mm at vertex {} of '{output}'",
            actor.frame().unwrap_or(0),
            worst.millimetres,
            worst.vertex
        );
        self.reporter.info("worst_vertex", &message);
    }

    fn scene<'b>(
        &self,
        stage: &'b Stage,
        actor: &'b Actor,
        measured: &Measured,
    ) -> Outcome<Scene<'b>> {
        let ends = self.ends(measured);
        let mut scene = Scene::default();
        scene.bounds = measured.whole.bounds();
        scene.ground = measured.ground;
        for part in &actor.parts {
            let materials = stage.files.materials(&part.character);
            scene.surfaces.push(
                SurfaceLook::clay(&part.surface)
                    .paint(paint::paint(&self.look, part, materials, ends, self.map)?)
                    .lighting(self.lighting)
                    .wireframe(self.args.look.wireframe.then_some(WIRE)),
            );
        }
        stage.extras.add_to(&mut scene, actor);
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
        let against = self.args.look.against.as_deref();
        Some(Scale {
            min,
            max,
            map: self.map,
            title: self.look.title(against.unwrap_or(AGAINST)),
        })
    }

    fn step_label(&self, step: &Step, steps: usize) -> String {
        match self.args.kind.turntable {
            _ if steps == 1 => String::new(),
            Some(turns) => format!("{:.0}°", 360.0 * step.turn as f32 / turns as f32),
            None => format!("frame {}", step.frame),
        }
    }

    /// Pictures a second: as many as the clip has of these steps.
    fn rate(&self, steps: &[Step]) -> u16 {
        let strides = steps.windows(2).map(|w| (w[1].frame - w[0].frame).abs());
        let stride = strides.max().unwrap_or(1).max(1);
        let of_clip = match self.args.kind.turntable {
            Some(_) => TURNS_A_SECOND,
            None => self.args.play.fps / stride as f64,
        };
        let of_clip = of_clip.round().clamp(1.0, 1000.0) as u16;
        self.args.kind.rate.unwrap_or(of_clip)
    }
}
