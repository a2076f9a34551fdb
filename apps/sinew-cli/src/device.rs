//! Which device runs the frames: `--device`.

use crate::args::Device;
use crate::exit::Outcome;
use crate::reporter::Reporter;
use sinew::graph::BoundGraph;
use sinew::play::Runner;
use std::sync::Arc;

/// Brings a bound graph to the device that was asked for; `gpu` is an open GPU.
#[cfg(feature = "gpu")]
pub(crate) fn runner_on(
    gpu: &sinew::gpu::Gpu,
    graph: &Arc<BoundGraph>,
    device: Device,
    reporter: &Reporter,
) -> Outcome<Runner> {
    let on_gpu = match device {
        Device::Cpu => false,
        Device::Gpu => true,
        Device::Auto => match gpu::if_fast(gpu, graph, reporter) {
            Some(runner) => return Ok(runner),
            None => false,
        },
    };
    Ok(if on_gpu {
        reporter.info("device", &format!("runs on {}", gpu.info().name));
        Runner::gpu(gpu, graph)?
    } else {
        Runner::cpu(graph)
    })
}

/// Brings a bound graph to the device that was asked for.
pub(crate) fn runner(
    graph: &Arc<BoundGraph>,
    device: Device,
    reporter: &Reporter,
) -> Outcome<Runner> {
    match device {
        Device::Cpu => Ok(Runner::cpu(graph)),
        Device::Gpu => gpu::runner(graph, reporter),
        Device::Auto => {
            let fast = gpu::runner_if_fast(graph, reporter);
            Ok(fast.unwrap_or_else(|| Runner::cpu(graph)))
        }
    }
}

#[cfg(feature = "gpu")]
pub(crate) mod gpu {
    use super::{Arc, BoundGraph, Outcome, Reporter, Runner};
    use sinew::gpu::{AdapterKind, Gpu, GpuError, GpuOptions};
    use sinew::play::PlayError;

    /// The selected adapter. Lines that its driver writes are reported as such.
    pub(crate) fn open(reporter: &Reporter) -> Result<Gpu, GpuError> {
        let (gpu, said) = reporter.overheard(|| Gpu::new(&GpuOptions::from_env()));
        tell(&said, reporter);
        let gpu = gpu?;
        gpu.limit_compiling(reporter.compile_limit());
        Ok(gpu)
    }

    /// Tells lines of drivers, except the one that Mesa writes as an error on each machine without a desktop: it changes nothing.
    pub(crate) fn tell(said: &[String], reporter: &Reporter) {
        let is_harmless = |line: &str| line.contains("XDG_RUNTIME_DIR is invalid or not set");
        for line in said.iter().filter(|line| !is_harmless(line)) {
            reporter.info("driver", &format!("GPU driver: {line}"));
        }
    }

    pub(super) fn runner(graph: &Arc<BoundGraph>, reporter: &Reporter) -> Outcome<Runner> {
        let gpu = open(reporter).map_err(PlayError::Device)?;
        reporter.info("device", &format!("runs on {}", gpu.info().name));
        Ok(Runner::gpu(&gpu, graph)?)
    }

    /// A hardware adapter that runs all of the graph; warns if it cannot.
    pub(super) fn runner_if_fast(graph: &Arc<BoundGraph>, reporter: &Reporter) -> Option<Runner> {
        if_fast(&open(reporter).ok()?, graph, reporter)
    }

    /// The same on this GPU.
    pub(super) fn if_fast(
        gpu: &Gpu,
        graph: &Arc<BoundGraph>,
        reporter: &Reporter,
    ) -> Option<Runner> {
        if gpu.info().kind == AdapterKind::Software {
            return None;
        }
        match Runner::gpu(gpu, graph) {
            Ok(runner) => {
                reporter.info("device", &format!("runs on {}", gpu.info().name));
                Some(runner)
            }
            Err(error) => {
                reporter.warning(
                    "device",
                    &format!("runs on the CPU, because the GPU cannot run this graph: {error}"),
                );
                None
            }
        }
    }
}

/// What this program cannot do.
#[cfg(not(feature = "gpu"))]
pub(crate) fn without_gpu() -> crate::exit::Failure {
    let why = "this program was built without GPU support (feature 'gpu' of sinew-cli)";
    crate::exit::Failure::new(crate::exit::Code::Device, why)
}

#[cfg(not(feature = "gpu"))]
mod gpu {
    use super::{Arc, BoundGraph, Outcome, Reporter, Runner, without_gpu};

    pub(super) fn runner(_: &Arc<BoundGraph>, _: &Reporter) -> Outcome<Runner> {
        Err(without_gpu())
    }

    pub(super) fn runner_if_fast(_: &Arc<BoundGraph>, _: &Reporter) -> Option<Runner> {
        None
    }
}
