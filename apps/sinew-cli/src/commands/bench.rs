//! `sinew bench`: how long a graph takes, node by node, on the CPU and the GPU.

mod cpu;
mod crossover;
#[cfg(feature = "gpu")]
mod gpu;
mod motion;
mod table;

use crate::args::{BenchArgs, LogFormat};
use crate::exit::{Failure, Outcome};
use crate::load;
use crate::reporter::{Reporter, note_json};
use crate::setup::{self, SetupFile};
use cpu::CpuTimes;
use motion::{FPS, Motion};
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
struct GpuTimes {
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

impl GpuTimes {
    /// Time from frame to frame: GPU and CPU work at the same time.
    fn frame_us(&self) -> f64 {
        self.device_us
            .map_or(self.until_done_us, |device| device.max(self.host_us))
    }
}

#[cfg(not(feature = "gpu"))]
mod gpu {
    use super::{BoundGraph, GpuTimes, Motion, Outcome, Reporter};
    use crate::exit::{Code, Failure};
    use std::sync::Arc;

    /// There is none in this program.
    #[derive(Debug)]
    pub(super) enum Bench {}

    impl Bench {
        pub(super) fn new(_: &Reporter) -> Outcome<Self> {
            let why = "this program was built without GPU support (feature 'gpu' of sinew-cli)";
            Err(Failure::new(Code::Device, why))
        }
        pub(super) fn measure(
            &self,
            _: &Arc<BoundGraph>,
            _: &Motion,
            _: usize,
        ) -> Outcome<GpuTimes> {
            match *self {}
        }
    }
}

pub(super) fn bench(args: &BenchArgs, reporter: &Reporter) -> Outcome {
    let frames = args.frames as usize;
    let pool = args.threads.pool()?;
    let opened = gpu::Bench::new(reporter);
    if let Err(failure) = &opened {
        reporter.warning("gpu", &failure.message);
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
        let cpu = pool.install(|| cpu::measure(&bound, &motion, frames, reporter))?;
        text += &table::cpu(&cpu, pool.count());
        report["cpu"] = cpu_json(&cpu);
        if let Ok(bench) = &opened {
            match bench.measure(&bound, &motion, frames) {
                Ok(gpu) => {
                    text += &table::gpu(&gpu);
                    report["gpu"] = gpu_json(&gpu);
                    text += &table::faster(&cpu, &gpu);
                    let gpu_wins = gpu.frame_us() < cpu.frame_us;
                    report["faster"] = if gpu_wins { "gpu" } else { "cpu" }.into();
                }
                Err(failure) => reporter.warning("gpu", &failure.message),
            }
        }
    }
    if let Some(largest) = args.crossover {
        let bench = opened?;
        let measure = || crossover::measure(&bench, frames, largest, reporter);
        let found = pool.install(measure)?;
        text += &table::crossover(&found);
        report["crossover"] = found.json();
    }
    match reporter.format() {
        LogFormat::Text | LogFormat::Openjd => reporter.print(&text),
        LogFormat::Json => {
            reporter.print(&serde_json::to_string_pretty(&report).map_err(Failure::output)?);
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
    let mut cast = load::cast(character, &plan, &document, (&args.inputs).into(), reporter)?;
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

fn cpu_json(times: &CpuTimes) -> Value {
    let nodes = times.nodes.iter();
    json!({
        "us": times.frame_us,
        "nodes": nodes.map(|n| part_json("node", n)).collect::<Vec<_>>(),
    })
}

fn gpu_json(times: &GpuTimes) -> Value {
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
