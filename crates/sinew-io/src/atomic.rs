//! Files that appear whole or not at all.
//!
//! Everything is written under a temporary name in the folder of the result and renamed at the end. Whatever is
//! dropped before `commit` disappears again; what a killed process left behind goes with the next process that writes
//! into the folder (`leftovers`).

mod leftovers;

pub(crate) use leftovers::is_temporary;

use crate::IoError;
use crate::fault::cannot_write;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// One file in the making. [`Write`] into it, then [`AtomicFile::commit`].
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    file: BufWriter<tempfile::NamedTempFile>,
}

impl AtomicFile {
    /// Starts a file that will replace `path`.
    ///
    /// # Errors
    /// [`IoError::Write`] where the folder of `path` does not exist or cannot be written.
    pub fn create(path: &Path) -> Result<Self, IoError> {
        let folder = folder_of(path);
        check_folder(folder, path)?;
        leftovers::remove_once(folder);
        let file = with_permissions(&mut tempfile::Builder::new(), 0o666)
            .prefix(leftovers::PREFIX)
            .suffix(leftovers::SUFFIX)
            .rand_bytes(leftovers::BY_CHANCE)
            .tempfile_in(folder)
            .map_err(cannot_write(path))?;
        leftovers::hold(file.as_file());
        Ok(Self {
            path: path.to_owned(),
            file: BufWriter::with_capacity(1 << 18, file),
        })
    }

    /// Where the file will appear.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes bytes, with the path in the error.
    ///
    /// # Errors
    /// [`IoError::Write`], for a full disk say.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), IoError> {
        self.file.write_all(bytes).map_err(cannot_write(&self.path))
    }

    /// Makes the file appear, replacing what was there.
    ///
    /// # Errors
    /// [`IoError::Write`] where the last bytes or the rename fail; the file that was there is untouched then.
    pub fn commit(self) -> Result<(), IoError> {
        let Self { path, file } = self;
        let file = file
            .into_inner()
            .map_err(|e| cannot_write(&path)(e.into_error()))?;
        file.persist(&path)
            .map_err(|e| cannot_write(&path)(e.error))?;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl std::io::Seek for AtomicFile {
    fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
        self.file.seek(to)
    }
}

/// Several files of one folder in the making, shown together at the end.
///
/// They are written into a temporary folder. Where `folder` does not exist yet, this becomes it by one rename. Where it
/// exists, files are renamed into it one after another by [`AtomicDir::commit`]; a file system offers no way to rename
/// many at once, so each file is whole at any time, and the set is complete when `commit` returns.
#[derive(Debug)]
pub struct AtomicDir {
    folder: PathBuf,
    staging: tempfile::TempDir,
    /// Held while the folder is in the making; closed before it is removed or renamed.
    lock: Option<File>,
    names: Vec<String>,
    retired: Vec<String>,
}

impl AtomicDir {
    /// Starts a set of files in `folder`, which is created by `commit` where it does not exist.
    ///
    /// # Errors
    /// [`IoError::Write`] where neither `folder` nor its parent can be written, or where `folder` is a file.
    pub fn create(folder: &Path) -> Result<Self, IoError> {
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let place = if folder.is_dir() {
            folder
        } else {
            folder_of(folder)
        };
        if folder.exists() && !folder.is_dir() {
            let source = std::io::Error::new(std::io::ErrorKind::NotADirectory, "not a folder");
            return Err(cannot_write(folder)(source));
        }
        check_folder(place, folder)?;
        leftovers::remove_once(place);
        let staging = with_permissions(&mut tempfile::Builder::new(), 0o777)
            .prefix(leftovers::PREFIX)
            .suffix(leftovers::SUFFIX)
            .rand_bytes(leftovers::BY_CHANCE)
            .tempdir_in(place)
            .map_err(cannot_write(folder))?;
        let lock = leftovers::hold_folder(staging.path()).map_err(cannot_write(folder))?;
        Ok(Self {
            folder: folder.to_owned(),
            staging,
            lock: Some(lock),
            names: Vec::new(),
            retired: Vec::new(),
        })
    }

    /// Path under which to write the file that will be called `name`.
    ///
    /// # Errors
    /// [`IoError::Write`] where `name` is more than a file name.
    pub fn stage(&mut self, name: &str) -> Result<PathBuf, IoError> {
        if Path::new(name).file_name().is_none_or(|n| n != name) {
            let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a file name");
            return Err(cannot_write(&self.folder.join(name))(source));
        }
        self.names.push(name.to_owned());
        Ok(self.staging.path().join(name))
    }

    /// Says that a file of an earlier result is none of this one: [`AtomicDir::commit`] removes it from the folder, unless one of that name
    /// is staged. What is more than a file name is ignored.
    pub fn retire(&mut self, name: &str) {
        if Path::new(name).file_name().is_some_and(|n| n == name) {
            self.retired.push(name.to_owned());
        }
    }

    /// Makes all staged files appear in the folder, replacing files of the same names.
    ///
    /// # Errors
    /// [`IoError::Write`] names the file that could not be renamed.
    pub fn commit(mut self) -> Result<(), IoError> {
        self.release();
        let Self { folder, names, .. } = &self;
        let staging = self.staging.path();
        if !folder.is_dir() {
            std::fs::rename(staging, folder).map_err(cannot_write(folder))?;
            // Nothing is left under the temporary name.
            self.staging.disable_cleanup(true);
            return Ok(());
        }
        for name in names {
            let to = folder.join(name);
            std::fs::rename(staging.join(name), &to).map_err(cannot_write(&to))?;
        }
        for name in self.retired.iter().filter(|n| !names.contains(n)) {
            let old = folder.join(name);
            match std::fs::remove_file(&old) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(cannot_write(&old)(e));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Gives up the lock, whose file is no part of the result.
    fn release(&mut self) {
        if self.lock.take().is_some() {
            // Where it stays, it is empty and hidden.
            let _ = std::fs::remove_file(self.staging.path().join(leftovers::LOCK));
        }
    }
}

impl Drop for AtomicDir {
    fn drop(&mut self) {
        // Some systems remove no open file, nor its folder.
        self.release();
    }
}

/// Says which folder is missing; otherwise the temporary name in it would be named.
fn check_folder(folder: &Path, path: &Path) -> Result<(), IoError> {
    if folder.is_dir() {
        return Ok(());
    }
    let message = format!("there is no folder {}", folder.display());
    let source = std::io::Error::new(std::io::ErrorKind::NotFound, message);
    Err(cannot_write(path)(source))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

/// Temporary files are private by default; results get what the user's mask allows, like any other file.
fn with_permissions<'a, 'b>(
    builder: &'a mut tempfile::Builder<'b, 'b>,
    mode: u32,
) -> &'a mut tempfile::Builder<'b, 'b> {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder
}

#[cfg(test)]
mod tests;
