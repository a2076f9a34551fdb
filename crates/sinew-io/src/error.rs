//! What can go wrong while reading or writing.

use std::path::{Display, Path, PathBuf};

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The operating system refused to give the bytes.
    #[error("cannot read {path}: {source}")]
    Read {
        /// File that was asked for.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Another process works in a folder.
    #[error("{} is in use by {}; wait for it, or name another folder", folder.display(), Named(*process))]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// The number of the process, where it tells.
        process: Option<u32>,
    },
    /// A file names another one that lies elsewhere: see [`Folders`](crate::Folders).
    #[error("'{}' lies outside of the folder {}; files name others in their own folder only: copy it there (graphs may name files of other folders: --allow-folder DIR)",
        .name.escape_debug(), shown(.folder))]
    Outside {
        /// The name, as it is given.
        name: String,
        /// The folder of the file that names it.
        folder: PathBuf,
    },
    /// A file names a folder, a pipe, a device or a socket.
    #[error(
        "{path}: a plain file is expected here, and this is none (a folder, a pipe or a device)"
    )]
    NoPlainFile {
        /// What it names.
        path: PathBuf,
    },
    /// The operating system refused to take the bytes.
    #[error("cannot write {path}: {source}")]
    Write {
        /// File that was to be written.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The content breaks the rules of its format.
    #[error("{path}: {place}: found {found}, expected {expected}")]
    Malformed {
        /// File it is in.
        path: PathBuf,
        /// Where in the file (`line 12`, `vertex 812`).
        place: String,
        /// What is there.
        found: String,
        /// What would be right.
        expected: String,
    },
    /// The content is legal but Sinew does not handle it.
    #[error("{path}: {place}: {feature} is not supported; {help}")]
    Unsupported {
        /// File it is in.
        path: PathBuf,
        /// Where in the file.
        place: String,
        /// What was met.
        feature: String,
        /// What to do instead.
        help: String,
    },
    /// A pose-driver file is wrong, or a document for one.
    #[error(transparent)]
    PoseDriver(#[from] crate::pose_driver::PoseDriverFileError),
    /// The manifest of a vertex animation contradicts itself.
    #[error("{path}: {source}")]
    VertexAnimation {
        /// The manifest.
        path: PathBuf,
        /// What was found and expected.
        source: sinew_vat::animation::AnimationError,
    },
    /// The pictures of an animation differ in size.
    #[error("{path}: picture {frame} has {}x{} pixels, the first {}x{}", .found[0], .found[1], .expected[0], .expected[1])]
    FrameSize {
        /// File that was to be written.
        path: PathBuf,
        /// Which picture, from 0.
        frame: usize,
        /// Its width and height.
        found: [usize; 2],
        /// Width and height of the first picture.
        expected: [usize; 2],
    },
}

/// The working folder has a name in messages, too.
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
