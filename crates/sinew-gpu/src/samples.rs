//! Measured values and their medians, and a stopwatch for CPU time.

use crate::timestamps::Span;
use std::time::Instant;

/// A sliding window over values that are measured in each frame. Adding a value does not allocate.
#[derive(Clone, Debug)]
pub struct Samples {
    values: Vec<f64>,
    sorted: Vec<f64>,
    window: usize,
    next: usize,
}

impl Samples {
    /// Keeps the last `window` values, at least one.
    pub fn new(window: usize) -> Self {
        let window = window.max(1);
        Self {
            values: Vec::with_capacity(window),
            sorted: Vec::with_capacity(window),
            window,
            next: 0,
        }
    }

    /// Adds a value. If the window is full, the oldest value is removed.
    pub fn push(&mut self, value: f64) {
        if self.values.len() < self.window {
            self.values.push(value);
        } else {
            self.values[self.next] = value;
        }
        self.next = (self.next + 1) % self.window;
    }

    /// Number of values in the window.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether the window has no values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The median (the lower of two middle values); `None` without values.
    pub fn median(&mut self) -> Option<f64> {
        self.sorted.clear();
        self.sorted.extend_from_slice(&self.values);
        self.sorted.sort_unstable_by(f64::total_cmp);
        let middle = self.sorted.len().saturating_sub(1) / 2;
        self.sorted.get(middle).copied()
    }

    /// The smallest value; `None` without values.
    pub fn min(&self) -> Option<f64> {
        self.values.iter().copied().min_by(f64::total_cmp)
    }
}

/// Durations of many spans over the last frames.
#[derive(Clone, Debug)]
pub struct SpanSamples {
    samples: Vec<Samples>,
}

impl SpanSamples {
    /// Windows for `spans` spans, each over the last `window` frames.
    pub fn new(spans: usize, window: usize) -> Self {
        Self {
            samples: vec![Samples::new(window); spans],
        }
    }

    /// Adds the spans of a frame, in order; `None` adds nothing.
    pub fn push(&mut self, spans: &[Option<Span>]) {
        for (samples, span) in self.samples.iter_mut().zip(spans) {
            if let Some(span) = span {
                samples.push(span.duration_ns());
            }
        }
    }

    /// Median duration of a span in nanoseconds; `None` if it was never measured.
    pub fn median_ns(&mut self, span: usize) -> Option<f64> {
        self.samples.get_mut(span).and_then(Samples::median)
    }
}

/// Measures wall time on the CPU, for example to record and submit a frame.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    begun: Instant,
}

impl Stopwatch {
    /// Starts the stopwatch.
    pub fn start() -> Self {
        Self {
            begun: Instant::now(),
        }
    }

    /// Nanoseconds since the start.
    pub fn elapsed_ns(&self) -> f64 {
        self.begun.elapsed().as_secs_f64() * 1e9
    }

    /// Nanoseconds since the start or the last lap. Restarts the stopwatch.
    pub fn lap_ns(&mut self) -> f64 {
        let elapsed = self.elapsed_ns();
        *self = Self::start();
        elapsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_the_last_values() {
        let mut samples = Samples::new(3);
        assert_eq!(samples.median(), None);
        assert!(samples.is_empty());
        for (value, median) in [(5.0, 5.0), (1.0, 1.0), (3.0, 3.0), (9.0, 3.0), (8.0, 8.0)] {
            samples.push(value);
            assert_eq!(samples.median(), Some(median), "after {value}");
        }
        assert_eq!((samples.len(), samples.min()), (3, Some(3.0)));
    }

    #[test]
    fn spans_that_were_not_written_add_nothing() {
        let span = |d| {
            Some(Span {
                begin_ns: 10.0,
                end_ns: 10.0 + d,
            })
        };
        let mut samples = SpanSamples::new(2, 8);
        samples.push(&[span(4.0), None]);
        samples.push(&[span(6.0), None]);
        samples.push(&[span(5.0), None]);
        assert_eq!(samples.median_ns(0), Some(5.0));
        assert_eq!(samples.median_ns(1), None);
        assert_eq!(samples.median_ns(2), None);
    }

    #[test]
    fn laps_start_anew() {
        let mut watch = Stopwatch::start();
        assert!(watch.lap_ns() >= 0.0);
        assert!(watch.elapsed_ns() >= 0.0);
    }
}
