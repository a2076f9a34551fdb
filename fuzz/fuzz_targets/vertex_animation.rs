//! Manifests of vertex animation textures: what passes the check can be asked for every texel.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew::io::vertex_animation::parse_manifest;
use sinew::vat::animation::VertexAnimation;
use sinew_fuzz::memory::{Counting, MIB, limited};
use std::path::Path;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A few names and numbers for each byte of text.
const PER_BYTE: usize = 256;
/// Texels of larger bakes are not made up.
const LARGEST: u64 = 1 << 10;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    limited(data.len(), 16 * MIB, PER_BYTE, || {
        let path = Path::new("fuzz.vat.json");
        let manifest = match parse_manifest(text, path) {
            Ok(manifest) => manifest,
            Err(error) => {
                assert!(error.to_string().contains("fuzz.vat.json"), "{error}");
                return;
            }
        };
        if manifest.check().is_err() || manifest.layout.texels() > LARGEST {
            return;
        }
        let (layout, textures) = (manifest.layout, manifest.textures.len().min(8));
        let bytes = |spec: &sinew::vat::texture::TextureSpec| {
            vec![0x55; layout.texels() as usize * spec.vertex_bytes()]
        };
        let texels = manifest.textures.iter().map(|t| bytes(&t.spec)).collect();
        let made = VertexAnimation::new(manifest, texels).expect("checked, and of that size");
        for texture in 0..textures {
            for frame in [0, layout.frames - 1] {
                made.value(texture, layout.vertices - 1, frame, 0);
            }
        }
    });
});
