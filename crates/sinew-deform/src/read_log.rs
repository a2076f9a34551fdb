//! What a node read that it does not declare: a misspelt name must not read as zero unnoticed.

use std::sync::OnceLock;

/// A parameter or port that a node read although it does not declare it, or not with that type. A bug in the
/// node, not in a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this is a bug in the node: it reads the {what} '{name}' as {read_as}, but does not declare it so"
)]
pub struct Misread {
    /// "parameter", "input" or "output".
    pub what: &'static str,
    /// The name it used.
    pub name: String,
    /// The accessor it used, which is the name of a type.
    pub read_as: &'static str,
}

/// Notes the first wrong read of a node. Reads that are right cost nothing; whoever runs a node looks here
/// afterwards.
#[derive(Debug, Default)]
pub struct ReadLog(OnceLock<Misread>);

impl ReadLog {
    /// An empty log.
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }
    /// The first wrong read, if there was one.
    pub fn misread(&self) -> Option<&Misread> {
        self.0.get()
    }
    /// As a result.
    ///
    /// # Errors
    /// The first wrong read.
    pub fn check(&self) -> Result<(), Misread> {
        self.misread().map_or(Ok(()), |m| Err(m.clone()))
    }
    #[cold]
    pub(crate) fn note(&self, what: &'static str, name: &str, read_as: &'static str) {
        self.0.get_or_init(|| Misread {
            what,
            name: name.to_owned(),
            read_as,
        });
    }
}
