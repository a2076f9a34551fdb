//! Errors of pose-driver files.

use std::path::PathBuf;

/// Location in a JSON text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonLocation {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Keys and indices from the root (`arm_l_Solver.Poses.pose_1.outDriverLocalMatrix`, `solvers[0].samples[1]`).
    /// Empty for the root, and if the text is not JSON.
    pub json_path: String,
}

impl std::fmt::Display for JsonLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)?;
        if !self.json_path.is_empty() {
            write!(f, ", {}", self.json_path)?;
        }
        Ok(())
    }
}

/// Error of reading or writing a pose-driver document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoseDriverFileError {
    /// The text violates the rules of JSON or of its format.
    #[error("{}: {location}: found {found}, expected {expected}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Location in the file.
        location: JsonLocation,
        /// What the file contains there.
        found: String,
        /// What is valid there.
        expected: String,
    },
    /// The file exceeds the size limit.
    #[error("{}: found {bytes} bytes, expected at most {allowed}", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        bytes: u64,
        /// Size limit in bytes.
        allowed: u64,
    },
    /// Two entries of a document have the same name, which is a key in the file.
    #[error("{}: found two {kind} called '{name}', expected unique names", .path.display())]
    Duplicate {
        /// File to write.
        path: PathBuf,
        /// Kind of entry (`solvers`, `poses`, `driven joints`).
        kind: &'static str,
        /// The duplicate name.
        name: String,
    },
}
