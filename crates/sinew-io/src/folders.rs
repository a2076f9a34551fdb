//! Files that other files name: in which folders they may lie, and what kind of file they may be.

use crate::{IoError, read_text};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a text (a graph, a kernel) that a file names, at most.
const MAX_TEXT_BYTES: u64 = 64 << 20;

/// Folders in which the files lie that a document names: its own, and those that the user allows.
///
/// Names are relative to the own folder. Whoever wrote a document may be a stranger: a name that leads elsewhere is refused before anything there is
/// touched, links are followed first, and only plain files are opened: no pipes, no devices. Whoever can change the folder while it is read is no stranger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders {
    own: PathBuf,
    allowed: Vec<PathBuf>,
    found: Found,
}

/// Files that were found; clones share them. They say nothing about where files may lie.
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
    /// That of a file.
    pub fn of_file(path: &Path) -> Self {
        path.parent().unwrap_or(Path::new("")).into()
    }

    /// What names are relative to; empty is the working folder.
    pub fn own(&self) -> &Path {
        &self.own
    }

    /// Files may lie in these folders, too.
    #[must_use]
    pub fn allowing(mut self, more: &[PathBuf]) -> Self {
        self.allowed.extend_from_slice(more);
        self
    }

    /// The path of a file that a document names.
    ///
    /// # Errors
    /// [`IoError::Outside`], [`IoError::NoPlainFile`]; [`IoError::Read`] where there is no such file.
    pub fn find(&self, name: &str) -> Result<PathBuf, IoError> {
        self.find_beside(&self.own, name)
    }

    /// The same, of a name that is relative to another folder: that of a graph within a graph.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub fn find_beside(&self, folder: &Path, name: &str) -> Result<PathBuf, IoError> {
        let path = folder.join(name);
        let fault = |source| IoError::Read {
            path: path.clone(),
            source,
        };
        let outside = || IoError::Outside {
            name: name.into(),
            folder: self.own.clone(),
        };
        let folders = || std::iter::once(&self.own).chain(&self.allowed);
        // By name alone first: to look at a path may already do something, such as asking another machine.
        let plain = without_dots(&path).map_err(fault)?;
        let is_named_in = |f: &PathBuf| without_dots(f).is_ok_and(|f| plain.starts_with(f));
        if !folders().any(is_named_in) {
            return Err(outside());
        }
        let real = path.canonicalize().map_err(fault)?;
        let is_in = |f: &PathBuf| or_here(f).canonicalize().is_ok_and(|f| real.starts_with(f));
        if !folders().any(is_in) {
            return Err(outside());
        }
        if !real.metadata().map_err(fault)?.is_file() {
            return Err(IoError::NoPlainFile { path });
        }
        let mut found = self.found.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.insert(real);
        Ok(path)
    }

    /// The files that were found so far, by these folders and clones of them; absolute, after links.
    pub fn found(&self) -> Vec<PathBuf> {
        let found = self.found.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.iter().cloned().collect()
    }

    /// Reads a text that a document names; gives its path, too.
    ///
    /// # Errors
    /// As [`Self::find_beside`] and [`read_text`]; [`IoError::Malformed`] where it is larger than any graph.
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
                place: "size".into(),
                found: format!("{bytes} bytes"),
                expected: format!("a graph or a kernel of {MAX_TEXT_BYTES} bytes at most"),
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

/// The absolute path, its `..` taken away as if nothing on the way were a link.
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
