//! Blocks of EXR files to texels.
//!
//! The crate `exr` reads the header and unpacks blocks. Where blocks are is looked up here: in the table of the file, each bounded by the
//! bytes that are there, so that rows can be read alone and nothing is believed that a block says about its place.

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

/// The order in which channels of these names are given, where there are no others.
const USUAL: [&str; 5] = ["R", "G", "B", "Y", "A"];

/// A whole EXR, or rows of it.
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

/// The header of the only part, and where the table of its blocks begins.
fn read_header(bytes: &[u8], path: &Path) -> Result<(Header, usize), IoError> {
    let mut cursor = Cursor::new(bytes);
    let mut meta = MetaData::read_from_buffered(&mut cursor, false)
        .and_then(|meta| MetaData::validate(&meta.headers, false).map(|_| meta))
        .map_err(|e| refused(e, "header", path))?;
    let parts = meta.headers.len();
    match meta.headers.pop() {
        // A file of one part that says that it has several has blocks of another form.
        Some(header) if parts == 1 && !meta.requirements.is_multilayer() => Ok((
            header,
            usize::try_from(cursor.position()).unwrap_or(usize::MAX),
        )),
        _ => {
            let feature = format!("a file of {parts} parts");
            Err(unsupported(path, "header", feature, "save one part alone"))
        }
    }
}

fn refused(error: Error, place: &str, path: &Path) -> IoError {
    match error {
        Error::NotSupported(what) => unsupported(path, place, what, "save it with ZIP compression"),
        other => malformed(path, place, other.to_string(), "a whole EXR"),
    }
}

/// Whether it is of a kind that is read.
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
                format!("channel '{name}' of whole numbers"),
                "save half or float",
            );
        }
    }
    use Compression::{PIZ, RLE, Uncompressed, ZIP1, ZIP16};
    if !matches!(header.compression, Uncompressed | RLE | ZIP1 | ZIP16 | PIZ) {
        let feature = format!(
            "the compression '{}', which changes numbers,",
            header.compression
        );
        return refuse(feature, "save it with ZIP compression");
    }
    if header.data_window() != header.shared_attributes.display_window {
        let feature = "a data window other than the display window";
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

/// Where each channel of the file goes: R, G, B, Y, A where there are no others, else as they are.
fn usual_order(names: &[String]) -> Vec<usize> {
    let rank = |name: &String| USUAL.iter().position(|usual| usual == name);
    let Some(ranks) = names.iter().map(rank).collect::<Option<Vec<_>>>() else {
        return (0..names.len()).collect();
    };
    let place = |index: usize| {
        let before = |&other: &usize| (ranks[other], other) < (ranks[index], index);
        (0..ranks.len()).filter(before).count()
    };
    (0..ranks.len()).map(place).collect()
}

fn in_order(names: &[String], order: &[usize]) -> Vec<String> {
    let mut out = vec![String::new(); names.len()];
    order
        .iter()
        .zip(names)
        .for_each(|(&to, name)| out[to].clone_from(name));
    out
}

/// The bytes of the table of the finest resolution's blocks, which are its first.
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

/// How the image is cut into blocks.
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
        // Tiles may be larger than the image; of no size they are refused with the header.
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

/// A file whose header is checked.
#[derive(Debug)]
struct File<'a> {
    bytes: &'a [u8],
    path: &'a Path,
    header: &'a Header,
    grid: Grid,
    table: &'a [[u8; 8]],
}

impl File<'_> {
    /// Decodes every block that has some of the rows.
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
                self.place(&block, area, rows, order, texels);
            }
        }
        Ok(())
    }

    /// Numbers of a block in the byte order of this machine: for each of its rows, for each channel, along the row.
    fn unpack(&self, column: usize, row: usize) -> Result<Vec<u8>, IoError> {
        let index = row * self.grid.columns() + column;
        let place = format!("block {index}");
        let packed = self.packed(index, [column, row], &place)?;
        let [xs, ys] = self.grid.area(column, row);
        // Below 2^31, as the windows in the header are.
        let corner = [xs.start, ys.start].map(|c| i32::try_from(c).unwrap_or(i32::MAX));
        let section = IntegerBounds::new((corner[0], corner[1]), (xs.len(), ys.len()));
        let packing = self.header.compression;
        let expected = xs.len() * ys.len() * self.header.channels.bytes_per_pixel;
        let block = packing
            .decompress_image_section_from_le(self.header, packed.to_vec(), section, true)
            .map_err(|e| refused(e, &place, self.path))?;
        if block.len() != expected {
            let found = format!("{} bytes", block.len());
            return Err(malformed(self.path, place, found, expected.to_string()));
        }
        Ok(block)
    }

    /// The packed bytes of a block, which must say that it is the one that the table says.
    fn packed(&self, index: usize, at: [usize; 2], place: &str) -> Result<&[u8], IoError> {
        let fault = |found: String, expected: &str| malformed(self.path, place, found, expected);
        // As long as the file has blocks, which was checked.
        let offset = self
            .table
            .get(index)
            .map_or(u64::MAX, |entry| u64::from_le_bytes(*entry));
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|offset| self.bytes.get(offset..));
        let rest = rest.ok_or_else(|| fault(format!("offset {offset}"), "one inside the file"))?;
        let expected = self.coordinates(at);
        let split = rest.split_at_checked(4 * expected.len() + 4);
        let (head, data) =
            split.ok_or_else(|| fault(format!("{} bytes", rest.len()), "a whole block"))?;
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
                "at most the bytes that follow",
            )
        })
    }

    /// What a block says about its place: its first row, or its column and row of tiles and its resolution.
    fn coordinates(&self, [column, row]: [usize; 2]) -> Vec<i32> {
        // Below 2^31, as the windows in the header are.
        let number = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
        if self.grid.is_tiled {
            return vec![number(column), number(row), 0, 0];
        }
        let first = self.header.own_attributes.layer_position.y();
        vec![first.saturating_add(number(row * self.grid.block_height))]
    }

    /// Copies the numbers of a block to where they belong.
    fn place(
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
