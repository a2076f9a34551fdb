//! Writes scan lines to EXR files.

use super::{ExrCompression, unsupported};
use crate::fault::cannot_write;
use crate::{AtomicFile, IoError};
use exr::compression::Compression;
use exr::math::Vec2;
use exr::meta::attribute::{ChannelDescription, IntegerBounds, LineOrder, SampleType, Text};
use exr::meta::header::{Header, LayerAttributes};
use exr::meta::{BlockDescription, MetaData, magic_number};
use half::f16;
use std::io::{Seek, SeekFrom};
use std::path::Path;

/// An EXR file that is being written.
///
/// The crate `exr` requests all blocks inside a closure, but here the caller supplies rows one by one. Thus the crate
/// encodes header and blocks, and this file writes them.
#[derive(Debug)]
pub(super) struct ExrRows {
    file: AtomicFile,
    header: Header,
    /// For each channel of the file, sorted by name, its index in a texel of a row.
    sources: Vec<usize>,
    is_half: bool,
    /// Rows of an incomplete block, in file order.
    block: Vec<u8>,
    rows_in_block: usize,
    /// Rows in written blocks.
    rows_before: usize,
    /// Position of the block table, and its content.
    table_at: u64,
    table: Vec<u64>,
    /// Position of the next block.
    position: u64,
}

impl ExrRows {
    /// The caller has checked names and size.
    pub(super) fn new(
        mut file: AtomicFile,
        is_half: bool,
        packing: ExrCompression,
        size: [usize; 2],
        names: &[&str],
    ) -> Result<Self, IoError> {
        let path = file.path().to_owned();
        let mut sources: Vec<usize> = (0..names.len()).collect();
        sources.sort_by_key(|&channel| names[channel].as_bytes());
        let sorted: Vec<&str> = sources.iter().map(|&channel| names[channel]).collect();
        let header = header(is_half, packing, size, &sorted);
        let start = start_bytes(&header).map_err(|e| {
            let help = "reduce its size";
            unsupported(&path, "header", format!("this texture ({e})"), help)
        })?;
        file.put(&start)?;
        let table_at = start.len() as u64;
        // Written at the end.
        (0..header.chunk_count).try_for_each(|_| file.put(&[0; 8]))?;
        Ok(Self {
            position: table_at + 8 * header.chunk_count as u64,
            file,
            header,
            sources,
            is_half,
            block: Vec::new(),
            rows_in_block: 0,
            rows_before: 0,
            table_at,
            table: Vec::new(),
        })
    }

    pub(super) fn put(&mut self, row: &[f32], path: &Path) -> Result<(), IoError> {
        let texels = || row.chunks_exact(self.sources.len());
        for &channel in &self.sources {
            let numbers = texels().map(|texel| texel[channel]);
            if self.is_half {
                // Our own conversion instead of the CPU's, so that NaN are the same everywhere.
                let halves = numbers.map(f16::from_f32_const);
                self.block.extend(halves.flat_map(f16::to_ne_bytes));
            } else {
                self.block.extend(numbers.flat_map(f32::to_ne_bytes));
            }
        }
        self.rows_in_block += 1;
        let is_last = self.rows_before + self.rows_in_block == self.header.layer_size.height();
        if is_last || self.rows_in_block == self.header.compression.scan_lines_per_block() {
            self.put_block(path)?;
        }
        Ok(())
    }

    fn put_block(&mut self, path: &Path) -> Result<(), IoError> {
        let too_far = |_| cannot_write(path)(std::io::Error::other("a block of 2 GiB or more"));
        let y = i32::try_from(self.rows_before).map_err(too_far)?;
        let section =
            IntegerBounds::new((0, y), (self.header.layer_size.width(), self.rows_in_block));
        let rows = std::mem::take(&mut self.block);
        let length = rows.len();
        let packing = self.header.compression;
        let packed = packing
            .compress_image_section_to_le(&self.header, rows, section)
            .map_err(|e| cannot_write(path)(std::io::Error::other(e)))?;
        let packed_length = i32::try_from(packed.len()).map_err(too_far)?;
        self.file.put(&y.to_le_bytes())?;
        self.file.put(&packed_length.to_le_bytes())?;
        self.file.put(&packed)?;
        self.table.push(self.position);
        self.position += 8 + packed.len() as u64;
        self.rows_before += self.rows_in_block;
        self.rows_in_block = 0;
        self.block.reserve(length);
        Ok(())
    }

    pub(super) fn finish(mut self, path: &Path) -> Result<(), IoError> {
        let start = SeekFrom::Start(self.table_at);
        self.file.seek(start).map_err(cannot_write(path))?;
        let mut offsets = self.table.iter().map(|offset| offset.to_le_bytes());
        offsets.try_for_each(|offset| self.file.put(&offset))?;
        self.file.commit()
    }
}

fn header(is_half: bool, packing: ExrCompression, size: [usize; 2], names: &[&str]) -> Header {
    let number = if is_half {
        SampleType::F16
    } else {
        SampleType::F32
    };
    let channels = names
        .iter()
        .map(|&name| ChannelDescription::named(name, number));
    let packing = match packing {
        ExrCompression::None => Compression::Uncompressed,
        ExrCompression::Zip => Compression::ZIP16,
    };
    Header::new(Text::default(), Vec2(size[0], size[1]), channels.collect())
        // No name either: it is for files of several parts.
        .with_attributes(LayerAttributes::default())
        .with_encoding(packing, BlockDescription::ScanLines, LineOrder::Increasing)
}

/// Everything before the block table.
fn start_bytes(header: &Header) -> exr::error::Result<Vec<u8>> {
    let headers = std::slice::from_ref(header);
    let requirements = MetaData::validate(headers, true)?;
    let mut start = Vec::new();
    magic_number::write(&mut start)?;
    requirements.write(&mut start)?;
    Header::write_all(headers, &mut start, false)?;
    Ok(start)
}
