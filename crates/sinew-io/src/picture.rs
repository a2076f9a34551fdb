//! Image files: decodes textures, writes results.
//!
//! [`decode_image`] decodes PNG and JPEG of any kind (16 bits, grey, palette, CMYK) to 8-bit sRGB pixels with straight
//! alpha. It compares the size in the header with [`LARGEST_SIDE`] and [`LARGEST_BYTES`] before it allocates memory. It
//! ignores colour profiles and orientation tags, as glTF requires for textures.
//!
//! [`write_png`] and [`write_animation`] write to a temporary file and rename it at the end.

mod animation;
mod palette;
#[cfg(test)]
mod tests;

pub use animation::{FrameRate, write_animation};

use crate::fault::{cannot_write, malformed};
use crate::{AtomicFile, IoError, read_bytes};
use sinew_geom::{EncodedImage, Image, ImageFormat};
use std::io::{Cursor, Write};
use std::path::Path;
use zune_jpeg::errors::DecodeErrors as JpegFault;
use zune_jpeg::zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions};

/// Maximum width and height of a decoded image, in pixels.
pub const LARGEST_SIDE: u32 = 16_384;
/// Maximum memory to decode one image, in bytes.
pub const LARGEST_BYTES: u64 = 512 << 20;

/// Decodes an image. `path` is the file that contains it, for messages.
///
/// # Errors
/// [`IoError::Malformed`] if the bytes are not a complete image of the format; [`IoError::Unsupported`] if the image
/// exceeds [`LARGEST_SIDE`] or [`LARGEST_BYTES`].
pub fn decode_image(image: &EncodedImage, path: &Path) -> Result<Image, IoError> {
    let location = format!("image '{}'", image.name.escape_debug());
    decode(&image.bytes, image.format, &location, path)
}

/// Reads a PNG. For an animated PNG, reads its default image, usually the first.
///
/// # Errors
/// [`IoError::Read`], and those of [`decode_image`].
pub fn read_png(path: &Path) -> Result<Image, IoError> {
    let bytes = read_bytes(path)?;
    decode(&bytes, ImageFormat::Png, "picture", path)
}

/// Writes a PNG. Replaces `path` at the end.
///
/// # Errors
/// [`IoError::Write`]; [`IoError::Unsupported`] for an image without pixels.
pub fn write_png(path: &Path, image: &Image) -> Result<(), IoError> {
    let mut file = AtomicFile::create(path)?;
    encode_png(&mut file, image, path)?;
    file.commit()
}

/// Encodes an image as PNG bytes, to embed it in a page.
///
/// # Errors
/// [`IoError::Unsupported`] for an image without pixels.
pub fn png_bytes(image: &Image) -> Result<Vec<u8>, IoError> {
    let mut out = Vec::new();
    encode_png(&mut out, image, Path::new("picture"))?;
    Ok(out)
}

fn encode_png(to: &mut impl Write, image: &Image, path: &Path) -> Result<(), IoError> {
    let encoder = png_encoder(to, image, png::Compression::High, path)?;
    let encode = || {
        let mut writer = encoder.write_header()?;
        writer.write_image_data(image.as_bytes())?;
        writer.finish()
    };
    encode().map_err(png_fault(path))
}

/// An encoder for pictures of the size of `image`.
fn png_encoder<'a, W: Write>(
    to: W,
    image: &Image,
    compression: png::Compression,
    path: &Path,
) -> Result<png::Encoder<'a, W>, IoError> {
    let [width, height] = size_in_file(image, i32::MAX as u32, path)?;
    let mut encoder = png::Encoder::new(to, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(compression);
    Ok(encoder)
}

fn png_fault(path: &Path) -> impl Fn(png::EncodingError) -> IoError + '_ {
    move |error| cannot_write(path)(error.into())
}

/// Width and height of `image`, which must have pixels, and at most `most` along each side.
fn size_in_file(image: &Image, most: u32, path: &Path) -> Result<[u32; 2], IoError> {
    let side = |pixels: usize| u32::try_from(pixels).ok().filter(|&p| p <= most);
    match (side(image.width()), side(image.height())) {
        (Some(width @ 1..), Some(height @ 1..)) => Ok([width, height]),
        _ => Err(unsupported(
            path,
            "image",
            format!("an image of {}x{} pixels", image.width(), image.height()),
            format!("width and height must be 1 to {most} pixels"),
        )),
    }
}

fn decode(
    bytes: &[u8],
    format: ImageFormat,
    location: &str,
    path: &Path,
) -> Result<Image, IoError> {
    let (decoded, whole) = match format {
        ImageFormat::Png => (decode_png(bytes), "a complete PNG"),
        ImageFormat::Jpeg => (decode_jpeg(bytes), "a complete JPEG"),
    };
    decoded.map_err(|fault| match fault {
        Fault::TooLarge(found) => unsupported(
            path,
            location,
            format!("an image of {found}"),
            format!(
                "the limits are {LARGEST_SIDE} pixels per side and {} MiB in memory; use a smaller image",
                LARGEST_BYTES >> 20
            ),
        ),
        Fault::Malformed(found) => malformed(path, location, found, whole),
    })
}

/// Why bytes are no image.
enum Fault {
    TooLarge(String),
    Malformed(String),
}

impl From<png::DecodingError> for Fault {
    fn from(error: png::DecodingError) -> Self {
        match error {
            png::DecodingError::LimitsExceeded => Self::TooLarge(error.to_string()),
            _ => Self::Malformed(error.to_string()),
        }
    }
}

impl From<JpegFault> for Fault {
    fn from(error: JpegFault) -> Self {
        Self::Malformed(error.to_string())
    }
}

fn decode_png(bytes: &[u8]) -> Result<Image, Fault> {
    let limits = png::Limits {
        bytes: LARGEST_BYTES as usize,
    };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    let (width, height) = decoder.read_header_info()?.size();
    check_size(width, height, 0)?;
    // Palettes, fewer than 8 bits and colours that are transparent.
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info()?;
    let (color, depth) = reader.output_color_type();
    let is_deep = depth == png::BitDepth::Sixteen;
    let samples = color.samples();
    check_size(width, height, samples << u8::from(is_deep))?;
    let mut data = vec![0; reader.output_buffer_size().unwrap_or_default()];
    reader.next_frame(&mut data)?;
    if is_deep {
        data = data.as_chunks().0.iter().copied().map(high_bits).collect();
    }
    Ok(from_samples([width, height], samples, &data))
}

/// 16 bits as 8, rounded.
fn high_bits(sample: [u8; 2]) -> u8 {
    ((u32::from(u16::from_be_bytes(sample)) + 128) / 257) as u8
}

fn decode_jpeg(bytes: &[u8]) -> Result<Image, Fault> {
    // Its own limits on the sides are not told apart from other errors.
    let options = DecoderOptions::default()
        .set_strict_mode(false)
        .set_max_width(usize::MAX)
        .set_max_height(usize::MAX);
    let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers()?;
    let is_grey = decoder.input_colorspace() == Some(ColorSpace::Luma);
    let (space, samples) = if is_grey {
        (ColorSpace::Luma, 1)
    } else {
        (ColorSpace::RGB, 3)
    };
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    let (width, height) = decoder.dimensions().unwrap_or_default();
    let size = [width, height].map(|side| side as u32);
    check_size(size[0], size[1], samples)?;
    Ok(from_samples(size, samples, &decoder.decode()?))
}

/// Checks the size limits. `pixel_bytes`: bytes of a decoded pixel, in addition to its four result bytes.
fn check_size(width: u32, height: u32, pixel_bytes: usize) -> Result<(), Fault> {
    let bytes = u64::from(width) * u64::from(height) * (pixel_bytes as u64 + 4);
    if width.max(height) > LARGEST_SIDE || bytes > LARGEST_BYTES {
        return Err(Fault::TooLarge(format!("{width}x{height} pixels")));
    }
    Ok(())
}

/// Grey, grey and alpha, RGB or RGBA, as `samples` says, to RGBA.
fn from_samples([width, height]: [u32; 2], samples: usize, data: &[u8]) -> Image {
    let pixels = match samples {
        1 => data.iter().map(|&v| [v, v, v, 255]).collect(),
        2 => data
            .as_chunks()
            .0
            .iter()
            .map(|&[v, a]| [v, v, v, a])
            .collect(),
        3 => data
            .as_chunks()
            .0
            .iter()
            .map(|&[r, g, b]| [r, g, b, 255])
            .collect(),
        _ => data.as_chunks().0.to_vec(),
    };
    Image::from_pixels(width as usize, height as usize, pixels)
}

fn unsupported(path: &Path, location: &str, feature: String, help: String) -> IoError {
    IoError::Unsupported {
        path: path.to_owned(),
        location: location.to_owned(),
        feature,
        help,
    }
}
