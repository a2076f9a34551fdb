//! Decides which steps the CPU runs while the GPU runs the others: small work on data that the CPU has anyway.

use super::binder::Binder;
use super::fixed;
use super::layout::{PendingOutput, PendingStep};
use super::value::{Location, Value};
use crate::plan::ParameterSource;
use crate::program::NotOnHost;
use sinew_deform::{
    BindContext, BindWarnings, BindWatch, MESH_ATTRIBUTES, MeshAttribute, NodeKind, Par,
    Parameters, Phase, PortDesc, PortType, ReadLog,
};

impl Binder<'_> {
    /// Decides for each step, and marks the outputs of CPU steps in the layout. `runs` says which steps run at all.
    pub(super) fn find_host_steps(&mut self, runs: &[bool]) -> Vec<Result<(), NotOnHost>> {
        let mut out = Vec::with_capacity(runs.len());
        // Each step comes after the steps whose results it reads.
        for (index, &runs) in runs.iter().enumerate() {
            let host = self.on_host(index);
            if runs && host.is_ok() {
                self.layout.mark_host(&self.pending[index]);
            }
            out.push(host);
        }
        out
    }

    fn on_host(&self, index: usize) -> Result<(), NotOnHost> {
        let (step, desc) = (&self.pending[index], self.bound[index].0.desc);
        if !matches!(
            desc.kind,
            NodeKind::Driver | NodeKind::Field | NodeKind::Solver
        ) {
            let kind = desc.kind.as_str();
            return Err(NotOnHost::NotADriver { kind });
        }
        let is_for_devices = |p: &&PortDesc| matches!(p.ty, PortType::Mesh | PortType::Buffer(_));
        if let Some(port) = desc.outputs.iter().find(is_for_devices) {
            return Err(NotOnHost::Makes {
                port: port.name,
                what: port.ty.as_str(),
            });
        }
        // Binding runs setup on the CPU, even if the GPU runs it again.
        let has_all = step.phase == Phase::Setup;
        let inputs = step.inputs.iter().zip(step.ports).zip(&step.reads);
        for ((value, port), reads) in inputs.filter(|_| !has_all) {
            if let Some((what, id)) = self.read_from_device(value.as_ref(), port, reads) {
                return Err(NotOnHost::Reads {
                    port: port.name,
                    what,
                    node: self.maker(id),
                });
            }
        }
        for (source, parameter) in self.bound[index].0.parameters.iter().zip(desc.parameters) {
            let ParameterSource::Linked(link) = source else {
                continue;
            };
            let on_device = |l: Location| self.layout.on_device(l);
            let found = match step.parameter_inputs.get(link.input) {
                Some(Value::Array(a)) => on_device(a.location),
                Some(Value::Pose { location, .. }) => on_device(*location),
                _ => None,
            };
            if let Some(id) = found {
                return Err(NotOnHost::Reads {
                    port: parameter.name,
                    what: link.port_type().as_str(),
                    node: self.maker(id),
                });
            }
        }
        // Checked last: it may take some time.
        match self.has_device_side(index) {
            true => Err(NotOnHost::DeviceSide),
            false => Ok(()),
        }
    }

    /// What a step reads at a port that only the GPU has: its type and virtual buffer.
    fn read_from_device(
        &self,
        value: Option<&Value>,
        port: &PortDesc,
        reads: &[bool; MESH_ATTRIBUTES],
    ) -> Option<(&'static str, usize)> {
        let of = |what, location| Some((what, self.layout.on_device(location)?));
        match value? {
            Value::Mesh(m) => MeshAttribute::ALL.into_iter().find_map(|attribute| {
                let a = attribute.index();
                let location = m.attributes[a].filter(|_| reads[a] && !m.stale[a])?;
                of(attribute.as_str(), location)
            }),
            Value::Pose { location, .. } => of(port.ty.as_str(), *location),
            Value::Array(array) => of(port.ty.as_str(), array.location),
            Value::VertexAnimation { .. } => None,
        }
    }

    /// Name of the node that writes a virtual buffer.
    fn maker(&self, id: usize) -> String {
        let writes = |step: &PendingStep| {
            let mut written = step.outputs.iter().flat_map(PendingOutput::written);
            written.any(|w| w == id)
        };
        let index = self.pending.iter().position(writes);
        let node = index.and_then(|i| self.bound.get(i));
        node.map(|b| b.0.name.clone()).unwrap_or_default()
    }

    fn has_device_side(&self, index: usize) -> bool {
        let (node, bound, values) = &self.bound[index];
        let log = ReadLog::new();
        let context = BindContext {
            inputs: &self.link_inputs(node, &self.pending[index].inputs),
            ports: node.desc.inputs,
            parameters: Parameters {
                descs: node.desc.parameters,
                values,
                log: &log,
            },
            fixed: &fixed(&node.parameters),
            warnings: &BindWarnings::new(),
            par: Par::Seq,
            watch: BindWatch::NONE,
        };
        bound.device(&context).is_some()
    }
}
