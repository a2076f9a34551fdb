//! Which device runs the frames: `--device`.

use crate::args::Device;
use crate::exit::{Failure, Outcome};
use crate::talk::Talk;
use sinew::graph::{BoundGraph, Step};
use sinew::play::Runner;
use std::sync::Arc;

/// Brings a bound graph to the device that was asked for.
pub(crate) fn runner(graph: &Arc<BoundGraph>, device: Device, talk: &Talk) -> Outcome<Runner> {
    let processor = || Ok(Runner::processor(graph)?);
    match device {
        Device::Cpu => processor(),
        Device::Gpu => graphics::runner(graph, talk),
        // A software device is slower than the processor, but it runs custom kernels.
        Device::Auto => match graph.program().device_only() {
            Some(step) => graphics::runner(graph, talk).map_err(|f| needs_device(f, step)),
            None => graphics::runner_if_fast(graph, talk).map_or_else(processor, Ok),
        },
    }
}

/// Says which node asks for a device.
fn needs_device(failure: Failure, step: &Step) -> Failure {
    let message = format!(
        "{}: node '{}' is a custom kernel, which runs on graphics devices only: {}",
        step.place, step.name, failure.message
    );
    Failure { message, ..failure }
}

#[cfg(feature = "gpu")]
mod graphics {
    use super::{Arc, BoundGraph, Outcome, Runner, Talk};
    use sinew::gpu::{AdapterKind, Gpu, GpuOptions};
    use sinew::play::PlayError;

    pub(super) fn runner(graph: &Arc<BoundGraph>, talk: &Talk) -> Outcome<Runner> {
        let gpu = Gpu::new(&GpuOptions::from_env()).map_err(PlayError::Device)?;
        talk.info("device", &format!("runs on {}", gpu.info().name));
        Ok(Runner::graphics(&gpu, graph)?)
    }

    /// A hardware adapter that runs all of the graph; what keeps it from that is told.
    pub(super) fn runner_if_fast(graph: &Arc<BoundGraph>, talk: &Talk) -> Option<Runner> {
        let gpu = Gpu::new(&GpuOptions::from_env()).ok()?;
        if gpu.info().kind == AdapterKind::Software {
            return None;
        }
        match Runner::graphics(&gpu, graph) {
            Ok(runner) => {
                talk.info("device", &format!("runs on {}", gpu.info().name));
                Some(runner)
            }
            Err(error) => {
                talk.warning("device", &format!("runs on the processor: {error}"));
                None
            }
        }
    }
}

#[cfg(not(feature = "gpu"))]
mod graphics {
    use super::{Arc, BoundGraph, Failure, Outcome, Runner, Talk};
    use crate::exit::Code;

    pub(super) fn runner(_: &Arc<BoundGraph>, _: &Talk) -> Outcome<Runner> {
        let why = "this program was built without graphics (its feature 'gpu')";
        Err(Failure::new(Code::Device, why))
    }

    pub(super) fn runner_if_fast(_: &Arc<BoundGraph>, _: &Talk) -> Option<Runner> {
        None
    }
}
