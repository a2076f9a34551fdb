//! Implicit smoothing as a polynomial of the averaging operator.
//!
//! The method smooths fields by `(I + s A)^-p`, where `A = I - P` and `P` is the [`MeanOperator`]: each row of it says of whom a
//! point is the mean. The usual way is to factor `I + s A` once and to solve `p` times for each field. But weights are not
//! negative, so all eigenvalues of `P` lie in [-1, 1], where the function `g(x) = (1 + s (1 - x))^-p` has no pole: its
//! Chebyshev series converges geometrically, and `g(P) y` is a sum of some dozen products with `P`:
//!
//! ```text
//! g(P) y = sum_k c_k T_k(P) y,   T_0 y = y,   T_1 y = P y,   T_{k+1} y = 2 P (T_k y) - T_{k-1} y
//! ```
//!
//! For `s = 3`, `p = 20` that are 69 products for twelve digits, where a factored matrix would take 20 solves of some ten products each. Two
//! functions of one field share the products, memory is two fields, and a field that is zero but for a few points stays
//! zero beyond as many rings as there are products, so that joints cost what they reach and not what the mesh has. Work is
//! linear in the number of points. Accuracy and cost do not depend on the mesh: the series is bounded by its own coefficients.
//!
//! Source of the operator: Le and Lewis, "Direct Delta Mush Skinning and Variants", 2019. Of the series: Mason and Handscomb,
//! "Chebyshev Polynomials", 2003.

use crate::laplacian::{MeanOperator, index32};
use crate::{BindWatch, Par, Stopped, for_each_chunk};

/// Numbers a point carries through the filter: weight, three first and six second moments, and two that fill the vector up.
pub(super) const LANES: usize = 12;

/// What one point carries.
pub(super) type Carried = [f64; LANES];

/// Rows in one task.
const CHUNK: usize = 512;

/// Terms of a series whose coefficients stay below this are left out: they fall geometrically, so all of them together are some ten times as much.
const TRUNCATION: f64 = 1e-13;

/// Rings that only terms below this reach are left out.
const UNREACHED: f64 = 1e-11;

/// The most terms of a series.
const MOST_TERMS: usize = 1 << 14;

/// Chebyshev coefficients of `(1 + strength (1 - x))^-iterations` on [-1, 1]. Their sum is one: rows of the filter sum to one, exactly
/// as those of the function do.
pub(super) fn coefficients(strength: f64, iterations: u32) -> Vec<f64> {
    if strength <= 0.0 || iterations == 0 {
        return vec![1.0];
    }
    let power = -f64::from(iterations);
    let function = |x: f64| (power * (strength * (1.0 - x)).ln_1p()).exp();
    let mut points = 64;
    loop {
        let series = interpolate(&function, points);
        let needed = terms(&series, TRUNCATION);
        // Half of the points must be more than enough, else those that were not seen fold back onto those that were.
        if 2 * needed <= points || points >= MOST_TERMS {
            let sum: f64 = series[..needed].iter().sum();
            return series[..needed].iter().map(|c| c / sum).collect();
        }
        points *= 2;
    }
}

/// Number of leading terms behind which all coefficients are smaller than `least`.
fn terms(series: &[f64], least: f64) -> usize {
    let last = series.iter().rposition(|c| c.abs() > least);
    last.map_or(1, |k| k + 1)
}

/// Coefficients of the polynomial through the function at the Chebyshev points of the first kind, `cos((i + 1/2) pi / points)`.
fn interpolate(function: &impl Fn(f64) -> f64, points: usize) -> Vec<f64> {
    // Cosines of all multiples of the smallest angle: exact ones, where a recurrence would gather rounding.
    let quarter = 2 * points;
    let cosines: Vec<f64> = (0..2 * quarter)
        .map(|m| (m as f64 * std::f64::consts::PI / quarter as f64).cos())
        .collect();
    let values: Vec<f64> = (0..points).map(|i| function(cosines[2 * i + 1])).collect();
    (0..points)
        .map(|k| {
            let terms = values.iter().enumerate();
            let sum: f64 = terms
                .map(|(i, v)| v * cosines[k * (2 * i + 1) % (2 * quarter)])
                .sum();
            sum * if k == 0 { 1.0 } else { 2.0 } / points as f64
        })
        .collect()
}

/// Two functions of one operator: a wide one for all that a point carries, and one for its first number, the weight.
#[derive(Debug)]
pub(super) struct Filter<'a> {
    operator: &'a MeanOperator,
    /// Who reads whom: transposed pattern of the operator, without points that read only themselves.
    readers: Readers,
    moments: Vec<f64>,
    weight: Vec<f64>,
    /// Rings beyond which nothing is kept.
    reach: usize,
}

/// What comes out of a filter for one field.
#[derive(Debug, Default)]
pub(super) struct Filtered {
    /// Points that the field reaches, nearest first.
    pub(super) points: Vec<u32>,
    /// The wide function of all that they carry.
    pub(super) moments: Vec<Carried>,
    /// The other function of their first number.
    pub(super) weight: Vec<f64>,
}

/// Room for the fields on their way, used again for each.
#[derive(Debug, Default)]
pub(super) struct FilterScratch {
    /// Number of each point among those reached; `u32::MAX` where it is not.
    local: Vec<u32>,
    /// Number of points within each ring.
    rings: Vec<usize>,
    offsets: Vec<u32>,
    indices: Vec<u32>,
    weights: Vec<f64>,
    now: Vec<Carried>,
    other: Vec<Carried>,
}

#[derive(Debug)]
struct Readers {
    offsets: Vec<u32>,
    indices: Vec<u32>,
}

impl Readers {
    fn new(operator: &MeanOperator) -> Self {
        let n = operator.class_count();
        let mut offsets = vec![0_u32; n + 1];
        for c in 0..n {
            for (read, _) in operator.row(c).filter(|r| r.0 as usize != c) {
                offsets[read as usize + 1] += 1;
            }
        }
        for c in 0..n {
            offsets[c + 1] += offsets[c];
        }
        let mut next = offsets.clone();
        let mut indices = vec![0; offsets[n] as usize];
        for c in 0..n {
            for (read, _) in operator.row(c).filter(|r| r.0 as usize != c) {
                let slot = &mut next[read as usize];
                indices[*slot as usize] = index32(c);
                *slot += 1;
            }
        }
        Self { offsets, indices }
    }

    fn of(&self, point: u32) -> &[u32] {
        let p = point as usize;
        &self.indices[self.offsets[p] as usize..self.offsets[p + 1] as usize]
    }
}

impl<'a> Filter<'a> {
    /// `moments` and `weight` are [`coefficients`].
    pub(super) fn new(operator: &'a MeanOperator, moments: Vec<f64>, weight: Vec<f64>) -> Self {
        let reach = terms(&moments, UNREACHED).max(terms(&weight, UNREACHED)) - 1;
        Self {
            operator,
            readers: Readers::new(operator),
            moments,
            weight,
            reach,
        }
    }

    /// Filters a field that is zero but at `start`. Points must be different from each other.
    pub(super) fn run(
        &self,
        start: &[(u32, Carried)],
        scratch: &mut FilterScratch,
        par: Par,
        watch: &BindWatch<'_>,
    ) -> Result<Filtered, Stopped> {
        let points = self.spread(start, scratch);
        self.gather_rows(&points, scratch);
        let count = points.len();
        scratch.now.clear();
        scratch.now.extend(start.iter().map(|s| s.1));
        scratch.now.resize(count, [0.0; LANES]);
        scratch.other.clear();
        scratch.other.resize(count, [0.0; LANES]);
        let at = |series: &[f64], k: usize| series.get(k).copied().unwrap_or(0.0);
        let (first, first_weight) = (at(&self.moments, 0), at(&self.weight, 0));
        let mut out = Filtered {
            points,
            moments: scratch.now.iter().map(|y| y.map(|v| v * first)).collect(),
            weight: scratch.now.iter().map(|y| y[0] * first_weight).collect(),
        };
        for k in 1..self.moments.len().max(self.weight.len()) {
            if (watch.is_stopped)() {
                return Err(Stopped);
            }
            let rows = scratch.rings[k.min(scratch.rings.len() - 1)];
            let step = Step {
                offsets: &scratch.offsets,
                indices: &scratch.indices,
                weights: &scratch.weights,
                now: &scratch.now,
                factor: if k == 1 { 1.0 } else { 2.0 },
                moments: at(&self.moments, k),
                weight: at(&self.weight, k),
            };
            let written = (
                &mut scratch.other[..rows],
                &mut out.moments[..rows],
                &mut out.weight[..rows],
            );
            for_each_chunk(
                par,
                rows,
                CHUNK,
                written,
                &|range, (next, moments, weight)| {
                    dispatch!(_simd => step.run(range.start, next, moments, weight));
                },
            );
            std::mem::swap(&mut scratch.now, &mut scratch.other);
        }
        Ok(out)
    }

    /// Lists the points that the field reaches, ring by ring, and numbers them.
    fn spread(&self, start: &[(u32, Carried)], scratch: &mut FilterScratch) -> Vec<u32> {
        scratch.local.clear();
        scratch.local.resize(self.operator.class_count(), u32::MAX);
        let mut points: Vec<u32> = Vec::with_capacity(start.len());
        for &(point, _) in start {
            scratch.local[point as usize] = index32(points.len());
            points.push(point);
        }
        scratch.rings.clear();
        scratch.rings.push(points.len());
        let mut ring = 0..points.len();
        for _ in 0..self.reach {
            for i in ring.clone() {
                for &reader in self.readers.of(points[i]) {
                    let local = &mut scratch.local[reader as usize];
                    if *local == u32::MAX {
                        *local = index32(points.len());
                        points.push(reader);
                    }
                }
            }
            ring = ring.end..points.len();
            scratch.rings.push(points.len());
            if ring.is_empty() {
                break;
            }
        }
        points
    }

    /// Rows of the operator for these points, in their numbers. Points that are not reached are zero and left out.
    fn gather_rows(&self, points: &[u32], scratch: &mut FilterScratch) {
        scratch.offsets.clear();
        scratch.indices.clear();
        scratch.weights.clear();
        scratch.offsets.push(0);
        for &point in points {
            for (read, weight) in self.operator.row(point as usize) {
                let local = scratch.local[read as usize];
                if local != u32::MAX {
                    scratch.indices.push(local);
                    scratch.weights.push(weight);
                }
            }
            scratch.offsets.push(index32(scratch.indices.len()));
        }
    }
}

/// One product with the operator.
#[derive(Clone, Copy)]
struct Step<'a> {
    offsets: &'a [u32],
    indices: &'a [u32],
    weights: &'a [f64],
    now: &'a [Carried],
    /// 1 for the first product, 2 for the others.
    factor: f64,
    moments: f64,
    weight: f64,
}

impl Step<'_> {
    /// Writes the next term over the one before (`next`) and adds it to the sums.
    #[inline(always)]
    fn run(&self, first: usize, next: &mut [Carried], moments: &mut [Carried], weight: &mut [f64]) {
        let rows = self.offsets[first..].windows(2);
        let outputs = next.iter_mut().zip(moments).zip(weight);
        for (row, ((next, moments), weight)) in rows.zip(outputs) {
            let row = row[0] as usize..row[1] as usize;
            let mut sum = [0.0; LANES];
            for (&n, &w) in self.indices[row.clone()].iter().zip(&self.weights[row]) {
                let read = &self.now[n as usize];
                for c in 0..LANES {
                    sum[c] += w * read[c];
                }
            }
            for c in 0..LANES {
                next[c] = self.factor * sum[c] - (self.factor - 1.0) * next[c];
                moments[c] += self.moments * next[c];
            }
            *weight += self.weight * next[0];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laplacian::LaplacianConfig;
    use nalgebra::{DMatrix, DVector};

    fn dense(
        operator: &MeanOperator,
        strength: f64,
        iterations: u32,
        y: &DVector<f64>,
    ) -> DVector<f64> {
        let n = operator.class_count();
        let mut matrix = DMatrix::<f64>::identity(n, n) * (1.0 + strength);
        for c in 0..n {
            for (read, weight) in operator.row(c) {
                matrix[(c, read as usize)] -= strength * weight;
            }
        }
        let lu = matrix.lu();
        (0..iterations).fold(y.clone(), |y, _| lu.solve(&y).expect("regular"))
    }

    #[test]
    fn the_series_is_the_function() {
        for (strength, iterations) in [
            (3.0, 20),
            (1.0, 20),
            (100.0, 1),
            (0.01, 3),
            (1000.0, 20),
            (30.0, 200),
        ] {
            let series = coefficients(strength, iterations);
            let worst = (0..=1000)
                .map(|i| {
                    let x = f64::from(i) / 500.0 - 1.0;
                    let exact = (1.0 + strength * (1.0 - x)).powf(-f64::from(iterations));
                    let angle = x.acos();
                    let sum: f64 = series
                        .iter()
                        .enumerate()
                        .map(|(k, c)| c * (k as f64 * angle).cos())
                        .sum();
                    (sum - exact).abs()
                })
                .fold(0.0, f64::max);
            println!("{strength} {iterations}: {} terms, {worst:e}", series.len());
            assert!(worst < 2e-12, "{strength} {iterations}: {worst:e}");
        }
    }

    /// Against a dense factorisation, on an irregular open mesh with pinned border and on a closed one, all weights.
    #[test]
    fn filters_as_solves_do() {
        for mesh in [
            sinew_testkit::meshes::grid(9, 7),
            sinew_testkit::meshes::sphere(7, 9),
            sinew_testkit::meshes::degenerate(),
        ] {
            for weights in crate::laplacian::EdgeWeights::ALL {
                for pin_border in [false, true] {
                    let config = LaplacianConfig {
                        weights,
                        pin_border,
                        weld_tolerance: 0.0,
                    };
                    let (operator, ..) = MeanOperator::build(&mesh, &config);
                    let filter = Filter::new(&operator, coefficients(3.0, 8), coefficients(1.0, 8));
                    let start: Vec<(u32, Carried)> = (0..operator.class_count())
                        .filter(|c| c % 3 == 1)
                        .map(|c| {
                            (
                                index32(c),
                                std::array::from_fn(|k| ((c * 7 + k * 5) % 11) as f64 - 4.0),
                            )
                        })
                        .collect();
                    let out = filter
                        .run(
                            &start,
                            &mut FilterScratch::default(),
                            Par::Rayon,
                            &BindWatch::NONE,
                        )
                        .expect("nobody stops it");
                    for lane in 0..LANES {
                        let mut y = DVector::zeros(operator.class_count());
                        for (c, carried) in &start {
                            y[*c as usize] = carried[lane];
                        }
                        let exact = dense(&operator, 3.0, 8, &y);
                        let mut found = DVector::zeros(operator.class_count());
                        for (&p, m) in out.points.iter().zip(&out.moments) {
                            found[p as usize] = m[lane];
                        }
                        let worst = (&found - &exact).amax();
                        assert!(
                            worst < 1e-11,
                            "{weights:?} {pin_border} lane {lane}: {worst:e}"
                        );
                        if lane == 0 {
                            let exact = dense(&operator, 1.0, 8, &y);
                            for (&p, w) in out.points.iter().zip(&out.weight) {
                                assert!(
                                    (w - exact[p as usize]).abs() < 1e-11,
                                    "{weights:?} weight of {p}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn fields_reach_no_farther_than_their_rings() {
        let mesh = sinew_testkit::meshes::grid(400, 2);
        let config = LaplacianConfig {
            pin_border: false,
            ..LaplacianConfig::default()
        };
        let (operator, ..) = MeanOperator::build(&mesh, &config);
        let filter = Filter::new(&operator, coefficients(3.0, 4), vec![1.0]);
        let out = filter
            .run(
                &[(0, [1.0; LANES])],
                &mut FilterScratch::default(),
                Par::Seq,
                &BindWatch::NONE,
            )
            .expect("nobody stops it");
        assert!(
            out.points.len() < operator.class_count() / 2,
            "{} points",
            out.points.len()
        );
    }

    #[test]
    fn whoever_watches_may_stop_it() {
        let (operator, ..) = MeanOperator::build(
            &sinew_testkit::meshes::grid(5, 5),
            &LaplacianConfig::default(),
        );
        let filter = Filter::new(&operator, coefficients(3.0, 4), vec![1.0]);
        let watch = BindWatch {
            report: &|_| {},
            is_stopped: &|| true,
        };
        let out = filter.run(
            &[(0, [1.0; LANES])],
            &mut FilterScratch::default(),
            Par::Seq,
            &watch,
        );
        assert_eq!(out.expect_err("stopped"), Stopped);
    }
}
