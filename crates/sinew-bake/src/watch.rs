//! Who looks at a bake while it runs.

use crate::BakeError;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Hears of progress and may stop the work. Both are called from any thread.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Watch<'a> {
    /// Whether to stop: asked before every frame.
    pub is_cancelled: &'a (dyn Fn() -> bool + Sync),
    /// What is being done, how much of it is, and how much there is.
    pub progress: &'a (dyn Fn(&'static str, usize, usize) + Sync),
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

impl<'a> Watch<'a> {
    /// Nobody looks.
    pub const NOBODY: Watch<'static> = Watch {
        is_cancelled: &|| false,
        progress: &|_, _, _| {},
    };

    /// With these callbacks.
    pub fn new(
        is_cancelled: &'a (dyn Fn() -> bool + Sync),
        progress: &'a (dyn Fn(&'static str, usize, usize) + Sync),
    ) -> Self {
        Self {
            is_cancelled,
            progress,
        }
    }

    /// Counts the steps of one stage.
    pub(crate) fn stage(&self, what: &'static str, total: usize) -> Stage<'_> {
        (self.progress)(what, 0, total);
        Stage {
            watch: self,
            what,
            total,
            done: AtomicUsize::new(0),
        }
    }
}

/// One stage of the work.
pub(crate) struct Stage<'a> {
    watch: &'a Watch<'a>,
    what: &'static str,
    total: usize,
    done: AtomicUsize,
}

impl Stage<'_> {
    /// To be asked before each step.
    pub(crate) fn go_on(&self) -> Result<(), BakeError> {
        match (self.watch.is_cancelled)() {
            true => Err(BakeError::Cancelled),
            false => Ok(()),
        }
    }
    /// To be told after each step.
    pub(crate) fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.watch.progress)(self.what, done, self.total);
    }
}
