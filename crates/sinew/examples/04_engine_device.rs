//! An engine that shares its GPU device with Sinew: it makes device and queue itself, records Sinew's work and its own render pass into one
//! command encoder, and draws straight from Sinew's buffers. Nothing is read back but the last picture.
//!
//! ```sh
//! cargo run -p sinew --features gpu --example 04_engine_device -- [PICTURE.png]
//! ```
//!
//! Three creatures walk; each stands on the floor by the bounds that Sinew made on the device, and what moves fast is red.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use sinew::deform::Par;
use sinew::geom::{Asset, Image};
use sinew::gpu::{Gpu, GpuGraph, GpuInstances, GpuMeshOutput, wgpu};
use sinew::graph::{BoundGraph, Frame, InputBinding, InputType, NoNesting, compile};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const STACK: &str = r#"{
    "sinew": "1.0",
    "stack": ["skin", { "node": "delta_mush", "iterations": 8 }, "tangent_frames"]
}"#;
const SIZE: [u32; 2] = [960, 480];
const CHARACTERS: usize = 3;

fn main() -> Outcome {
    let engine = Engine::new()?;

    // Sinew takes the engine's device. What it makes there, the engine can bind.
    let gpu = Gpu::from_parts(engine.device.clone(), engine.queue.clone())?;
    let asset = sinew_samples::creature()?;
    let graph = GpuGraph::new(&gpu, &bound(&asset)?)?;
    let mut characters = graph.instances(CHARACTERS)?;
    characters.make_bounds()?;

    let scene = Scene::new(&engine, &asset, &characters)?;
    let clip = asset.clips.first();
    for number in 0..10_u8 {
        // Each character is at another time of the clip.
        let poses = [0.0, 0.35, 0.7].map(|ahead| {
            let mut pose = asset.rig.rest_pose();
            let time_secs = f64::from(number) / 30.0 + ahead;
            asset.rig.evaluate(clip, time_secs, &mut pose);
            pose
        });
        let frames = poses.each_ref().map(|pose| Frame::default().pose(pose));
        characters.send(&frames)?;
        let mut encoder = engine.device.create_command_encoder(&Default::default());
        characters.record(&mut encoder);
        // Current and previous change places with each frame: ask for the buffers behind `record`.
        let body = characters.mesh_output("body").ok_or("no output 'body'")?;
        scene.draw(&mut encoder, &body);
        engine.queue.submit([encoder.finish()]);
    }

    let path = std::env::args().nth(1);
    let path = path.unwrap_or_else(|| "engine.png".to_owned());
    sinew::io::write_png(Path::new(&path), &engine.picture()?)?;
    println!("{}: {path}", gpu.info().name);
    Ok(())
}

fn bound(asset: &Asset) -> Outcome<Arc<BoundGraph>> {
    let plan = Arc::new(compile("stack.json", STACK, &NoNesting)?);
    let mesh = Arc::new(asset.merged(&Default::default())?);
    let bind = |ty: InputType| match ty {
        InputType::Mesh | InputType::Strands => InputBinding::Mesh(mesh.clone()),
        InputType::Pose => InputBinding::Pose(asset.rig.clone()),
        InputType::Values | InputType::VertexAnimation => InputBinding::Values,
    };
    let inputs: Vec<InputBinding> = plan.inputs().iter().map(|i| bind(i.ty)).collect();
    Ok(Arc::new(BoundGraph::bind(plan, &inputs, &[], Par::Rayon)?))
}

/// What every engine has: a device, a queue, something to draw to.
struct Engine {
    device: wgpu::Device,
    queue: wgpu::Queue,
    color: wgpu::Texture,
    depth: wgpu::TextureView,
}

impl Engine {
    fn new() -> Outcome<Self> {
        let instance = wgpu::Instance::default();
        let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
        let (device, queue) =
            pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
                // All that the adapter can do: Sinew's kernels bind more buffers than WebGPU promises.
                required_limits: adapter.limits(),
                required_features: adapter.features() & Gpu::wanted_features(),
                ..Default::default()
            }))?;
        let texture = |format, usage| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d {
                    width: SIZE[0],
                    height: SIZE[1],
                    depth_or_array_layers: 1,
                },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: usage | wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            })
        };
        let color = texture(
            wgpu::TextureFormat::Rgba8UnormSrgb,
            wgpu::TextureUsages::COPY_SRC,
        );
        let depth = texture(
            wgpu::TextureFormat::Depth32Float,
            wgpu::TextureUsages::empty(),
        );
        Ok(Self {
            depth: depth.create_view(&Default::default()),
            color,
            device,
            queue,
        })
    }

    /// The only readback.
    fn picture(&self) -> Outcome<Image> {
        let [width, height] = SIZE;
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("picture"),
            size: u64::from(4 * width * height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_texture_to_buffer(
            self.color.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(4 * width),
                    rows_per_image: None,
                },
            },
            self.color.size(),
        );
        self.queue.submit([encoder.finish()]);
        buffer.map_async(wgpu::MapMode::Read, .., |_| {});
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let bytes = buffer.get_mapped_range(..)?;
        let (pixels, _) = bytes.as_chunks::<4>();
        Ok(Image::from_pixels(
            width as usize,
            height as usize,
            pixels.to_vec(),
        ))
    }
}

/// What the engine draws with.
struct Scene {
    pipeline: wgpu::RenderPipeline,
    bindings: wgpu::BindGroup,
    indices: wgpu::Buffer,
    index_count: u32,
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
}

impl Scene {
    fn new(engine: &Engine, asset: &Asset, characters: &GpuInstances) -> Outcome<Self> {
        let device = &engine.device;
        let mesh = asset.merged(&Default::default())?;
        let triangles = mesh.topology.triangles().as_flattened();
        let bytes: Vec<u8> = triangles.iter().flat_map(|i| i.to_ne_bytes()).collect();
        let indices = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("indices"),
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::INDEX | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        engine.queue.write_buffer(&indices, 0, &bytes);

        let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("scene"),
            source: wgpu::ShaderSource::Wgsl(include_str!("04_engine_device.wgsl").into()),
        });
        // Positions and normals: three floats a vertex, nothing in between.
        let attribute = |shader_location| {
            [wgpu::VertexAttribute {
                format: wgpu::VertexFormat::Float32x3,
                offset: 0,
                shader_location,
            }]
        };
        let attributes = [0, 1, 2].map(attribute);
        let layouts = attributes.each_ref().map(|attributes| {
            Some(wgpu::VertexBufferLayout {
                array_stride: 12,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes,
            })
        });
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("scene"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &shader,
                entry_point: Some("vertex"),
                compilation_options: Default::default(),
                buffers: &layouts,
            },
            primitive: Default::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: wgpu::TextureFormat::Depth32Float,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &shader,
                entry_point: Some("fragment"),
                compilation_options: Default::default(),
                targets: &[Some(wgpu::TextureFormat::Rgba8UnormSrgb.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        // Bounds stay in one buffer: bound once.
        let body = characters.mesh_output("body").ok_or("no output 'body'")?;
        let bounds = body.bounds.ok_or("make_bounds comes first")?;
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("scene"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource: wgpu::BindingResource::Buffer(bounds.binding()),
            }],
        });
        Ok(Self {
            pipeline,
            bindings,
            indices,
            index_count: u32::try_from(triangles.len())?,
            color: engine.color.create_view(&Default::default()),
            depth: engine.depth.clone(),
        })
    }

    fn draw(&self, encoder: &mut wgpu::CommandEncoder, body: &GpuMeshOutput<'_>) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("scene"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.color,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::WHITE),
                    store: wgpu::StoreOp::Store,
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(1.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bindings, &[]);
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.set_vertex_buffer(0, body.positions.raw().slice(..));
        pass.set_vertex_buffer(1, body.previous_positions.raw().slice(..));
        if let Some(normals) = body.normals {
            pass.set_vertex_buffer(2, normals.raw().slice(..));
        }
        // The characters' vertices lie one after another.
        for (character, first) in (0_u32..)
            .zip((0..).step_by(body.vertex_count))
            .take(CHARACTERS)
        {
            pass.draw_indexed(0..self.index_count, first, character..character + 1);
        }
    }
}
