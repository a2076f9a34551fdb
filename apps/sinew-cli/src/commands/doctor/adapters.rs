//! The GPU adapters with their limits, and the copy speed of the selected one.

use super::GpuReport;
use crate::device::gpu::tell;
use crate::reporter::Reporter;
use serde_json::{Value, json};
use sinew::gpu::{
    ADAPTER_VARIABLE, AdapterInfo, AdapterKind, Adapters, CopyBandwidth, Gpu, GpuError, Preference,
    copy_bandwidth, largest_copy,
};
use std::fmt::Write;

/// Bytes of the measured copy: beyond the caches of most.
const COPY_BYTES: u64 = 64 << 20;
/// The same for a software adapter.
const SOFTWARE_COPY_BYTES: u64 = 4 << 20;
const COPY_REPEATS: usize = 20;

pub(super) fn report(reporter: &Reporter) -> GpuReport {
    let (adapters, said) = reporter.overheard(Adapters::enumerate);
    tell(&said, reporter);
    let chosen = adapters.choose(&Preference::from_env());
    let taken = chosen.as_ref().ok().map(|a| a.info());
    let measured = chosen.map_err(GpuError::from).and_then(|adapter| {
        let (gpu, said) = reporter.overheard(|| Gpu::on_adapter(adapter, None));
        tell(&said, reporter);
        measure(&gpu?)
    });
    let message = measured.as_ref().err().map(GpuError::to_string);
    let mut text = String::new();
    let mut list = Vec::new();
    for info in adapters.infos() {
        // By address: two adapters may be equal in all that is known of them.
        let is_taken = taken.is_some_and(|t| std::ptr::eq(t, info));
        text += &adapter_text(info, is_taken);
        list.push(adapter_json(info, is_taken));
    }
    if let Ok(copy) = &measured {
        _ = writeln!(text, "copy     {}", copy_text(copy));
    }
    if let Some(message) = &message {
        reporter.warning("gpu", message);
        if list.is_empty() {
            text += "adapters none\n";
        }
    }
    GpuReport {
        text,
        json: json!({
            "adapters": list,
            "copy_bandwidth": measured.ok().map(|c| copy_json(&c)),
            "message": message,
        }),
    }
}

fn measure(gpu: &Gpu) -> Result<CopyBandwidth, GpuError> {
    let software = gpu.info().kind == AdapterKind::Software;
    let bytes = if software {
        SOFTWARE_COPY_BYTES
    } else {
        COPY_BYTES
    };
    copy_bandwidth(gpu, bytes.min(largest_copy(gpu)), COPY_REPEATS)
}

fn copy_text(c: &CopyBandwidth) -> String {
    let clock = if c.device_time {
        ""
    } else {
        ", timed by the CPU clock"
    };
    format!(
        "{:.1} GB/s read and written ({} per copy{clock})",
        c.gb_per_s(),
        size(c.bytes)
    )
}

fn copy_json(c: &CopyBandwidth) -> Value {
    json!({
        "bytes": c.bytes,
        "gb_per_s": c.gb_per_s(),
        "single_ns": c.single_ns,
        "row_ns": c.row_ns,
        "device_time": c.device_time,
    })
}

/// Limits with their names in words and in JSON; `true` where the number is one of bytes.
fn limits(info: &AdapterInfo) -> [(&'static str, &'static str, u64, bool); 12] {
    let l = &info.limits;
    let [x, y, z] = l.workgroup_size.map(u64::from);
    [
        (
            "storage buffers per kernel",
            "storage_buffers_per_stage",
            l.storage_buffers_per_stage.into(),
            false,
        ),
        (
            "uniform buffers per kernel",
            "uniform_buffers_per_stage",
            l.uniform_buffers_per_stage.into(),
            false,
        ),
        (
            "storage binding",
            "storage_binding_bytes",
            l.storage_binding_bytes,
            true,
        ),
        ("buffer", "buffer_bytes", l.buffer_bytes, true),
        (
            "storage alignment",
            "storage_alignment",
            l.storage_alignment.into(),
            true,
        ),
        (
            "workgroup memory",
            "workgroup_memory_bytes",
            l.workgroup_memory_bytes.into(),
            true,
        ),
        (
            "invocations per workgroup",
            "invocations_per_workgroup",
            l.invocations_per_workgroup.into(),
            false,
        ),
        ("workgroup size x", "workgroup_size_x", x, false),
        ("workgroup size y", "workgroup_size_y", y, false),
        ("workgroup size z", "workgroup_size_z", z, false),
        (
            "workgroups per dimension",
            "workgroups_per_dimension",
            l.workgroups_per_dimension.into(),
            false,
        ),
        (
            "immediates",
            "immediate_bytes",
            l.immediate_bytes.into(),
            true,
        ),
    ]
}

fn adapter_text(info: &AdapterInfo, taken: bool) -> String {
    let mut out = format!("adapter  {info}");
    if taken {
        _ = write!(out, ", selected (set {ADAPTER_VARIABLE} to select another)");
    }
    out.push('\n');
    for (words, _, value, bytes) in limits(info) {
        let value = if bytes {
            size(value)
        } else {
            value.to_string()
        };
        _ = writeln!(out, "  {words:<28}{value}");
    }
    let (least, most) = (info.subgroup_min, info.subgroup_max);
    _ = writeln!(out, "  {:<28}{least} to {most}", "subgroup size");
    let each = info.capabilities.each();
    for (words, wanted) in [("features", true), ("features missing", false)] {
        let names: Vec<&str> = each.iter().filter(|f| f.1 == wanted).map(|f| f.0).collect();
        if !names.is_empty() {
            _ = writeln!(out, "  {words:<28}{}", names.join(", "));
        }
    }
    out
}

fn adapter_json(info: &AdapterInfo, taken: bool) -> Value {
    let limits: serde_json::Map<String, Value> = limits(info)
        .into_iter()
        .map(|(_, key, value, _)| (key.to_owned(), value.into()))
        .collect();
    let features: serde_json::Map<String, Value> = info
        .capabilities
        .each()
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value.into()))
        .collect();
    json!({
        "name": info.name,
        "kind": info.kind.as_str(),
        "backend": info.backend,
        "driver": info.driver,
        "driver_version": info.driver_version,
        "taken": taken,
        "subgroup_min": info.subgroup_min,
        "subgroup_max": info.subgroup_max,
        "limits": limits,
        "features": features,
    })
}

/// Bytes in the largest unit of which they are a whole number.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    for (shift, unit) in units {
        if bytes > 0 && bytes.trailing_zeros() >= shift {
            return format!("{} {unit}", bytes >> shift);
        }
    }
    format!("{bytes} bytes")
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_whole_numbers_of_their_unit() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (256, "256 bytes"),
            (49152, "48 KiB"),
            (134_217_728, "128 MiB"),
            (2_147_483_647, "2147483647 bytes"),
            (2_147_483_648, "2 GiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
