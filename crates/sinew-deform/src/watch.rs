//! Progress and cancellation of long setup.

use std::fmt;

/// Progress and cancellation of setup. Both functions may be called from any thread, and often: they must be cheap.
#[derive(Clone, Copy)]
pub struct BindWatch<'a> {
    /// Receives the finished share of the work, from 0 to 1. Threads may report out of order.
    pub report: &'a (dyn Fn(f64) + Sync),
    /// Whether to stop.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
}

/// The caller stopped setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("setup was stopped")]
pub struct Stopped;

impl BindWatch<'_> {
    /// Reports to no one and never stops.
    pub const NONE: BindWatch<'static> = BindWatch {
        report: &|_| {},
        is_stopped: &|| false,
    };

    /// Calls `work` with a watch for one part of the work: its 0 to 1 become `from` to `to` of this one.
    pub fn part<T>(&self, from: f64, to: f64, work: impl FnOnce(BindWatch<'_>) -> T) -> T {
        let report = |share: f64| (self.report)(from + share * (to - from));
        work(BindWatch {
            report: &report,
            is_stopped: self.is_stopped,
        })
    }

    /// Asks whether to stop, then reports the finished share, limited to 0 to 1.
    ///
    /// # Errors
    /// [`Stopped`] if the caller wants to stop; nothing is reported then.
    pub fn step(&self, done: f64) -> Result<(), Stopped> {
        if (self.is_stopped)() {
            return Err(Stopped);
        }
        (self.report)(done.clamp(0.0, 1.0));
        Ok(())
    }
}

impl Default for BindWatch<'_> {
    fn default() -> Self {
        BindWatch::NONE
    }
}

impl fmt::Debug for BindWatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BindWatch").finish_non_exhaustive()
    }
}
