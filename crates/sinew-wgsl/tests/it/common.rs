//! A module as the GPU executor makes it: two pins, one kernel, one entry point.

use sinew_wgsl::{KernelErrors, Module, ModuleBuilder, ModuleOptions, Snippet};

pub(crate) const ACCESSORS: &str = "\
@group(0) @binding(0) var<storage, read> sinew_positions: array<f32>;
@group(0) @binding(1) var<storage, read_write> sinew_out: array<f32>;
@group(0) @binding(2) var<storage, read_write> sinew_sum: array<atomic<i32>>;
fn sinew_read(index: u32) -> vec3<f32> {
    let at = 3u * index;
    return vec3<f32>(sinew_positions[at], sinew_positions[at + 1u], sinew_positions[at + 2u]);
}
fn sinew_write(index: u32, value: vec3<f32>) {
    sinew_out[3u * index] = value.x;
    sinew_out[3u * index + 1u] = value.y;
    sinew_out[3u * index + 2u] = value.z;
}
fn sinew_add(index: u32, value: i32) { atomicAdd(&sinew_sum[index], value); }
fn sinew_count() -> u32 { return arrayLength(&sinew_positions) / 3u; }";

pub(crate) const RENAMES: [(&str, &str); 4] = [
    ("read_position", "sinew_read"),
    ("write_position", "sinew_write"),
    ("write_sum", "sinew_add"),
    ("vertex_count", "sinew_count"),
];

/// The module around one kernel.
pub(crate) fn module(text: &str) -> Result<Module, KernelErrors> {
    module_with(text, ModuleOptions::default())
}

pub(crate) fn module_with(text: &str, options: ModuleOptions) -> Result<Module, KernelErrors> {
    let snippet = Snippet::parse("k.wgsl", text)?;
    let mut builder = ModuleBuilder::new(options);
    builder.declare("accessors", ACCESSORS);
    let entry = builder
        .add(&snippet, "sinew_0_", &RENAMES)?
        .expect("no library");
    builder.declare("entry point", &entry_point(&entry));
    builder.finish()
}

pub(crate) fn entry_point(kernel: &str) -> String {
    format!(
        "@compute @workgroup_size(64)\nfn sinew_main(@builtin(global_invocation_id) id: vec3<u32>) {{ {kernel}(id.x); }}"
    )
}

/// What the user sees.
pub(crate) fn errors(text: &str) -> String {
    match module(text) {
        Ok(_) => "no error".to_owned(),
        Err(errors) => errors.to_string(),
    }
}
