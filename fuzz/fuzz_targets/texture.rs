//! Textures that hold data: PNG and EXR, whole and some rows.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew::io::texture::{Texture, parse_texture, parse_texture_rows};
use sinew_fuzz::memory::{Counting, MIB, limited};
use std::path::Path;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What one byte may ask for: Deflate makes 1,032 of it, and halves become floats; blocks are unpacked once more beside them.
const PER_BYTE: usize = 8 * 1_032;

fn check(texture: &Texture) {
    let count = texture.width * texture.height * texture.channels.len();
    assert_eq!(texture.texels.len(), count);
}

fuzz_target!(|data: &[u8]| {
    let path = Path::new("fuzz.tex");
    limited(data.len(), 64 * MIB, PER_BYTE, || {
        match parse_texture(data, path) {
            Ok(whole) => {
                check(&whole);
                let rows = whole.height / 3..whole.height / 3 + whole.height.div_ceil(4);
                let part =
                    parse_texture_rows(data, rows.clone(), path).expect("rows of a whole texture");
                check(&part);
                assert_eq!((part.width, part.height), (whole.width, rows.len()));
                assert_eq!(part.channels, whole.channels);
            }
            Err(error) => assert!(error.to_string().contains("fuzz.tex"), "{error}"),
        }
    });
});
