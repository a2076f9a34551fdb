//! Long work that Ctrl-C stops.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often the interpreter is asked for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Does the work on another thread, while this one looks for signals and calls `meanwhile`. `stop` is set at a signal or an error of
/// `meanwhile`; the work should end then.
///
/// # Errors
/// The exception of the signal's handler or of `meanwhile`, once the work has ended.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send,
    mut meanwhile: impl FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    let ended = End::default();
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let _told = Told(&ended);
            work()
        });
        let mut failure = None;
        while !py.detach(|| ended.wait()) {
            if let Err(error) = py.check_signals().and_then(|()| meanwhile(py)) {
                stop.store(true, Ordering::Relaxed);
                failure.get_or_insert(error);
            }
        }
        let done = py.detach(|| worker.join());
        let done = done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        meanwhile(py).unwrap_or_else(|error| _ = failure.get_or_insert(error));
        match failure {
            None => Ok(done),
            Some(error) => Err(error),
        }
    })
}

#[derive(Default)]
struct End {
    is_there: Mutex<bool>,
    came: Condvar,
}

impl End {
    /// Waits a while for the end; whether it came.
    fn wait(&self) -> bool {
        let is_there = self.is_there.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .came
            .wait_timeout_while(is_there, LOOK, |there| !*there);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Tells the end when the work is over, after a panic, too.
struct Told<'a>(&'a End);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        *self
            .0
            .is_there
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = true;
        self.0.came.notify_all();
    }
}
