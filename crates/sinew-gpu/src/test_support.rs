//! For tests that need a graphics adapter: they run where there is one, say so where there is none, and fail where
//! there has to be one.

use crate::adapter::{AdapterError, Preference};
use crate::error::GpuError;
use crate::gpu::{Gpu, GpuOptions};

/// Name of the environment variable that turns a missing adapter into a failed test; `.ci/run` sets it to `1`.
pub const REQUIRE_VARIABLE: &str = "SINEW_REQUIRE_GPU";

/// A device of its own for a test, on the adapter that `SINEW_ADAPTER` names. Without an adapter it prints `skipped: no graphics
/// adapter` and gives `None`; the test returns then.
///
/// # Panics
/// With `SINEW_REQUIRE_GPU=1` and no adapter, or where an adapter gives no device: a failed test.
pub fn gpu() -> Option<Gpu> {
    take(
        Gpu::new(&GpuOptions {
            adapter: Preference::from_env(),
            pipeline_cache: None,
        }),
        required(),
    )
}

/// Whether `SINEW_REQUIRE_GPU` is set to something other than `0`.
pub fn required() -> bool {
    std::env::var(REQUIRE_VARIABLE).is_ok_and(|v| !v.is_empty() && v != "0")
}

#[expect(clippy::print_stdout, reason = "tests say what they skip")]
#[expect(clippy::panic, reason = "a failed test")]
pub(crate) fn take(made: Result<Gpu, GpuError>, required: bool) -> Option<Gpu> {
    match made {
        Ok(gpu) => Some(gpu),
        Err(GpuError::Adapter(AdapterError::None)) if !required => {
            println!("skipped: no graphics adapter");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
