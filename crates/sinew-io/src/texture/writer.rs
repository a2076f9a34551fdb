//! Writes textures row by row.

#[cfg(feature = "exr")]
use super::exr_write::ExrRows;
#[cfg(not(feature = "exr"))]
use super::no_exr::ExrRows;
use super::png_rows::PngRows;
use super::{TextureChannels, TextureFormat, unsupported};
use crate::fault::{malformed, quoted};
use crate::{AtomicFile, IoError};
use std::path::{Path, PathBuf};

/// One row of a texture: texels, and channels within each texel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TexelRow<'a> {
    /// For [`TextureFormat::Png8`].
    Codes8(&'a [u8]),
    /// For [`TextureFormat::Png16`].
    Codes16(&'a [u16]),
    /// For EXR.
    Floats(&'a [f32]),
}

impl TexelRow<'_> {
    fn len(self) -> usize {
        match self {
            Self::Codes8(codes) => codes.len(),
            Self::Codes16(codes) => codes.len(),
            Self::Floats(numbers) => numbers.len(),
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Codes8(_) => "8-bit codes",
            Self::Codes16(_) => "16-bit codes",
            Self::Floats(_) => "floats",
        }
    }
}

impl<'a> From<&'a [u8]> for TexelRow<'a> {
    fn from(codes: &'a [u8]) -> Self {
        Self::Codes8(codes)
    }
}

impl<'a> From<&'a [u16]> for TexelRow<'a> {
    fn from(codes: &'a [u16]) -> Self {
        Self::Codes16(codes)
    }
}

impl<'a> From<&'a [f32]> for TexelRow<'a> {
    fn from(numbers: &'a [f32]) -> Self {
        Self::Floats(numbers)
    }
}

/// A texture that is being written. Call [`TextureWriter::create`], [`TextureWriter::write_row`] once per row from the
/// top, and [`TextureWriter::finish`]. The file appears at the end and replaces an existing one. Dropping the writer
/// before leaves no file.
///
/// Memory: some rows (PNG two, EXR up to 16 and their compressed form), and 8 bytes per block for the table of an EXR.
///
/// ```
/// use sinew_io::texture::{ExrCompression, TextureChannels, TextureFormat, TextureWriter, read_texture};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("offsets.exr");
/// let format = TextureFormat::ExrFloat(ExrCompression::Zip);
/// let mut texture = TextureWriter::create(&path, format, 2, 1, TextureChannels::Rgb)?;
/// texture.write_row(&[0.5_f32, -0.0, 1e-40, 1.0, 2.0, 3.0][..])?;
/// texture.finish()?;
/// assert_eq!(read_texture(&path)?.channels, ["R", "G", "B"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TextureWriter {
    path: PathBuf,
    format: TextureFormat,
    /// Numbers per row.
    row_length: usize,
    height: usize,
    written: usize,
    /// True if a row was only partly written.
    is_broken: bool,
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    Png(Box<PngRows>),
    Exr(Box<ExrRows>),
}

impl Rows {
    fn new(
        path: &Path,
        format: TextureFormat,
        size: [usize; 2],
        channels: TextureChannels<'_>,
    ) -> Result<Self, IoError> {
        let names = channels.names();
        let png = |bits| {
            if matches!(channels, TextureChannels::Named(_)) {
                let feature = "a PNG with named channels";
                let help = "use grey, RGB or RGBA, or write an EXR";
                return Err(unsupported(path, "channels", feature, help));
            }
            let file = AtomicFile::create(path)?;
            let rows = PngRows::new(file, bits, size, names.len())?;
            Ok(Self::Png(Box::new(rows)))
        };
        let exr = |is_half, packing| {
            check_names(names, path)?;
            let file = AtomicFile::create(path)?;
            let rows = ExrRows::new(file, is_half, packing, size, names)?;
            Ok(Self::Exr(Box::new(rows)))
        };
        match format {
            TextureFormat::Png8 => png(8),
            TextureFormat::Png16 => png(16),
            TextureFormat::ExrHalf(packing) => exr(true, packing),
            TextureFormat::ExrFloat(packing) => exr(false, packing),
        }
    }
}

impl TextureWriter {
    /// Starts a texture of `width` by `height` texels that will replace `path`.
    ///
    /// # Errors
    /// [`IoError::Write`] if the folder cannot be written; [`IoError::Unsupported`] for sizes and channels that the
    /// format does not support.
    pub fn create(
        path: &Path,
        format: TextureFormat,
        width: usize,
        height: usize,
        channels: TextureChannels<'_>,
    ) -> Result<Self, IoError> {
        let row_length = check_size([width, height], channels.names().len(), path)?;
        let rows = Rows::new(path, format, [width, height], channels)?;
        Ok(Self {
            path: path.to_owned(),
            format,
            row_length,
            height,
            written: 0,
            is_broken: false,
            rows,
        })
    }

    /// Writes the next row, from the top: `width * channels` numbers of the format's type.
    ///
    /// # Errors
    /// [`IoError::Malformed`] for a row of another type or length, or one row too many; such a row is not written.
    /// [`IoError::Write`] if the file cannot be written; the texture then cannot be finished.
    pub fn write_row<'a>(&mut self, row: impl Into<TexelRow<'a>>) -> Result<(), IoError> {
        let row = row.into();
        self.check_row(row)?;
        let written = match (&mut self.rows, row) {
            (Rows::Png(out), TexelRow::Codes8(codes)) => out.put8(codes, &self.path),
            (Rows::Png(out), TexelRow::Codes16(codes)) => out.put16(codes, &self.path),
            (Rows::Exr(out), TexelRow::Floats(numbers)) => out.put(numbers, &self.path),
            // `check_row` has rejected it.
            _ => Ok(()),
        };
        self.is_broken |= written.is_err();
        self.written += 1;
        written
    }

    fn check_row(&self, row: TexelRow<'_>) -> Result<(), IoError> {
        let location = || format!("row {}", self.written);
        let fits = match self.format {
            TextureFormat::Png8 => matches!(row, TexelRow::Codes8(_)),
            TextureFormat::Png16 => matches!(row, TexelRow::Codes16(_)),
            TextureFormat::ExrHalf(_) | TextureFormat::ExrFloat(_) => {
                matches!(row, TexelRow::Floats(_))
            }
        };
        let fault = |found: String, expected: String| {
            Err(malformed(&self.path, location(), found, expected))
        };
        if !fits {
            return fault(row.kind().into(), format!("numbers for {:?}", self.format));
        }
        if row.len() != self.row_length {
            return fault(
                format!("{} numbers", row.len()),
                self.row_length.to_string(),
            );
        }
        if self.written == self.height {
            return fault("one more row".into(), format!("{} rows", self.height));
        }
        Ok(())
    }

    /// Completes the file and makes it visible.
    ///
    /// # Errors
    /// [`IoError::Malformed`] if rows are missing or one failed; [`IoError::Write`] if the file cannot be written. An
    /// existing file is then unchanged.
    pub fn finish(self) -> Result<(), IoError> {
        if self.written != self.height || self.is_broken {
            let found = match self.is_broken {
                true => "a row that could not be written".into(),
                false => format!("{} rows", self.written),
            };
            return Err(malformed(
                &self.path,
                "texture",
                found,
                format!("{} rows", self.height),
            ));
        }
        match self.rows {
            Rows::Png(out) => out.finish(&self.path),
            Rows::Exr(out) => out.finish(&self.path),
        }
    }
}

/// Numbers per row, for a size that both formats support.
fn check_size(size: [usize; 2], channels: usize, path: &Path) -> Result<usize, IoError> {
    // EXR counts the bytes of rows in a block as a 31-bit number: 4 bytes per number.
    let row = size[0]
        .checked_mul(channels)
        .filter(|&n| n <= (i32::MAX / 4) as usize);
    match row {
        Some(row @ 1..) if (1..=(i32::MAX / 2) as usize).contains(&size[1]) => Ok(row),
        _ => {
            let feature = format!(
                "a texture of {} x {} texels with {channels} channels",
                size[0], size[1]
            );
            let help = "use at least 1 of each, and rows below 2 GiB";
            Err(unsupported(path, "texture", feature, help))
        }
    }
}

/// Names that every EXR reader accepts, all different.
fn check_names(names: &[&str], path: &Path) -> Result<(), IoError> {
    for (index, name) in names.iter().enumerate() {
        let is_plain =
            (1..=31).contains(&name.len()) && name.bytes().all(|b| (0x20..0x7f).contains(&b));
        if !is_plain || names[..index].contains(name) {
            let feature = format!("the channel name {}", quoted(name.as_bytes()));
            let help =
                "use 1 to 31 printable ASCII characters, and a different name for each channel";
            return Err(unsupported(path, format!("channel {index}"), feature, help));
        }
    }
    Ok(())
}
