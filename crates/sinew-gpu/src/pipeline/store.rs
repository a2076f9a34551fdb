//! The pipelines of one device, by hash of their source.

use super::{Pipeline, saved};
use crate::adapter::AdapterInfo;
use crate::error::GpuError;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// One pipeline, or the place where one thread makes it while others wait.
type Slot = Arc<Mutex<Option<Arc<Pipeline>>>>;

#[derive(Debug)]
pub(crate) struct PipelineStore {
    slots: Mutex<HashMap<[u8; 32], Slot>>,
    created: AtomicU64,
    cache: Option<wgpu::PipelineCache>,
}

impl PipelineStore {
    /// `cached`: the device has wgpu's pipeline cache; `data`: what one gave earlier.
    pub(crate) fn new(
        device: &wgpu::Device,
        info: &AdapterInfo,
        cached: bool,
        data: Option<&[u8]>,
    ) -> Self {
        Self {
            slots: Mutex::default(),
            created: AtomicU64::new(0),
            cache: cached.then(|| saved::cache(device, info, data)).flatten(),
        }
    }

    pub(super) fn created(&self) -> u64 {
        self.created.load(Ordering::Relaxed)
    }

    pub(super) fn cache(&self) -> Option<&wgpu::PipelineCache> {
        self.cache.as_ref()
    }

    /// Different kernels compile at once, one kernel only once. A failure is not kept: the next call tries again.
    pub(super) fn get_or_create(
        &self,
        key: [u8; 32],
        create: impl FnOnce() -> Result<Pipeline, GpuError>,
    ) -> Result<Arc<Pipeline>, GpuError> {
        let slot = {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            slots.entry(key).or_default().clone()
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = &*slot {
            return Ok(pipeline.clone());
        }
        let pipeline = Arc::new(create()?);
        self.created.fetch_add(1, Ordering::Relaxed);
        Ok(slot.insert(pipeline).clone())
    }
}
