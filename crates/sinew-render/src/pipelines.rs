//! Render pipelines, each created on first use: software drivers are slow to create them.

use crate::draws::Variant;
use crate::targets::{COLOR, DEPTH, NORMALS, OCCLUSION, SAMPLES};
use sinew_gpu::{Gpu, GpuError, wgpu};
use std::collections::BTreeMap;

/// The passes of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pass {
    /// Depths from the key light.
    Shadow,
    /// Depths and normals from the camera, for occlusion.
    SurfaceNormals,
    GroundNormals,
    Occlusion,
    Blur,
    Background,
    Ground,
    Surface,
    /// Translucent surfaces: they do not write depth.
    Translucent,
    Lines,
    /// Lines wherever they are, for those behind a surface.
    LinesBehind,
    Hair,
    /// Depths of hair from the key light.
    HairShadow,
}

/// What a pass draws into.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Into {
    Shadow,
    Normals,
    Occlusion,
    Picture,
}

struct Description {
    text: &'static str,
    vertex: &'static str,
    fragment: &'static str,
    into: Into,
    depth: wgpu::CompareFunction,
    writes_depth: bool,
    /// The bind group of what is drawn, beside the view's.
    group: Group,
}

/// Bind groups of what is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    None,
    Surface,
    /// Of lines and hair.
    Lines,
    Screen,
}

const SURFACE: &str = include_str!("wgsl/surface.wgsl");
const GROUND: &str = include_str!("wgsl/ground.wgsl");
const BACKGROUND: &str = include_str!("wgsl/background.wgsl");
const LINE: &str = include_str!("wgsl/line.wgsl");
const HAIR: &str = include_str!("wgsl/hair.wgsl");
const OCCLUSION_TEXT: &str = concat!(
    include_str!("wgsl/screen.wgsl"),
    include_str!("wgsl/occlusion.wgsl")
);
const BLUR: &str = concat!(
    include_str!("wgsl/screen.wgsl"),
    include_str!("wgsl/blur.wgsl")
);

/// The texts of all passes.
#[cfg(test)]
pub(crate) const TEXTS: [&str; 7] = [
    SURFACE,
    GROUND,
    BACKGROUND,
    LINE,
    HAIR,
    OCCLUSION_TEXT,
    BLUR,
];

impl Pass {
    /// What of a variant this pass tells apart.
    pub(crate) fn variant(self, of_draw: Variant) -> Variant {
        match self {
            Self::Surface | Self::Translucent => of_draw,
            // Alpha alone counts there.
            Self::Shadow | Self::SurfaceNormals if of_draw.is_cut => Variant {
                lighting: 0,
                is_wired: false,
                ..of_draw
            },
            _ => Variant::default(),
        }
    }

    fn description(self) -> Description {
        use wgpu::CompareFunction::{Always, LessEqual};
        let of = |text, vertex, fragment, into, depth, writes_depth, group| Description {
            text,
            vertex,
            fragment,
            into,
            depth,
            writes_depth,
            group,
        };
        let (picture, normals, surface) = (Into::Picture, Into::Normals, Group::Surface);
        match self {
            Self::Shadow => of(
                SURFACE,
                "shadow_corner",
                "shadow",
                Into::Shadow,
                LessEqual,
                true,
                surface,
            ),
            Self::SurfaceNormals => of(
                SURFACE, "corner", "normal", normals, LessEqual, true, surface,
            ),
            Self::GroundNormals => of(
                GROUND,
                "corner",
                "normal",
                normals,
                LessEqual,
                true,
                Group::None,
            ),
            Self::Occlusion => of(
                OCCLUSION_TEXT,
                "corner",
                "occlusion",
                Into::Occlusion,
                Always,
                false,
                Group::Screen,
            ),
            Self::Blur => of(
                BLUR,
                "corner",
                "blurred",
                Into::Occlusion,
                Always,
                false,
                Group::Screen,
            ),
            Self::Background => of(
                BACKGROUND,
                "corner",
                "color",
                picture,
                Always,
                false,
                Group::None,
            ),
            Self::Ground => of(
                GROUND,
                "corner",
                "color",
                picture,
                LessEqual,
                false,
                Group::None,
            ),
            Self::Surface => of(
                SURFACE, "corner", "color", picture, LessEqual, true, surface,
            ),
            Self::Translucent => of(
                SURFACE, "corner", "color", picture, LessEqual, false, surface,
            ),
            Self::Lines => of(
                LINE,
                "corner",
                "color",
                picture,
                LessEqual,
                true,
                Group::Lines,
            ),
            Self::LinesBehind => of(
                LINE,
                "corner",
                "color",
                picture,
                Always,
                false,
                Group::Lines,
            ),
            Self::Hair => of(
                HAIR,
                "corner",
                "color",
                picture,
                LessEqual,
                true,
                Group::Lines,
            ),
            Self::HairShadow => of(
                HAIR,
                "shadow_corner",
                "shadow",
                Into::Shadow,
                LessEqual,
                true,
                Group::Lines,
            ),
        }
    }
}

/// Layouts of bind groups.
#[derive(Debug)]
pub(crate) struct Layouts {
    pub(crate) view: wgpu::BindGroupLayout,
    pub(crate) surface: wgpu::BindGroupLayout,
    pub(crate) lines: wgpu::BindGroupLayout,
    pub(crate) screen: wgpu::BindGroupLayout,
}

fn entry(
    binding: u32,
    visibility: wgpu::ShaderStages,
    ty: wgpu::BindingType,
) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility,
        ty,
        count: None,
    }
}

fn buffer(ty: wgpu::BufferBindingType, has_dynamic_offset: bool) -> wgpu::BindingType {
    wgpu::BindingType::Buffer {
        ty,
        has_dynamic_offset,
        min_binding_size: None,
    }
}

fn sampled(sample_type: wgpu::TextureSampleType) -> wgpu::BindingType {
    wgpu::BindingType::Texture {
        sample_type,
        view_dimension: wgpu::TextureViewDimension::D2,
        multisampled: false,
    }
}

impl Layouts {
    fn new(device: &wgpu::Device) -> Self {
        use wgpu::ShaderStages as S;
        let uniform = wgpu::BufferBindingType::Uniform;
        let read = || buffer(wgpu::BufferBindingType::Storage { read_only: true }, false);
        let depth = || sampled(wgpu::TextureSampleType::Depth);
        let exact = || sampled(wgpu::TextureSampleType::Float { filterable: false });
        let smooth = || sampled(wgpu::TextureSampleType::Float { filterable: true });
        let sampler = wgpu::BindingType::Sampler;
        let layout = |label, entries: &[wgpu::BindGroupLayoutEntry]| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(label),
                entries,
            })
        };
        let mut surface = vec![entry(0, S::VERTEX_FRAGMENT, buffer(uniform, true))];
        surface.extend((1..7).map(|i| entry(i, S::VERTEX, read())));
        surface.extend([
            entry(7, S::FRAGMENT, exact()),
            entry(8, S::FRAGMENT, smooth()),
            entry(9, S::FRAGMENT, sampler(wgpu::SamplerBindingType::Filtering)),
        ]);
        Self {
            view: layout(
                "view",
                &[
                    entry(0, S::VERTEX_FRAGMENT, buffer(uniform, false)),
                    entry(1, S::FRAGMENT, depth()),
                    entry(
                        2,
                        S::FRAGMENT,
                        sampler(wgpu::SamplerBindingType::Comparison),
                    ),
                    entry(3, S::FRAGMENT, smooth()),
                    entry(4, S::FRAGMENT, sampler(wgpu::SamplerBindingType::Filtering)),
                ],
            ),
            surface: layout("surface", &surface),
            lines: layout(
                "lines",
                &[
                    entry(0, S::VERTEX, buffer(uniform, true)),
                    entry(1, S::VERTEX, read()),
                ],
            ),
            screen: layout(
                "screen",
                &[
                    entry(0, S::FRAGMENT, depth()),
                    entry(1, S::FRAGMENT, exact()),
                ],
            ),
        }
    }

    fn of(&self, group: Group) -> Option<&wgpu::BindGroupLayout> {
        match group {
            Group::None => None,
            Group::Surface => Some(&self.surface),
            Group::Lines => Some(&self.lines),
            Group::Screen => Some(&self.screen),
        }
    }
}

/// All pipelines that were needed so far.
#[derive(Debug)]
pub(crate) struct Pipelines {
    pub(crate) layouts: Layouts,
    made: BTreeMap<(Pass, Variant), wgpu::RenderPipeline>,
    modules: BTreeMap<&'static str, wgpu::ShaderModule>,
}

impl Pipelines {
    pub(crate) fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        Ok(Self {
            layouts: gpu.scoped("bind group layouts", Layouts::new)?,
            made: BTreeMap::new(),
            modules: BTreeMap::new(),
        })
    }

    /// Makes those of `passes` that are not there yet.
    pub(crate) fn prepare(
        &mut self,
        gpu: &Gpu,
        passes: &[(Pass, Variant)],
    ) -> Result<(), GpuError> {
        for &(pass, variant) in passes {
            if self.made.contains_key(&(pass, variant)) {
                continue;
            }
            let description = pass.description();
            let made = gpu.scoped(&format!("the pipeline {pass:?}"), |device| {
                let module = self
                    .modules
                    .entry(description.text)
                    .or_insert_with(|| module(device, description.text));
                pipeline(device, &self.layouts, module, &description, variant)
            })?;
            self.made.insert((pass, variant), made);
        }
        Ok(())
    }

    /// A pipeline that was prepared.
    pub(crate) fn get(&self, pass: Pass, variant: Variant) -> Option<&wgpu::RenderPipeline> {
        self.made.get(&(pass, variant))
    }
}

/// The text of a pass with what passes share.
pub(crate) fn whole_text(text: &str) -> String {
    [
        include_str!("wgsl/view.wgsl"),
        include_str!("wgsl/light.wgsl"),
        text,
    ]
    .join("\n")
}

fn module(device: &wgpu::Device, text: &str) -> wgpu::ShaderModule {
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(whole_text(text).into()),
    })
}

fn color_target(into: Into) -> Option<wgpu::ColorTargetState> {
    let plain = |format| wgpu::ColorTargetState {
        format,
        blend: None,
        write_mask: wgpu::ColorWrites::ALL,
    };
    match into {
        Into::Shadow => None,
        Into::Normals => Some(plain(NORMALS)),
        Into::Occlusion => Some(plain(OCCLUSION)),
        Into::Picture => Some(wgpu::ColorTargetState {
            blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
            ..plain(COLOR)
        }),
    }
}

fn depth_state(d: &Description) -> Option<wgpu::DepthStencilState> {
    (d.into != Into::Occlusion).then(|| wgpu::DepthStencilState {
        format: DEPTH,
        depth_write_enabled: Some(d.writes_depth),
        depth_compare: Some(d.depth),
        stencil: wgpu::StencilState::default(),
        bias: wgpu::DepthBiasState::default(),
    })
}

fn constants(variant: Variant) -> [(&'static str, f64); 6] {
    [
        ("paint", f64::from(variant.paint)),
        ("lighting", f64::from(variant.lighting)),
        ("is_textured", f64::from(u8::from(variant.is_textured))),
        ("is_cut", f64::from(u8::from(variant.is_cut))),
        ("is_wired", f64::from(u8::from(variant.is_wired))),
        (
            "is_translucent",
            f64::from(u8::from(variant.is_translucent)),
        ),
    ]
}

fn pipeline(
    device: &wgpu::Device,
    layouts: &Layouts,
    module: &wgpu::ShaderModule,
    d: &Description,
    variant: Variant,
) -> wgpu::RenderPipeline {
    let constants = constants(variant);
    let options = || wgpu::PipelineCompilationOptions {
        // The other shaders know no such constants.
        constants: if d.group == Group::Surface {
            &constants
        } else {
            &[]
        },
        ..wgpu::PipelineCompilationOptions::default()
    };
    // What has no holes casts its shadow without being looked at.
    let is_blind = d.into == Into::Shadow && !variant.is_cut;
    let groups: Vec<Option<&wgpu::BindGroupLayout>> = [Some(&layouts.view)]
        .into_iter()
        .chain([layouts.of(d.group)].into_iter().filter(Option::is_some))
        .collect();
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &groups,
        immediate_size: 0,
    });
    let targets: Vec<_> = color_target(d.into).map(Some).into_iter().collect();
    let samples = if d.into == Into::Picture { SAMPLES } else { 1 };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(d.fragment),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some(d.vertex),
            compilation_options: options(),
            buffers: &[],
        },
        // Both sides of triangles are drawn.
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: depth_state(d),
        multisample: wgpu::MultisampleState {
            count: samples,
            ..wgpu::MultisampleState::default()
        },
        fragment: (!is_blind).then(|| wgpu::FragmentState {
            module,
            entry_point: Some(d.fragment),
            compilation_options: options(),
            targets: &targets,
        }),
        multiview_mask: None,
        cache: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_the_overrides_of_the_surfaces_shader() {
        let module = crate::tests::surface_module();
        let overrides = module.naga().overrides.iter();
        let declared: Vec<_> = overrides.filter_map(|(_, o)| o.name.clone()).collect();
        let given = constants(Variant::default()).map(|c| c.0);
        assert_eq!(declared, given);
    }

    #[test]
    fn entry_points_of_passes_are_in_their_texts() {
        for pass in [
            Pass::Shadow,
            Pass::SurfaceNormals,
            Pass::GroundNormals,
            Pass::Occlusion,
            Pass::Blur,
            Pass::Background,
            Pass::Ground,
            Pass::Surface,
            Pass::Translucent,
            Pass::Lines,
            Pass::LinesBehind,
            Pass::Hair,
            Pass::HairShadow,
        ] {
            let d = pass.description();
            let module = crate::tests::checked(&whole_text(d.text));
            let names: Vec<_> = module.entry_points().into_iter().map(|e| e.name).collect();
            for entry in [d.vertex, d.fragment] {
                assert!(
                    names.iter().any(|n| n == entry),
                    "{pass:?}: {entry} in {names:?}"
                );
            }
        }
    }
}
