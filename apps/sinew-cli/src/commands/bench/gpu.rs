//! The GPU's side: launches by its own clock.

use super::motion::Motion;
use super::{GpuTimes, Part};
use crate::device::gpu::open;
use crate::exit::{Failure, Outcome};
use crate::reporter::Reporter;
use sinew::geom::index32;
use sinew::gpu::{
    AdapterKind, Gpu, GpuError, GpuGraph, GpuInstances, Samples, Stopwatch, Timestamps,
    copy_bandwidth, largest_copy,
};
use sinew::graph::BoundGraph;
use sinew::play::PlayError;
use std::sync::Arc;

/// Frames that do not count.
const WARM_UP: usize = 5;
/// Nor those before this: an idle GPU runs at a fraction of its clock at first, an H100 at 345 of 1,980 MHz.
const WARM_UP_NS: f64 = 1.2e9;
/// No more frames after that long.
const LONGEST_NS: f64 = 10e9;
/// Bytes of the copy that launches are compared with.
const COPY_BYTES: u64 = 64 << 20;
const SOFTWARE_COPY_BYTES: u64 = 4 << 20;

/// A GPU and its copy speed.
#[derive(Debug)]
pub(super) struct Bench {
    gpu: Gpu,
    copy_gb_per_s: Option<f64>,
}

pub(super) fn failure(error: GpuError) -> Failure {
    PlayError::Device(error).into()
}

impl Bench {
    /// The adapter that `SINEW_ADAPTER` names, or the first one.
    pub(super) fn new(reporter: &Reporter) -> Outcome<Self> {
        let gpu = open(reporter).map_err(failure)?;
        let bytes = match gpu.info().kind {
            AdapterKind::Software => SOFTWARE_COPY_BYTES,
            _ => COPY_BYTES,
        };
        let copy = copy_bandwidth(&gpu, bytes.min(largest_copy(&gpu)), 20);
        Ok(Self {
            copy_gb_per_s: copy.ok().map(|c| c.gb_per_s()),
            gpu,
        })
    }

    /// Times `frames` frames of one character.
    pub(super) fn measure(
        &self,
        graph: &Arc<BoundGraph>,
        motion: &Motion,
        frames: usize,
    ) -> Outcome<GpuTimes> {
        self.try_measure(graph, motion, frames).map_err(failure)
    }

    fn try_measure(
        &self,
        graph: &Arc<BoundGraph>,
        motion: &Motion,
        frames: usize,
    ) -> Result<GpuTimes, GpuError> {
        let mut instances = GpuGraph::new(&self.gpu, graph)?.instances(1)?;
        let mut whole = self.whole(&mut instances, motion, frames)?;
        let launches = if self.gpu.capabilities().timestamps {
            self.launches(&mut instances, motion, frames)?
        } else {
            Vec::new()
        };
        let sum: f64 = launches.iter().map(|l| l.us).sum();
        let us = |samples: &mut Samples| samples.median().map(|ns| ns / 1e3);
        Ok(GpuTimes {
            adapter: self.gpu.info().to_string(),
            is_software: self.gpu.info().kind == AdapterKind::Software,
            copy_gb_per_s: self.copy_gb_per_s,
            device_us: us(&mut whole.device).or_else(|| (!launches.is_empty()).then_some(sum)),
            host_us: us(&mut whole.host).unwrap_or(f64::NAN),
            until_done_us: us(&mut whole.until_done).unwrap_or(f64::NAN),
            launches,
        })
    }

    /// Frames as an engine runs them: all launches in one pass. Leaves the device warm for the launches.
    fn whole(
        &self,
        instances: &mut GpuInstances,
        motion: &Motion,
        frames: usize,
    ) -> Result<Whole, GpuError> {
        let gpu = &self.gpu;
        let clock = gpu.capabilities().timestamps_in_encoders;
        let mut times = clock.then(|| Timestamps::new(gpu, 1)).transpose()?;
        let mut out = Whole {
            host: Samples::new(frames),
            until_done: Samples::new(frames),
            device: Samples::new(frames),
        };
        let warm_up_ns = match gpu.info().kind {
            AdapterKind::Software => 0.0,
            _ => WARM_UP_NS,
        };
        let begun = Stopwatch::start();
        let mut done = 0;
        motion.play(|frame| {
            let watch = Stopwatch::start();
            instances.send(&[*frame])?;
            let submission = gpu.submit("frame", |encoder| {
                if let Some(times) = &times {
                    times.begin(gpu, encoder, 0)?;
                }
                instances.record(encoder);
                match &mut times {
                    Some(times) => {
                        times.end(gpu, encoder, 0)?;
                        times.resolve(gpu, encoder)
                    }
                    None => Ok(()),
                }
            })?;
            let host = watch.elapsed_ns();
            gpu.wait(&submission)?;
            let until_done = watch.elapsed_ns();
            let span = match &mut times {
                Some(times) => times.read(gpu, &submission)?.first().copied().flatten(),
                None => None,
            };
            done += 1;
            if done > WARM_UP && begun.elapsed_ns() > warm_up_ns {
                out.host.push(host);
                out.until_done.push(until_done);
                span.iter().for_each(|s| out.device.push(s.duration_ns()));
            }
            Ok::<_, GpuError>(enough(&out.host, frames, begun))
        })?;
        Ok(out)
    }

    /// Launch by launch, each in a pass of its own.
    fn launches(
        &self,
        instances: &mut GpuInstances,
        motion: &Motion,
        frames: usize,
    ) -> Result<Vec<Part>, GpuError> {
        let gpu = &self.gpu;
        let count = instances.launch_labels().len();
        let mut samples = vec![Samples::new(frames); count];
        let mut dispatches = instances.dispatches();
        let mut times = Timestamps::new(gpu, index32(dispatches.len()))?;
        let begun = Stopwatch::start();
        let mut done = 0;
        motion.play(|frame| {
            let submission = instances.update_timed(&[*frame], &mut times)?;
            dispatches = instances.dispatches();
            let mut sums = vec![0.0; count];
            let measured = times.read(gpu, &submission)?;
            for (launch, span) in dispatches.iter().zip(measured) {
                sums[*launch] += span.map_or(0.0, |s| s.duration_ns());
            }
            done += 1;
            if done > WARM_UP {
                let all = samples.iter_mut().zip(sums);
                all.for_each(|(samples, sum)| samples.push(sum));
            }
            let Some(first) = samples.first() else {
                return Ok(true);
            };
            Ok::<_, GpuError>(enough(first, frames, begun))
        })?;
        let labels = instances.launch_labels().zip(instances.launch_bytes());
        let mut parts: Vec<Part> = Vec::new();
        for (launch, ((label, bytes), samples)) in labels.zip(&mut samples).enumerate() {
            let runs = dispatches.iter().filter(|d| **d == launch).count();
            if runs == 0 {
                continue;
            }
            let us = samples.median().unwrap_or(f64::NAN) / 1e3;
            let bytes = bytes * runs as u64;
            // Consecutive passes of one kind are one line.
            match parts.last_mut().filter(|last| last.name == label) {
                Some(last) => {
                    last.us += us;
                    last.bytes = last.bytes.map(|b| b + bytes);
                    last.dispatches = last.dispatches.map(|d| d + runs);
                }
                None => parts.push(Part {
                    name: label.to_owned(),
                    us,
                    bytes: Some(bytes),
                    dispatches: Some(runs),
                }),
            }
        }
        Ok(parts)
    }
}

struct Whole {
    host: Samples,
    until_done: Samples,
    device: Samples,
}

fn enough(samples: &Samples, frames: usize, begun: Stopwatch) -> bool {
    samples.len() >= frames || (!samples.is_empty() && begun.elapsed_ns() > LONGEST_NS)
}
