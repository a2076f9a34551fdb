//! One texture: what it holds, how numbers become its bytes, and its rows.

use crate::layout::Layout;
use crate::quantity::Quantity;
use crate::texel::{Range, TexelFormat};
use serde::{Deserialize, Serialize};

/// One texture of a bake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextureSpec {
    /// What it holds.
    pub quantity: Quantity,
    /// How a channel is stored.
    pub format: TexelFormat,
    /// From texel to value, one for each channel.
    pub ranges: Vec<Range>,
}

/// Least and most of each channel of a quantity over any number of frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extent {
    /// Lowest value of each channel.
    pub least: Vec<f32>,
    /// Highest value of each channel.
    pub most: Vec<f32>,
}

impl Extent {
    /// The same for all channels.
    pub fn between(least: f32, most: f32, channels: usize) -> Self {
        Self {
            least: vec![least; channels],
            most: vec![most; channels],
        }
    }

    /// Of no values: whatever comes makes it larger.
    pub fn nothing(channels: usize) -> Self {
        Self::between(f32::MAX, f32::MIN, channels)
    }

    /// Takes a value of each channel.
    pub fn take(&mut self, values: impl IntoIterator<Item = f32>) {
        let ends = self.least.iter_mut().zip(&mut self.most);
        for ((least, most), value) in ends.zip(values) {
            (*least, *most) = (least.min(value), most.max(value));
        }
    }

    /// Takes all that another one is of.
    pub fn join(&mut self, other: &Self) {
        let least = self.least.iter_mut().zip(&other.least);
        least.for_each(|(a, b)| *a = a.min(*b));
        let most = self.most.iter_mut().zip(&other.most);
        most.for_each(|(a, b)| *a = a.max(*b));
    }
}

impl TextureSpec {
    /// For a quantity with that extent.
    pub fn new(quantity: Quantity, format: TexelFormat, extent: &Extent) -> Self {
        let channels = extent.least.iter().zip(&extent.most);
        let range = |(least, most): (&f32, &f32)| match &quantity {
            Quantity::Normal | Quantity::Rotation | Quantity::Tangent => match format.is_float() {
                true => Range::RAW,
                false => Range::DIRECTION,
            },
            other => Range::covering(*least, *most, format, other.zero_is_exact()),
        };
        Self {
            ranges: channels.map(range).collect(),
            format,
            quantity,
        }
    }

    /// Bytes of one vertex.
    pub fn vertex_bytes(&self) -> usize {
        self.ranges.len() * self.format.bytes()
    }

    /// Channels of its files, which have one, three or four: what is more than the quantity has is zero.
    pub fn stored_channels(&self) -> usize {
        match self.ranges.len() {
            2 => 3,
            other => other,
        }
    }

    /// Value of one channel from the bytes of a vertex.
    pub fn decode(&self, vertex: &[u8], channel: usize) -> f32 {
        let size = self.format.bytes();
        let bytes = vertex.get(channel * size..).unwrap_or(&[]);
        let range = self.ranges.get(channel).copied().unwrap_or(Range::RAW);
        range.value(self.format.decode(bytes))
    }

    fn encode(&self, channel: usize, value: f32, out: &mut Vec<u8>) {
        let range = self.ranges.get(channel).copied().unwrap_or(Range::RAW);
        self.format.encode(range.texel(value), out);
    }
}

/// The texels of one frame: for each texture the bytes of all its vertices, from `value(quantity, vertex, channel)`.
pub fn encode_vertices(
    textures: &[TextureSpec],
    vertices: usize,
    value: impl Fn(&Quantity, usize, usize) -> f32,
) -> Vec<Vec<u8>> {
    let encode = |texture: &TextureSpec| {
        let mut out = Vec::with_capacity(vertices * texture.vertex_bytes());
        for vertex in 0..vertices {
            for channel in 0..texture.ranges.len() {
                let value = value(&texture.quantity, vertex, channel);
                texture.encode(channel, value, &mut out);
            }
        }
        out
    };
    textures.iter().map(encode).collect()
}

/// A whole texture, row by row, `vertex_bytes` a texel, zeros where nothing is.
///
/// `frame` gives the bytes of a frame as [`encode_vertices`] made them.
pub fn texture_rows<'a>(
    layout: &Layout,
    vertex_bytes: usize,
    frame: impl Fn(u32) -> &'a [u8],
) -> Vec<u8> {
    let row_bytes = layout.size[0] as usize * vertex_bytes;
    let mut out = vec![0; layout.size[1] as usize * row_bytes];
    let pieces = (0..layout.size[1]).flat_map(|y| layout.row(y).map(move |piece| (y, piece)));
    for (y, piece) in pieces {
        let bytes = frame(piece.frame);
        let from = piece.vertices.start as usize * vertex_bytes;
        let to = piece.vertices.end as usize * vertex_bytes;
        let at = y as usize * row_bytes + piece.x as usize * vertex_bytes;
        if let Some(source) = bytes.get(from..to) {
            out[at..at + source.len()].copy_from_slice(source);
        }
    }
    out
}
