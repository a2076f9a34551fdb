//! Textures that hold data, not pictures: vertex animation textures and their like.
//!
//! A texel is what the caller says, bit for bit: no colour space, no gamma, no premultiplied alpha, no dither. Pictures are in
//! [`crate::picture`].
//!
//! | format | texels | what a file holds |
//! |---|---|---|
//! | [`TextureFormat::Png8`] | codes 0 to 255 | grey, RGB or RGBA |
//! | [`TextureFormat::Png16`] | codes 0 to 65,535 | grey, RGB or RGBA |
//! | [`TextureFormat::ExrHalf`] | `f32`, rounded to the nearest half, ties to even | one channel `Y`, RGB, RGBA, or named channels |
//! | [`TextureFormat::ExrFloat`] | `f32`, every bit kept: `-0`, subnormals, infinities, NaN | the same |
//!
//! PNG files have the chunks `IHDR`, `IDAT` and `IEND` and no others. Without `sRGB`, `gAMA`, `iCCP` and `cICP` a reader has nothing to
//! convert by, and gives the codes as they are; whether they are linear a game engine has to be told at import. Reading, such chunks are
//! passed over: codes come back as stored.
//!
//! EXR files have one part, scan lines from the top, full resolution, no optional attribute. The format keeps channels in the order
//! of their names; [`TextureWriter`] takes and [`read_texture`] gives R, G, B, A. Values pass through unchanged, but for the
//! rounding to half: above 65,504 (from 65,520 on) that gives infinity.
//!
//! [`TextureWriter`] takes a row at a time, so that the image is never held as a whole. Equal rows give equal bytes: files carry no time and
//! no name, and nothing runs on other threads.
//!
//! [`read_texture`] compares the size in the header with the bytes that are there, and with [`LARGEST_BYTES`], before it takes memory for it.

mod exr_read;
mod exr_write;
mod png_rows;
#[cfg(test)]
mod tests;
mod writer;

pub use writer::{TexelRow, TextureWriter};

use crate::fault::malformed;
use crate::{IoError, read_bytes};
use std::ops::Range;
use std::path::Path;

/// Most bytes that the texels of one texture may take in memory when it is read.
pub const LARGEST_BYTES: u64 = 8 << 30;

/// Most bytes that one byte of a file can stand for: Deflate reaches 1,032, the other codings of EXR less than half of it.
const LARGEST_RATIO: u64 = 1_032;

/// How a texture is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureFormat {
    /// PNG of 8 bits a channel; rows of `u8`.
    Png8,
    /// PNG of 16 bits a channel; rows of `u16`.
    Png16,
    /// OpenEXR of 16-bit floating point numbers; rows of `f32`.
    ExrHalf(ExrCompression),
    /// OpenEXR of 32-bit floating point numbers; rows of `f32`.
    ExrFloat(ExrCompression),
}

/// How the scan lines of an EXR file are packed. Both lose nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExrCompression {
    /// Not at all: a block is one scan line.
    None,
    /// Deflate, 16 scan lines a block.
    #[default]
    Zip,
}

/// The channels of a texture to be written, in the order in which rows have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureChannels<'a> {
    /// One: `Y`.
    Grey,
    /// `R`, `G`, `B`.
    Rgb,
    /// `R`, `G`, `B`, `A`. Alpha is a fourth number like the others.
    Rgba,
    /// Of these names, for EXR only: at least one, each of 1 to 31 printable ASCII characters, no two the same.
    Named(&'a [&'a str]),
}

impl<'a> TextureChannels<'a> {
    /// Their names, in order.
    pub fn names(self) -> &'a [&'a str] {
        match self {
            Self::Grey => &["Y"],
            Self::Rgb => &["R", "G", "B"],
            Self::Rgba => &["R", "G", "B", "A"],
            Self::Named(names) => names,
        }
    }
}

/// A texture as read, or some rows of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Texels of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Names of the channels. `R`, `G`, `B`, `Y` and `A` alone are in this order; others are as in the file, which EXR sorts by name.
    pub channels: Vec<String>,
    /// Bits that the file has for one number: 8 or 16 for PNG, 16 (half) or 32 for EXR; the most of its channels.
    pub bits: u8,
    /// The numbers, `width * height * channels`: row by row from the top, texel by texel, channel by channel.
    pub texels: Texels,
}

/// The numbers of a texture.
#[derive(Clone, Debug, PartialEq)]
pub enum Texels {
    /// Of a PNG of 8 bits.
    Codes8(Vec<u8>),
    /// Of a PNG of 16 bits.
    Codes16(Vec<u16>),
    /// Of an EXR; halves made wider, which is exact.
    Floats(Vec<f32>),
}

impl Texels {
    /// How many numbers there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Codes8(codes) => codes.len(),
            Self::Codes16(codes) => codes.len(),
            Self::Floats(numbers) => numbers.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Reads a texture: PNG of 8 or 16 bits without palette, or EXR; the first bytes tell which.
///
/// PNG: grey, grey with alpha (`Y`, `A`), RGB and RGBA, interlaced or not; of an animated one the first picture. EXR: one part of
/// scan lines or tiles, of half or float channels, uncompressed or compressed without loss (RLE, ZIPS, ZIP, PIZ); of several
/// resolutions the finest.
///
/// Cost: the file and its texels are in memory at once; decoding takes some milliseconds a megabyte.
///
/// # Errors
/// [`IoError::Read`]; [`IoError::Malformed`] for bytes that are neither, are damaged or only a part, or fewer than the size in
/// the header can come from; [`IoError::Unsupported`] for other kinds of PNG and EXR, and above [`LARGEST_BYTES`].
pub fn read_texture(path: &Path) -> Result<Texture, IoError> {
    parse_texture(&read_bytes(path)?, path)
}

/// As [`read_texture`], only the rows in `rows`; no memory is taken for the others. Of a PNG the rows above are decoded and dropped, and those
/// below are not looked at (an interlaced one is decoded as a whole); of an EXR only the blocks that are needed are looked at.
///
/// # Errors
/// As [`read_texture`]; [`IoError::Malformed`] where the texture has fewer rows.
pub fn read_texture_rows(path: &Path, rows: Range<usize>) -> Result<Texture, IoError> {
    parse_rows(&read_bytes(path)?, Some(rows), path)
}

/// As [`read_texture`], of a size that another file gives: one of another size is refused before any of it is unpacked.
///
/// # Errors
/// As [`read_texture`]; [`IoError::Malformed`] for another size.
pub fn read_texture_of(path: &Path, [width, height]: [usize; 2]) -> Result<Texture, IoError> {
    let bytes = read_bytes(path)?;
    let found = match bytes.get(16..24).filter(|_| bytes.starts_with(PNG_MAGIC)) {
        Some(&[a, b, c, d, e, f, g, h]) => {
            [[a, b, c, d], [e, f, g, h]].map(|side| u32::from_be_bytes(side) as usize)
        }
        _ if bytes.starts_with(EXR_MAGIC) => exr_read::size(&bytes, path)?,
        // Reading tells what is wrong.
        _ => [width, height],
    };
    if found != [width, height] {
        let expected = format!("{width} x {height}, as the manifest says");
        let found = format!("{} x {} texels", found[0], found[1]);
        return Err(malformed(path, "size", found, expected));
    }
    parse_texture(&bytes, path)
}

/// As [`read_texture`], from the bytes of a file; `path` is that file's, for messages.
///
/// # Errors
/// As [`read_texture`], without [`IoError::Read`].
pub fn parse_texture(bytes: &[u8], path: &Path) -> Result<Texture, IoError> {
    parse_rows(bytes, None, path)
}

/// As [`read_texture_rows`], from the bytes of a file; `path` is that file's, for messages.
///
/// # Errors
/// As [`read_texture_rows`], without [`IoError::Read`].
pub fn parse_texture_rows(
    bytes: &[u8],
    rows: Range<usize>,
    path: &Path,
) -> Result<Texture, IoError> {
    parse_rows(bytes, Some(rows), path)
}

const PNG_MAGIC: &[u8] = b"\x89PNG\r\n\x1a\n";
const EXR_MAGIC: &[u8] = b"\x76\x2f\x31\x01";

fn parse_rows(bytes: &[u8], rows: Option<Range<usize>>, path: &Path) -> Result<Texture, IoError> {
    if bytes.starts_with(PNG_MAGIC) {
        png_rows::read(bytes, rows, path)
    } else if bytes.starts_with(EXR_MAGIC) {
        exr_read::read(bytes, rows, path)
    } else {
        let found = format!("{:02x?}", &bytes[..bytes.len().min(8)]);
        let expected = "the first bytes of a PNG or an EXR";
        Err(malformed(path, "byte 0", found, expected))
    }
}

/// What a header says about the size, before it is believed.
#[derive(Clone, Copy, Debug)]
struct Claim {
    width: usize,
    height: usize,
    channels: usize,
    /// Of one number in memory.
    number_bytes: usize,
    /// Of the whole image in the file, unpacked.
    unpacked_bytes: u64,
    /// Of the whole file.
    file_bytes: usize,
}

impl Claim {
    /// Rows that are to be read, after a look at whether the file can hold what it claims to.
    fn check(&self, rows: Option<Range<usize>>, path: &Path) -> Result<Range<usize>, IoError> {
        let size = format!(
            "{} x {} texels of {} channels",
            self.width, self.height, self.channels
        );
        if self.width == 0 || self.height == 0 || self.channels == 0 {
            return Err(malformed(path, "header", size, "at least one of each"));
        }
        let most = LARGEST_RATIO.saturating_mul(self.file_bytes as u64);
        if self.unpacked_bytes > most {
            let expected = format!("what {} bytes can hold", self.file_bytes);
            return Err(malformed(path, "header", size, expected));
        }
        let rows = rows.unwrap_or(0..self.height);
        if rows.start > rows.end || rows.end > self.height {
            let found = format!("{} to {} asked for", rows.start, rows.end);
            let expected = format!("at most {}", self.height);
            return Err(malformed(path, "rows", found, expected));
        }
        let row = [self.channels, self.number_bytes, rows.len()];
        let row = row.iter().map(|&n| n as u64);
        if row.fold(self.width as u64, u64::saturating_mul) > LARGEST_BYTES {
            let help = format!("texels may take {} GiB", LARGEST_BYTES >> 30);
            return Err(unsupported(path, "header", size, help));
        }
        Ok(rows)
    }
}

fn unsupported(
    path: &Path,
    place: impl Into<String>,
    feature: impl Into<String>,
    help: impl Into<String>,
) -> IoError {
    IoError::Unsupported {
        path: path.to_owned(),
        place: place.into(),
        feature: feature.into(),
        help: help.into(),
    }
}
