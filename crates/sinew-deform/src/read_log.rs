//! What a node read that it does not declare: a misspelt name must not read as zero unnoticed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A parameter or port that a node read although it does not declare it, or not with that type. A bug in the
/// node, not in a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this is a bug in the node: it reads the {what} '{name}' as {read_as}, but does not declare it that way"
)]
pub struct Misread {
    /// "parameter", "input" or "output".
    pub what: &'static str,
    /// The name it used.
    pub name: String,
    /// The accessor it used, which is the name of a type.
    pub read_as: &'static str,
}

/// The first wrong read of a node, and which parameters it read. Threads may share it; of several wrong reads at once, one is kept. A
/// correct read costs an atomic load, and only a wrong one allocates.
#[derive(Debug, Default)]
pub struct ReadLog {
    misread: OnceLock<Misread>,
    /// A bit a parameter; the last one stands for all that have none of their own.
    parameters: AtomicU64,
}

impl ReadLog {
    /// An empty log.
    pub const fn new() -> Self {
        Self {
            misread: OnceLock::new(),
            parameters: AtomicU64::new(0),
        }
    }
    /// The first wrong read, if there was one.
    pub fn misread(&self) -> Option<&Misread> {
        self.misread.get()
    }
    /// Whether the parameter of that index was read. Also `true` for some that were not: parameters share a bit from index 63 on, and
    /// fields of lists of objects are counted by their own indices.
    pub fn has_read(&self, parameter: usize) -> bool {
        self.parameters.load(Ordering::Relaxed) & bit(parameter) != 0
    }
    pub(crate) fn note_parameter(&self, parameter: usize) {
        // Most reads are not the first: no write then.
        if !self.has_read(parameter) {
            self.parameters.fetch_or(bit(parameter), Ordering::Relaxed);
        }
    }
    /// [`Self::misread`] as a result.
    ///
    /// # Errors
    /// The first wrong read.
    pub fn check(&self) -> Result<(), Misread> {
        self.misread().map_or(Ok(()), |m| Err(m.clone()))
    }
    #[cold]
    pub(crate) fn note(&self, what: &'static str, name: &str, read_as: &'static str) {
        self.misread.get_or_init(|| Misread {
            what,
            name: name.to_owned(),
            read_as,
        });
    }
}

fn bit(parameter: usize) -> u64 {
    1 << parameter.min(63)
}
