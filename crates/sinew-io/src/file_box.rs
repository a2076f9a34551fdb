//! Bounding box of coordinates in double precision, and the loss from single precision.

use crate::fault::warning;
use sinew_geom::Warning;
use std::path::Path;

/// Share of the diagonal that single precision may lose without a warning: a tenth of a pixel if the box fills a
/// screen.
const SHARE: f64 = 1e-4;
/// Losses below this (metres) never cause a warning.
const LEAST: f64 = 1e-5;

/// Bounding box of a file's vertices and the rounding error of reading them. Meshes store single precision. Survey
/// files store doubles far from the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileBox {
    /// Smallest coordinates as in the file, in metres; infinite without vertices.
    pub low: [f64; 3],
    /// Largest coordinates as in the file, in metres.
    pub high: [f64; 3],
    /// Largest distance of a mesh vertex from its position in the file, in metres.
    pub loss: f64,
}

impl Default for FileBox {
    fn default() -> Self {
        Self {
            low: [f64::INFINITY; 3],
            high: [f64::NEG_INFINITY; 3],
            loss: 0.0,
        }
    }
}

impl FileBox {
    /// Adds a vertex. Gives its position relative to `origin`.
    pub(crate) fn take(&mut self, exact: [f64; 3], origin: [f64; 3]) -> [f32; 3] {
        let mut off = 0.0;
        let place = std::array::from_fn(|k| {
            let from_origin = exact[k] - origin[k];
            let single = from_origin as f32;
            off += (f64::from(single) - from_origin).powi(2);
            self.low[k] = self.low[k].min(exact[k]);
            self.high[k] = self.high[k].max(exact[k]);
            single
        });
        self.loss = self.loss.max(off.sqrt());
        place
    }

    /// True if the file has a vertex.
    pub fn has_vertices(&self) -> bool {
        self.low[0] <= self.high[0]
    }

    /// Length of the diagonal in metres.
    pub fn diagonal(&self) -> f64 {
        let sides = (0..3).map(|k| self.high[k] - self.low[k]);
        sides.map(|s| s * s).sum::<f64>().sqrt()
    }

    /// True if the rounding error is above 1e-4 of the diagonal and above 0.01 mm.
    pub fn is_lossy(&self) -> bool {
        self.has_vertices() && is_lossy(self.loss, self.diagonal())
    }

    /// Origin that makes the rounding error negligible: the centre of the box, rounded to whole units. `None` if
    /// [`Self::is_lossy`] is false.
    pub fn origin(&self) -> Option<[f64; 3]> {
        let middle = |k: usize| (0.5 * (self.low[k] + self.high[k])).round();
        self.is_lossy().then(|| [middle(0), middle(1), middle(2)])
    }

    /// Warning if the rounding error is too large.
    pub(crate) fn warning(&self, path: &Path) -> Option<Warning> {
        let name = path.file_name().unwrap_or_default();
        self.is_lossy().then(|| {
            let ends = self.low.iter().chain(&self.high);
            let farthest = ends.fold(0.0_f64, |most, c| most.max(c.abs()));
            let message = format!(
                "'{}' has coordinates up to {farthest:.0} m; in single precision, its vertices move by up to {:.3} mm; move the mesh to the origin before you export it",
                name.display(),
                self.loss * 1e3
            );
            warning("positions_rounded", message)
        })
    }
}

pub(crate) fn is_lossy(loss: f64, diagonal: f64) -> bool {
    loss > LEAST && loss > SHARE * diagonal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(points: &[[f64; 3]], origin: [f64; 3]) -> FileBox {
        let mut out = FileBox::default();
        points.iter().for_each(|p| {
            out.take(*p, origin);
        });
        out
    }

    #[test]
    fn far_boxes_have_an_origin_in_whole_units_and_near_ones_none() {
        let far = [
            [512_345.71, 5_401_234.26, 312.5],
            [512_347.31, 5_401_235.86, 312.7],
        ];
        let found = of(&far, [0.0; 3]);
        // Floats are half a metre apart at five million.
        assert!(found.loss > 0.1 && found.loss < 0.3, "{}", found.loss);
        assert_eq!(found.origin(), Some([512_347.0, 5_401_235.0, 313.0]));
        let shifted = of(&far, [512_347.0, 5_401_235.0, 313.0]);
        assert!(shifted.loss < 1e-6, "{}", shifted.loss);
        assert_eq!((shifted.low, shifted.high), (found.low, found.high));
        assert_eq!(
            of(&[[0.1, 0.2, 0.3], [1.1, 2.2, 3.3]], [0.0; 3]).origin(),
            None
        );
        // Numbers that were single precision before lose nothing, wherever they are.
        let single = far.map(|p| p.map(|c| f64::from(c as f32)));
        assert_eq!(of(&single, [0.0; 3]).loss, 0.0);
        assert_eq!(FileBox::default().origin(), None);
    }
}
