//! Files that other files refer to: allowed folders and kinds of file.

use crate::{IoError, MeshFormat, find_sequence, read_text};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum bytes of a text file (graph or kernel) that a file refers to.
const MAX_TEXT_BYTES: u64 = 64 << 20;

/// Folders that a document may read files from: its own folder, and those that the user allows.
///
/// Paths are relative to the document's own folder. A document may come from an untrusted author. Thus Sinew rejects a
/// path to another folder before it accesses the file, resolves links first, and opens only regular files: no pipes, no
/// devices. There is no protection against changes to the folder while Sinew reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders {
    own: PathBuf,
    allowed: Vec<PathBuf>,
    found: Found,
}

/// Files found so far, shared by clones. Not part of the comparison of folders.
#[derive(Clone, Debug, Default)]
struct Found(Arc<Mutex<BTreeSet<PathBuf>>>);

impl PartialEq for Found {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Found {}

impl From<PathBuf> for Folders {
    fn from(own: PathBuf) -> Self {
        Self {
            own,
            ..Self::default()
        }
    }
}

impl From<&Path> for Folders {
    fn from(own: &Path) -> Self {
        own.to_owned().into()
    }
}

impl From<&str> for Folders {
    fn from(own: &str) -> Self {
        Path::new(own).into()
    }
}

impl Folders {
    /// The folder of a file.
    pub fn of_file(path: &Path) -> Self {
        path.parent().unwrap_or(Path::new("")).into()
    }

    /// Folder that paths are relative to. Empty means the working folder.
    pub fn own(&self) -> &Path {
        &self.own
    }

    /// Also allows files in these folders.
    #[must_use]
    pub fn allowing(mut self, more: &[PathBuf]) -> Self {
        self.allowed.extend_from_slice(more);
        self
    }

    /// Resolves a path that a document contains.
    ///
    /// # Errors
    /// [`IoError::Outside`] for a path outside the allowed folders, [`IoError::NoPlainFile`], [`IoError::Read`] if the
    /// file does not exist.
    pub fn find(&self, name: &str) -> Result<PathBuf, IoError> {
        self.find_beside(&self.own, name)
    }

    /// Resolves a path that is relative to another folder, such as that of a graph inside a graph.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub fn find_beside(&self, folder: &Path, name: &str) -> Result<PathBuf, IoError> {
        let path = folder.join(name);
        // By name first: accessing a path may already have an effect, such as contacting another machine.
        self.check_name(&path, name)?;
        let fault = |source| IoError::Read {
            path: path.clone(),
            source,
        };
        let real = path.canonicalize().map_err(fault)?;
        let is_in = |f: &PathBuf| or_here(f).canonicalize().is_ok_and(|f| real.starts_with(f));
        if !self.all().any(is_in) {
            return Err(self.outside(name));
        }
        if !real.metadata().map_err(fault)?.is_file() {
            return Err(IoError::NoPlainFile { path });
        }
        let mut found = self.found.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.insert(real);
        Ok(path)
    }

    /// Resolves a point cache that a document contains: a file, or numbered files by a pattern (`sim_####.obj`) or by one of
    /// them. All files must be in the allowed folders.
    ///
    /// # Errors
    /// As [`Self::find`] and [`find_sequence`].
    pub fn find_point_cache(&self, name: &str) -> Result<PathBuf, IoError> {
        let path = self.own.join(name);
        let is_pattern = path
            .file_name()
            .is_some_and(|n| n.to_string_lossy().contains('#'));
        match is_pattern {
            true => self.check_name(&path, name)?,
            false => _ = self.find(name)?,
        }
        if is_pattern || MeshFormat::of(&path).is_some() {
            let beside = Path::new(name).parent().unwrap_or(Path::new(""));
            for (_, file) in find_sequence(&path)?.files {
                let file = beside.join(file.file_name().unwrap_or_default());
                self.find(&file.to_string_lossy())?;
            }
        }
        Ok(path)
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.own).chain(&self.allowed)
    }

    fn outside(&self, name: &str) -> IoError {
        IoError::Outside {
            name: name.into(),
            folder: self.own.clone(),
        }
    }

    /// Checks that a path is in the allowed folders by its text, without accessing it.
    fn check_name(&self, path: &Path, name: &str) -> Result<(), IoError> {
        let fault = |source| IoError::Read {
            path: path.to_owned(),
            source,
        };
        let plain = without_dots(path).map_err(fault)?;
        let is_named_in = |f: &PathBuf| without_dots(f).is_ok_and(|f| plain.starts_with(f));
        match self.all().any(is_named_in) {
            true => Ok(()),
            false => Err(self.outside(name)),
        }
    }

    /// All files found by this value and its clones. Absolute paths with links resolved.
    pub fn found(&self) -> Vec<PathBuf> {
        let found = self.found.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.iter().cloned().collect()
    }

    /// Reads a text file that a document refers to. Gives its path and its text.
    ///
    /// # Errors
    /// As [`Self::find_beside`] and [`read_text`]; [`IoError::Malformed`] if it is larger than the limit for graphs and
    /// kernels.
    pub fn read_text_beside(
        &self,
        folder: &Path,
        name: &str,
    ) -> Result<(PathBuf, String), IoError> {
        let path = self.find_beside(folder, name)?;
        let bytes = path.metadata().map_or(0, |m| m.len());
        if bytes > MAX_TEXT_BYTES {
            return Err(IoError::Malformed {
                path,
                location: "size".into(),
                found: format!("{bytes} bytes"),
                expected: format!("at most {MAX_TEXT_BYTES} bytes for a graph or a kernel"),
            });
        }
        let text = read_text(&path)?;
        Ok((path, text))
    }
}

fn or_here(folder: &Path) -> &Path {
    match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    }
}

/// The absolute path with `..` removed by text, as if the path contained no links.
fn without_dots(path: &Path) -> std::io::Result<PathBuf> {
    let mut out = PathBuf::new();
    for part in std::path::absolute(or_here(path))?.components() {
        match part {
            Component::ParentDir => _ = out.pop(),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        root: tempfile::TempDir,
    }

    impl Place {
        /// `own/in.json`, `own/sub/deep.json`, `own2/secret.json` and `studio/shared.json`.
        fn new() -> Self {
            let root = tempfile::tempdir().expect("a folder");
            for name in [
                "own/in.json",
                "own/sub/deep.json",
                "own2/secret.json",
                "studio/shared.json",
            ] {
                let path = root.path().join(name);
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
                std::fs::write(path, "text").expect("written");
            }
            Self { root }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.root.path().join(name)
        }

        fn own(&self) -> Folders {
            self.path("own").into()
        }
    }

    fn is_outside(found: &Result<PathBuf, IoError>) -> bool {
        matches!(found, Err(IoError::Outside { .. }))
    }

    #[test]
    fn names_stay_in_the_folder() {
        let place = Place::new();
        for name in [
            "in.json",
            "./in.json",
            "sub/deep.json",
            "sub/../in.json",
            "../own/in.json",
        ] {
            let found = place.own().find(name);
            assert!(found.is_ok_and(|p| p.is_file()), "{name}");
        }
        let absolute = place.path("own/in.json");
        assert!(place.own().find(absolute.to_str().expect("UTF-8")).is_ok());
        for name in [
            "../own2/secret.json",
            "sub/../../own2/secret.json",
            // Of what is not there neither.
            "../nothing.json",
            "/etc/passwd",
            "/dev/zero",
            "",
            "..",
        ] {
            let found = place.own().find(name);
            assert!(is_outside(&found) || name.is_empty(), "{name}: {found:?}");
            assert!(found.is_err(), "{name}");
        }
        let missing = place.own().find("none.json");
        assert!(matches!(missing, Err(IoError::Read { .. })), "{missing:?}");
    }

    #[test]
    fn a_graph_within_names_files_of_the_whole_folder() {
        let place = Place::new();
        let sub = place.path("own/sub");
        assert!(place.own().find_beside(&sub, "../in.json").is_ok());
        let found = place.own().find_beside(&sub, "../../own2/secret.json");
        assert!(is_outside(&found), "{found:?}");
    }

    #[test]
    fn folders_can_be_allowed() {
        let place = Place::new();
        let folders = place.own().allowing(&[place.path("studio")]);
        assert!(folders.find("../studio/shared.json").is_ok());
        let absolute = place.path("studio/shared.json");
        assert!(folders.find(absolute.to_str().expect("UTF-8")).is_ok());
        assert!(is_outside(&folders.find("../own2/secret.json")));
    }

    #[test]
    #[cfg(unix)]
    fn links_do_not_lead_out_and_pipes_are_not_opened() {
        use std::os::unix::fs::symlink;
        let place = Place::new();
        let at = |name: &str| place.path(name);
        symlink(at("own2/secret.json"), at("own/link.json")).expect("link");
        symlink(at("own2"), at("own/away")).expect("link");
        symlink(at("own/in.json"), at("own/here.json")).expect("link");
        assert!(is_outside(&place.own().find("link.json")));
        assert!(is_outside(&place.own().find("away/secret.json")));
        assert!(place.own().find("here.json").is_ok());
        let allowed = place.own().allowing(&[at("own2")]);
        assert!(allowed.find("link.json").is_ok());
        // The folder itself may be reached by a link.
        symlink(at("own"), at("entry")).expect("link");
        assert!(Folders::from(at("entry")).find("in.json").is_ok());
        let socket = std::os::unix::net::UnixListener::bind(at("own/pipe.json"));
        let _socket = socket.expect("a socket");
        for name in ["pipe.json", "sub"] {
            let found = place.own().find(name);
            assert!(
                matches!(found, Err(IoError::NoPlainFile { .. })),
                "{found:?}"
            );
        }
    }

    #[test]
    fn texts_are_limited_before_they_are_read() {
        let place = Place::new();
        let path = place.path("own/huge.json");
        let file = std::fs::File::create(&path).expect("made");
        // A hole: no byte of it is on the disk.
        file.set_len(1 << 40).expect("sparse");
        let found = place
            .own()
            .read_text_beside(&place.path("own"), "huge.json");
        let said = found.expect_err("too large").to_string();
        assert!(
            said.contains("1099511627776 bytes") && said.contains("huge.json"),
            "{said}"
        );
    }

    #[test]
    fn messages_show_names_without_escapes() {
        let found = Place::new()
            .own()
            .find("../\u{1b}[31mred")
            .expect_err("outside");
        let said = found.to_string();
        assert!(
            !said.contains('\u{1b}') && said.contains("\\u{1b}"),
            "{said}"
        );
    }
}
