//! Locks of folders: exclusive or shared.

use super::place::MadeFolders;
use crate::IoError;
use crate::fault::cannot_write;
use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Name of the lock file. A process with an exclusive lock writes its process number into it.
pub(crate) const NAME: &str = ".sinew-lock";
/// Retries if the previous owner removed the lock file before it was locked.
const TRIES: usize = 100;

/// Lock of a folder, held as long as this value lives. The operating system releases it when the process ends.
#[derive(Debug)]
pub struct FolderLock {
    path: PathBuf,
    file: Option<File>,
    is_alone: bool,
    /// Last field: dropped after the lock file.
    _made: MadeFolders,
}

impl FolderLock {
    /// Locks a folder for this process alone. Creates the folder if it is missing.
    ///
    /// # Errors
    /// [`IoError::InUse`] if another process holds a lock; [`IoError::Write`] if the folder cannot be written.
    pub fn alone(folder: &Path) -> Result<Self, IoError> {
        Self::take(folder, true)
    }

    /// Locks a folder together with other processes that share it.
    ///
    /// # Errors
    /// As [`Self::alone`]. Only an exclusive lock of another process is an error.
    pub fn shared(folder: &Path) -> Result<Self, IoError> {
        Self::take(folder, false)
    }

    fn take(folder: &Path, is_alone: bool) -> Result<Self, IoError> {
        let made = MadeFolders::make(folder, folder)?;
        let path = folder.join(NAME);
        for _ in 0..TRIES {
            let mut options = File::options();
            options.read(true).write(true).create(true).truncate(false);
            let mut file = options.open(&path).map_err(cannot_write(&path))?;
            let locked = match is_alone {
                true => file.try_lock(),
                false => file.try_lock_shared(),
            };
            match locked {
                Ok(()) if is_still_at(&file, &path) => {}
                Ok(()) => continue,
                Err(TryLockError::WouldBlock) => {
                    let mut process = String::new();
                    // Some systems do not let others read what is locked.
                    let _ = file.read_to_string(&mut process);
                    return Err(IoError::InUse {
                        folder: folder.to_owned(),
                        process: process.trim().parse().ok(),
                    });
                }
                // File systems without locks: the state is unknown.
                Err(TryLockError::Error(_)) => {}
            }
            if is_alone {
                let text = std::process::id().to_string();
                let written = file
                    .set_len(0)
                    .and_then(|()| file.write_all(text.as_bytes()));
                written.map_err(cannot_write(&path))?;
            }
            return Ok(Self {
                path,
                file: Some(file),
                is_alone,
                _made: made,
            });
        }
        Err(IoError::InUse {
            folder: folder.to_owned(),
            process: None,
        })
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else {
            return;
        };
        // The last process that shares it removes the file.
        if self.is_alone || file.try_lock().is_ok() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// True if the file still has its name: a previous owner may have removed it between opening and locking.
#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |m: std::fs::Metadata| (m.dev(), m.ino());
    let there = path.metadata().map(number);
    matches!((file.metadata().map(number), there), (Ok(a), Ok(b)) if a == b)
}

#[cfg(not(unix))]
fn is_still_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_alone_or_several_together() {
        let dir = tempfile::tempdir().expect("temp");
        let folder = dir.path().join("a.work");
        let alone = FolderLock::alone(&folder).expect("free");
        let refused = FolderLock::shared(&folder).expect_err("taken").to_string();
        let process = std::process::id();
        let expected = format!(
            "{} is in use by process {process}; wait until it ends",
            folder.display()
        );
        assert!(refused.starts_with(&expected), "{refused}");
        drop(alone);
        assert!(!folder.exists(), "nothing came into it");
        std::fs::create_dir(&folder).expect("made");
        let shared = [0; 2].map(|_| FolderLock::shared(&folder).expect("free for many"));
        assert!(FolderLock::alone(&folder).is_err());
        let [first, second] = shared;
        drop(first);
        assert!(FolderLock::alone(&folder).is_err(), "one is left");
        drop(second);
        let last = FolderLock::alone(&folder).expect("free again");
        std::fs::write(folder.join("record"), b"").expect("written");
        drop(last);
        assert!(folder.join("record").exists() && !folder.join(NAME).exists());
    }
}
