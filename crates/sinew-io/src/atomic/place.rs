//! Target of an output: follows links, writes through devices and pipes, creates missing folders.

use crate::IoError;
use crate::fault::cannot_write;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// Maximum length of a chain of links, as in Linux.
const MOST_LINKS: usize = 40;

/// Target of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A file to create or replace.
    File(PathBuf),
    /// A device or a pipe, which is kept.
    Through(PathBuf),
}

impl Place {
    /// Follows the links of `path`, including dangling ones.
    pub(super) fn of(path: &Path) -> Result<Self, IoError> {
        let refused =
            |message: &str| cannot_write(path)(Error::new(ErrorKind::InvalidInput, message));
        let mut at = path.to_owned();
        for _ in 0..MOST_LINKS {
            let kind = match std::fs::symlink_metadata(&at) {
                Ok(found) => found.file_type(),
                // The check of its folder shows whether it can be created.
                Err(e) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&e.kind()) => {
                    return Ok(Self::File(at));
                }
                Err(e) => return Err(cannot_write(path)(e)),
            };
            if !kind.is_symlink() {
                return match (kind.is_file(), kind.is_dir()) {
                    (true, _) => Ok(Self::File(at)),
                    (_, true) => Err(refused("found a folder, expected a file")),
                    _ => Ok(Self::Through(at)),
                };
            }
            let link = std::fs::read_link(&at).map_err(cannot_write(path))?;
            at = at.parent().unwrap_or(Path::new("")).join(link);
        }
        Err(refused("the path is a chain of too many links"))
    }
}

/// The folder of a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

/// Folders that were created for an output. They are removed again if they stay empty.
#[derive(Debug, Default)]
pub(super) struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    /// Creates the folder of an output and its missing parents.
    pub(super) fn make(folder: &Path, output: &Path) -> Result<Self, IoError> {
        let mut made = Self::default();
        // This check takes a sixtieth of the time of creating an existing folder, which waits for all processes that
        // create names in its parent.
        if folder.is_dir() {
            return Ok(made);
        }
        let missing: Vec<&Path> = folder
            .ancestors()
            .take_while(|p| !p.as_os_str().is_empty() && !p.is_dir())
            .collect();
        for &path in missing.iter().rev() {
            match std::fs::create_dir(path) {
                Ok(()) => made.0.push(path.to_owned()),
                // Another process was faster.
                Err(e) if e.kind() == ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(e) => {
                    let message = format!("{e} (creating the folder {})", path.display());
                    return Err(cannot_write(output)(Error::new(e.kind(), message)));
                }
            }
        }
        Ok(made)
    }

    /// Keeps the folders.
    pub(super) fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        for path in self.0.iter().rev() {
            // A folder that another process writes into stays.
            let _ = std::fs::remove_dir(path);
        }
    }
}
