//! Textures that a picture is drawn into, reused for the next picture of the same size.

use crate::error::RenderError;
use crate::view::SHADOW_TEXELS;
use sinew_gpu::{Gpu, GpuError, LimitError, wgpu};

/// Samples of a pixel.
pub(crate) const SAMPLES: u32 = 4;
/// Colours are linear when they are blended and averaged, and sRGB where they lie; alpha is premultiplied.
pub(crate) const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
pub(crate) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
pub(crate) const NORMALS: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
pub(crate) const OCCLUSION: wgpu::TextureFormat = wgpu::TextureFormat::R8Unorm;

#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) size: [u32; 2],
    pub(crate) samples: wgpu::TextureView,
    pub(crate) sample_depths: wgpu::TextureView,
    pub(crate) picture: wgpu::Texture,
    pub(crate) resolved: wgpu::TextureView,
    pub(crate) depths: wgpu::TextureView,
    pub(crate) normals: wgpu::TextureView,
    /// Of half the size, as the next.
    pub(crate) occlusion: wgpu::TextureView,
    pub(crate) blurred: wgpu::TextureView,
}

pub(crate) struct TextureUse {
    pub(crate) format: wgpu::TextureFormat,
    pub(crate) samples: u32,
    pub(crate) read: bool,
}

/// A texture to draw into and, on request, to read in later passes.
pub(crate) fn texture(
    device: &wgpu::Device,
    name: &str,
    [width, height]: [u32; 2],
    usage: &TextureUse,
) -> wgpu::Texture {
    let mut flags = wgpu::TextureUsages::RENDER_ATTACHMENT;
    if usage.read {
        flags |= wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_SRC;
    }
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some(name),
        size: wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: usage.samples,
        dimension: wgpu::TextureDimension::D2,
        format: usage.format,
        usage: flags,
        view_formats: &[],
    })
}

pub(crate) fn view(texture: &wgpu::Texture) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

/// Refuses sizes that the device cannot draw.
pub(crate) fn check_size(gpu: &Gpu, size: [u32; 2]) -> Result<(), RenderError> {
    let [width, height] = size;
    if width == 0 || height == 0 {
        return Err(RenderError::NoPixels { width, height });
    }
    let allowed = u64::from(gpu.device().limits().max_texture_dimension_2d);
    let longest = u64::from(width.max(height));
    if longest > allowed {
        return Err(RenderError::from(LimitError {
            what: "pixels along a side of the picture".into(),
            found: longest,
            allowed,
            adapter: gpu.info().name.clone(),
        }));
    }
    Ok(())
}

impl Targets {
    pub(crate) fn new(gpu: &Gpu, size: [u32; 2]) -> Result<Self, RenderError> {
        check_size(gpu, size)?;
        let what = format!("a picture of {} x {} pixels", size[0], size[1]);
        Ok(gpu.scoped(&what, |device| {
            let made = |name: &str, format, samples, read| {
                let usage = TextureUse {
                    format,
                    samples,
                    read,
                };
                texture(device, name, size, &usage)
            };
            let half = size.map(|s| s.div_ceil(2));
            let occlusion = TextureUse {
                format: OCCLUSION,
                samples: 1,
                read: true,
            };
            let occlusion = |name| view(&texture(device, name, half, &occlusion));
            let picture = made("picture", COLOR, 1, true);
            Self {
                size,
                samples: view(&made("samples", COLOR, SAMPLES, false)),
                sample_depths: view(&made("depths of samples", DEPTH, SAMPLES, false)),
                resolved: view(&picture),
                picture,
                depths: view(&made("depths", DEPTH, 1, true)),
                normals: view(&made("normals", NORMALS, 1, true)),
                occlusion: occlusion("occlusion"),
                blurred: occlusion("blurred occlusion"),
            }
        })?)
    }
}

/// The shadow map, and blank stand-ins for passes that run before shadow and occlusion are there.
#[derive(Debug)]
pub(crate) struct Fixed {
    pub(crate) shadow: wgpu::TextureView,
    pub(crate) shadow_sampler: wgpu::Sampler,
    pub(crate) blank_depths: wgpu::TextureView,
    pub(crate) blank: wgpu::TextureView,
    pub(crate) plain_sampler: wgpu::Sampler,
    pub(crate) linear_sampler: wgpu::Sampler,
}

/// A square texture that is drawn into, then read.
fn read_later(
    device: &wgpu::Device,
    name: &str,
    format: wgpu::TextureFormat,
    texels: u32,
) -> wgpu::TextureView {
    let usage = TextureUse {
        format,
        samples: 1,
        read: true,
    };
    view(&texture(device, name, [texels; 2], &usage))
}

/// The shadow map without hair, for hair, which knows its own shadow.
pub(crate) fn bare_shadow(gpu: &Gpu) -> Result<wgpu::TextureView, GpuError> {
    gpu.scoped("shadow map without hair", |device| {
        read_later(device, "shadow without hair", DEPTH, SHADOW_TEXELS)
    })
}

impl Fixed {
    pub(crate) fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        gpu.scoped("textures of the renderer", |device| {
            let made = |name, format, texels| read_later(device, name, format, texels);
            Self {
                shadow: made("shadow", DEPTH, SHADOW_TEXELS),
                blank_depths: made("blank depths", DEPTH, 1),
                blank: made("blank", OCCLUSION, 1),
                shadow_sampler: device.create_sampler(&wgpu::SamplerDescriptor {
                    label: Some("shadow"),
                    compare: Some(wgpu::CompareFunction::LessEqual),
                    mag_filter: wgpu::FilterMode::Linear,
                    min_filter: wgpu::FilterMode::Linear,
                    ..wgpu::SamplerDescriptor::default()
                }),
                linear_sampler: device.create_sampler(&wgpu::SamplerDescriptor {
                    label: Some("linear"),
                    mag_filter: wgpu::FilterMode::Linear,
                    min_filter: wgpu::FilterMode::Linear,
                    ..wgpu::SamplerDescriptor::default()
                }),
                plain_sampler: device.create_sampler(&wgpu::SamplerDescriptor::default()),
            }
        })
    }
}
