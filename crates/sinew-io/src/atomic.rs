//! Atomic output: each file is complete or does not exist.
//!
//! Files are written under a temporary name in the target folder and renamed at the end. Dropping a file before
//! `commit` removes it. Temporary files of a killed process are removed by the next process that writes into the folder
//! (`leftovers`).

mod leftovers;
mod lock;
mod place;

pub(crate) use leftovers::is_temporary;
pub use lock::FolderLock;
pub(crate) use lock::NAME as LOCK_NAME;

use crate::IoError;
use crate::fault::cannot_write;
use place::{MadeFolders, Place, folder_of};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Error, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether to flush files to disk before renaming them.
static SYNCED: AtomicBool = AtomicBool::new(true);

/// Sets for the whole process whether a file is flushed to disk (`fsync`) before it gets its name. Default: true.
///
/// With true, a power loss leaves the old or the new file. With false, a power loss can leave a file without its
/// content. False saves time on slow disks.
pub fn set_synced(synced: bool) {
    SYNCED.store(synced, Ordering::Relaxed);
}

/// An output file that is not visible yet. [`Write`] into it, then call [`AtomicFile::commit`].
///
/// Follows links: replaces the file that the link points to and keeps the link. If the target is a device or a pipe,
/// all bytes are written to it by `commit`.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    place: Place,
    /// Without its path, which would appear in errors.
    file: BufWriter<File>,
    temporary: tempfile::TempPath,
    synced: bool,
    /// Last field: dropped after the file.
    made: MadeFolders,
}

impl AtomicFile {
    /// Starts a file that will replace `path`. Creates missing folders.
    ///
    /// # Errors
    /// [`IoError::Write`] if `path` is a folder, or its folder cannot be created or written.
    pub fn create(path: &Path) -> Result<Self, IoError> {
        Self::create_at(path, Place::of(path)?)
    }

    /// Like [`Self::create`], for a folder that Sinew owns: replaces a link instead of following it.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn create_own(path: &Path) -> Result<Self, IoError> {
        Self::create_at(path, Place::File(path.to_owned()))
    }

    fn create_at(path: &Path, place: Place) -> Result<Self, IoError> {
        let (folder, made) = match &place {
            Place::File(file) => {
                let folder = folder_of(file);
                let made = MadeFolders::make(folder, path)?;
                leftovers::remove_once(folder);
                (folder.to_owned(), made)
            }
            Place::Through(_) => (std::env::temp_dir(), MadeFolders::default()),
        };
        let file = with_permissions(&mut tempfile::Builder::new(), 0o666)
            .prefix(leftovers::PREFIX)
            .suffix(leftovers::SUFFIX)
            .rand_bytes(leftovers::BY_CHANCE)
            .tempfile_in(folder)
            .map_err(cannot_write(path))?;
        let (file, temporary) = file.into_parts();
        leftovers::hold(&file);
        Ok(Self {
            path: path.to_owned(),
            place,
            file: BufWriter::with_capacity(1 << 18, file),
            temporary,
            synced: SYNCED.load(Ordering::Relaxed),
            made,
        })
    }

    /// Does not wait for the disk. For files that can be recreated and contain their own checksum.
    #[must_use]
    pub fn unsynced(mut self) -> Self {
        self.synced = false;
        self
    }

    /// The path at which the file will appear.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes bytes. Errors contain the path.
    ///
    /// # Errors
    /// [`IoError::Write`], for example if the disk is full.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), IoError> {
        self.file.write_all(bytes).map_err(cannot_write(&self.path))
    }

    /// Makes the file visible. Replaces an existing file.
    ///
    /// # Errors
    /// [`IoError::Write`] if the last bytes or the rename fail. An existing file is then unchanged.
    pub fn commit(self) -> Result<(), IoError> {
        let Self {
            path,
            place,
            file,
            temporary,
            synced,
            mut made,
        } = self;
        let mut file = file
            .into_inner()
            .map_err(|e| cannot_write(&path)(e.into_error()))?;
        match place {
            Place::File(at) => {
                if synced {
                    file.sync_data().map_err(cannot_write(&path))?;
                }
                let shown = temporary.persist(at);
                shown.map_err(|e| cannot_write(&path)(e.error))?;
            }
            Place::Through(device) => {
                file.rewind().map_err(cannot_write(&path))?;
                let to = File::options().write(true).open(device);
                let mut to = to.map_err(cannot_write(&path))?;
                std::io::copy(&mut file, &mut to).map_err(cannot_write(&path))?;
            }
        }
        made.keep();
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

impl Seek for AtomicFile {
    fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
        self.file.seek(to)
    }
}

/// Several output files of one folder that become visible together.
///
/// Files are written into a temporary folder. If `folder` does not exist, `commit` renames the temporary folder: one
/// atomic step. If it exists, `commit` renames the files into it one by one, since file systems cannot rename several
/// files at once. Meanwhile the manifest ([`AtomicDir::tells`]) does not exist. If a reader finds the manifest, all
/// files that it lists exist.
#[derive(Debug)]
pub struct AtomicDir {
    folder: PathBuf,
    staging: tempfile::TempDir,
    /// Held until the files are committed. Closed before the file is removed or renamed.
    lock: Option<File>,
    names: Vec<String>,
    /// The manifest among them.
    teller: Option<String>,
    retired: Vec<String>,
    /// Last field: dropped after the temporary folder.
    made: MadeFolders,
}

impl AtomicDir {
    /// Starts a set of files in `folder`. `commit` creates the folder if it is missing.
    ///
    /// # Errors
    /// [`IoError::Write`] if neither `folder` nor its parent can be written, or if `folder` is a file.
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
            let source = Error::new(ErrorKind::NotADirectory, "it is not a folder");
            return Err(cannot_write(folder)(source));
        }
        let made = MadeFolders::make(place, folder)?;
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
            teller: None,
            retired: Vec::new(),
            made,
        })
    }

    /// Path at which to write the file that will be called `name`.
    ///
    /// # Errors
    /// [`IoError::Write`] if `name` is a path instead of a file name.
    pub fn stage(&mut self, name: &str) -> Result<PathBuf, IoError> {
        if Path::new(name).file_name().is_none_or(|n| n != name) {
            let source = Error::new(
                ErrorKind::InvalidInput,
                "the name contains folders, expected a file name",
            );
            return Err(cannot_write(&self.folder.join(name))(source));
        }
        self.names.push(name.to_owned());
        Ok(self.staging.path().join(name))
    }

    /// Sets which staged file is the manifest: the file that lists the others. `commit` removes an old manifest of this
    /// name first and adds the new one last.
    pub fn tells(&mut self, name: &str) {
        self.teller = Some(name.to_owned());
    }

    /// Marks a file of an earlier result for removal by [`AtomicDir::commit`], unless a file of that name is staged.
    /// Ignores names with folders.
    pub fn retire(&mut self, name: &str) {
        if Path::new(name).file_name().is_some_and(|n| n == name) {
            self.retired.push(name.to_owned());
        }
    }

    /// Makes all staged files visible in the folder. Replaces files of the same names.
    ///
    /// # Errors
    /// [`IoError::Write`] with the file that could not be renamed or removed.
    pub fn commit(mut self) -> Result<(), IoError> {
        self.release();
        self.made.keep();
        let Self { folder, names, .. } = &self;
        let staging = self.staging.path();
        if !folder.is_dir() {
            std::fs::rename(staging, folder).map_err(cannot_write(folder))?;
            // Nothing is left under the temporary name.
            self.staging.disable_cleanup(true);
            return Ok(());
        }
        for name in names {
            check_place(&folder.join(name))?;
        }
        let teller = self.teller.as_ref();
        if let Some(teller) = teller {
            remove_file(&folder.join(teller))?;
        }
        for name in names.iter().filter(|&n| Some(n) != teller).chain(teller) {
            let to = folder.join(name);
            // Replaces a link and leaves its target alone: the user named the folder, not the target.
            std::fs::rename(staging.join(name), &to).map_err(cannot_write(&to))?;
        }
        for name in self.retired.iter().filter(|n| !names.contains(n)) {
            remove_file(&folder.join(name))?;
        }
        Ok(())
    }

    /// Removes the lock file, which is not part of the result.
    fn release(&mut self) {
        if self.lock.take().is_some() {
            // If it stays, it is empty and hidden.
            let _ = std::fs::remove_file(self.staging.path().join(leftovers::LOCK));
        }
    }
}

impl Drop for AtomicDir {
    fn drop(&mut self) {
        // Some systems cannot remove an open file or its folder.
        self.release();
    }
}

/// Checks before a long computation whether its outputs can be written. Creates no visible file. Tries each folder
/// once.
#[derive(Debug, Default)]
pub struct Writability {
    /// Folders that can be written.
    folders: BTreeSet<PathBuf>,
}

impl Writability {
    /// Checks that a file can be written at `path`, or that its folder can be created.
    ///
    /// # Errors
    /// [`IoError::Write`], as [`AtomicFile::create`] would give it.
    pub fn file(&mut self, path: &Path) -> Result<(), IoError> {
        match Place::of(path)? {
            Place::File(file) => self.within(folder_of(&file), path),
            // Opening a pipe would wait for its reader.
            Place::Through(_) => Ok(()),
        }
    }

    /// Checks that files can be written into a folder, or that it can be created.
    ///
    /// # Errors
    /// [`IoError::Write`], as [`AtomicDir::create`] would give it.
    pub fn folder(&mut self, folder: &Path) -> Result<(), IoError> {
        self.within(folder, folder)
    }

    /// Tries the nearest folder that exists.
    fn within(&mut self, folder: &Path, path: &Path) -> Result<(), IoError> {
        let is_there = |p: &&Path| p.symlink_metadata().is_ok();
        let named = folder.ancestors().filter(|p| !p.as_os_str().is_empty());
        let nearest = named.into_iter().find(is_there).unwrap_or(Path::new("."));
        if self.folders.contains(nearest) {
            return Ok(());
        }
        if !nearest.is_dir() {
            let message = format!("{} is not a folder", nearest.display());
            return Err(cannot_write(path)(Error::new(
                ErrorKind::NotADirectory,
                message,
            )));
        }
        // Permissions, attributes, mounts: only a test shows the result. The file has no name if the system supports
        // that.
        tempfile::tempfile_in(nearest).map_err(|source| {
            let message = format!("{source} (in the folder {})", nearest.display());
            cannot_write(path)(Error::new(source.kind(), message))
        })?;
        self.folders.insert(nearest.to_owned());
        Ok(())
    }
}

/// Fails if the target exists and is neither a file nor a link.
fn check_place(to: &Path) -> Result<(), IoError> {
    let is_other = |found: std::fs::Metadata| !found.is_file() && !found.is_symlink();
    if to.symlink_metadata().is_ok_and(is_other) {
        let message = "found a folder, a device or a pipe, expected a file";
        let source = Error::new(ErrorKind::InvalidInput, message);
        return Err(cannot_write(to)(source));
    }
    Ok(())
}

/// Removes a file if it exists.
fn remove_file(path: &Path) -> Result<(), IoError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(cannot_write(path)(e)),
        _ => Ok(()),
    }
}

/// Temporary files are private by default. Results get the permissions of the user's mask, like any other file.
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
