//! Options of binding, and its progress.

use super::BindError;
use sinew_deform::{BindWatch, Par};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Options of binding.
///
/// Use `BindOptions::from(Par::Rayon).watch(watch)`. Where options are expected, a [`Par`] is also accepted.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct BindOptions<'a> {
    /// Whether nodes use several threads for setup. The result is the same bits either way.
    pub par: Par,
    /// Reports progress, and may stop binding.
    pub watch: SetupWatch<'a>,
    /// Setup results from [`BoundGraph::setup_cache`](crate::BoundGraph::setup_cache) of any graph. Nodes in it are restored, the
    /// others are bound. [`BoundGraph::cache_use`](crate::BoundGraph::cache_use) gives both counts.
    pub cache: Option<&'a [u8]>,
    /// Mesh outputs have no normals and tangents, so that no frame computes them. Nodes that read normals still get them.
    pub positions_only: bool,
}

impl<'a> BindOptions<'a> {
    /// With a listener, which may stop binding.
    pub fn watch(self, watch: SetupWatch<'a>) -> Self {
        Self { watch, ..self }
    }
    /// With setup results of an earlier run.
    pub fn cache(self, cache: impl Into<Option<&'a [u8]>>) -> Self {
        let cache = cache.into();
        Self { cache, ..self }
    }
    /// With [`Self::positions_only`].
    pub fn positions_only(self, positions_only: bool) -> Self {
        Self {
            positions_only,
            ..self
        }
    }
}

impl From<Par> for BindOptions<'_> {
    fn from(par: Par) -> Self {
        Self {
            par,
            ..Self::default()
        }
    }
}

/// Progress of binding, or of other long work.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SetupProgress<'a> {
    /// Share of all nodes that is done, from 0 to 1, including the reported share of the current node. Never decreases.
    pub done: f64,
    /// Name of the current or last node.
    pub node: &'a str,
}

impl<'a> SetupProgress<'a> {
    /// Progress of work of your own, to report to a [`SetupWatch`].
    pub fn new(done: f64, node: &'a str) -> Self {
        Self { done, node }
    }
}

/// Callbacks of binding. They may be called from any thread; `report` is called by one thread at a time.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct SetupWatch<'a> {
    /// Receives the progress: at the start of each node, often during long nodes, and with 1 at the end.
    pub report: &'a (dyn Fn(SetupProgress<'_>) + Sync),
    /// Returns true to stop: called before each node, and often during long nodes.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> SetupWatch<'a> {
    /// With these callbacks.
    pub fn new(
        report: &'a (dyn Fn(SetupProgress<'_>) + Sync),
        is_stopped: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        Self { report, is_stopped }
    }

    /// No progress reports, no stop.
    pub const NONE: SetupWatch<'static> = SetupWatch {
        report: &|_| {},
        is_stopped: &|| false,
    };
}

impl Default for SetupWatch<'_> {
    fn default() -> Self {
        SetupWatch::NONE
    }
}

impl fmt::Debug for SetupWatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetupWatch").finish_non_exhaustive()
    }
}

/// Combines the progress of single nodes, and remembers whether a node was told to stop.
#[derive(Debug)]
pub(crate) struct Follower<'a> {
    watch: SetupWatch<'a>,
    /// Total units of work: one per bound node, and one more per node that runs in setup.
    total: f64,
    reported: Mutex<f64>,
    told_to_stop: AtomicBool,
}

impl<'a> Follower<'a> {
    pub(crate) fn new(watch: SetupWatch<'a>, total: usize) -> Self {
        Self {
            watch,
            total: total.max(1) as f64,
            reported: Mutex::new(0.0),
            told_to_stop: AtomicBool::new(false),
        }
    }

    /// Reports finished units. Ignores late reports of other threads.
    pub(crate) fn report(&self, node: &str, units: f64) {
        let done = (units / self.total).min(1.0);
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if done >= *reported {
            *reported = done;
            (self.watch.report)(SetupProgress { done, node });
        }
    }

    /// Whether to stop, for nodes at work.
    pub(crate) fn is_stopped(&self) -> bool {
        let stopped = (self.watch.is_stopped)();
        if stopped {
            self.told_to_stop.store(true, Ordering::Relaxed);
        }
        stopped
    }

    /// Whether a node was told to stop: its error is then only a consequence.
    pub(crate) fn was_told_to_stop(&self) -> bool {
        self.told_to_stop.load(Ordering::Relaxed)
    }

    /// Called before the work of a node.
    pub(crate) fn begin(&self, node: &str, units: f64) -> Result<(), BindError> {
        if self.is_stopped() {
            return Err(stopped(node));
        }
        self.report(node, units);
        Ok(())
    }

    /// Calls `work` with the watch of one node, which covers `width` units from `start` on.
    pub(crate) fn follow<T>(
        &self,
        node: &str,
        start: f64,
        width: f64,
        work: impl FnOnce(BindWatch<'_>) -> T,
    ) -> T {
        let report = |share: f64| self.report(node, start + share * width);
        let is_stopped = || self.is_stopped();
        work(BindWatch {
            report: &report,
            is_stopped: &is_stopped,
        })
    }
}

pub(crate) fn stopped(node: &str) -> BindError {
    BindError::Stopped {
        node: node.to_owned(),
    }
}
