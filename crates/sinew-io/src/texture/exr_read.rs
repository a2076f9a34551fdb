//! Decodes blocks of EXR files to texels.
//!
//! The crate `exr` reads the header and unpacks blocks. This file locates the blocks with the offset table of the file,
//! and checks each offset against the file size. Thus single rows can be read, and no position that a block states is
//! trusted.

use super::{Claim, Texels, Texture, unsupported};
use crate::IoError;
use crate::fault::malformed;
use exr::compression::Compression;
use exr::error::Error;
use exr::math::Vec2;
use exr::meta::attribute::{ChannelDescription, IntegerBounds, SampleType};
use exr::meta::header::Header;
use exr::meta::{BlockDescription, MetaData};
use half::f16;
use std::io::Cursor;
use std::ops::Range;
use std::path::Path;

/// Order of channels with these names, if there are no others.
const USUAL: [&str; 5] = ["R", "G", "B", "Y", "A"];

/// Reads a whole EXR, or rows of it.
pub(super) fn read(
    bytes: &[u8],
    rows: Option<Range<usize>>,
    path: &Path,
) -> Result<Texture, IoError> {
    let (header, table_at) = read_header(bytes, path)?;
    check_kind(&header, path)?;
    let rows = claim(&header, bytes.len()).check(rows, path)?;
    let file = File {
        bytes,
        path,
        grid: Grid::of(&header),
        table: table(&header, bytes, table_at, path)?,
        header: &header,
    };
    let names: Vec<String> = (header.channels.list.iter())
        .map(|c| c.name.to_string())
        .collect();
    let order = usual_order(&names);
    let mut texels = vec![0.0; header.layer_size.width() * names.len() * rows.len()];
    file.fill(&rows, &order, &mut texels)?;
    let is_half = |c: &ChannelDescription| c.sample_type == SampleType::F16;
    Ok(Texture {
        width: header.layer_size.width(),
        height: rows.len(),
        channels: in_order(&names, &order),
        bits: if header.channels.list.iter().all(is_half) {
            16
        } else {
            32
        },
        texels: Texels::Floats(texels),
    })
}

/// Width and height.
pub(super) fn size(bytes: &[u8], path: &Path) -> Result<[usize; 2], IoError> {
    let size = read_header(bytes, path)?.0.layer_size;
    Ok([size.width(), size.height()])
}

/// Header of the only part, and the position of its block table.
fn read_header(bytes: &[u8], path: &Path) -> Result<(Header, usize), IoError> {
    let mut cursor = Cursor::new(bytes);
    let mut meta = MetaData::read_from_buffered(&mut cursor, false)
        .and_then(|meta| MetaData::validate(&meta.headers, false).map(|_| meta))
        .map_err(|e| refused(e, "header", path))?;
    let parts = meta.headers.len();
    match meta.headers.pop() {
        // A file with one part that claims to have several has another block layout.
        Some(header) if parts == 1 && !meta.requirements.is_multilayer() => Ok((
            header,
            usize::try_from(cursor.position()).unwrap_or(usize::MAX),
        )),
        _ => {
            let feature = format!("an EXR file with {parts} parts");
            Err(unsupported(
                path,
                "header",
                feature,
                "save each part in its own file",
            ))
        }
    }
}

fn refused(error: Error, location: &str, path: &Path) -> IoError {
    match error {
        Error::NotSupported(what) => {
            unsupported(path, location, what, "save it with ZIP compression")
        }
        other => malformed(path, location, other.to_string(), "a complete EXR"),
    }
}

/// Checks that the file is of a supported kind.
fn check_kind(header: &Header, path: &Path) -> Result<(), IoError> {
    let refuse = |feature: String, help: &str| Err(unsupported(path, "header", feature, help));
    for channel in &header.channels.list {
        let name = channel.name.to_string().escape_debug().to_string();
        if channel.sampling != Vec2(1, 1) {
            return refuse(
                format!("channel '{name}' at a lower resolution"),
                "save it as RGB",
            );
        }
        if channel.sample_type == SampleType::U32 {
            return refuse(
                format!("integer channel '{name}'"),
                "save it as half or float",
            );
        }
    }
    use Compression::{PIZ, RLE, Uncompressed, ZIP1, ZIP16};
    if !matches!(header.compression, Uncompressed | RLE | ZIP1 | ZIP16 | PIZ) {
        let feature = format!("the lossy compression '{}'", header.compression);
        return refuse(feature, "save it with ZIP compression");
    }
    if header.data_window() != header.shared_attributes.display_window {
        let feature = "a data window that differs from the display window";
        return refuse(feature.into(), "save it uncropped");
    }
    Ok(())
}

fn claim(header: &Header, file_bytes: usize) -> Claim {
    let Vec2(width, height) = header.layer_size;
    let texels = (width as u64).saturating_mul(height as u64);
    Claim {
        width,
        height,
        channels: header.channels.list.len(),
        number_bytes: size_of::<f32>(),
        unpacked_bytes: texels.saturating_mul(header.channels.bytes_per_pixel as u64),
        file_bytes,
    }
}

/// Order of the channels: R, G, B, Y, A if there are no others, else file order.
fn usual_order(names: &[String]) -> Vec<usize> {
    let rank = |name: &String| USUAL.iter().position(|usual| usual == name);
    let Some(ranks) = names.iter().map(rank).collect::<Option<Vec<_>>>() else {
        return (0..names.len()).collect();
    };
    let location = |index: usize| {
        let before = |&other: &usize| (ranks[other], other) < (ranks[index], index);
        (0..ranks.len()).filter(before).count()
    };
    (0..ranks.len()).map(location).collect()
}

fn in_order(names: &[String], order: &[usize]) -> Vec<String> {
    let mut out = vec![String::new(); names.len()];
    order
        .iter()
        .zip(names)
        .for_each(|(&to, name)| out[to].clone_from(name));
    out
}

/// Bytes of the block table for the finest resolution, which comes first.
fn table<'a>(
    header: &Header,
    bytes: &'a [u8],
    at: usize,
    path: &Path,
) -> Result<&'a [[u8; 8]], IoError> {
    let rest = bytes.get(at..).unwrap_or_default();
    let (entries, _) = rest.as_chunks::<8>();
    entries.get(..header.chunk_count).ok_or_else(|| {
        let expected = format!("{} entries", header.chunk_count);
        malformed(
            path,
            "table of blocks",
            format!("{} bytes", rest.len()),
            expected,
        )
    })
}

/// Division of the image into blocks.
#[derive(Clone, Copy, Debug)]
struct Grid {
    width: usize,
    height: usize,
    block_width: usize,
    block_height: usize,
    is_tiled: bool,
}

impl Grid {
    fn of(header: &Header) -> Self {
        let Vec2(width, height) = header.layer_size;
        let (block, is_tiled) = match header.blocks {
            BlockDescription::Tiles(tiles) => (tiles.tile_size, true),
            BlockDescription::ScanLines => (
                Vec2(width, header.compression.scan_lines_per_block()),
                false,
            ),
        };
        // Tiles may be larger than the image. The header check rejects size zero.
        Self {
            width,
            height,
            block_width: block.0.clamp(1, width),
            block_height: block.1.clamp(1, height),
            is_tiled,
        }
    }

    fn columns(&self) -> usize {
        self.width.div_ceil(self.block_width)
    }

    /// Columns and rows of the image in a block.
    fn area(&self, column: usize, row: usize) -> [Range<usize>; 2] {
        let [x, y] = [column * self.block_width, row * self.block_height];
        [
            x..(x + self.block_width).min(self.width),
            y..(y + self.block_height).min(self.height),
        ]
    }
}

/// A file with a checked header.
#[derive(Debug)]
struct File<'a> {
    bytes: &'a [u8],
    path: &'a Path,
    header: &'a Header,
    grid: Grid,
    table: &'a [[u8; 8]],
}

impl File<'_> {
    /// Decodes every block that contains some of the rows.
    fn fill(
        &self,
        rows: &Range<usize>,
        order: &[usize],
        texels: &mut [f32],
    ) -> Result<(), IoError> {
        if rows.is_empty() {
            return Ok(());
        }
        let height = self.grid.block_height;
        for row in rows.start / height..rows.end.div_ceil(height) {
            for column in 0..self.grid.columns() {
                let block = self.unpack(column, row)?;
                let area = self.grid.area(column, row);
                self.location(&block, area, rows, order, texels);
            }
        }
        Ok(())
    }

    /// Numbers of a block in native byte order: for each row, for each channel, along the row.
    fn unpack(&self, column: usize, row: usize) -> Result<Vec<u8>, IoError> {
        let index = row * self.grid.columns() + column;
        let location = format!("block {index}");
        let packed = self.packed(index, [column, row], &location)?;
        let [xs, ys] = self.grid.area(column, row);
        // Below 2^31, as the windows in the header are.
        let corner = [xs.start, ys.start].map(|c| i32::try_from(c).unwrap_or(i32::MAX));
        let section = IntegerBounds::new((corner[0], corner[1]), (xs.len(), ys.len()));
        let packing = self.header.compression;
        let expected = xs.len() * ys.len() * self.header.channels.bytes_per_pixel;
        let block = packing
            .decompress_image_section_from_le(self.header, packed.to_vec(), section, true)
            .map_err(|e| refused(e, &location, self.path))?;
        if block.len() != expected {
            let found = format!("{} bytes", block.len());
            return Err(malformed(self.path, location, found, expected.to_string()));
        }
        Ok(block)
    }

    /// The packed bytes of a block, after a check that it is the block that the table refers to.
    fn packed(&self, index: usize, at: [usize; 2], location: &str) -> Result<&[u8], IoError> {
        let fault = |found: String, expected: &str| malformed(self.path, location, found, expected);
        // As long as the file has blocks, which was checked.
        let offset = self
            .table
            .get(index)
            .map_or(u64::MAX, |entry| u64::from_le_bytes(*entry));
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|offset| self.bytes.get(offset..));
        let rest =
            rest.ok_or_else(|| fault(format!("offset {offset}"), "an offset inside the file"))?;
        let expected = self.coordinates(at);
        let split = rest.split_at_checked(4 * expected.len() + 4);
        let (head, data) =
            split.ok_or_else(|| fault(format!("{} bytes", rest.len()), "a complete block"))?;
        let words: Vec<i32> = head
            .as_chunks()
            .0
            .iter()
            .map(|&word| i32::from_le_bytes(word))
            .collect();
        let (length, found) = words.split_last().unwrap_or((&-1, &[]));
        if *found != expected {
            return Err(fault(
                format!("coordinates {found:?}"),
                &format!("{expected:?}"),
            ));
        }
        let packed = usize::try_from(*length)
            .ok()
            .and_then(|length| data.get(..length));
        packed.ok_or_else(|| {
            fault(
                format!("a length of {length}"),
                "at most the number of remaining bytes",
            )
        })
    }

    /// Position that a block states: its first row, or its tile column, tile row and resolution.
    fn coordinates(&self, [column, row]: [usize; 2]) -> Vec<i32> {
        // Below 2^31, as the windows in the header are.
        let number = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
        if self.grid.is_tiled {
            return vec![number(column), number(row), 0, 0];
        }
        let first = self.header.own_attributes.layer_position.y();
        vec![first.saturating_add(number(row * self.grid.block_height))]
    }

    /// Copies the numbers of a block to their positions.
    fn location(
        &self,
        block: &[u8],
        [xs, ys]: [Range<usize>; 2],
        rows: &Range<usize>,
        order: &[usize],
        texels: &mut [f32],
    ) {
        let channels = order.len();
        let mut rest = block;
        for y in ys {
            for (channel, &to) in self.header.channels.list.iter().zip(order) {
                let bytes = channel.sample_type.bytes_per_sample() * xs.len();
                let (line, after) = rest.split_at(bytes);
                rest = after;
                if !rows.contains(&y) {
                    continue;
                }
                let start = ((y - rows.start) * self.grid.width + xs.start) * channels + to;
                let targets = texels[start..].iter_mut().step_by(channels);
                widen(line, channel.sample_type, targets);
            }
        }
    }
}

/// Numbers of one channel along a row.
fn widen<'a>(line: &[u8], kind: SampleType, targets: impl Iterator<Item = &'a mut f32>) {
    if kind == SampleType::F16 {
        let halves = line
            .as_chunks::<2>()
            .0
            .iter()
            .map(|&bytes| f16::from_ne_bytes(bytes));
        targets
            .zip(halves)
            .for_each(|(to, half)| *to = half.to_f32_const());
    } else {
        let floats = line
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&bytes| f32::from_ne_bytes(bytes));
        targets.zip(floats).for_each(|(to, float)| *to = float);
    }
}
