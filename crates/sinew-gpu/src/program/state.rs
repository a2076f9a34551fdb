//! Saved state as bytes: all arrays that persist from frame to frame, and the state of the CPU part.

use super::graph::words;
use super::instances::GpuInstances;
use super::memory::Memory;
use crate::buffer::{Buffer, Readback};
use crate::error::GpuError;
use sinew_deform::Phase;
use sinew_graph::{DeviceState, StateError};
use std::collections::BTreeMap;

/// An array of one character that persists from frame to frame.
struct Lasting {
    name: String,
    memory: Memory,
    /// Words of one character.
    words: usize,
}

impl GpuInstances {
    /// Saves the state of one character after the last submitted frame: the state of solvers, and the outputs of that frame, which are the
    /// previous outputs of the next one. Parameters are not included. Waits for the GPU. Allocates.
    ///
    /// # Errors
    /// [`GpuError::NoInstance`], [`GpuError::DeviceLost`], [`GpuError::OutOfMemory`].
    pub fn save_state(&self, instance: usize) -> Result<Vec<u8>, GpuError> {
        self.check_instance(instance)?;
        let mut readback = Readback::new();
        let mut arrays = BTreeMap::new();
        for array in self.lasting() {
            let Some(buffer) = self.buffer(array.memory, false) else {
                continue;
            };
            let mut words = vec![0_u32; array.words];
            let start = instance * array.words;
            readback.read(&self.shared.gpu, buffer, start, &mut words)?;
            arrays.insert(array.name, bytemuck::cast_slice(&words).to_vec());
        }
        let state = DeviceState {
            is_first: self.is_fresh[instance],
            host: self.host.characters[instance].save_state(),
            arrays,
        };
        Ok(state.seal(&self.shared.graph, &self.kernels_with_state()))
    }

    /// Restores a state of [`Self::save_state`] from a character of the same graph and setup on a GPU. The next frame is then the same as
    /// there; on the same GPU it has the same bits. Allocates.
    ///
    /// # Errors
    /// [`GpuError::NoInstance`]. [`GpuError::State`]: nothing changes then, unless a CPU node refused its state, after which the character
    /// restarts with the next frame. [`GpuError::DeviceLost`], [`GpuError::OutOfMemory`].
    pub fn restore_state(&mut self, instance: usize, state: &[u8]) -> Result<(), GpuError> {
        self.check_instance(instance)?;
        let kernels = self.kernels_with_state();
        let state = DeviceState::open(state, &self.shared.graph, &kernels)?;
        let lasting = self.lasting();
        check_sizes(&lasting, &state.arrays)?;
        self.is_fresh[instance] = true;
        self.data.forget_reaches(instance);
        self.host.characters[instance].restore_state(&state.host, state.is_first)?;
        for array in &lasting {
            if let Some(bytes) = state.arrays.get(&array.name) {
                self.write_array(instance, array, bytes)?;
            }
        }
        self.is_fresh[instance] = state.is_first;
        Ok(())
    }

    /// The next frame may write either of two swapped buffers, and the other one is the previous frame. Therefore both get the bytes.
    fn write_array(&self, instance: usize, array: &Lasting, bytes: &[u8]) -> Result<(), GpuError> {
        let words = words(bytes);
        let both = [&self.buffers, &self.previous];
        for buffer in both.into_iter().filter_map(|b| b.get(&array.memory)) {
            buffer.write(&self.shared.gpu, instance * array.words, &words)?;
        }
        Ok(())
    }

    /// Persistent scratch, fields, and buffers that keep the previous frame. Results of CPU steps are uploaded again with each frame.
    fn lasting(&self) -> Vec<Lasting> {
        let shared = &self.shared;
        let buffers = shared.graph.program().buffers(Phase::Update);
        let lasts = |memory: &Memory| match *memory {
            Memory::Scratch { node, index } => shared.nodes[node].device.scratch[index].lasting,
            Memory::Frame(i) => buffers
                .get(i)
                .is_some_and(|b| !b.host && (b.previous || b.content.lasts())),
            _ => false,
        };
        let array = |(&memory, buffer): (&Memory, &Buffer<u32>)| Lasting {
            name: shared.memory_name(memory),
            memory,
            words: buffer.len() / self.count,
        };
        let all = self.buffers.iter();
        all.filter(|(memory, _)| lasts(memory)).map(array).collect()
    }

    /// Kernel texts that define the layout of persistent arrays.
    fn kernels_with_state(&self) -> Vec<&str> {
        let nodes = self.shared.nodes.iter().map(|n| &n.device);
        let with_state = nodes.filter(|d| d.scratch.iter().any(|array| array.lasting));
        let texts = with_state.flat_map(|d| {
            let passes = d.passes.iter().map(|pass| pass.text);
            let written = d.written.iter().map(String::as_str);
            d.shared.iter().copied().chain(passes).chain(written)
        });
        texts.collect()
    }
}

/// Checks that there is one array of each name with the size of the GPU array.
fn check_sizes(lasting: &[Lasting], arrays: &BTreeMap<String, Vec<u8>>) -> Result<(), StateError> {
    let refused = |array: &str, found, expected| StateError::Array {
        array: array.to_owned(),
        found,
        expected,
    };
    for array in lasting {
        let found = arrays.get(&array.name).map_or(0, Vec::len);
        let expected = 4 * array.words;
        if found != expected {
            return Err(refused(&array.name, found, expected));
        }
    }
    let known = |name: &String| lasting.iter().any(|array| array.name == *name);
    match arrays.iter().find(|(name, _)| !known(name)) {
        Some((name, bytes)) => Err(refused(name, bytes.len(), 0)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(name: &str, words: usize) -> Lasting {
        Lasting {
            name: name.into(),
            memory: Memory::Frame(0),
            words,
        }
    }

    #[test]
    fn arrays_of_other_sizes_and_names_are_refused() {
        let lasting = [array("sim.a", 3), array("frame 2", 0)];
        let state = |arrays: &[(&str, usize)]| -> BTreeMap<String, Vec<u8>> {
            let array = |&(name, bytes): &(&str, usize)| (name.to_owned(), vec![0; bytes]);
            arrays.iter().map(array).collect()
        };
        let whole = state(&[("sim.a", 12), ("frame 2", 0)]);
        check_sizes(&lasting, &whole).expect("fits");
        for (arrays, message) in [
            (
                state(&[("sim.a", 8), ("frame 2", 0)]),
                "array 'sim.a' of the saved state has 8 bytes, but the GPU needs 12",
            ),
            (
                state(&[("frame 2", 0)]),
                "array 'sim.a' of the saved state has 0 bytes, but the GPU needs 12",
            ),
            (
                state(&[("sim.a", 12), ("frame 2", 0), ("sim.b", 4)]),
                "array 'sim.b' of the saved state has 4 bytes, but the GPU needs 0",
            ),
        ] {
            let error = check_sizes(&lasting, &arrays).expect_err("does not fit");
            assert_eq!(error.to_string(), message);
        }
    }
}
