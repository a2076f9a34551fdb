//! Writes and reads rows of PNG files.

use super::{Claim, Texels, Texture, unsupported};
use crate::fault::{cannot_write, malformed};
use crate::{AtomicFile, IoError};
use png::{BitDepth, ColorType, DecodingError};
use sinew_geom::index32;
use std::io::{Cursor, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Length of an `IDAT` chunk. Constant, so that equal rows give equal bytes.
const CHUNK_BYTES: usize = 1 << 15;

/// The output file. The encoder never returns it; it is shared with the code that commits it.
struct Shared(Arc<Mutex<AtomicFile>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // A panic while it is locked would leave its bytes in order.
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A PNG file that is being written.
pub(super) struct PngRows {
    file: Arc<Mutex<AtomicFile>>,
    rows: png::StreamWriter<'static, Shared>,
    /// One row in the byte order of the file.
    swapped: Vec<u8>,
}

impl std::fmt::Debug for PngRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PngRows")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl PngRows {
    /// `bits` is 8 or 16; `channels` is 1, 3 or 4.
    pub(super) fn new(
        file: AtomicFile,
        bits: u8,
        size: [usize; 2],
        channels: usize,
    ) -> Result<Self, IoError> {
        let path = file.path().to_owned();
        let file = Arc::new(Mutex::new(file));
        // The caller has checked that it fits in 31 bits.
        let [width, height] = size.map(index32);
        let mut encoder = png::Encoder::new(Shared(file.clone()), width, height);
        encoder.set_color(match channels {
            1 => ColorType::Grayscale,
            3 => ColorType::Rgb,
            _ => ColorType::Rgba,
        });
        encoder.set_depth(if bits == 8 {
            BitDepth::Eight
        } else {
            BitDepth::Sixteen
        });
        // Rows are frames or parts of them: the pixel above often is the same vertex a little earlier. Trying every
        // filter on every row took most of the time of a bake and made files only 2 % smaller.
        encoder.set_filter(png::Filter::Up);
        encoder.set_deflate_compression(png::DeflateCompression::Level(2));
        let rows = encoder
            .write_header()
            .and_then(|writer| writer.into_stream_writer_with_size(CHUNK_BYTES))
            .map_err(|e| cannot_write(&path)(e.into()))?;
        Ok(Self {
            file,
            rows,
            swapped: Vec::new(),
        })
    }

    pub(super) fn put8(&mut self, codes: &[u8], path: &Path) -> Result<(), IoError> {
        self.rows.write_all(codes).map_err(cannot_write(path))
    }

    pub(super) fn put16(&mut self, codes: &[u16], path: &Path) -> Result<(), IoError> {
        self.swapped.clear();
        self.swapped
            .extend(codes.iter().flat_map(|code| code.to_be_bytes()));
        self.rows
            .write_all(&self.swapped)
            .map_err(cannot_write(path))
    }

    pub(super) fn finish(self, path: &Path) -> Result<(), IoError> {
        self.rows
            .finish()
            .map_err(|e| cannot_write(path)(e.into()))?;
        let gone = || cannot_write(path)(std::io::Error::other("the file is still in use"));
        let file = Arc::into_inner(self.file).ok_or_else(gone)?;
        file.into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .commit()
    }
}

/// Reads a whole PNG, or rows of it.
pub(super) fn read(
    bytes: &[u8],
    rows: Option<Range<usize>>,
    path: &Path,
) -> Result<Texture, IoError> {
    let mut decoder = png::Decoder::new_with_options(Cursor::new(bytes), options());
    decoder.set_transformations(png::Transformations::IDENTITY);
    let (claim, bits, names) = claim(&mut decoder, bytes.len(), path)?;
    let rows = claim.check(rows, path)?;
    // Space for some rows and for the tables of Deflate.
    decoder.set_limits(png::Limits {
        bytes: (1 << 20) + 16 * row_bytes(&claim),
    });
    let raw = raw_rows(decoder, &claim, rows.clone()).map_err(|e| refused(&e, path))?;
    let texels = if bits == 8 {
        Texels::Codes8(raw)
    } else {
        let pairs = raw.chunks_exact(2);
        Texels::Codes16(
            pairs
                .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
                .collect(),
        )
    };
    Ok(Texture {
        width: claim.width,
        height: rows.len(),
        channels: names.iter().map(|&name| name.to_owned()).collect(),
        bits,
        texels,
    })
}

/// Checks all chunks that affect pixels. Ignores texts and profiles.
fn options() -> png::DecodeOptions {
    let mut options = png::DecodeOptions::default();
    options.set_ignore_adler32(false);
    options.set_ignore_text_chunk(true);
    options.set_ignore_iccp_chunk(true);
    options
}

type Decoder<'a> = png::Decoder<Cursor<&'a [u8]>>;

/// Content of the header: size, bits per number, channel names.
fn claim(
    decoder: &mut Decoder<'_>,
    file_bytes: usize,
    path: &Path,
) -> Result<(Claim, u8, &'static [&'static str]), IoError> {
    let info = decoder.read_header_info().map_err(|e| refused(&e, path))?;
    let bits = match info.bit_depth {
        BitDepth::Eight => 8,
        BitDepth::Sixteen => 16,
        fewer => {
            let feature = format!("a PNG with {} bits per channel", fewer as u8);
            return Err(unsupported(
                path,
                "header",
                feature,
                "save it with 8 or 16 bits",
            ));
        }
    };
    let names: &[&str] = match info.color_type {
        ColorType::Grayscale => &["Y"],
        ColorType::GrayscaleAlpha => &["Y", "A"],
        ColorType::Rgb => &["R", "G", "B"],
        ColorType::Rgba => &["R", "G", "B", "A"],
        ColorType::Indexed => {
            return Err(unsupported(
                path,
                "header",
                "a PNG with a palette",
                "save it as RGB",
            ));
        }
    };
    let [width, height] = [info.width, info.height].map(|side| side as usize);
    let number_bytes = usize::from(bits / 8);
    let claim = Claim {
        width,
        height,
        channels: names.len(),
        number_bytes,
        // Correct for interlaced images, too: their passes have as many pixels. Excludes filter bytes.
        unpacked_bytes: (width as u64 * height as u64)
            .saturating_mul((number_bytes * names.len()) as u64),
        file_bytes,
    };
    Ok((claim, bits, names))
}

fn row_bytes(claim: &Claim) -> usize {
    claim.width * claim.channels * claim.number_bytes
}

/// Bytes of the rows as in the file.
fn raw_rows(
    decoder: Decoder<'_>,
    claim: &Claim,
    rows: Range<usize>,
) -> Result<Vec<u8>, DecodingError> {
    let row_bytes = row_bytes(claim);
    let mut reader = decoder.read_info()?;
    if reader.info().interlaced {
        let mut all = vec![0; row_bytes * claim.height];
        reader.next_frame(&mut all)?;
        reader.finish()?;
        all.truncate(row_bytes * rows.end);
        return Ok(all.split_off(row_bytes * rows.start));
    }
    let mut kept = vec![0; row_bytes * rows.len()];
    let mut skipped = vec![0; if rows.start > 0 { row_bytes } else { 0 }];
    for _ in 0..rows.start {
        reader.read_row(&mut skipped)?;
    }
    for row in kept.chunks_exact_mut(row_bytes) {
        reader.read_row(row)?;
    }
    // The end is only checked if it is reached.
    if rows.end == claim.height {
        reader.finish()?;
    }
    Ok(kept)
}

fn refused(error: &DecodingError, path: &Path) -> IoError {
    match error {
        DecodingError::LimitsExceeded => unsupported(
            path,
            "texture",
            "a very large chunk of metadata",
            "save it without metadata",
        ),
        _ => malformed(path, "texture", error.to_string(), "a complete PNG"),
    }
}
