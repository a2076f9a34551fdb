//! Names with commands for a terminal, and with ends of lines.

use crate::common::sequences::ended;
use crate::common::{Place, SKIN, printed, said};

/// The arm of the samples as a file, this text in front of all names in it, and `skin.json` for it.
pub(crate) fn renamed_arm(place: &Place, more: &str, name: &str) {
    place.put("skin.json", SKIN);
    let line = "bake skin sample:arm -g skin.json -o arm.glb";
    let made = place.sinew(&line.split(' ').collect::<Vec<_>>());
    ended(&made, 0, "wrote");
    let renamed = with_names(&std::fs::read(place.path("arm.glb")).expect("read"), more);
    std::fs::write(place.path(name), renamed).expect("written");
}

/// A GLB file, this text in front of all names in it.
fn with_names(glb: &[u8], more: &str) -> Vec<u8> {
    fn rename(value: &mut serde_json::Value, more: &str) {
        match value {
            serde_json::Value::Object(map) => {
                for (key, value) in map.iter_mut() {
                    match value.as_str() {
                        Some(name) if key == "name" => *value = format!("{more}{name}").into(),
                        _ => rename(value, more),
                    }
                }
            }
            serde_json::Value::Array(all) => all.iter_mut().for_each(|v| rename(v, more)),
            _ => {}
        }
    }
    let word = |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().expect("a word")) as usize;
    let (json, rest) = glb[20..].split_at(word(12));
    let mut document = serde_json::from_slice(json).expect("JSON");
    rename(&mut document, more);
    let mut json = serde_json::to_vec(&document).expect("JSON");
    json.resize(json.len().next_multiple_of(4), b' ');
    let sizes = [20 + json.len() + rest.len(), json.len()].map(|n| (n as u32).to_le_bytes());
    [&glb[..8], &sizes[0], &sizes[1], &glb[16..20], &json, rest].concat()
}

/// Names with commands for a terminal: in clips, meshes, joints, nodes, and files.
#[test]
fn names_do_not_command_the_terminal() {
    let p = Place::new();
    let evil = "\u{1b}]0;mine\u{7}\u{9b}31m\u{202e}\u{2028}";
    renamed_arm(&p, evil, "evil.glb");
    // Nor do they look like messages of ours.
    renamed_arm(&p, "a\nerror: pay\nwrote money\n", "lines.glb");
    p.put(
        "evil.json",
        &format!(
            r#"{{"sinew": "1.0", "nodes": {{"{}": {{"node": "smooth"}}}}}}"#,
            "\\u001b]0;mine\\u0007"
        ),
    );
    p.put(
        "raw.json",
        &format!(r#"{{"sinew": "1.0", "nodes": {{"{evil}": {{"node": "nope"}}}}}}"#),
    );
    p.put(&format!("{evil}.obj"), "v 0 0 0\n");
    let file = format!("{evil}.obj");
    let all: &[&[&str]] = &[
        &["check", "evil.json"],
        &["check", "raw.json"],
        &["inspect", &file],
        &["inspect", "evil.glb"],
        &["inspect", "evil.glb", "--json"],
        &[
            "run",
            "evil.glb",
            "-g",
            "skin.json",
            "-o",
            "x.npz",
            "--clip",
            "nope",
        ],
        &["render", "evil.glb", "-o", "x.png", "--focus", "nope"],
        &["bake", "skin", "evil.glb", "-g", "skin.json", "-o", "y.glb"],
        &["bake", "vat", "evil.glb", "-g", "skin.json", "-o", "o"],
        &["psd", "check", "evil.glb"],
        &["bench", "skin.json", "evil.glb", "--frames", "1"],
        &["run", &file, "-g", "shift.json", "-o", "x.npz"],
        &[
            "run",
            "square.obj",
            "-g",
            "shift.json",
            "-o",
            "x.npz",
            "--clip",
            evil,
        ],
        &["run", "square.obj", "-g", "shift.json", "-o", evil],
    ];
    for line in all {
        for format in ["text", "json"] {
            let found = p.sinew(&[line, &["--log-format", format][..]].concat());
            let text = said(&found) + &printed(&found);
            let raw: Vec<char> = text
                .chars()
                .filter(|c| evil.contains(*c) && !c.is_ascii_graphic())
                .collect();
            assert!(raw.is_empty(), "{line:?}: {raw:?} in {text:?}");
        }
    }
    for line in [
        "inspect lines.glb",
        "run lines.glb -g skin.json -o x.npz --clip nope",
        "render lines.glb -o x.png --look attribute:x",
        "psd check lines.glb",
    ] {
        let found = p.sinew(&line.split(' ').collect::<Vec<_>>());
        let text = said(&found) + &printed(&found);
        let forged = |l: &&str| l.starts_with("error: pay") || l.starts_with("wrote money");
        assert_eq!(text.lines().find(forged), None, "{line}: {text}");
    }
}
