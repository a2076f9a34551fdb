//! Helpers for tests that need a GPU adapter. Without an adapter such a test prints that it is skipped, or fails if an adapter is
//! required. Also helpers for tests of uniforms, which need no adapter.

use crate::adapter::{AdapterError, Preference};
use crate::error::GpuError;
use crate::gpu::{Gpu, GpuOptions};
use sinew_deform::{UniformKind, UniformLayout, UniformMember};
use sinew_wgsl::Module;

/// Name of the environment variable that turns a missing adapter into a failed test; `.ci/run` sets it to `1`.
pub(crate) const REQUIRE_VARIABLE: &str = "SINEW_REQUIRE_GPU";

/// Creates a device for a test, on the adapter that `SINEW_ADAPTER` names. Without an adapter it prints `skipped: no graphics
/// adapter` and returns `None`; the test must then return.
///
/// # Panics
/// Without an adapter if `SINEW_REQUIRE_GPU=1`, or if the adapter cannot create a device.
pub fn gpu() -> Option<Gpu> {
    take(
        Gpu::new(&GpuOptions {
            adapter: Preference::from_env(),
            pipeline_cache: None,
        }),
        required(),
    )
}

/// Compares a structure of a module with the layout that Rust writes: names, offsets, sizes and kinds of all members, including nested
/// structures.
///
/// # Panics
/// If they differ.
pub fn assert_layout(module: &Module, name: &str, expected: &UniformLayout) {
    assert_members(module, name, &expected.members, expected.bytes);
}

#[expect(clippy::panic, reason = "a failed test")]
fn assert_members(module: &Module, name: &str, members: &[UniformMember], bytes: usize) {
    let layout = module.struct_layout(name);
    let layout = layout.unwrap_or_else(|| panic!("no structure {name}"));
    let is_read = |member: &str| !member.starts_with("unused");
    let fields: Vec<_> = layout.fields.iter().filter(|f| is_read(&f.name)).collect();
    let members: Vec<_> = members.iter().filter(|m| is_read(m.name)).collect();
    let found = fields.iter();
    let found = found.map(|f| (f.name.as_str(), f.offset as usize, f.size as usize));
    let written = members.iter().map(|m| (m.name, m.offset, m.size));
    let (found, written): (Vec<_>, Vec<_>) = (found.collect(), written.collect());
    assert_eq!(found, written, "{name}: members in WGSL, in Rust");
    assert_eq!(
        layout.size as usize, bytes,
        "{name}: bytes in WGSL, in Rust"
    );
    for (field, member) in fields.into_iter().zip(members) {
        let place = format!("{name}.{}: {}", field.name, field.kind);
        match member.kind {
            UniformKind::F32 => assert!(field.kind.contains("f32"), "{place}"),
            UniformKind::U32 => assert!(field.kind.contains("u32"), "{place}"),
            UniformKind::Struct(inner) => {
                let element = field.kind.trim_start_matches("array<");
                let element = element.split(',').next().unwrap_or_default();
                let bytes = inner.last().map_or(0, |m| m.offset + m.size);
                assert_members(module, element, inner, bytes);
            }
        }
    }
}

/// Whether `SINEW_REQUIRE_GPU` is set to something other than `0`.
pub(crate) fn required() -> bool {
    std::env::var(REQUIRE_VARIABLE).is_ok_and(|v| !v.is_empty() && v != "0")
}

#[expect(clippy::print_stdout, reason = "tests say what they skip")]
#[expect(clippy::panic, reason = "a failed test")]
pub(crate) fn take(made: Result<Gpu, GpuError>, required: bool) -> Option<Gpu> {
    match made {
        Ok(gpu) => Some(gpu),
        Err(GpuError::Adapter(AdapterError::None)) if !required => {
            println!("skipped: no GPU adapter");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
