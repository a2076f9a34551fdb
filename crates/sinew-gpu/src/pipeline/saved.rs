//! Compiled kernels as bytes for a file. They make the next start of the program faster if the driver has no cache of its own.
//!
//! The driver reads these bytes and may not be safe against invalid ones. Therefore they have a header with the adapter, the version
//! of the driver and a checksum; data that does not fit is ignored. A forged file can still pass: keep the file where only the user
//! can write.

use crate::adapter::AdapterInfo;
use crate::gpu::{Gpu, Scopes};

/// Begin of the data; the number grows when the layout changes.
const MAGIC: &[u8; 16] = b"sinew pipelines1";
const HASH: usize = 32;

impl Gpu {
    /// The compiled kernels of this device. A later run can pass them to [`GpuOptions::pipeline_cache`](crate::GpuOptions::pipeline_cache).
    /// `None` if the device has no pipeline cache. The caller writes the file.
    pub fn pipeline_cache_data(&self) -> Option<Vec<u8>> {
        self.check().ok()?;
        let body = self.pipelines().cache()?.get_data()?;
        let mut out = Vec::with_capacity(MAGIC.len() + 2 * HASH + body.len());
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&owner(self.info()));
        out.extend_from_slice(blake3::hash(&body).as_bytes());
        out.extend_from_slice(&body);
        Some(out)
    }

    /// A file name for [`Gpu::pipeline_cache_data`], different for each adapter model; `None` if the device has no pipeline cache.
    pub fn pipeline_cache_name(&self) -> Option<String> {
        self.pipelines().cache()?;
        wgpu::util::pipeline_cache_key(self.raw_info())
    }
}

/// Hash of everything that must match for the data to be usable.
fn owner(info: &AdapterInfo) -> [u8; HASH] {
    let mut hash = blake3::Hasher::new();
    let version = env!("CARGO_PKG_VERSION");
    for text in [
        version,
        &info.name,
        &info.backend,
        &info.driver,
        &info.driver_version,
    ] {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().into()
}

/// The driver's part of `data`, if it belongs to this adapter and is complete.
fn unwrap_data<'a>(info: &AdapterInfo, data: &'a [u8]) -> Option<&'a [u8]> {
    let rest = data.strip_prefix(MAGIC)?;
    let (found_owner, rest) = rest.split_at_checked(HASH)?;
    let (found_hash, body) = rest.split_at_checked(HASH)?;
    let whole = found_owner == owner(info) && found_hash == blake3::hash(body).as_bytes();
    whole.then_some(body)
}

/// The wgpu pipeline cache, initialized with `data` if that fits.
#[expect(unsafe_code, reason = "wgpu cannot vouch for the bytes of a cache")]
pub(super) fn cache(
    device: &wgpu::Device,
    info: &AdapterInfo,
    data: Option<&[u8]>,
) -> Option<wgpu::PipelineCache> {
    let data = data.and_then(|d| unwrap_data(info, d));
    let scopes = Scopes::push(device);
    // SAFETY: `data` came from `PipelineCache::get_data` on an adapter of the same name, driver and driver version: only
    // `pipeline_cache_data` writes this header, and the checksum fits.
    let cache = unsafe {
        device.create_pipeline_cache(&wgpu::PipelineCacheDescriptor {
            label: Some("sinew"),
            data,
            fallback: true,
        })
    };
    // Without a cache everything works, only slower.
    scopes.pop().is_none().then_some(cache)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::software_info;

    fn wrapped(info: &AdapterInfo, body: &[u8]) -> Vec<u8> {
        let hash = blake3::hash(body);
        [&MAGIC[..], &owner(info), hash.as_bytes(), body].concat()
    }

    #[test]
    fn only_whole_data_of_the_same_adapter_is_taken() {
        let info = software_info("llvmpipe");
        let data = wrapped(&info, b"compiled");
        assert_eq!(unwrap_data(&info, &data), Some(&b"compiled"[..]));
        assert_eq!(unwrap_data(&software_info("other"), &data), None);
        for end in 0..data.len() {
            assert_eq!(unwrap_data(&info, &data[..end]), None, "{end}");
        }
        for at in 0..data.len() {
            let mut bad = data.clone();
            bad[at] ^= 1;
            assert_eq!(unwrap_data(&info, &bad), None, "{at}");
        }
    }

    #[test]
    fn a_new_driver_version_makes_old_data_useless() {
        let info = software_info("llvmpipe");
        let data = wrapped(&info, b"compiled");
        let newer = AdapterInfo {
            driver_version: "next".into(),
            ..info
        };
        assert_eq!(unwrap_data(&newer, &data), None);
    }
}
