//! Where frames are evaluated: on the processor or on a graphics device, with the same results.

use crate::args::Device;
use crate::exit::{Code, Failure, Outcome};
use crate::talk::Talk;
use sinew::deform::{Line, Par};
use sinew::graph::{BoundGraph, Frame, Instance, OutputMesh, Step};
use sinew::io::FrameData;
use std::sync::Arc;

/// One character, somewhere.
#[derive(Debug)]
pub(crate) enum Runner {
    Processor(Box<Instance>),
    #[cfg(feature = "gpu")]
    Graphics(Box<sinew::gpu::GpuInstances>),
}

/// An output of one frame.
pub(crate) enum Output {
    Mesh(FrameData),
    Floats(Vec<f32>),
    Lines(Vec<Line>),
}

impl Runner {
    /// Brings a bound graph to the device that was asked for.
    pub(crate) fn new(graph: &Arc<BoundGraph>, device: Device, talk: &Talk) -> Outcome<Self> {
        let processor = || match graph.instance() {
            Ok(instance) => Ok(Self::Processor(Box::new(instance))),
            Err(error) => Err(Failure::new(Code::Device, error)),
        };
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

    pub(crate) fn graph(&self) -> &Arc<BoundGraph> {
        match self {
            Self::Processor(instance) => instance.graph(),
            #[cfg(feature = "gpu")]
            Self::Graphics(instances) => instances.graph(),
        }
    }

    pub(crate) fn update(&mut self, frame: &Frame<'_>) -> Result<(), String> {
        match self {
            Self::Processor(instance) => instance
                .update(frame, Par::Rayon)
                .map_err(|e| e.to_string()),
            #[cfg(feature = "gpu")]
            Self::Graphics(instances) => {
                let updated = instances.update(&[*frame]);
                updated.map(|_| ()).map_err(|e| e.to_string())
            }
        }
    }

    /// All outputs of the last frame, with their names, in document order.
    pub(crate) fn outputs(&mut self) -> Outcome<Vec<(String, Output)>> {
        let plan = self.graph().plan().clone();
        let mut out = Vec::new();
        for output in plan.outputs() {
            let name = &output.name;
            let found = match self {
                Self::Processor(instance) => processor_output(instance, name),
                #[cfg(feature = "gpu")]
                Self::Graphics(instances) => graphics::output(instances, name)?,
            };
            out.extend(found.map(|found| (name.clone(), found)));
        }
        Ok(out)
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

fn processor_output(instance: &Instance, name: &str) -> Option<Output> {
    let mesh = |m: OutputMesh<'_>| FrameData {
        positions: m.positions.to_vec(),
        normals: m.normals.map(<[_]>::to_vec),
        tangents: m.tangents.map(<[_]>::to_vec),
        colors: m.colors.map(<[_]>::to_vec),
    };
    let meshes = instance.mesh_output(name).map(|m| Output::Mesh(mesh(m)));
    meshes
        .or_else(|| Some(Output::Floats(instance.float_output(name)?.to_vec())))
        .or_else(|| Some(Output::Lines(instance.line_output(name)?.to_vec())))
}

#[cfg(feature = "gpu")]
mod graphics {
    use super::{Arc, BoundGraph, Code, Failure, FrameData, Outcome, Output, Runner, Talk};
    use sinew::gpu::{AdapterKind, Gpu, GpuError, GpuGraph, GpuInstances, GpuOptions};

    fn failure(error: GpuError) -> Failure {
        match error {
            GpuError::Kernel(_) | GpuError::NoDeviceSide { .. } => Failure::bind(error),
            _ => Failure::new(Code::Device, error),
        }
    }

    fn instances(gpu: &Gpu, graph: &Arc<BoundGraph>) -> Result<GpuInstances, GpuError> {
        GpuGraph::new(gpu, graph)?.instances(1)
    }

    pub(super) fn runner(graph: &Arc<BoundGraph>, talk: &Talk) -> Outcome<Runner> {
        let gpu = Gpu::new(&GpuOptions::from_env()).map_err(failure)?;
        talk.info("device", &format!("runs on {}", gpu.info().name));
        let instances = instances(&gpu, graph).map_err(failure)?;
        Ok(Runner::Graphics(Box::new(instances)))
    }

    /// A hardware adapter that runs all of the graph; what keeps it from that is told.
    pub(super) fn runner_if_fast(graph: &Arc<BoundGraph>, talk: &Talk) -> Option<Runner> {
        let gpu = Gpu::new(&GpuOptions::from_env()).ok()?;
        if gpu.info().kind == AdapterKind::Software {
            return None;
        }
        match instances(&gpu, graph) {
            Ok(instances) => {
                talk.info("device", &format!("runs on {}", gpu.info().name));
                Some(Runner::Graphics(Box::new(instances)))
            }
            Err(error) => {
                talk.warning("device", &format!("runs on the processor: {error}"));
                None
            }
        }
    }

    pub(super) fn output(instances: &mut GpuInstances, name: &str) -> Outcome<Option<Output>> {
        if let Some(m) = instances.read_mesh(name, 0).map_err(failure)? {
            return Ok(Some(Output::Mesh(FrameData {
                positions: m.positions,
                normals: m.normals,
                tangents: m.tangents,
                colors: m.colors,
            })));
        }
        if let Some(floats) = instances.read_floats(name, 0).map_err(failure)? {
            return Ok(Some(Output::Floats(floats)));
        }
        let lines = instances.read_lines(name, 0).map_err(failure)?;
        Ok(lines.map(Output::Lines))
    }
}

#[cfg(not(feature = "gpu"))]
mod graphics {
    use super::{Arc, BoundGraph, Code, Failure, Outcome, Runner, Talk};

    pub(super) fn runner(_: &Arc<BoundGraph>, _: &Talk) -> Outcome<Runner> {
        let why = "this program was built without graphics (its feature 'gpu')";
        Err(Failure::new(Code::Device, why))
    }

    pub(super) fn runner_if_fast(_: &Arc<BoundGraph>, _: &Talk) -> Option<Runner> {
        None
    }
}
