//! The tests in their long form, which checks of every change leave out for want of time.

use std::path::Path;
use std::process::Command;

/// Cases of each property test; they are 256 without it.
const PROPERTY_CASES: &str = "4096";

/// Runs the tests whose names hold one of `filters`, all without, in their long form.
///
/// # Errors
/// Where cargo does not start, or a test fails.
pub(crate) fn run(root: &Path, filters: &[String]) -> Result<(), String> {
    let status = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["test", "--workspace", "--no-fail-fast", "--"])
        .args(filters)
        .env("SINEW_SOAK", "1")
        .env("PROPTEST_CASES", PROPERTY_CASES)
        .status()
        .map_err(|e| format!("cargo does not start: {e}"))?;
    status
        .success()
        .then_some(())
        .ok_or_else(|| "tests failed".to_owned())
}
