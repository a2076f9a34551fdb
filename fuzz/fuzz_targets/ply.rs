//! Stanford PLY reading: text and both binary orders.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew::io::ply::parse_ply;
use sinew::io::turn_z_up_to_y_up;
use sinew_fuzz::invariants::{check_asset, check_mesh};
use sinew_fuzz::memory::{Counting, MIB, limited};
use std::path::Path;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|data: &[u8]| {
    limited(data.len(), 16 * MIB, 512, || {
        match parse_ply(data, Path::new("fuzz.ply")) {
            Ok(mut asset) => {
                check_asset(&asset);
                for mesh in &mut asset.meshes {
                    turn_z_up_to_y_up(mesh);
                    check_mesh(mesh);
                }
            }
            Err(error) => assert!(!error.to_string().is_empty(), "errors say something"),
        }
    });
});
