//! How to bind, and who follows it.

use super::BindError;
use sinew_deform::{BindWatch, Par};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// How a plan is bound: all but what it is bound to.
///
/// Made with `BindOptions { par, ..BindOptions::default() }`; a [`Par`] alone does where nothing else is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct BindOptions<'a> {
    /// Whether nodes spread their setup over threads. What is bound is the same bits either way.
    pub par: Par,
    /// Who hears how far binding is, and may stop it.
    pub watch: SetupWatch<'a>,
    /// Setup results that [`BoundGraph::setup_cache`](crate::BoundGraph::setup_cache) gave, of any graph: nodes whose setup is in it are
    /// restored, the others are bound. [`BoundGraph::cache_use`](crate::BoundGraph::cache_use) tells how many.
    pub cache: Option<&'a [u8]>,
}

impl From<Par> for BindOptions<'_> {
    fn from(par: Par) -> Self {
        Self {
            par,
            ..Self::default()
        }
    }
}

/// How far binding is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetupProgress<'a> {
    /// Share of all nodes that are done, from 0 to 1; of the one at work as much as it says. Never falls.
    pub done: f64,
    /// Name of the node at work, or of the last one.
    pub node: &'a str,
}

/// Whoever follows binding. Both are called from any thread, `report` from one at a time.
#[derive(Clone, Copy)]
pub struct SetupWatch<'a> {
    /// Hears how far binding is: at the start of each node, often in those that take long, and with 1 at the end.
    pub report: &'a (dyn Fn(SetupProgress<'_>) + Sync),
    /// Whether to stop: asked before each node, and often in those that take long.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
}

impl SetupWatch<'_> {
    /// Nobody follows, nobody stops.
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

/// Brings what single nodes report together, and remembers whether one was told to stop.
#[derive(Debug)]
pub(crate) struct Follower<'a> {
    watch: SetupWatch<'a>,
    /// What counts as all: each node bound is one, and so is each that runs in setup.
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

    /// That much of all is done; what comes late from another thread is left out.
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

    /// Whether a node knows that it is to stop: whatever it failed with then is not its fault.
    pub(crate) fn was_told_to_stop(&self) -> bool {
        self.told_to_stop.load(Ordering::Relaxed)
    }

    /// Before the work of a node.
    pub(crate) fn begin(&self, node: &str, units: f64) -> Result<(), BindError> {
        if self.is_stopped() {
            return Err(stopped(node));
        }
        self.report(node, units);
        Ok(())
    }

    /// Calls `work` with the watch of one node, whose share of all are `width` units from `start` on.
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
