//! The files that a command will write, looked at before any work: whether they can be written, and whether something would be lost.
//!
//! What the arguments name is found in the arguments themselves, for all commands alike: [`FORMS`] says which of them are written. Every other
//! one that names a file is read. A file that is read, or that is of another kind than the one to write there, is replaced with `--force` only.

use crate::exit::{Failure, Outcome};
use clap::ArgMatches;
use sinew::io::Writability;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// What an argument is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A file of the kind that its ending tells.
    File,
    /// A file that begins with these bytes, whatever its ending: the cache of setup, a saved state.
    Begins(&'static str, &'static [&'static [u8]]),
    /// A folder.
    Folder,
}

const CACHE: Form = Form::Begins("setup cache", &[b"SNWC"]);
const STATE: Form = Form::Begins("saved state", &[b"SNWPLAY"]);

/// How the record of a run begins; a key follows.
pub(crate) const RUN_RECORD: &str = "sinew run 2 ";
const RECORD: Form = Form::Begins("record of a run", &[b"sinew run "]);

/// Arguments that are written: of a command, or of all (`""`).
const FORMS: &[(&str, &str, Form)] = &[
    ("bake vat", "output", Form::Folder),
    ("vat assemble", "output", Form::Folder),
    ("demo", "output", Form::Folder),
    ("", "output", Form::File),
    ("", "graph_output", Form::File),
    ("", "cache", CACHE),
    ("", "save_state", STATE),
    ("", "work", Form::Folder),
    ("bake skin", "report", Form::Folder),
    ("bake skin", "color", Form::File),
    ("nodes", "pages", Form::Folder),
    ("init", "file", Form::File),
];

/// Kinds of files that tell what they are by how they begin: name, beginning, endings.
const KINDS: &[(&str, &[u8], &[&str])] = &[
    ("GLB file", b"glTF", &["glb", "vrm"]),
    ("PNG picture", b"\x89PNG\r\n\x1a\n", &["png", "apng"]),
    ("GIF", b"GIF8", &["gif"]),
    ("JPEG picture", b"\xff\xd8\xff", &["jpg", "jpeg"]),
    ("EXR picture", b"\x76\x2f\x31\x01", &["exr"]),
    ("NPZ or ZIP archive", b"PK\x03\x04", &["npz", "zip"]),
    ("NPY array", b"\x93NUMPY", &["npy"]),
    ("PC2 file", b"POINTCACHE2\0", &["pc2"]),
    ("PLY file", b"ply", &["ply"]),
    ("PDF document", b"%PDF-", &["pdf"]),
    ("setup cache", b"SNWC", &[]),
    ("saved state", b"SNWPLAY", &[]),
];

/// Endings of texts.
const TEXTS: [&str; 7] = ["json", "obj", "svg", "html", "csv", "md", "txt"];

/// What a command reads and writes.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    force: bool,
    writability: Writability,
    /// Files that are read, and folders and patterns of frames, as they are named.
    inputs: Vec<PathBuf>,
    /// Where outputs will be, after links.
    places: BTreeSet<PathBuf>,
}

impl Outputs {
    /// Looks at all outputs of a command line.
    pub(crate) fn of(matches: &ArgMatches, force: bool) -> Outcome<Self> {
        let (mut name, mut at) = (String::new(), matches);
        while let Some((next, below)) = at.subcommand() {
            name = format!("{name} {next}").trim_start().to_owned();
            at = below;
        }
        let mut this = Self {
            force,
            ..Self::default()
        };
        let mut named: Vec<(PathBuf, Form)> = Vec::new();
        for id in at.ids() {
            let Ok(Some(values)) = at.try_get_raw(id.as_str()) else {
                continue;
            };
            for value in values {
                match form(&name, id.as_str()) {
                    // A bake that is held against its report reads it.
                    Some(_) if id == "report" && at.contains_id("verify") => {}
                    Some(form) => named.push((PathBuf::from(value), form)),
                    None => this.inputs.extend(file_of(value)),
                }
            }
        }
        for (path, form) in named {
            this.check(&path, form)?;
            if form != Form::Folder && !this.places.insert(place(&path)) {
                let message = format!(
                    "{} is written twice; choose another name for one of the outputs",
                    path.display()
                );
                return Err(Failure::usage(message));
            }
        }
        Ok(this)
    }

    /// Whether the files of a bake replace nothing of the user's: those in the folder whose names begin so.
    pub(crate) fn check_bake(&self, folder: &Path, name: &str) -> Outcome {
        let files = sinew::io::files_ending_with(folder, "").unwrap_or_default();
        let of_bake = |path: &&PathBuf| {
            let rest = path.file_name()?.to_str()?.strip_prefix(name)?;
            rest.starts_with(['.', '_']).then_some(())
        };
        for path in files.iter().filter(|p| of_bake(p).is_some()) {
            if !self.force {
                check_kind(path, Form::File)?;
            }
        }
        Ok(())
    }

    /// Whether a file can be written, and replaces nothing of the user's.
    fn check(&mut self, path: &Path, form: Form) -> Outcome {
        if form == Form::Folder {
            return self.writability.folder(path).map_err(Failure::output);
        }
        self.writability.file(path).map_err(Failure::output)?;
        let place = place(path);
        if !self.force {
            if let Some(input) = self.inputs.iter().find(|input| covers(input, &place)) {
                return Err(is_input(path, input));
            }
            check_kind(path, form)?;
        }
        Ok(())
    }

    /// The same of a file that is written under another name than the arguments give: a frame of a sequence.
    pub(crate) fn check_file(&mut self, path: &Path) -> Outcome {
        self.check(path, Form::File)?;
        self.places.insert(place(path));
        Ok(())
    }

    /// The same of the record of a run.
    pub(crate) fn check_record(&mut self, path: &Path) -> Outcome {
        self.check(path, RECORD)
    }

    /// Says that a file is read that the arguments do not name: a graph does.
    pub(crate) fn reads(&self, input: &Path) -> Outcome {
        match self.places.contains(&place(input)) && !self.force {
            true => Err(is_input(input, input)),
            false => Ok(()),
        }
    }
}

fn form(command: &str, id: &str) -> Option<Form> {
    let found = FORMS
        .iter()
        .find(|(of, name, _)| *name == id && (of.is_empty() || *of == command));
    found.map(|(_, _, form)| *form)
}

/// The file that an argument names: `FILE` or `NAME=FILE`.
fn file_of(value: &OsStr) -> Option<PathBuf> {
    let whole = PathBuf::from(value);
    let is_pattern = whole
        .file_name()
        .is_some_and(|n| n.to_string_lossy().contains('#'));
    if whole.exists() || is_pattern {
        return Some(whole);
    }
    let (_, file) = value.to_str()?.split_once('=')?;
    Some(PathBuf::from(file)).filter(|f| f.exists())
}

/// Where a file is or will be, after links; folders on the way may be missing, since they are made.
fn place(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in std::path::absolute(path).unwrap_or_default().components() {
        match part {
            Component::ParentDir => _ = out.pop(),
            Component::CurDir => {}
            part => out.push(part),
        }
        if let Ok(found) = out.canonicalize() {
            out = found;
        }
    }
    out
}

/// Whether an input is the file at a place, or a folder or pattern of frames with it among them.
fn covers(input: &Path, at: &Path) -> bool {
    let there = place(input);
    if there == at || names(&there, at) {
        return true;
    }
    if !at.is_file() || at.parent() != there.parent() && at.parent() != Some(&there) {
        return false;
    }
    if there.is_dir() {
        return at.parent() == Some(&there);
    }
    let name = |p: &Path| {
        p.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let (pattern, name) = (name(&there), name(at));
    match (pattern.split_once('#'), pattern.rsplit_once('#')) {
        (Some((begin, _)), Some((_, end))) => name.starts_with(begin) && name.ends_with(end),
        _ => false,
    }
}

/// Whether a glTF file names the file at a place: its buffers and images lie beside it.
fn names(gltf: &Path, at: &Path) -> bool {
    let is_gltf = gltf
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("gltf"));
    let name = at.file_name().unwrap_or_default().to_string_lossy();
    let quoted = || serde_json::to_string(&name).unwrap_or_default();
    is_gltf
        && at.is_file()
        && gltf.parent() == at.parent()
        && std::fs::read_to_string(gltf).is_ok_and(|text| text.contains(&quoted()))
}

fn is_input(path: &Path, input: &Path) -> Failure {
    let message = match path == input {
        true => format!("{} is read and written by the same command", path.display()),
        false => format!(
            "{} is read by the same command (as {})",
            path.display(),
            input.display()
        ),
    };
    Failure::usage(message + "; write to another file, or overwrite it with --force")
}

/// Refuses to replace a file of another kind.
fn check_kind(path: &Path, form: Form) -> Outcome {
    if !path.is_file() {
        return Ok(());
    }
    let mut begin = Vec::new();
    let read = std::fs::File::open(path).and_then(|f| f.take(4096).read_to_end(&mut begin));
    // The kind of a file that cannot be read is unknown.
    let kind = match read {
        Ok(0) => return Ok(()),
        Ok(_) => KINDS.iter().find(|k| begin.starts_with(k.1)),
        Err(_) => None,
    };
    let ending = path
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let by_ending = KINDS.iter().find(|k| k.2.contains(&ending.as_str()));
    let (fits, expected) = match (form, by_ending) {
        (Form::Begins(name, all), _) => (all.iter().any(|b| begin.starts_with(b)), name),
        (_, Some(wanted)) => (kind.is_some_and(|k| k.0 == wanted.0), wanted.0),
        (_, None) if TEXTS.contains(&ending.as_str()) => {
            (kind.is_none() && !begin.contains(&0), "text file")
        }
        _ => (kind.is_none(), "file that fits its extension"),
    };
    if fits {
        return Ok(());
    }
    let found = kind.map_or("file of an unknown kind", |k| k.0);
    Err(Failure::usage(format!(
        "{} already exists: found {found}, expected {expected}; choose another name, or overwrite it with --force",
        path.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::CommandFactory;

    /// Arguments that name files which are only read.
    const READ: [&str; 13] = [
        "character",
        "graph",
        "state",
        "input",
        "source",
        "sequence",
        "settings",
        "bake",
        "verify",
        "values",
        "against",
        "file",
        "allowed_folders",
    ];

    fn leaves<'a>(
        command: &'a clap::Command,
        name: &str,
        out: &mut Vec<(String, &'a clap::Command)>,
    ) {
        let below: Vec<_> = command.get_subcommands().collect();
        if below.is_empty() {
            out.push((name.trim_start().to_owned(), command));
        }
        for c in below {
            leaves(c, &format!("{name} {}", c.get_name()), out);
        }
    }

    #[test]
    fn every_argument_that_names_a_file_is_known() {
        let mut command = Args::command();
        command.build();
        let mut all = Vec::new();
        leaves(&command, "", &mut all);
        let mut written = 0;
        for (name, command) in all {
            for argument in command.get_arguments() {
                let id = argument.get_id().as_str();
                let is_path =
                    argument.get_value_parser().type_id() == std::any::TypeId::of::<PathBuf>();
                if !is_path {
                    continue;
                }
                let form = form(&name, id);
                written += usize::from(form.is_some());
                assert!(
                    form.is_some() || READ.contains(&id),
                    "{name}: {id} is read, or written as?"
                );
            }
        }
        assert!(written > 25, "{written}");
    }

    #[test]
    fn frames_of_a_pattern_are_inputs() {
        let dir = tempfile::tempdir().expect("temp");
        for name in ["a_0001.ply", "b_0001.ply"] {
            std::fs::write(dir.path().join(name), b"ply").expect("written");
        }
        let at = |name: &str| place(&dir.path().join(name));
        let pattern = dir.path().join("a_####.ply");
        assert!(covers(&pattern, &at("a_0001.ply")));
        assert!(!covers(&pattern, &at("b_0001.ply")));
        assert!(covers(dir.path(), &at("b_0001.ply")));
        assert!(
            !covers(dir.path(), &at("c_0001.ply")),
            "a new file replaces none"
        );
        assert!(covers(&dir.path().join("./a_0001.ply"), &at("a_0001.ply")));
    }
}
