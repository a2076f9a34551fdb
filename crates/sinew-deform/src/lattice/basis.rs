//! Weights of the control points along one axis, and their derivatives.

use super::bind::{Border, MAX_POINTS};
use sinew_geom::Real;

/// What the basis functions of an axis are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AxisKind {
    /// One point of weight 1.
    One,
    /// Bernstein polynomials over all points.
    Bernstein,
    /// Uniform B-splines over so many points (degree one less).
    Bspline(usize),
    /// Cardinal splines of that tension over four points.
    Cardinal(f64),
    /// Two points; smoothstep or linear by component.
    Eased,
}

/// How one axis turns a parameter into weights. `r = s * scale + offset` counts intervals between control points
/// (Bernstein: `s` itself); the basis is evaluated at `r` clamped to `low..=high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AxisRule {
    pub(super) kind: AxisKind,
    pub(super) points: usize,
    pub(super) border: Border,
    pub(super) scale: f64,
    pub(super) offset: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Beyond `low..=high`: continue with the end's slope; otherwise stay.
    pub(super) linear_outside: bool,
}

/// Weights `w` of the points `start..start + len` and their derivatives `d` by `s`.
#[derive(Clone, Debug)]
pub(super) struct AxisBasis<R: Real> {
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) w: [R; MAX_POINTS],
    pub(super) d: [R; MAX_POINTS],
}

impl<R: Real> AxisBasis<R> {
    pub(super) fn new() -> Self {
        Self {
            start: 0,
            len: 0,
            w: [R::zero(); MAX_POINTS],
            d: [R::zero(); MAX_POINTS],
        }
    }

    /// Fills in the weights at `s` (0 to 1 across the box). `eased` matters to [`AxisKind::Eased`] only.
    pub(super) fn evaluate(&mut self, rule: &AxisRule, s: R, eased: bool) {
        let r = s * R::from_double(rule.scale) + R::from_double(rule.offset);
        let (low, high) = (R::from_double(rule.low), R::from_double(rule.high));
        let c = r.max(low).min(high);
        match rule.kind {
            AxisKind::One => {
                (self.start, self.len) = (0, 1);
                (self.w[0], self.d[0]) = (R::one(), R::zero());
                return;
            }
            AxisKind::Bernstein => self.bernstein(rule.points, c),
            AxisKind::Bspline(k) => {
                let shift = if k % 2 == 1 { 0.5 } else { 0.0 };
                let (cell, t) = split_cell(rule, c, shift);
                let (w, d) = bspline_taps(k, t);
                self.gather(rule, cell - (k as isize - 1) / 2, &w[..k], &d[..k]);
            }
            AxisKind::Cardinal(tension) => {
                let (cell, t) = split_cell(rule, c, 0.0);
                let (w, d) = cardinal_taps(R::from_double(tension), t);
                self.gather(rule, cell - 1, &w, &d);
            }
            AxisKind::Eased => {
                let (cell, t) = split_cell(rule, c, 0.0);
                let (w, d) = if eased { smoothstep(t) } else { (t, R::one()) };
                self.gather(rule, cell, &[R::one() - w, w], &[-d, d]);
            }
        }
        self.leave_box(rule, r - c);
    }

    /// By `s`, and beyond the ends: linear or constant.
    fn leave_box(&mut self, rule: &AxisRule, beyond: R) {
        let scale = R::from_double(rule.scale);
        let held = beyond != R::zero() && !rule.linear_outside;
        for (w, d) in self.w.iter_mut().zip(&mut self.d).take(self.len) {
            if held {
                *d = R::zero();
            }
            *w += *d * beyond;
            *d *= scale;
        }
    }

    /// de Casteljau on the basis: `b_i <- (1 - s) b_i + s b_(i-1)`, all terms non-negative.
    fn bernstein(&mut self, points: usize, s: R) {
        (self.start, self.len) = (0, points);
        let b = &mut self.w[..points];
        b.fill(R::zero());
        b[0] = R::one();
        let lower = R::one() - s;
        let degree = points - 1;
        for k in 1..=degree {
            if k == degree {
                // `b` has degree one less here: the derivative is n (b_(i-1) - b_i).
                let n = R::from_double(degree as f64);
                self.d[0] = -n * b[0];
                for i in 1..points {
                    self.d[i] = n * (b[i - 1] - b[i]);
                }
            }
            for i in (1..=k).rev() {
                b[i] = lower * b[i] + s * b[i - 1];
            }
            b[0] *= lower;
        }
    }

    /// Adds up the taps at `first..`, taking those beyond the border to the points that stand for them.
    fn gather(&mut self, rule: &AxisRule, first: isize, w: &[R], d: &[R]) {
        let last = rule.points as isize - 1;
        let end = first + w.len() as isize - 1;
        // An extrapolated border needs its two outermost points.
        let start = first.clamp(0, last - 1);
        let stop = end.clamp(1, last).max(start + 1);
        (self.start, self.len) = (start as usize, (stop - start + 1) as usize);
        self.w[..self.len].fill(R::zero());
        self.d[..self.len].fill(R::zero());
        for (k, (&w, &d)) in w.iter().zip(d).enumerate() {
            for (point, factor) in stand_ins(first + k as isize, last, rule.border) {
                let slot = (point - start).clamp(0, stop - start) as usize;
                let factor = R::from_double(factor);
                self.w[slot] += w * factor;
                self.d[slot] += d * factor;
            }
        }
    }
}

/// Which points stand for grid index `j`, and how often each counts.
pub(super) fn stand_ins(j: isize, last: isize, border: Border) -> [(isize, f64); 2] {
    let inside = j.clamp(0, last);
    let beyond = (j - inside).unsigned_abs() as f64;
    let neighbour = if j < 0 { inside + 1 } else { inside - 1 };
    match border {
        Border::Extrapolate if beyond > 0.0 => [(inside, 1.0 + beyond), (neighbour, -beyond)],
        _ => [(inside, 1.0), (inside, 0.0)],
    }
}

/// The cell of `c` and the place in it, 0 to 1. The last cell includes its end.
fn split_cell<R: Real>(rule: &AxisRule, c: R, shift: f64) -> (isize, R) {
    let last = if shift > 0.0 {
        rule.high
    } else {
        rule.high - 1.0
    };
    let shift = R::from_double(shift);
    let cell = (c + shift).floor().min(R::from_double(last));
    (cell.to_double() as isize, c + shift - cell)
}

/// `k` uniform B-spline weights at `t` in the middle cell, and their derivatives: Cox and de Boor's recurrence on
/// integer knots.
fn bspline_taps<R: Real>(k: usize, t: R) -> ([R; 30], [R; 30]) {
    let mut w = [R::zero(); 30];
    let mut d = [R::zero(); 30];
    w[0] = R::one();
    for degree in 1..k {
        if degree == k - 1 {
            d[0] = -w[0];
            for j in 1..k {
                d[j] = w[j - 1] - w[j];
            }
        }
        let whole = R::from_double(degree as f64);
        for j in (0..=degree).rev() {
            let index = R::from_double(j as f64);
            let left = if j > 0 { w[j - 1] } else { R::zero() };
            w[j] = ((t + whole - index) * left + (R::one() - t + index) * w[j]) / whole;
        }
    }
    (w, d)
}

/// Weights of a cardinal spline of tension `c` at `t`, and their derivatives.
fn cardinal_taps<R: Real>(c: R, t: R) -> ([R; 4], [R; 4]) {
    let n = R::from_double;
    let (one, two, three) = (n(1.0), n(2.0), n(3.0));
    // Coefficients of t^3, t^2, t, 1.
    let rows = [
        [-c, two * c, -c, n(0.0)],
        [two - c, c - three, n(0.0), one],
        [c - two, three - two * c, c, n(0.0)],
        [c, -c, n(0.0), n(0.0)],
    ];
    (
        rows.map(|[a, b, c, d]| ((a * t + b) * t + c) * t + d),
        rows.map(|[a, b, c, _]| (three * a * t + two * b) * t + c),
    )
}

fn smoothstep<R: Real>(t: R) -> (R, R) {
    let n = R::from_double;
    (t * t * (n(3.0) - n(2.0) * t), n(6.0) * t * (n(1.0) - t))
}
