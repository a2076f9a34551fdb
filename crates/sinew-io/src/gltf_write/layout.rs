//! Accessors and buffer views, planned before anything is written, and their bytes.

use super::geometry::{Part, finite, normals, tangents};
use super::{FrameInterpolation, GLTF_THICKNESS};
use crate::bytes::{put_f32s, put_u32s};
use crate::{CachedMesh, FrameCache};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;
const VERTICES: u32 = 34962;
const TRIANGLES: u32 = 34963;
const POINTS: u32 = 0;
const LINES: u32 = 1;

/// The parts of a glTF document that describe its binary chunk, and the content of the chunk.
#[derive(Default)]
pub(super) struct Document<'a> {
    views: Vec<Value>,
    accessors: Vec<Value>,
    length: u64,
    blocks: Vec<Block<'a>>,
    /// Attributes and targets by mesh, vertex range and flatness. Parts with the same key share them.
    written: BTreeMap<([usize; 3], bool), (Value, Value)>,
}

/// Something in the binary chunk.
enum Block<'a> {
    Indices(Part<'a>),
    Vertices {
        mesh: usize,
        part: Part<'a>,
        /// How each attribute of each target is stored, target by target.
        storage: Vec<Storage>,
    },
    Animation {
        times: Vec<f32>,
    },
    Bytes(Vec<u8>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Storage {
    Nothing,
    Dense,
    Sparse,
}

/// One attribute of one frame of a part.
struct Channel {
    name: String,
    /// Numbers per vertex.
    width: usize,
    data: Vec<f32>,
    /// True if morph targets contain it.
    morphs: bool,
}

impl Channel {
    /// Numbers per vertex in a morph target: tangents without their sign.
    fn target_width(&self) -> usize {
        if self.name == "TANGENT" {
            3
        } else {
            self.width
        }
    }

    /// Difference of `frame` to this frame.
    fn delta(&self, frame: &Self) -> Vec<f32> {
        let rows = self
            .data
            .chunks_exact(self.width)
            .zip(frame.data.chunks_exact(self.width));
        // Adding zero turns -0.0 into 0.0.
        rows.flat_map(|(a, b)| {
            a.iter()
                .zip(b)
                .take(self.target_width())
                .map(|(a, b)| finite(b - a) + 0.0)
        })
        .collect()
    }
}

/// The attributes of one frame. Texture coordinates and further colours only for frame 0.
fn channels(cached: &CachedMesh<'_>, part: &Part<'_>, frame: usize) -> io::Result<Vec<Channel>> {
    let range = part.vertices.clone();
    let data = cached.frames[frame].range(range.clone())?;
    let channel = |name: &str, width, data, morphs| Channel {
        name: name.into(),
        width,
        data,
        morphs,
    };
    let mut out = vec![channel(
        "POSITION",
        3,
        data.positions.as_flattened().to_vec(),
        true,
    )];
    let lit = cached.mesh.topology.strands().is_none() && !part.flat_shaded;
    if lit && (cached.has_normals() || !cached.mesh.topology.triangles().is_empty()) {
        let normals = normals(cached, &data, part);
        let t = data.tangents.as_ref().filter(|_| cached.has_tangents());
        let t = t.map(|t| tangents(t, &normals).as_flattened().to_vec());
        out.push(channel("NORMAL", 3, normals.as_flattened().to_vec(), true));
        out.extend(t.map(|t| channel("TANGENT", 4, t, true)));
    }
    let clamped = |c: &[[f32; 4]]| {
        c.as_flattened()
            .iter()
            .map(|c| finite(*c).clamp(0.0, 1.0))
            .collect()
    };
    let animated = cached.has_colors();
    if let Some(c) = data.colors.as_ref().filter(|_| animated) {
        out.push(channel("COLOR_0", 4, clamped(c), part.colors_vary));
    }
    if frame == 0 {
        for (s, uvs) in cached.mesh.uvs.iter().enumerate() {
            let data = uvs[range.clone()]
                .as_flattened()
                .iter()
                .map(|c| finite(*c))
                .collect();
            out.push(channel(&format!("TEXCOORD_{s}"), 2, data, false));
        }
        for (s, colors) in cached
            .mesh
            .colors
            .iter()
            .enumerate()
            .skip(usize::from(animated))
        {
            out.push(channel(
                &format!("COLOR_{s}"),
                4,
                clamped(&colors[range.clone()]),
                false,
            ));
        }
        if let Some(all) = cached.mesh.strand_thickness() {
            let data = all[range].iter().map(|t| finite(*t)).collect();
            out.push(channel(GLTF_THICKNESS, 1, data, false));
        }
    }
    Ok(out)
}

/// Index type for `count` items; its largest value is reserved.
fn index_type(count: usize) -> (u32, usize) {
    if count <= 0xffff { (U16, 2) } else { (U32, 4) }
}

impl<'a> Document<'a> {
    fn view(&mut self, bytes: usize, target: Option<u32>) -> usize {
        let mut view = json!({ "buffer": 0, "byteOffset": self.length, "byteLength": bytes });
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.length += bytes.next_multiple_of(4) as u64;
        self.views.push(view);
        self.views.len() - 1
    }

    fn accessor(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds file bytes, such as an image; returns the view.
    pub(super) fn bytes(&mut self, bytes: Vec<u8>) -> usize {
        let view = self.view(bytes.len(), None);
        self.blocks.push(Block::Bytes(bytes));
        view
    }

    /// Plans a primitive of a mesh with its targets; returns its JSON.
    pub(super) fn primitive(
        &mut self,
        (cache, mesh): (&FrameCache<'_>, usize),
        part: &Part<'a>,
        material: Option<usize>,
    ) -> io::Result<Value> {
        let count = part.vertices.len();
        let mut primitive = json!({ "attributes": {} });
        let indices = part.triangles.len() * 3 + part.lines.len() * 2;
        if part.triangles.is_empty() {
            let mode = if indices == 0 { POINTS } else { LINES };
            primitive["mode"] = mode.into();
        }
        if indices > 0 {
            let (kind, size) = index_type(count);
            self.blocks.push(Block::Indices(part.clone()));
            let view = self.view(indices * size, Some(TRIANGLES));
            primitive["indices"] = self
                .accessor(json!({ "bufferView": view, "componentType": kind, "count": indices, "type": "SCALAR" }))
                .into();
        }
        if let Some(material) = material {
            primitive["material"] = material.into();
        }
        let range = [mesh, part.vertices.start, part.vertices.end];
        let key = (range, part.flat_shaded);
        let (attributes, targets) = match self.written.get(&key) {
            Some(written) => written.clone(),
            None => {
                let written = self.vertices(cache, mesh, part)?;
                self.written.insert(key, written.clone());
                written
            }
        };
        primitive["attributes"] = attributes;
        if !targets.is_null() {
            primitive["targets"] = targets;
        }
        Ok(primitive)
    }

    /// Plans the attributes and targets of the vertices of a part.
    fn vertices(
        &mut self,
        cache: &FrameCache<'_>,
        mesh: usize,
        part: &Part<'a>,
    ) -> io::Result<(Value, Value)> {
        let cached = &cache.meshes[mesh];
        let count = part.vertices.len();
        let mut attributes = json!({});
        let base = channels(cached, part, 0)?;
        for c in &base {
            let view = self.view(c.data.len() * 4, Some(VERTICES));
            let mut accessor = vector_accessor(c.width, count);
            accessor["bufferView"] = view.into();
            if c.name == "POSITION" {
                set_bounds(&mut accessor, &c.data, c.width);
            }
            attributes[c.name.as_str()] = self.accessor(accessor).into();
        }
        let mut storage = Vec::new();
        let mut targets = Vec::new();
        for k in 1..cached.frames.len() {
            let frame = channels(cached, part, k)?;
            let mut target = json!({});
            for (c, f) in base.iter().zip(&frame).filter(|(c, _)| c.morphs) {
                let (how, accessor) = self.target(c, &c.delta(f), count);
                storage.push(how);
                target[c.name.as_str()] = accessor.into();
            }
            targets.push(target);
        }
        let part = part.clone();
        self.blocks.push(Block::Vertices {
            mesh,
            part,
            storage,
        });
        let targets = (!targets.is_empty()).then_some(targets);
        Ok((attributes, targets.into()))
    }

    /// Plans one attribute of a target in its smallest form.
    fn target(&mut self, channel: &Channel, delta: &[f32], count: usize) -> (Storage, usize) {
        let width = channel.target_width();
        let mut accessor = vector_accessor(width, count);
        if channel.name == "POSITION" {
            set_bounds(&mut accessor, delta, width);
        }
        let moved = delta.chunks_exact(width).filter(|d| is_moved(d)).count();
        let (kind, size) = index_type(count);
        let sparse_bytes = (moved * size).next_multiple_of(4) + moved * width * 4;
        let how = if moved == 0 {
            Storage::Nothing
        } else if sparse_bytes < count * width * 4 {
            let indices = self.view(moved * size, None);
            let values = self.view(moved * width * 4, None);
            accessor["sparse"] = json!({
                "count": moved,
                "indices": { "bufferView": indices, "componentType": kind },
                "values": { "bufferView": values },
            });
            Storage::Sparse
        } else {
            accessor["bufferView"] = self.view(count * width * 4, Some(VERTICES)).into();
            Storage::Dense
        };
        (how, self.accessor(accessor))
    }

    /// Plans the animation that shows one frame after the other on the first `nodes` nodes.
    pub(super) fn animation(
        &mut self,
        times: &[f32],
        nodes: usize,
        interpolation: FrameInterpolation,
    ) -> Value {
        let (keys, targets) = (times.len(), times.len() - 1);
        let view = self.view(keys * 4, None);
        let mut input =
            json!({ "bufferView": view, "componentType": F32, "count": keys, "type": "SCALAR" });
        set_bounds(&mut input, times, 1);
        let input = self.accessor(input);
        let view = self.view(keys * targets * 4, None);
        let output = self
            .accessor(json!({ "bufferView": view, "componentType": F32, "count": keys * targets, "type": "SCALAR" }));
        self.blocks.push(Block::Animation {
            times: times.to_vec(),
        });
        let interpolation = match interpolation {
            FrameInterpolation::Step => "STEP",
            FrameInterpolation::Linear => "LINEAR",
        };
        let channels: Vec<Value> = (0..nodes)
            .map(|n| json!({ "sampler": 0, "target": { "node": n, "path": "weights" } }))
            .collect();
        json!([{
            "name": "frames",
            "samplers": [{ "input": input, "output": output, "interpolation": interpolation }],
            "channels": channels,
        }])
    }

    /// Moves the description into the document; returns the length of the binary chunk.
    pub(super) fn finish(&mut self, root: &mut Value) -> u64 {
        if self.length > 0 {
            root["buffers"] = json!([{ "byteLength": self.length }]);
            root["bufferViews"] = std::mem::take(&mut self.views).into();
        }
        if !self.accessors.is_empty() {
            root["accessors"] = std::mem::take(&mut self.accessors).into();
        }
        self.length
    }

    /// Writes everything planned, in the same order.
    pub(super) fn write_binary(
        &self,
        out: &mut impl Write,
        cache: &FrameCache<'_>,
    ) -> io::Result<()> {
        for block in &self.blocks {
            match block {
                Block::Indices(part) => write_indices(out, part)?,
                Block::Vertices {
                    mesh,
                    part,
                    storage,
                } => {
                    write_vertices(out, &cache.meshes[*mesh], part, storage)?;
                }
                Block::Animation { times } => {
                    put_f32s(out, times)?;
                    let mut row = vec![0.0; times.len() - 1];
                    for k in 0..times.len() {
                        row.fill(0.0);
                        if k > 0 {
                            row[k - 1] = 1.0;
                        }
                        put_f32s(out, &row)?;
                    }
                }
                Block::Bytes(bytes) => {
                    out.write_all(bytes)?;
                    pad(out, bytes.len())?;
                }
            }
        }
        Ok(())
    }
}

fn write_indices(out: &mut impl Write, part: &Part<'_>) -> io::Result<()> {
    let start = part.vertices.start as u32;
    let corners = part.triangles.iter().flatten();
    let corners = corners.chain(part.lines.iter().flatten());
    let corners: Vec<u32> = corners.map(|v| v - start).collect();
    put_indices(out, &corners, part.vertices.len())
}

fn write_vertices(
    out: &mut impl Write,
    cached: &CachedMesh<'_>,
    part: &Part<'_>,
    storage: &[Storage],
) -> io::Result<()> {
    let count = part.vertices.len();
    let base = channels(cached, part, 0)?;
    base.iter().try_for_each(|c| put_f32s(out, &c.data))?;
    let mut storage = storage.iter();
    for k in 1..cached.frames.len() {
        let frame = channels(cached, part, k)?;
        for ((c, f), how) in base
            .iter()
            .zip(&frame)
            .filter(|(c, _)| c.morphs)
            .zip(&mut storage)
        {
            let delta = if *how == Storage::Nothing {
                Vec::new()
            } else {
                c.delta(f)
            };
            if *how == Storage::Dense {
                put_f32s(out, &delta)?;
                continue;
            }
            let moved = || {
                (0_u32..)
                    .zip(delta.chunks_exact(c.target_width()))
                    .filter(|d| is_moved(d.1))
            };
            put_indices(out, &moved().map(|d| d.0).collect::<Vec<_>>(), count)?;
            moved().try_for_each(|d| put_f32s(out, d.1))?;
        }
    }
    Ok(())
}

fn is_moved(delta: &[f32]) -> bool {
    delta.iter().any(|c| *c != 0.0)
}

/// Indices below `count`, padded to four bytes.
fn put_indices(out: &mut impl Write, indices: &[u32], count: usize) -> io::Result<()> {
    if index_type(count).1 == 4 {
        return put_u32s(out, indices);
    }
    let bytes: Vec<u8> = indices
        .iter()
        .flat_map(|i| (*i as u16).to_le_bytes())
        .collect();
    out.write_all(&bytes)?;
    pad(out, bytes.len())
}

fn pad(out: &mut impl Write, written: usize) -> io::Result<()> {
    out.write_all(&[0; 3][..written.next_multiple_of(4) - written])
}

fn vector_accessor(width: usize, count: usize) -> Value {
    let kind = match width {
        1 => "SCALAR".to_owned(),
        _ => format!("VEC{width}"),
    };
    json!({ "componentType": F32, "count": count, "type": kind })
}

/// Exact bounds of the stored numbers.
fn set_bounds(accessor: &mut Value, numbers: &[f32], width: usize) {
    let mut low: Vec<f32> = numbers.iter().take(width).copied().collect();
    let mut high = low.clone();
    for row in numbers.chunks_exact(width) {
        for ((low, high), n) in low.iter_mut().zip(&mut high).zip(row) {
            *low = low.min(*n);
            *high = high.max(*n);
        }
    }
    let exact = |bounds: Vec<f32>| bounds.into_iter().map(f64::from).collect::<Vec<_>>();
    accessor["min"] = exact(low).into();
    accessor["max"] = exact(high).into();
}
