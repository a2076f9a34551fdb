//! Finding out that a device is gone. wgpu tells one callback, which an engine may need for itself, and answers calls on a
//! lost device with objects that do nothing.

use crate::error::GpuError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

/// What is known about the loss of a device.
#[derive(Debug, Default)]
pub(super) struct Lost {
    reason: Arc<OnceLock<String>>,
}

impl Lost {
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

    /// Asks whether the device still lives; costs less than a microsecond.
    pub(super) fn probe(&self, device: &wgpu::Device) -> Result<(), GpuError> {
        self.check()?;
        if answers(device) {
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

/// Asks for something that no device gives: one that lives refuses, one that is lost says nothing.
fn answers(device: &wgpu::Device) -> bool {
    let refusal = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let _ = device.create_query_set(&wgpu::QuerySetDescriptor {
        label: None,
        ty: wgpu::QueryType::Occlusion,
        count: 0,
    });
    pollster::block_on(refusal.pop()).is_some()
}
