//! Keys in the making: times in double precision, and steps as two keys at one time.

use sinew_geom::Interpolation;

/// Keys of one property, in order. Of two keys at the same time, the first ends what is before, the second starts what
/// follows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Keys {
    pub(super) width: usize,
    pub(super) times: Vec<f64>,
    pub(super) values: Vec<f32>,
}

/// A sampler of the document.
#[derive(Debug, PartialEq)]
pub(super) struct Sampler {
    pub(super) interpolation: Interpolation,
    pub(super) times: Vec<f32>,
    pub(super) values: Vec<f32>,
}

impl Keys {
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }

    pub(super) fn push(&mut self, time: f64, value: &[f32]) {
        self.times.push(time);
        self.values.extend_from_slice(value);
    }

    fn value(&self, key: usize) -> &[f32] {
        &self.values[key * self.width..(key + 1) * self.width]
    }

    /// Whether all keys have one value.
    pub(super) fn is_constant(&self) -> bool {
        (1..self.times.len()).all(|k| self.value(k) == self.value(0))
    }

    /// The first value as one key.
    pub(super) fn first(&self, time: f64) -> Self {
        let mut out = Self::new(self.width);
        out.push(time, self.value(0));
        out
    }

    /// Times between two keys of one number at which it passes one of `levels`.
    pub(super) fn crossings(&self, levels: &[f64]) -> Vec<f64> {
        let mut out = Vec::new();
        for k in 1..self.times.len() {
            let (from, to) = (self.times[k - 1], self.times[k]);
            let [a, b] = [k - 1, k].map(|k| f64::from(self.values[k]));
            let passed = levels.iter().filter(|l| (**l - a) * (**l - b) < 0.0);
            out.extend(passed.map(|l| from + (l - a) / (b - a) * (to - from)));
        }
        out
    }

    /// Cuts the keys to a range, and adds keys at its ends. Rotations are unit quaternions.
    pub(super) fn within(&self, begin: f64, end: f64, is_rotation: bool) -> Self {
        let mut out = Self::new(self.width);
        out.push(begin, &self.at(begin, is_rotation, true));
        let first = self.times.partition_point(|t| *t <= begin);
        let last = self.times.partition_point(|t| *t <= end);
        for key in first..last {
            out.push(self.times[key], self.value(key));
        }
        if out.times.last().is_some_and(|t| *t < end) {
            out.push(end, &self.at(end, is_rotation, true));
        }
        out
    }

    /// The value at a time. At a step: that of the later side if `after`, else of the earlier one.
    pub(super) fn at(&self, time: f64, is_rotation: bool, after: bool) -> Vec<f32> {
        let next = match after {
            true => self.times.partition_point(|t| *t <= time),
            false => self.times.partition_point(|t| *t < time),
        };
        let last = self.times.len() - 1;
        if next == 0 || next > last {
            return self.value(next.min(last)).to_vec();
        }
        let (from, to) = (self.times[next - 1], self.times[next]);
        let share = (time - from) / (to - from);
        let (a, b) = (self.value(next - 1), self.value(next));
        let sign = match is_rotation && a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>() < 0.0 {
            true => -1.0,
            false => 1.0,
        };
        let mix = |(a, b): (&f32, &f32)| {
            (f64::from(*a) * (1.0 - share) + sign * f64::from(*b) * share) as f32
        };
        a.iter().zip(b).map(mix).collect()
    }

    /// Keys in single precision, with strictly increasing times. Only steps become [`Interpolation::Step`]; a step among
    /// other keys takes the smallest time that single precision can express.
    pub(super) fn sampler(&self) -> Sampler {
        let is_stepped = (1..self.times.len())
            .all(|k| self.times[k] == self.times[k - 1] || self.value(k) == self.value(k - 1));
        let mut out = Sampler {
            interpolation: if is_stepped {
                Interpolation::Step
            } else {
                Interpolation::Linear
            },
            times: Vec::with_capacity(self.times.len()),
            values: Vec::with_capacity(self.values.len()),
        };
        for (key, &time) in self.times.iter().enumerate() {
            let (time, count) = (time as f32, out.times.len());
            let is_late = out.times.last().is_some_and(|last| *last >= time);
            let before = time.next_down();
            let fits = count < 2 || out.times[count - 2] < before;
            if is_late && !is_stepped && fits {
                out.times[count - 1] = before;
            } else if is_late {
                // The later of two keys that single precision cannot tell apart.
                out.times.pop();
                out.values.truncate(out.values.len() - self.width);
            }
            if is_stepped
                && key > 0
                && key + 1 < self.times.len()
                && out.values.ends_with(self.value(key))
            {
                continue;
            }
            out.times.push(time);
            out.values.extend_from_slice(self.value(key));
        }
        out
    }
}
