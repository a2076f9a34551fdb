//! How many threads work: `--threads`, of all commands that have it, and what the system allows.

use crate::exit::{Failure, Outcome};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// More than any machine has; systems refuse, or hang on, tens of thousands.
const MOST: u16 = 1024;

fn count(text: &str) -> Result<u16, String> {
    let found = text.parse().ok().filter(|n| *n <= MOST);
    found.ok_or_else(|| format!("expected 0 to {MOST}"))
}

/// How many threads work.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Threads {
    /// Set the number of threads, at most 1024. 0 uses all cores.
    ///
    /// If the system cannot start that many threads, Sinew halves the number until it can.
    #[arg(long, default_value_t = 0, value_parser = count)]
    threads: u16,
}

impl Threads {
    /// The threads themselves.
    pub(crate) fn pool(self) -> Outcome<Pool> {
        // The system refuses more than there are.
        if rayon::current_thread_index().is_some() {
            return Ok(Pool(None));
        }
        let pool = as_many(self.threads.into()).map_err(Failure::output)?;
        Ok(Pool(Some(pool)))
    }
}

/// Threads of a command's own, or those that there are.
pub(crate) struct Pool(Option<ThreadPool>);

impl Pool {
    pub(crate) fn count(&self) -> usize {
        let pool = self.0.as_ref();
        pool.map_or_else(rayon::current_num_threads, ThreadPool::current_num_threads)
    }

    /// Runs on them.
    pub(crate) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

/// Runs with the threads that work where no command chooses. Left alone they are made where they are needed first, and a system that refuses them is a
/// panic then; there are fewer in place of them.
pub(crate) fn with_enough<T: Send>(work: impl FnOnce() -> Outcome<T> + Send) -> Outcome<T> {
    match ThreadPoolBuilder::new().build_global() {
        Ok(()) => work(),
        // It can be tried once.
        Err(_) => as_many(0).map_err(Failure::output)?.install(work),
    }
}

/// As many threads as asked for (0 for all cores), half of them where the system refuses, and so on; at last this thread alone.
fn as_many(asked: usize) -> Result<ThreadPool, ThreadPoolBuildError> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let mut count = if asked == 0 { cores() } else { asked };
    loop {
        match ThreadPoolBuilder::new().num_threads(count).build() {
            Err(_) if count > 1 => count /= 2,
            Err(_) => {
                return ThreadPoolBuilder::new()
                    .num_threads(1)
                    .use_current_thread()
                    .build();
            }
            made => return made,
        }
    }
}
