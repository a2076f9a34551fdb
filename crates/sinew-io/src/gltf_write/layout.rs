//! Accessors and buffer views, and their bytes, which wait on disk until the document is complete.

use super::blocks::{Block, EXTENSION};
use super::forms::{Base, Form, Places};
use super::geometry::{self, Part, finite, normals};
use super::{FrameInterpolation, GLTF_THICKNESS, GlbCompression};
use crate::bytes::put_f32s;
use crate::spool::ByteSpool;
use crate::{CachedMesh, FrameCache, IoError};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

const U8: u32 = 5121;
const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;
const VERTICES: u32 = 34962;
const TRIANGLES: u32 = 34963;
const POINTS: u32 = 0;
const LINES: u32 = 1;

/// The parts of a glTF document that describe its binary chunk, and the content of the chunk, which waits on disk.
pub(super) struct Document {
    compression: GlbCompression,
    views: Vec<Value>,
    accessors: Vec<Value>,
    content: ByteSpool,
    /// Length of the buffer that compressed views decode to.
    decoded: u64,
    /// Largest error of a position in metres.
    error: f64,
    /// Attributes and targets by mesh, vertex range, flatness and tangents. Parts with the same key share them.
    written: BTreeMap<([usize; 3], [bool; 2]), (Value, Value)>,
    /// The first failure of [`Self::bytes`].
    failed: Option<io::Error>,
}

/// A part of a mesh in the file.
pub(super) struct Written<'p> {
    pub(super) part: &'p Part<'p>,
    /// Index of the material in the file.
    pub(super) material: Option<usize>,
    /// True if the material reads tangents.
    pub(super) tangents: bool,
    pub(super) places: &'p Places,
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
}

/// The attributes of one frame. Texture coordinates and further colours only for frame 0.
fn channels(
    cached: &CachedMesh<'_>,
    Written { part, tangents, .. }: &Written<'_>,
    frame: usize,
) -> io::Result<Vec<Channel>> {
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
        let t = data.tangents.as_ref();
        let t = t.filter(|_| *tangents && cached.has_tangents());
        let t = t.map(|t| geometry::tangents(t, &normals).as_flattened().to_vec());
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

impl Document {
    /// For a file at `path`.
    pub(super) fn new(path: &Path, compression: GlbCompression) -> Result<Self, IoError> {
        Ok(Self {
            compression,
            views: Vec::new(),
            accessors: Vec::new(),
            content: ByteSpool::beside(path)?,
            decoded: 0,
            error: 0.0,
            written: BTreeMap::new(),
            failed: None,
        })
    }

    /// Length of the binary chunk so far.
    pub(super) fn len(&self) -> u64 {
        self.content.len()
    }

    /// Largest distance in metres of a position in the file to the true one. Zero without compression.
    pub(super) fn error(&self) -> f64 {
        self.error
    }

    fn compressed(&self) -> bool {
        self.compression == GlbCompression::Meshopt
    }

    /// Writes the content of a view.
    fn view(&mut self, block: &Block, target: Option<u32>) -> io::Result<usize> {
        let (offset, length) = (self.content.len(), block.bytes.len());
        self.content.write_all(&block.bytes)?;
        pad(&mut self.content, length)?;
        let mut view = json!({ "buffer": 0, "byteOffset": offset, "byteLength": length });
        if let Some(packed) = &block.packed {
            view = json!({ "buffer": 1, "byteOffset": self.decoded, "byteLength": packed.decoded_len() });
            view["extensions"][EXTENSION] = packed.extension(offset, length);
            self.decoded += packed.decoded_len().next_multiple_of(4) as u64;
        }
        if let Some(stride) = block.stride {
            view["byteStride"] = stride.into();
        }
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.views.push(view);
        Ok(self.views.len() - 1)
    }

    fn accessor(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds file bytes, such as an image; returns the view. A failure appears in [`Self::finish`].
    pub(super) fn bytes(&mut self, bytes: Vec<u8>) -> usize {
        self.view(&Block::plain(bytes), None).unwrap_or_else(|e| {
            self.failed.get_or_insert(e);
            0
        })
    }

    /// Writes a primitive of a mesh with its targets; returns its JSON.
    pub(super) fn primitive(
        &mut self,
        (cache, mesh): (&FrameCache<'_>, usize),
        written: &Written<'_>,
    ) -> io::Result<Value> {
        let part = written.part;
        let mut primitive = json!({ "attributes": {} });
        let start = part.vertices.start as u32;
        let corners = part.triangles.iter().flatten();
        let corners = corners.chain(part.lines.iter().flatten());
        let corners: Vec<u32> = corners.map(|v| v - start).collect();
        if part.triangles.is_empty() {
            let mode = if corners.is_empty() { POINTS } else { LINES };
            primitive["mode"] = mode.into();
        }
        if !corners.is_empty() {
            let triangles = !part.triangles.is_empty() && part.lines.is_empty();
            let (kind, size) = index_type(part.vertices.len());
            let count = part.vertices.len();
            let block = Block::indices(&corners, size, count, triangles, self.compressed())?;
            let view = self.view(&block, Some(TRIANGLES))?;
            primitive["indices"] = self
                .accessor(json!({ "bufferView": view, "componentType": kind, "count": corners.len(), "type": "SCALAR" }))
                .into();
        }
        if let Some(material) = written.material {
            primitive["material"] = material.into();
        }
        let range = [mesh, part.vertices.start, part.vertices.end];
        let key = (range, [part.flat_shaded, written.tangents]);
        let (attributes, targets) = match self.written.get(&key) {
            Some(known) => known.clone(),
            None => {
                let both = self.vertices(&cache.meshes[mesh], written)?;
                self.written.insert(key, both.clone());
                both
            }
        };
        primitive["attributes"] = attributes;
        if !targets.is_null() {
            primitive["targets"] = targets;
        }
        Ok(primitive)
    }

    /// Writes the attributes and targets of the vertices of a part.
    fn vertices(
        &mut self,
        cached: &CachedMesh<'_>,
        written: &Written<'_>,
    ) -> io::Result<(Value, Value)> {
        let mut attributes = json!({});
        let channels_0 = channels(cached, written, 0)?;
        let mut base = Vec::new();
        for c in &channels_0 {
            let coded = self.base(c, written.places);
            let block = Block::vertices(coded.form, &coded.stored, c.width, self.compressed())?;
            let mut accessor = vector_accessor(coded.form, c.width, written.part.vertices.len());
            if c.name == "POSITION" {
                set_bounds(&mut accessor, &coded.stored, c.width);
                let read = coded.stored.iter().map(|n| coded.form.read(*n));
                self.judge(written.places, read, &c.data);
            }
            accessor["bufferView"] = self.view(&block, Some(VERTICES))?.into();
            attributes[c.name.as_str()] = self.accessor(accessor).into();
            base.push(coded);
        }
        let both: Vec<(&Channel, &Base)> = channels_0.iter().zip(&base).collect();
        let mut targets = Vec::new();
        for k in 1..cached.frames.len() {
            let frame = channels(cached, written, k)?;
            targets.push(self.target(&both, &frame, written)?);
        }
        let targets = (!targets.is_empty()).then_some(targets);
        Ok((attributes, targets.into()))
    }

    fn base(&self, channel: &Channel, places: &Places) -> Base {
        let form = Form::of_base(self.compression, &channel.name, &channel.data, places);
        let data = match channel.name.as_str() {
            "POSITION" => places.local(&channel.data),
            _ => channel.data.clone(),
        };
        Base::new(form, data)
    }

    /// Compares positions as a reader gets them with the true ones.
    fn judge(&mut self, places: &Places, read: impl Iterator<Item = f32>, positions: &[f32]) {
        if self.compression != GlbCompression::None {
            self.error = self.error.max(places.error(read, positions));
        }
    }

    /// Writes a target, sparse if that is smaller: then its attributes share their indices.
    fn target(
        &mut self,
        base: &[(&Channel, &Base)],
        frame: &[Channel],
        written: &Written<'_>,
    ) -> io::Result<Value> {
        let count = written.part.vertices.len();
        let mut deltas = Vec::new();
        for ((c, base), f) in base.iter().zip(frame).filter(|((c, _), _)| c.morphs) {
            let width = c.target_width();
            let widths = [c.width, width];
            let (form, stored) = if c.name == "POSITION" {
                let local = written.places.local(&f.data);
                let (form, stored) = base.deltas(&c.name, self.compression, &local, widths);
                let from = base.stored.iter().map(|n| base.form.read(*n));
                let read = from.zip(&stored).map(|(p, d)| p + form.read(*d));
                self.judge(written.places, read, &f.data);
                (form, stored)
            } else {
                base.deltas(&c.name, self.compression, &f.data, widths)
            };
            let mut accessor = vector_accessor(form, width, count);
            if c.name == "POSITION" {
                set_bounds(&mut accessor, &stored, width);
            }
            deltas.push(Deltas {
                name: &c.name,
                form,
                width,
                stored,
                accessor,
            });
        }
        self.put_target(deltas, count)
    }

    fn put_target(&mut self, mut deltas: Vec<Deltas<'_>>, count: usize) -> io::Result<Value> {
        let compressed = self.compressed();
        let moving = |d: &Deltas<'_>| d.stored.iter().any(|n| *n != 0.0);
        let moving: Vec<bool> = deltas.iter().map(moving).collect();
        let moved = |v: &u32| deltas.iter().any(|d| d.row(*v).iter().any(|n| *n != 0.0));
        let moved: Vec<u32> = (0..count as u32).filter(moved).collect();
        let (kind, size) = index_type(count);
        let indices = Block::indices(&moved, size, count, false, compressed)?;
        let (mut dense, mut sparse) = (Vec::new(), Vec::new());
        for (d, _) in deltas.iter().zip(&moving).filter(|(_, moving)| **moving) {
            let rows = moved.iter().flat_map(|v| d.row(*v).iter().copied());
            sparse.push(Block::rows(d.form, rows, d.width, compressed)?);
            dense.push(Block::vertices(d.form, &d.stored, d.width, compressed)?);
        }
        let total = |blocks: &[Block]| blocks.iter().map(Block::len).sum::<usize>();
        let is_sparse = total(&sparse) + indices.len() < total(&dense);
        let blocks = if is_sparse { sparse } else { dense };
        let mut shared = None;
        let moving = deltas.iter_mut().zip(&moving).filter(|(_, m)| **m);
        for ((d, _), block) in moving.zip(&blocks) {
            if !is_sparse {
                d.accessor["bufferView"] = self.view(block, Some(VERTICES))?.into();
                continue;
            }
            let indices = match shared {
                Some(view) => view,
                None => *shared.insert(self.view(&indices, None)?),
            };
            d.accessor["sparse"] = json!({
                "count": moved.len(),
                "indices": { "bufferView": indices, "componentType": kind },
                "values": { "bufferView": self.view(block, None)? },
            });
        }
        let accessors = deltas
            .into_iter()
            .map(|d| (d.name.to_owned(), self.accessor(d.accessor).into()));
        Ok(Value::Object(accessors.collect()))
    }

    /// Writes the animation that shows one frame after the other on the first `nodes` nodes.
    pub(super) fn animation(
        &mut self,
        name: &str,
        times: &[f32],
        nodes: usize,
        interpolation: FrameInterpolation,
    ) -> io::Result<Value> {
        let keys = times.len();
        let mut bytes = Vec::new();
        put_f32s(&mut bytes, times)?;
        let view = self.view(&Block::plain(bytes), None)?;
        let mut input =
            json!({ "bufferView": view, "componentType": F32, "count": keys, "type": "SCALAR" });
        set_bounds(&mut input, times, 1);
        let input = self.accessor(input);
        let output = self.weights(keys)?;
        let interpolation = match interpolation {
            FrameInterpolation::Step => "STEP",
            FrameInterpolation::Linear => "LINEAR",
        };
        let channels: Vec<Value> = (0..nodes)
            .map(|n| json!({ "sampler": 0, "target": { "node": n, "path": "weights" } }))
            .collect();
        Ok(json!([{
            "name": name,
            "samplers": [{ "input": input, "output": output, "interpolation": interpolation }],
            "channels": channels,
        }]))
    }

    /// Writes the weights of each key: floats, or in a compressed file bytes, which are exact for 0 and 1.
    fn weights(&mut self, keys: usize) -> io::Result<usize> {
        let targets = keys - 1;
        let count = keys * targets;
        let mut accessor = json!({ "componentType": F32, "count": count, "type": "SCALAR" });
        let one_at = |k: usize| (0..targets).map(move |t| t + 1 == k);
        let view = if self.compression == GlbCompression::None {
            let (offset, length) = (self.content.len(), count * 4);
            for k in 0..keys {
                let row: Vec<f32> = one_at(k).map(|one| f32::from(u8::from(one))).collect();
                put_f32s(&mut self.content, &row)?;
            }
            self.views
                .push(json!({ "buffer": 0, "byteOffset": offset, "byteLength": length }));
            self.views.len() - 1
        } else {
            accessor["componentType"] = U8.into();
            accessor["normalized"] = true.into();
            let all = (0..keys).flat_map(one_at);
            let mut bytes: Vec<u8> = all.map(|one| if one { 255 } else { 0 }).collect();
            bytes.resize(count.next_multiple_of(4), 0);
            let block = match self.compressed() {
                true => Block::attributes(&bytes, 4, None)?,
                false => Block::plain(bytes),
            };
            self.view(&block, None)?
        };
        accessor["bufferView"] = view.into();
        Ok(self.accessor(accessor))
    }

    /// Moves the description into the document; returns the binary chunk.
    pub(super) fn finish(self, root: &mut Value) -> io::Result<ByteSpool> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.content.len() > 0 {
            let mut buffers = vec![json!({ "byteLength": self.content.len() })];
            if self.decoded > 0 {
                let mut fallback = json!({ "byteLength": self.decoded });
                fallback["extensions"][EXTENSION]["fallback"] = true.into();
                buffers.push(fallback);
            }
            root["buffers"] = buffers.into();
            root["bufferViews"] = self.views.into();
        }
        if !self.accessors.is_empty() {
            root["accessors"] = self.accessors.into();
        }
        Ok(self.content)
    }
}

/// An attribute of a target.
struct Deltas<'c> {
    name: &'c str,
    form: Form,
    width: usize,
    stored: Vec<f32>,
    accessor: Value,
}

impl Deltas<'_> {
    fn row(&self, vertex: u32) -> &[f32] {
        let start = vertex as usize * self.width;
        &self.stored[start..start + self.width]
    }
}

fn pad(out: &mut impl Write, written: usize) -> io::Result<()> {
    out.write_all(&[0; 3][..written.next_multiple_of(4) - written])
}

fn vector_accessor(form: Form, width: usize, count: usize) -> Value {
    let kind = match width {
        1 => "SCALAR".to_owned(),
        _ => format!("VEC{width}"),
    };
    let mut out = json!({ "componentType": form.component(), "count": count, "type": kind });
    if form.one().is_some() {
        out["normalized"] = true.into();
    }
    out
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
