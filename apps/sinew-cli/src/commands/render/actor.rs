//! One of the things that stand side by side: it plays, and its results are on the renderer's device.

use super::super::run::solvers;
use super::inside::{Part, field_lines};
use super::variants::Variant;
use super::view;
use crate::args::Device;
use crate::exit::{Failure, Outcome};
use crate::frames::tell_held;
use crate::render_args::PlayArgs;
use crate::reporter::Reporter;
use crate::saved_state::SavedState;
use crate::setup::{self, SetupFile};
use crate::{device, load};
use sinew::deform::MeshAttribute;
use sinew::geom::{Mesh, MeshSequence, Pose};
use sinew::gpu::{Gpu, GpuInstances};
use sinew::graph::{BoundGraph, DataRef, Instance, OutputData, Plan};
use sinew::play::{Character, PlayError, Player, Runner};
use sinew::render::{Hair, Lines, RenderError, Surface};
use std::sync::Arc;

/// Failures of the renderer, with their exit codes.
pub(super) fn drawn<T>(result: Result<T, RenderError>) -> Outcome<T> {
    result.map_err(|error| match error {
        RenderError::Gpu(error) => PlayError::Device(error).into(),
        RenderError::NoPixels { .. } | RenderError::Missing { .. } => Failure::usage(error),
        error => Failure::bind(error),
    })
}

/// A mesh output of an actor.
pub(super) struct Shown {
    /// The character that the mesh came from: its materials are meant.
    pub(super) character: Arc<Character>,
    /// The character whose joints its weights refer to.
    pub(super) joints: Arc<Character>,
    /// Whether there are numbers for the look that is wanted.
    pub(super) has_numbers: bool,
    /// Vertices that follow the joints in focus; `None` where nothing is in focus.
    pub(super) focused: Option<Vec<u32>>,
    pub(super) rest: Arc<Mesh>,
    pub(super) surface: Surface,
    /// Of the frame that is shown, where the mesh is made of strands.
    pub(super) strands: Option<Hair>,
    /// Whether the graph made its colours, which then mean something.
    pub(super) made_colors: bool,
    /// Name of the output; that of the mesh for a sequence.
    pub(super) name: String,
}

impl Shown {
    /// Whether it is drawn as lines.
    fn is_strands(&self) -> bool {
        self.rest.topology.strands().is_some()
    }
}

/// Where results come from.
enum Source {
    Graph(Box<Player>, Option<Arc<SavedState>>),
    Sequence(Arc<Character>),
}

pub(super) struct Actor {
    pub(super) label: String,
    pub(super) parts: Vec<Shown>,
    pub(super) lines: Vec<Lines>,
    /// Outputs that are fields to draw as lines.
    fields: Vec<String>,
    source: Source,
    gpu: Gpu,
    shows: Option<i64>,
    /// Whether what does not change with frames (weights, attributes) is on the device already.
    pub(super) is_painted: bool,
}

/// What all actors play.
#[derive(Clone, Copy)]
pub(super) struct Play<'a> {
    pub(super) args: &'a PlayArgs,
    /// Frames, in the order of the steps.
    pub(super) numbers: &'a [i64],
    /// Where simulations go on.
    pub(super) state: Option<&'a Arc<SavedState>>,
    pub(super) setup: &'a SetupFile,
    /// The lattices, masks and fields that `--show` draws.
    pub(super) show: &'a [Part],
}

impl Actor {
    /// Compiles, binds and brings to the device.
    pub(super) fn new(
        gpu: &Gpu,
        character: &Arc<Character>,
        variant: &Variant,
        play: &Play<'_>,
        focus: &[String],
        reporter: &Reporter,
    ) -> Outcome<Self> {
        let mut fields = Vec::new();
        let source = match character.asset.sequence {
            Some(_) => Source::Sequence(character.clone()),
            None => {
                let (player, state, shown) = player(gpu, character, variant, play, reporter)?;
                fields = shown;
                Source::Graph(Box::new(player), state)
            }
        };
        let mut actor = Self {
            label: variant.label.clone(),
            parts: Vec::new(),
            lines: Vec::new(),
            fields,
            source,
            gpu: gpu.clone(),
            shows: None,
            is_painted: false,
        };
        if let Source::Graph(player, _) = &actor.source {
            actor.parts = parts(gpu, player, focus)?;
        }
        Ok(actor)
    }

    /// Frame `number`, unless it is what is shown.
    pub(super) fn advance(&mut self, number: i64, reporter: &Reporter) -> Outcome {
        if self.shows == Some(number) {
            return Ok(());
        }
        match &mut self.source {
            Source::Sequence(character) => {
                let mesh = frame_of(character.asset.sequence.as_ref(), number)?;
                self.parts = vec![sequence_part(&self.gpu, character, mesh)?];
                self.is_painted = false;
            }
            Source::Graph(player, state) => {
                // Backwards: the frames before the state are not simulated.
                if let Some(state) = state
                    && player.frame().is_some_and(|last| last >= number)
                {
                    state.restore_again(player)?;
                }
                player.seek(number, |_| reporter.check_interrupt())?;
                self.lines.clear();
                match player.runner_mut() {
                    Runner::Cpu(instance) => {
                        from_cpu(&self.gpu, instance, &mut self.parts, &mut self.lines)?;
                        for name in &self.fields {
                            let words = instance.field_output(name).unwrap_or_default();
                            let made = field_lines(words);
                            self.lines.push(drawn(Lines::new(&self.gpu, &made))?);
                        }
                    }
                    Runner::Gpu(instances) => {
                        from_device(&self.gpu, instances, &mut self.parts, &mut self.lines)?;
                    }
                    _ => {}
                }
            }
        }
        self.shows = Some(number);
        Ok(())
    }

    /// Whether the frame that is shown has no triangle and no strand.
    pub(super) fn is_empty(&self) -> bool {
        let has_nothing = |p: &Shown| p.surface.triangle_count() == 0 && !p.is_strands();
        self.parts.iter().all(has_nothing)
    }

    /// Whether it goes on from a state.
    pub(super) fn goes_on(&self) -> bool {
        matches!(self.source, Source::Graph(_, Some(_)))
    }

    /// The frame that is shown.
    pub(super) fn frame(&self) -> Option<i64> {
        self.shows
    }

    /// Pose of the main character in the frame that is shown.
    pub(super) fn pose(&self) -> Option<&Pose> {
        match &self.source {
            Source::Graph(player, _) => player.inputs().poses().first(),
            Source::Sequence(_) => None,
        }
    }

    /// Calls `take` with the positions of each part. Brings them back where they are on a device; those that are not finite are an error there,
    /// as they are on the CPU.
    pub(super) fn each_positions(&mut self, mut take: impl FnMut(usize, &[[f32; 3]])) -> Outcome {
        for (i, part) in self.parts.iter().enumerate() {
            let Source::Graph(player, _) = &mut self.source else {
                take(i, &part.rest.positions);
                continue;
            };
            match player.runner_mut() {
                Runner::Cpu(instance) => {
                    let mesh = instance.mesh_output(&part.name);
                    take(i, mesh.map_or(&[], |m| m.positions));
                }
                Runner::Gpu(instances) => {
                    let positions = instances.read_positions(&part.name, 0);
                    let positions = positions.map_err(PlayError::Device)?.unwrap_or_default();
                    let bad = |p: &[f32; 3]| p.iter().any(|c| !c.is_finite());
                    if let Some(vertex) = positions.iter().position(bad) {
                        return Err(Failure::from(PlayError::NotFinite {
                            frame: self.shows.unwrap_or_default(),
                            output: part.name.clone(),
                            vertex,
                        }));
                    }
                    take(i, &positions);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Ends of all lines that the graph outputs, two each. Brings them back where they are on a device.
    pub(super) fn line_ends(&mut self) -> Outcome<Vec<[f32; 3]>> {
        let Source::Graph(player, _) = &mut self.source else {
            return Ok(Vec::new());
        };
        let names: Vec<String> = outputs(player.graph())
            .filter(|o| matches!(o.1, OutputData::Lines(_)))
            .map(|o| o.0.to_owned())
            .collect();
        let mut out = Vec::new();
        for name in names {
            let lines = match player.runner_mut() {
                Runner::Cpu(instance) => instance.line_output(&name).map(<[_]>::to_vec),
                Runner::Gpu(instances) => {
                    instances.read_lines(&name, 0).map_err(PlayError::Device)?
                }
                _ => None,
            };
            out.extend(lines.into_iter().flatten().flat_map(|l| [l.from, l.to]));
        }
        Ok(out)
    }

    /// A mask or values that the graph puts out.
    pub(super) fn read_floats(&mut self, name: &str) -> Outcome<Vec<f32>> {
        let missing = |known: Vec<String>| {
            let known = if known.is_empty() {
                "none".into()
            } else {
                known.join(", ")
            };
            Failure::usage(format!(
                "the graph has no mask or values output '{name}'; known: {known}"
            ))
        };
        let Source::Graph(player, _) = &mut self.source else {
            return Err(missing(Vec::new()));
        };
        let known = floats_outputs(player.graph());
        let found = match player.runner_mut() {
            Runner::Cpu(instance) => instance.float_output(name).map(<[f32]>::to_vec),
            Runner::Gpu(instances) => instances.read_floats(name, 0).map_err(PlayError::Device)?,
            _ => None,
        };
        found.ok_or_else(|| missing(known))
    }

    /// For each mesh output of this actor that of `other` to measure the difference to: the one of the same name, else the one at the same place.
    pub(super) fn matched(&self, other: &Self) -> Outcome<Vec<usize>> {
        let of = |(i, part): (usize, &Shown)| {
            let named = other.parts.iter().position(|p| p.name == part.name);
            let found = named.or((i < other.parts.len()).then_some(i));
            let count = found.map(|f| other.parts[f].rest.vertex_count());
            let expected = part.rest.vertex_count();
            found.filter(|_| count == Some(expected)).ok_or_else(|| {
                Failure::bind(format!(
                    "cannot compare output '{}' with '{}': it has {} vertices there, expected {expected}",
                    part.name,
                    other.label,
                    count.unwrap_or(0)
                ))
            })
        };
        self.parts.iter().enumerate().map(of).collect()
    }

    /// Measures distances of its surfaces to those of `other`, vertex by vertex; on a device without bringing anything back.
    pub(super) fn compare_with(&mut self, other: &mut Self) -> Outcome {
        let matched = self.matched(other)?;
        let gpu = self.gpu.clone();
        if let Some(instances) = other.instances() {
            for (part, &theirs) in self.parts.iter_mut().zip(&matched) {
                if let Some(output) = instances.mesh_output(&other.parts[theirs].name) {
                    drawn(part.surface.bind_other_positions(&output, 0))?;
                }
            }
            return Ok(());
        }
        let mut result = Ok(());
        let parts = &mut self.parts;
        other.each_positions(|theirs, positions| {
            for (part, _) in parts.iter_mut().zip(&matched).filter(|m| *m.1 == theirs) {
                if result.is_ok() {
                    result = drawn(part.surface.upload_other_positions(&gpu, positions));
                }
            }
        })?;
        result
    }

    fn instances(&self) -> Option<&GpuInstances> {
        match &self.source {
            Source::Graph(player, _) => match player.runner() {
                Runner::Gpu(instances) => Some(instances),
                _ => None,
            },
            Source::Sequence(_) => None,
        }
    }
}

/// Says what drawing later frames of a simulation costs.
fn tell_simulation(plan: &Plan, numbers: &[i64], reporter: &Reporter) {
    let (simulates, first) = (solvers(plan), numbers.first().copied().unwrap_or(0));
    if first > 0 && !simulates.is_empty() {
        let message = format!(
            "this graph simulates ({simulates}): frames 0 to {0} are simulated first and not drawn. To draw from a saved state, use sinew run --frames 0-{0} --save-state FILE, then --state FILE",
            first - 1
        );
        reporter.info("simulated_from_start", &message);
    }
}

/// A player, and the state where it goes on, if it is for this graph.
fn player(
    gpu: &Gpu,
    character: &Arc<Character>,
    variant: &Variant,
    play: &Play<'_>,
    reporter: &Reporter,
) -> Outcome<(Player, Option<Arc<SavedState>>, Vec<String>)> {
    let args = play.args;
    let mut plan = load::compile(&variant.document, reporter)?;
    // A stack such as `rest` has outputs of its own, and leaves joints and targets out on purpose.
    if !variant.is_built_in {
        load::keep_outputs(&mut plan, &args.chosen.only)?;
    }
    let fields = add_parts(&mut plan, variant, play.show)?;
    let plan = Arc::new(plan);
    let is_alone = variant.label.is_empty();
    let simulates = plan.solvers().next().is_some();
    let state = play.state.filter(|_| is_alone || simulates);
    if state.is_none() {
        tell_simulation(&plan, play.numbers, reporter);
    }
    let own = variant.set.iter().map(String::as_str);
    // Settings and values that this graph has no use for may be for what it is compared with; see `names::check`.
    let name = |s: &String| s.split('=').next().unwrap_or_default().to_owned();
    let has_parameter = |s: &&String| plan.parameters().iter().any(|p| p.name == name(s));
    let has_input = |s: &&String| plan.inputs().iter().any(|i| i.name == name(s));
    let given = args.graph.inputs.set.iter().filter(has_parameter);
    let values: Vec<String> = args
        .graph
        .inputs
        .values
        .iter()
        .filter(has_input)
        .cloned()
        .collect();
    let set: Vec<String> = given
        .map(String::as_str)
        .chain(own)
        .map(str::to_owned)
        .collect();
    let parameters = load::settings(&plan, &set)?;
    let values = load::values(&plan, &values, play.numbers)?;
    let files: Vec<String> = args
        .graph
        .inputs
        .input_files
        .iter()
        .filter(has_input)
        .cloned()
        .collect();
    let has_input = |s: &&String| !s.contains('=') || has_input(s);
    let caches = args.graph.inputs.point_caches.iter().filter(has_input);
    let given = load::Given {
        files: &files,
        point_caches: &caches.cloned().collect::<Vec<_>>(),
        expressions: &args.graph.inputs.expressions,
    };
    let (character, document) = (character.clone(), &variant.document);
    let cast = match variant.is_built_in {
        true => load::gather(character, &plan, &document.folders, given, reporter)?,
        false => load::cast(character, &plan, document, given, reporter)?,
    };
    let mut numbers = play.numbers.to_vec();
    numbers.sort_unstable();
    tell_held(&cast, &numbers, args.fps, reporter);
    let graph = setup::bind(&cast, &plan, &parameters, play.setup, reporter)?;
    let mut device = state.map_or(args.device, |s| s.device(args.device));
    if !fields.is_empty() {
        // The words of fields are read there.
        device = Device::Cpu;
    }
    let runner = device::runner_on(gpu, &graph, device, reporter)?;
    let mut player = Player::new(runner, cast, values, args.clip.as_deref(), args.fps)?;
    if let Some(state) = state {
        state.restore(&mut player, reporter)?;
    }
    Ok((player, state.cloned(), fields))
}

/// Adds the parts of `--show` to the outputs; the names of fields. Of things that stand side by side, some may lack a part.
fn add_parts(plan: &mut Plan, variant: &Variant, show: &[Part]) -> Outcome<Vec<String>> {
    let mut fields = Vec::new();
    for part in show {
        match part.add(plan) {
            Ok(names) if part.is_field() => fields.extend(names),
            Ok(_) => {}
            Err(_) if !variant.label.is_empty() && !part.is_mask() => {}
            Err(e) => return Err(e),
        }
    }
    Ok(fields)
}

fn outputs(graph: &BoundGraph) -> impl Iterator<Item = (&str, &OutputData)> {
    let names = graph.plan().outputs().iter().map(|o| o.name.as_str());
    names.zip(graph.program().outputs())
}

fn floats_outputs(graph: &BoundGraph) -> Vec<String> {
    let floats = outputs(graph).filter(|o| matches!(o.1, OutputData::Floats(_)));
    floats.map(|o| o.0.to_owned()).collect()
}

fn parts(gpu: &Gpu, player: &Player, focus: &[String]) -> Outcome<Vec<Shown>> {
    let graph = player.graph();
    let mut out = Vec::new();
    for (name, place) in outputs(graph) {
        let OutputData::Mesh { attributes, .. } = place else {
            continue;
        };
        let Some(rest) = graph.program().shown_mesh(place) else {
            continue;
        };
        let colors = attributes[MeshAttribute::Colors.index()];
        let character = player.inputs().character_of_mesh(&rest);
        let joints = player.inputs().joints_of_mesh(graph.plan(), &rest);
        out.push(Shown {
            surface: drawn(Surface::new(gpu, &rest))?,
            strands: None,
            has_numbers: false,
            focused: view::focused(&rest, &joints.asset.rig, focus),
            rest,
            character: character.clone(),
            joints: joints.clone(),
            made_colors: colors.is_some_and(|c| !matches!(c, DataRef::Rest(_))),
            name: name.to_owned(),
        });
    }
    if out.is_empty() {
        return Err(Failure::bind(
            "the graph has no mesh output to draw; add a mesh to its outputs",
        ));
    }
    Ok(out)
}

fn frame_of(sequence: Option<&MeshSequence>, number: i64) -> Outcome<&Mesh> {
    let found = sequence.and_then(|s| {
        let index = s.numbers.iter().position(|&n| n == number)?;
        s.frames.get(index)
    });
    found.ok_or_else(|| {
        let numbers = sequence.map(|s| s.numbers.as_slice()).unwrap_or_default();
        let (first, last) = (numbers.first(), numbers.last());
        Failure::usage(format!(
            "the sequence has no frame {number}; it has {} frames from {} to {}",
            numbers.len(),
            first.copied().unwrap_or(0),
            last.copied().unwrap_or(0)
        ))
    })
}

fn sequence_part(gpu: &Gpu, character: &Arc<Character>, mesh: &Mesh) -> Outcome<Shown> {
    Ok(Shown {
        surface: drawn(Surface::new(gpu, mesh))?,
        strands: None,
        rest: Arc::new(mesh.clone()),
        made_colors: false,
        name: mesh.name.clone(),
        character: character.clone(),
        joints: character.clone(),
        has_numbers: false,
        focused: None,
    })
}

fn from_cpu(
    gpu: &Gpu,
    instance: &Instance,
    parts: &mut [Shown],
    lines: &mut Vec<Lines>,
) -> Outcome {
    for part in parts {
        if let Some(m) = instance.mesh_output(&part.name) {
            drawn(
                part.surface
                    .upload(gpu, &part.rest, m.positions, m.normals, m.colors),
            )?;
            if part.is_strands() {
                part.strands = Some(Hair::new(&part.rest, m.positions));
            }
        }
    }
    for output in instance.graph().plan().outputs() {
        if let Some(found) = instance.line_output(&output.name) {
            lines.push(drawn(Lines::new(gpu, found))?);
        }
    }
    Ok(())
}

/// Buffers are bound as kernels left them; only strands come back: they are lit and sorted on the CPU.
fn from_device(
    gpu: &Gpu,
    instances: &mut GpuInstances,
    parts: &mut [Shown],
    lines: &mut Vec<Lines>,
) -> Outcome {
    for part in parts {
        if let Some(output) = instances.mesh_output(&part.name) {
            drawn(part.surface.bind(gpu, &part.rest, &output, 0))?;
        }
        if part.is_strands() {
            let read = instances.read_mesh(&part.name, 0);
            if let Some(m) = read.map_err(PlayError::Device)? {
                part.strands = Some(Hair::new(&part.rest, &m.positions));
            }
        }
    }
    for output in instances.graph().plan().outputs() {
        if let Some(found) = instances.lines_output(&output.name) {
            lines.push(Lines::from_device(found.buffer, 0, found.len as u32));
        }
    }
    Ok(())
}
