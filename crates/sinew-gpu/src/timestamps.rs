//! GPU timings: timestamps that the GPU writes between commands.

use crate::buffer::Readback;
use crate::error::GpuError;
use crate::gpu::{Gpu, Submission};
use std::sync::atomic::{AtomicU32, Ordering};

/// Begin and end of a piece of work, in nanoseconds of the GPU clock. The clock has an arbitrary zero.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Span {
    /// Start of the work.
    pub begin_ns: f64,
    /// End of the work.
    pub end_ns: f64,
}

impl Span {
    /// Duration in nanoseconds.
    pub fn duration_ns(&self) -> f64 {
        self.end_ns - self.begin_ns
    }
}

/// GPU timings of up to a fixed number of spans per frame.
///
/// In each frame: assign spans to passes ([`Timestamps::pass`]) or mark them between commands, record [`Timestamps::resolve`] last,
/// submit, and call [`Timestamps::read`].
#[derive(Debug)]
pub struct Timestamps {
    sets: Vec<wgpu::QuerySet>,
    resolved: wgpu::Buffer,
    readback: Readback,
    ticks: Vec<u64>,
    spans: Vec<Option<Span>>,
    /// Which ends were recorded since the last read; one bit per end.
    written: Vec<AtomicU32>,
    ns_per_tick: f64,
}

/// Spans of one query set.
const SPANS_A_SET: u32 = wgpu::QUERY_SET_MAX_QUERIES / 2;
const BEGIN: u32 = 1;
const END: u32 = 2;

impl Timestamps {
    /// Timings for `spans` spans per frame.
    ///
    /// # Errors
    /// [`GpuError::Unsupported`] if the device has no timestamps ([`Capabilities::timestamps`](crate::Capabilities::timestamps)),
    /// [`GpuError::OutOfMemory`], [`GpuError::DeviceLost`].
    pub fn new(gpu: &Gpu, spans: u32) -> Result<Self, GpuError> {
        if !gpu.capabilities().timestamps {
            return Err(gpu.unsupported("timestamp queries"));
        }
        let spans = spans.max(1);
        let sets = spans.div_ceil(SPANS_A_SET);
        let bytes = u64::from(sets) * u64::from(wgpu::QUERY_SET_MAX_QUERIES) * 8;
        gpu.scoped("timestamp queries", |device| {
            let set = |i: u32| {
                let rest = spans - i * SPANS_A_SET;
                device.create_query_set(&wgpu::QuerySetDescriptor {
                    label: Some("sinew times"),
                    ty: wgpu::QueryType::Timestamp,
                    count: rest.min(SPANS_A_SET) * 2,
                })
            };
            Self {
                sets: (0..sets).map(set).collect(),
                resolved: gpu.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("sinew times"),
                    size: bytes,
                    usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                    mapped_at_creation: false,
                }),
                readback: Readback::new(),
                ticks: vec![0; spans as usize * 2],
                spans: vec![None; spans as usize],
                written: (0..spans).map(|_| AtomicU32::new(0)).collect(),
                ns_per_tick: f64::from(gpu.queue().get_timestamp_period()),
            }
        })
    }

    /// Maximum number of spans.
    pub(crate) fn capacity(&self) -> u32 {
        // Made from a u32.
        self.spans.len() as u32
    }

    /// Measures a whole compute pass as span `span`: for `ComputePassDescriptor::timestamp_writes`. Works on every device with
    /// timestamps.
    ///
    /// # Errors
    /// [`GpuError::Span`] if there is no such span.
    pub fn pass(&self, span: u32) -> Result<wgpu::ComputePassTimestampWrites<'_>, GpuError> {
        let (query_set, first) = self.place(span, BEGIN | END)?;
        Ok(wgpu::ComputePassTimestampWrites {
            query_set,
            beginning_of_pass_write_index: Some(first),
            end_of_pass_write_index: Some(first + 1),
        })
    }

    /// Begins span `span` between two dispatches of a pass. Needs
    /// [`Capabilities::timestamps_in_passes`](crate::Capabilities::timestamps_in_passes).
    ///
    /// # Errors
    /// [`GpuError::Span`], [`GpuError::Unsupported`].
    pub fn begin_in_pass(
        &self,
        gpu: &Gpu,
        pass: &mut wgpu::ComputePass<'_>,
        span: u32,
    ) -> Result<(), GpuError> {
        self.mark_in_pass(gpu, pass, span, BEGIN)
    }

    /// Ends span `span`; see [`Timestamps::begin_in_pass`].
    ///
    /// # Errors
    /// [`GpuError::Span`], [`GpuError::Unsupported`].
    pub fn end_in_pass(
        &self,
        gpu: &Gpu,
        pass: &mut wgpu::ComputePass<'_>,
        span: u32,
    ) -> Result<(), GpuError> {
        self.mark_in_pass(gpu, pass, span, END)
    }

    /// Begins span `span` between two commands of an encoder. Needs
    /// [`Capabilities::timestamps_in_encoders`](crate::Capabilities::timestamps_in_encoders).
    ///
    /// # Errors
    /// [`GpuError::Span`], [`GpuError::Unsupported`].
    pub fn begin(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        span: u32,
    ) -> Result<(), GpuError> {
        self.mark(gpu, encoder, span, BEGIN)
    }

    /// Ends span `span`; see [`Timestamps::begin`].
    ///
    /// # Errors
    /// [`GpuError::Span`], [`GpuError::Unsupported`].
    pub fn end(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        span: u32,
    ) -> Result<(), GpuError> {
        self.mark(gpu, encoder, span, END)
    }

    fn mark_in_pass(
        &self,
        gpu: &Gpu,
        pass: &mut wgpu::ComputePass<'_>,
        span: u32,
        which: u32,
    ) -> Result<(), GpuError> {
        if !gpu.capabilities().timestamps_in_passes {
            return Err(gpu.unsupported("timestamp queries inside passes"));
        }
        let (set, first) = self.place(span, which)?;
        pass.write_timestamp(set, first + u32::from(which == END));
        Ok(())
    }

    fn mark(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        span: u32,
        which: u32,
    ) -> Result<(), GpuError> {
        if !gpu.capabilities().timestamps_in_encoders {
            return Err(gpu.unsupported("timestamp queries inside encoders"));
        }
        let (set, first) = self.place(span, which)?;
        encoder.write_timestamp(set, first + u32::from(which == END));
        Ok(())
    }

    /// The query set of a span and the index of its first query. Remembers which ends are written.
    fn place(&self, span: u32, ends: u32) -> Result<(&wgpu::QuerySet, u32), GpuError> {
        let known = self
            .written
            .get(span as usize)
            .zip(self.sets.get((span / SPANS_A_SET) as usize));
        let (written, set) = known.ok_or(GpuError::Span {
            spans: self.capacity(),
            asked: span,
        })?;
        written.fetch_or(ends, Ordering::Relaxed);
        Ok((set, span % SPANS_A_SET * 2))
    }

    /// Records the copy of the timestamps for [`Timestamps::read`]. Record it as the last command of a frame.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`], [`GpuError::DeviceLost`].
    pub fn resolve(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        let mut offset = 0;
        for set in &self.sets {
            encoder.resolve_query_set(set, 0..set.count(), &self.resolved, offset);
            offset += u64::from(wgpu::QUERY_SET_MAX_QUERIES) * 8;
        }
        let bytes = self.ticks.len() as u64 * 8;
        self.readback
            .record_bytes(gpu, encoder, &self.resolved, 0..bytes)
    }

    /// Waits for `submission`, which holds the recorded timestamps, and returns all spans. A span is `None` unless the frame recorded both
    /// of its ends. The next frame starts without recorded spans.
    ///
    /// # Errors
    /// [`GpuError::DeviceLost`].
    pub fn read(
        &mut self,
        gpu: &Gpu,
        submission: &Submission,
    ) -> Result<&[Option<Span>], GpuError> {
        self.readback.take(gpu, submission, &mut self.ticks)?;
        let ends = self.ticks.chunks_exact(2);
        for ((span, written), ends) in self.spans.iter_mut().zip(&self.written).zip(ends) {
            let whole = written.swap(0, Ordering::Relaxed) == BEGIN | END;
            *span = whole.then(|| Span {
                begin_ns: ends[0] as f64 * self.ns_per_tick,
                end_ns: ends[1] as f64 * self.ns_per_tick,
            });
        }
        Ok(&self.spans)
    }
}
