//! Numbers over frames, as SVG.

use super::escaped;
use sinew_picture::ticks;
use std::fmt::Write;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 28.0;
/// More points than pixels show nothing more.
const MOST_BUCKETS: usize = 800;
const COLORS: [&str; 3] = ["#1f6fb2", "#d17b0f", "#3f8f4f"];

/// One line of a plot.
pub(crate) struct Series<'a> {
    /// What it is called.
    pub(crate) name: &'a str,
    /// A number for each frame; what is not finite goes to the top.
    pub(crate) values: Vec<f64>,
}

/// Lines over the same frames, from zero up.
pub(crate) struct Plot<'a> {
    /// With its unit.
    pub(crate) title: &'a str,
    /// Numbers of the frames.
    pub(crate) frames: &'a [i64],
    pub(crate) series: Vec<Series<'a>>,
}

impl Plot<'_> {
    /// As an element of a page.
    pub(crate) fn svg(&self) -> String {
        let mut out = String::new();
        // Writing into a string cannot fail.
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"system-ui,sans-serif\" font-size=\"12\" role=\"img\">"
        );
        let top = self.top();
        let _ = write!(
            out,
            "<text x=\"{LEFT}\" y=\"15\" font-weight=\"600\">{}</text>",
            escaped(self.title)
        );
        self.draw_rows(top, &mut out);
        self.draw_columns(&mut out);
        for (i, series) in self.series.iter().enumerate() {
            let color = COLORS[i % COLORS.len()];
            self.draw_line(series, top, color, &mut out);
            self.draw_name(series.name, i, color, &mut out);
        }
        out.push_str("</svg>");
        out
    }

    /// The largest number of any line, or one where there is none above zero.
    fn top(&self) -> f64 {
        let values = self.series.iter().flat_map(|s| &s.values);
        let finite = values.copied().filter(|v| v.is_finite());
        let most = finite.fold(0.0, f64::max);
        if most > 0.0 { most } else { 1.0 }
    }

    /// Horizontal lines and their numbers.
    fn draw_rows(&self, top: f64, out: &mut String) {
        for (value, label) in ticks(0.0, top as f32, 5) {
            let y = y_of(value, top);
            let _ = write!(
                out,
                "<path d=\"M{LEFT} {y:.1}H{:.1}\" stroke=\"#dfe3e8\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0
            );
        }
    }

    /// Numbers of frames below, where they are whole and there.
    fn draw_columns(&self, out: &mut String) {
        let (Some(&first), Some(&last)) = (self.frames.first(), self.frames.last()) else {
            return;
        };
        for (value, _) in ticks(first as f32, last as f32, 10) {
            let number = value as i64;
            let Ok(place) = self.frames.binary_search(&number) else {
                continue;
            };
            if value.fract() == 0.0 {
                let x = self.x_of(place);
                let y = HEIGHT - BOTTOM + 16.0;
                let _ = write!(
                    out,
                    "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{number}</text>"
                );
            }
        }
    }

    fn draw_line(&self, series: &Series<'_>, top: f64, color: &str, out: &mut String) {
        let points: Vec<(usize, f64)> = thinned(&series.values);
        let mut path = String::new();
        for (i, (frame, value)) in points.iter().enumerate() {
            let letter = if i == 0 { 'M' } else { 'L' };
            let _ = write!(
                path,
                "{letter}{:.1} {:.1}",
                self.x_of(*frame),
                y_of(*value, top)
            );
        }
        if points.len() == 1 {
            // A line of no length shows with round ends only.
            path.push_str("h0");
        }
        let _ = write!(
            out,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\" stroke-linecap=\"round\" stroke-linejoin=\"round\"/>"
        );
    }

    fn draw_name(&self, name: &str, place: usize, color: &str, out: &mut String) {
        let x = WIDTH - RIGHT - 150.0 * (self.series.len() - 1 - place) as f64;
        let name = escaped(name);
        let _ = write!(
            out,
            "<text x=\"{x}\" y=\"15\" text-anchor=\"end\" fill=\"{color}\">{name}</text>"
        );
    }

    fn x_of(&self, frame: usize) -> f64 {
        let last = self.frames.len().saturating_sub(1).max(1) as f64;
        LEFT + (WIDTH - LEFT - RIGHT) * frame as f64 / last
    }
}

fn y_of(value: f64, top: f64) -> f64 {
    let share = if value.is_finite() { value / top } else { 1.0 };
    HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share.clamp(0.0, 1.0)
}

/// The lowest and the highest number of every few frames where there are many: no peak goes.
fn thinned(values: &[f64]) -> Vec<(usize, f64)> {
    let size = values.len().div_ceil(MOST_BUCKETS).max(1);
    let mut out = Vec::new();
    for (bucket, part) in values.chunks(size).enumerate() {
        let each = || part.iter().copied().enumerate();
        let low = each().min_by(|a, b| a.1.total_cmp(&b.1));
        let high = each().max_by(|a, b| a.1.total_cmp(&b.1));
        let mut ends: Vec<_> = low.into_iter().chain(high).collect();
        ends.sort_by_key(|end| end.0);
        ends.dedup_by_key(|end| end.0);
        out.extend(ends.into_iter().map(|(i, v)| (bucket * size + i, v)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_stay_where_frames_are_many() {
        let mut values = vec![1.0; 10_000];
        (values[4321], values[77]) = (9.0, -2.0);
        let points = thinned(&values);
        assert!(points.len() <= 2 * MOST_BUCKETS, "{}", points.len());
        assert!(points.contains(&(4321, 9.0)) && points.contains(&(77, -2.0)));
        assert!(points.is_sorted_by_key(|p| p.0));
        assert_eq!(thinned(&[3.0, 1.0]), [(0, 3.0), (1, 1.0)]);
    }

    /// The axes by hand: the first frame at the left border, the last at the right one, the largest number at the top.
    #[test]
    fn lines_are_where_the_axes_say() {
        let plot = Plot {
            title: "a < b",
            frames: &[10, 11, 12],
            series: vec![Series {
                name: "n",
                values: vec![0.0, 4.0, f64::INFINITY],
            }],
        };
        let svg = plot.svg();
        assert!(svg.contains("M70.0 192.0L479.0 26.0L888.0 26.0"), "{svg}");
        assert!(svg.contains("a &lt; b") && svg.contains(">11</text>"));
        let empty = Plot {
            title: "",
            frames: &[],
            series: Vec::new(),
        };
        assert!(empty.svg().ends_with("</svg>"));
    }
}
