//! Content of buffer views: plain bytes, or a stream of meshoptimizer's codecs (`EXT_meshopt_compression`).
//!
//! Streams have version 0 of the vertex codec and version 1 of the index codec, which that extension allows.

use super::forms::Form;
use serde_json::{Value, json};
use std::io;

pub(super) const EXTENSION: &str = "EXT_meshopt_compression";

/// Content of a view.
pub(super) struct Block {
    pub(super) bytes: Vec<u8>,
    /// Stride of the view, if its rows are padded or compressed vertices.
    pub(super) stride: Option<usize>,
    pub(super) packed: Option<Packed>,
}

/// What a stream decodes to.
pub(super) struct Packed {
    mode: &'static str,
    filter: Option<&'static str>,
    stride: usize,
    count: usize,
}

impl Packed {
    pub(super) fn decoded_len(&self) -> usize {
        self.stride * self.count
    }

    /// The extension object of a view whose stream is at `offset` of the first buffer.
    pub(super) fn extension(&self, offset: u64, length: usize) -> Value {
        let mut out = json!({
            "buffer": 0, "byteOffset": offset, "byteLength": length,
            "byteStride": self.stride, "count": self.count, "mode": self.mode,
        });
        if let Some(filter) = self.filter {
            out["filter"] = filter.into();
        }
        out
    }
}

impl Block {
    /// Bytes as they are.
    pub(super) fn plain(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            stride: None,
            packed: None,
        }
    }

    /// Vertex data of `width` numbers per vertex, padded to four bytes per vertex.
    pub(super) fn vertices(
        form: Form,
        stored: &[f32],
        width: usize,
        compressed: bool,
    ) -> io::Result<Self> {
        let row = width * form.size();
        let stride = row.next_multiple_of(4);
        let mut bytes = Vec::with_capacity(stored.len() / width * stride);
        for numbers in stored.chunks_exact(width) {
            numbers.iter().for_each(|n| form.put(*n, &mut bytes));
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        if compressed {
            let mut out = Self::attributes(&bytes, stride, filter(form))?;
            out.stride = Some(stride);
            return Ok(out);
        }
        Ok(Self {
            stride: (stride != row).then_some(stride),
            ..Self::plain(bytes)
        })
    }

    /// Values of a sparse accessor: rows without padding.
    pub(super) fn rows(
        form: Form,
        stored: impl Iterator<Item = f32>,
        width: usize,
        compressed: bool,
    ) -> io::Result<Self> {
        let mut bytes = Vec::new();
        stored.for_each(|n| form.put(n, &mut bytes));
        match compressed {
            true => Self::attributes(&bytes, width * form.size(), filter(form)),
            false => Ok(Self::plain(bytes)),
        }
    }

    /// Indices of `size` bytes each: triangles, or any others in their order.
    pub(super) fn indices(
        indices: &[u32],
        size: usize,
        vertex_count: usize,
        triangles: bool,
        compressed: bool,
    ) -> io::Result<Self> {
        if !compressed {
            let all = indices.iter();
            let bytes = all.flat_map(|i| i.to_le_bytes().into_iter().take(size));
            return Ok(Self::plain(bytes.collect()));
        }
        Ok(Self {
            bytes: codec::indices(indices, vertex_count, triangles)?,
            stride: None,
            packed: Some(Packed {
                mode: if triangles { "TRIANGLES" } else { "INDICES" },
                filter: None,
                stride: size,
                count: indices.len(),
            }),
        })
    }

    /// A stream of rows of 4 to 16 bytes, a multiple of 4.
    pub(super) fn attributes(
        bytes: &[u8],
        stride: usize,
        filter: Option<&'static str>,
    ) -> io::Result<Self> {
        Ok(Self {
            bytes: codec::attributes(bytes, stride)?,
            stride: None,
            packed: Some(Packed {
                mode: "ATTRIBUTES",
                filter,
                stride,
                count: bytes.len() / stride,
            }),
        })
    }

    /// Bytes in the file.
    pub(super) fn len(&self) -> usize {
        self.bytes.len().next_multiple_of(4)
    }
}

fn filter(form: Form) -> Option<&'static str> {
    matches!(form, Form::Steps(_)).then_some("EXPONENTIAL")
}

/// Encoders of meshoptimizer.
#[cfg(feature = "meshopt")]
mod codec {
    use std::io;

    pub(super) fn indices(
        indices: &[u32],
        vertex_count: usize,
        triangles: bool,
    ) -> io::Result<Vec<u8>> {
        let encoded = match triangles {
            true => meshopt::encode_index_buffer(indices, vertex_count),
            false => meshopt::encode_index_sequence(indices, vertex_count),
        };
        encoded.map_err(io::Error::other)
    }

    pub(super) fn attributes(bytes: &[u8], stride: usize) -> io::Result<Vec<u8>> {
        fn encode<const N: usize>(bytes: &[u8]) -> meshopt::Result<Vec<u8>> {
            // Other than version 0 needs KHR_meshopt_compression, which fewer readers know.
            meshopt::encode_vertex_buffer_level(bytes.as_chunks::<N>().0, 2, Some(0))
        }
        let encoded = match stride {
            4 => encode::<4>(bytes),
            8 => encode::<8>(bytes),
            12 => encode::<12>(bytes),
            16 => encode::<16>(bytes),
            _ => return Err(io::ErrorKind::Unsupported.into()),
        };
        encoded.map_err(io::Error::other)
    }
}

/// Never called: `write_glb` refuses compression in a build without the codecs.
#[cfg(not(feature = "meshopt"))]
mod codec {
    use std::io;

    pub(super) fn indices(_: &[u32], _: usize, _: bool) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn attributes(_: &[u8], _: usize) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
