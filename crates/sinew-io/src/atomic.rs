//! Files that appear whole or not at all.
//!
//! Everything is written under a temporary name in the folder of the result and renamed at the end. Whatever is
//! dropped before `commit` disappears again.

use crate::IoError;
use crate::fault::cannot_write;
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
        let file = with_permissions(&mut tempfile::Builder::new(), 0o666)
            .prefix(".sinew-")
            .tempfile_in(folder_of(path))
            .map_err(cannot_write(path))?;
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
/// They are written into a temporary folder inside `folder` (or beside it, where it does not exist yet) and renamed
/// one after another by [`AtomicDir::commit`]; a file system offers no way to rename many at once, so each file is
/// whole at any time, and the set is complete when `commit` returns.
#[derive(Debug)]
pub struct AtomicDir {
    folder: PathBuf,
    staging: tempfile::TempDir,
    names: Vec<String>,
}

impl AtomicDir {
    /// Starts a set of files in `folder`, which is created by `commit` where it does not exist.
    ///
    /// # Errors
    /// [`IoError::Write`] where neither `folder` nor its parent can be written.
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
        let staging = with_permissions(&mut tempfile::Builder::new(), 0o777)
            .prefix(".sinew-")
            .tempdir_in(place)
            .map_err(cannot_write(folder))?;
        Ok(Self {
            folder: folder.to_owned(),
            staging,
            names: Vec::new(),
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

    /// Makes all staged files appear in the folder, replacing files of the same names.
    ///
    /// # Errors
    /// [`IoError::Write`] names the file that could not be renamed.
    pub fn commit(self) -> Result<(), IoError> {
        if !self.folder.is_dir() {
            std::fs::create_dir(&self.folder).map_err(cannot_write(&self.folder))?;
        }
        for name in &self.names {
            let to = self.folder.join(name);
            std::fs::rename(self.staging.path().join(name), &to).map_err(cannot_write(&to))?;
        }
        Ok(())
    }
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
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut all: Vec<String> = std::fs::read_dir(folder)
            .expect("folder")
            .map(|e| e.expect("entry").file_name().to_string_lossy().into_owned())
            .collect();
        all.sort();
        all
    }

    #[test]
    fn nothing_is_left_without_commit() {
        let dir = tempfile::tempdir().expect("temp");
        let path = dir.path().join("a.bin");
        std::fs::write(&path, b"old").expect("write");
        let mut file = AtomicFile::create(&path).expect("create");
        file.put(b"new").expect("put");
        drop(file);
        assert_eq!(std::fs::read(&path).expect("read"), b"old");
        assert_eq!(names(dir.path()), ["a.bin"]);
        let mut file = AtomicFile::create(&path).expect("create");
        file.put(b"new").expect("put");
        file.commit().expect("commit");
        assert_eq!(std::fs::read(&path).expect("read"), b"new");
        assert_eq!(names(dir.path()), ["a.bin"]);
    }

    #[test]
    fn folders_appear_on_commit() {
        let dir = tempfile::tempdir().expect("temp");
        let folder = dir.path().join("frames");
        let mut set = AtomicDir::create(&folder).expect("create");
        std::fs::write(set.stage("a_1").expect("name"), b"1").expect("write");
        assert!(!folder.exists(), "not before commit");
        assert!(set.stage("../b").is_err(), "stays in its folder");
        set.commit().expect("commit");
        assert_eq!(names(&folder), ["a_1"]);
        let mut set = AtomicDir::create(&folder).expect("create");
        std::fs::write(set.stage("a_2").expect("name"), b"2").expect("write");
        drop(set);
        assert_eq!(names(&folder), ["a_1"], "dropped without a trace");
        assert_eq!(names(dir.path()), ["frames"]);
    }

    #[test]
    fn missing_folder_is_an_error_with_the_path() {
        let error = AtomicFile::create(Path::new("/no/such/folder/x.glb")).expect_err("no folder");
        assert!(
            error.to_string().contains("/no/such/folder/x.glb"),
            "{error}"
        );
    }
}
