//! What a module says of itself.

use crate::common::module;
use sinew_wgsl::{BindingKind, ModuleBuilder, ModuleOptions};

#[test]
fn entry_points_and_bindings_are_data() {
    let text = "var<workgroup> tile: array<vec3<f32>, 64>;
var<workgroup> unused: array<f32, 999>;
fn kernel(index: u32) {
    tile[index % 64u] = read_position(index);
    workgroupBarrier();
    write_sum(index, i32(tile[0].x));
}";
    let module = module(text).unwrap();
    let [entry] = &module.entry_points()[..] else {
        panic!("one entry point");
    };
    assert_eq!(entry.name, "sinew_main");
    assert_eq!(entry.workgroup_size, [64, 1, 1]);
    assert_eq!(entry.workgroup_bytes, 64 * 16);
    let found: Vec<_> = entry
        .bindings
        .iter()
        .map(|b| {
            (
                b.group,
                b.binding,
                b.name.as_str(),
                b.kind,
                b.type_name.as_str(),
                b.is_read,
                b.is_written,
            )
        })
        .collect();
    // What no function of the kernel reaches is not there.
    assert_eq!(
        found,
        [
            (
                0,
                0,
                "sinew_positions",
                BindingKind::StorageRead,
                "array<f32>",
                true,
                false
            ),
            (
                0,
                2,
                "sinew_sum",
                BindingKind::StorageReadWrite,
                "array<atomic<i32>>",
                true,
                true
            ),
        ]
    );
    assert_eq!(entry.bindings[0].stride, Some(4));
    assert_eq!(entry.bindings[0].least_size, 4);
}

#[repr(C)]
struct Frame {
    count: u32,
    _pad: [u32; 3],
    center: [f32; 3],
    scale: f32,
    matrix: [[f32; 4]; 3],
    pair: [f32; 2],
    _end: [u32; 2],
}

#[test]
fn a_wgsl_structure_lies_as_its_rust_twin() {
    let text = "struct Frame { count: u32, center: vec3<f32>, scale: f32, matrix: mat3x4<f32>, pair: vec2<f32> }
struct Tail { count: u32, values: array<vec2<f32>> }
@group(1) @binding(3) var<uniform> sinew_frame: Frame;
@group(1) @binding(4) var<storage> sinew_tail: Tail;
fn sinew_get(i: u32) -> f32 { return sinew_frame.scale + sinew_tail.values[i].x; }
@compute @workgroup_size(8, 4) fn main() { let a = sinew_get(0u); }";
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    let module = builder.declare("generated", text).finish().unwrap();
    let layout = module.struct_layout("Frame").unwrap();
    let found: Vec<_> = layout
        .fields
        .iter()
        .map(|f| (f.name.as_str(), f.offset as usize, f.size, f.kind.as_str()))
        .collect();
    use std::mem::offset_of;
    assert_eq!(
        found,
        [
            ("count", offset_of!(Frame, count), 4, "u32"),
            ("center", offset_of!(Frame, center), 12, "vec3<f32>"),
            ("scale", offset_of!(Frame, scale), 4, "f32"),
            ("matrix", offset_of!(Frame, matrix), 48, "mat3x4<f32>"),
            ("pair", offset_of!(Frame, pair), 8, "vec2<f32>"),
        ]
    );
    assert_eq!(layout.size as usize, size_of::<Frame>());
    assert_eq!(layout.alignment, 16);
    assert_eq!(module.struct_layout("Nothing"), None);
    let [entry] = &module.entry_points()[..] else {
        panic!("one entry point");
    };
    assert_eq!(entry.workgroup_size, [8, 4, 1]);
    let found: Vec<_> = entry
        .bindings
        .iter()
        .map(|b| (b.group, b.binding, b.kind, b.least_size, b.stride))
        .collect();
    assert_eq!(
        found,
        [
            (1, 3, BindingKind::Uniform, size_of::<Frame>() as u32, None),
            (1, 4, BindingKind::StorageRead, 16, Some(8)),
        ]
    );
}
