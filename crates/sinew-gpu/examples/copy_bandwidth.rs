//! Prints how fast each adapter copies memory, size by size: the floor under every kernel.
//!
//! ```sh
//! cargo run --release -p sinew-gpu --example copy_bandwidth -- [LARGEST MIB] [REPEATS]
//! ```
//!
//! The adapter is the one that `SINEW_ADAPTER` names, else the fastest. The binary needs a Vulkan loader at run time and
//! nothing else.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use sinew_gpu::{Gpu, GpuError, GpuOptions, copy_bandwidth, largest_copy};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise: u64| match arguments.next().map(|a| a.parse()) {
        None => Ok(otherwise),
        Some(Ok(n)) => Ok(n),
        Some(Err(_)) => Err("usage: copy_bandwidth [LARGEST MIB] [REPEATS]"),
    };
    let numbers = number(1024).and_then(|mib| Ok((mib, number(30)?)));
    let (mib, repeats) = match numbers {
        Ok(numbers) => numbers,
        Err(usage) => {
            eprintln!("{usage}");
            return ExitCode::from(2);
        }
    };
    match table(mib << 20, usize::try_from(repeats).unwrap_or(usize::MAX)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn table(largest: u64, repeats: usize) -> Result<(), GpuError> {
    let gpu = Gpu::new(&GpuOptions::from_env())?;
    println!("{}", gpu.info());
    println!("a copy reads and writes its bytes; both count; median of {repeats}");
    println!(
        "{:>12} {:>12} {:>12} {:>12} {:>12}",
        "bytes", "single us", "single GB/s", "in a row us", "GB/s"
    );
    let most = largest.min(largest_copy(&gpu));
    let mut bytes = 64 << 10;
    while bytes <= most {
        let c = copy_bandwidth(&gpu, bytes, repeats)?;
        println!(
            "{bytes:>12} {:>12.2} {:>12.1} {:>12.2} {:>12.1}{}",
            c.single_ns / 1e3,
            c.single_gb_per_s(),
            c.row_ns / 1e3,
            c.gb_per_s(),
            if c.device_time {
                ""
            } else {
                "  (the processor's clock)"
            }
        );
        bytes *= 2;
    }
    Ok(())
}
