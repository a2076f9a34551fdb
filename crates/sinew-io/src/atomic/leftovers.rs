//! Removes temporary files of killed processes.
//!
//! A process locks its temporary files and folders. The operating system releases the locks when the process ends. Thus
//! a temporary file that can be locked belongs to no process.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{DirEntry, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Prefix, suffix and number of random letters and digits of temporary names. Nothing else is ever removed.
pub(super) const PREFIX: &str = ".sinew-";
pub(super) const SUFFIX: &str = ".tmp";
pub(super) const BY_CHANCE: usize = 6;
/// Lock file in a temporary folder.
pub(super) const LOCK: &str = ".lock";
/// Maximum time between creating a file and locking it.
const GRACE: Duration = Duration::from_mins(1);

/// Locks a temporary file. On file systems without locks, no process can lock it, and nothing is ever removed.
pub(super) fn hold(file: &File) {
    let _ = file.try_lock();
}

/// Creates and locks the lock file of a temporary folder. It gets its name after it is locked.
pub(super) fn hold_folder(folder: &Path) -> io::Result<File> {
    let unnamed = folder.join(".lock-new");
    let file = File::create_new(&unnamed)?;
    hold(&file);
    std::fs::rename(unnamed, folder.join(LOCK))?;
    Ok(file)
}

/// Removes temporary files without an owner from a folder. Once per process and folder, since folders may contain many
/// files.
pub(super) fn remove_once(folder: &Path) {
    static DONE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if done.insert(folder.to_owned()) {
        remove(folder);
    }
}

/// Removes temporary files that no process holds. Ignores errors.
fn remove(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten().filter(|e| is_temporary(&e.file_name())) {
        let path = entry.path();
        let _ = match entry.file_type() {
            Ok(kind) if kind.is_dir() && is_free(&path.join(LOCK)) => std::fs::remove_dir_all(path),
            Ok(kind) if kind.is_file() && is_old(&entry) && is_free(&path) => {
                std::fs::remove_file(path)
            }
            _ => Ok(()),
        };
    }
}

/// True if a name is that of a temporary file.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    let name = name.to_str().and_then(|n| n.strip_prefix(PREFIX));
    let by_chance = name.and_then(|n| n.strip_suffix(SUFFIX));
    by_chance.is_some_and(|n| n.len() == BY_CHANCE && n.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// True if a file exists and no process holds it.
fn is_free(path: &Path) -> bool {
    let file = File::options().write(true).open(path);
    file.is_ok_and(|f| {
        !matches!(
            f.try_lock(),
            Err(TryLockError::WouldBlock | TryLockError::Error(_))
        )
    })
}

fn is_old(entry: &DirEntry) -> bool {
    let age = |e: &DirEntry| {
        e.metadata()?
            .modified()?
            .elapsed()
            .map_err(io::Error::other)
    };
    age(entry).is_ok_and(|age| age > GRACE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AtomicDir, AtomicFile};
    use std::time::SystemTime;

    #[test]
    fn what_nobody_makes_any_more_goes_and_the_rest_stays() {
        let dir = tempfile::tempdir().expect("temp");
        let at = |name: &str| dir.path().join(name);
        let lives = AtomicFile::create(&at("a.bin")).expect("create");
        let set = AtomicDir::create(dir.path()).expect("create");
        // As a process leaves them that is killed.
        std::fs::create_dir(at(".sinew-kIll3d.tmp")).expect("folder");
        std::fs::write(at(".sinew-kIll3d.tmp/.lock"), b"").expect("write");
        std::fs::write(at(".sinew-kIll3d.tmp/frame.png"), b"half").expect("write");
        std::fs::write(at(".sinew-file00.tmp"), b"half").expect("write");
        std::fs::write(at(".sinew-new000.tmp"), b"not locked yet").expect("write");
        // Of the user.
        let stay = [
            "kept",
            ".sinew-final.glb",
            ".sinew-file00",
            ".sinew-long-name.tmp",
            ".sinew-ab-cd1.tmp",
            "x.sinew-file00.tmp",
        ];
        for name in stay {
            std::fs::write(at(name), b"of the user").expect("write");
        }
        for name in [".sinew-with00", ".sinew-locks", ".sinew-no0lck.tmp"] {
            std::fs::create_dir(at(name)).expect("folder");
        }
        std::fs::write(at(".sinew-with00/.lock"), b"").expect("write");
        std::fs::write(at(".sinew-locks/.lock"), b"").expect("write");
        let long_ago = SystemTime::now() - 2 * GRACE;
        for entry in std::fs::read_dir(dir.path()).expect("folder").flatten() {
            if entry.file_name() != ".sinew-new000.tmp" && entry.path().is_file() {
                let file = File::options().write(true).open(entry.path());
                let file = file.expect("a file");
                file.set_modified(long_ago).expect("a time");
            }
        }
        remove(dir.path());
        assert!(!at(".sinew-kIll3d.tmp").exists() && !at(".sinew-file00.tmp").exists());
        let folders = [".sinew-with00", ".sinew-locks", ".sinew-no0lck.tmp"];
        for name in stay.iter().chain(&folders).chain(&[".sinew-new000.tmp"]) {
            assert!(at(name).exists(), "{name}");
        }
        lives.commit().expect("still there");
        set.commit().expect("still there");
        assert!(at("a.bin").is_file());
    }
}
