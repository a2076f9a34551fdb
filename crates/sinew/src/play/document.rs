//! Graph documents: from files, from characters, or generated for a character.

use super::{Character, PlayError};
use crate::geom::{Asset, Mesh};
use crate::graph::{Diagnostics, GraphSource, GraphText, Plan, compile};
use crate::io::{Folders, read_text};
use std::path::Path;

/// A graph document and the folders of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Name for messages: the path of a file.
    pub name: String,
    /// The document: JSON with comments.
    pub text: String,
    /// Folder that paths in it (nested graphs, kernels, characters) are relative to, and other allowed folders.
    pub folders: Folders,
    /// Allows hardware GPUs to run custom kernels of the graph. False for a graph embedded in its character, true for
    /// others. Software GPUs run all kernels.
    pub trusted: bool,
}

impl Document {
    /// Reads a document. Paths in it are relative to its folder and must stay inside it.
    ///
    /// # Errors
    /// [`PlayError::Io`].
    pub fn from_file(path: &Path) -> Result<Self, PlayError> {
        let text = read_text(path)?;
        Ok(Self::from_text(
            path.display().to_string(),
            text,
            Folders::of_file(path),
        ))
    }

    /// A document from text.
    pub fn from_text(
        name: impl Into<String>,
        text: impl Into<String>,
        folders: impl Into<Folders>,
    ) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
            folders: folders.into(),
            trusted: true,
        }
    }

    /// The graph embedded in the character's file; `None` without one.
    pub fn embedded(character: &Character) -> Option<Self> {
        let text = character.asset.graph.as_ref()?;
        let name = format!("{} (embedded graph)", character.path.display());
        let folders = Folders::of_file(&character.path);
        Some(Self {
            trusted: false,
            ..Self::from_text(name, text, folders)
        })
    }

    /// The graph embedded in the character's file, else that of [`Self::default_of`].
    pub fn of_character(character: &Character) -> Self {
        Self::embedded(character).unwrap_or_else(|| Self::default_of(character))
    }

    /// A default graph for the character: morph targets, then linear skinning, as output `body`; strands that follow
    /// their joints, as output `hair`. A mesh with neither passes unchanged. Normals and tangents are recomputed.
    ///
    /// All meshes are one input. Thus skinning needs joint weights on every mesh. Morph targets need weights in the
    /// rig; targets without a weight in poses are ignored.
    pub fn default_of(character: &Character) -> Self {
        let text = Shape::of(&character.asset).default_text();
        let name = format!("{} (no graph)", character.path.display());
        Self::from_text(name, text, Folders::of_file(&character.path))
    }

    /// A commented starter graph for the character: [`Self::default_of`], with a delta mush after skinning if joints
    /// share vertices. Delta mush also smooths morph targets; if the character has some, its parameter `blend` is 0.
    pub fn starter_for(character: &Character) -> Self {
        let shape = Shape::of(&character.asset);
        let text = shape.starter_text(if shape.is_morphed { "0.0" } else { "1.0" });
        Self::from_text("starter", text, Folders::of_file(&character.path))
    }

    /// A starter graph for an unknown character: a mesh with a skin, and morph targets if it has some.
    pub fn starter() -> Self {
        let shape = Shape {
            has_mesh: true,
            is_morphed: true,
            is_skinned: true,
            is_blended: true,
            ..Shape::default()
        };
        Self::from_text("starter", shape.starter_text("1.0"), "")
    }

    /// Checks and compiles the document, with the graphs and kernels that it refers to.
    ///
    /// # Errors
    /// All problems, each with its location and the expected content.
    pub fn compile(&self) -> Result<Plan, Diagnostics> {
        let mut plan = compile(&self.name, &self.text, &Files { root: self })?;
        if !self.trusted {
            plan.distrust_kernels();
        }
        Ok(plan)
    }
}

/// Data of a character that a graph can deform.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    has_mesh: bool,
    is_morphed: bool,
    is_skinned: bool,
    /// True if a vertex has weight on several joints. A mesh without a skin only follows its node.
    is_blended: bool,
    has_strands: bool,
    /// True if strands follow joints.
    strands_follow: bool,
}

impl Shape {
    fn of(asset: &Asset) -> Self {
        Self {
            has_mesh: !asset.meshes.is_empty(),
            is_morphed: is_morphed(asset),
            is_skinned: is_skinned(asset),
            is_blended: asset.meshes.iter().any(is_blended),
            has_strands: !asset.strands.is_empty(),
            strands_follow: follow_joints(asset, &asset.strands),
        }
    }

    /// Inputs, nodes and outputs of a document. `mush` adds a delta mush after skinning.
    fn members(&self, mush: bool) -> [Vec<String>; 3] {
        let mut nodes = Vec::new();
        let mut body = "body";
        let mut then = |name: &'static str, rest: &str| {
            nodes.push(format!(
                r#""{name}": {{ "node": {rest}, "mesh": "{body}"{} }}"#,
                if name == "mush" {
                    ""
                } else {
                    r#", "pose": "pose""#
                }
            ));
            body = name;
        };
        if self.is_morphed {
            then("morph", r#""morph""#);
        }
        if self.is_skinned {
            then("skin", r#""skin", "method": "linear""#);
        }
        if self.is_skinned && self.is_blended && mush {
            then(
                "mush",
                r#""delta_mush", "iterations": 10, "blend": "$blend""#,
            );
        }
        if self.strands_follow {
            nodes.push(r#""hair_skin": { "node": "skin", "method": "linear", "mesh": "hair", "pose": "pose" }"#.to_owned());
        }
        let hair = if self.strands_follow {
            "hair_skin"
        } else {
            "hair"
        };
        let is_posed = self.is_morphed || self.is_skinned || self.strands_follow;
        let has_body = self.has_mesh || !self.has_strands;
        let chosen = |members: &[(bool, String)]| -> Vec<String> {
            members
                .iter()
                .filter(|m| m.0)
                .map(|m| m.1.clone())
                .collect()
        };
        let inputs = chosen(&[
            (has_body, r#""body": { "type": "mesh" }"#.into()),
            (self.has_strands, r#""hair": { "type": "strands" }"#.into()),
            (is_posed, r#""pose": { "type": "pose" }"#.into()),
        ]);
        let outputs = chosen(&[
            (self.has_strands, format!(r#""hair": "{hair}""#)),
            (has_body, format!(r#""body": "{body}""#)),
        ]);
        [inputs, nodes, outputs]
    }

    fn default_text(&self) -> String {
        let [inputs, nodes, outputs] = self.members(false).map(|m| m.join(", "));
        format!(
            r#"{{
  "sinew": "1.0",
  "description": "Default of engines: morph targets and linear skinning, if the character has them.",
  "inputs": {{ {inputs} }},
  "nodes": {{ {nodes} }},
  "outputs": {{ {outputs} }}
}}"#
        )
    }

    /// `blend`: default of the delta mush.
    fn starter_text(&self, blend: &str) -> String {
        let [inputs, nodes, outputs] = self.members(true).map(|m| m.join(",\n    "));
        let parameters = if self.is_skinned && self.is_blended {
            format!(
                r#"
  // Parameters. Set them with: sinew run ... --set blend=0.5
  // Delta mush also smooths the shapes of morph targets. Blend 0 keeps them.
  "parameters": {{
    "blend": {{ "type": "float", "default": {blend}, "min": 0.0, "max": 1.0, "doc": "0 is plain skinning, 1 is full delta mush" }}
  }},
"#
            )
        } else {
            String::new()
        };
        let nodes = if nodes.is_empty() {
            nodes
        } else {
            format!("\n    {nodes}\n  ")
        };
        format!(
            r#"{{
  // A Sinew graph deforms a character in each frame. Comments and trailing commas are allowed.
  "sinew": "1.0",

  // Inputs. "select" limits a mesh input to some meshes of the file: "select": "Body*".
  "inputs": {{
    {inputs}
  }},
{parameters}
  // Nodes. `sinew nodes` lists all nodes, `sinew nodes delta_mush` describes one.
  "nodes": {{{nodes}}},

  // Outputs. Each mesh output becomes a mesh of the written file.
  "outputs": {{
    {outputs}
  }}
}}
"#
        )
    }
}

/// True if several joints share a vertex.
fn is_blended(mesh: &Mesh) -> bool {
    let influences = mesh.influences.as_ref();
    influences.is_some_and(|i| i.max_per_vertex() > 1)
}

/// True if node `skin` can bind: merged meshes keep joint weights only if all have them.
fn is_skinned(asset: &Asset) -> bool {
    follow_joints(asset, &asset.meshes)
}

fn follow_joints(asset: &Asset, meshes: &[Mesh]) -> bool {
    let all_bound = meshes.iter().all(|m| m.influences.is_some());
    // Joints that are only names have no position.
    let has_joints = !asset.rig.joints().is_empty() && !asset.joints_are_names;
    all_bound && !meshes.is_empty() && has_joints
}

/// True if node `morph` can bind: there are targets, and poses have a weight for each.
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

/// Graphs in files. Paths are relative to the document that contains them, and must be in the folders of the root
/// document.
struct Files<'a> {
    root: &'a Document,
}

impl GraphSource for Files<'_> {
    fn graph_text(&self, from: &str, name: &str) -> Result<GraphText, String> {
        let folders = &self.root.folders;
        let folder = if from == self.root.name {
            folders.own()
        } else {
            Path::new(from).parent().unwrap_or(Path::new(""))
        };
        let read = folders.read_text_beside(folder, name);
        let (path, text) = read.map_err(|e| e.to_string())?;
        Ok(GraphText::new(path.display().to_string(), text))
    }
}
