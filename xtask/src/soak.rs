//! The tests in their long form, which checks of every change leave out for want of time.

use std::path::Path;
use std::process::Command;

/// A run of `cargo test`: its arguments, those of the tests, and what its environment says.
type Run = (
    &'static [&'static str],
    &'static [&'static str],
    &'static [(&'static str, &'static str)],
);

const RUNS: [Run; 4] = [
    (
        &["--workspace"],
        &[],
        &[("SINEW_SOAK", "1"), ("PROPTEST_CASES", "4096")],
    ),
    (
        &["-p", "sinew-deform", "--lib"],
        &[],
        &[("SINEW_SIMD", "sse2")],
    ),
    // Without threads.
    (
        &["-p", "sinew-deform", "--lib", "--no-default-features"],
        &[],
        &[],
    ),
    // Eight lanes that are numbers of their own. Optimised, they compile for more than 50 minutes and take 7 GB; so they are not, and what simulates
    // or fits for long is left out.
    (
        &[
            "-p",
            "sinew-deform",
            "--lib",
            "--features",
            "fallback",
            "--config",
            "profile.dev.package.sinew-deform.opt-level=0",
            "--config",
            "profile.dev.package.sinew-deform.codegen-units=64",
        ],
        &["--skip", "hair_sim::rest_tests", "--skip", "compress_tests"],
        &[("SINEW_SIMD", "fallback")],
    ),
];

/// Runs the tests whose names hold one of `filters`, all without, in their long form.
///
/// # Errors
/// Where cargo does not start, or a test fails.
pub(crate) fn run(root: &Path, filters: &[String]) -> Result<(), String> {
    let mut all_passed = true;
    for (arguments, of_tests, variables) in RUNS {
        let status = Command::new(env!("CARGO"))
            .current_dir(root)
            .arg("test")
            .args(arguments)
            .args(["--no-fail-fast", "--"])
            .args(of_tests)
            .args(filters)
            .envs(variables.iter().copied())
            .status()
            .map_err(|e| format!("cargo does not start: {e}"))?;
        all_passed &= status.success();
    }
    all_passed
        .then_some(())
        .ok_or_else(|| "tests failed".to_owned())
}
