//! What people read.

use super::cpu::CpuTimes;
use super::crossover::Crossover;
use super::{GpuTimes, Part};
use std::fmt::Write;

fn us(us: f64) -> String {
    if us.is_nan() {
        return "-".to_owned();
    }
    let decimals = if us < 100.0 { 1 } else { 0 };
    format!("{us:.decimals$}")
}

/// A line for each part: time, share, bytes, speed, share of a copy's speed.
fn parts(parts: &[Part], what: &str, copy_gb_per_s: Option<f64>) -> String {
    let sum: f64 = parts.iter().map(|p| p.us).sum();
    let copy_head = if copy_gb_per_s.is_some() {
        "  of copy"
    } else {
        ""
    };
    let mut out = format!("{:>10}  share       KiB    GB/s{copy_head}  {what}\n", "us");
    for part in parts {
        let bytes = part.bytes.unwrap_or_default() as f64;
        // Bytes a nanosecond are gigabytes a second.
        let speed = bytes / (part.us * 1e3);
        _ = write!(
            out,
            "{:>10}  {:>4.0}%  {:>8.0}  {speed:>6.1}",
            us(part.us),
            100.0 * part.us / sum,
            bytes / 1024.0,
        );
        if let Some(copy) = copy_gb_per_s {
            _ = write!(out, "  {:>6.0}%", 100.0 * speed / copy);
        }
        _ = write!(out, "  {}", part.name);
        if let Some(dispatches) = part.dispatches.filter(|d| *d > 1) {
            _ = write!(out, " x{dispatches}");
        }
        out.push('\n');
    }
    out
}

pub(super) fn cpu(times: &CpuTimes, threads: usize) -> String {
    format!(
        "\nCPU, {threads} thread{}: {} us per frame\n{}",
        if threads == 1 { "" } else { "s" },
        us(times.frame_us),
        parts(&times.nodes, "node", None)
    )
}

pub(super) fn gpu(times: &GpuTimes) -> String {
    let mut out = format!("\nGPU, {}\n", times.adapter);
    if times.is_software {
        out += "a software adapter: it runs on the CPU, not on GPU hardware\n";
    }
    if let Some(copy) = times.copy_gb_per_s {
        _ = writeln!(out, "a plain copy reads and writes {copy:.1} GB/s");
    }
    match times.device_us {
        Some(device) => {
            _ = writeln!(
                out,
                "{} us per frame on the GPU, {} us on the CPU to send, record and submit; {} us until done",
                us(device),
                us(times.host_us),
                us(times.until_done_us)
            );
        }
        None => {
            _ = writeln!(
                out,
                "{} us until done, {} us of these on the CPU; the adapter has no timestamps",
                us(times.until_done_us),
                us(times.host_us)
            );
        }
    }
    if !times.launches.is_empty() {
        out += &parts(&times.launches, "launch", times.copy_gb_per_s);
    }
    out
}

pub(super) fn faster(cpu: &CpuTimes, gpu: &GpuTimes) -> String {
    let (cpu, gpu) = (cpu.frame_us, gpu.frame_us());
    let (name, less, more) = if gpu < cpu {
        ("GPU", gpu, cpu)
    } else {
        ("CPU", cpu, gpu)
    };
    format!(
        "\nthe {name} is {:.1} times faster per frame: {} us against {} us\n",
        more / less,
        us(less),
        us(more)
    )
}

pub(super) fn crossover(found: &Crossover) -> String {
    let mut out = "\nskin, delta mush x8, normals\n  vertices           CPU us           GPU us  (submitting, us)\n".to_owned();
    for size in &found.sizes {
        _ = writeln!(
            out,
            "{:>10}  {:>15}  {:>15}  {:>16}",
            size.vertices,
            us(size.cpu_us),
            us(size.gpu_us),
            us(size.host_us)
        );
    }
    let ends = found.sizes.first().zip(found.sizes.last());
    let (first, last) = ends.map_or((0, 0), |(a, b)| (a.vertices, b.vertices));
    match (found.vertices(), found.always()) {
        (Some((below, above, at)), _) => {
            _ = writeln!(
                out,
                "the GPU is faster than the CPU from about {at:.0} vertices on, between {below} and {above}"
            );
        }
        (None, Some("gpu")) => {
            _ = writeln!(
                out,
                "the GPU is faster at all sizes, {first} to {last} vertices"
            );
        }
        (None, Some(_)) => {
            _ = writeln!(
                out,
                "the CPU is faster at all sizes, {first} to {last} vertices"
            );
        }
        (None, None) => {
            out += "no clear result, because the faster one changes several times: measure again on an idle machine\n"
        }
    }
    out
}
