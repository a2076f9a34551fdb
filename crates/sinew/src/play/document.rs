//! Graph documents: from files, from characters, or made for a character.

use super::{Character, PlayError};
use crate::geom::{Asset, Mesh};
use crate::graph::{Diagnostics, GraphSource, GraphText, Plan, compile};
use crate::io::read_text;
use std::path::{Path, PathBuf};

/// A document that just shows the mesh.
const PLAIN: &str = r#"{
  "sinew": "1.0",
  "description": "The mesh as it is.",
  "inputs": { "body": { "type": "mesh" } },
  "outputs": { "body": "body" }
}"#;
/// Documents with the stack that a character needs.
const MORPHED: &str = r#"{
  "sinew": "1.0",
  "description": "Morph targets.",
  "stack": ["morph"]
}"#;
const SKINNED: &str = r#"{
  "sinew": "1.0",
  "description": "Linear skinning.",
  "stack": [{ "node": "skin", "method": "linear" }]
}"#;
const MORPHED_AND_SKINNED: &str = r#"{
  "sinew": "1.0",
  "description": "Morph targets and linear skinning: what engines do by default.",
  "stack": ["morph", { "node": "skin", "method": "linear" }]
}"#;

/// A graph document and where relative names in it start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// How it is called in messages: its path, where it is a file.
    pub name: String,
    /// The document, JSON with comments.
    pub text: String,
    /// Folder that names of files in it (nested graphs, kernels, characters) are relative to.
    pub folder: PathBuf,
}

impl Document {
    /// Reads a document; names in it are relative to its folder.
    ///
    /// # Errors
    /// [`PlayError::Io`].
    pub fn from_file(path: &Path) -> Result<Self, PlayError> {
        let text = read_text(path)?;
        Ok(Self::from_text(
            path.display().to_string(),
            text,
            folder_of(path),
        ))
    }

    /// A document that is at hand.
    pub fn from_text(
        name: impl Into<String>,
        text: impl Into<String>,
        folder: impl Into<PathBuf>,
    ) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
            folder: folder.into(),
        }
    }

    /// The graph that travels in the character's file; `None` where there is none.
    pub fn embedded(character: &Character) -> Option<Self> {
        let text = character.asset.graph.as_ref()?;
        let name = format!("{} (embedded graph)", character.path.display());
        Some(Self::from_text(name, text, folder_of(&character.path)))
    }

    /// The graph that travels in the character's file, else one for what the character has: morph targets, then
    /// linear skinning, then nothing more, as its output `body` (normals and tangents that these do not carry
    /// along are made anew when it is bound). A mesh with neither passes unchanged.
    ///
    /// Skinning needs joint weights on every mesh, since all meshes are one input. Morph targets need weights in the
    /// rig; those that a pose has no weight for stay out.
    pub fn of_character(character: &Character) -> Self {
        Self::embedded(character).unwrap_or_else(|| Self::default_of(character))
    }

    /// The graph that [`Self::of_character`] makes where the file carries none.
    pub fn default_of(character: &Character) -> Self {
        let asset = &character.asset;
        let text = match (is_morphed(asset), is_skinned(asset)) {
            _ if !asset.strands.is_empty() => &with_strands(asset),
            (true, true) => MORPHED_AND_SKINNED,
            (true, false) => MORPHED,
            (false, true) => SKINNED,
            (false, false) => PLAIN,
        };
        let name = format!("{} (default graph)", character.path.display());
        Self::from_text(name, text, folder_of(&character.path))
    }

    /// Checks and compiles it, with the graphs and kernels in files that it names.
    ///
    /// # Errors
    /// Every problem found, each with its place and what would be right.
    pub fn compile(&self) -> Result<Plan, Diagnostics> {
        compile(&self.name, &self.text, &Files { root: self })
    }
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_owned()
}

/// The default graph of an asset with strands: they follow their joints, beside what the meshes do.
fn with_strands(asset: &Asset) -> String {
    let mut inputs = vec![r#""hair": { "type": "strands" }"#];
    let (mut nodes, mut outputs) = (Vec::new(), Vec::new());
    let skinned = [is_skinned(asset), follow_joints(asset, &asset.strands)];
    if skinned.contains(&true) {
        inputs.push(r#""pose": { "type": "pose" }"#);
    }
    if skinned[1] {
        nodes.push(r#""hair_skin": { "node": "skin", "mesh": "hair", "pose": "pose", "method": "linear" }"#);
    }
    outputs.push(if skinned[1] {
        r#""hair": "hair_skin""#
    } else {
        r#""hair": "hair""#
    });
    if !asset.meshes.is_empty() {
        inputs.push(r#""body": { "type": "mesh" }"#);
        if skinned[0] {
            nodes.push(r#""body_skin": { "node": "skin", "mesh": "body", "pose": "pose", "method": "linear" }"#);
        }
        outputs.push(if skinned[0] {
            r#""body": "body_skin""#
        } else {
            r#""body": "body""#
        });
    }
    format!(
        "{{\n  \"sinew\": \"1.0\",\n  \"description\": \"Strands and what they grow on, as the joints move them.\",\n  \"inputs\": {{ {} }},\n  \"nodes\": {{ {} }},\n  \"outputs\": {{ {} }}\n}}",
        inputs.join(", "),
        nodes.join(", "),
        outputs.join(", ")
    )
}

/// Whether node `skin` can bind: merged meshes keep joint weights only where all have them.
fn is_skinned(asset: &Asset) -> bool {
    follow_joints(asset, &asset.meshes)
}

fn follow_joints(asset: &Asset, meshes: &[Mesh]) -> bool {
    let all_bound = meshes.iter().all(|m| m.influences.is_some());
    // Joints that are names alone are nowhere.
    let has_joints = !asset.rig.joints().is_empty() && !asset.joints_are_names;
    all_bound && !meshes.is_empty() && has_joints
}

/// Whether node `morph` can bind: there are targets, and poses have a weight for each.
fn is_morphed(asset: &Asset) -> bool {
    let weights = asset.rig.morph_weight_count();
    let indices = |m: &Mesh| {
        (0..m.morph_targets.len())
            .map(|t| m.morph_weight_index(t))
            .max()
    };
    let last = asset.meshes.iter().filter_map(indices).max();
    last.is_some_and(|last| last < weights)
}

/// Graphs in files: names are relative to the document that holds them, the root's to its folder.
struct Files<'a> {
    root: &'a Document,
}

impl GraphSource for Files<'_> {
    fn graph_text(&self, from: &str, name: &str) -> Result<GraphText, String> {
        let folder = if from == self.root.name {
            &self.root.folder
        } else {
            Path::new(from).parent().unwrap_or(Path::new(""))
        };
        let path = folder.join(name);
        let text = read_text(&path).map_err(|e| e.to_string())?;
        Ok(GraphText {
            name: path.display().to_string(),
            text,
        })
    }
}
