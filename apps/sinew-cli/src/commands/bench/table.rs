//! What people read.

use super::crossover::Crossover;
use super::processor::ProcessorTimes;
use super::{GraphicsTimes, Part};
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

pub(super) fn processor(times: &ProcessorTimes, threads: usize) -> String {
    format!(
        "\nprocessor, {threads} thread{}: {} us a frame\n{}",
        if threads == 1 { "" } else { "s" },
        us(times.frame_us),
        parts(&times.nodes, "node", None)
    )
}

pub(super) fn graphics(times: &GraphicsTimes) -> String {
    let mut out = format!("\ngraphics, {}\n", times.adapter);
    if times.is_software {
        out += "a software adapter: the processor itself, no graphics hardware\n";
    }
    if let Some(copy) = times.copy_gb_per_s {
        _ = writeln!(out, "a plain copy reads and writes {copy:.1} GB/s");
    }
    match times.device_us {
        Some(device) => {
            _ = writeln!(
                out,
                "{} us a frame on the device, {} us on the host to send, record and submit; {} us until done",
                us(device),
                us(times.host_us),
                us(times.until_done_us)
            );
        }
        None => {
            _ = writeln!(
                out,
                "{} us until done, {} us of them on the host; the adapter takes no times",
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

pub(super) fn faster(cpu: &ProcessorTimes, gpu: &GraphicsTimes) -> String {
    let (cpu, gpu) = (cpu.frame_us, gpu.frame_us());
    let (name, less, more) = if gpu < cpu {
        ("graphics device", gpu, cpu)
    } else {
        ("processor", cpu, gpu)
    };
    format!(
        "\nthe {name} is {:.1} times faster, from frame to frame: {} us against {} us\n",
        more / less,
        us(less),
        us(more)
    )
}

pub(super) fn crossover(found: &Crossover) -> String {
    let mut out = "\nskin, delta mush x8, normals\n  vertices     processor us      graphics us  (host alone, us)\n".to_owned();
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
                "the graphics device overtakes the processor at about {at:.0} vertices, between {below} and {above}"
            );
        }
        (None, Some("gpu")) => {
            _ = writeln!(
                out,
                "the graphics device is faster from {first} vertices on, the fewest that were tried"
            );
        }
        (None, Some(_)) => {
            _ = writeln!(
                out,
                "the processor is faster up to {last} vertices, the most that were tried"
            );
        }
        (None, None) => out += "neither is faster for good: measure again on a quiet machine\n",
    }
    out
}
