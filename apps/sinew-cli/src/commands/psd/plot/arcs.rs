//! Weights along arcs, as curves.

use super::paper::{
    FAINT, INK, MARGIN, TEXT, TITLE, at, color, dark, dashes, fitted, float, stroke, text_style,
    tint, whole,
};
use super::pixels::width_of;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind};
use plotters::element::{PathElement, Text};
use plotters::prelude::{Cartesian2d, ChartBuilder, ChartContext, DrawingBackend};
use plotters::series::{DashedLineSeries, LineSeries};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, WHITE};
use sinew::psd::sample::ArcSamples;

pub(super) struct Arcs {
    pub(super) title: String,
    pub(super) names: Vec<String>,
    pub(super) samples: ArcSamples,
}

type Drawn<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;
type Chart<'a, DB> = ChartContext<'a, DB, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Rows of pose names above the chart.
const NAME_ROWS: usize = 3;
/// Space for numbers left of the chart, and for numbers and unit below.
const LEFT: f64 = 46.0;
const BELOW: f64 = 52.0;
/// Length of the line in the legend.
const SWATCH: f64 = 26.0;

/// Where the chart is on the page, pixels.
#[derive(Clone, Copy)]
struct Frame {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Arcs {
    pub(super) fn draw<DB: DrawingBackend>(
        &self,
        root: &DrawingArea<DB, Shift>,
        scale: u32,
    ) -> Drawn<DB> {
        root.fill(&WHITE)?;
        let (width, height) = root.dim_in_pixel();
        let [width, height] = [width, height].map(|v| f64::from(v) / f64::from(scale));
        let widest = self.names.iter().map(|n| width_of(n, TEXT));
        let legend = widest.fold(0.0, f64::max).min(width * 0.3) + SWATCH + 8.0;
        let labels = self.labels(MARGIN + LEFT, width - legend - 2.0 * MARGIN);
        let rows = labels.iter().map(|l| l.row + 1).max().unwrap_or(0);
        let frame = Frame {
            left: MARGIN + LEFT,
            top: MARGIN + TITLE * 1.4 + float(rows) * TEXT * 1.1 + 6.0,
            right: width - legend - 2.0 * MARGIN,
            bottom: height - MARGIN - BELOW,
        };
        let title = fitted(&self.title, TITLE, width - 2.0 * MARGIN);
        let style = text_style(TITLE, scale, INK, HPos::Left);
        root.draw(&Text::new(
            title,
            at(MARGIN, MARGIN + TITLE * 0.5, scale),
            style,
        ))?;
        self.draw_chart(root, frame, scale)?;
        for label in labels {
            let y = frame.top - 4.0 - TEXT * 1.1 * (float(label.row) + 0.5);
            let style = text_style(TEXT, scale, dark(color(label.pose)), HPos::Center);
            root.draw(&Text::new(label.text, at(label.x, y, scale), style))?;
        }
        self.draw_legend(root, frame, width, scale)
    }

    /// Names above the chart where they fit, in rows from below.
    fn labels(&self, left: f64, right: f64) -> Vec<Label> {
        let length = self.length();
        let mut ends = [f64::NEG_INFINITY; NAME_ROWS];
        let mut out = Vec::new();
        for &(pose, along) in &self.samples.stops {
            let text = fitted(&self.names[pose], TEXT, (right - left) * 0.3);
            let half = width_of(&text, TEXT) * 0.5;
            let x = left + (right - left) * along / length;
            let x = x.min(right - half).max(left + half);
            let free = ends.iter().position(|end| x - half > end + 6.0);
            if let Some(row) = free {
                ends[row] = x + half;
                out.push(Label { pose, text, x, row });
            }
        }
        out
    }

    /// All of the way; something where there is none.
    fn length(&self) -> f64 {
        let end = self.samples.at.last().copied().unwrap_or(0.0);
        if end > 0.0 { end } else { 1.0 }
    }

    /// In the unit that is shown.
    fn shown(&self, along: f64) -> f64 {
        if self.samples.in_metres {
            along
        } else {
            along.to_degrees()
        }
    }

    /// Lowest and highest weight, in tenths, with a margin.
    fn range(&self) -> [f64; 2] {
        let all = || self.samples.weights.iter().flatten().copied();
        let least = all().fold(0.0, f64::min);
        let most = all().fold(1.0, f64::max);
        [
            (least * 10.0 - 0.3).floor() / 10.0,
            (most * 10.0 + 0.3).ceil() / 10.0,
        ]
    }

    fn draw_chart<DB: DrawingBackend>(
        &self,
        root: &DrawingArea<DB, Shift>,
        frame: Frame,
        scale: u32,
    ) -> Drawn<DB> {
        let (x0, y0) = at(frame.left - LEFT, frame.top, scale);
        let (x1, y1) = at(frame.right, frame.bottom + BELOW, scale);
        let area = root.clone().shrink((x0, y0), (x1 - x0, y1 - y0));
        let [least, most] = self.range();
        let mut chart = ChartBuilder::on(&area)
            .x_label_area_size(BELOW * f64::from(scale))
            .y_label_area_size(LEFT * f64::from(scale))
            .build_cartesian_2d(0.0..self.shown(self.length()), least..most)?;
        let unit = if self.samples.in_metres {
            "metres along the path"
        } else {
            "degrees along the path"
        };
        let labels = text_style(TEXT, scale, INK, HPos::Center);
        chart
            .configure_mesh()
            .x_desc(unit)
            .axis_desc_style(labels.clone())
            .label_style(labels)
            .light_line_style(WHITE.mix(0.0))
            .bold_line_style(stroke(FAINT.to_rgba(), 1.0, scale))
            .axis_style(stroke(INK.to_rgba(), 1.0, scale))
            .set_all_tick_mark_size(4.0 * f64::from(scale))
            .x_labels(10)
            .y_labels(12)
            .x_label_formatter(&number)
            .y_label_formatter(&|v| format!("{v:.1}"))
            .draw()?;
        for height in [0.0, 1.0] {
            let ends = [(0.0, height), (self.shown(self.length()), height)];
            let style = stroke(INK.mix(0.6), 1.5, scale);
            chart.draw_series(LineSeries::new(ends, style))?;
        }
        for &(pose, along) in &self.samples.stops {
            let x = self.shown(along);
            let style = stroke(tint(color(pose), 0.55).to_rgba(), 1.0, scale);
            chart.draw_series(LineSeries::new([(x, least), (x, most)], style))?;
        }
        self.draw_curves(&mut chart, scale)
    }

    fn draw_curves<DB: DrawingBackend>(&self, chart: &mut Chart<'_, DB>, scale: u32) -> Drawn<DB> {
        for (pose, curve) in self.samples.weights.iter().enumerate() {
            let at = self.samples.at.iter().map(|a| self.shown(*a));
            let points: Vec<(f64, f64)> = at.zip(curve.iter().copied()).collect();
            let style = stroke(color(pose).to_rgba(), 2.5, scale);
            match dashes(pose) {
                None => _ = chart.draw_series(LineSeries::new(points, style))?,
                Some((dash, gap)) => {
                    let [dash, gap] = [dash, gap].map(|v| whole(v * f64::from(scale)));
                    let line = DashedLineSeries::new(points, dash, gap, style);
                    chart.draw_series(line)?;
                }
            }
        }
        Ok(())
    }

    fn draw_legend<DB: DrawingBackend>(
        &self,
        root: &DrawingArea<DB, Shift>,
        frame: Frame,
        width: f64,
        scale: u32,
    ) -> Drawn<DB> {
        let step = TEXT * 1.4;
        let left = frame.right + MARGIN;
        let room = width - MARGIN - left - SWATCH - 8.0;
        let count = self.names.len();
        let rows = (frame.bottom - frame.top) / step;
        let fitting = (0..count).take_while(|i| float(*i) + 1.0 <= rows).count();
        let listed = if fitting < count {
            fitting.saturating_sub(1)
        } else {
            count
        };
        let row = |i: usize| frame.top + step * (float(i) + 0.5);
        for (pose, name) in self.names.iter().enumerate().take(listed) {
            let dash = dashes(pose).map_or(SWATCH, |d| d.0);
            let gap = dashes(pose).map_or(0.0, |d| d.1);
            let style = stroke(color(pose).to_rgba(), 2.5, scale);
            let mut x = left;
            while x < left + SWATCH {
                let end = (x + dash).min(left + SWATCH);
                let line = vec![at(x, row(pose), scale), at(end, row(pose), scale)];
                root.draw(&PathElement::new(line, style))?;
                x = end + gap;
            }
            let text = fitted(name, TEXT, room);
            let style = text_style(TEXT, scale, INK, HPos::Left);
            let place = at(left + SWATCH + 8.0, row(pose), scale);
            root.draw(&Text::new(text, place, style))?;
        }
        if listed < count {
            let text = format!("and {} more", count - listed);
            let style = text_style(TEXT, scale, INK, HPos::Left);
            root.draw(&Text::new(text, at(left, row(listed), scale), style))?;
        }
        Ok(())
    }
}

/// As many digits as a number has, up to three.
fn number(value: &f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A name above the chart, in the middle at `x`, pixels of the page.
struct Label {
    pose: usize,
    text: String,
    x: f64,
    row: usize,
}
