//! Files that appear whole or not at all.
//!
//! Everything is written under a temporary name in the folder of the result and renamed at the end. Whatever is
//! dropped before `commit` disappears again; what a killed process left behind goes with the next process that writes
//! into the folder (`leftovers`).

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

/// Whether files are on the disk before they get their names.
static SYNCED: AtomicBool = AtomicBool::new(true);

/// Says for the whole process whether the bytes of a file are on the disk before it gets its name (`fsync`), as they are by default: then a machine
/// that loses its power has the old file or the new one. Without it names may be there without their bytes; on slow disks it saves time.
pub fn set_synced(synced: bool) {
    SYNCED.store(synced, Ordering::Relaxed);
}

/// One file in the making. [`Write`] into it, then [`AtomicFile::commit`].
///
/// Links are followed: the file that they lead to is replaced, and they stay. To a device or a pipe all bytes go in the end.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    place: Place,
    /// Apart from its path, which would stand in errors.
    file: BufWriter<File>,
    temporary: tempfile::TempPath,
    synced: bool,
    /// Last, so that the file is gone when they go.
    made: MadeFolders,
}

impl AtomicFile {
    /// Starts a file that will replace `path`; makes its folder where it is missing.
    ///
    /// # Errors
    /// [`IoError::Write`] where `path` is a folder, or its folder cannot be made or written.
    pub fn create(path: &Path) -> Result<Self, IoError> {
        Self::create_at(path, Place::of(path)?)
    }

    /// The same of a file in a folder of ours: a link there is replaced.
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

    /// A file that may be lost with the power of the machine, since it can be made anew and tells whether it is whole.
    #[must_use]
    pub fn unsynced(mut self) -> Self {
        self.synced = false;
        self
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

/// Several files of one folder in the making, shown together at the end.
///
/// They are written into a temporary folder. Where `folder` does not exist yet, this becomes it by one rename. Where it
/// exists, files are renamed into it one after another by [`AtomicDir::commit`]; a file system offers no way to rename
/// many at once. So the file that tells of the others ([`AtomicDir::tells`]) is away meanwhile: whoever finds it finds what it speaks of.
#[derive(Debug)]
pub struct AtomicDir {
    folder: PathBuf,
    staging: tempfile::TempDir,
    /// Held while the folder is in the making; closed before it is removed or renamed.
    lock: Option<File>,
    names: Vec<String>,
    /// Which of them tells of the others.
    teller: Option<String>,
    retired: Vec<String>,
    /// Last, so that the temporary folder is gone when they go.
    made: MadeFolders,
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
            let source = Error::new(ErrorKind::NotADirectory, "not a folder");
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

    /// Path under which to write the file that will be called `name`.
    ///
    /// # Errors
    /// [`IoError::Write`] where `name` is more than a file name.
    pub fn stage(&mut self, name: &str) -> Result<PathBuf, IoError> {
        if Path::new(name).file_name().is_none_or(|n| n != name) {
            let source = Error::new(ErrorKind::InvalidInput, "not a file name");
            return Err(cannot_write(&self.folder.join(name))(source));
        }
        self.names.push(name.to_owned());
        Ok(self.staging.path().join(name))
    }

    /// Says which of the staged files tells of the others, as a manifest does: an old one of that name goes before any of them comes, and the new
    /// one comes last.
    pub fn tells(&mut self, name: &str) {
        self.teller = Some(name.to_owned());
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
    /// [`IoError::Write`] names the file that could not be renamed or removed.
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

/// Whether files and folders can be written, to be asked before long work. Nothing is written, and each folder is tried once.
#[derive(Debug, Default)]
pub struct Writability {
    /// Those that can be written into.
    folders: BTreeSet<PathBuf>,
}

impl Writability {
    /// Whether a file can be written at `path`, or its folder made.
    ///
    /// # Errors
    /// [`IoError::Write`], as [`AtomicFile::create`] would give it later.
    pub fn file(&mut self, path: &Path) -> Result<(), IoError> {
        match Place::of(path)? {
            Place::File(file) => self.within(folder_of(&file), path),
            // Opening a pipe would wait for its reader.
            Place::Through(_) => Ok(()),
        }
    }

    /// Whether files can be written into a folder, or it can be made.
    ///
    /// # Errors
    /// [`IoError::Write`], as [`AtomicDir::create`] would give it later.
    pub fn folder(&mut self, folder: &Path) -> Result<(), IoError> {
        self.within(folder, folder)
    }

    /// Looks at the nearest folder that is there.
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
        // Permissions, attributes, mounts: only trying tells. The file has no name where the system allows it.
        tempfile::tempfile_in(nearest).map_err(|source| {
            let message = format!("{source}, in {}", nearest.display());
            cannot_write(path)(Error::new(source.kind(), message))
        })?;
        self.folders.insert(nearest.to_owned());
        Ok(())
    }
}

/// A file can get its name where there is nothing, a file or a link.
fn check_place(to: &Path) -> Result<(), IoError> {
    let is_other = |found: std::fs::Metadata| !found.is_file() && !found.is_symlink();
    if to.symlink_metadata().is_ok_and(is_other) {
        let message = "a folder, a device or a pipe, expected a file";
        let source = Error::new(ErrorKind::InvalidInput, message);
        return Err(cannot_write(to)(source));
    }
    Ok(())
}

/// Removes a file, where it is.
fn remove_file(path: &Path) -> Result<(), IoError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(cannot_write(path)(e)),
        _ => Ok(()),
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
