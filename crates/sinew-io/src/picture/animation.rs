//! Animated images: APNG and GIF.

use super::palette::Indexed;
use super::{png_encoder, png_fault, size_in_file, unsupported};
use crate::fault::cannot_write;
use crate::{AtomicFile, IoError};
use sinew_geom::Image;
use std::num::NonZeroU16;
use std::path::Path;

/// Frame rate as a fraction, for example 30000 frames in 1001 seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRate {
    frames: NonZeroU16,
    seconds: NonZeroU16,
}

impl FrameRate {
    /// `frames` frames in `seconds` seconds; `None` if one of them is zero.
    pub const fn new(frames: u16, seconds: u16) -> Option<Self> {
        match (NonZeroU16::new(frames), NonZeroU16::new(seconds)) {
            (Some(frames), Some(seconds)) => Some(Self { frames, seconds }),
            _ => None,
        }
    }

    /// Number of frames in [`Self::seconds`].
    pub const fn frames(self) -> u16 {
        self.frames.get()
    }

    /// Duration of [`Self::frames`] frames, in seconds.
    pub const fn seconds(self) -> u16 {
        self.seconds.get()
    }

    /// Start of frame `frame` in hundredths of a second, rounded.
    fn centiseconds(self, frame: u64) -> u64 {
        let frames = u64::from(self.frames());
        (frame * u64::from(self.seconds()) * 100 + frames / 2) / frames
    }
}

/// Shortest delay in a GIF that browsers respect, in hundredths of a second. They replace shorter ones by a tenth of a
/// second.
const SHORTEST_GIF_DELAY: u64 = 2;

/// Writes images of one size as an endless animation. Replaces `path` at the end.
///
/// The file extension chooses the format:
///
/// | extension | colours | alpha | times |
/// |---|---|---|---|
/// | `.png`, `.apng` | exact | exact | the exact frame rate |
/// | `.gif` | 256 per frame | 0 or 1, threshold 0.5 | hundredths of a second, rounded without drift; at most 50 frames per second |
///
/// # Errors
/// [`IoError::FrameSize`] if an image differs in size from the first; [`IoError::Unsupported`] without images, for
/// empty images, for sizes that the format cannot store and for other extensions; [`IoError::Write`].
pub fn write_animation(path: &Path, images: &[Image], rate: FrameRate) -> Result<(), IoError> {
    let first = check_sizes(path, images)?;
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    let write = match ending.to_ascii_lowercase().as_str() {
        "png" | "apng" => write_apng,
        "gif" => write_gif,
        _ => {
            return Err(unsupported(
                path,
                "file name",
                format!("the file extension '{}'", ending.escape_debug()),
                "use .png, .apng or .gif".to_owned(),
            ));
        }
    };
    let mut file = AtomicFile::create(path)?;
    write(&mut file, path, first, images, rate)?;
    file.commit()
}

/// The first picture; all others are of its size.
fn check_sizes<'a>(path: &Path, images: &'a [Image]) -> Result<&'a Image, IoError> {
    let size = |image: &Image| [image.width(), image.height()];
    let Some(first) = images.first() else {
        return Err(unsupported(
            path,
            "animation",
            "an animation without images".to_owned(),
            "write at least one image".to_owned(),
        ));
    };
    match images.iter().position(|image| size(image) != size(first)) {
        None => Ok(first),
        Some(frame) => Err(IoError::FrameSize {
            path: path.to_owned(),
            frame,
            found: size(&images[frame]),
            expected: size(first),
        }),
    }
}

fn write_apng(
    file: &mut AtomicFile,
    path: &Path,
    first: &Image,
    images: &[Image],
    rate: FrameRate,
) -> Result<(), IoError> {
    let mut encoder = png_encoder(file, first, png::Compression::Balanced, path)?;
    let encode = || {
        let count = u32::try_from(images.len()).map_err(|_| png::EncodingError::LimitsExceeded)?;
        encoder.set_animated(count, 0)?;
        encoder.set_frame_delay(rate.seconds(), rate.frames())?;
        // Each picture replaces the one before: nothing shines through where it is translucent.
        encoder.set_blend_op(png::BlendOp::Source)?;
        encoder.set_dispose_op(png::DisposeOp::None)?;
        let mut writer = encoder.write_header()?;
        for image in images {
            writer.write_image_data(image.as_bytes())?;
        }
        writer.finish()
    };
    encode().map_err(png_fault(path))
}

fn write_gif(
    file: &mut AtomicFile,
    path: &Path,
    first: &Image,
    images: &[Image],
    rate: FrameRate,
) -> Result<(), IoError> {
    let size = size_in_file(first, u32::from(u16::MAX), path)?;
    // The check just made keeps both within 16 bits.
    let [width, height] = size.map(|side| u16::try_from(side).unwrap_or(u16::MAX));
    let mut encode = || {
        let mut encoder = gif::Encoder::new(&mut *file, width, height, &[])?;
        encoder.set_repeat(gif::Repeat::Infinite)?;
        for (frame, image) in (0..).zip(images) {
            encoder.write_frame(&gif_frame(image, [width, height], delay(frame, rate)))?;
        }
        Ok(())
    };
    encode().map_err(|error| {
        cannot_write(path)(match error {
            gif::EncodingError::Io(error) => error,
            other => std::io::Error::other(other),
        })
    })
}

/// Hundredths of a second that picture `frame` stays.
fn delay(frame: u64, rate: FrameRate) -> u16 {
    let hundredths = rate.centiseconds(frame + 1) - rate.centiseconds(frame);
    u16::try_from(hundredths.max(SHORTEST_GIF_DELAY)).unwrap_or(u16::MAX)
}

fn gif_frame(image: &Image, [width, height]: [u16; 2], delay: u16) -> gif::Frame<'static> {
    let Indexed {
        indices,
        palette,
        transparent,
    } = Indexed::of(image.pixels());
    gif::Frame {
        width,
        height,
        delay,
        // Clears each frame, so that transparent pixels of the next one do not show it.
        dispose: gif::DisposalMethod::Background,
        transparent,
        palette: Some(palette),
        buffer: indices.into(),
        ..gif::Frame::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_gif_times_do_not_add_up() {
        let rate = FrameRate::new(30, 1).expect("not zero");
        let delays: Vec<u16> = (0..30).map(|frame| delay(frame, rate)).collect();
        assert_eq!(delays.iter().sum::<u16>(), 100);
        assert!(delays.iter().all(|d| [3, 4].contains(d)), "{delays:?}");
        let slow = FrameRate::new(1, 60_000).expect("not zero");
        assert_eq!(delay(0, slow), u16::MAX);
        let fast = FrameRate::new(240, 1).expect("not zero");
        assert_eq!(delay(7, fast), 2);
        assert_eq!(FrameRate::new(0, 1), None);
        assert_eq!(FrameRate::new(1, 0), None);
    }
}
