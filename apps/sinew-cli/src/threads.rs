//! `--threads`, of all commands that have it.

use crate::exit::{Failure, Outcome};

/// More than any machine has; systems refuse, or hang on, tens of thousands.
const MOST: i64 = 1024;

/// How many threads work.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Threads {
    /// Threads, 1024 at most; 0 takes all cores.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=MOST))]
    threads: u16,
}

impl Threads {
    /// The threads themselves.
    pub(crate) fn pool(self) -> Outcome<rayon::ThreadPool> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads.into());
        pool.build().map_err(Failure::output)
    }
}
