//! Tests that need an adapter, and what they share.

mod choosing;
mod device;
mod kernels;
mod memory;
mod times;

use crate::adapter::{AdapterInfo, AdapterKind, Capabilities, DeviceLimits};
use crate::test_support::gpu;

/// A software adapter with the limits that WebGPU guarantees.
pub(crate) fn software_info(name: &str) -> AdapterInfo {
    AdapterInfo {
        name: name.into(),
        backend: "vulkan".into(),
        driver: "driver".into(),
        driver_version: "1.0".into(),
        kind: AdapterKind::Software,
        subgroup_min: 4,
        subgroup_max: 128,
        limits: DeviceLimits::from_wgpu(&wgpu::Limits::default()),
        capabilities: Capabilities::default(),
    }
}
