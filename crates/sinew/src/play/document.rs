//! Graph documents: from files, from characters, or generated for a character.

use super::{Character, PlayError};
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
