//! Messages about the document in words of the FBX file: names instead of indices.

use crate::IoError;
use serde_json::Value;

/// Names of the document's entries.
pub(super) struct Words {
    nodes: Vec<String>,
    meshes: Vec<String>,
    skins: Vec<String>,
    animations: Vec<String>,
}

impl Words {
    pub(super) fn of(root: &Value) -> Self {
        let names = |list: &str| {
            let entries = root[list].as_array().map_or(&[][..], Vec::as_slice);
            let name = |e: &Value| e["name"].as_str().unwrap_or_default().to_owned();
            entries.iter().map(name).collect()
        };
        Self {
            nodes: names("nodes"),
            meshes: names("meshes"),
            skins: names("skins"),
            animations: names("animations"),
        }
    }

    /// An error about the document as one about the file.
    pub(super) fn error(&self, error: IoError) -> IoError {
        match error {
            IoError::Malformed {
                path,
                location,
                found,
                expected,
            } => IoError::Malformed {
                path,
                location: self.text(&location),
                found: self.text(&found),
                expected,
            },
            other => other,
        }
    }

    /// Replaces `nodes[3]` by `node 'Hips'`, and so on.
    pub(super) fn text(&self, text: &str) -> String {
        let lists = [
            ("nodes[", "node", &self.nodes),
            ("meshes[", "mesh", &self.meshes),
            ("skins[", "skin of mesh", &self.skins),
            ("animations[", "take", &self.animations),
        ];
        let mut out = text.to_owned();
        for (start, kind, names) in lists {
            out = replaced(&out, start, |index| {
                let name = names.get(index)?;
                Some(format!("{kind} '{}'", name.escape_debug()))
            });
        }
        out
    }
}

/// Replaces each `start` with an index and `]` after it.
fn replaced(text: &str, start: &str, name: impl Fn(usize) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(start) {
        out.push_str(before);
        let found = after.split_once(']').and_then(|(index, behind)| {
            let name = name(index.parse().ok()?)?;
            Some((name, behind))
        });
        match found {
            Some((name, behind)) => {
                out.push_str(&name);
                rest = behind;
            }
            None => {
                out.push_str(start);
                rest = after;
            }
        }
    }
    out + rest
}
