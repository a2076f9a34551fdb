//! Arrays that are cut between strands, so that threads share them.

use crate::SplitMut;

/// Data of the vertices of a run of strands.
#[derive(Debug)]
pub(crate) struct PerStrand<'a, T> {
    /// One more than there are strands; need not begin at zero.
    pub(crate) offsets: &'a [u32],
    pub(crate) items: &'a mut [T],
}

impl<T: Send> SplitMut for PerStrand<'_, T> {
    fn split(self, mid: usize) -> (Self, Self) {
        let at = (self.offsets[mid] - self.offsets[0]) as usize;
        let (a, b) = self.items.split_at_mut(at);
        let first = Self {
            offsets: &self.offsets[..=mid],
            items: a,
        };
        let second = Self {
            offsets: &self.offsets[mid..],
            items: b,
        };
        (first, second)
    }
}

impl<T> PerStrand<'_, T> {
    /// The vertices of strand `s` of the run.
    pub(crate) fn strand(&mut self, s: usize) -> &mut [T] {
        let base = self.offsets[0];
        let range = (self.offsets[s] - base) as usize..(self.offsets[s + 1] - base) as usize;
        &mut self.items[range]
    }
}

/// As many items for each task as for any other: room to work in.
#[derive(Debug)]
pub(crate) struct PerChunk<'a, T> {
    /// Strands a task.
    pub(crate) strands: usize,
    /// Items a task.
    pub(crate) each: usize,
    pub(crate) items: &'a mut [T],
}

impl<T: Send> SplitMut for PerChunk<'_, T> {
    fn split(self, mid: usize) -> (Self, Self) {
        let Self {
            strands,
            each,
            items,
        } = self;
        let (a, b) = items.split_at_mut(mid / strands * each);
        let part = |items| Self {
            strands,
            each,
            items,
        };
        (part(a), part(b))
    }
}
