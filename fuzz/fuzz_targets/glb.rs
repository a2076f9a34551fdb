//! glTF and GLB reading: accessors, compression, quantisation, skins, morph targets, clips.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use sinew::io::gltf_write::read_glb_chunks;
use sinew::io::read_gltf_bytes;
use sinew_fuzz::invariants::check_asset;
use sinew_fuzz::memory::{Counting, MIB, limited};
use sinew_fuzz::mutate::{self, Glb, Random};
use std::path::Path;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|data: &[u8]| {
    limited(data.len(), 512 * MIB, 8192, || {
        let _ = read_glb_chunks(data, Path::new("fuzz.glb"));
        // External files are refused without a folder.
        match read_gltf_bytes(data.to_vec(), None, "fuzz.glb") {
            Ok(file) => {
                check_asset(&file.asset);
                check_document(&file);
            }
            Err(error) => assert!(!error.to_string().is_empty(), "errors say something"),
        }
    });
});

fn check_document(file: &sinew::io::GltfFile) {
    let (document, asset) = (&file.document, &file.asset);
    let nodes = asset.rig.nodes().len();
    assert!(
        document.rig_node_of_node.iter().all(|&n| n < nodes),
        "nodes of the file are nodes of the rig"
    );
    assert_eq!(
        document.node_of_mesh.len(),
        asset.meshes.len(),
        "every mesh has its node"
    );
    for &node in &document.node_of_mesh {
        assert!(node < document.rig_node_of_node.len(), "nodes exist");
    }
    for joints in &document.joints_of_skin {
        assert!(
            joints.end <= asset.rig.joints().len(),
            "joints of skins exist"
        );
    }
    for buffer in document.buffers.iter().flatten() {
        let _ = buffer.bytes();
    }
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random::new(seed);
    let glb = Glb::parse(&data[..size]);
    let new = match (random.below(10), glb) {
        (0, _) | (_, None) => return fuzzer_mutate(data, size, max_size),
        (1..=6, Some(mut glb)) => match serde_json::from_slice(&glb.json) {
            Ok(mut root) => {
                for _ in 0..=random.below(3) {
                    mutate::json(&mut root, &mut random);
                }
                glb.json = root.to_string().into_bytes();
                glb.bytes()
            }
            Err(_) => return fuzzer_mutate(data, size, max_size),
        },
        (7, Some(mut glb)) => {
            glb.json = mutate::part(&glb.json, glb.json.len() + 64, fuzzer_mutate);
            glb.bytes()
        }
        (_, Some(mut glb)) => {
            let bin = glb.bin.unwrap_or_default();
            glb.bin = Some(mutate::part(&bin, bin.len() + 64, fuzzer_mutate));
            glb.bytes()
        }
    };
    mutate::store(data, max_size, &new).unwrap_or(size)
});
