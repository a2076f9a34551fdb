//! Graph documents: from files, from characters, or made for a character.

use super::{Character, PlayError};
use crate::geom::{Asset, Mesh};
use crate::graph::{Diagnostics, GraphSource, GraphText, Plan, compile};
use crate::io::{Folders, read_text};
use std::path::Path;

/// A graph document and where the files lie that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// How it is called in messages: its path, where it is a file.
    pub name: String,
    /// The document, JSON with comments.
    pub text: String,
    /// Folder that names of files in it (nested graphs, kernels, characters) are relative to and stay in, and others that they may lie in.
    pub folders: Folders,
    /// Whether hardware may run custom kernels of the graph. One that came within its character is not trusted, any other is; devices in
    /// software run all.
    pub trusted: bool,
}

impl Document {
    /// Reads a document; names in it are relative to its folder and stay in it.
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

    /// A document that is at hand.
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

    /// The graph that travels in the character's file; `None` where there is none.
    pub fn embedded(character: &Character) -> Option<Self> {
        let text = character.asset.graph.as_ref()?;
        let name = format!("{} (embedded graph)", character.path.display());
        let folders = Folders::of_file(&character.path);
        Some(Self {
            trusted: false,
            ..Self::from_text(name, text, folders)
        })
    }

    /// The graph that travels in the character's file, else the one of [`Self::default_of`].
    pub fn of_character(character: &Character) -> Self {
        Self::embedded(character).unwrap_or_else(|| Self::default_of(character))
    }

    /// The graph of what the character has: morph targets, then linear skinning, as output `body`; strands that follow
    /// their joints, as output `hair`. A mesh with neither passes unchanged. Normals and tangents are made anew.
    ///
    /// All meshes are one input, so that skinning needs joint weights on every mesh. Morph targets need weights in the
    /// rig; those that a pose has no weight for stay out.
    pub fn default_of(character: &Character) -> Self {
        let text = Shape::of(&character.asset).default_text();
        let name = format!("{} (default graph)", character.path.display());
        Self::from_text(name, text, Folders::of_file(&character.path))
    }

    /// A commented graph to start from, made for the character: as [`Self::default_of`], with a delta mush after the skinning of meshes whose joints
    /// share vertices. Delta mush smooths morph targets, too; where there are any its parameter `blend` is 0.
    pub fn starter_for(character: &Character) -> Self {
        let shape = Shape::of(&character.asset);
        let text = shape.starter_text(if shape.is_morphed { "0.0" } else { "1.0" });
        Self::from_text("starter", text, Folders::of_file(&character.path))
    }

    /// The same for a character that is not known: a mesh with a skin, and morph targets where it has some.
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

    /// Checks and compiles it, with the graphs and kernels in files that it names.
    ///
    /// # Errors
    /// Every problem found, each with its place and what would be right.
    pub fn compile(&self) -> Result<Plan, Diagnostics> {
        let mut plan = compile(&self.name, &self.text, &Files { root: self })?;
        if !self.trusted {
            plan.distrust_kernels();
        }
        Ok(plan)
    }
}

/// What there is for a graph to move.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    has_mesh: bool,
    is_morphed: bool,
    is_skinned: bool,
    /// A vertex of a mesh has weight on several joints; a mesh without a skin follows its node alone.
    is_blended: bool,
    has_strands: bool,
    /// Strands follow joints.
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

    /// The inputs of a document, its nodes and its outputs. `mush`: with a delta mush after skinning.
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
  "description": "What engines do by default: morph targets and linear skinning, where there are any.",
  "inputs": {{ {inputs} }},
  "nodes": {{ {nodes} }},
  "outputs": {{ {outputs} }}
}}"#
        )
    }

    /// `blend`: the default of the delta mush.
    fn starter_text(&self, blend: &str) -> String {
        let [inputs, nodes, outputs] = self.members(true).map(|m| m.join(",\n    "));
        let parameters = if self.is_skinned && self.is_blended {
            format!(
                r#"
  // What may be set from outside: sinew run ... --set blend=0.5
  // Delta mush smooths what comes in, the shapes of morph targets, too: blend 0 keeps them.
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
  // A Sinew graph: what happens to a character, frame by frame. Comments and trailing commas are fine.
  "sinew": "1.0",

  // What comes in. "select" narrows a mesh input to some meshes of the file: "select": "Body*".
  "inputs": {{
    {inputs}
  }},
{parameters}
  // The steps. `sinew nodes` lists all kinds, `sinew nodes delta_mush` describes one.
  "nodes": {{{nodes}}},

  // What goes out; each mesh output becomes a mesh of the written file.
  "outputs": {{
    {outputs}
  }}
}}
"#
        )
    }
}

/// Whether several joints share a vertex.
fn is_blended(mesh: &Mesh) -> bool {
    let influences = mesh.influences.as_ref();
    influences.is_some_and(|i| i.max_per_vertex() > 1)
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

/// Graphs in files: names are relative to the document that holds them, the root's to its folder, and all stay in the root's.
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
        Ok(GraphText {
            name: path.display().to_string(),
            text,
        })
    }
}
