//! Lines on the GPU.

use crate::error::RenderError;
use sinew_deform::Line;
use sinew_gpu::{Buffer, BufferUse, Gpu};

/// Straight lines with ten floats each: from, to, linear RGBA. This is the layout of a graph's lines output, which can be drawn without a
/// copy.
#[derive(Clone, Debug)]
pub struct Lines {
    pub(crate) buffer: Buffer<u32>,
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// Floats of one line.
pub(crate) const FLOATS: usize = 10;

impl Lines {
    /// Uploads lines in scene space, in metres.
    ///
    /// # Errors
    /// Limits, memory, lost devices.
    pub fn new(gpu: &Gpu, lines: &[Line]) -> Result<Self, RenderError> {
        let words: &[u32] = bytemuck::cast_slice(lines);
        let buffer = Buffer::from_slice(gpu, "lines", words, BufferUse::Drawn)?;
        Ok(Self {
            count: (words.len() / FLOATS) as u32,
            buffer,
            first: 0,
        })
    }

    /// Uses lines that a kernel wrote, from line `first` on, without a copy.
    pub fn from_device(buffer: &Buffer<u32>, first: u32, count: u32) -> Self {
        let there = (buffer.len() / FLOATS) as u32;
        Self {
            buffer: buffer.clone(),
            first,
            count: count.min(there.saturating_sub(first)),
        }
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
