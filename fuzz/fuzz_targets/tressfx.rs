//! TressFX's hair files: strands, bones, collision meshes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew::io::tressfx::{parse_tfx, parse_tfx_bones, parse_tfx_mesh};
use sinew_fuzz::invariants::check_asset;
use sinew_fuzz::memory::{Counting, MIB, limited};
use std::path::Path;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|data: &[u8]| {
    limited(data.len(), 16 * MIB, 512, || {
        let path = Path::new("fuzz.tfx");
        if let Ok(strands) = parse_tfx(data, path) {
            let each = strands.vertices_per_strand;
            assert_eq!(strands.vertices.len(), strands.strand_count() * each);
            assert!(
                strands.vertices.len() * 16 <= data.len(),
                "every vertex was in the file"
            );
            assert!(strands.vertices.iter().flatten().all(|n| n.is_finite()));
        }
        if let Ok(bones) = parse_tfx_bones(data, path) {
            assert!(
                bones.strands.len() * 36 <= data.len(),
                "every strand was in the file"
            );
            let influences = bones.influences().expect("checked by the reader");
            assert_eq!(influences.vertex_count(), bones.strands.len());
        }
        match parse_tfx_mesh(data, path) {
            Ok(asset) => check_asset(&asset),
            Err(error) => assert!(!error.to_string().is_empty(), "errors say something"),
        }
    });
});
