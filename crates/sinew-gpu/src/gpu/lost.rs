//! Detects that a device was lost. wgpu reports it to a single callback, which an engine may use itself. Calls on a lost device
//! return objects that do nothing.

use crate::error::GpuError;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};

/// What is known about the loss of a device.
#[derive(Debug, Default)]
pub(super) struct Lost {
    reason: Arc<OnceLock<String>>,
}

impl Lost {
    /// Takes the reason from the driver. Only for devices that Sinew created, because there is only one callback.
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

    /// Checks that the device is not lost. Costs less than a microsecond.
    pub(super) fn probe(&self, device: &wgpu::Device) -> Result<(), GpuError> {
        self.check()?;
        if answers(device) {
            return Ok(());
        }
        // A device that was destroyed tells its callback only when it is polled.
        let _ = quietly(|| device.poll(wgpu::PollType::Poll));
        self.lose("it was destroyed or reset")
    }

    /// Whether the awaited work is done; false only if the wait has a timeout.
    pub(super) fn poll(
        &self,
        device: &wgpu::Device,
        how: wgpu::PollType,
    ) -> Result<bool, GpuError> {
        let polled = quietly(|| device.poll(how));
        self.probe(device)?;
        match polled {
            Ok(Ok(_)) => Ok(true),
            Ok(Err(wgpu::PollError::Timeout)) => Ok(false),
            Ok(Err(error)) => Err(GpuError::Validation {
                what: "waiting for this submission".into(),
                message: error.to_string(),
            }),
            // The device lives, so it was a callback of the engine that panicked.
            Err(panic) => resume_unwind(panic),
        }
    }

    fn lose<T>(&self, reason: &str) -> Result<T, GpuError> {
        let reason = self.reason.get_or_init(|| reason.to_owned()).clone();
        Err(GpuError::DeviceLost { reason })
    }
}

/// Catches a panic, which is how wgpu answers when a device is lost during a wait.
fn quietly<R>(poll: impl FnOnce() -> R) -> std::thread::Result<R> {
    // wgpu holds no lock when it panics, and nothing of ours changes in between.
    catch_unwind(AssertUnwindSafe(poll))
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
