//! What the program's tests share.

pub(crate) mod sequences;

use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A unit square, two triangles.
const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
/// Moves it by the parameter's share of one metre.
pub(crate) const SHIFT: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "parameters": {"w": {"type": "float", "default": 1, "min": 0, "max": 1}},
 "stack": [{"node": "transform", "transform": {"translation": [0, 0, 1]}, "weight": "$w"}]}"#;

/// A character's mesh on its joints.
pub(crate) const SKIN: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}}, "stack": [{"node": "skin"}]}"#;

/// A folder with the square and the shift in it.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self(TempDir::new().expect("a temporary folder"));
        place.put("square.obj", SQUARE);
        place.put("shift.json", SHIFT);
        place
    }
    pub(crate) fn put(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("write");
    }
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("read")
    }
    /// A file that is no text, to look for names in it.
    pub(crate) fn text_of_bytes(&self, name: &str) -> String {
        let bytes = std::fs::read(self.path(name)).expect("read");
        String::from_utf8_lossy(&bytes).into_owned()
    }
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.0.path())
            .expect("list")
            .map(|f| f.expect("entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
    /// Files of a folder in it.
    pub(crate) fn files_of(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).expect("list");
        let name = |f: std::fs::DirEntry| f.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries
            .map(|f| format!("{folder}/{}", name(f.expect("entry"))))
            .collect();
        names.sort();
        names
    }
    pub(crate) fn sinew(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .expect("the program starts")
    }
}

pub(crate) fn said(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}

pub(crate) fn printed(o: &Output) -> String {
    String::from_utf8_lossy(&o.stdout).into_owned()
}
