//! Base colours and their textures on the GPU.

use crate::error::RenderError;
use sinew_geom::{Appearance, Image, Material, Texture, Wrap};
use sinew_gpu::{Gpu, wgpu};
use sinew_picture::{linear_from_srgb, srgb_from_linear};

/// Longest side of a texture. Larger images are scaled down for the upload, because no picture shows more detail.
const LONGEST_SIDE: usize = 4096;

/// Materials of a file, ready to draw.
#[derive(Debug)]
pub struct Materials {
    pub(crate) materials: Vec<Material>,
    textures: Vec<Option<wgpu::TextureView>>,
    samplers: Vec<wgpu::Sampler>,
}

/// All ways to sample: wrap along u, wrap along v, nearest or not.
fn sampler_index(texture: &Texture) -> usize {
    let wrap = |w: Wrap| match w {
        Wrap::Repeat => 0,
        Wrap::Mirrored => 1,
        Wrap::Clamp => 2,
    };
    (wrap(texture.wrap[0]) * 3 + wrap(texture.wrap[1])) * 2 + usize::from(texture.nearest)
}

fn samplers(device: &wgpu::Device) -> Vec<wgpu::Sampler> {
    let modes = [
        wgpu::AddressMode::Repeat,
        wgpu::AddressMode::MirrorRepeat,
        wgpu::AddressMode::ClampToEdge,
    ];
    let mut out = Vec::new();
    for u in modes {
        for v in modes {
            for magnify in [wgpu::FilterMode::Linear, wgpu::FilterMode::Nearest] {
                out.push(device.create_sampler(&wgpu::SamplerDescriptor {
                    label: Some("base colour"),
                    address_mode_u: u,
                    address_mode_v: v,
                    mag_filter: magnify,
                    min_filter: wgpu::FilterMode::Linear,
                    mipmap_filter: wgpu::MipmapFilterMode::Linear,
                    ..wgpu::SamplerDescriptor::default()
                }));
            }
        }
    }
    out
}

impl Materials {
    /// Uploads the decoded images of an appearance: `images[i]` is `appearance.images[i]`. A material whose image is `None` or has no
    /// pixels shows only its factor.
    ///
    /// # Errors
    /// Limits, memory, lost devices.
    pub fn new(
        gpu: &Gpu,
        appearance: &Appearance,
        images: &[Option<Image>],
    ) -> Result<Self, RenderError> {
        let textures = images
            .iter()
            .map(|image| {
                let image = image.as_ref().filter(|i| !i.pixels().is_empty());
                image.map(|i| upload(gpu, i)).transpose()
            })
            .collect::<Result<_, RenderError>>()?;
        Ok(Self {
            materials: appearance.materials.clone(),
            textures,
            samplers: gpu.scoped("samplers", samplers)?,
        })
    }

    /// The texture of a material and how to sample it.
    pub(crate) fn texture<'a>(
        &'a self,
        material: &'a Material,
    ) -> Option<(&'a Texture, &'a wgpu::TextureView, &'a wgpu::Sampler)> {
        let texture = material.base_color_texture.as_ref()?;
        let view = self.textures.get(texture.image)?.as_ref()?;
        Some((texture, view, self.samplers.get(sampler_index(texture))?))
    }
}

/// Half as wide and high: means of four, taken where light adds up.
fn halved(image: &Image, linear_of: &[f32; 256]) -> Image {
    let (width, height) = ((image.width() / 2).max(1), (image.height() / 2).max(1));
    let mut pixels = Vec::with_capacity(width * height);
    let all = image.pixels();
    let at = |x: usize, y: usize| {
        let (x, y) = (x.min(image.width() - 1), y.min(image.height() - 1));
        all[y * image.width() + x]
    };
    for y in 0..height {
        for x in 0..width {
            let four = [
                at(2 * x, 2 * y),
                at(2 * x + 1, 2 * y),
                at(2 * x, 2 * y + 1),
                at(2 * x + 1, 2 * y + 1),
            ];
            let mean = |c: usize| four.iter().map(|p| linear_of[p[c] as usize]).sum::<f32>() / 4.0;
            let alpha = four.iter().map(|p| u32::from(p[3])).sum::<u32>();
            pixels.push([
                srgb_from_linear(mean(0)),
                srgb_from_linear(mean(1)),
                srgb_from_linear(mean(2)),
                ((alpha + 2) / 4) as u8,
            ]);
        }
    }
    Image::from_pixels(width, height, pixels)
}

/// The image and its ever smaller copies.
fn pyramid(image: &Image, longest: usize) -> Vec<Image> {
    let linear_of: [f32; 256] = std::array::from_fn(|i| linear_from_srgb(i as u8));
    let mut top = image.clone();
    while top.width().max(top.height()) > longest {
        top = halved(&top, &linear_of);
    }
    let mut levels = vec![top];
    while let Some(last) = levels.last().filter(|l| l.width().max(l.height()) > 1) {
        let next = halved(last, &linear_of);
        levels.push(next);
    }
    levels
}

fn upload(gpu: &Gpu, image: &Image) -> Result<wgpu::TextureView, RenderError> {
    let most = gpu.device().limits().max_texture_dimension_2d as usize;
    let levels = pyramid(image, LONGEST_SIDE.min(most));
    let size = |i: &Image| wgpu::Extent3d {
        width: i.width() as u32,
        height: i.height() as u32,
        depth_or_array_layers: 1,
    };
    Ok(gpu.scoped("a base colour texture", |device| {
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("base colour"),
            size: size(&levels[0]),
            mip_level_count: levels.len() as u32,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8UnormSrgb,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        for (level, image) in levels.iter().enumerate() {
            gpu.queue().write_texture(
                wgpu::TexelCopyTextureInfo {
                    texture: &texture,
                    mip_level: level as u32,
                    origin: wgpu::Origin3d::ZERO,
                    aspect: wgpu::TextureAspect::All,
                },
                image.pixels().as_flattened(),
                wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(4 * image.width() as u32),
                    rows_per_image: None,
                },
                size(image),
            );
        }
        texture.create_view(&wgpu::TextureViewDescriptor::default())
    })?)
}
