//! Which samples of a point cache belong to a frame.

/// How a point cache stores time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PointTiming {
    /// PC2, and NPZ without times: frame number of the first sample, and frames per sample.
    Sampled {
        /// Frame number of the first sample.
        start_frame: f32,
        /// Frames from one sample to the next.
        sample_rate: f32,
    },
    /// MDD, and NPZ with times: seconds of each sample, increasing.
    Seconds(Vec<f32>),
    /// Numbered files: frame number of each sample, increasing.
    Numbered(Vec<i64>),
}

/// Two samples, and how far a frame is from the first to the second one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleBlend {
    /// The sample at the frame, or the last one before it.
    pub before: usize,
    /// The sample after the frame; `before` if the frame is at a sample.
    pub after: usize,
    /// 0 at `before`, 1 at `after`.
    pub share: f32,
}

/// Part of the distance between two samples that counts as no distance: times are stored in single precision.
const AT_SAMPLE: f64 = 1e-4;

impl PointTiming {
    /// The samples around frame `number`, which is at `time_secs`, of a cache of so many samples. Frames before the first
    /// sample get the first one, frames after the last sample the last one.
    pub fn blend(&self, samples: usize, number: i64, time_secs: f64) -> SampleBlend {
        let last = samples.saturating_sub(1);
        let frame = number as f64;
        let (after, at, key): (usize, f64, &dyn Fn(usize) -> f64) = match self {
            Self::Sampled {
                start_frame,
                sample_rate,
            } => {
                let (start, rate) = (f64::from(*start_frame), f64::from(*sample_rate));
                let position = (frame - start) / rate;
                // A cast takes infinities and NaN to a limit.
                let after = (position.floor() + 1.0).clamp(0.0, samples as f64) as usize;
                (after, frame, &move |k| start + k as f64 * rate)
            }
            Self::Seconds(times) => (
                times.partition_point(|t| f64::from(*t) <= time_secs),
                time_secs,
                &|k| times.get(k).map_or(0.0, |t| f64::from(*t)),
            ),
            Self::Numbered(numbers) => (numbers.partition_point(|n| *n <= number), frame, &|k| {
                numbers.get(k).map_or(0.0, |n| *n as f64)
            }),
        };
        let only = |sample| SampleBlend {
            before: sample,
            after: sample,
            share: 0.0,
        };
        if after == 0 {
            return only(0);
        }
        if after > last {
            return only(last);
        }
        let (from, to) = (key(after - 1), key(after));
        let near = AT_SAMPLE * (to - from) + f64::from(f32::EPSILON) * at.abs();
        match () {
            () if at - from <= near => only(after - 1),
            () if to - at <= near => only(after),
            () => SampleBlend {
                before: after - 1,
                after,
                share: ((at - from) / (to - from)) as f32,
            },
        }
    }

    /// Samples per second, if times are stored and have one distance; `None` for the other kinds, which count in frames.
    pub fn samples_per_second(&self) -> Option<f64> {
        let Self::Seconds(times) = self else {
            return None;
        };
        let [first, .., last] = times.as_slice() else {
            return None;
        };
        let step = (f64::from(*last) - f64::from(*first)) / (times.len() - 1) as f64;
        let is_even = |pair: &[f32; 2]| {
            let own = f64::from(pair[1]) - f64::from(pair[0]);
            (own - step).abs() <= 0.01 * step
        };
        (step > 0.0 && times.array_windows().all(is_even)).then(|| 1.0 / step)
    }

    /// First and last frame number of a cache of so many samples at `fps` frames per second.
    pub fn frames(&self, samples: usize, fps: f64) -> (i64, i64) {
        let last = samples.saturating_sub(1);
        match self {
            Self::Sampled {
                start_frame,
                sample_rate,
            } => {
                let (start, rate) = (f64::from(*start_frame), f64::from(*sample_rate));
                let end = start + last as f64 * rate;
                let first = (start - AT_SAMPLE).ceil() as i64;
                (first, ((end + AT_SAMPLE).floor() as i64).max(first))
            }
            Self::Seconds(times) => {
                let number = |t: Option<&f32>| (f64::from(*t.unwrap_or(&0.0)) * fps).round() as i64;
                (number(times.first()), number(times.last()))
            }
            Self::Numbered(numbers) => {
                let end = |n: Option<&i64>| n.copied().unwrap_or(0);
                (end(numbers.first()), end(numbers.last()))
            }
        }
    }
}
