//! From a scene to draws: uniforms and bind groups.

use crate::error::RenderError;
use crate::hair::{DrawnHair, drawn};
use crate::lines::FLOATS;
use crate::materials::Materials;
use crate::pipelines::Layouts;
use crate::scene::{Layer, Lighting, LinesLook, Paint, Scene, SurfaceLook, ValueScale};
use crate::surface::{Floats, Part, Surface};
use crate::targets::Fixed;
use crate::view::ViewUniforms;
use sinew_geom::{AlphaMode, Material};
use sinew_gpu::{Buffer, BufferUse, Gpu, wgpu};
use sinew_picture::ColorMap;
use std::ops::Range;

sinew_deform::uniform_struct! {
    /// `Surface` of surface.wgsl.
    #[derive(Default)]
    struct SurfaceUniforms {
        base_color: [f32; 4],
        image_from_uv: [[f32; 4]; 2],
        wire: [f32; 4],
        value_min: f32,
        value_max: f32,
        value_scale: f32,
        alpha_cutoff: f32,
        has: u32,
        first_position: u32,
        first_normal: u32,
        first_color: u32,
        first_value: u32,
        unused: [u32; 3],
    }
}

const HAS_NORMALS: u32 = 1;
const HAS_UVS: u32 = 2;
const HAS_COLORS: u32 = 4;

sinew_deform::uniform_struct! {
    /// `Style` of line.wgsl.
    struct LineUniforms {
        width: f32,
        alpha: f32,
        first_line: u32,
        nearer: f32,
    }
}

sinew_deform::uniform_struct! {
    /// `Style` of hair.wgsl.
    struct HairUniforms {
        segments: u32,
        unused0: u32,
        unused1: u32,
        unused2: u32,
    }
}

/// Lines are drawn this part of their depth nearer, so that they win against the surface they lie on.
const LINE_NEARER: f32 = 2e-3;
/// Translucent surfaces are not there at all below this alpha.
const FAINTEST: f32 = 0.02;

/// One draw of a surface or of lines.
#[derive(Debug)]
pub(crate) struct Draw {
    pub(crate) kind: DrawKind,
    pub(crate) variant: Variant,
    pub(crate) layer: Layer,
    pub(crate) bind_group: wgpu::BindGroup,
    /// Bytes into the uniforms.
    pub(crate) offset: u32,
    pub(crate) vertices: Range<u32>,
}

/// Variant of the surface shader: the `override`s of surface.wgsl.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Variant {
    pub(crate) paint: u32,
    pub(crate) lighting: u32,
    pub(crate) is_textured: bool,
    pub(crate) is_cut: bool,
    pub(crate) is_wired: bool,
    pub(crate) is_translucent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DrawKind {
    Surface,
    Translucent,
    Lines,
    LinesBehind,
    Hair,
}

/// Uniforms of all draws, each at the alignment of the device.
struct Uniforms {
    bytes: Vec<u8>,
    stride: usize,
}

impl Uniforms {
    fn push<T: bytemuck::Pod>(&mut self, value: &T) -> u32 {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(bytemuck::bytes_of(value));
        self.bytes.resize(offset + self.stride, 0);
        offset as u32
    }
}

/// Everything that draws need besides the scene.
pub(crate) struct Builder<'a> {
    pub(crate) gpu: &'a Gpu,
    pub(crate) layouts: &'a Layouts,
    pub(crate) fixed: &'a Fixed,
    pub(crate) maps: &'a [(ColorMap, wgpu::TextureView)],
    /// Stands for buffers that a surface does not have.
    pub(crate) nothing: &'a Buffer<u32>,
}

impl Builder<'_> {
    /// All draws of a scene, in order.
    pub(crate) fn draws(
        &self,
        scene: &Scene<'_>,
        view: &ViewUniforms,
    ) -> Result<Vec<Draw>, RenderError> {
        let stride = self
            .gpu
            .device()
            .limits()
            .min_uniform_buffer_offset_alignment as usize;
        let mut uniforms = Uniforms {
            bytes: Vec::new(),
            stride: stride.max(size_of::<SurfaceUniforms>().next_multiple_of(stride.max(1))),
        };
        let mut surfaces = Vec::new();
        for look in &scene.surfaces {
            for part in &look.surface.parts {
                let (values, texture) = self.surface_uniforms(look, part)?;
                surfaces.push((look, part, texture, uniforms.push(&values)));
            }
        }
        let mut lines = Vec::new();
        for look in &scene.lines {
            for (kind, alpha) in [(DrawKind::LinesBehind, look.behind), (DrawKind::Lines, 1.0)] {
                if alpha > 0.0 && !look.lines.is_empty() {
                    lines.push((look, kind, uniforms.push(&line_uniforms(look, alpha))));
                }
            }
        }
        let hair = self.hair(scene, view, &mut uniforms)?;
        uniforms.bytes.resize(uniforms.bytes.len().max(stride), 0);
        let buffer = Buffer::from_slice(self.gpu, "draws", &uniforms.bytes, BufferUse::Uniform)?;
        Ok(self.gpu.scoped("bind groups", |device| {
            let mut out = Vec::new();
            for (look, part, texture, offset) in surfaces {
                out.push(Draw {
                    kind: kind_of(look, part),
                    variant: variant_of(look, part, texture.is_some()),
                    layer: look.layer,
                    bind_group: self.surface_group(device, &buffer, look, texture),
                    offset,
                    vertices: 3 * part.triangles.start..3 * part.triangles.end,
                });
            }
            // What shines through comes after what does not.
            out.sort_by_key(|d| d.kind == DrawKind::Translucent);
            for (look, kind, offset) in lines {
                out.push(Draw {
                    kind,
                    variant: Variant::default(),
                    layer: look.layer,
                    bind_group: self.line_group(device, &buffer, &look.lines.buffer),
                    offset,
                    vertices: 0..6 * look.lines.count,
                });
            }
            out.extend(hair.map(|(words, offset, segments)| Draw {
                kind: DrawKind::Hair,
                variant: Variant::default(),
                layer: Layer::Scene,
                bind_group: self.line_group(device, &buffer, &words),
                offset,
                vertices: 0..6 * segments,
            }));
            out
        })?)
    }

    /// Uploads all hair, lit and in order: its words, the offset of its uniforms, its segments. `None` without hair.
    fn hair(
        &self,
        scene: &Scene<'_>,
        view: &ViewUniforms,
        uniforms: &mut Uniforms,
    ) -> Result<Option<(Buffer<u32>, u32, u32)>, RenderError> {
        let DrawnHair { words, segments } = match scene.hair.iter().all(|h| h.is_empty()) {
            true => return Ok(None),
            false => drawn(&scene.hair, view),
        };
        let offset = uniforms.push(&HairUniforms {
            segments,
            unused0: 0,
            unused1: 0,
            unused2: 0,
        });
        let words = Buffer::from_slice(self.gpu, "hair", &words, BufferUse::Drawn)?;
        Ok(Some((words, offset, segments)))
    }

    /// The uniforms of a part and its texture, if it has one.
    fn surface_uniforms<'b>(
        &self,
        look: &SurfaceLook<'b>,
        part: &Part,
    ) -> Result<(SurfaceUniforms, Option<Sampled<'b>>), RenderError> {
        let surface = look.surface;
        let mut out = SurfaceUniforms {
            base_color: [1.0; 4],
            first_position: surface.positions.first,
            ..SurfaceUniforms::default()
        };
        if let Some(wire) = look.wireframe {
            let [r, g, b] = wire.color;
            out.wire = [r, g, b, wire.width];
        }
        if let Some(normals) = &surface.normals {
            out.first_normal = normals.first;
        }
        // Without normals smooth ones are there, from float 0 on; flat parts are shown with those of triangles.
        if !part.is_flat && (surface.normals.is_some() || surface.smooth.is_some()) {
            out.has |= HAS_NORMALS;
        }
        let colors = surface.shown_colors(matches!(look.paint, Paint::Colors));
        if let Some(colors) = colors {
            (out.has, out.first_color) = (out.has | HAS_COLORS, colors.first);
        }
        let texture = apply_paint(&mut out, look, part)?;
        Ok((out, texture))
    }

    fn or_nothing<'b>(&'b self, floats: Option<&'b Floats>) -> wgpu::BufferBinding<'b> {
        floats.map_or(self.nothing, |f| &f.buffer).binding()
    }

    fn surface_group(
        &self,
        device: &wgpu::Device,
        uniforms: &Buffer<u8>,
        look: &SurfaceLook<'_>,
        texture: Option<Sampled<'_>>,
    ) -> wgpu::BindGroup {
        let surface = look.surface;
        let smooth = surface.smooth.as_ref().map(|s| s.normals.binding());
        let normals = match (&surface.normals, smooth) {
            (Some(normals), _) => normals.buffer.binding(),
            (None, smooth) => smooth.unwrap_or_else(|| self.nothing.binding()),
        };
        let uv_set = texture.as_ref().map_or(0, |t| t.uv_set);
        let uvs = surface.uvs.get(uv_set).unwrap_or(self.nothing).binding();
        let values = match look.paint {
            Paint::Distance { .. } => self.or_nothing(surface.other_positions.as_ref()),
            _ => self.or_nothing(surface.values.as_ref()),
        };
        let (image, sampler) = match &texture {
            Some(t) => (t.view, t.sampler),
            None => (&self.fixed.blank, &self.fixed.plain_sampler),
        };
        let map = scale_of(look.paint)
            .and_then(|s| self.maps.iter().find(|m| m.0 == s.map))
            .map_or(&self.fixed.blank, |m| &m.1);
        let buffers = [
            surface.indices.binding(),
            surface.positions.buffer.binding(),
            normals,
            uvs,
            self.or_nothing(surface.shown_colors(matches!(look.paint, Paint::Colors))),
            values,
        ];
        let mut entries = vec![uniform_entry::<SurfaceUniforms>(uniforms)];
        entries.extend(
            buffers
                .into_iter()
                .zip(1..)
                .map(|(b, binding)| wgpu::BindGroupEntry {
                    binding,
                    resource: wgpu::BindingResource::Buffer(b),
                }),
        );
        entries.extend([
            view_entry(7, map),
            view_entry(8, image),
            wgpu::BindGroupEntry {
                binding: 9,
                resource: wgpu::BindingResource::Sampler(sampler),
            },
        ]);
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(surface.name()),
            layout: &self.layouts.surface,
            entries: &entries,
        })
    }

    fn line_group(
        &self,
        device: &wgpu::Device,
        uniforms: &Buffer<u8>,
        words: &Buffer<u32>,
    ) -> wgpu::BindGroup {
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("lines"),
            layout: &self.layouts.lines,
            entries: &[
                uniform_entry::<LineUniforms>(uniforms),
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: wgpu::BindingResource::Buffer(words.binding()),
                },
            ],
        })
    }
}

/// A texture of a part.
#[derive(Clone, Copy)]
struct Sampled<'a> {
    view: &'a wgpu::TextureView,
    sampler: &'a wgpu::Sampler,
    uv_set: usize,
}

fn uniform_entry<T>(uniforms: &Buffer<u8>) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry {
        binding: 0,
        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: uniforms.raw(),
            offset: 0,
            size: wgpu::BufferSize::new(size_of::<T>() as u64),
        }),
    }
}

pub(crate) fn view_entry(binding: u32, view: &wgpu::TextureView) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry {
        binding,
        resource: wgpu::BindingResource::TextureView(view),
    }
}

/// The constants `PAINT_..` and `LIGHTING_..` of surface.wgsl.
fn paint_number(paint: &Paint<'_>) -> u32 {
    match paint {
        Paint::Plain(_) => 0,
        Paint::Material(_) => 1,
        Paint::Colors => 2,
        Paint::Checker => 3,
        Paint::Values(_) => 4,
        Paint::Distance { .. } => 5,
        Paint::Normals => 6,
    }
}

fn lighting_number(lighting: Lighting) -> u32 {
    match lighting {
        Lighting::Studio => 0,
        Lighting::Soft => 1,
        Lighting::Matcap => 2,
        Lighting::Flat => 3,
    }
}

/// The colour map of a paint, if it has one.
pub(crate) fn scale_of(paint: Paint<'_>) -> Option<ValueScale> {
    match paint {
        Paint::Values(scale) | Paint::Distance { scale, .. } => Some(scale),
        _ => None,
    }
}

fn material<'a>(look: &SurfaceLook<'a>, part: &Part) -> Option<(&'a Materials, &'a Material)> {
    match look.paint {
        Paint::Material(materials) => {
            let material = materials.materials.get(part.material?)?;
            Some((materials, material))
        }
        _ => None,
    }
}

fn kind_of(look: &SurfaceLook<'_>, part: &Part) -> DrawKind {
    let blends = |m: &Material| m.alpha == AlphaMode::Blend;
    let translucent = match look.paint {
        Paint::Plain([_, _, _, alpha]) => alpha < 1.0,
        _ => material(look, part).is_some_and(|(_, m)| blends(m)),
    };
    if translucent {
        DrawKind::Translucent
    } else {
        DrawKind::Surface
    }
}

fn variant_of(look: &SurfaceLook<'_>, part: &Part, is_textured: bool) -> Variant {
    let alpha = material(look, part).map_or(AlphaMode::Opaque, |(_, m)| m.alpha);
    Variant {
        paint: paint_number(&look.paint),
        lighting: lighting_number(look.lighting),
        is_textured,
        is_cut: alpha != AlphaMode::Opaque,
        is_wired: look.wireframe.is_some(),
        is_translucent: kind_of(look, part) == DrawKind::Translucent,
    }
}

fn line_uniforms(look: &LinesLook<'_>, alpha: f32) -> LineUniforms {
    debug_assert_eq!(FLOATS, 10, "as line.wgsl counts");
    LineUniforms {
        width: look.width,
        alpha,
        first_line: look.lines.first,
        nearer: LINE_NEARER,
    }
}

/// Writes what depends on the paint; gives the texture of the part.
fn apply_paint<'a>(
    out: &mut SurfaceUniforms,
    look: &SurfaceLook<'a>,
    part: &Part,
) -> Result<Option<Sampled<'a>>, RenderError> {
    let surface = look.surface;
    if let Some(scale) = scale_of(look.paint) {
        (out.value_min, out.value_max) = (scale.min, scale.max);
    }
    let (what, there) = match look.paint {
        Paint::Plain(color) => {
            out.base_color = color;
            return Ok(None);
        }
        Paint::Normals => return Ok(None),
        Paint::Material(_) => return Ok(apply_material(out, look, part)),
        Paint::Colors => ("colors", surface.shown_colors(true).map(|_| 0)),
        Paint::Checker => {
            out.image_from_uv = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]];
            out.has |= HAS_UVS;
            ("texture coordinates", surface.uvs.first().map(|_| 0))
        }
        Paint::Values(_) => ("values", surface.values.as_ref().map(|v| v.first)),
        Paint::Distance { factor, .. } => {
            out.value_scale = factor;
            let first = surface.other_positions.as_ref().map(|v| v.first);
            ("other positions", first)
        }
    };
    out.first_value = there.ok_or_else(|| missing(surface, what))?;
    Ok(None)
}

fn missing(surface: &Surface, what: &'static str) -> RenderError {
    RenderError::Missing {
        surface: surface.name().to_owned(),
        what,
    }
}

fn apply_material<'a>(
    out: &mut SurfaceUniforms,
    look: &SurfaceLook<'a>,
    part: &Part,
) -> Option<Sampled<'a>> {
    let Some((materials, material)) = material(look, part) else {
        if let (Paint::Plain(clay), None) = (Paint::CLAY, &look.surface.colors) {
            out.base_color = clay;
        }
        return None;
    };
    out.base_color = material.base_color;
    out.alpha_cutoff = match material.alpha {
        AlphaMode::Opaque => 0.0,
        AlphaMode::Mask(cutoff) => cutoff,
        AlphaMode::Blend => FAINTEST,
    };
    let (texture, view, sampler) = materials.texture(material)?;
    look.surface.uvs.get(texture.uv_set)?;
    let row = |[a, b, c]: [f32; 3]| [a, b, c, 0.0];
    out.image_from_uv = texture.image_from_uv.map(row);
    out.has |= HAS_UVS;
    Some(Sampled {
        view,
        sampler,
        uv_set: texture.uv_set,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hair::POINT_WORDS;
    use crate::tests::{checked, constant, surface_module};
    use sinew_deform::UniformLayout;
    use sinew_gpu::test_support::assert_layout;

    #[test]
    fn uniforms_lie_as_the_shaders_say() {
        let surface = UniformLayout::of::<SurfaceUniforms>();
        assert_layout(&surface_module(), "Surface", &surface);
        let text = crate::pipelines::whole_text(include_str!("wgsl/line.wgsl"));
        let line = UniformLayout::of::<LineUniforms>();
        assert_layout(&checked(&text), "Style", &line);
        let text = crate::pipelines::whole_text(include_str!("wgsl/hair.wgsl"));
        let hair = UniformLayout::of::<HairUniforms>();
        let module = checked(&text);
        assert_layout(&module, "Style", &hair);
        let words = POINT_WORDS as u32;
        assert_eq!(constant(&module, "POINT_WORDS"), words);
    }

    #[test]
    fn numbers_are_those_of_the_shader() {
        let module = surface_module();
        let scale = ValueScale {
            min: 0.0,
            max: 1.0,
            map: ColorMap::Viridis,
        };
        let distance = Paint::Distance { scale, factor: 1.0 };
        for (name, paint) in [
            ("PAINT_PLAIN", Paint::CLAY),
            ("PAINT_COLORS", Paint::Colors),
            ("PAINT_CHECKER", Paint::Checker),
            ("PAINT_VALUES", Paint::Values(scale)),
            ("PAINT_DISTANCE", distance),
            ("PAINT_NORMALS", Paint::Normals),
        ] {
            assert_eq!(constant(&module, name), paint_number(&paint), "{name}");
        }
        assert_eq!(
            constant(&module, "PAINT_MATERIAL"),
            1,
            "materials need a device"
        );
        for (name, lighting) in [
            ("LIGHTING_STUDIO", Lighting::Studio),
            ("LIGHTING_SOFT", Lighting::Soft),
            ("LIGHTING_MATCAP", Lighting::Matcap),
            ("LIGHTING_FLAT", Lighting::Flat),
        ] {
            assert_eq!(constant(&module, name), lighting_number(lighting), "{name}");
        }
        for (name, bit) in [
            ("HAS_NORMALS", HAS_NORMALS),
            ("HAS_UVS", HAS_UVS),
            ("HAS_COLORS", HAS_COLORS),
        ] {
            assert_eq!(constant(&module, name), bit, "{name}");
        }
    }
}
