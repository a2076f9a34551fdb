//! Errors of readers and writers.

use std::path::{Display, Path, PathBuf};

/// Error of a reader or writer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The operating system could not read the file.
    #[error("cannot read {path}: {source}")]
    Read {
        /// File to read.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// Another process uses the folder.
    #[error("{} is in use by {}; wait until it ends, or choose another folder", folder.display(), Named(*process))]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// Process number, if known.
        process: Option<u32>,
    },
    /// A file refers to a file outside its folder, see [`Folders`](crate::Folders).
    #[error("'{}' is outside the folder {}; a file can only refer to files in its own folder: copy it there (for graphs, you can also allow its folder: --allow-folder DIR)",
        .name.escape_debug(), shown(.folder))]
    Outside {
        /// The path as written in the file.
        name: String,
        /// Folder of the file that refers to it.
        folder: PathBuf,
    },
    /// A file refers to a folder, pipe, device or socket.
    #[error("{path}: found a folder, a pipe or a device, expected a regular file")]
    NoPlainFile {
        /// The path that is not a regular file.
        path: PathBuf,
    },
    /// The operating system could not write the file.
    #[error("cannot write {path}: {source}")]
    Write {
        /// File to write.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The content violates the rules of its format.
    #[error("{path}: {location}: found {found}, expected {expected}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Location in the file (`line 12`, `vertex 812`).
        location: String,
        /// What the file contains there.
        found: String,
        /// What is valid there.
        expected: String,
    },
    /// The content is valid, but Sinew does not support it.
    #[error("{path}: {location}: {feature} is not supported; {help}")]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// Location in the file.
        location: String,
        /// The feature that is not supported.
        feature: String,
        /// What to do instead.
        help: String,
    },
    /// A Cargo feature of `sinew-io` that is off contains the format.
    #[error(
        "{path}: this build has no {format} support; build `sinew-io` with the feature `{feature}`"
    )]
    NotBuilt {
        /// The file.
        path: PathBuf,
        /// Name of the format.
        format: &'static str,
        /// The feature.
        feature: &'static str,
    },
    /// A pose-driver file or its JSON is invalid.
    #[error(transparent)]
    PoseDriver(#[from] crate::pose_driver::PoseDriverFileError),
    /// The manifest of a vertex animation contradicts itself.
    #[cfg(feature = "vat")]
    #[error("{path}: {source}")]
    VertexAnimation {
        /// The manifest.
        path: PathBuf,
        /// What was found and expected.
        source: sinew_vat::animation::AnimationError,
    },
    /// The images of an animation differ in size.
    #[error("{path}: image {frame}: found {}x{} pixels, expected {}x{} as in image 0", .found[0], .found[1], .expected[0], .expected[1])]
    FrameSize {
        /// File to write.
        path: PathBuf,
        /// Index of the image, from 0.
        frame: usize,
        /// Its width and height in pixels.
        found: [usize; 2],
        /// Width and height of the first image in pixels.
        expected: [usize; 2],
    },
}

/// Shows the working folder as `.` in messages.
fn shown(folder: &Path) -> Display<'_> {
    match folder.as_os_str().is_empty() {
        true => Path::new(".").display(),
        false => folder.display(),
    }
}

/// A process in a message.
struct Named(Option<u32>);

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(process) => write!(f, "process {process}"),
            None => f.write_str("another process"),
        }
    }
}
