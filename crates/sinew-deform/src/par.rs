//! Spreading per-vertex work over threads without changing its result.

use std::ops::Range;

/// Whether to use more than one thread. Results are the same bits either way: work is cut at fixed element indices, whatever the number of
/// threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Par {
    /// The calling thread only.
    #[default]
    Seq,
    /// The rayon pool of the calling thread. Without the feature `rayon`, the same as [`Par::Seq`].
    Rayon,
}

/// Outputs that can be cut at an element index; implemented for slices, optional slices and tuples of those.
pub(crate) trait SplitMut: Sized + Send {
    /// The first `mid` elements, and the rest.
    fn split(self, mid: usize) -> (Self, Self);
}

impl<T: Send> SplitMut for &mut [T] {
    fn split(self, mid: usize) -> (Self, Self) {
        self.split_at_mut(mid)
    }
}

impl<S: SplitMut> SplitMut for Option<S> {
    fn split(self, mid: usize) -> (Self, Self) {
        match self {
            Some(s) => {
                let (a, b) = s.split(mid);
                (Some(a), Some(b))
            }
            None => (None, None),
        }
    }
}

macro_rules! tuple {
    ($($name:ident),+) => {
        impl<$($name: SplitMut),+> SplitMut for ($($name,)+) {
            #[allow(non_snake_case, reason = "type parameter names double as variable names")]
            fn split(self, mid: usize) -> (Self, Self) {
                let ($($name,)+) = self;
                $(let $name = $name.split(mid);)+
                (($($name.0,)+), ($($name.1,)+))
            }
        }
    };
}
tuple!(A);
tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);

/// Calls `f(range, outputs of that range)` for runs of at most `chunk` elements out of `len`. The runs start at
/// multiples of `chunk` whatever the number of threads, so that kernels that treat the last elements of a run
/// apart give the same bits.
pub(crate) fn for_each_chunk<O: SplitMut>(
    par: Par,
    len: usize,
    chunk: usize,
    outputs: O,
    f: &(dyn Fn(Range<usize>, O) + Sync),
) {
    recurse(par, 0..len, chunk.max(1), outputs, f);
}

#[cfg_attr(
    not(feature = "rayon"),
    expect(
        clippy::only_used_in_recursion,
        reason = "without threads there is nothing to choose"
    )
)]
fn recurse<O: SplitMut>(
    par: Par,
    range: Range<usize>,
    chunk: usize,
    outputs: O,
    f: &(dyn Fn(Range<usize>, O) + Sync),
) {
    let len = range.len();
    if len == 0 {
        return;
    }
    if len <= chunk {
        return f(range, outputs);
    }
    let half = len.div_ceil(chunk) / 2 * chunk;
    let (a, b) = outputs.split(half);
    let mid = range.start + half;
    let (left, right) = (range.start..mid, mid..range.end);
    #[cfg(feature = "rayon")]
    if par == Par::Rayon {
        rayon::join(
            || recurse(par, left, chunk, a, f),
            || recurse(par, right, chunk, b, f),
        );
        return;
    }
    recurse(par, left, chunk, a, f);
    recurse(par, right, chunk, b, f);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_start_at_multiples_and_cover_everything() {
        for par in [Par::Seq, Par::Rayon] {
            let mut out = vec![0_usize; 1003];
            for_each_chunk(par, 1003, 64, &mut out[..], &|range, out: &mut [usize]| {
                assert_eq!(range.start % 64, 0);
                assert!(range.len() <= 64, "{range:?}");
                for (i, o) in range.zip(out) {
                    *o += i + 1;
                }
            });
            assert!(
                out.iter().enumerate().all(|(i, &o)| o == i + 1),
                "each element once"
            );
        }
    }
}
