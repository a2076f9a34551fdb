mod damage;
mod outside;

use super::*;
use half::f16;
use proptest::prelude::*;
use std::path::PathBuf;

const FORMATS: [TextureFormat; 6] = [
    TextureFormat::Png8,
    TextureFormat::Png16,
    TextureFormat::ExrHalf(ExrCompression::None),
    TextureFormat::ExrHalf(ExrCompression::Zip),
    TextureFormat::ExrFloat(ExrCompression::None),
    TextureFormat::ExrFloat(ExrCompression::Zip),
];
const CHANNELS: [TextureChannels<'static>; 3] = [
    TextureChannels::Grey,
    TextureChannels::Rgb,
    TextureChannels::Rgba,
];

fn is_png(format: TextureFormat) -> bool {
    matches!(format, TextureFormat::Png8 | TextureFormat::Png16)
}

fn file_name(format: TextureFormat) -> &'static str {
    if is_png(format) {
        "texture.png"
    } else {
        "texture.exr"
    }
}

/// The numbers that come back for these bits: codes, floats, or floats that a half can hold.
fn numbers(format: TextureFormat, bits: &[u32]) -> Texels {
    let half = |b: &u32| f16::from_bits((b >> 16) as u16).to_f32_const();
    match format {
        TextureFormat::Png8 => Texels::Codes8(bits.iter().map(|b| (b >> 24) as u8).collect()),
        TextureFormat::Png16 => Texels::Codes16(bits.iter().map(|b| (b >> 16) as u16).collect()),
        TextureFormat::ExrHalf(_) => Texels::Floats(bits.iter().map(half).collect()),
        TextureFormat::ExrFloat(_) => {
            Texels::Floats(bits.iter().map(|&b| f32::from_bits(b)).collect())
        }
    }
}

/// Bytes of the numbers, so that NaN and -0 compare as they should.
fn bytes_of(texels: &Texels) -> Vec<u8> {
    match texels {
        Texels::Codes8(codes) => codes.clone(),
        Texels::Codes16(codes) => codes.iter().flat_map(|n| n.to_le_bytes()).collect(),
        Texels::Floats(floats) => floats.iter().flat_map(|n| n.to_le_bytes()).collect(),
    }
}

fn put_rows(writer: &mut TextureWriter, texels: &Texels, row: usize) -> Result<(), IoError> {
    match texels {
        Texels::Codes8(codes) => codes.chunks(row).try_for_each(|r| writer.write_row(r)),
        Texels::Codes16(codes) => codes.chunks(row).try_for_each(|r| writer.write_row(r)),
        Texels::Floats(floats) => floats.chunks(row).try_for_each(|r| writer.write_row(r)),
    }
}

fn write(
    path: &Path,
    format: TextureFormat,
    size: [usize; 2],
    channels: TextureChannels<'_>,
    texels: &Texels,
) -> Result<(), IoError> {
    let mut writer = TextureWriter::create(path, format, size[0], size[1], channels)?;
    put_rows(&mut writer, texels, size[0] * channels.names().len())?;
    writer.finish()
}

/// Bits without pattern, the same each time.
fn noise(count: usize, seed: u32) -> Vec<u32> {
    let step = |state: &mut u32| {
        *state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = ((*state >> ((*state >> 28) + 4)) ^ *state).wrapping_mul(277_803_737);
        Some((word >> 22) ^ word)
    };
    std::iter::repeat_n((), count)
        .scan(seed, |state, ()| step(state))
        .collect()
}

/// A file of noise, and what must be read from it.
fn sample(
    format: TextureFormat,
    size: [usize; 2],
    channels: TextureChannels<'_>,
) -> (Vec<u8>, Texels) {
    let texels = numbers(
        format,
        &quiet(noise(size[0] * size[1] * channels.names().len(), 5)),
    );
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join(file_name(format));
    write(&path, format, size, channels, &texels).expect("written");
    (std::fs::read(path).expect("there"), texels)
}

/// Signalling NaN become quiet on their way through a half; all else must come back.
fn quiet(mut bits: Vec<u32>) -> Vec<u32> {
    for b in &mut bits {
        let is_nan = *b >> 26 & 0x1f == 0x1f && *b >> 16 & 0x3ff != 0;
        *b |= u32::from(is_nan) << 25;
    }
    bits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn numbers_come_back_bit_for_bit(
        format in proptest::sample::select(&FORMATS[..]),
        channels in proptest::sample::select(&CHANNELS[..]),
        size in [1_usize..40, 1_usize..40],
        seed in any::<u32>(),
        constant in any::<bool>(),
    ) {
        let count = size[0] * size[1] * channels.names().len();
        let bits = if constant { vec![seed; count] } else { noise(count, seed) };
        let texels = numbers(format, &quiet(bits));
        let dir = tempfile::tempdir().expect("temp");
        let path = dir.path().join(file_name(format));
        write(&path, format, size, channels, &texels).expect("written");
        let read = read_texture(&path).expect("read");
        prop_assert_eq!([read.width, read.height], size);
        prop_assert_eq!(read.channels, channels.names());
        prop_assert_eq!(bytes_of(&read.texels), bytes_of(&texels));
    }

    #[test]
    fn some_rows_are_those_of_the_whole(
        format in proptest::sample::select(&FORMATS[..]),
        rows in (0_usize..=37).prop_flat_map(|start| (Just(start), start..=37)),
    ) {
        let (file, texels) = sample(format, [5, 37], TextureChannels::Rgb);
        let (start, end) = rows;
        let part = parse_texture_rows(&file, start..end, Path::new("x")).expect("read");
        prop_assert_eq!((part.width, part.height), (5, end - start));
        let all = bytes_of(&texels);
        let row = all.len() / 37;
        prop_assert_eq!(&bytes_of(&part.texels)[..], &all[start * row..end * row]);
    }
}

#[test]
fn extremes_come_back() {
    let floats = [
        0.0,
        -0.0,
        f32::MIN_POSITIVE,
        1e-45,
        -1e-45,
        f32::MAX,
        f32::MIN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::from_bits(0x7f80_0001),
        f32::from_bits(0xffff_ffff),
    ];
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("a.exr");
    for compression in [ExrCompression::None, ExrCompression::Zip] {
        let format = TextureFormat::ExrFloat(compression);
        let texels = Texels::Floats(floats.to_vec());
        write(&path, format, [4, 1], TextureChannels::Rgb, &texels).expect("written");
        let read = read_texture(&path).expect("read");
        assert_eq!(bytes_of(&read.texels), bytes_of(&texels));
        assert_eq!(read.bits, 32);
    }
    let path = dir.path().join("a.png");
    for texels in [
        Texels::Codes8(vec![0, 1, 127, 128, 254, 255]),
        Texels::Codes16(vec![0, 1, 255, 256, 65_534, 65_535]),
    ] {
        let is_8 = matches!(texels, Texels::Codes8(_));
        let format = if is_8 {
            TextureFormat::Png8
        } else {
            TextureFormat::Png16
        };
        write(&path, format, [3, 2], TextureChannels::Grey, &texels).expect("written");
        assert_eq!(read_texture(&path).expect("read").texels, texels);
    }
}

/// Values and the halves next to them: the nearest, the even one of two that are as near.
#[test]
fn halves_are_rounded_to_the_nearest_even() {
    let step = 1.0 / 1024.0;
    let cases = [
        (1.0 + step / 2.0, 0x3c00),
        (1.0 + step * 1.5, 0x3c02),
        (1.0 + step * 0.500_1, 0x3c01),
        (-1.0 - step / 2.0, 0xbc00),
        (-0.0, 0x8000),
        (65_504.0, 0x7bff),
        (65_519.996, 0x7bff),
        (65_520.0, 0x7c00),
        (-1e9, 0xfc00),
        (5.960_464_5e-8, 0x0001),
        (2.980_232_2e-8, 0x0000),
        (2.980_233e-8, 0x0001),
        (6.097_555e-5, 0x03ff),
        (f32::INFINITY, 0x7c00),
    ];
    let row: Vec<f32> = cases.iter().map(|c| c.0).collect();
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("a.exr");
    let format = TextureFormat::ExrHalf(ExrCompression::Zip);
    let texels = Texels::Floats(row.clone());
    write(
        &path,
        format,
        [row.len(), 1],
        TextureChannels::Grey,
        &texels,
    )
    .expect("written");
    let read = read_texture(&path).expect("read");
    assert_eq!(read.bits, 16);
    let Texels::Floats(found) = read.texels else {
        panic!("an EXR")
    };
    for ((value, bits), found) in cases.iter().zip(found) {
        let expected = f16::from_bits(*bits).to_f32_const();
        assert_eq!(found.to_bits(), expected.to_bits(), "{value}");
    }
}

#[test]
fn every_half_comes_back() {
    let all: Vec<u32> = (0..=u16::MAX).map(|half| u32::from(half) << 16).collect();
    let format = TextureFormat::ExrHalf(ExrCompression::Zip);
    let texels = numbers(format, &quiet(all));
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("a.exr");
    write(&path, format, [256, 256], TextureChannels::Grey, &texels).expect("written");
    let read = read_texture(&path).expect("read");
    assert_eq!(bytes_of(&read.texels), bytes_of(&texels));
}

#[test]
fn named_channels_are_sorted_in_the_file() {
    let names = ["speed", "A", "R", "pivot.x"];
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("a.exr");
    let texels = Texels::Floats((0..8_u8).map(f32::from).collect());
    let format = TextureFormat::ExrFloat(ExrCompression::None);
    write(
        &path,
        format,
        [2, 1],
        TextureChannels::Named(&names),
        &texels,
    )
    .expect("written");
    let read = read_texture(&path).expect("read");
    assert_eq!(read.channels, ["A", "R", "pivot.x", "speed"]);
    assert_eq!(
        read.texels,
        Texels::Floats(vec![1.0, 2.0, 3.0, 0.0, 5.0, 6.0, 7.0, 4.0])
    );
    // Alone, the usual ones come in their usual order, however they were written.
    let usual = TextureChannels::Named(&["A", "Y"]);
    write(&path, format, [4, 1], usual, &texels).expect("written");
    let read = read_texture(&path).expect("read");
    assert_eq!(read.channels, ["Y", "A"]);
    assert_eq!(
        read.texels,
        Texels::Floats(vec![1.0, 0.0, 3.0, 2.0, 5.0, 4.0, 7.0, 6.0])
    );
}

#[test]
fn equal_rows_give_equal_bytes_and_png_says_nothing_of_colour() {
    for format in FORMATS {
        let (file, _) = sample(format, [33, 40], TextureChannels::Rgba);
        assert_eq!(
            file,
            sample(format, [33, 40], TextureChannels::Rgba).0,
            "{format:?}"
        );
        if is_png(format) {
            let mut rest = &file[8..];
            while let [a, b, c, d, name @ ..] = rest {
                let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
                let name = &name[..4];
                assert!(
                    [b"IHDR", b"IDAT", b"IEND"].iter().any(|n| *n == name),
                    "{name:?}"
                );
                rest = &rest[12 + length..];
            }
        }
    }
}

#[test]
fn a_file_appears_whole_or_not_at_all() {
    let dir = tempfile::tempdir().expect("temp");
    let count = || std::fs::read_dir(dir.path()).expect("folder").count();
    for format in FORMATS {
        let path = dir.path().join(file_name(format));
        std::fs::write(&path, b"old").expect("write");
        let before = count();
        let create =
            || TextureWriter::create(&path, format, 2, 3, TextureChannels::Grey).expect("made");
        let texels = numbers(format, &noise(4, 1));
        let mut short = create();
        put_rows(&mut short, &texels, 2).expect("two rows");
        let error = short.finish().expect_err("a row is missing").to_string();
        assert!(error.contains("found 2 rows, expected 3 rows"), "{error}");
        put_rows(&mut create(), &texels, 2).expect("two rows");
        assert_eq!(std::fs::read(&path).expect("there"), b"old");
        assert_eq!(count(), before);
    }
}

#[test]
fn rows_that_do_not_fit_are_refused_and_change_nothing() {
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("a.png");
    let mut writer = TextureWriter::create(&path, TextureFormat::Png16, 2, 1, TextureChannels::Rgb)
        .expect("made");
    let mut refused = |row: TexelRow<'_>, what: &str| {
        let error = writer.write_row(row).expect_err(what).to_string();
        assert!(
            error.contains("a.png: row ") && error.contains(what),
            "{error}"
        );
    };
    refused(TexelRow::Codes8(&[0; 6]), "found 8-bit codes");
    refused(TexelRow::Floats(&[0.0; 6]), "found floats");
    refused(TexelRow::Codes16(&[0; 5]), "found 5 numbers, expected 6");
    writer.write_row(&[1_u16, 2, 3, 4, 5, 6][..]).expect("fits");
    let error = writer
        .write_row(&[0_u16; 6][..])
        .expect_err("too many")
        .to_string();
    assert!(
        error.contains("row 1: found one more row, expected 1 rows"),
        "{error}"
    );
    writer.finish().expect("whole");
    let read = read_texture(&path).expect("read");
    assert_eq!(read.texels, Texels::Codes16(vec![1, 2, 3, 4, 5, 6]));
}

#[test]
fn sizes_and_channels_that_a_format_does_not_have_are_refused() {
    let dir = tempfile::tempdir().expect("temp");
    let path: PathBuf = dir.path().join("a");
    let exr = TextureFormat::ExrFloat(ExrCompression::Zip);
    let refused = |format, width, height, channels| {
        let made = TextureWriter::create(&path, format, width, height, channels);
        assert!(
            matches!(made, Err(IoError::Unsupported { .. })),
            "{width} {height} {channels:?}"
        );
    };
    for format in FORMATS {
        refused(format, 0, 1, TextureChannels::Rgb);
        refused(format, 1, 0, TextureChannels::Rgb);
        refused(format, usize::MAX, 1, TextureChannels::Rgb);
        refused(format, 1 << 30, 1, TextureChannels::Rgb);
        refused(format, 1, 1 << 31, TextureChannels::Rgb);
    }
    refused(TextureFormat::Png8, 1, 1, TextureChannels::Named(&["R"]));
    let long = "n".repeat(32);
    for names in [&[][..], &[""], &["a", "a"], &["\u{e4}"], &["a\n"], &[&long]] {
        refused(exr, 1, 1, TextureChannels::Named(names));
    }
    assert_eq!(std::fs::read_dir(dir.path()).expect("folder").count(), 0);
    let file = dir.path().join("file");
    std::fs::write(&file, b"").expect("written");
    let missing = file.join("none").join("a.exr");
    let made = TextureWriter::create(&missing, exr, 1, 1, TextureChannels::Grey);
    assert!(matches!(made, Err(IoError::Write { .. })));
}
