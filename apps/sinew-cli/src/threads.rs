//! How many threads work: `--threads`, of all commands that have it, and what the system allows.

use crate::exit::{Failure, Outcome};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// More than any machine has; systems refuse, or hang on, tens of thousands.
const MOST: i64 = 1024;

/// How many threads work.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Threads {
    /// Threads, 1024 at most; 0 takes all cores. Fewer where the system allows no more.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=MOST))]
    threads: u16,
}

impl Threads {
    /// The threads themselves.
    pub(crate) fn pool(self) -> Outcome<ThreadPool> {
        as_many(self.threads.into(), ThreadPoolBuilder::build).map_err(Failure::output)
    }
}

/// Makes the threads that work where no command chooses. Without it they are made where they are needed first, and a system that refuses them is a panic.
pub(crate) fn begin() -> Outcome {
    as_many(0, ThreadPoolBuilder::build_global).map_err(Failure::output)
}

/// As many threads as asked for (0 for all cores), half of them where the system refuses, and so on; at last this thread alone.
fn as_many<T>(
    asked: usize,
    make: impl Fn(ThreadPoolBuilder) -> Result<T, ThreadPoolBuildError>,
) -> Result<T, ThreadPoolBuildError> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let mut count = if asked == 0 { cores() } else { asked };
    loop {
        match make(ThreadPoolBuilder::new().num_threads(count)) {
            Err(_) if count > 1 => count /= 2,
            Err(_) => return make(ThreadPoolBuilder::new().num_threads(1).use_current_thread()),
            made => return made,
        }
    }
}
