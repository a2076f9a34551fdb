//! What pictures are put on: sizes, backgrounds, sheets, animations, files.

use crate::args::parse_hex;
use crate::exit::{Failure, Outcome};
use crate::output::is_numbered;
use crate::render_args::KindArgs;
use sinew::geom::Image;
use sinew::io::{FrameRate, write_animation, write_png};
use sinew::picture::{Panel, Scale, ScaleBarStyle, draw_scale_bar, sheet};
use sinew::render::Background;
use std::path::Path;

/// Pixels of all pictures of a sheet together, at most: a slip of the finger must not fill the memory.
const MOST_PIXELS: u64 = 1 << 28;
const SINGLE: [u32; 2] = [1280, 720];
const PANEL: [u32; 2] = [480, 480];
/// sRGB of the sheet around pictures with the studio's background.
const SHEET: [u8; 4] = [250, 250, 250, 255];

/// What the ending of the file asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Picture,
    /// A picture for each step.
    Numbered,
    Animation,
}

impl Format {
    pub(super) fn of(path: &Path, is_sheet: bool) -> Outcome<Self> {
        let ending = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "png" if is_numbered(path) && !is_sheet => Ok(Self::Numbered),
            "png" => Ok(Self::Picture),
            "apng" | "gif" => Ok(Self::Animation),
            _ => Err(Failure::usage(format!(
                "{}: unknown file extension, expected .png, .apng, .gif",
                path.display()
            ))),
        }
    }
}

/// The pictures of one step, one for each thing that is compared, with their labels.
pub(super) struct Row {
    pub(super) label: String,
    pub(super) images: Vec<(String, Image)>,
}

pub(super) struct Paper {
    pub(super) format: Format,
    /// Pixels of one picture.
    pub(super) size: [u32; 2],
    columns: Option<usize>,
    pub(super) background: Background,
    /// Around the pictures.
    color: [u8; 4],
}

impl Paper {
    /// For `steps` steps of `compared` things (0 for one that is not compared).
    pub(super) fn parse(
        args: &KindArgs,
        format: Format,
        steps: usize,
        compared: usize,
    ) -> Outcome<Self> {
        let alone = compared < 2 && (steps == 1 || format != Format::Picture);
        let size = match &args.size {
            Some(text) => parse_size(text)?,
            None if alone && format != Format::Animation => SINGLE,
            None => PANEL,
        };
        // Numbered pictures do not wait for each other.
        let rows = if format == Format::Numbered { 1 } else { steps };
        let pictures = rows.saturating_mul(compared.max(1)) as u64;
        let pixels = u64::from(size[0]) * u64::from(size[1]);
        let pixels = pixels.saturating_mul(pictures);
        if pictures > 1 && pixels > MOST_PIXELS {
            return Err(Failure::usage(format!(
                "{pictures} pictures of {} x {} pixels are {pixels} pixels, but the limit is at most {MOST_PIXELS}; choose fewer frames or a smaller --size",
                size[0], size[1]
            )));
        }
        if args.columns == Some(0) {
            return Err(Failure::usage("--columns is 0, expected 1 or more"));
        }
        if args.rate == Some(0) {
            return Err(Failure::usage("--rate is 0, expected 1 or more"));
        }
        let (background, color) = parse_background(&args.background)?;
        Ok(Self {
            format,
            size,
            columns: args.columns,
            background,
            color,
        })
    }

    /// Writes everything to one file, which appears whole or not at all.
    pub(super) fn write(
        &self,
        path: &Path,
        mut rows: Vec<Row>,
        scale: Option<&Scale>,
        rate: u16,
    ) -> Outcome {
        let legend = scale.map(|scale| {
            let letters = (self.size[1] as f32 * 0.03).clamp(12.0, 24.0);
            let style = ScaleBarStyle::on(self.color).sized(letters);
            draw_scale_bar(scale, self.size[1] as usize, &style)
        });
        let legend = legend.as_ref();
        if self.format != Format::Animation {
            return write_png(path, &self.assemble(&mut rows, legend)).map_err(Failure::output);
        }
        let one = |row| self.assemble(&mut [row], legend);
        let images: Vec<Image> = rows.into_iter().map(one).collect();
        let rate = FrameRate::new(rate, 1)
            .ok_or_else(|| Failure::usage("--rate is 0, expected 1 or more"))?;
        write_animation(path, &images, rate).map_err(Failure::output)
    }

    /// A sheet; a single picture without a legend stays as it is.
    fn assemble(&self, rows: &mut [Row], legend: Option<&Image>) -> Image {
        if let ([row], None) = (&mut *rows, legend)
            && let [(label, image)] = row.images.as_mut_slice()
            && label.is_empty()
        {
            return std::mem::take(image);
        }
        let variants = rows.first().map_or(1, |r| r.images.len());
        let columns = self.columns.or((variants > 1).then_some(variants));
        let several = rows.len() > 1;
        let panels: Vec<Panel<'_>> = rows
            .iter()
            .flat_map(|row| row.images.iter().map(move |image| (row, image)))
            .map(|(row, (label, image))| {
                let parts = [label.as_str(), if several { &row.label } else { "" }];
                let parts: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty()).collect();
                Panel::new(parts.join(", "), image)
            })
            .collect();
        sheet(&panels, columns, legend, self.color)
    }
}

fn parse_size(text: &str) -> Outcome<[u32; 2]> {
    let wrong = || {
        Failure::usage(format!(
            "--size is '{text}', expected WIDTHxHEIGHT, for example 1280x720"
        ))
    };
    let (width, height) = text.split_once(['x', 'X']).ok_or_else(wrong)?;
    let number = |t: &str| {
        t.trim()
            .parse::<u32>()
            .ok()
            .filter(|&n| n > 0)
            .ok_or_else(wrong)
    };
    Ok([number(width)?, number(height)?])
}

/// The background of pictures and the colour of the sheet around them.
fn parse_background(text: &str) -> Outcome<(Background, [u8; 4])> {
    let plain = |[r, g, b]: [u8; 3]| {
        let linear = [r, g, b].map(sinew::picture::linear_from_srgb);
        (Background::Plain(linear), [r, g, b, 255])
    };
    Ok(match text {
        "studio" => (Background::STUDIO, SHEET),
        "transparent" => (Background::Transparent, [0; 4]),
        "white" => plain([255; 3]),
        "black" => plain([0; 3]),
        _ => plain(parse_hex(text).ok_or_else(|| {
            Failure::usage(format!(
                "--background is '{text}', expected studio, transparent, white, black or #rrggbb"
            ))
        })?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_colors() {
        assert_eq!(parse_size("64x32").expect("a size"), [64, 32]);
        for bad in ["", "64", "0x5", "axb", "-1x3", "1x99999999999"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
        assert_eq!(parse_hex("#0a10ff"), Some([10, 16, 255]));
        for bad in ["#12", "123456", "#ggffff", "#ééé"] {
            assert_eq!(parse_hex(bad), None, "{bad}");
        }
    }
}
