//! Layouts and shader texts, without a device.

use crate::pipelines::{TEXTS, whole_text};
use sinew_wgsl::{Module, ModuleBuilder, ModuleOptions, naga};

/// A text as the device gets it.
pub(crate) fn checked(text: &str) -> Module {
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    builder.declare("shader", text);
    builder.finish().unwrap_or_else(|e| panic!("{e}"))
}

/// The shader of surfaces.
pub(crate) fn surface_module() -> Module {
    checked(&whole_text(include_str!("wgsl/surface.wgsl")))
}

/// The value of a `const` of a shader.
#[track_caller]
pub(crate) fn constant(module: &Module, name: &str) -> u32 {
    let naga = module.naga();
    let found = naga
        .constants
        .iter()
        .find(|(_, c)| c.name.as_deref() == Some(name));
    let (_, found) = found.unwrap_or_else(|| panic!("no constant {name}"));
    match naga.global_expressions[found.init] {
        naga::Expression::Literal(naga::Literal::U32(value)) => value,
        ref other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn all_shaders_parse_and_validate() {
    for text in TEXTS {
        let module = checked(&whole_text(text));
        let stages = module.naga().entry_points.iter().map(|e| e.stage);
        let stages: Vec<_> = stages.collect();
        assert!(stages.contains(&naga::ShaderStage::Vertex), "{stages:?}");
        assert!(stages.contains(&naga::ShaderStage::Fragment), "{stages:?}");
    }
    let smooth = checked(include_str!("wgsl/smooth_normals.wgsl"));
    let entry = &smooth.entry_points()[0];
    assert_eq!(entry.workgroup_size, [crate::smooth::GROUP, 1, 1]);
    assert_eq!(entry.bindings.len(), 5);
}

#[test]
fn lines_have_the_layout_of_a_graphs_lines() {
    use sinew_deform::Line;
    assert_eq!(size_of::<Line>(), 4 * crate::lines::FLOATS);
    let offsets = [
        std::mem::offset_of!(Line, from),
        std::mem::offset_of!(Line, to),
        std::mem::offset_of!(Line, color),
    ];
    assert_eq!(offsets, [0, 12, 24], "line.wgsl reads them there");
    assert!(include_str!("wgsl/line.wgsl").contains("let i = 10u *"));
}
