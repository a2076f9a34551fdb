//! Graph documents: from files or from the character, with the graphs that they name.

use crate::exit::{Code, Failure, Outcome};
use crate::talk::Talk;
use sinew::graph::{GraphSource, Plan, compile};
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
        match compile(&self.name, &self.text, &Folder(&self.folder)) {
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

/// Graphs beside (or below) the document that names them.
struct Folder<'a>(&'a Path);

impl GraphSource for Folder<'_> {
    fn graph_text(&self, from: &str, name: &str) -> Result<String, String> {
        let beside = Path::new(from)
            .parent()
            .filter(|p| p.is_dir())
            .unwrap_or(self.0);
        let path = if Path::new(name).is_absolute() {
            PathBuf::from(name)
        } else {
            beside.join(name)
        };
        sinew::io::read_text(&path).map_err(|e| e.to_string())
    }
}
