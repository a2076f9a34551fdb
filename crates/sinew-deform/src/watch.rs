//! Following setup that takes long.

use std::fmt;

/// Whoever follows setup: hears how far it is, and may stop it. Both are called from any thread, and often.
#[derive(Clone, Copy)]
pub struct BindWatch<'a> {
    /// Takes the share of the work that is done, from 0 to 1. Threads may report out of order.
    pub report: &'a (dyn Fn(f64) + Sync),
    /// Whether to stop.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
}

/// Setup was stopped by whoever follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("setup was stopped")]
pub struct Stopped;

impl BindWatch<'_> {
    /// Nobody follows, nobody stops.
    pub const NONE: BindWatch<'static> = BindWatch {
        report: &|_| {},
        is_stopped: &|| false,
    };

    /// Calls `work` with a watch for a part of what there is to do: its 0 to 1 are `from` to `to` of this one.
    pub fn part<T>(&self, from: f64, to: f64, work: impl FnOnce(BindWatch<'_>) -> T) -> T {
        let report = |share: f64| (self.report)(from + share * (to - from));
        work(BindWatch {
            report: &report,
            is_stopped: self.is_stopped,
        })
    }

    /// Reports and asks whether to go on.
    ///
    /// # Errors
    /// [`Stopped`] where whoever follows wants no more.
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
