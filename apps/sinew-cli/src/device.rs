//! Which device runs the frames: `--device`.

use crate::args::Device;
use crate::exit::{Failure, Outcome};
use crate::talk::Talk;
use sinew::graph::{BoundGraph, Step};
use sinew::play::Runner;
use std::sync::Arc;

/// Brings a bound graph to the device that was asked for; `gpu` is an open GPU.
#[cfg(feature = "gpu")]
pub(crate) fn runner_on(
    gpu: &sinew::gpu::Gpu,
    graph: &Arc<BoundGraph>,
    device: Device,
    talk: &Talk,
) -> Outcome<Runner> {
    let on_gpu = match device {
        Device::Cpu => false,
        Device::Gpu => true,
        Device::Auto if graph.program().device_only().is_some() => true,
        Device::Auto => match graphics::if_fast(gpu, graph, talk) {
            Some(runner) => return Ok(runner),
            None => false,
        },
    };
    Ok(if on_gpu {
        talk.info("device", &format!("runs on {}", gpu.info().name));
        Runner::graphics(gpu, graph)?
    } else {
        Runner::processor(graph)?
    })
}

/// Brings a bound graph to the device that was asked for.
pub(crate) fn runner(graph: &Arc<BoundGraph>, device: Device, talk: &Talk) -> Outcome<Runner> {
    let processor = || Ok(Runner::processor(graph)?);
    match device {
        Device::Cpu => processor(),
        Device::Gpu => graphics::runner(graph, talk),
        // A software adapter is slower than the CPU, but it runs custom kernels.
        Device::Auto => match graph.program().device_only() {
            Some(step) => graphics::runner(graph, talk).map_err(|f| needs_device(f, step)),
            None => graphics::runner_if_fast(graph, talk).map_or_else(processor, Ok),
        },
    }
}

/// Names the node that needs a GPU.
fn needs_device(failure: Failure, step: &Step) -> Failure {
    let message = format!(
        "{}: node '{}' is a custom kernel, which runs on the GPU only: {}",
        step.place, step.name, failure.message
    );
    Failure { message, ..failure }
}

#[cfg(feature = "gpu")]
pub(crate) mod graphics {
    use super::{Arc, BoundGraph, Outcome, Runner, Talk};
    use crate::terminal::overheard;
    use sinew::gpu::{AdapterKind, Gpu, GpuError, GpuOptions};
    use sinew::play::PlayError;

    /// The selected adapter. Lines that its driver writes are reported as such.
    pub(crate) fn open(talk: &Talk) -> Result<Gpu, GpuError> {
        let (gpu, said) = overheard(|| Gpu::new(&GpuOptions::from_env()));
        tell(&said, talk);
        let gpu = gpu?;
        gpu.limit_compiling(talk.compile_limit());
        Ok(gpu)
    }

    /// Tells lines of drivers.
    pub(crate) fn tell(said: &[String], talk: &Talk) {
        for line in said {
            talk.info("driver", &format!("GPU driver: {line}"));
        }
    }

    pub(super) fn runner(graph: &Arc<BoundGraph>, talk: &Talk) -> Outcome<Runner> {
        let gpu = open(talk).map_err(PlayError::Device)?;
        talk.info("device", &format!("runs on {}", gpu.info().name));
        Ok(Runner::graphics(&gpu, graph)?)
    }

    /// A hardware adapter that runs all of the graph; warns if it cannot.
    pub(super) fn runner_if_fast(graph: &Arc<BoundGraph>, talk: &Talk) -> Option<Runner> {
        if_fast(&open(talk).ok()?, graph, talk)
    }

    /// The same on this GPU.
    pub(super) fn if_fast(gpu: &Gpu, graph: &Arc<BoundGraph>, talk: &Talk) -> Option<Runner> {
        if gpu.info().kind == AdapterKind::Software {
            return None;
        }
        match Runner::graphics(gpu, graph) {
            Ok(runner) => {
                talk.info("device", &format!("runs on {}", gpu.info().name));
                Some(runner)
            }
            Err(error) => {
                talk.warning(
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
pub(crate) fn without_graphics() -> Failure {
    let why = "this program was built without GPU support (feature 'gpu' of sinew-cli)";
    Failure::new(crate::exit::Code::Device, why)
}

#[cfg(not(feature = "gpu"))]
mod graphics {
    use super::{Arc, BoundGraph, Outcome, Runner, Talk, without_graphics};

    pub(super) fn runner(_: &Arc<BoundGraph>, _: &Talk) -> Outcome<Runner> {
        Err(without_graphics())
    }

    pub(super) fn runner_if_fast(_: &Arc<BoundGraph>, _: &Talk) -> Option<Runner> {
        None
    }
}
