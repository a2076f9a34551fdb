//! `sinew convert`: the file that it writes plays as its source.

use crate::common::sequences::ended;
use crate::common::{Place, SKIN};
use std::path::Path;

/// Positions of frames 0, 5 and 10 as `sinew run` writes them.
fn played(p: &Place, character: &str, name: &str, graph: &[&str]) -> Vec<u8> {
    let run = ["run", character, "--frames", "0-10/5", "-o", name];
    ended(&p.sinew(&[&run[..], graph].concat()), 0, "wrote");
    std::fs::read(p.path(name)).expect("there")
}

fn floats(pc2: &[u8]) -> Vec<f32> {
    let numbers = pc2[32..].as_chunks::<4>().0.iter();
    numbers.map(|b| f32::from_le_bytes(*b)).collect()
}

#[test]
fn samples_play_as_their_glb() {
    let p = Place::new();
    for name in ["arm", "creature", "ball", "head"] {
        let sample = format!("sample:{name}");
        let glb = format!("{name}.glb");
        ended(&p.sinew(&["convert", &sample, "-o", &glb]), 0, "wrote");
        let before = floats(&played(&p, &sample, "a.pc2", &[]));
        let after = floats(&played(&p, &glb, "b.pc2", &[]));
        assert_eq!(before.len(), after.len(), "{name}");
        let size = before.iter().fold(0.0_f32, |m, c| m.max(c.abs()));
        let far = before.iter().zip(&after).map(|(a, b)| (a - b).abs());
        let far = far.fold(0.0_f32, f32::max);
        assert!(far <= 1e-6 * size, "{name}: {far} of {size}");
        let rest = |path: &Path| sinew::io::read_any(path).expect("reads").asset;
        let again = rest(&p.path(&glb));
        let made = match name {
            "arm" => sinew_samples::arm_with_hand(),
            "creature" => sinew_samples::creature(),
            "ball" => sinew_samples::ball(),
            _ => sinew_samples::head(),
        };
        let made = made.expect("a sample");
        for (a, b) in made.meshes.iter().zip(&again.meshes) {
            assert!(a.positions == b.positions, "{name}: rest positions");
            assert!(a.uvs == b.uvs && a.colors == b.colors, "{name}");
            assert!(a.attributes == b.attributes, "{name}");
            assert!(a.topology == b.topology, "{name}");
        }
    }
}

#[test]
fn shared_characters_play_to_the_bit() {
    let Some(data) = sinew_testkit::shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    let p = Place::new();
    p.put("skin.json", SKIN);
    for folder in ["characters", "morph", "psd"] {
        for entry in std::fs::read_dir(data.join(folder)).expect("there") {
            let path = entry.expect("there").path();
            let ending = path.extension().unwrap_or_default();
            if ending != "glb" && ending != "gltf" {
                continue;
            }
            let file = path.to_str().expect("UTF-8");
            let out = p.sinew(&["convert", file, "-o", "packed.glb"]);
            ended(&out, 0, "wrote packed.glb");
            let before = played(&p, file, "a.pc2", &["-g", "skin.json"]);
            let after = played(&p, "packed.glb", "b.pc2", &["-g", "skin.json"]);
            assert!(before == after, "{file}");
        }
    }
}

#[test]
fn wrong_outputs_and_sequences_are_told() {
    let p = Place::new();
    let expected = "a.gltf: expected a file that ends in .glb";
    ended(
        &p.sinew(&["convert", "square.obj", "-o", "a.gltf"]),
        2,
        expected,
    );
    let expected = "a.vrm: square.obj has no VRM data; write a .glb file";
    ended(
        &p.sinew(&["convert", "square.obj", "-o", "a.vrm"]),
        2,
        expected,
    );
    std::fs::copy(p.path("square.obj"), p.path("s_0001.obj")).expect("copied");
    let expected = "use `sinew run s_####.obj -o a.glb`";
    ended(
        &p.sinew(&["convert", "s_####.obj", "-o", "a.glb"]),
        2,
        expected,
    );
    ended(
        &p.sinew(&["convert", "square.obj", "-o", "a.glb"]),
        0,
        "wrote a.glb",
    );
    let asset = sinew::io::read_any(&p.path("a.glb")).expect("reads").asset;
    assert_eq!(asset.meshes[0].vertex_count(), 4);
}
