//! Files that are wrong: cut off, damaged, lying about their size, of a kind that is not read.

use super::*;
use exr::prelude as e;
use exr::prelude::WritableImage;
use std::io::Cursor;

const PATH: &str = "x.tex";

fn parse(bytes: &[u8]) -> Result<Texture, IoError> {
    parse_texture(bytes, Path::new(PATH))
}

/// One EXR of another writer: tiles, resolutions, compressions that ours does not write.
fn foreign(compression: e::Compression, blocks: e::Blocks) -> Vec<u8> {
    let numbers = |at: e::Vec2<usize>| {
        let [x, y] = [at.x() as f32, at.y() as f32];
        (x / 7.0, (y * 0.5).floor(), e::f16::from_f32(x * y))
    };
    let channels = e::SpecificChannels::rgb(numbers);
    let encoding = e::Encoding {
        compression,
        blocks,
        line_order: e::LineOrder::Increasing,
    };
    let attributes = e::LayerAttributes::default();
    let layer = e::Layer::new((11, 9), attributes, encoding, channels);
    let mut bytes = Vec::new();
    let image = e::Image::from_layer(layer);
    image
        .write()
        .non_parallel()
        .to_buffered(Cursor::new(&mut bytes))
        .expect("written");
    bytes
}

const LOSSLESS: [e::Compression; 5] = [
    e::Compression::Uncompressed,
    e::Compression::RLE,
    e::Compression::ZIP1,
    e::Compression::ZIP16,
    e::Compression::PIZ,
];
const BLOCKS: [e::Blocks; 2] = [e::Blocks::ScanLines, e::Blocks::Tiles(e::Vec2(4, 5))];

/// Small files of every kind that is read.
fn files() -> Vec<Vec<u8>> {
    let own = FORMATS
        .iter()
        .flat_map(|&format| CHANNELS.map(|channels| sample(format, [3, 4], channels).0));
    let foreign = BLOCKS
        .iter()
        .flat_map(|&blocks| LOSSLESS.map(|packing| foreign(packing, blocks)));
    own.chain(foreign).collect()
}

#[test]
fn blocks_of_other_writers_are_read() {
    for blocks in BLOCKS {
        for packing in LOSSLESS {
            let read = parse(&foreign(packing, blocks)).expect("read");
            assert_eq!((read.width, read.height, read.bits), (11, 9, 32));
            assert_eq!(read.channels, ["R", "G", "B"]);
            let Texels::Floats(found) = read.texels else {
                panic!("an EXR")
            };
            for (index, texel) in found.chunks(3).enumerate() {
                let [x, y] = [(index % 11) as f32, (index / 11) as f32];
                assert_eq!(
                    texel,
                    [x / 7.0, (y * 0.5).floor(), x * y],
                    "{packing:?} {blocks:?}"
                );
            }
        }
    }
}

/// One channel in every resolution, halved in both directions or in each alone; numbers of level `k` begin at `1000 k`.
fn with_levels(is_rip: bool) -> Vec<u8> {
    let [widths, heights] = [[11, 5, 2, 1], [9, 4, 2, 1]];
    let size = |k: usize| match is_rip {
        true => widths[k % 4] * heights[k / 4],
        false => widths[k] * heights[k],
    };
    let level = |k: usize| (0..size(k)).map(|i| (1000 * k + i) as f32).collect();
    let levels = |count: usize| (0..count).map(|k| e::FlatSamples::F32(level(k))).collect();
    let rounding_mode = exr::math::RoundingMode::Down;
    let samples = match is_rip {
        true => e::Levels::Rip {
            rounding_mode,
            level_data: e::RipMaps {
                map_data: levels(16),
                level_count: e::Vec2(4, 4),
            },
        },
        false => e::Levels::Mip {
            rounding_mode,
            level_data: levels(4),
        },
    };
    let channel = e::AnyChannel::new("Y", samples);
    let channels = e::AnyChannels::sort(std::iter::once(channel).collect());
    let encoding = e::Encoding {
        compression: e::Compression::ZIP16,
        blocks: e::Blocks::Tiles(e::Vec2(4, 5)),
        line_order: e::LineOrder::Increasing,
    };
    let attributes = e::LayerAttributes::default();
    let layer = e::Layer::new((11, 9), attributes, encoding, channels);
    let mut bytes = Vec::new();
    let image = e::Image::from_layer(layer);
    let file = Cursor::new(&mut bytes);
    image
        .write()
        .non_parallel()
        .to_buffered(file)
        .expect("written");
    bytes
}

#[test]
fn of_several_resolutions_the_finest_is_read() {
    for is_rip in [false, true] {
        let read = parse(&with_levels(is_rip)).expect("read");
        assert_eq!((read.width, read.height), (11, 9));
        let expected = (0..99_u8).map(f32::from).collect();
        assert_eq!(read.texels, Texels::Floats(expected), "{is_rip}");
    }
}

#[test]
fn truncated_files_are_refused() {
    for file in files() {
        parse(&file).expect("whole");
        for length in 0..file.len() {
            let error = parse(&file[..length]).expect_err("cut off");
            assert!(matches!(error, IoError::Malformed { .. }), "{error}");
            assert!(error.to_string().starts_with(PATH), "{error}");
        }
    }
}

/// What is read at all has the numbers that it says it has.
fn check(bytes: &[u8]) {
    for rows in [None, Some(1..3)] {
        match parse_rows(bytes, rows, Path::new(PATH)) {
            Ok(texture) => {
                let count = texture.width * texture.height * texture.channels.len();
                assert_eq!(texture.texels.len(), count);
            }
            Err(error) => assert!(error.to_string().starts_with(PATH), "{error}"),
        }
    }
}

#[test]
fn no_damaged_byte_panics() {
    for file in files() {
        for position in 0..file.len() {
            let whole = file[position];
            let mut bad = file.clone();
            for byte in [whole ^ 1, whole ^ 0x80, !whole, 0, 0x7f, 0xff] {
                bad[position] = byte;
                check(&bad);
            }
        }
    }
}

#[test]
fn no_damaged_words_panic() {
    for (seed, file) in files().into_iter().enumerate() {
        for (round, bits) in noise(600, seed as u32 + 1).chunks(2).enumerate() {
            let mut bad = file.clone();
            let at = bits[0] as usize % (file.len() - 4);
            let word = match round % 4 {
                0 => bits[1],
                1 => i32::MAX as u32 - (bits[1] & 3),
                2 => i32::MIN as u32 + (bits[1] & 3),
                _ => 0_u32.wrapping_sub(bits[1] & 0xff),
            };
            bad[at..at + 4].copy_from_slice(&word.to_le_bytes());
            check(&bad);
        }
    }
}

/// `file` with the numbers of four bytes after the first `mark` replaced.
fn with_numbers(mut file: Vec<u8>, mark: &[u8], numbers: &[[u8; 4]]) -> Vec<u8> {
    let at = file
        .windows(mark.len())
        .position(|w| w == mark)
        .expect("there")
        + mark.len();
    let bytes = numbers.as_flattened();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    file
}

/// The check sum of a PNG's header, after it was changed.
fn with_sum(mut file: Vec<u8>) -> Vec<u8> {
    let sum = file[12..29].iter().fold(!0_u32, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |s, _| {
            (s >> 1) ^ (0xedb8_8320 * (s & 1))
        })
    });
    file[29..33].copy_from_slice(&(!sum).to_be_bytes());
    file
}

#[test]
fn a_small_file_that_claims_to_be_large_is_refused_before_memory_is_taken() {
    for format in FORMATS {
        let (file, _) = sample(format, [3, 4], TextureChannels::Rgba);
        for size in [60_000, 1_000_000_u32] {
            let file = if is_png(format) {
                with_sum(with_numbers(
                    file.clone(),
                    b"IHDR",
                    &[size.to_be_bytes(); 2],
                ))
            } else {
                let last = (size - 1).to_le_bytes();
                let window = [16_u32.to_le_bytes(), [0; 4], [0; 4], last, last];
                let data = with_numbers(file.clone(), b"dataWindow\0box2i\0", &window);
                with_numbers(data, b"displayWindow\0box2i\0", &window)
            };
            let error = parse(&file).expect_err("a lie").to_string();
            let expected = format!(
                "found {size} x {size} texels of 4 channels, expected a size that a file of {} bytes can contain",
                file.len()
            );
            assert!(error.contains(&expected), "{error}");
        }
    }
}

#[test]
fn other_files_are_refused_by_their_first_bytes() {
    for bytes in [&b""[..], b"\x89PN", b"GIF89a  ", b"v/1"] {
        let error = parse(bytes).expect_err("neither").to_string();
        assert!(error.contains("byte 0: found ["), "{error}");
    }
    let error = read_texture(Path::new("/no/such/a.png")).expect_err("missing");
    assert!(matches!(error, IoError::Read { .. }));
}

#[test]
fn rows_outside_of_the_texture_are_refused() {
    for format in FORMATS {
        let (file, _) = sample(format, [3, 4], TextureChannels::Grey);
        for rows in [0..5, 5..5, Range { start: 3, end: 2 }, 0..usize::MAX] {
            let error = parse_texture_rows(&file, rows, Path::new(PATH)).expect_err("outside");
            assert!(error.to_string().contains("expected at most 4"), "{error}");
        }
    }
}

fn small_png(color: png::ColorType, depth: png::BitDepth) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 2, 2);
    encoder.set_color(color);
    encoder.set_depth(depth);
    encoder.set_palette(vec![0; 6]);
    encoder.set_source_gamma(png::ScaledFloat::new(0.45));
    let mut writer = encoder.write_header().expect("header");
    let samples = color.samples() * 2 * depth as usize;
    writer
        .write_image_data(&vec![1; samples.div_ceil(8) * 2])
        .expect("pixels");
    drop(writer);
    bytes
}

#[test]
fn kinds_of_png() {
    use png::{BitDepth, ColorType};
    for (color, depth, what) in [
        (ColorType::Indexed, BitDepth::Eight, "a palette"),
        (ColorType::Indexed, BitDepth::One, "1 bits"),
        (ColorType::Grayscale, BitDepth::Four, "4 bits"),
    ] {
        let error = parse(&small_png(color, depth)).expect_err(what);
        assert!(matches!(error, IoError::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains(what), "{error}");
    }
    let read = parse(&small_png(ColorType::GrayscaleAlpha, BitDepth::Sixteen)).expect("read");
    assert_eq!(read.channels, ["Y", "A"]);
    assert_eq!(
        read.texels,
        Texels::Codes16(vec![257; 8]),
        "gamma is passed over"
    );
}

#[test]
fn kinds_of_exr() {
    use e::Compression::{B44, DWAA, PXR24};
    for packing in [B44, DWAA(None), PXR24] {
        let error = parse(&foreign(packing, e::Blocks::ScanLines)).expect_err("loses bits");
        assert!(matches!(error, IoError::Unsupported { .. }), "{error}");
    }
    let format = TextureFormat::ExrFloat(ExrCompression::Zip);
    let (file, _) = sample(format, [3, 4], TextureChannels::Grey);
    let window = [16_u32, 0, 0, 9, 9].map(u32::to_le_bytes);
    let cropped = with_numbers(file, b"displayWindow\0box2i\0", &window);
    let error = parse(&cropped).expect_err("cropped").to_string();
    assert!(
        error.contains("data window") && error.contains("save it uncropped"),
        "{error}"
    );
}
