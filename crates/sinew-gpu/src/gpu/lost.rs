//! Finding out that a device is gone. wgpu tells one callback, which an engine may need for itself, and answers calls on a
//! lost device with objects that do nothing.

use crate::error::GpuError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What is known about the loss of a device.
#[derive(Debug)]
pub(super) struct Lost {
    reason: Arc<OnceLock<String>>,
    probe: Mutex<Probe>,
}

/// A buffer that nobody uses: a device that still lives agrees to map it.
#[derive(Debug)]
struct Probe {
    buffer: wgpu::Buffer,
    answer: Arc<AtomicU8>,
}

const NO_ANSWER: u8 = 0;
const REFUSED: u8 = 1;

impl Lost {
    pub(super) fn new(device: &wgpu::Device) -> Result<Self, GpuError> {
        let what = "a first buffer";
        let scopes = super::Scopes::push(device);
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("sinew probe"),
            size: 16,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        if let Some(error) = scopes.pop() {
            return Err(GpuError::caught(what, error));
        }
        let lost = Self {
            reason: Arc::default(),
            probe: Mutex::new(Probe {
                buffer,
                answer: Arc::default(),
            }),
        };
        lost.probe(device)?;
        Ok(lost)
    }

    /// Takes the reason from the driver: for devices of our own only, as there is but one callback.
    pub(super) fn listen(&self, device: &wgpu::Device) {
        let reason = self.reason.clone();
        device.set_device_lost_callback(move |kind, message| {
            let text = match (kind, message.is_empty()) {
                (wgpu::DeviceLostReason::Destroyed, _) => "it was destroyed".to_owned(),
                (_, true) => "the driver gives no reason".to_owned(),
                (_, false) => message,
            };
            let _ = reason.set(text);
        });
    }

    pub(super) fn check(&self) -> Result<(), GpuError> {
        self.reason.get().map_or(Ok(()), |reason| {
            Err(GpuError::DeviceLost {
                reason: reason.clone(),
            })
        })
    }

    /// Asks whether the device still lives; costs about a microsecond.
    pub(super) fn probe(&self, device: &wgpu::Device) -> Result<(), GpuError> {
        self.check()?;
        let alive = {
            let probe = self.probe.lock().unwrap_or_else(PoisonError::into_inner);
            probe.answers(device)
        };
        if alive {
            return Ok(());
        }
        // A device that was destroyed tells its callback only when it is polled.
        let _ = self.poll_quietly(device, wgpu::PollType::Poll);
        self.lose("it was destroyed or reset")
    }

    pub(super) fn poll(&self, device: &wgpu::Device, how: wgpu::PollType) -> Result<(), GpuError> {
        match self.poll_quietly(device, how) {
            Some(Ok(_)) => self.check(),
            // Only a submission that a lost device never took has an index that the device does not know.
            Some(Err(error)) => self.lose(&error.to_string()),
            None => self.lose("the driver reset it"),
        }
    }

    /// `None` where wgpu panics, which is how it answers a device that is lost while it waits.
    fn poll_quietly(
        &self,
        device: &wgpu::Device,
        how: wgpu::PollType,
    ) -> Option<Result<wgpu::PollStatus, wgpu::PollError>> {
        // wgpu holds no lock and changes no state of ours when it panics.
        catch_unwind(AssertUnwindSafe(|| device.poll(how))).ok()
    }

    fn lose<T>(&self, reason: &str) -> Result<T, GpuError> {
        let reason = self.reason.get_or_init(|| reason.to_owned()).clone();
        Err(GpuError::DeviceLost { reason })
    }
}

impl Probe {
    fn answers(&self, device: &wgpu::Device) -> bool {
        self.answer.store(NO_ANSWER, Ordering::Release);
        let answer = self.answer.clone();
        let scopes = super::Scopes::push(device);
        self.buffer
            .map_async(wgpu::MapMode::Read, .., move |result| {
                if result.is_err() {
                    answer.store(REFUSED, Ordering::Release);
                }
            });
        let refused = self.answer.load(Ordering::Acquire) == REFUSED;
        // Takes the wish back; the answer to that is of no interest.
        self.buffer.unmap();
        let _ = scopes.pop();
        !refused
    }
}
