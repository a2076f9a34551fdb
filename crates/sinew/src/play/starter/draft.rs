//! The text of a graph that is being made.

use std::fmt::Write;

/// Members of a document, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// Comments at its head; without any, the document has no comments at all.
    pub(super) about: Vec<String>,
    pub(super) inputs: Vec<String>,
    pub(super) parameters: Vec<String>,
    /// Each with the comments before it.
    pub(super) nodes: Vec<(Vec<String>, String)>,
    pub(super) outputs: Vec<String>,
}

impl Draft {
    /// Adds a node, as `"name": { ... }`, after comments.
    pub(super) fn node(&mut self, comments: &[&str], text: impl Into<String>) {
        let comments = comments.iter().map(|c| (*c).to_owned()).collect();
        self.nodes.push((comments, text.into()));
    }

    /// JSON with comments.
    pub(super) fn text(&self) -> String {
        let mut out = String::from("{\n");
        for line in &self.about {
            let _ = writeln!(out, "  // {line}");
        }
        out += "  \"sinew\": \"1.0\",\n";
        let plain = |members: &[String]| -> Vec<(Vec<String>, String)> {
            members.iter().map(|m| (Vec::new(), m.clone())).collect()
        };
        let told = |text| if self.about.is_empty() { "" } else { text };
        let mut section =
            |comment: &str, key: &str, members: &[(Vec<String>, String)], end: &str| {
                if !comment.is_empty() {
                    let _ = write!(out, "\n  // {comment}\n");
                }
                let _ = writeln!(out, "  \"{key}\": {{");
                for (i, (comments, member)) in members.iter().enumerate() {
                    for line in comments.iter().filter(|_| !self.about.is_empty()) {
                        let _ = writeln!(out, "    // {line}");
                    }
                    let comma = if i + 1 < members.len() { "," } else { "" };
                    let _ = writeln!(out, "    {member}{comma}");
                }
                let _ = writeln!(out, "  }}{end}");
            };
        let about = told(
            "Inputs. \"select\" limits a mesh input to some meshes of the file: \"select\": \"Body*\".",
        );
        section(about, "inputs", &plain(&self.inputs), ",");
        if !self.parameters.is_empty() {
            let about = told("Parameters. Set them with: sinew run ... --set NAME=VALUE");
            section(about, "parameters", &plain(&self.parameters), ",");
        }
        let about =
            told("Nodes. `sinew nodes` lists all nodes, `sinew nodes delta_mush` describes one.");
        section(about, "nodes", &self.nodes, ",");
        let about = told("Outputs. Each mesh output becomes a mesh of the written file.");
        section(about, "outputs", &plain(&self.outputs), "");
        out += "}\n";
        out
    }
}
