//! Several pictures on one sheet, each with its label.

use crate::text::{TextStyle, draw_text, shortened, text_width};
use sinew_geom::Image;

/// A picture with its label.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Panel<'a> {
    /// Text above the picture; may be empty.
    pub label: String,
    /// The picture.
    pub image: &'a Image,
}

impl<'a> Panel<'a> {
    /// A picture with a label.
    pub fn new(label: impl Into<String>, image: &'a Image) -> Self {
        Self {
            label: label.into(),
            image,
        }
    }
}

/// Background of [`side_by_side`].
const PAPER: [u8; 4] = [250, 250, 250, 255];
/// Width over height that a sheet comes near to where its columns are not given.
const ASPECT: f64 = 1.6;
/// Smallest and largest letters of labels, pixels.
const LETTERS: [f32; 2] = [11.0, 30.0];

/// Pictures in a grid, row by row, with equal gaps. Each is centred in its cell, under its label; cells have the size of the largest
/// picture.
///
/// * `columns`: number of cells per row, limited to 1 to the number of panels. With `None`, it is chosen to bring the sheet near 16:10.
/// * `legend`: an image at the right, usually a scale bar.
/// * `background`: sRGB with alpha; the sheet keeps its translucency.
///
/// Labels that are too wide get smaller letters, then an ellipsis. Without panels, the sheet is empty apart from gaps and legend.
pub fn sheet(
    panels: &[Panel<'_>],
    columns: Option<usize>,
    legend: Option<&Image>,
    background: [u8; 4],
) -> Image {
    let layout = Layout::new(panels, columns, legend);
    let [width, height] = layout.size();
    let mut out = Image::filled(width, height, background);
    let style = TextStyle::on(background).sized(layout.letters);
    for (k, panel) in panels.iter().enumerate() {
        let [x, y] = layout.corner(k);
        label(&mut out, &panel.label, [x, y], &layout, style);
        let [width, height] = layout.cell;
        out.paste_over(
            panel.image,
            x + (width - panel.image.width()) / 2,
            y + layout.strip + (height - panel.image.height()) / 2,
        );
    }
    if let Some(legend) = legend {
        let [x, y] = layout.legend_corner();
        out.paste_over(legend, x, y);
    }
    out
}

/// Panels in one row on light paper, each with its label: [`sheet`] without a legend.
pub fn side_by_side(panels: &[(&str, &Image)]) -> Image {
    let panels: Vec<Panel<'_>> = panels
        .iter()
        .map(|&(label, image)| Panel::new(label, image))
        .collect();
    sheet(&panels, Some(panels.len()), None, PAPER)
}

/// Where everything is, pixels.
struct Layout {
    columns: usize,
    rows: usize,
    /// Room of the largest picture.
    cell: [usize; 2],
    gap: usize,
    /// Height of a label with the room around it.
    strip: usize,
    letters: f32,
    /// Width and height of the legend.
    legend: [usize; 2],
}

impl Layout {
    fn new(panels: &[Panel<'_>], columns: Option<usize>, legend: Option<&Image>) -> Self {
        let most = |side: fn(&Image) -> usize| panels.iter().map(|p| side(p.image)).max();
        let cell = [Image::width, Image::height].map(|side| most(side).unwrap_or(0));
        let letters = (cell[0] as f32 / 22.0)
            .clamp(LETTERS[0], LETTERS[1])
            .round();
        let labelled = panels.iter().any(|p| !p.label.is_empty());
        let mut layout = Self {
            columns: 1,
            rows: panels.len(),
            cell,
            gap: (cell[0].min(cell[1]) / 36).clamp(6, 24),
            strip: if labelled {
                (letters * 1.5) as usize
            } else {
                0
            },
            letters,
            legend: legend.map_or([0; 2], |l| [l.width(), l.height()]),
        };
        let columns = columns.unwrap_or_else(|| layout.best_columns(panels.len()));
        layout.set_columns(columns, panels.len());
        layout
    }

    fn set_columns(&mut self, columns: usize, panels: usize) {
        self.columns = columns.clamp(1, panels.max(1));
        self.rows = panels.div_ceil(self.columns);
    }

    /// Columns with which the sheet is nearest to its best shape; each empty cell counts a little against them.
    fn best_columns(&mut self, panels: usize) -> usize {
        let mut cost = |columns| {
            self.set_columns(columns, panels);
            let [width, height] = self.size();
            let empty = self.columns * self.rows - panels;
            let off = (width as f64 / height as f64 / ASPECT).ln().abs();
            off + 0.4 * empty as f64 / panels as f64
        };
        (1..=panels)
            .map(|columns| (cost(columns), columns))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(1, |best| best.1)
    }

    fn grid(&self) -> [usize; 2] {
        [
            self.columns * (self.cell[0] + self.gap) + self.gap,
            self.rows * (self.strip + self.cell[1] + self.gap) + self.gap,
        ]
    }

    fn size(&self) -> [usize; 2] {
        let [width, height] = self.grid();
        match self.legend {
            [0, _] | [_, 0] => [width, height],
            // Beside the gap of the grid as much again, to set the legend apart.
            [wide, high] => [width + wide + 2 * self.gap, height.max(high + 2 * self.gap)],
        }
    }

    fn corner(&self, panel: usize) -> [usize; 2] {
        let [column, row] = [panel % self.columns, panel / self.columns];
        // A legend higher than the grid leaves room, half of it above.
        let above = (self.size()[1] - self.grid()[1]) / 2;
        [
            self.gap + column * (self.cell[0] + self.gap),
            self.gap + row * (self.strip + self.cell[1] + self.gap) + above,
        ]
    }

    fn legend_corner(&self) -> [usize; 2] {
        let [width, _] = self.grid();
        // In the middle of the pictures; the label above the first row is no part of them.
        let [from, to] = [self.strip.min(self.gap), self.size()[1]];
        let spare = (to - from).saturating_sub(self.legend[1]);
        [width + self.gap, from + spare / 2]
    }
}

/// A label in the middle of the strip above the cell at `corner`.
fn label(out: &mut Image, text: &str, corner: [usize; 2], layout: &Layout, style: TextStyle) {
    let room = layout.cell[0] as f32;
    let wide = text_width(text, &style);
    let style = match wide <= room {
        true => style,
        // Rounded down, so that it fits.
        false => style.sized((style.size * room / wide * 2.0).floor() / 2.0),
    };
    // Much smaller ones than those of the neighbours look like a mistake.
    let style = style.sized(style.size.max(LETTERS[0]).max(layout.letters * 0.7));
    let text = shortened(text, room, &style);
    let x = corner[0] as f32 + (room - text_width(&text, &style)) * 0.5;
    // Capital letters are in the middle of the strip, a little up: some letters reach below the line.
    let y = corner[1] as f32 + (layout.strip as f32 * 0.92 + style.cap_height()) * 0.5;
    draw_text(out, &text, x.round(), y.round(), &style);
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: [u8; 4] = [255, 0, 0, 255];

    fn count(image: &Image, color: [u8; 4]) -> usize {
        image.pixels().iter().filter(|p| **p == color).count()
    }

    #[test]
    fn every_picture_is_there_once_and_whole() {
        let (large, small) = (Image::filled(60, 40, RED), Image::filled(31, 17, RED));
        for n in 1..8 {
            let panels: Vec<Panel<'_>> = (0..n)
                .map(|k| Panel::new("a", if k % 2 == 0 { &large } else { &small }))
                .collect();
            for columns in [None, Some(0), Some(1), Some(3), Some(100)] {
                let out = sheet(&panels, columns, Some(&large), PAPER);
                let wanted: usize = panels.iter().map(|p| p.image.pixels().len()).sum();
                assert_eq!(count(&out, RED), wanted + 60 * 40, "{n} {columns:?}");
            }
        }
    }

    #[test]
    fn the_shape_is_near_to_a_screen() {
        for (n, [width, height], columns) in [
            (1, [400, 300], 1),
            (4, [400, 300], 2),
            (6, [300, 300], 3),
            (9, [320, 200], 3),
            (2, [300, 400], 2),
            (3, [800, 200], 1),
        ] {
            let image = Image::filled(width, height, RED);
            let panels = vec![Panel::new("", &image); n];
            assert_eq!(Layout::new(&panels, None, None).columns, columns, "{n}");
        }
    }

    #[test]
    fn gaps_are_even_and_nothing_is_above_without_labels() {
        let image = Image::filled(50, 30, RED);
        let out = sheet(
            &[Panel::new("", &image), Panel::new("", &image)],
            Some(2),
            None,
            PAPER,
        );
        assert_eq!((out.width(), out.height()), (50 * 2 + 6 * 3, 30 + 6 * 2));
        let row: Vec<usize> = (0..out.width())
            .filter(|&x| out.pixel(x, 20) == Some(RED))
            .collect();
        assert_eq!(row, (6..56).chain(62..112).collect::<Vec<_>>());
    }

    #[test]
    fn labels_stay_above_their_panel() {
        let image = Image::filled(120, 60, RED);
        let long = "a label that is far wider than the picture which it stands above";
        for label in ["rest", "gjpqy ,;", long] {
            let out = sheet(&[Panel::new(label, &image)], None, None, PAPER);
            let ink: Vec<(usize, usize)> = (0..out.pixels().len())
                .filter(|&i| ![PAPER, RED].contains(&out.pixels()[i]))
                .map(|i| (i % out.width(), i / out.width()))
                .collect();
            assert!(!ink.is_empty(), "{label}");
            let top = (0..out.height())
                .find(|&y| out.pixel(20, y) == Some(RED))
                .expect("the panel");
            for (x, y) in ink {
                assert!((6..126).contains(&x) && y < top, "{label}: {x} {y}");
            }
        }
    }

    #[test]
    fn transparent_paper_stays_transparent() {
        let image = Image::from_pixels(2, 1, vec![RED, [0, 0, 255, 100]]);
        let out = sheet(&[Panel::new("", &image)], None, None, [0; 4]);
        assert_eq!(count(&out, RED), 1);
        assert_eq!(count(&out, [0, 0, 255, 100]), 1);
        assert_eq!(count(&out, [0; 4]), out.pixels().len() - 2);
        let labelled = sheet(
            &[Panel::new("rest", &Image::filled(90, 9, RED))],
            None,
            None,
            [0; 4],
        );
        assert!(
            labelled.pixels().iter().any(|p| p[3] > 128 && p[0] < 128),
            "dark letters"
        );
    }

    #[test]
    fn odd_sheets_do_not_break() {
        let none = Image::default();
        assert_eq!(sheet(&[], None, None, PAPER).height(), 6);
        assert!(sheet(&[], Some(3), Some(&Image::filled(9, 9, RED)), PAPER).width() > 9);
        let out = sheet(&[Panel::new("empty", &none)], None, Some(&none), PAPER);
        assert!(out.width() < 30);
        let tall = Image::filled(10, 500, RED);
        let small = Image::filled(10, 10, RED);
        let out = sheet(&[Panel::new("a", &small)], None, Some(&tall), PAPER);
        assert_eq!(count(&out, RED), 10 * 510);
    }
}
