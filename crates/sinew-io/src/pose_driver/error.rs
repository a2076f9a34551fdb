//! What can be wrong in a pose-driver file.

use std::path::PathBuf;

/// Where something stands in a JSON text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonPlace {
    /// From 1.
    pub line: usize,
    /// Characters from 1.
    pub column: usize,
    /// Keys and indices from the root (`arm_l_Solver.Poses.pose_1.outDriverLocalMatrix`, `solvers[0].samples[1]`);
    /// empty for the root, and where the text is not JSON.
    pub json_path: String,
}

impl std::fmt::Display for JsonPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)?;
        if !self.json_path.is_empty() {
            write!(f, ", {}", self.json_path)?;
        }
        Ok(())
    }
}

/// Why a text is not a pose-driver document, or a document cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoseDriverFileError {
    /// The text breaks the rules of JSON or of its format.
    #[error("{}: {place}: found {found}, expected {expected}", .path.display())]
    Malformed {
        /// File it is in.
        path: PathBuf,
        /// Where in the file.
        place: JsonPlace,
        /// What is there.
        found: String,
        /// What would be right.
        expected: String,
    },
    /// The text is larger than any such file.
    #[error("{}: found {bytes} bytes, expected at most {allowed}", .path.display())]
    TooLarge {
        /// File it is in.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// Largest size that is read.
        allowed: u64,
    },
    /// Two parts of a document have one name, which is a key of the file.
    #[error("{}: found two {kind} called '{name}', expected names that differ", .path.display())]
    Duplicate {
        /// File that was to be written.
        path: PathBuf,
        /// What they are (`solvers`, `poses`, `driven joints`).
        kind: &'static str,
        /// Their name.
        name: String,
    },
}
