//! Pictures in files: textures are decoded, results are written.
//!
//! [`decode_image`] turns PNG and JPEG bytes of any kind (16 bits, grey, palettes, CMYK) into 8-bit sRGB pixels with straight
//! alpha. The size is read from the header and compared with [`LARGEST_SIDE`] and [`LARGEST_BYTES`] before anything is
//! allocated for it. Colour profiles and orientation marks are ignored, as glTF wants it for textures.
//!
//! [`write_png`] and [`write_animation`] write under a temporary name and rename at the end.

mod animation;
mod palette;
#[cfg(test)]
mod tests;

pub use animation::{FrameRate, write_animation};

use crate::fault::{cannot_write, malformed};
use crate::{AtomicFile, IoError, read_bytes};
use image::codecs::{jpeg::JpegDecoder, png::PngDecoder};
use image::{DynamicImage, ImageDecoder, ImageResult, Limits};
use sinew_geom::{EncodedImage, Image, ImageFormat};
use std::io::{Cursor, Write};
use std::path::Path;

/// Most pixels along one side of an image that is decoded.
pub const LARGEST_SIDE: u32 = 16_384;
/// Most bytes that one image may take while it is decoded.
pub const LARGEST_BYTES: u64 = 512 << 20;

/// Decodes an image of a file; `path` is that file's, for messages.
///
/// # Errors
/// [`IoError::Malformed`] for bytes that are no image of the format, or only a part of one, and [`IoError::Unsupported`] where
/// the image is larger than [`LARGEST_SIDE`] or [`LARGEST_BYTES`] allow.
pub fn decode_image(image: &EncodedImage, path: &Path) -> Result<Image, IoError> {
    let place = format!("image '{}'", image.name.escape_debug());
    decode(&image.bytes, image.format, &place, path)
}

/// Reads a PNG; of an animated one the picture that stands for it, as a rule the first.
///
/// # Errors
/// [`IoError::Read`], and those of [`decode_image`].
pub fn read_png(path: &Path) -> Result<Image, IoError> {
    let bytes = read_bytes(path)?;
    decode(&bytes, ImageFormat::Png, "picture", path)
}

/// Writes a PNG that replaces `path` at the end.
///
/// # Errors
/// [`IoError::Write`]; [`IoError::Unsupported`] for an image without pixels.
pub fn write_png(path: &Path, image: &Image) -> Result<(), IoError> {
    let mut file = AtomicFile::create(path)?;
    encode_png(&mut file, image, path)?;
    file.commit()
}

/// A picture as the bytes of a PNG, for pages that hold their pictures.
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
            "picture",
            format!("a size of {}x{} pixels", image.width(), image.height()),
            format!("each side has 1 to {most} pixels"),
        )),
    }
}

fn decode(bytes: &[u8], format: ImageFormat, place: &str, path: &Path) -> Result<Image, IoError> {
    let bytes = Cursor::new(bytes);
    let limits = limits();
    let decoded = match format {
        ImageFormat::Png => PngDecoder::with_limits(bytes, limits).and_then(pixels),
        ImageFormat::Jpeg => JpegDecoder::new(bytes).and_then(|mut decoder| {
            decoder.set_limits(limits)?;
            pixels(decoder)
        }),
    };
    decoded.map_err(|error| refused(&error, format, place, path))
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(LARGEST_SIDE);
    limits.max_image_height = Some(LARGEST_SIDE);
    limits.max_alloc = Some(LARGEST_BYTES);
    limits
}

fn pixels(decoder: impl ImageDecoder) -> ImageResult<Image> {
    let (width, height) = decoder.dimensions();
    // What the decoder gives, and the four bytes a pixel that are made of it.
    let mut limits = limits();
    limits.reserve(decoder.total_bytes())?;
    limits.reserve(u64::from(width) * u64::from(height) * 4)?;
    let pixels = DynamicImage::from_decoder(decoder)?.into_rgba8();
    let image = Image::from_bytes(width as usize, height as usize, pixels.into_raw());
    // The decoder has just said this size, so that the bytes are as many as it needs.
    Ok(image.unwrap_or_default())
}

fn refused(error: &image::ImageError, format: ImageFormat, place: &str, path: &Path) -> IoError {
    match error {
        image::ImageError::Limits(_) => unsupported(
            path,
            place,
            format!("an image this large ({error})"),
            format!(
                "at most {LARGEST_SIDE} pixels a side and {} MiB are decoded",
                LARGEST_BYTES >> 20
            ),
        ),
        _ => malformed(
            path,
            place,
            error.to_string(),
            match format {
                ImageFormat::Png => "a whole PNG",
                ImageFormat::Jpeg => "a whole JPEG",
            },
        ),
    }
}

fn unsupported(path: &Path, place: &str, feature: String, help: String) -> IoError {
    IoError::Unsupported {
        path: path.to_owned(),
        place: place.to_owned(),
        feature,
        help,
    }
}
