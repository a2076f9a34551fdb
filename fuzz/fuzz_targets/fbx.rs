//! FBX reading: the records, what the library makes of them, the document.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew::io::read_fbx_bytes;
use sinew_fuzz::invariants::check_asset;
use sinew_fuzz::memory::{Counting, MIB, limited};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|data: &[u8]| {
    // The library in C has a limit of its own, as large as this one.
    limited(data.len(), 512 * MIB, 8192, || {
        match read_fbx_bytes(data, None, "fuzz.fbx") {
            Ok(file) => {
                check_asset(&file.asset);
                assert_eq!(
                    file.document.node_of_mesh.len(),
                    file.asset.meshes.len(),
                    "every mesh has its node"
                );
            }
            Err(error) => assert!(!error.to_string().is_empty(), "errors say something"),
        }
    });
});
