//! Decoding of textures: PNG and JPEG.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew::geom::{EncodedImage, ImageFormat};
use sinew::io::decode_image;
use sinew::io::picture::{LARGEST_BYTES, LARGEST_SIDE};
use sinew_fuzz::memory::{Counting, MIB, limited};
use std::path::Path;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What is allowed in all, and what a decoder needs beside the pixels.
const MOST: usize = LARGEST_BYTES as usize + 64 * MIB;

fuzz_target!(|data: &[u8]| {
    for format in [ImageFormat::Png, ImageFormat::Jpeg] {
        let image = EncodedImage {
            name: "texture".into(),
            format,
            bytes: data.to_vec(),
        };
        limited(data.len(), MOST, 512, || {
            match decode_image(&image, Path::new("fuzz.glb")) {
                Ok(image) => {
                    let side = LARGEST_SIDE as usize;
                    assert!(image.width() <= side && image.height() <= side);
                    assert_eq!(image.pixels().len(), image.width() * image.height());
                }
                Err(error) => assert!(error.to_string().contains("texture"), "{error}"),
            }
        });
    }
});
