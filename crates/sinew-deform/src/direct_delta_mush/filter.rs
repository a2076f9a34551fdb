//! Implicit smoothing as a polynomial of the averaging operator.
//!
//! The method smooths fields by `(I + s A)^-p`, where `A = I - P` and `P` is the [`MeanOperator`]: each row of it says of whom a
//! point is the mean. The usual way is to factor `I + s A` once and to solve `p` times for each field. But weights are not
//! negative, so all eigenvalues of `P` lie in [-1, 1], where the function `g(x) = (1 + s (1 - x))^-p` has no pole: its
//! Chebyshev series converges geometrically, and `g(P) y` is a sum of some dozen products with `P`:
//!
//! ```text
//! g(P) y = sum_k c_k T_k(P) y      T_0 = 1,   T_1 = P,   T_{k+1} = 2 P T_k - T_{k-1}
//! ```
//!
//! The sum is taken from its end, as Clenshaw does, which needs no sum besides the last two terms:
//!
//! ```text
//! b_k = c_k y + 2 P b_{k+1} - b_{k+2},   g(P) y = c_0 y + P b_1 - b_2
//! ```
//!
//! For `s = 3`, `p = 20` that are 71 products for twelve digits, where a factored matrix would take 20 solves of some ten products each.
//! Two functions of one field share the products: each number that a point carries has coefficients of its own. A field that is zero but
//! for a few points stays zero beyond as many rings as there were products, and what is farther from points that are kept than products are
//! left is of no use to them, so that joints cost what they reach and not what the mesh has. Work is linear in the number of points.
//! Accuracy and cost do not depend on the mesh: the series is bounded by its own coefficients.
//!
//! Source of the operator: Le and Lewis, "Direct Delta Mush Skinning and Variants", 2019. Of the series: Mason and Handscomb,
//! "Chebyshev Polynomials", 2003.

use crate::laplacian::MeanOperator;
use crate::{BindWatch, Par, Stopped, for_each_chunk};
use sinew_geom::index32;

/// Numbers a point carries through the filter: weight, three first and six second moments, the weight once more for the other
/// function ([`WEIGHT_LANE`]), and one that fills the vector up.
pub(super) const LANES: usize = 12;

/// The number that the second function is applied to; the first is applied to all others.
pub(super) const WEIGHT_LANE: usize = 10;

/// What one point carries.
pub(super) type Carried = [f64; LANES];

/// Rows in one task.
const CHUNK: usize = 512;

/// Terms behind which all coefficients stay below this are left out. Sums of them would be sums of rounding.
const TRUNCATION: f64 = 1e-13;

/// Rings are left out that only terms reach which come to less than this together; the change is of this size.
const UNREACHED: f64 = 1e-12;

/// The same, as a part of what is dropped anyway.
const UNREACHED_OF_DROPPED: f64 = 1e-5;

/// Nothing is kept beyond the rings where all terms that lead there come to less than this part of what is dropped.
const BEYOND: f64 = 0.1;

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
        let last = series.iter().rposition(|c| c.abs() > TRUNCATION);
        let needed = last.map_or(1, |k| k + 1);
        let sum: f64 = series[..needed].iter().sum();
        // Half of the points must be more than enough, else terms that were not seen fold back onto those that were. The sum is the value
        // at 1, where a peak may be too narrow for the points.
        let is_enough = 2 * needed <= points && (sum - 1.0).abs() < 1e-9;
        if is_enough || points >= MOST_TERMS {
            return series[..needed].iter().map(|c| c / sum).collect();
        }
        points *= 2;
    }
}

/// The first term, and ring, beyond which all terms together come to `least` at most.
fn rings(series: &[f64], least: f64) -> usize {
    let mut beyond = 0.0;
    let needed = series.iter().rposition(|c| {
        beyond += c.abs();
        beyond > least
    });
    needed.unwrap_or(0)
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

/// Two functions of one operator: one for the weight in [`WEIGHT_LANE`], one for all else that a point carries.
#[derive(Debug)]
pub(super) struct Filter<'a> {
    operator: &'a MeanOperator,
    /// Who reads whom: transposed pattern of the operator, without points that read only themselves.
    readers: Readers,
    /// Coefficients of each term.
    series: Vec<Carried>,
    /// Rings that the series leads to.
    there: usize,
    /// Rings that are kept in the end.
    kept: usize,
}

/// What comes out of a filter for one field.
#[derive(Debug)]
pub(super) struct Filtered<'s> {
    /// Points that the field reaches, nearest first.
    pub(super) points: &'s [u32],
    /// What each of them carries now.
    pub(super) carried: &'s [Carried],
}

/// Room for the fields on their way, used again for each.
#[derive(Debug, Default)]
pub(super) struct FilterScratch {
    /// Number of each point among those reached; `u32::MAX` where it is not.
    local: Vec<u32>,
    /// Points that are reached.
    points: Vec<u32>,
    /// Number of points within each ring.
    rings: Vec<usize>,
    offsets: Vec<u32>,
    indices: Vec<u32>,
    weights: Vec<f64>,
    start: Vec<Carried>,
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
    /// `others` and `weight` are [`coefficients`]; what is smaller than `dropped` will be dropped.
    pub(super) fn new(
        operator: &'a MeanOperator,
        others: &[f64],
        weight: &[f64],
        dropped: f64,
    ) -> Self {
        let unreached = UNREACHED.max(UNREACHED_OF_DROPPED * dropped);
        let rings = |least: f64| rings(others, least).max(rings(weight, least));
        let at = |series: &[f64], k: usize| series.get(k).copied().unwrap_or(0.0);
        let term = |k: usize| {
            let mut term = [at(others, k); LANES];
            term[WEIGHT_LANE] = at(weight, k);
            term
        };
        Self {
            operator,
            readers: Readers::new(operator),
            series: (0..others.len().max(weight.len())).map(term).collect(),
            there: rings(unreached),
            kept: rings(unreached.max(BEYOND * dropped)),
        }
    }

    /// Rings whose points matter in term `k`: no term above it has led beyond, and from beyond no term below it leads to what is kept.
    fn rings_of_term(&self, k: usize) -> usize {
        self.there.saturating_sub(k).min(self.kept + k)
    }

    /// Filters a field that is zero but at `start`. Points must be different from each other.
    pub(super) fn run<'s>(
        &self,
        start: &[(u32, Carried)],
        scratch: &'s mut FilterScratch,
        par: Par,
        watch: &BindWatch<'_>,
    ) -> Result<Filtered<'s>, Stopped> {
        self.spread(start, scratch);
        self.gather_rows(scratch);
        let count = scratch.points.len();
        scratch.start.clear();
        scratch.start.extend(start.iter().map(|s| s.1));
        for terms in [&mut scratch.now, &mut scratch.other] {
            terms.clear();
            terms.resize(count, [0.0; LANES]);
        }
        for (k, coefficients) in self.series.iter().enumerate().rev() {
            if (watch.is_stopped)() {
                return Err(Stopped);
            }
            let ring = self.rings_of_term(k).min(scratch.rings.len() - 1);
            let rows = scratch.rings[ring];
            let step = Step {
                offsets: &scratch.offsets,
                indices: &scratch.indices,
                weights: &scratch.weights,
                start: &scratch.start,
                now: &scratch.now,
                factor: if k == 0 { 1.0 } else { 2.0 },
                coefficients,
            };
            let written = &mut scratch.other[..rows];
            for_each_chunk(par, rows, CHUNK, written, &|range, next: &mut [_]| {
                dispatch!(_simd => step.run(range.start, next));
            });
            std::mem::swap(&mut scratch.now, &mut scratch.other);
        }
        // What was not worked on to the end is what is not kept.
        let rows = scratch.rings[self.rings_of_term(0).min(scratch.rings.len() - 1)];
        Ok(Filtered {
            points: &scratch.points[..rows],
            carried: &scratch.now[..rows],
        })
    }

    /// Lists the points that the field reaches, ring by ring, and numbers them.
    fn spread(&self, start: &[(u32, Carried)], scratch: &mut FilterScratch) {
        let FilterScratch {
            local,
            points,
            rings,
            ..
        } = scratch;
        for &point in &*points {
            local[point as usize] = u32::MAX;
        }
        local.resize(self.operator.class_count(), u32::MAX);
        points.clear();
        for &(point, _) in start {
            local[point as usize] = index32(points.len());
            points.push(point);
        }
        rings.clear();
        rings.push(points.len());
        let mut ring = 0..points.len();
        let most = (0..self.series.len()).map(|k| self.rings_of_term(k)).max();
        for _ in 0..most.unwrap_or(0) {
            for i in ring.clone() {
                for &reader in self.readers.of(points[i]) {
                    let local = &mut local[reader as usize];
                    if *local == u32::MAX {
                        *local = index32(points.len());
                        points.push(reader);
                    }
                }
            }
            ring = ring.end..points.len();
            rings.push(points.len());
            if ring.is_empty() {
                break;
            }
        }
    }

    /// Rows of the operator for these points, in their numbers. Points that are not reached are zero and left out.
    fn gather_rows(&self, scratch: &mut FilterScratch) {
        scratch.offsets.clear();
        scratch.indices.clear();
        scratch.weights.clear();
        scratch.offsets.push(0);
        for &point in &scratch.points {
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
    /// What the first points carried at the start; the others carried nothing.
    start: &'a [Carried],
    /// The term before.
    now: &'a [Carried],
    /// 1 for the last product, 2 for the others.
    factor: f64,
    coefficients: &'a Carried,
}

impl Step<'_> {
    /// Writes the next term over that before the last.
    #[inline(always)]
    fn run(&self, first: usize, next: &mut [Carried]) {
        let rows = self.offsets[first..].windows(2);
        for (row, next) in rows.zip(&mut *next) {
            let row = row[0] as usize..row[1] as usize;
            let mut sum = [0.0; LANES];
            for (&n, &w) in self.indices[row.clone()].iter().zip(&self.weights[row]) {
                let read = &self.now[n as usize];
                for c in 0..LANES {
                    sum[c] += w * read[c];
                }
            }
            for c in 0..LANES {
                next[c] = self.factor * sum[c] - next[c];
            }
        }
        for (next, start) in next.iter_mut().zip(self.start.get(first..).unwrap_or(&[])) {
            for c in 0..LANES {
                next[c] += self.coefficients[c] * start[c];
            }
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
            (1000.0, 1000),
        ] {
            let series = coefficients(strength, iterations);
            // By angles: evenly, and close to 1, where the function falls.
            let even = (0..=1000).map(|i| f64::from(i) / 1000.0 * std::f64::consts::PI);
            let close = (1..=100).map(|i| f64::from(i) * 1e-4);
            let worst = even
                .chain(close)
                .map(|angle| {
                    let below = 2.0 * (angle / 2.0).sin().powi(2);
                    let exact = (-f64::from(iterations) * (strength * below).ln_1p()).exp();
                    let sum: f64 = series
                        .iter()
                        .enumerate()
                        .map(|(k, c)| c * (k as f64 * angle).cos())
                        .sum();
                    (sum - exact).abs()
                })
                .fold(0.0, f64::max);
            println!("{strength} {iterations}: {} terms, {worst:e}", series.len());
            // What is left out, and rounding, grow with the number of terms.
            let allowed = 1e-12 + 2e-14 * series.len() as f64;
            assert!(worst < allowed, "{strength} {iterations}: {worst:e}");
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
                    let filter =
                        Filter::new(&operator, &coefficients(3.0, 8), &coefficients(1.0, 8), 0.0);
                    let start: Vec<(u32, Carried)> = (0..operator.class_count())
                        .filter(|c| c % 3 == 1)
                        .map(|c| {
                            (
                                index32(c),
                                std::array::from_fn(|k| ((c * 7 + k * 5) % 11) as f64 - 4.0),
                            )
                        })
                        .collect();
                    let mut scratch = FilterScratch::default();
                    let out = filter
                        .run(&start, &mut scratch, Par::Rayon, &BindWatch::NONE)
                        .expect("nobody stops it");
                    for lane in 0..LANES {
                        let mut y = DVector::zeros(operator.class_count());
                        for (c, carried) in &start {
                            y[*c as usize] = carried[lane];
                        }
                        let strength = if lane == WEIGHT_LANE { 1.0 } else { 3.0 };
                        let exact = dense(&operator, strength, 8, &y);
                        let mut found = DVector::zeros(operator.class_count());
                        for (&p, m) in out.points.iter().zip(out.carried) {
                            found[p as usize] = m[lane];
                        }
                        let worst = (&found - &exact).amax();
                        assert!(
                            worst < 1e-11 * y.amax(),
                            "{weights:?} {pin_border} lane {lane}: {worst:e}"
                        );
                    }
                }
            }
        }
    }

    /// On a long strip, where fields end: what is left out is far below what is dropped, also where the coefficients are a wide flat bell
    /// and where the room was used before.
    #[test]
    fn what_is_left_out_is_far_below_what_is_dropped() {
        let mesh = sinew_testkit::meshes::grid(299, 1);
        let config = LaplacianConfig {
            pin_border: false,
            ..LaplacianConfig::default()
        };
        let (operator, ..) = MeanOperator::build(&mesh, &config);
        let count = operator.class_count();
        let mut scratch = FilterScratch::default();
        let mut ended = 0;
        for (strength, iterations) in [(3.0, 20), (30.0, 200), (1000.0, 20), (1000.0, 1000)] {
            let others = coefficients(strength, iterations);
            let weight = coefficients(1.0, 20);
            // A part of one end, and of the middle.
            for part in [0..50, 120..140_u32] {
                let mut y = DVector::zeros(count);
                part.clone().for_each(|p| y[p as usize] = 1.0);
                let exact = dense(&operator, strength, iterations, &y);
                let start: Vec<_> = part.map(|p| (p, [1.0; LANES])).collect();
                for dropped in [1e-2, 1e-4, 1e-6] {
                    let filter = Filter::new(&operator, &others, &weight, dropped);
                    let out = filter
                        .run(&start, &mut scratch, Par::Seq, &BindWatch::NONE)
                        .expect("nobody stops it");
                    let mut found = vec![None; count];
                    for (&p, m) in out.points.iter().zip(out.carried) {
                        found[p as usize] = Some(m[0]);
                    }
                    ended += usize::from(out.points.len() < count);
                    for (p, (found, exact)) in found.iter().zip(&exact).enumerate() {
                        let (off, bound) = match found {
                            Some(found) => (found - exact, dropped * 1e-3),
                            None => (*exact, dropped),
                        };
                        assert!(
                            off.abs() < bound,
                            "{strength}, {iterations}, {dropped:e}: point {p} is {found:?} for {exact:e}"
                        );
                    }
                }
            }
        }
        assert!(ended > 5, "fields that ended: {ended}");
    }

    #[test]
    fn fields_reach_no_farther_than_their_rings() {
        let mesh = sinew_testkit::meshes::grid(400, 2);
        let config = LaplacianConfig {
            pin_border: false,
            ..LaplacianConfig::default()
        };
        let (operator, ..) = MeanOperator::build(&mesh, &config);
        let filter = Filter::new(&operator, &coefficients(3.0, 4), &[1.0], 0.0);
        let mut scratch = FilterScratch::default();
        let out = filter
            .run(
                &[(0, [1.0; LANES])],
                &mut scratch,
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
        let filter = Filter::new(&operator, &coefficients(3.0, 4), &[1.0], 0.0);
        let watch = BindWatch {
            report: &|_| {},
            is_stopped: &|| true,
        };
        let mut scratch = FilterScratch::default();
        let out = filter.run(&[(0, [1.0; LANES])], &mut scratch, Par::Seq, &watch);
        assert_eq!(out.expect_err("stopped"), Stopped);
    }
}
