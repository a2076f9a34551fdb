//! Files that claim much and hold little, or ask for much work: each ends in time and within its memory, and says what is wrong.
//!
//! The limit is the system's (`ulimit -d`, all that a process may write to): an allocation beyond it is refused, which ends the program with a signal.

use crate::common::sequences::sequence;
use crate::common::{Place, SKIN, said};
use crate::names::renamed_arm;
use serde_json::{Value, json};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// What a hostile file may take: each is small, and so is what is right about it.
const KIBIBYTES: usize = 1 << 20;
/// On a machine that does other things meanwhile.
const SECONDS: u64 = 30;

/// The program under the limit.
fn bounded(place: &Place, line: &str) -> Output {
    let limit = format!("ulimit -d {KIBIBYTES} && exec \"$0\" \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &limit, env!("CARGO_BIN_EXE_sinew")]);
    shell.args(line.split(' ')).current_dir(place.path(""));
    shell.output().expect("a shell")
}

/// One file of the corpus: its name, its bytes, what is done with it, how that ends and what is said.
struct Hostile {
    name: &'static str,
    bytes: Vec<u8>,
    line: &'static str,
    code: i32,
    says: &'static str,
}

fn hostile(
    name: &'static str,
    bytes: impl Into<Vec<u8>>,
    line: &'static str,
    code: i32,
    says: &'static str,
) -> Hostile {
    Hostile {
        name,
        bytes: bytes.into(),
        line,
        code,
        says,
    }
}

/// Puts each file into a folder of its own and runs its command there.
fn judged(corpus: &[Hostile]) {
    for Hostile {
        name,
        bytes,
        line,
        code,
        says,
    } in corpus
    {
        let place = Place::new();
        std::fs::write(place.path(name), bytes).expect("written");
        let begun = Instant::now();
        let found = bounded(&place, line);
        let took = begun.elapsed();
        let said = said(&found);
        let start: String = said.chars().take(2000).collect();
        assert_eq!(found.status.code(), Some(*code), "{name}, {line}: {start}");
        assert!(said.contains(says), "{name}, {line}: {start}");
        assert!(
            took < Duration::from_secs(SECONDS),
            "{name}, {line}: {took:?}"
        );
        assert!(
            said.len() < 200_000 && !said.contains("panicked"),
            "{name}, {line}: {start}"
        );
    }
}

/// `count` times the same text, then without the last `,`.
fn listed(text: &str, count: usize) -> String {
    let mut all = text.repeat(count);
    all.truncate(all.trim_end_matches(',').len());
    all
}

fn graphs() -> Vec<Hostile> {
    let stack = |steps: &str| format!("{{\"sinew\": \"1.0\", \"stack\": [{steps}]}}");
    let check = "check g.json";
    // Nested graphs of which each holds the next one twice.
    let mut twice = stack("\"skin\"");
    for _ in 0..14 {
        let step = format!("{{\"node\": \"graph\", \"graph\": {twice}}}");
        twice = stack(&format!("{step}, {step}"));
    }
    // Nested graphs that each are given the same long list.
    let points = listed("[0,0,0],", 27_000);
    let reader = "{\"node\": \"lattice\", \"points\": \"$p\", \"resolution\": [30, 30, 30]},";
    let given = stack(&format!(
        "{{\"node\": \"graph\", \"p\": [{points}], \"graph\": {{\"sinew\": \"1.0\", \"parameters\": {{\"p\": {{\"type\": \"points\"}}}}, \"stack\": [{}]}}}}",
        listed(reader, 2000)
    ));
    vec![
        hostile(
            "g.json",
            "[".repeat(1 << 20),
            check,
            4,
            "more than 512 levels deep",
        ),
        hostile(
            "g.json",
            "{\"a\":".repeat(1 << 20),
            check,
            4,
            "more than 512 levels deep",
        ),
        hostile(
            "g.json",
            stack(&listed("0,", 4 << 20)),
            check,
            4,
            "more problems",
        ),
        hostile(
            "g.json",
            stack(&listed("[],", 1 << 20)),
            check,
            4,
            "more problems",
        ),
        hostile(
            "g.json",
            stack(&listed("\"twist\",", 60_000)),
            check,
            0,
            "60000 nodes",
        ),
        hostile(
            "g.json",
            stack(&listed("\"twits\",", 60_000)),
            check,
            4,
            "more problems",
        ),
        hostile("g.json", twice, check, 4, "more than 4096 graphs"),
        hostile("g.json", given, check, 4, "values given to nested graphs"),
        hostile("g.json", vec![b' '; 65 << 20], check, 4, "at most 67108864"),
    ]
}

/// A GLB with this document and so many bytes.
fn glb(document: &str, binary: &[u8]) -> Vec<u8> {
    let pad = |bytes: &[u8], with: u8| {
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), with);
        bytes
    };
    let (json, bin) = (pad(document.as_bytes(), b' '), pad(binary, 0));
    let mut out = b"glTF".to_vec();
    for word in [2, 28 + json.len() + bin.len(), json.len()] {
        out.extend((word as u32).to_le_bytes());
    }
    out.extend(b"JSON");
    out.extend(&json);
    out.extend((bin.len() as u32).to_le_bytes());
    out.extend(b"BIN\0");
    out.extend(&bin);
    out
}

/// A character of one triangle, in the first of its accessors.
fn triangle(nodes: &str, primitives: &str, accessors: &str) -> Vec<u8> {
    let corners: [f32; 9] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let binary: Vec<u8> = corners.iter().flat_map(|c| c.to_le_bytes()).collect();
    let document = format!(
        "{{\"asset\": {{\"version\": \"2.0\"}}, \"scene\": 0, \"scenes\": [{{\"nodes\": [0]}}], \"nodes\": [{nodes}], \
         \"meshes\": [{{\"primitives\": [{primitives}]}}], \
         \"accessors\": [{{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\", \"min\": [0, 0, 0], \"max\": [1, 1, 0]}}{accessors}], \
         \"bufferViews\": [{{\"buffer\": 0, \"byteLength\": 36}}], \"buffers\": [{{\"byteLength\": 36}}]}}"
    );
    glb(&document, &binary)
}

fn characters() -> Vec<Hostile> {
    let run = "run x.glb -g shift.json --frames 0 -o out.npz";
    let one = "{\"attributes\": {\"POSITION\": 0}}";
    let child = |i: usize| format!(",{{\"children\": [{}]}}", i + 1);
    let deep: String = (1..100_000).map(child).collect();
    let deep = format!("{{\"mesh\": 0, \"children\": [1]}}{deep},{{}}");
    let zeros = ",{\"componentType\": 5126, \"count\": 4000000000, \"type\": \"VEC3\"}";
    let of_zeros = "{\"attributes\": {\"POSITION\": 1}}";
    let shifted = listed("{\"POSITION\": 1},", 200_000);
    let targets = format!("{{\"attributes\": {{\"POSITION\": 0}}, \"targets\": [{shifted}]}}");
    let nodes = listed("{\"mesh\": 0},", 200_000);
    let roots: Vec<String> = (0..200_000).map(|i| i.to_string()).collect();
    let shown = format!("{{\"children\": [{}]}}", roots[1..].join(","));
    let primitives = listed("{\"attributes\": {\"POSITION\": 0}},", 200_000);
    let long = vec![0xff; 1 << 16];
    let mut header = b"glTF\x02\0\0\0".to_vec();
    header.extend([0xff; 12]);
    vec![
        hostile("x.glb", header, run, 3, "byte 8"),
        hostile(
            "x.glb",
            [&b"glTF\x02\0\0\0"[..], &long].concat(),
            run,
            3,
            "byte 8",
        ),
        hostile(
            "x.glb",
            triangle("{\"mesh\": 0}", of_zeros, zeros),
            run,
            3,
            "accessors[1]",
        ),
        hostile(
            "x.glb",
            triangle("{\"mesh\": 0}", &targets, zeros),
            run,
            3,
            "accessors[1]",
        ),
        hostile("x.glb", triangle(&deep, one, ""), run, 0, ""),
        hostile(
            "x.glb",
            triangle(&format!("{shown},{nodes}"), one, ""),
            run,
            0,
            "",
        ),
        hostile(
            "x.glb",
            triangle("{\"mesh\": 0}", &primitives, ""),
            run,
            0,
            "",
        ),
        hostile(
            "x.glb",
            triangle("{\"mesh\": 0, \"children\": [0]}", one, ""),
            run,
            3,
            "nodes[0]",
        ),
    ]
}

fn meshes() -> Vec<Hostile> {
    let ply = |count: &str| {
        format!(
            "ply\nformat binary_little_endian 1.0\nelement vertex {count}\nproperty float x\nproperty float y\nproperty float z\nelement face {count}\nproperty list uchar int vertex_indices\nend_header\n\0\0\0\0"
        )
    };
    let tfx = [b"\0\0\x80\x3f".as_slice(), &[0xff; 156]].concat();
    let pc2 = [
        b"POINTCACHE2\0\x01\0\0\0".as_slice(),
        &[0x7f; 4],
        &[0; 8],
        &[0x7f; 4],
    ]
    .concat();
    let mdd = [0x7f; 12];
    vec![
        hostile(
            "x.obj",
            "f 1 2 4000000000\n",
            "run x.obj -g shift.json -o out.npz",
            3,
            "line 1",
        ),
        hostile(
            "x.obj",
            "f -1 -2 -9223372036854775808\n",
            "run x.obj -g shift.json -o out.npz",
            3,
            "line 1",
        ),
        hostile(
            "x.ply",
            ply("18446744073709551615"),
            "run x.ply -g shift.json -o out.npz",
            3,
            "x.ply",
        ),
        hostile(
            "x.ply",
            ply("4000000000"),
            "run x.ply -g shift.json -o out.npz",
            3,
            "x.ply",
        ),
        hostile("x.tfx", tfx, "inspect x.tfx", 3, "x.tfx"),
        hostile("x.pc2", pc2, "inspect x.pc2", 3, "x.pc2"),
        hostile("x.mdd", mdd, "inspect x.mdd", 3, "x.mdd"),
    ]
}

#[test]
fn graphs_end_in_time_and_within_their_memory() {
    judged(&graphs());
}

#[test]
fn characters_end_in_time_and_within_their_memory() {
    judged(&characters());
}

#[test]
fn meshes_end_in_time_and_within_their_memory() {
    judged(&meshes());
}

/// A picture whose header claims so many pixels a side, with this little behind it.
fn claiming(side: u32) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    let mut header = [side.to_be_bytes(), side.to_be_bytes()].concat();
    header.extend([16, 6, 0, 0, 0]);
    let crc = !header.iter().fold(0x575e_51f5, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| {
            (c >> 1) ^ ((c & 1) * 0xedb8_8320)
        })
    });
    png.extend(header);
    png.extend(crc.to_be_bytes());
    png
}

/// Every number and every text of a manifest in turn is another one; then its textures.
#[test]
fn bakes_end_in_time_and_within_their_memory() {
    let place = Place::new();
    sequence(&place, "clip", &[2, 2, 2]);
    let made = place.sinew(&["bake", "vat", "clip", "-o", "bake"]);
    assert!(made.status.success(), "{}", said(&made));
    place.put(
        "play.json",
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "bake": {"type": "vertex_animation", "file": "bake/clip.vat.json"}},
 "nodes": {"n": {"node": "vat_playback", "mesh": "body", "animation": "bake"}}, "outputs": {"body": "n"}}"#,
    );
    let lines = [
        "vat inspect bake/clip.vat.json",
        "run bake/clip.glb -g play.json --frames 0 -o out.npz",
    ];
    let ends = |what: &str| {
        for line in lines {
            let begun = Instant::now();
            let found = bounded(&place, line);
            let (said, code) = (said(&found), found.status.code());
            assert!(
                code.is_some_and(|c| [0, 3, 4].contains(&c)) && !said.contains("panicked"),
                "{what}: {line}: {code:?}: {said}"
            );
            assert!(
                begun.elapsed() < Duration::from_secs(SECONDS),
                "{what}: {line}"
            );
        }
    };
    let text = place.text("bake/clip.vat.json");
    let whole: Value = serde_json::from_str(&text).expect("JSON");
    let mut places = Vec::new();
    leaves(&whole, String::new(), &mut places);
    assert!(places.len() > 20, "{places:?}");
    let others = [
        json!(0),
        json!(4_294_967_295_u64),
        json!(1e300),
        json!("../clip"),
    ];
    for (i, at) in places.iter().enumerate() {
        let mut changed = whole.clone();
        let value = changed.pointer_mut(at).expect("found there");
        *value = others[i % others.len()].clone();
        place.put("bake/clip.vat.json", &changed.to_string());
        ends(at);
    }
    place.put("bake/clip.vat.json", &text);
    for file in place.files_of("bake") {
        if file.ends_with(".png") {
            for side in [65_535, 1 << 30] {
                std::fs::write(place.path(&file), claiming(side)).expect("written");
                ends(&file);
            }
        }
    }
}

/// Pointers to all values of a document that hold no others.
fn leaves(value: &Value, at: String, out: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                leaves(item, format!("{at}/{i}"), out);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                leaves(
                    member,
                    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")),
                    out,
                );
            }
        }
        _ => out.push(at),
    }
}

/// Names are text in reports, whatever they look like.
#[test]
fn names_are_no_markup_in_reports() {
    let place = Place::new();
    renamed_arm(&place, "<script>alert(1)</script>", "x.glb");
    for line in [
        "bake vat x.glb --frames 0-3 -g skin.json -o bake",
        "bake skin x.glb -g skin.json -o again.glb --report report",
    ] {
        let found = bounded(&place, line);
        assert!(found.status.success(), "{line}: {}", said(&found));
    }
    let mut seen = 0;
    for folder in ["bake", "report"] {
        for file in place.files_of(folder) {
            if file.ends_with(".html") {
                let page = place.text(&file);
                assert!(!page.contains("<script>alert"), "{file}");
                seen += page.matches("&lt;script&gt;alert").count();
            }
        }
    }
    assert!(seen > 0, "reports name what they are of");
}

/// Clips end where a file says, also beyond any number of a frame.
#[test]
fn clips_that_end_after_all_times_are_refused() {
    let p = Place::new();
    p.put("skin.json", SKIN);
    let made = p.sinew(&[
        "bake",
        "skin",
        "sample:arm",
        "-g",
        "skin.json",
        "-o",
        "arm.glb",
    ]);
    assert!(made.status.success(), "{}", said(&made));
    let arm = std::fs::read(p.path("arm.glb")).expect("read");
    let length = u32::from_le_bytes(arm[12..16].try_into().expect("a word")) as usize;
    let document: serde_json::Value = serde_json::from_slice(&arm[20..20 + length]).expect("JSON");
    let sampler = &document["animations"][0]["samplers"][0];
    let accessor = &document["accessors"][sampler["input"].as_u64().expect("times") as usize];
    let view = &document["bufferViews"][accessor["bufferView"].as_u64().expect("a view") as usize];
    let number = |of: &serde_json::Value, name: &str| of[name].as_u64().unwrap_or(0) as usize;
    let begin = 20 + length + 8 + number(view, "byteOffset") + number(accessor, "byteOffset");
    let last = begin + 4 * (number(accessor, "count") - 1);
    for end in [1e5_f32, 2e17, 1e18, 3e38] {
        let mut far = arm.clone();
        far[last..last + 4].copy_from_slice(&end.to_le_bytes());
        std::fs::write(p.path("far.glb"), far).expect("written");
        for file in ["far.npz", "far.obj", "far.pc2"] {
            let found = p.sinew(&["run", "far.glb", "-g", "skin.json", "-o", file]);
            assert_eq!(found.status.code(), Some(2), "{file}: {}", said(&found));
            assert!(said(&found).contains("expected 1 to 1000000 frames"));
        }
    }
}

/// A weight for each frame at each time: so many frames no GLB file holds, which is known before the first.
#[test]
fn frames_that_no_glb_file_holds_are_refused_at_once() {
    let p = Place::new();
    let line = [
        "run",
        "square.obj",
        "-g",
        "shift.json",
        "--frames",
        "0-60000",
    ];
    let found = p.sinew(&[&line[..], &["-o", "x.glb"]].concat());
    assert_eq!(found.status.code(), Some(6), "{}", said(&found));
    assert!(
        said(&found).contains("a GLB file holds less than 4 GiB"),
        "{}",
        said(&found)
    );
    let found = p.sinew(&[&line[..], &["-o", "x.pc2"]].concat());
    assert!(found.status.success(), "{}", said(&found));
}
