//! Legends that say which colour stands for which number.
//!
//! Ticks are multiples of 1, 2 or 5 times a power of ten. They are computed as decimal texts and parsed, because `n * 0.1` in floating
//! point is not what the label says. Starting with the largest step that could do, steps get smaller until there are at least 70 % of the
//! wanted number.

use crate::color_map::ColorMap;
use crate::text::{TextStyle, draw_text, text_width};
use sinew_geom::Image;

/// A range of numbers, its colours and its title.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scale {
    /// Number at the low end.
    pub min: f32,
    /// Number at the high end.
    pub max: f32,
    /// Colours between both ends.
    pub map: ColorMap,
    /// Quantity and unit, such as `difference, mm`. May be empty.
    pub title: String,
}

impl Scale {
    /// The two ends in order; those that are not finite count as zero.
    fn ends(&self) -> [f32; 2] {
        let [min, max] = [self.min, self.max].map(|v| if v.is_finite() { v } else { 0.0 });
        [min.min(max), min.max(max)]
    }

    /// Position of `value` between the ends, 0 to 1 inside. 0.5 for all numbers if both ends are equal. NaN stays NaN. Ends in the wrong
    /// order are swapped; ends that are not finite count as 0.
    pub fn position(&self, value: f32) -> f32 {
        self.place(f64::from(value)) as f32
    }

    /// [`Self::position`] in double precision: ticks may lie between two floats, and two floats farther apart than a third one
    /// can say.
    fn place(&self, value: f64) -> f64 {
        let [min, max] = self.ends().map(f64::from);
        match min == max && !value.is_nan() {
            true => 0.5,
            false => (value - min) / (max - min),
        }
    }

    /// Colour of `value`, sRGB. Numbers outside get the colours of the ends, NaN gets grey.
    pub fn color(&self, value: f32) -> [u8; 3] {
        self.map.color(self.position(value))
    }
}

/// From one label to the next, in heights of a line: denser ones are hard to read.
const LABEL_DISTANCE: f32 = 3.2;

/// Style of a scale bar.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScaleBarStyle {
    /// Style of labels and title.
    pub text: TextStyle,
    /// Background, sRGB with alpha.
    pub background: [u8; 4],
    /// Width of the bar, pixels.
    pub bar_width: usize,
}

impl ScaleBarStyle {
    /// A style that is legible on that background, which may be translucent. Letters have 15 pixels.
    pub fn on(background: [u8; 4]) -> Self {
        Self {
            text: TextStyle::on(background).sized(15.0),
            background,
            bar_width: 22,
        }
    }

    /// The same style with letters of that size in pixels, and a bar that fits them.
    pub fn sized(self, size: f32) -> Self {
        Self {
            text: self.text.sized(size),
            bar_width: (size * 1.45).clamp(2.0, 1450.0) as usize,
            ..self
        }
    }
}

/// Round numbers from `min` to `max`, about as many as wanted (2 to 50), each with its label.
///
/// They are multiples of 1, 2 or 5 times a power of ten. Labels have just enough digits to differ, the same number in all of them, with an
/// exponent instead of many zeros (`1.5e-9`). Each label parses to its number. If both ends are equal, that number is the only tick. Ends
/// that are not finite count as 0; ends in the wrong order are swapped.
pub fn ticks(min: f32, max: f32, about: usize) -> Vec<(f64, String)> {
    let scale = Scale {
        min,
        max,
        ..Scale::default()
    };
    // Numbers as people write them: 0.1 shall be there in a range from `0.1_f32`, which is a little more.
    let [from, to] = scale.ends().map(as_written);
    if from == to {
        return vec![(from, shortest(from))];
    }
    let about = about.clamp(2, 50) as f64;
    Steps::down_from((to - from) / about * 1.5)
        .find_map(|step| step.between(from, to, about))
        .unwrap_or_default()
}

/// The number that is written with the fewest digits among those that are `value` in single precision.
fn as_written(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

/// `value` in as few letters as say it.
fn shortest(value: f64) -> String {
    let (plain, exponent) = (format!("{value}"), format!("{value:e}"));
    if plain.len() <= exponent.len().max(7) {
        plain
    } else {
        exponent
    }
}

/// A distance between ticks: `digit * 10^exponent`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    digit: i64,
    exponent: i32,
}

/// Round distances, each smaller than the one before.
struct Steps(Step);

impl Steps {
    /// From the largest that is at most `distance`.
    fn down_from(distance: f64) -> impl Iterator<Item = Step> {
        let exponent = distance.log10().floor() as i32 + 1;
        let first = Self(Step { digit: 1, exponent });
        first
            .skip_while(move |step| step.times(1) > distance)
            .take(12)
    }
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let step = self.0;
        self.0 = match step.digit {
            5 => Step { digit: 2, ..step },
            2 => Step { digit: 1, ..step },
            _ => Step {
                digit: 5,
                exponent: step.exponent - 1,
            },
        };
        Some(step)
    }
}

impl Step {
    /// The multiple of this, rounded once only.
    fn times(self, count: i64) -> f64 {
        let text = format!("{}e{}", self.digit.saturating_mul(count), self.exponent);
        text.parse().unwrap_or(f64::NAN)
    }

    /// The multiples of this between `from` and `to`, or `None` where they are too few for `about`.
    fn between(self, from: f64, to: f64, about: f64) -> Option<Vec<(f64, String)>> {
        let size = self.times(1);
        // One more on each side, for what rounding does to the quotients.
        let [first, last] = [(from / size).floor() - 1.0, (to / size).ceil() + 1.0];
        let counts = (first as i64..=last as i64)
            .filter(|&count| (from..=to).contains(&self.times(count)))
            .collect::<Vec<_>>();
        let enough = counts.len() >= 2 && counts.len() as f64 >= 0.7 * about;
        let labels = Labels::of(self, &counts);
        enough.then(|| {
            let tick = |&count: &i64| (self.times(count), labels.label(count));
            counts.iter().map(tick).collect()
        })
    }
}

/// How the ticks of one axis are written.
struct Labels {
    step: Step,
    /// Power of ten that stands behind each number, and digits behind the point.
    exponent: Option<i32>,
    decimals: usize,
}

impl Labels {
    fn of(step: Step, counts: &[i64]) -> Self {
        let largest = counts.iter().map(|count| (count * step.digit).abs()).max();
        let digits = largest.unwrap_or(1).max(1).ilog10() as i32;
        // The power of ten of the largest number.
        let power = digits + step.exponent;
        let plain = step.exponent >= -4 && power < 6;
        // All digits of numbers that differ in the last ones only are as legible without an exponent.
        let close = step.exponent >= -6 && power < 9 && power - step.exponent > 5;
        if plain || close {
            return Self {
                step,
                exponent: None,
                decimals: usize::try_from(-step.exponent).unwrap_or(0),
            };
        }
        Self {
            step,
            exponent: Some(power),
            decimals: usize::try_from(digits).unwrap_or(0),
        }
    }

    fn label(&self, count: i64) -> String {
        let Some(exponent) = self.exponent else {
            return format!("{:.*}", self.decimals, self.step.times(count));
        };
        if count == 0 {
            return "0".to_owned();
        }
        let shifted = Step {
            exponent: self.step.exponent - exponent,
            ..self.step
        };
        format!("{:.*}e{exponent}", self.decimals, shifted.times(count))
    }
}

/// A vertical bar with the colours of `scale`, high numbers at the top, with ticks beside it and the title above. `height` is that of the
/// whole image in pixels; the width is what the labels need.
///
/// If there is not enough space for labels or title, they are left out.
pub fn draw_scale_bar(scale: &Scale, height: usize, style: &ScaleBarStyle) -> Image {
    let layout = Layout::new(scale, height, style);
    let mut out = Image::filled(layout.width, height, style.background);
    layout.draw_bar(&mut out, scale);
    layout.draw_outline(&mut out);
    layout.draw_labels(&mut out);
    if layout.has_title {
        let baseline = style.text.em() * 0.25 + style.text.cap_height();
        draw_text(
            &mut out,
            &scale.title,
            layout.left as f32,
            baseline.round(),
            &style.text,
        );
    }
    out
}

/// Where the parts of a scale bar are, pixels.
struct Layout<'a> {
    style: &'a ScaleBarStyle,
    width: usize,
    has_title: bool,
    /// Left edge of bar and title.
    left: usize,
    /// Rows of the bar: the first, and how many.
    top: usize,
    rows: usize,
    /// The row of each tick, and what stands beside it.
    ticks: Vec<(usize, Label)>,
}

impl<'a> Layout<'a> {
    fn new(scale: &Scale, height: usize, style: &'a ScaleBarStyle) -> Self {
        let size = style.text.em();
        // Half a label reaches beyond each end of the bar.
        let margin = ((size * 0.5) as usize).min(height / 3);
        let title = (size * 1.9) as usize;
        let has_title = !scale.title.is_empty() && height > title + 4 * margin;
        let top = if has_title { title } else { 0 } + margin;
        let rows = height.saturating_sub(top + margin);
        let mut layout = Self {
            style,
            width: 0,
            has_title,
            left: rim(style),
            top,
            rows,
            ticks: Vec::new(),
        };
        layout.place_ticks(scale, size);
        layout.width = layout.needed_width(scale);
        layout
    }

    fn place_ticks(&mut self, scale: &Scale, size: f32) {
        let about = (self.rows as f32 / (size * LABEL_DISTANCE)) as usize;
        if self.rows as f32 > size {
            self.ticks = ticks(scale.min, scale.max, about.clamp(2, 12))
                .into_iter()
                .map(|(value, label)| (self.row_of(scale.place(value)), Label::new(&label)))
                .collect();
        }
    }

    /// The row whose middle is nearest to `position` (0 at the bottom end of the bar, 1 at the top).
    fn row_of(&self, position: f64) -> usize {
        let from_top = (1.0 - position) * self.rows as f64;
        self.top + (from_top.max(0.0) as usize).min(self.rows.saturating_sub(1))
    }

    fn needed_width(&self, scale: &Scale) -> usize {
        let style = &self.style.text;
        let labels = self.ticks.iter().map(|tick| tick.1.width(style));
        let labels = self.label_x() + labels.fold(0.0, f32::max);
        let title = if self.has_title {
            scale.title.as_str()
        } else {
            ""
        };
        let title = self.left as f32 + text_width(title, style);
        labels.max(title).ceil() as usize + rim(self.style)
    }

    fn mark_length(&self) -> usize {
        (self.style.text.em() * 0.35).max(2.0) as usize
    }

    fn label_x(&self) -> f32 {
        let marks_end = self.left + self.style.bar_width + self.mark_length();
        marks_end as f32 + self.style.text.em() * 0.3
    }

    fn draw_bar(&self, out: &mut Image, scale: &Scale) {
        for row in 0..self.rows {
            let position = 1.0 - (row as f32 + 0.5) / self.rows as f32;
            let [r, g, b] = scale.map.color(position);
            let line = Image::filled(self.style.bar_width, 1, [r, g, b, 255]);
            out.paste(&line, self.left, self.top + row);
        }
    }

    /// A thin line around the bar: its ends may have the colour of the background.
    fn draw_outline(&self, out: &mut Image) {
        if self.rows == 0 {
            return;
        }
        let [r, g, b, a] = self.style.text.color;
        let color = [r, g, b, a / 3];
        let [left, right] = [self.left.wrapping_sub(1), self.left + self.style.bar_width];
        let [top, bottom] = [self.top.wrapping_sub(1), self.top + self.rows];
        for y in self.top..bottom {
            out.blend_pixel(left, y, color, 1.0);
            out.blend_pixel(right, y, color, 1.0);
        }
        for x in self.left..right {
            out.blend_pixel(x, top, color, 1.0);
            out.blend_pixel(x, bottom, color, 1.0);
        }
    }

    fn draw_labels(&self, out: &mut Image) {
        let style = &self.style.text;
        let [r, g, b, a] = style.color;
        let thick = (style.em() / 18.0).round().max(1.0) as usize;
        let mark = Image::filled(self.mark_length(), thick, [r, g, b, a]);
        for (row, label) in &self.ticks {
            let middle = row.saturating_sub((thick - 1) / 2);
            out.paste_over(&mark, self.left + self.style.bar_width, middle);
            let baseline = *row as f32 + 0.5 + style.cap_height() * 0.5;
            label.draw(out, self.label_x(), baseline.round(), style);
        }
    }
}

/// Room for a halo at the sides.
fn rim(style: &ScaleBarStyle) -> usize {
    style.text.halo.map_or(1, |_| 3)
}

/// A label as it is drawn: with real minus signs, and the exponent as a raised power of ten.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Label {
    base: String,
    raised: String,
}

impl Label {
    fn new(label: &str) -> Self {
        let label = label.replace('-', "\u{2212}");
        match label.split_once('e') {
            Some((number, exponent)) => Self {
                base: format!("{number}\u{d7}10"),
                raised: exponent.to_owned(),
            },
            None => Self {
                base: label,
                raised: String::new(),
            },
        }
    }

    fn width(&self, style: &TextStyle) -> f32 {
        text_width(&self.base, style) + text_width(&self.raised, &Self::small(style))
    }

    fn draw(&self, out: &mut Image, x: f32, baseline: f32, style: &TextStyle) {
        draw_text(out, &self.base, x, baseline, style);
        let x = x + text_width(&self.base, style);
        let baseline = baseline - (style.cap_height() * 0.55).round();
        draw_text(out, &self.raised, x, baseline, &Self::small(style));
    }

    fn small(style: &TextStyle) -> TextStyle {
        style.sized(style.em() * 0.72)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGES: [[f32; 2]; 24] = [
        [0.0, 1.0],
        [0.0, 0.1],
        [0.1, 0.3],
        [-1.0, 1.0],
        [-0.7, -0.2],
        [0.0, 1e-9],
        [-3.3e-9, 1.1e-9],
        [0.0, 123_456.0],
        [0.0, 7.3e12],
        [-1e30, 1e30],
        [f32::MIN, f32::MAX],
        [1e6, 1_000_001.0],
        [100.0, 100.01],
        [16_777_212.0, 16_777_216.0],
        [0.0, 3.7],
        [2.5, 97.5],
        [0.999, 1.0],
        [0.0, 1e-44],
        [1e-38, 1e38],
        [0.0, 12.7],
        [-273.15, 1000.0],
        [0.0, 0.00045],
        [99_990.0, 100_010.0],
        [1.0, 0.0],
    ];

    fn scale([min, max]: [f32; 2]) -> Scale {
        Scale {
            min,
            max,
            map: ColorMap::Viridis,
            title: "difference, mm".into(),
        }
    }

    fn labels(min: f32, max: f32, about: usize) -> Vec<String> {
        ticks(min, max, about).into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn labels_are_what_people_write() {
        assert_eq!(
            labels(0.0, 1.0, 5),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(labels(0.1, 0.3, 3), ["0.1", "0.2", "0.3"]);
        assert_eq!(labels(-1.0, 1.0, 4), ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(labels(0.0, 12.7, 6), ["0", "2", "4", "6", "8", "10", "12"]);
        assert_eq!(labels(0.0, 1e-9, 2), ["0", "0.5e-9", "1.0e-9"]);
        assert_eq!(labels(0.0, 7e12, 7)[..3], ["0", "1e12", "2e12"]);
        assert_eq!(labels(0.0, 100_000.0, 5)[5], "100000");
        assert_eq!(labels(100.0, 100.01, 2), ["100.000", "100.005", "100.010"]);
        assert_eq!(labels(0.3, 0.3, 5), ["0.3"]);
        assert_eq!(labels(-1e-9, -1e-9, 5), ["-1e-9"]);
        assert_eq!(labels(0.0, 0.0, 5), ["0"]);
    }

    #[test]
    fn ticks_are_inside_round_even_and_say_their_number() {
        for [min, max] in RANGES {
            for about in [0, 1, 2, 3, 5, 8, 12, 50, usize::MAX] {
                let all = ticks(min, max, about);
                let wanted = about.clamp(2, 50) as f64;
                let count = all.len() as f64;
                assert!(all.len() >= 2, "{min} {max} {about}: {all:?}");
                assert!(count <= 2.6 * wanted + 1.0, "{min} {max} {about}: {all:?}");
                for (value, label) in &all {
                    assert_eq!(label.parse::<f64>().as_ref(), Ok(value), "{label}");
                    let inside = min.min(max)..=min.max(max);
                    assert!(inside.contains(&(*value as f32)), "{value} in {min} {max}");
                }
                let step = all[1].0 - all[0].0;
                for pair in all.windows(2) {
                    let off = (pair[1].0 - pair[0].0 - step).abs();
                    let precise = step * 1e-6 + 1e-15 * pair[1].0.abs();
                    assert!(off <= precise && pair[0].1 != pair[1].1, "{all:?}");
                }
            }
        }
    }

    #[test]
    fn any_two_floats_have_ticks_between_them() {
        let mut state = 7_u32;
        let mut random = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from_bits(state.rotate_left(9))
        };
        for round in 0..20_000 {
            let min = random();
            // Now and then the very next number.
            let max = if round % 4 == 0 {
                min.next_up()
            } else {
                random()
            };
            if !min.is_finite() || !max.is_finite() {
                continue;
            }
            let all = ticks(min, max, 6);
            assert!((2..=16).contains(&all.len()), "{min:e} {max:e} {all:?}");
            for (value, label) in &all {
                assert_eq!(label.parse::<f64>().as_ref(), Ok(value), "{label}");
                let inside = min.min(max)..=min.max(max);
                assert!(
                    inside.contains(&(*value as f32)),
                    "{value:e} {min:e} {max:e}"
                );
            }
        }
    }

    #[test]
    fn ends_that_are_no_numbers_do_not_break() {
        for min in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0] {
            for max in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 2.0] {
                assert!(!ticks(min, max, 5).is_empty());
                let scale = scale([min, max]);
                assert!(scale.position(1.0).is_finite());
                draw_scale_bar(&scale, 100, &ScaleBarStyle::on([255; 4]));
            }
        }
    }

    #[test]
    fn marks_stand_at_the_height_of_their_number() {
        for range in RANGES {
            for height in [60, 101, 240, 777] {
                let style = ScaleBarStyle::on([255; 4]);
                let scale = scale(range);
                let layout = Layout::new(&scale, height, &style);
                let image = draw_scale_bar(&scale, height, &style);
                let column = layout.left + style.bar_width + 1;
                let marks: Vec<usize> = (0..height)
                    .filter(|&y| image.pixel(column, y) == Some(style.text.color))
                    .collect();
                let ticks = ticks(
                    scale.min,
                    scale.max,
                    ((layout.rows as f32 / (15.0 * LABEL_DISTANCE)) as usize).clamp(2, 12),
                );
                assert_eq!(marks.len(), ticks.len(), "{range:?} {height}");
                let [low, high] = [range[0].min(range[1]), range[0].max(range[1])].map(f64::from);
                for (mark, (value, _)) in marks.iter().rev().zip(&ticks) {
                    let t = ((value - low) / (high - low)).clamp(0.0, 1.0);
                    let y = layout.top as f64 + (1.0 - t) * layout.rows as f64;
                    let off = (*mark as f64 + 0.5 - y).abs();
                    assert!(off <= 0.5 + 1e-3, "{range:?} {height} {value}: {mark} {y}");
                }
            }
        }
    }

    #[test]
    fn the_bar_has_the_colour_of_the_number_at_its_height() {
        for map in ColorMap::ALL {
            let scale = Scale {
                map,
                ..scale([-2.0, 6.0])
            };
            let style = ScaleBarStyle::on([0; 4]);
            let layout = Layout::new(&scale, 400, &style);
            let image = draw_scale_bar(&scale, 400, &style);
            for k in 0..=1000 {
                let value = -2.0 + 8.0 * k as f32 / 1000.0;
                let row = layout.row_of(f64::from(scale.position(value)));
                let [r, g, b, a] = image.pixel(layout.left + 3, row).expect("inside");
                // One row of the bar is this much of the range.
                let step = 8.0 / layout.rows as f32;
                let ends = [-0.5, 0.0, 0.5].map(|part| scale.color(value + part * step));
                for (k, found) in [r, g, b].into_iter().enumerate() {
                    let low = ends.iter().map(|c| c[k]).min().expect("three");
                    let high = ends.iter().map(|c| c[k]).max().expect("three");
                    assert!(
                        (low.saturating_sub(1)..=high.saturating_add(1)).contains(&found),
                        "{map:?} {value}"
                    );
                }
                assert_eq!(a, 255);
            }
        }
    }

    #[test]
    fn everything_is_inside_and_labels_do_not_touch() {
        for range in RANGES {
            for height in [80, 200, 600] {
                for size in [9.0, 15.0, 30.0] {
                    let style = ScaleBarStyle::on([255; 4]).sized(size);
                    let layout = Layout::new(&scale(range), height, &style);
                    for pair in layout.ticks.windows(2) {
                        let distance = pair[0].0 - pair[1].0;
                        assert!(
                            distance as f32 > style.text.cap_height() || height < 120,
                            "{range:?} {height} {size}"
                        );
                    }
                    let image = draw_scale_bar(&scale(range), height, &style);
                    let right = image.width() - 1;
                    assert!(
                        (0..height).all(|y| image.pixel(right, y) == Some([255; 4])),
                        "{range:?}"
                    );
                    assert_eq!(image.height(), height);
                }
            }
        }
    }

    #[test]
    fn odd_sizes_do_not_break() {
        let style = ScaleBarStyle::on([0; 4]);
        for height in 0..40 {
            for size in [f32::NAN, -3.0, 0.0, 1.0, 15.0, 1e9] {
                let image = draw_scale_bar(&scale([0.0, 1.0]), height, &style.sized(size));
                assert!(image.height() == height || image.width() == 0);
            }
        }
    }

    #[test]
    fn one_number_is_in_the_middle() {
        let scale = scale([4.0, 4.0]);
        assert_eq!(scale.position(4.0), 0.5);
        assert!(scale.position(f32::NAN).is_nan());
        let style = ScaleBarStyle::on([255; 4]);
        let layout = Layout::new(&scale, 300, &style);
        let [(row, label)] = &layout.ticks[..] else {
            panic!("one tick");
        };
        assert_eq!(
            (label.base.as_str(), *row),
            ("4", layout.top + layout.rows / 2)
        );
    }

    #[test]
    fn exponents_are_set_as_powers() {
        let parts = |label| {
            let Label { base, raised } = Label::new(label);
            (base, raised)
        };
        let expected = ("\u{2212}1.5\u{d7}10".to_owned(), "\u{2212}10".to_owned());
        assert_eq!(parts("-1.5e-10"), expected);
        assert_eq!(parts("-0.25"), ("\u{2212}0.25".to_owned(), String::new()));
    }
}
