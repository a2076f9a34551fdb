//! `sinew bench`: how long a graph takes, node by node, on the CPU and the GPU.

mod crossover;
#[cfg(feature = "gpu")]
mod graphics;
mod motion;
mod processor;
mod table;

use crate::args::{BenchArgs, LogFormat};
use crate::exit::{Failure, Outcome};
use crate::load;
use crate::reporter::{Reporter, note_json, print};
use crate::setup::{self, SetupFile};
use motion::{FPS, Motion};
use processor::ProcessorTimes;
use serde_json::{Value, json};
use sinew::graph::BoundGraph;
use std::path::Path;
use std::sync::Arc;

/// One node or launch.
#[derive(Clone, Debug)]
struct Part {
    name: String,
    /// Median microseconds a frame.
    us: f64,
    /// Bytes that must move at least.
    bytes: Option<u64>,
    /// Dispatches a frame.
    dispatches: Option<usize>,
}

/// Times of the GPU.
#[derive(Clone, Debug)]
struct GraphicsTimes {
    adapter: String,
    is_software: bool,
    /// Bytes read or written in a nanosecond by a plain copy.
    copy_gb_per_s: Option<f64>,
    /// By the clock of the GPU; `None` without timestamps.
    device_us: Option<f64>,
    /// To send, record and submit.
    host_us: f64,
    /// From the begin of that until the result is there.
    until_done_us: f64,
    launches: Vec<Part>,
}

impl GraphicsTimes {
    /// Time from frame to frame: GPU and CPU work at the same time.
    fn frame_us(&self) -> f64 {
        self.device_us
            .map_or(self.until_done_us, |device| device.max(self.host_us))
    }
}

#[cfg(not(feature = "gpu"))]
mod graphics {
    use super::{BoundGraph, GraphicsTimes, Motion, Outcome, Reporter};
    use crate::exit::{Code, Failure};
    use std::sync::Arc;

    /// There is none in this program.
    #[derive(Debug)]
    pub(super) enum Graphics {}

    impl Graphics {
        pub(super) fn new(_: &Reporter) -> Outcome<Self> {
            let why = "this program was built without GPU support (feature 'gpu' of sinew-cli)";
            Err(Failure::new(Code::Device, why))
        }
        pub(super) fn measure(
            &self,
            _: &Arc<BoundGraph>,
            _: &Motion,
            _: usize,
        ) -> Outcome<GraphicsTimes> {
            match *self {}
        }
    }
}

pub(super) fn bench(args: &BenchArgs, format: LogFormat, reporter: &Reporter) -> Outcome {
    let frames = args.frames as usize;
    let pool = args.threads.pool()?;
    let graphics = graphics::Graphics::new(reporter);
    if let Err(failure) = &graphics {
        reporter.warning("graphics", &failure.message);
    }
    let mut text = String::new();
    let mut report = json!({
        "sinew": env!("CARGO_PKG_VERSION"),
        "frames": args.frames,
        "threads": pool.count(),
    });
    if let (Some(graph), Some(character)) = (&args.graph, &args.character) {
        let (bound, motion) = pool.install(|| load(args, graph, character, reporter))?;
        let vertices: usize = bound
            .program()
            .meshes()
            .iter()
            .map(|m| m.vertex_count())
            .sum();
        report["graph"] = graph.display().to_string().into();
        report["character"] = character.display().to_string().into();
        report["vertices"] = vertices.into();
        let notes = bound.notes();
        if !notes.is_empty() {
            report["notes"] = notes.iter().map(note_json).collect();
        }
        text += &format!(
            "{} on {}: {vertices} vertices, medians of {} frames\n",
            graph.display(),
            character.display(),
            args.frames
        );
        let cpu = match bound.program().device_only() {
            None => {
                let measure = || processor::measure(&bound, &motion, frames, reporter);
                let cpu = pool.install(measure)?;
                text += &table::processor(&cpu, pool.count());
                report["processor"] = processor_json(&cpu);
                Some(cpu)
            }
            Some(step) => {
                let why = format!(
                    "the CPU is not timed, because it cannot run the custom kernel '{}'",
                    step.name
                );
                reporter.info("processor", &why);
                None
            }
        };
        if let Ok(graphics) = &graphics {
            match graphics.measure(&bound, &motion, frames) {
                Ok(gpu) => {
                    text += &table::graphics(&gpu);
                    report["graphics"] = graphics_json(&gpu);
                    if let Some(cpu) = &cpu {
                        text += &table::faster(cpu, &gpu);
                        let gpu_wins = gpu.frame_us() < cpu.frame_us;
                        report["faster"] = if gpu_wins { "gpu" } else { "cpu" }.into();
                    }
                }
                Err(failure) => reporter.warning("graphics", &failure.message),
            }
        }
    }
    if let Some(largest) = args.crossover {
        let graphics = graphics?;
        let measure = || crossover::measure(&graphics, frames, largest, reporter);
        let found = pool.install(measure)?;
        text += &table::crossover(&found);
        report["crossover"] = found.json();
    }
    match format {
        LogFormat::Text => print(&text),
        LogFormat::Json => {
            print(&serde_json::to_string_pretty(&report).map_err(Failure::output)?);
        }
    }
    Ok(())
}

/// Binds the graph to the character; the motion is that of the clip.
fn load(
    args: &BenchArgs,
    graph: &Path,
    character: &Path,
    reporter: &Reporter,
) -> Outcome<(Arc<BoundGraph>, Motion)> {
    let character = load::character(character, reporter)?;
    let document = load::document(graph, reporter)?;
    let plan = Arc::new(load::compile(&document, reporter)?);
    let parameters = load::settings(&plan, &args.inputs.set)?;
    let clip = character.find_clip_name(args.clip.as_deref())?;
    let range = character.asset.find_clip(clip.as_deref());
    let range = range.map_or((0.0, 0.0), |c| c.range());
    let values = load::values(&plan, &args.inputs.values, &[0])?;
    let mut cast = load::cast(
        character,
        &plan,
        &document.folders,
        (&args.inputs).into(),
        reporter,
    )?;
    let cached = cast.point_cache_frames(FPS).next();
    let secs = |frame: i64| frame as f32 / FPS as f32;
    let range = cached.map_or(range, |(_, (first, last))| (secs(first), secs(last)));
    let file = SetupFile::open(args.inputs.cache.as_deref())?;
    let bound = setup::bind(&cast, &plan, &parameters, &file, reporter)?;
    let motion = Motion::of_cast(&mut cast, clip.as_deref(), range, &values)?;
    Ok((bound, motion))
}

fn part_json(kind: &str, part: &Part) -> Value {
    let mut out = json!({ kind: part.name, "us": part.us, "bytes": part.bytes });
    if let Some(dispatches) = part.dispatches {
        out["dispatches"] = dispatches.into();
    }
    out
}

fn processor_json(times: &ProcessorTimes) -> Value {
    let nodes = times.nodes.iter();
    json!({
        "us": times.frame_us,
        "nodes": nodes.map(|n| part_json("node", n)).collect::<Vec<_>>(),
    })
}

fn graphics_json(times: &GraphicsTimes) -> Value {
    let launches = times.launches.iter();
    json!({
        "adapter": times.adapter,
        "software": times.is_software,
        "us": times.frame_us(),
        "device_us": times.device_us,
        "host_us": times.host_us,
        "until_done_us": times.until_done_us,
        "copy_gb_per_s": times.copy_gb_per_s,
        "launches": launches.map(|n| part_json("launch", n)).collect::<Vec<_>>(),
    })
}
