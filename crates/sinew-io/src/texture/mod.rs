//! Data textures, such as vertex animation textures.
//!
//! Texels keep every bit: no colour space, no gamma, no premultiplied alpha, no dither. For pictures, see
//! [`crate::picture`].
//!
//! | format | texels | content of a file |
//! |---|---|---|
//! | [`TextureFormat::Png8`] | codes 0 to 255 | grey, RGB or RGBA |
//! | [`TextureFormat::Png16`] | codes 0 to 65,535 | grey, RGB or RGBA |
//! | [`TextureFormat::ExrHalf`] | `f32`, rounded to the nearest half, ties to even | one channel `Y`, RGB, RGBA, or named channels |
//! | [`TextureFormat::ExrFloat`] | `f32`, every bit kept: `-0`, subnormals, infinities, NaN | the same |
//!
//! PNG files only have the chunks `IHDR`, `IDAT` and `IEND`. Without `sRGB`, `gAMA`, `iCCP` and `cICP`, a reader gives
//! the codes without conversion. Set the texture to linear when you import it into a game engine. The reader ignores
//! such chunks and gives the stored codes.
//!
//! EXR files have one part, scan lines from the top, full resolution, and no optional attributes. The format sorts
//! channels by name; [`TextureWriter`] takes and [`read_texture`] gives R, G, B, A. Values do not change except for
//! rounding to half: magnitudes from 65,520 give infinity (the largest half is 65,504).
//!
//! [`TextureWriter`] takes one row at a time and never holds the whole image. Equal rows give equal bytes: files
//! contain no time and no name, and there are no other threads.
//!
//! [`read_texture`] compares the size in the header with the file size and with [`LARGEST_BYTES`] before it allocates
//! memory.

#[cfg(feature = "exr")]
mod exr_read;
#[cfg(feature = "exr")]
mod exr_write;
#[cfg(not(feature = "exr"))]
mod no_exr;
mod png_rows;
#[cfg(test)]
#[cfg(feature = "exr")]
mod tests;
mod writer;

pub use writer::{TexelRow, TextureWriter};

#[cfg(not(feature = "exr"))]
use no_exr as exr_read;

use crate::fault::malformed;
use crate::{IoError, read_bytes};
use std::ops::Range;
use std::path::Path;

/// Maximum memory for the texels of one texture when it is read, in bytes.
pub const LARGEST_BYTES: u64 = 8 << 30;

/// Maximum number of bytes that one byte of a file unpacks to. Deflate reaches 1,032, other EXR compressions less than
/// half.
const LARGEST_RATIO: u64 = 1_032;

/// Format of a texture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureFormat {
    /// PNG with 8 bits per channel; rows of `u8`.
    Png8,
    /// PNG with 16 bits per channel; rows of `u16`.
    Png16,
    /// OpenEXR with 16-bit floats; rows of `f32`.
    ExrHalf(ExrCompression),
    /// OpenEXR with 32-bit floats; rows of `f32`.
    ExrFloat(ExrCompression),
}

/// Compression of EXR scan lines. Both are lossless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExrCompression {
    /// None: one scan line per block.
    None,
    /// Deflate, 16 scan lines per block.
    #[default]
    Zip,
}

/// Channels of a texture to write, in the order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureChannels<'a> {
    /// One channel: `Y`.
    Grey,
    /// `R`, `G`, `B`.
    Rgb,
    /// `R`, `G`, `B`, `A`. Alpha is a number like the others.
    Rgba,
    /// Custom names, only for EXR: at least one, each with 1 to 31 printable ASCII characters, all different.
    Named(&'a [&'a str]),
}

impl<'a> TextureChannels<'a> {
    /// Channel names, in order.
    pub fn names(self) -> &'a [&'a str] {
        match self {
            Self::Grey => &["Y"],
            Self::Rgb => &["R", "G", "B"],
            Self::Rgba => &["R", "G", "B", "A"],
            Self::Named(names) => names,
        }
    }
}

/// A texture, or some of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Texels per row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Channel names. `R`, `G`, `B`, `Y` and `A` alone are in this order. Others are in file order, which EXR sorts by
    /// name.
    pub channels: Vec<String>,
    /// Bits per number in the file: 8 or 16 for PNG, 16 (half) or 32 for EXR. The maximum of all channels.
    pub bits: u8,
    /// `width * height * channels` numbers: rows from the top, texels, channels.
    pub texels: Texels,
}

/// The numbers of a texture.
#[derive(Clone, Debug, PartialEq)]
pub enum Texels {
    /// From an 8-bit PNG.
    Codes8(Vec<u8>),
    /// From a 16-bit PNG.
    Codes16(Vec<u16>),
    /// From an EXR. Conversion of halves is exact.
    Floats(Vec<f32>),
}

impl Texels {
    /// Number of numbers.
    pub fn len(&self) -> usize {
        match self {
            Self::Codes8(codes) => codes.len(),
            Self::Codes16(codes) => codes.len(),
            Self::Floats(numbers) => numbers.len(),
        }
    }

    /// True if there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Reads a texture: PNG with 8 or 16 bits without palette, or EXR. The first bytes decide.
///
/// Supported kinds:
///
/// | format | kinds |
/// |---|---|
/// | PNG | grey, grey with alpha (`Y`, `A`), RGB, RGBA; interlaced or not; for animated PNG, the first image |
/// | EXR | one part of scan lines or tiles; half or float channels; no compression, RLE, ZIPS, ZIP or PIZ; the finest resolution |
///
/// Memory: the file and its texels at the same time. Decoding takes some milliseconds per megabyte.
///
/// # Errors
/// [`IoError::Read`]; [`IoError::Malformed`] for bytes that are neither format, damaged, incomplete, or too few for the
/// size in the header; [`IoError::Unsupported`] for other kinds of PNG and EXR, and above [`LARGEST_BYTES`].
pub fn read_texture(path: &Path) -> Result<Texture, IoError> {
    parse_texture(&read_bytes(path)?, path)
}

/// As [`read_texture`], but only the rows in `rows`. Other rows need no memory. A PNG is decoded from the top to the
/// last row (an interlaced one completely); an EXR only decodes the blocks with these rows.
///
/// # Errors
/// As [`read_texture`]; [`IoError::Malformed`] if the texture has fewer rows.
pub fn read_texture_rows(path: &Path, rows: Range<usize>) -> Result<Texture, IoError> {
    parse_rows(&read_bytes(path)?, Some(rows), path)
}

/// As [`read_texture`], but with an expected size in texels. A texture of another size is rejected before it is
/// unpacked.
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
        // The reader reports what is wrong.
        _ => [width, height],
    };
    if found != [width, height] {
        let expected = format!("{width} x {height}, as the manifest says");
        let found = format!("{} x {} texels", found[0], found[1]);
        return Err(malformed(path, "size", found, expected));
    }
    parse_texture(&bytes, path)
}

/// As [`read_texture`], from the bytes of a file. `path` appears in messages.
///
/// # Errors
/// As [`read_texture`], without [`IoError::Read`].
pub fn parse_texture(bytes: &[u8], path: &Path) -> Result<Texture, IoError> {
    parse_rows(bytes, None, path)
}

/// As [`read_texture_rows`], from the bytes of a file. `path` appears in messages.
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

/// Size in a header, before it is checked.
#[derive(Clone, Copy, Debug)]
struct Claim {
    width: usize,
    height: usize,
    channels: usize,
    /// Bytes per number in memory.
    number_bytes: usize,
    /// Bytes of the whole unpacked image in the file.
    unpacked_bytes: u64,
    /// Bytes of the whole file.
    file_bytes: usize,
}

impl Claim {
    /// Rows to read, after a check that the file can contain the claimed size.
    fn check(&self, rows: Option<Range<usize>>, path: &Path) -> Result<Range<usize>, IoError> {
        let size = format!(
            "{} x {} texels of {} channels",
            self.width, self.height, self.channels
        );
        if self.width == 0 || self.height == 0 || self.channels == 0 {
            return Err(malformed(path, "header", size, "at least 1 of each"));
        }
        let most = LARGEST_RATIO.saturating_mul(self.file_bytes as u64);
        if self.unpacked_bytes > most {
            let expected = format!(
                "a size that a file of {} bytes can contain",
                self.file_bytes
            );
            return Err(malformed(path, "header", size, expected));
        }
        let rows = rows.unwrap_or(0..self.height);
        if rows.start > rows.end || rows.end > self.height {
            let found = format!("request for rows {} to {}", rows.start, rows.end);
            let expected = format!("at most {} rows", self.height);
            return Err(malformed(path, "rows", found, expected));
        }
        let row = [self.channels, self.number_bytes, rows.len()];
        let row = row.iter().map(|&n| n as u64);
        if row.fold(self.width as u64, u64::saturating_mul) > LARGEST_BYTES {
            let help = format!(
                "texels may take at most {} GiB in memory",
                LARGEST_BYTES >> 30
            );
            return Err(unsupported(path, "header", size, help));
        }
        Ok(rows)
    }
}

fn unsupported(
    path: &Path,
    location: impl Into<String>,
    feature: impl Into<String>,
    help: impl Into<String>,
) -> IoError {
    IoError::Unsupported {
        path: path.to_owned(),
        location: location.into(),
        feature: feature.into(),
        help: help.into(),
    }
}
