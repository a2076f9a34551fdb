//! Graph documents: from files or from the character, with the graphs that they name.

use crate::exit::{Code, Failure, Outcome};
use crate::talk::Talk;
use sinew::graph::{GraphSource, GraphText, Plan, compile};
use std::path::{Path, PathBuf};

/// A document and where relative names in it start.
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) folder: PathBuf,
}

impl Document {
    pub(crate) fn from_file(path: &Path) -> Outcome<Self> {
        let text = sinew::io::read_text(path).map_err(|e| Failure::new(Code::Graph, e))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Self {
            name: path.display().to_string(),
            text,
            folder,
        })
    }

    /// The graph that travels in a character file.
    pub(crate) fn embedded(character: &Path, text: &str) -> Self {
        let folder = character.parent().unwrap_or(Path::new("")).to_owned();
        Self {
            name: format!("{} (embedded graph)", character.display()),
            text: text.to_owned(),
            folder,
        }
    }

    /// Compiles; shows every problem.
    pub(crate) fn compile(&self, talk: &Talk) -> Outcome<Plan> {
        match compile(
            &self.name,
            &self.text,
            &Files {
                root: &self.name,
                folder: &self.folder,
            },
        ) {
            Ok(plan) => {
                plan.warnings().iter().for_each(|d| talk.diagnostic(d));
                Ok(plan)
            }
            Err(problems) => {
                problems.0.iter().for_each(|d| talk.diagnostic(d));
                let message = format!("{} problems in {}", problems.0.len(), self.name);
                Err(Failure {
                    shown: true,
                    ..Failure::new(Code::Graph, message)
                })
            }
        }
    }
}

/// Graphs in files: names are relative to the document that holds them, the root's to its folder.
struct Files<'a> {
    root: &'a str,
    folder: &'a Path,
}

impl GraphSource for Files<'_> {
    fn graph_text(&self, from: &str, name: &str) -> Result<GraphText, String> {
        let folder = if from == self.root {
            self.folder
        } else {
            Path::new(from).parent().unwrap_or(Path::new(""))
        };
        let path = folder.join(name);
        let text = sinew::io::read_text(&path).map_err(|e| e.to_string())?;
        Ok(GraphText {
            name: path.display().to_string(),
            text,
        })
    }
}
