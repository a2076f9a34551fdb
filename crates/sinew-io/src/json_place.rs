//! Location of a `serde_json` error in a JSON document.
//!
//! Its errors contain line and column, which is not useful in a document of one line. This module finds the member.

use serde_json::Error;

/// Location of an error (`.` for the whole document) and its message without line and column. `text` is the input.
pub(crate) fn explain(text: &str, error: &Error) -> (String, String) {
    let message = error.to_string();
    let at = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&at).unwrap_or(&message).to_owned();
    (location(text, error), message)
}

/// The member that contains `error`: `meshes[3].name`, or `.` for the whole document.
pub(crate) fn location(text: &str, error: &Error) -> String {
    let lines = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    let end = lines.map(str::len).sum::<usize>() + error.column();
    let location: String = steps(text, end).iter().map(Step::to_string).collect();
    let location = location.strip_prefix('.').unwrap_or(&location);
    if location.is_empty() { "." } else { location }.to_owned()
}

enum Step {
    /// An array and the index of an item.
    Index(usize),
    /// An object and the key of a member, as written.
    Key(Option<String>),
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Key(Some(key)) => write!(f, ".{key}"),
            Self::Key(None) => Ok(()),
        }
    }
}

/// Arrays and objects that are open after the first `end` bytes of `text`, outermost first. The text is well-formed up
/// to the error.
fn steps(text: &str, end: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut bytes = text.bytes().enumerate().take(end);
    while let Some((at, byte)) = bytes.next() {
        match (byte, steps.last_mut()) {
            (b'{', _) => steps.push(Step::Key(None)),
            (b'[', _) => steps.push(Step::Index(0)),
            (b'}' | b']', _) => drop(steps.pop()),
            (b',', Some(Step::Index(index))) => *index += 1,
            (b',', Some(Step::Key(key))) => *key = None,
            (b'"', inner) => {
                let mut escaped = false;
                let close = bytes.find(|(_, b)| {
                    let closes = *b == b'"' && !escaped;
                    escaped = *b == b'\\' && !escaped;
                    closes
                });
                if let (Some((close, _)), Some(Step::Key(key @ None))) = (close, inner) {
                    *key = Some(text[at + 1..close].to_owned());
                }
            }
            _ => {}
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Deserialize)]
    struct Scene {
        #[expect(dead_code, reason = "only read")]
        nodes: Vec<Node>,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Node {
        name: String,
        #[serde(default)]
        at: Option<[f32; 3]>,
        #[serde(default)]
        kind: Option<Kind>,
    }

    #[derive(Deserialize)]
    enum Kind {
        Joint,
        Limb {
            #[expect(dead_code, reason = "only read")]
            joints: Vec<u8>,
        },
    }

    #[test]
    fn places_lead_to_what_is_wrong() {
        let cases = [
            (
                json!({"nodes": [{"name": "a", "at": [1, 2, 3], "kind": "Joint"}]}),
                None,
            ),
            (
                json!({"nodes": [{"name": "a", "at": [1, 2]}]}),
                Some("nodes[0].at"),
            ),
            (
                json!({"nodes": [{"name": "a", "at": [1, 2, 3, 4]}]}),
                Some("nodes[0].at[3]"),
            ),
            (
                json!({"nodes": [{"name": "a"}, {"name": "b", "at": [1, "2", 3]}]}),
                Some("nodes[1].at[1]"),
            ),
            (
                json!({"nodes": [{"name": "a"}, {"more": [1]}]}),
                Some("nodes[1]"),
            ),
            (
                json!({"nodes": [{"name": "a", "kind": "Bone"}]}),
                Some("nodes[0].kind"),
            ),
            (
                json!({"nodes": [{"name": "a", "kind": {"Limb": {"joints": [3]}}}]}),
                None,
            ),
            (
                json!({"nodes": [{"name": "a", "kind": {"Limb": {"joints": [3, 999]}}}]}),
                Some("nodes[0].kind.Limb.joints[1]"),
            ),
            (json!({"nodes": {}}), Some("nodes")),
            (json!({"more": {"a": [1]}}), Some(".")),
            (json!(5), Some(".")),
        ];
        for (json, expected) in cases {
            for text in [json.to_string(), format!("{json:#}")] {
                let found = serde_json::from_str::<Scene>(&text).err();
                let found = found.map(|error| location(&text, &error));
                assert_eq!(found.as_deref(), expected, "{text}");
            }
        }
    }
}
