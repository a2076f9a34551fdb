//! How far what players see is from what was baked.

use serde::{Deserialize, Serialize};
use sinew_geom::vec3::{cross, dot, length};

/// Distances or angles over many samples.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ErrorSum {
    /// The largest one.
    pub largest: f64,
    /// Frame of the largest one.
    pub frame: u32,
    /// Vertex of the bake with the largest one.
    pub vertex: u32,
    /// Sum of squares.
    squares: f64,
    /// Number of samples.
    samples: u64,
}

impl ErrorSum {
    /// Takes one more. What is not finite counts as infinitely large.
    pub fn add(&mut self, frame: u32, vertex: u32, error: f64) {
        let error = if error.is_nan() { f64::INFINITY } else { error };
        if error > self.largest || self.samples == 0 {
            (self.largest, self.frame, self.vertex) = (error, frame, vertex);
        }
        self.squares += error * error;
        self.samples += 1;
    }

    /// Takes those of another one, of later frames.
    pub fn join(&mut self, other: &Self) {
        if other.samples > 0 && (other.largest > self.largest || self.samples == 0) {
            (self.largest, self.frame, self.vertex) = (other.largest, other.frame, other.vertex);
        }
        self.squares += other.squares;
        self.samples += other.samples;
    }

    /// Root of the mean square; zero without samples.
    pub fn rms(&self) -> f64 {
        match self.samples {
            0 => 0.0,
            samples => (self.squares / samples as f64).sqrt(),
        }
    }

    /// How many samples there were.
    pub fn samples(&self) -> u64 {
        self.samples
    }
}

/// Angle between two directions of any length, radians; `PI / 2` where one has none.
pub(crate) fn angle_between(a: [f32; 3], b: [f32; 3]) -> f64 {
    let (a, b) = (a.map(f64::from), b.map(f64::from));
    // By the sine as well: the cosine alone loses half the digits near one.
    let sine = length(cross(a, b));
    match (sine, dot(a, b)) {
        (0.0, 0.0) => std::f64::consts::FRAC_PI_2,
        (sine, cosine) => sine.atan2(cosine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_128_the_largest_is_named_and_the_mean_is_that_of_squares() {
        let mut sum = ErrorSum::default();
        assert_eq!(sum.rms(), 0.0);
        for (frame, vertex, error) in [(0, 7, 3.0), (1, 2, 4.0), (1, 3, 0.0)] {
            sum.add(frame, vertex, error);
        }
        assert_eq!(
            (sum.largest, sum.frame, sum.vertex, sum.samples()),
            (4.0, 1, 2, 3)
        );
        assert!((sum.rms() - (25.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        let (mut parts, mut later) = (ErrorSum::default(), ErrorSum::default());
        parts.add(0, 7, 3.0);
        later.add(1, 2, 4.0);
        later.add(1, 3, 0.0);
        parts.join(&later);
        parts.join(&ErrorSum::default());
        assert_eq!(parts, sum);
        sum.add(9, 9, f64::NAN);
        assert_eq!((sum.largest, sum.frame), (f64::INFINITY, 9));
    }

    #[test]
    fn small_angles_keep_their_digits() {
        for angle in [0.0, 1e-6, 1e-3, 1.0, 2.0, 3.1] {
            let b = [
                (2.0 * f64::cos(angle)) as f32,
                (2.0 * f64::sin(angle)) as f32,
                0.0,
            ];
            let found = angle_between([3.0, 0.0, 0.0], b);
            assert!(
                (found - angle).abs() < 2e-7 * (1.0 + angle),
                "{found} {angle}"
            );
        }
        let right = std::f64::consts::FRAC_PI_2;
        assert_eq!(angle_between([0.0; 3], [1.0, 0.0, 0.0]), right);
    }
}
