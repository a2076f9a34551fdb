//! Graph documents around single nodes, and several documents in one input.

use sinew::deform::{NodeDesc, ParameterType, PortType, REGISTRY};
use sinew::graph::{GraphSource, GraphText};

/// A line of this text ends one document of an input and starts the next; they are called `1.json`, `2.json`, ..
pub const SEPARATOR: &str = "\n//-- next --\n";

/// Documents of all nodes whose setup can be saved: with its defaults, and with every word of every choice.
pub fn cached() -> Vec<String> {
    let mut out = Vec::new();
    for desc in REGISTRY.iter().filter(|d| d.restore.is_some()) {
        out.push(around(desc, ""));
        for p in desc.parameters {
            let ParameterType::Choice(choices) = p.ty else {
                continue;
            };
            for c in choices {
                out.push(around(desc, &format!(", \"{}\": \"{}\"", p.name, c.name)));
            }
        }
    }
    out
}

/// A document with the node called `it`, every required input linked, every output an output of the graph;
/// `parameters` is JSON that starts with a comma, or nothing.
pub fn around(desc: &NodeDesc, parameters: &str) -> String {
    let wanted = |t: PortType| match t {
        PortType::Mesh => Some("body"),
        PortType::Pose => Some("pose"),
        _ => None,
    };
    let links: String = desc
        .inputs
        .iter()
        .filter(|p| p.required || p.ty == PortType::Pose)
        .filter_map(|p| Some(format!(", \"{}\": \"{}\"", p.name, wanted(p.ty)?)))
        .collect();
    let outputs: Vec<String> = desc
        .outputs
        .iter()
        .map(|o| format!("\"{0}\": \"it.{0}\"", o.name))
        .collect();
    format!(
        "{{\"sinew\": \"1.0\", \"nodes\": {{\"it\": {{\"node\": \"{}\"{links}{parameters}}}}}, \"outputs\": {{{}}}}}",
        desc.name,
        outputs.join(", ")
    )
}

/// The documents of one input: the first is the root, the others can be named by it.
#[derive(Debug)]
pub struct Bundle<'a>(Vec<&'a str>);

impl<'a> Bundle<'a> {
    /// Splits at [`SEPARATOR`].
    pub fn new(text: &'a str) -> Self {
        Self(text.split(SEPARATOR).collect())
    }

    /// The first document.
    pub fn root(&self) -> &'a str {
        self.0[0]
    }
}

impl GraphSource for Bundle<'_> {
    fn graph_text(&self, _from: &str, name: &str) -> Result<GraphText, String> {
        let index: usize = name
            .strip_suffix(".json")
            .and_then(|n| n.parse().ok())
            .ok_or("no such file")?;
        let text = self.0.get(index).ok_or("no such file")?;
        Ok(GraphText::new(format!("{index}.json"), (*text).to_owned()))
    }
}
