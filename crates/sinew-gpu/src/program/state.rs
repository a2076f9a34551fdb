//! What the frames to come depend on, as bytes: arrays that live from frame to frame, whatever they hold, and the host's share.

use super::graph::words;
use super::instances::GpuInstances;
use super::memory::Memory;
use crate::buffer::{Buffer, Readback};
use crate::error::GpuError;
use sinew_deform::Phase;
use sinew_graph::{DeviceState, StateError};
use std::collections::BTreeMap;

/// An array of one character that lives from frame to frame.
struct Lasting {
    name: String,
    memory: Memory,
    /// Words of one character.
    words: usize,
}

impl GpuInstances {
    /// All that the frames to come of one character depend on beside what comes with them: what solvers remember, and the outputs of the
    /// last frame, which the next one gives as those before. Parameters are not in it. Of the frame that was submitted last; waits for the
    /// device. Allocates.
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

    /// Brings back what [`Self::save_state`] gave, of a character of the same graph and setup on a graphics device: the next frame is what it
    /// would have been there, bit for bit where the device is the same. Allocates.
    ///
    /// # Errors
    /// [`GpuError::NoInstance`]; [`GpuError::State`], where nothing has changed, or, if a node of the host refused its part, the character starts
    /// anew with the next frame; [`GpuError::DeviceLost`], [`GpuError::OutOfMemory`].
    pub fn restore_state(&mut self, instance: usize, state: &[u8]) -> Result<(), GpuError> {
        self.check_instance(instance)?;
        let kernels = self.kernels_with_state();
        let state = DeviceState::open(state, &self.shared.graph, &kernels)?;
        let lasting = self.lasting();
        check_sizes(&lasting, &state.arrays)?;
        self.is_fresh[instance] = true;
        self.host.characters[instance].restore_state(&state.host, state.is_first)?;
        for array in &lasting {
            if let Some(bytes) = state.arrays.get(&array.name) {
                self.write_array(instance, array, bytes)?;
            }
        }
        self.is_fresh[instance] = state.is_first;
        Ok(())
    }

    /// The frame that comes next may write either of two buffers that change places, and leaves the other as the one before: both get it.
    fn write_array(&self, instance: usize, array: &Lasting, bytes: &[u8]) -> Result<(), GpuError> {
        let words = words(bytes);
        let both = [&self.buffers, &self.previous];
        for buffer in both.into_iter().filter_map(|b| b.get(&array.memory)) {
            buffer.write(&self.shared.gpu, instance * array.words, &words)?;
        }
        Ok(())
    }

    /// Scratch that lasts, fields, and buffers that keep the frame before. What the host makes comes anew with each frame.
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

    /// Texts that know what is where in arrays that last.
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

/// One array of each name, of the size that the device has.
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
