//! The minimum of a convex quadratic over weights that are not negative and sum to 1.
//!
//! An active set method in the manner of Lawson and Hanson, *Solving Least Squares Problems*, 1974, chapter 23, with the sum as an
//! equality:
//!
//! 1. Start with the single weight that has the smallest value.
//! 2. Minimise over the weights that are free, with their sum as the only constraint (Cholesky, and one multiplier).
//! 3. If a weight becomes negative, go only as far as the first weight that reaches 0, and fix it there. Repeat from 2.
//! 4. Otherwise free the fixed weight with the steepest descent, and repeat from 2. Without one, the minimum is reached.
//!
//! Each round lowers the value with another set of free weights, hence the result is exact up to rounding after a finite number of rounds.
//! A round costs O(k^3) for k free weights. Their number is limited to `8 n + 16`, which rounding errors could exceed otherwise.
//!
//! A singular matrix gets a ridge of 1e-13 of its largest pivot: of several minima, one is found.

/// `w' Q w - 2 c' w` for `n` weights `w`. `Q` is symmetric and positive definite or semidefinite, dense, in double precision: `8 n (n + 1)`
/// bytes.
#[derive(Clone, Debug)]
pub struct Quadratic {
    n: usize,
    q: Vec<f64>,
    c: Vec<f64>,
}

/// Where the last pivot of a factorisation is this much below the largest, the matrix counts as singular and gets a ridge of that share.
const RIDGE: f64 = 1e-13;
/// Weights below this are zero.
const NOTHING: f64 = 1e-14;

impl Quadratic {
    /// For `n` weights, with `Q` and `c` zero.
    pub fn zeros(n: usize) -> Self {
        Self {
            n,
            q: vec![0.0; n * n],
            c: vec![0.0; n],
        }
    }

    /// Sets the entry of row `i` and column `j` of `Q`, and its mirror image.
    ///
    /// # Panics
    /// If `i` or `j` is so large that the entry is beyond the matrix.
    pub fn set(&mut self, i: usize, j: usize, value: f64) {
        self.q[i * self.n + j] = value;
        self.q[j * self.n + i] = value;
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.q[i * self.n + j]
    }

    /// Adds `sum strength_i (w_i - wanted_i)^2`, without the constant `sum strength_i wanted_i^2`. Both slices have one number per weight;
    /// a shorter one ends the sum.
    ///
    /// # Panics
    /// If both slices are longer than the number of weights.
    pub fn pull(&mut self, wanted: &[f64], strengths: &[f64]) {
        for (i, (w, strength)) in wanted.iter().zip(strengths).enumerate() {
            self.q[i * self.n + i] += strength;
            self.c[i] += strength * w;
        }
    }

    /// The value at `w`, which has one number per weight and need not meet the constraints. O(n^2).
    pub fn value(&self, w: &[f64]) -> f64 {
        let row = |i: usize| -> f64 {
            let q = &self.q[i * self.n..(i + 1) * self.n];
            q.iter().zip(w).map(|(q, w)| q * w).sum()
        };
        w.iter()
            .enumerate()
            .map(|(i, w)| w * (row(i) - 2.0 * self.c[i]))
            .sum()
    }

    /// The weights with the smallest value, and exactly 0 where `allowed` is false. `allowed` has one entry per weight. If none is allowed,
    /// all weights are 0 and do not sum to 1. Allocates.
    ///
    /// # Panics
    /// If `allowed` is shorter than the number of weights.
    pub fn minimise(&self, allowed: &[bool]) -> Vec<f64> {
        let mut w = vec![0.0; self.n];
        let places = (0..self.n).filter(|&i| allowed[i]);
        let alone = |i: usize| self.at(i, i) - 2.0 * self.c[i];
        let Some(first) = places.min_by(|&a, &b| alone(a).total_cmp(&alone(b))) else {
            return w;
        };
        w[first] = 1.0;
        let mut free = vec![first];
        let scale = (0..self.n).map(|i| self.at(i, i)).fold(0.0, f64::max);
        // Each round takes a weight in or lets one go; far fewer are needed.
        for _ in 0..8 * self.n + 16 {
            let (wanted, multiplier) = self.on(&free);
            if let Some(step) = step_to_border(&w, &free, &wanted) {
                self.go(&mut w, &mut free, &wanted, step);
                continue;
            }
            for (&i, x) in free.iter().zip(&wanted) {
                w[i] = *x;
            }
            let slope = |i: usize| {
                let row = free.iter().map(|&j| self.at(i, j) * w[j]);
                row.sum::<f64>() - self.c[i] - multiplier
            };
            let others = (0..self.n).filter(|i| allowed[*i] && !free.contains(i));
            let steepest = others
                .map(|i| (i, slope(i)))
                .min_by(|a, b| a.1.total_cmp(&b.1));
            match steepest {
                Some((i, slope)) if slope < -1e-12 * scale => free.push(i),
                _ => break,
            }
        }
        w
    }

    /// Part of the way to `wanted`, up to where the first weight becomes zero, which goes.
    fn go(&self, w: &mut [f64], free: &mut Vec<usize>, wanted: &[f64], step: f64) {
        for (&i, x) in free.iter().zip(wanted) {
            w[i] += step * (x - w[i]);
        }
        let reached = |k: usize| wanted[k] <= NOTHING && w[free[k]] <= NOTHING;
        let gone: Vec<usize> = (0..free.len()).filter(|&k| reached(k)).collect();
        for &k in gone.iter().rev() {
            w[free[k]] = 0.0;
            free.remove(k);
        }
    }

    /// The smallest value where only `free` weights are not zero, whatever their signs; with the multiplier of the sum.
    fn on(&self, free: &[usize]) -> (Vec<f64>, f64) {
        let n = free.len();
        let mut factor = vec![0.0; n * n];
        for (i, &a) in free.iter().enumerate() {
            for (j, &b) in free.iter().enumerate() {
                factor[i * n + j] = self.at(a, b);
            }
        }
        cholesky(&mut factor, n);
        let mut u: Vec<f64> = free.iter().map(|&i| self.c[i]).collect();
        let mut z = vec![1.0; n];
        solve(&factor, &mut u);
        solve(&factor, &mut z);
        let sum: f64 = z.iter().sum();
        let multiplier = if sum > 0.0 {
            (1.0 - u.iter().sum::<f64>()) / sum
        } else {
            0.0
        };
        let w = u.iter().zip(&z).map(|(u, z)| u + multiplier * z).collect();
        (w, multiplier)
    }

    /// The weights with the smallest value of which at most `most` (at least 1) are above 0. Weights are removed one by one, each time the
    /// one that costs least, and the others are found again. This is exact if no more than `most` are above 0 anyway, and a greedy choice
    /// otherwise.
    ///
    /// # Cost
    /// O(m^2) calls of [`Self::minimise`] for `m` weights above 0.
    pub fn minimise_with(&self, most: usize) -> Vec<f64> {
        let mut allowed = vec![true; self.n];
        let mut w = self.minimise(&allowed);
        loop {
            let above: Vec<usize> = (0..self.n).filter(|&i| w[i] > 0.0).collect();
            if above.len() <= most.max(1) {
                return w;
            }
            allowed.fill(false);
            for &i in &above {
                allowed[i] = true;
            }
            let without = |&i: &usize| {
                let mut fewer = allowed.clone();
                fewer[i] = false;
                let w = self.minimise(&fewer);
                (self.value(&w), w)
            };
            let best = above.iter().map(without);
            match best.min_by(|a, b| a.0.total_cmp(&b.0)) {
                Some((_, found)) => w = found,
                None => return w,
            }
        }
    }
}

/// How far to go from `w` towards `wanted` until the first weight is zero; `None` where all stay above.
fn step_to_border(w: &[f64], free: &[usize], wanted: &[f64]) -> Option<f64> {
    let falling = free.iter().zip(wanted).filter(|(_, x)| **x <= NOTHING);
    let steps = falling.map(|(&i, x)| if w[i] > *x { w[i] / (w[i] - x) } else { 0.0 });
    let least = steps.min_by(f64::total_cmp)?;
    // A single weight is one.
    (free.len() > 1).then_some(least.clamp(0.0, 1.0))
}

/// The lower factor in place.
fn cholesky(a: &mut [f64], n: usize) {
    let largest = (0..n).map(|i| a[i * n + i]).fold(0.0, f64::max);
    let least = (largest * RIDGE).max(f64::MIN_POSITIVE);
    for j in 0..n {
        let squares: f64 = a[j * n..j * n + j].iter().map(|x| x * x).sum();
        let pivot = (a[j * n + j] - squares).max(least).sqrt();
        a[j * n + j] = pivot;
        for i in j + 1..n {
            let dot: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            a[i * n + j] = (a[i * n + j] - dot) / pivot;
        }
    }
}

fn solve(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let dot: f64 = (0..i).map(|k| factor[i * n + k] * x[k]).sum();
        x[i] = (x[i] - dot) / factor[i * n + i];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| factor[k * n + i] * x[k]).sum();
        x[i] = (x[i] - dot) / factor[i * n + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from -1 to 1, the same on every machine.
    struct Noise(u64);
    impl Noise {
        fn next(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }
    }

    /// `|A w - b|^2` for a random `A` of `rows` rows.
    fn random(n: usize, rows: usize, noise: &mut Noise) -> Quadratic {
        let a: Vec<f64> = (0..n * rows).map(|_| noise.next()).collect();
        let b: Vec<f64> = (0..rows).map(|_| noise.next()).collect();
        let mut out = Quadratic::zeros(n);
        for i in 0..n {
            for j in 0..=i {
                out.set(i, j, (0..rows).map(|r| a[r * n + i] * a[r * n + j]).sum());
            }
            out.c[i] = (0..rows).map(|r| a[r * n + i] * b[r]).sum();
        }
        out
    }

    /// All supports of up to `most` weights: the unconstrained minimum of each counts where it is not negative anywhere. The minimum under
    /// the constraints is among them.
    fn brute_force(q: &Quadratic, most: usize) -> f64 {
        let mut best = f64::INFINITY;
        for mask in 1_u32..1 << q.n {
            let free: Vec<usize> = (0..q.n).filter(|i| mask >> i & 1 == 1).collect();
            if free.len() > most {
                continue;
            }
            let (w, _) = q.on(&free);
            if w.iter().any(|w| *w < 0.0) {
                continue;
            }
            let mut full = vec![0.0; q.n];
            for (&i, w) in free.iter().zip(&w) {
                full[i] = *w;
            }
            best = best.min(q.value(&full));
        }
        best
    }

    #[test]
    fn the_minimum_is_that_of_all_supports() {
        let mut noise = Noise(7);
        for case in 0..400 {
            let n = 1 + case % 7;
            let q = random(n, n + case % 5, &mut noise);
            let w = q.minimise(&vec![true; n]);
            let sum: f64 = w.iter().sum();
            assert!(
                (sum - 1.0).abs() < 1e-9 && w.iter().all(|w| *w >= 0.0),
                "{w:?}"
            );
            let (found, best) = (q.value(&w), brute_force(&q, n));
            assert!(
                (found - best).abs() < 1e-9 * (1.0 + best.abs()),
                "{case}: {found} {best}"
            );
        }
    }

    /// The greedy cut is no worse than twice as far from the best uncapped value as the best support is, in all but a few cases, and never
    /// better than the best one.
    #[test]
    fn the_cut_is_near_the_best_support() {
        let mut noise = Noise(11);
        let (mut same, cases) = (0, 300);
        for _ in 0..cases {
            let q = random(7, 12, &mut noise);
            let w = q.minimise_with(2);
            assert!(w.iter().filter(|w| **w > 0.0).count() <= 2, "{w:?}");
            let (found, best) = (q.value(&w), brute_force(&q, 2));
            assert!(found >= best - 1e-9 * (1.0 + best.abs()), "{found} {best}");
            same += usize::from(found <= best + 1e-9 * (1.0 + best.abs()));
        }
        println!("the greedy cut is the best support in {same} of {cases} cases");
        assert!(same * 10 >= cases * 8, "{same} of {cases}");
    }

    #[test]
    fn what_is_not_determined_stays_where_it_is_pulled() {
        // Two weights do the same, the third does another thing.
        let mut q = Quadratic::zeros(3);
        for (i, j) in [(0, 0), (0, 1), (1, 1)] {
            q.set(i, j, 1.0);
        }
        q.set(2, 2, 1.0);
        q.pull(&[0.3, 0.2, 0.5], &[1e-9; 3]);
        let w = q.minimise(&[true; 3]);
        let off = w.iter().zip([0.3, 0.2, 0.5]).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f64::max) < 1e-6, "{w:?}");
    }

    /// Two weights do the same and together less than before: what they lose is shared by how strongly each is held.
    #[test]
    fn what_is_not_determined_is_shared_by_strength() {
        let mut q = Quadratic::zeros(3);
        for (i, j) in [(0, 0), (0, 1), (1, 1)] {
            q.set(i, j, 1.0);
        }
        q.set(2, 2, 3.0);
        q.pull(&[0.2, 0.2, 0.6], &[1e-9, 4e-9, 1e-9]);
        // (w0 + w1)^2 + 3 w2^2 is least at w0 + w1 = 3/4: 0.35 more, of which the one that is held four times as strongly gets a fifth.
        let w = q.minimise(&[true; 3]);
        assert!(
            (w[0] - 0.48).abs() < 1e-6 && (w[1] - 0.27).abs() < 1e-6,
            "{w:?}"
        );
    }

    #[test]
    fn nothing_at_all_is_a_minimum_too() {
        let q = Quadratic::zeros(4);
        let w = q.minimise_with(2);
        assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{w:?}");
    }
}
