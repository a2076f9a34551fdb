//! What a run wrote, told at its end.

use crate::reporter::{Reporter, counted};
use crate::value_table::range_text;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// Files, frames, bytes, the largest movement from the rest mesh, and the ranges of values outputs.
#[derive(Debug)]
pub(crate) struct RunSummary {
    started: Instant,
    files: u64,
    frames: u64,
    bytes: u64,
    largest: Option<Movement>,
    /// Range of each number of each values output.
    values: Vec<Value>,
}

/// How far one vertex is from its rest position.
#[derive(Clone, Debug, PartialEq)]
struct Movement {
    /// Metres, squared.
    squared: f32,
    frame: i64,
    output: String,
    vertex: usize,
}

impl RunSummary {
    pub(crate) fn begin() -> Self {
        Self {
            started: Instant::now(),
            files: 0,
            frames: 0,
            bytes: 0,
            largest: None,
            values: Vec::new(),
        }
    }

    pub(crate) fn add_file(&mut self, path: &Path) {
        self.files += 1;
        self.bytes += std::fs::metadata(path).map_or(0, |m| m.len());
    }

    pub(crate) fn add_values(&mut self, ranges: Vec<Value>) {
        self.values = ranges;
    }

    pub(crate) fn add_frame(&mut self) {
        self.frames += 1;
    }

    /// Compares a frame of a mesh output with its rest mesh. Cost: one pass over the positions.
    pub(crate) fn add_mesh(
        &mut self,
        (frame, output): (i64, &str),
        rest: &[[f32; 3]],
        now: &[[f32; 3]],
    ) {
        let squared = |(a, b): (&[f32; 3], &[f32; 3])| {
            let [x, y, z] = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
            x * x + y * y + z * z
        };
        let all = || rest.iter().zip(now).map(squared);
        // The vertex is looked up only where a frame holds the largest movement so far: the first pass is fast.
        let most = all().fold(0.0, f32::max);
        if self.largest.as_ref().is_none_or(|l| most > l.squared)
            && let Some(vertex) = all().position(|s| s == most)
        {
            self.largest = Some(Movement {
                squared: most,
                frame,
                output: output.to_owned(),
                vertex,
            });
        }
    }

    pub(crate) fn tell(&self, reporter: &Reporter) {
        let seconds = self.started.elapsed().as_secs_f64();
        let mut message = format!(
            "{} in {}, {}, in {seconds:.1} s",
            counted(self.frames, "frame"),
            counted(self.files, "file"),
            size(self.bytes)
        );
        let largest = self.largest.as_ref().map(|l| {
            let metres = f64::from(l.squared).sqrt();
            json!({ "metres": metres, "frame": l.frame, "output": l.output, "vertex": l.vertex })
        });
        if let Some(l) = &self.largest {
            message += &match l.squared {
                0.0 => "; no vertex moves from rest".to_owned(),
                squared => format!(
                    "; largest movement from rest: {:.4} m, frame {}, vertex {} of output '{}'",
                    squared.sqrt(),
                    l.frame,
                    l.vertex,
                    l.output
                ),
            };
        }
        if !self.values.is_empty() {
            let ranges: Vec<String> = self.values.iter().map(range_text).collect();
            message += &format!("; values: {}", ranges.join(", "));
        }
        let more = json!({
            "files": self.files,
            "frames": self.frames,
            "bytes": self.bytes,
            "seconds": seconds,
            "largest_movement": largest,
            "values": self.values,
        });
        reporter.info_with("summary", &message, more);
    }
}

/// `812 bytes`, `3.4 MB`.
fn size(bytes: u64) -> String {
    match bytes {
        0..100_000 => counted(bytes, "byte"),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_largest_movements_is_kept() {
        let mut summary = RunSummary::begin();
        let rest = [[0.0; 3], [1.0, 0.0, 0.0]];
        summary.add_mesh((4, "a"), &rest, &rest);
        let still = summary.largest.clone().expect("two vertices");
        assert_eq!((still.squared, still.vertex), (0.0, 0));
        summary.add_mesh((5, "a"), &rest, &[[0.0; 3], [1.0, 3.0, 4.0]]);
        summary.add_mesh((6, "b"), &rest, &[[0.0, 0.0, 5.0], [1.0, 0.0, 0.0]]);
        let expected = Movement {
            squared: 25.0,
            frame: 5,
            output: "a".into(),
            vertex: 1,
        };
        assert_eq!(summary.largest, Some(expected));
    }

    #[test]
    fn sizes_are_short() {
        let found = [1, 99_999, 3_449_000].map(size);
        assert_eq!(found, ["1 byte", "99999 bytes", "3.4 MB"]);
    }
}
