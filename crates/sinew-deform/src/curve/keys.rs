//! The curve: keys, what is between them, and what is outside.

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Key {
    pub(super) at: f64,
    pub(super) value: f64,
    /// Before and after it.
    pub(super) slopes: [f64; 2],
}

/// Between two keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Step,
    Linear,
    Smooth,
    CubicSpline,
}

/// Before the first key and after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outside {
    Hold,
    Line,
    Repeat,
    Mirror,
}

/// Keys in order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Keys {
    keys: Vec<Key>,
    shape: Shape,
    outside: Outside,
}

/// Why keys are no curve.
#[derive(Debug, thiserror::Error, PartialEq)]
pub(crate) enum KeysError {
    #[error(
        "parameter 'keys': key {index} is at {found}, expected a number above {before}, where the key before is"
    )]
    Order {
        index: usize,
        found: f64,
        before: f64,
    },
    #[error("parameter 'outside': a curve that repeats has {found} key, expected at least two")]
    TooFew { found: usize },
}

impl Keys {
    /// # Errors
    /// [`KeysError`] names the key that is wrong.
    pub(super) fn new(keys: Vec<Key>, shape: Shape, outside: Outside) -> Result<Self, KeysError> {
        for (index, pair) in keys.windows(2).enumerate() {
            if let [a, b] = pair
                && a.at >= b.at
            {
                return Err(KeysError::Order {
                    index: index + 1,
                    found: b.at,
                    before: a.at,
                });
            }
        }
        if keys.len() == 1 && matches!(outside, Outside::Repeat | Outside::Mirror) {
            return Err(KeysError::TooFew { found: 1 });
        }
        Ok(Self {
            keys,
            shape,
            outside,
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.keys.len() * size_of::<Key>()
    }

    /// The value at `x`; `x` itself without keys, or where it is no number. O(log keys).
    pub(super) fn at(&self, x: f64) -> f64 {
        let (Some(first), Some(last)) = (self.keys.first(), self.keys.last()) else {
            return x;
        };
        if !x.is_finite() {
            return x;
        }
        let length = last.at - first.at;
        match self.outside {
            Outside::Repeat => self.within(first.at + (x - first.at).rem_euclid(length)),
            Outside::Mirror => {
                let far = (x - first.at).rem_euclid(2.0 * length);
                self.within(first.at + far.min(2.0 * length - far))
            }
            Outside::Line if x < first.at => {
                first.value + (x - first.at) * self.end_slope(first, true)
            }
            Outside::Line if x > last.at => {
                last.value + (x - last.at) * self.end_slope(last, false)
            }
            Outside::Hold | Outside::Line => self.within(x),
        }
    }

    /// From the first key to the last, and their values beyond them.
    fn within(&self, x: f64) -> f64 {
        let next = self.keys.partition_point(|k| k.at <= x);
        let before = next.checked_sub(1).and_then(|i| self.keys.get(i));
        match (before, self.keys.get(next)) {
            (Some(a), Some(b)) => self.between(a, b, x),
            (Some(end), None) | (None, Some(end)) => end.value,
            (None, None) => x,
        }
    }

    fn between(&self, a: &Key, b: &Key, x: f64) -> f64 {
        let length = b.at - a.at;
        let s = (x - a.at) / length;
        match self.shape {
            Shape::Step => a.value,
            Shape::Linear => a.value + (b.value - a.value) * s,
            Shape::Smooth => a.value + (b.value - a.value) * s * s * (3.0 - 2.0 * s),
            Shape::CubicSpline => {
                let (r, [_, out], [into, _]) = (1.0 - s, a.slopes, b.slopes);
                // The cubic Hermite spline of glTF 2.0, appendix C.
                a.value * (1.0 + 2.0 * s) * r * r
                    + b.value * s * s * (3.0 - 2.0 * s)
                    + length * s * r * (out * r - into * s)
            }
        }
    }

    /// The slope with which the curve reaches its first or last key from within.
    fn end_slope(&self, end: &Key, is_first: bool) -> f64 {
        let other = if is_first {
            self.keys.get(1)
        } else {
            self.keys.iter().rev().nth(1)
        };
        match (self.shape, other) {
            (Shape::CubicSpline, _) => end.slopes[usize::from(is_first)],
            (Shape::Linear, Some(other)) => (other.value - end.value) / (other.at - end.at),
            _ => 0.0,
        }
    }
}
