//! Rest offsets: characters with another rest shape than the bound mesh.

use super::instances::GpuInstances;
use super::memory::Memory;
use crate::buffer::{Buffer, BufferUse};
use crate::error::GpuError;
use bytemuck::cast_slice;
use sinew_deform::MeshAttribute;

impl GpuInstances {
    /// Gives one character another rest shape. `offsets` has one vector per vertex, added to the rest positions that nodes and outputs
    /// read as current positions in the following frames. Zeros restore the bound shape.
    ///
    /// As [`sinew_graph::Instance::set_rest_offsets`], setup results stay those of the bound mesh. The first call for an input allocates
    /// 12 bytes per vertex for each character and compiles the launches that read the positions again. Later calls upload 12 bytes per
    /// vertex.
    ///
    /// # Errors
    /// [`GpuError::NoInstance`], [`GpuError::RestOffsets`], limits, memory, lost devices. Nothing changes then.
    pub fn set_rest_offsets(
        &mut self,
        instance: usize,
        input: &str,
        offsets: &[[f32; 3]],
    ) -> Result<(), GpuError> {
        self.check_instance(instance)?;
        let shared = self.shared.clone();
        let mesh = shared.graph.offset_rest(input, offsets, &mut self.moved)?;
        let memory = Memory::Rest {
            mesh,
            attribute: MeshAttribute::Positions,
        };
        if !self.buffers.contains_key(&memory) {
            let rest = &shared.graph.program().meshes()[mesh].positions;
            let all: Vec<u32> = cast_slice(&rest.repeat(self.count)).to_vec();
            let name = format!("{}, of each character", shared.memory_name(memory));
            let buffer = Buffer::from_slice(&shared.gpu, &name, &all, BufferUse::Drawn)?;
            let mut buffers = self.buffers.clone();
            buffers.insert(memory, buffer);
            self.launches = self.make_launches(&buffers, &self.bounds)?;
            self.buffers = buffers;
        }
        if let Some(buffer) = self.buffers.get(&memory) {
            let words: &[u32] = cast_slice(&self.moved);
            buffer.write(&shared.gpu, instance * words.len(), words)?;
        }
        self.host.characters[instance].set_rest_positions(mesh, &self.moved);
        Ok(())
    }
}
