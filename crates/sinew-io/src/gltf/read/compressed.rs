//! `EXT_meshopt_compression` and `KHR_meshopt_compression`: buffer views in meshoptimizer's codecs.

use super::document::Document;
use crate::IoError;
use bytemuck::{Pod, Zeroable};
use serde::Deserialize;
use serde_json::Value;

/// The extension object of a view.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compression {
    buffer: usize,
    #[serde(default)]
    byte_offset: u64,
    byte_length: u64,
    byte_stride: usize,
    count: usize,
    mode: String,
    filter: Option<String>,
}

/// One element of `4 * N` bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
struct Element<const N: usize>([u32; N]);

impl<const N: usize> Default for Element<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

/// Decompresses view `index`. Checks lengths first: meshoptimizer's decoders accept untrusted streams, but trust the
/// counts and strides of the caller.
pub(super) fn decode(doc: &Document, index: usize, extension: &Value) -> Result<Vec<u8>, IoError> {
    let location = format!("bufferViews[{index}].extensions.EXT_meshopt_compression");
    let wrong = |found: String, expected: &str| {
        doc.malformed(location.as_str(), found, expected.to_owned())
    };
    let c = Compression::deserialize(extension)
        .map_err(|e| wrong(e.to_string(), "buffer, byteLength, byteStride, count, mode"))?;
    let encoded = doc.buffer_range(&location, c.buffer, c.byte_offset, c.byte_length)?;
    let (stride, count) = (c.byte_stride, c.count);
    let stated = doc.root.buffer_views[index].byte_length.0;
    let length = count.checked_mul(stride);
    if length.is_none_or(|l| l as u64 != stated) {
        return Err(wrong(
            format!("{count} elements of {stride} bytes"),
            &format!("the {stated} bytes of the view"),
        ));
    }
    // The densest streams of the codecs. More elements would only be allocated, not decoded.
    let (stride_ok, most) = match c.mode.as_str() {
        "ATTRIBUTES" => (
            stride > 0 && stride % 4 == 0 && stride <= 256,
            attributes_limit(encoded.len(), stride),
        ),
        "TRIANGLES" => (
            (stride == 2 || stride == 4) && count % 3 == 0,
            encoded.len().saturating_sub(17).saturating_mul(3),
        ),
        "INDICES" => (stride == 2 || stride == 4, encoded.len().saturating_sub(5)),
        other => {
            return Err(wrong(
                format!("mode {other:?}"),
                "ATTRIBUTES, TRIANGLES or INDICES",
            ));
        }
    };
    if !stride_ok {
        return Err(wrong(
            format!("{count} elements of stride {stride} in mode {}", c.mode),
            "a count and stride that are valid for the mode",
        ));
    }
    if count > most {
        return Err(wrong(
            format!("{count} elements in {} bytes", encoded.len()),
            &format!("at most {most} elements"),
        ));
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    // Views may share a stream.
    doc.spend(&location, count, stride)?;
    let decoded = match (c.mode.as_str(), stride) {
        ("TRIANGLES", 2) => meshopt::decode_index_buffer::<u16>(encoded, count).map(to_bytes),
        ("TRIANGLES", _) => meshopt::decode_index_buffer::<u32>(encoded, count).map(to_bytes),
        ("INDICES", 2) => meshopt::decode_index_sequence::<u16>(encoded, count).map(to_bytes),
        ("INDICES", _) => meshopt::decode_index_sequence::<u32>(encoded, count).map(to_bytes),
        _ => decode_attributes(encoded, stride, count),
    };
    let mut bytes =
        decoded.map_err(|e| wrong(format!("a damaged stream ({e})"), "a meshoptimizer stream"))?;
    let filter = c.filter.as_deref().unwrap_or("NONE");
    if !apply_filter(filter, stride, &mut bytes) {
        return Err(wrong(
            format!("filter {filter:?} on elements of {stride} bytes"),
            "NONE, OCTAHEDRAL, QUATERNION, EXPONENTIAL or COLOR with a valid stride",
        ));
    }
    Ok(bytes)
}

/// Version 1 of the vertex codec needs at least two bits per byte plane and block.
fn attributes_limit(encoded: usize, stride: usize) -> usize {
    if stride == 0 {
        return 0;
    }
    let block = ((8192 / stride) & !15).clamp(16, 256);
    (encoded / (stride.div_ceil(4))).saturating_mul(block)
}

fn to_bytes<T: Pod>(values: Vec<T>) -> Vec<u8> {
    bytemuck::cast_slice(&values).to_vec()
}

fn decode_attributes(encoded: &[u8], stride: usize, count: usize) -> meshopt::Result<Vec<u8>> {
    macro_rules! by_stride {
        ($($words:literal)*) => {
            match stride / 4 {
                $($words => meshopt::decode_vertex_buffer::<Element<$words>>(encoded, count).map(to_bytes),)*
                // The stride check excludes this.
                _ => Ok(Vec::new()),
            }
        };
    }
    by_stride!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
        33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64)
}

/// Applies the inverse filter in place; false if filter and stride do not match.
fn apply_filter(filter: &str, stride: usize, bytes: &mut Vec<u8>) -> bool {
    /// Through a copy, as the bytes need not be aligned.
    fn with<T: Pod>(bytes: &mut Vec<u8>, filter: impl Fn(&mut [T])) {
        let mut values: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
        filter(&mut values);
        bytes.clear();
        bytes.extend_from_slice(bytemuck::cast_slice(&values));
    }
    match (filter, stride) {
        ("NONE", _) => {}
        ("OCTAHEDRAL", 4) => with::<[u8; 4]>(bytes, meshopt::decode_filter_oct),
        ("OCTAHEDRAL", 8) => with::<[u16; 4]>(bytes, meshopt::decode_filter_oct),
        ("QUATERNION", 8) => with::<[i16; 4]>(bytes, meshopt::decode_filter_quat),
        ("EXPONENTIAL", s) if s % 4 == 0 => with::<[u32; 1]>(bytes, meshopt::decode_filter_exp),
        ("COLOR", 4) => with::<[u8; 4]>(bytes, meshopt::decode_filter_color),
        ("COLOR", 8) => with::<[u16; 4]>(bytes, meshopt::decode_filter_color),
        _ => return false,
    }
    true
}
