//! Draws one picture: runs the passes in order and reads the pixels back.

use crate::draws::{Builder, Draw, DrawKind, Variant, scale_of, view_entry};
use crate::error::RenderError;
use crate::pipelines::{Pass, Pipelines};
use crate::scene::{Layer, Lighting, Scene, Shot};
use crate::targets::{Fixed, Targets, bare_shadow};
use crate::view::{ViewUniforms, shows_ground};
use sinew_geom::Image;
use sinew_gpu::{Buffer, BufferUse, Gpu, Readback, wgpu};
use sinew_picture::{ColorMap, linear_from_srgb, srgb_from_linear};

/// Draws scenes on one GPU device. It reuses textures, pipelines and memory from picture to picture.
#[derive(Debug)]
pub struct Renderer {
    gpu: Gpu,
    pipelines: Pipelines,
    fixed: Fixed,
    /// Of pictures with hair.
    bare_shadow: Option<wgpu::TextureView>,
    targets: Option<Targets>,
    maps: Vec<(ColorMap, wgpu::TextureView)>,
    nothing: Buffer<u32>,
    view: Buffer<ViewUniforms>,
    pixels: Option<Buffer<u32>>,
    readback: Readback,
}

impl Renderer {
    /// Creates a renderer on this device. To draw outputs of a graph without a copy, use the device of the graph.
    ///
    /// # Errors
    /// Limits, memory, lost devices.
    pub fn new(gpu: &Gpu) -> Result<Self, RenderError> {
        Ok(Self {
            gpu: gpu.clone(),
            pipelines: Pipelines::new(gpu)?,
            fixed: Fixed::new(gpu)?,
            bare_shadow: None,
            targets: None,
            maps: Vec::new(),
            nothing: Buffer::new(gpu, "nothing", 4, BufferUse::Drawn)?,
            view: Buffer::new(gpu, "view", 1, BufferUse::Uniform)?,
            pixels: None,
            readback: Readback::new(),
        })
    }

    /// Checks that the device can draw a picture of that size.
    ///
    /// # Errors
    /// [`RenderError::NoPixels`], sizes that the device does not allow.
    pub fn check_size(gpu: &Gpu, width: u32, height: u32) -> Result<(), RenderError> {
        crate::targets::check_size(gpu, [width, height])
    }

    /// Draws a picture and returns its pixels: sRGB with straight alpha. On one device, the same scene gives the same pixels.
    ///
    /// # Errors
    /// [`RenderError::NoPixels`], sizes that the device does not allow, [`RenderError::Missing`], memory, lost devices.
    pub fn render(&mut self, scene: &Scene<'_>, shot: &Shot) -> Result<Image, RenderError> {
        let view = ViewUniforms::new(scene, &effective(scene, shot));
        self.prepare(scene, shot, &view)?;
        let draws = self.draws(scene, &view)?;
        if self.bare_shadow.is_none() && draws.iter().any(is_hair) {
            self.bare_shadow = Some(bare_shadow(&self.gpu)?);
        }
        let shot = &effective(scene, shot);
        let passes = passes(scene, shot, &draws);
        self.pipelines.prepare(&self.gpu, &passes)?;
        let size = [shot.width, shot.height];
        let words_of_row = shot
            .width
            .next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT / 4);
        let words = words_of_row as usize * shot.height as usize;
        if self.pixels.as_ref().is_none_or(|p| p.len() != words) {
            self.pixels = Some(Buffer::new(&self.gpu, "pixels", words, BufferUse::Storage)?);
        }
        let mut readback = std::mem::take(&mut self.readback);
        let submission = self.gpu.submit("a picture", |encoder| {
            self.record(encoder, scene, shot, &draws)?;
            let (Some(targets), Some(pixels)) = (&self.targets, &self.pixels) else {
                return Ok(());
            };
            encoder.copy_texture_to_buffer(
                targets.picture.as_image_copy(),
                wgpu::TexelCopyBufferInfo {
                    buffer: pixels.raw(),
                    layout: wgpu::TexelCopyBufferLayout {
                        offset: 0,
                        bytes_per_row: Some(4 * words_of_row),
                        rows_per_image: None,
                    },
                },
                targets.picture.size(),
            );
            readback.record(&self.gpu, encoder, pixels, 0..words)
        })?;
        let mut rows = vec![[0_u8; 4]; words];
        let taken = readback.take(&self.gpu, &submission, &mut rows);
        self.readback = readback;
        taken?;
        Ok(image(size, words_of_row as usize, &rows))
    }

    /// Makes what this picture needs and is not there.
    fn prepare(
        &mut self,
        scene: &Scene<'_>,
        shot: &Shot,
        view: &ViewUniforms,
    ) -> Result<(), RenderError> {
        let size = [shot.width, shot.height];
        if self.targets.as_ref().is_none_or(|t| t.size != size) {
            self.targets = None;
            self.targets = Some(Targets::new(&self.gpu, size)?);
        }
        for scale in scene.surfaces.iter().filter_map(|s| scale_of(s.paint)) {
            if self.maps.iter().all(|m| m.0 != scale.map) {
                let map = color_map(&self.gpu, scale.map)?;
                self.maps.push((scale.map, map));
            }
        }
        self.view.write(&self.gpu, 0, &[*view])?;
        Ok(())
    }

    fn draws(&self, scene: &Scene<'_>, view: &ViewUniforms) -> Result<Vec<Draw>, RenderError> {
        let builder = Builder {
            gpu: &self.gpu,
            layouts: &self.pipelines.layouts,
            fixed: &self.fixed,
            maps: &self.maps,
            nothing: &self.nothing,
        };
        builder.draws(scene, view)
    }

    fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        scene: &Scene<'_>,
        shot: &Shot,
        draws: &[Draw],
    ) -> Result<(), sinew_gpu::GpuError> {
        let Some(targets) = &self.targets else {
            return Ok(());
        };
        for surface in scene.surfaces.iter().map(|s| s.surface) {
            if let (None, Some(smooth)) = (&surface.normals, &surface.smooth) {
                smooth.record(&self.gpu, encoder, &surface.positions, &surface.indices)?;
            }
        }
        let fixed = &self.fixed;
        let early = self.view_group(&fixed.blank_depths, &fixed.blank);
        let ground = shows_ground(scene, shot);
        let has_hair = draws.iter().any(is_hair);
        if shot.shadows {
            let mut pass = depth_pass(encoder, &fixed.shadow);
            pass.set_bind_group(0, &early, &[]);
            self.run(&mut pass, Pass::Shadow, draws, is_solid);
            self.run(&mut pass, Pass::HairShadow, draws, is_hair);
            drop(pass);
            if let Some(bare) = self.bare_shadow.as_ref().filter(|_| has_hair) {
                let mut pass = depth_pass(encoder, bare);
                pass.set_bind_group(0, &early, &[]);
                self.run(&mut pass, Pass::Shadow, draws, is_solid);
            }
        }
        if shot.occlusion {
            self.record_occlusion(encoder, targets, &early, draws, ground);
        }
        let view = self.view_group(&fixed.shadow, &targets.blurred);
        let mut pass = picture_pass(encoder, targets, false);
        pass.set_bind_group(0, &view, &[]);
        self.whole(&mut pass, Pass::Background, 3);
        // Surfaces first: what they hide of the ground need not be lit. Translucent ones come after it.
        self.layer(&mut pass, draws, Layer::Scene, DrawKind::Surface);
        if ground {
            self.whole(&mut pass, Pass::Ground, 6);
        }
        self.layer(&mut pass, draws, Layer::Scene, DrawKind::Translucent);
        if let Some(bare) = self.bare_shadow.as_ref().filter(|_| has_hair) {
            let bare = self.view_group(bare, &targets.blurred);
            pass.set_bind_group(0, &bare, &[]);
            self.layer(&mut pass, draws, Layer::Scene, DrawKind::Hair);
            pass.set_bind_group(0, &view, &[]);
        }
        self.layer(&mut pass, draws, Layer::Scene, DrawKind::LinesBehind);
        self.layer(&mut pass, draws, Layer::Scene, DrawKind::Lines);
        drop(pass);
        if draws.iter().any(|d| d.layer == Layer::Overlay) {
            let mut pass = picture_pass(encoder, targets, true);
            pass.set_bind_group(0, &view, &[]);
            for kind in KINDS {
                self.layer(&mut pass, draws, Layer::Overlay, kind);
            }
        }
        Ok(())
    }

    fn record_occlusion(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        targets: &Targets,
        early: &wgpu::BindGroup,
        draws: &[Draw],
        ground: bool,
    ) {
        let mut pass = normals_pass(encoder, targets);
        pass.set_bind_group(0, early, &[]);
        self.run(&mut pass, Pass::SurfaceNormals, draws, is_solid);
        if ground {
            self.whole(&mut pass, Pass::GroundNormals, 6);
        }
        drop(pass);
        for (which, from, into) in [
            (Pass::Occlusion, &targets.normals, &targets.occlusion),
            (Pass::Blur, &targets.occlusion, &targets.blurred),
        ] {
            let group = self.screen_group(&targets.depths, from);
            let mut pass = color_pass(encoder, into);
            pass.set_bind_group(0, early, &[]);
            pass.set_bind_group(1, &group, &[]);
            self.whole(&mut pass, which, 3);
        }
    }

    fn view_group(
        &self,
        shadow: &wgpu::TextureView,
        occlusion: &wgpu::TextureView,
    ) -> wgpu::BindGroup {
        let device = self.gpu.device();
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("view"),
            layout: &self.pipelines.layouts.view,
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: wgpu::BindingResource::Buffer(self.view.binding()),
                },
                view_entry(1, shadow),
                wgpu::BindGroupEntry {
                    binding: 2,
                    resource: wgpu::BindingResource::Sampler(&self.fixed.shadow_sampler),
                },
                view_entry(3, occlusion),
                wgpu::BindGroupEntry {
                    binding: 4,
                    resource: wgpu::BindingResource::Sampler(&self.fixed.linear_sampler),
                },
            ],
        })
    }

    fn screen_group(
        &self,
        depths: &wgpu::TextureView,
        from: &wgpu::TextureView,
    ) -> wgpu::BindGroup {
        let device = self.gpu.device();
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("screen"),
            layout: &self.pipelines.layouts.screen,
            entries: &[view_entry(0, depths), view_entry(1, from)],
        })
    }

    /// Draws what a pass draws by itself.
    fn whole(&self, pass: &mut wgpu::RenderPass<'_>, which: Pass, vertices: u32) {
        if let Some(pipeline) = self.pipelines.get(which, Variant::default()) {
            pass.set_pipeline(pipeline);
            pass.draw(0..vertices, 0..1);
        }
    }

    fn run(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        which: Pass,
        draws: &[Draw],
        takes: impl Fn(&Draw) -> bool,
    ) {
        for draw in draws.iter().filter(|d| takes(d) && !d.vertices.is_empty()) {
            let Some(pipeline) = self.pipelines.get(which, which.variant(draw.variant)) else {
                continue;
            };
            pass.set_pipeline(pipeline);
            pass.set_bind_group(1, &draw.bind_group, &[draw.offset]);
            pass.draw(draw.vertices.clone(), 0..1);
        }
    }

    fn layer(&self, pass: &mut wgpu::RenderPass<'_>, draws: &[Draw], layer: Layer, kind: DrawKind) {
        let which = pass_of(kind);
        self.run(pass, which, draws, |d| d.layer == layer && d.kind == kind);
    }
}

const KINDS: [DrawKind; 4] = [
    DrawKind::Surface,
    DrawKind::Translucent,
    DrawKind::LinesBehind,
    DrawKind::Lines,
];

fn pass_of(kind: DrawKind) -> Pass {
    match kind {
        DrawKind::Surface => Pass::Surface,
        DrawKind::Translucent => Pass::Translucent,
        DrawKind::Lines => Pass::Lines,
        DrawKind::LinesBehind => Pass::LinesBehind,
        DrawKind::Hair => Pass::Hair,
    }
}

/// What casts shadow and closes corners.
fn is_solid(draw: &Draw) -> bool {
    draw.layer == Layer::Scene && draw.kind == DrawKind::Surface
}

fn is_hair(draw: &Draw) -> bool {
    draw.kind == DrawKind::Hair
}

/// The shot without the work that nothing in the scene would show.
fn effective(scene: &Scene<'_>, shot: &Shot) -> Shot {
    let lit = |l: Lighting| matches!(l, Lighting::Studio | Lighting::Soft);
    let ground = shows_ground(scene, shot);
    let scene_surfaces = || scene.surfaces.iter().filter(|s| s.layer == Layer::Scene);
    let studio = scene_surfaces().any(|s| s.lighting == Lighting::Studio);
    Shot {
        shadows: shot.shadows && (studio || ground || !scene.hair.is_empty()),
        occlusion: shot.occlusion && (ground || scene_surfaces().any(|s| lit(s.lighting))),
        ..*shot
    }
}

/// The passes of a picture, for each kind of thing in it.
fn passes(scene: &Scene<'_>, shot: &Shot, draws: &[Draw]) -> Vec<(Pass, Variant)> {
    let whole = |pass| (pass, Variant::default());
    let mut out = vec![whole(Pass::Background)];
    let of_draw = |pass: Pass, d: &Draw| (pass, pass.variant(d.variant));
    for draw in draws {
        out.push(of_draw(pass_of(draw.kind), draw));
        if is_hair(draw) && shot.shadows {
            out.push(whole(Pass::HairShadow));
        }
        if is_solid(draw) && shot.shadows {
            out.push(of_draw(Pass::Shadow, draw));
        }
        if is_solid(draw) && shot.occlusion {
            out.push(of_draw(Pass::SurfaceNormals, draw));
        }
    }
    if shot.occlusion {
        out.extend([Pass::Occlusion, Pass::Blur].map(whole));
    }
    if shows_ground(scene, shot) {
        out.extend([Pass::Ground, Pass::GroundNormals].map(whole));
    }
    out
}

fn depths_cleared(view: &wgpu::TextureView) -> wgpu::RenderPassDepthStencilAttachment<'_> {
    wgpu::RenderPassDepthStencilAttachment {
        view,
        depth_ops: Some(wgpu::Operations {
            load: wgpu::LoadOp::Clear(1.0),
            store: wgpu::StoreOp::Store,
        }),
        stencil_ops: None,
    }
}

fn begin<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    label: &str,
    color: Option<wgpu::RenderPassColorAttachment<'_>>,
    depths: Option<&wgpu::TextureView>,
) -> wgpu::RenderPass<'a> {
    let colors: &[Option<wgpu::RenderPassColorAttachment<'_>>] = &[color];
    let colors = if colors[0].is_some() { colors } else { &[] };
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(label),
        color_attachments: colors,
        depth_stencil_attachment: depths.map(depths_cleared),
        ..wgpu::RenderPassDescriptor::default()
    })
}

fn depth_pass<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    depths: &wgpu::TextureView,
) -> wgpu::RenderPass<'a> {
    begin(encoder, "shadow", None, Some(depths))
}

fn cleared(view: &wgpu::TextureView) -> wgpu::RenderPassColorAttachment<'_> {
    wgpu::RenderPassColorAttachment {
        view,
        depth_slice: None,
        resolve_target: None,
        ops: wgpu::Operations {
            load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
            store: wgpu::StoreOp::Store,
        },
    }
}

fn normals_pass<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    targets: &Targets,
) -> wgpu::RenderPass<'a> {
    let color = cleared(&targets.normals);
    begin(encoder, "normals", Some(color), Some(&targets.depths))
}

fn color_pass<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    into: &wgpu::TextureView,
) -> wgpu::RenderPass<'a> {
    begin(encoder, "occlusion", Some(cleared(into)), None)
}

/// The picture itself; `again` keeps what is there and forgets its depths.
fn picture_pass<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    targets: &Targets,
    again: bool,
) -> wgpu::RenderPass<'a> {
    let mut color = cleared(&targets.samples);
    color.resolve_target = Some(&targets.resolved);
    if again {
        color.ops.load = wgpu::LoadOp::Load;
    }
    begin(
        encoder,
        "picture",
        Some(color),
        Some(&targets.sample_depths),
    )
}

/// The 256 colours of a map as a texture.
fn color_map(gpu: &Gpu, map: ColorMap) -> Result<wgpu::TextureView, RenderError> {
    let table: Vec<[u8; 4]> = map
        .table()
        .iter()
        .map(|&[r, g, b]| [r, g, b, 255])
        .collect();
    Ok(gpu.scoped("a colour map", |device| {
        let size = wgpu::Extent3d {
            width: 256,
            height: 1,
            depth_or_array_layers: 1,
        };
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some(map.name()),
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8UnormSrgb,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        gpu.queue().write_texture(
            texture.as_image_copy(),
            table.as_flattened(),
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(1024),
                rows_per_image: None,
            },
            size,
        );
        crate::targets::view(&texture)
    })?)
}

/// Rows without their padding, colours divided by alpha.
fn image([width, height]: [u32; 2], words_of_row: usize, rows: &[[u8; 4]]) -> Image {
    let (width, height) = (width as usize, height as usize);
    let mut pixels = Vec::with_capacity(width * height);
    for row in rows.chunks(words_of_row.max(1)).take(height) {
        pixels.extend(row[..width].iter().map(|&p| straight(p)));
    }
    Image::from_pixels(width, height, pixels)
}

/// Straight alpha from premultiplied; the product was made of linear values.
fn straight([r, g, b, alpha]: [u8; 4]) -> [u8; 4] {
    match alpha {
        255 => [r, g, b, 255],
        0 => [0; 4],
        _ => {
            let part = f32::from(alpha) / 255.0;
            let [r, g, b] = [r, g, b].map(|v| srgb_from_linear(linear_from_srgb(v) / part));
            [r, g, b, alpha]
        }
    }
}
