use super::*;
use std::path::PathBuf;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Every alpha, many colours.
fn gradient(width: usize, height: usize) -> Image {
    let pixel = |i: usize| {
        let (x, y) = (i % width * 255 / width, i / width * 255 / height);
        [x as u8, y as u8, (x ^ y) as u8, (255 - y / 2) as u8]
    };
    Image::from_pixels(width, height, (0..width * height).map(pixel).collect())
}

fn encoded(format: ImageFormat, bytes: Vec<u8>) -> EncodedImage {
    EncodedImage {
        name: "skin".into(),
        format,
        bytes,
    }
}

fn decoded(format: ImageFormat, bytes: &[u8]) -> Result<Image, IoError> {
    decode_image(&encoded(format, bytes.to_vec()), Path::new("arm.glb"))
}

fn png_bytes(image: &Image) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_png(&mut bytes, image, Path::new("a.png")).expect("to memory");
    bytes
}

/// A PNG of `width` x `height` pixels as `data` holds them.
fn raw_png(color: png::ColorType, depth: png::BitDepth, size: [u32; 2], data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size[0], size[1]);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if color == png::ColorType::Indexed {
        encoder.set_palette(vec![10, 20, 30, 40, 50, 60]);
        encoder.set_trns(vec![255, 128]);
    }
    let mut writer = encoder.write_header().expect("header");
    writer.write_image_data(data).expect("data");
    writer.finish().expect("end");
    bytes
}

fn jpeg_bytes(image: &Image) -> Vec<u8> {
    let rgb: Vec<u8> = image
        .pixels()
        .iter()
        .flat_map(|p| [p[0], p[1], p[2]])
        .collect();
    raw_jpeg(
        jpeg_encoder::ColorType::Rgb,
        [image.width(), image.height()],
        &rgb,
    )
}

/// A JPEG of `width` x `height` pixels from what `data` holds for them.
fn raw_jpeg(color: jpeg_encoder::ColorType, size: [usize; 2], data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let [width, height] = size.map(|v| v as u16);
    jpeg_encoder::Encoder::new(&mut bytes, 95)
        .encode(data, width, height, color)
        .expect("to memory");
    bytes
}

#[test]
fn png_comes_back_and_replaces_whole_files() {
    let folder = folder();
    let path = folder.path().join("a.png");
    std::fs::write(&path, b"old").expect("writes");
    let image = gradient(37, 21);
    write_png(&path, &image).expect("written");
    assert_eq!(read_png(&path).expect("read"), image);
    let left = std::fs::read_dir(folder.path()).expect("lists").count();
    assert_eq!(left, 1, "no temporary file is left behind");
    let missing = path.join("missing/a.png");
    let error = write_png(&missing, &image).expect_err("a file is no folder");
    assert!(
        matches!(&error, IoError::Write { path, .. } if *path == missing),
        "{error}"
    );
    assert!(matches!(read_png(&missing), Err(IoError::Read { .. })));
}

#[test]
fn images_without_pixels_are_refused_and_leave_the_old_file() {
    let folder = folder();
    for name in ["a.png", "a.apng", "a.gif"] {
        let path = folder.path().join(name);
        std::fs::write(&path, b"old").expect("writes");
        let none = Image::filled(0, 3, [0; 4]);
        for error in [
            write_png(&path, &none).expect_err("no pixels"),
            write_animation(&path, &[none], rate()).expect_err("no pixels"),
        ] {
            assert!(error.to_string().contains("0x3 pixels"), "{error}");
        }
        assert_eq!(std::fs::read(&path).expect("reads"), b"old");
    }
}

/// Colours, bits of each, bytes, the two pixels that they are.
type Case = (png::ColorType, png::BitDepth, &'static [u8], [[u8; 4]; 2]);

#[test]
fn every_kind_of_png_becomes_rgba() {
    use png::{BitDepth, ColorType};
    let cases: [Case; 6] = [
        (
            ColorType::Grayscale,
            BitDepth::Eight,
            &[7, 200],
            [[7, 7, 7, 255], [200, 200, 200, 255]],
        ),
        (
            ColorType::Grayscale,
            BitDepth::One,
            &[0b0100_0000],
            [[0, 0, 0, 255], [255; 4]],
        ),
        (
            ColorType::GrayscaleAlpha,
            BitDepth::Eight,
            &[7, 9, 200, 0],
            [[7, 7, 7, 9], [200, 200, 200, 0]],
        ),
        (
            ColorType::Rgb,
            BitDepth::Sixteen,
            &[255, 255, 128, 128, 0, 0, 1, 1, 2, 2, 3, 3],
            [[255, 128, 0, 255], [1, 2, 3, 255]],
        ),
        (
            ColorType::Rgba,
            BitDepth::Sixteen,
            &[5, 5, 6, 6, 7, 7, 8, 8, 1, 1, 2, 2, 3, 3, 4, 4],
            [[5, 6, 7, 8], [1, 2, 3, 4]],
        ),
        (
            ColorType::Indexed,
            BitDepth::Eight,
            &[1, 0],
            [[40, 50, 60, 128], [10, 20, 30, 255]],
        ),
    ];
    // 16 bits are rounded, not cut off.
    for code in 0..=u16::MAX {
        let exact = f64::from(code) / 257.0;
        assert_eq!(high_bits(code.to_be_bytes()), exact.round() as u8, "{code}");
    }
    for (color, depth, data, expected) in cases {
        let bytes = raw_png(color, depth, [2, 1], data);
        let image = decoded(ImageFormat::Png, &bytes).expect("decodes");
        assert_eq!(image.pixels(), expected, "{color:?} {depth:?}");
    }
}

#[test]
fn jpeg_is_close_and_opaque() {
    let image = Image::filled(24, 16, [200, 120, 40, 255]);
    let back = decoded(ImageFormat::Jpeg, &jpeg_bytes(&image)).expect("decodes");
    assert_eq!((back.width(), back.height()), (24, 16));
    for pixel in back.pixels() {
        assert!(
            (0..4).all(|k| pixel[k].abs_diff(image.pixels()[0][k]) <= 3),
            "{pixel:?}"
        );
    }
}

#[test]
fn jpegs_of_grey_and_of_inks_become_rgb() {
    use jpeg_encoder::ColorType;
    let cases: [(ColorType, &[u8], [u8; 3]); 4] = [
        (ColorType::Luma, &[77], [77; 3]),
        (ColorType::Rgb, &[10, 60, 150], [10, 60, 150]),
        // Light is what an ink and black let through.
        (ColorType::Cmyk, &[0, 128, 204, 55], [200, 100, 40]),
        (ColorType::CmykAsYcck, &[0, 128, 204, 55], [200, 100, 40]),
    ];
    for (color, pixel, expected) in cases {
        let bytes = raw_jpeg(color, [9, 10], &pixel.repeat(90));
        let image = decoded(ImageFormat::Jpeg, &bytes).expect("decodes");
        assert_eq!((image.width(), image.height()), (9, 10));
        for found in image.pixels() {
            let off = found[..3].iter().zip(expected).map(|(a, b)| a.abs_diff(b));
            assert!(
                off.max() <= Some(3) && found[3] == 255,
                "{color:?}: {found:?}"
            );
        }
    }
}

#[test]
fn orientation_of_a_jpeg_is_ignored() {
    let image = gradient(24, 8);
    let plain = jpeg_bytes(&image);
    // After the start marker: an EXIF segment that says "a quarter turn".
    let exif =
        b"\xFF\xE1\0\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let marked = [&plain[..2], exif, &plain[2..]].concat();
    let [plain, marked] = [plain, marked].map(|b| decoded(ImageFormat::Jpeg, &b).expect("decodes"));
    assert_eq!(plain, marked);
}

#[test]
fn pieces_of_files_are_errors_that_name_the_image() {
    let bytes = png_bytes(&gradient(40, 30));
    for end in (0..bytes.len() - 16).step_by(7) {
        let error = decoded(ImageFormat::Png, &bytes[..end]).expect_err("cut off");
        let text = error.to_string();
        assert!(text.starts_with("arm.glb: image 'skin': "), "{text}");
    }
    let bytes = jpeg_bytes(&gradient(40, 30));
    for end in 0..bytes.len() {
        let whole = decoded(ImageFormat::Jpeg, &bytes[..end]);
        // The rest of a JPEG whose header is there may be grey.
        assert!(whole.is_err() || end > 100, "{end}");
    }
    assert!(decoded(ImageFormat::Jpeg, &png_bytes(&gradient(4, 4))).is_err());
    assert!(decoded(ImageFormat::Png, &jpeg_bytes(&gradient(4, 4))).is_err());
}

#[test]
fn changed_bytes_never_panic() {
    let mut state = 1_u32;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize
    };
    let image = gradient(16, 12);
    let files = [
        (ImageFormat::Png, png_bytes(&image)),
        (ImageFormat::Jpeg, jpeg_bytes(&image)),
    ];
    for (format, bytes) in files {
        for _ in 0..2000 {
            let mut changed = bytes.clone();
            for _ in 0..1 + random() % 3 {
                let at = random() % changed.len();
                changed[at] = random() as u8;
            }
            let _ = decoded(format, &changed);
        }
    }
}

/// A PNG of one pixel whose header claims another size.
fn claiming(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = png_bytes(&gradient(1, 1));
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let sum = crc(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&sum.to_be_bytes());
    bytes
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            (sum >> 1) ^ (0xEDB8_8320 & (sum & 1).wrapping_neg())
        })
    })
}

#[test]
fn sizes_are_checked_before_anything_is_allocated() {
    // 16384 x 16384 fits by its sides, not by its bytes.
    for (width, height) in [(60_000, 60_000), (16_385, 1), (1, 16_385), (16_384, 16_384)] {
        let error = decoded(ImageFormat::Png, &claiming(width, height)).expect_err("too large");
        assert!(matches!(error, IoError::Unsupported { .. }), "{error}");
        assert!(
            error
                .to_string()
                .contains("16384 pixels per side and 512 MiB"),
            "{error}"
        );
    }
    let small = decoded(ImageFormat::Png, &claiming(2, 2)).expect_err("pixels are missing");
    assert!(matches!(small, IoError::Malformed { .. }), "{small}");

    let mut jpeg = jpeg_bytes(&gradient(8, 8));
    let header = jpeg
        .windows(2)
        .position(|w| w == [0xFF, 0xC0])
        .expect("a frame header");
    jpeg[header + 5..header + 9].copy_from_slice(&[0xEA, 0x60, 0xEA, 0x60]);
    let error = decoded(ImageFormat::Jpeg, &jpeg).expect_err("too large");
    assert!(matches!(error, IoError::Unsupported { .. }), "{error}");
}

fn rate() -> FrameRate {
    FrameRate::new(30_000, 1001).expect("not zero")
}

/// A square that moves over nothing.
fn moving() -> Vec<Image> {
    let frame = |k: usize| {
        let mut image = Image::filled(20, 10, [0; 4]);
        image.paste(&Image::filled(4, 4, [200, 30, 20, 255]), k * 4, 3);
        image
    };
    (0..4).map(frame).collect()
}

fn written(name: &str, images: &[Image]) -> (tempfile::TempDir, PathBuf) {
    let folder = folder();
    let path = folder.path().join(name);
    write_animation(&path, images, rate()).expect("written");
    (folder, path)
}

#[test]
fn apng_holds_every_picture() {
    for name in ["a.png", "a.APNG"] {
        let images = moving();
        let (_folder, path) = written(name, &images);
        let bytes = Cursor::new(std::fs::read(&path).expect("reads"));
        let mut reader = png::Decoder::new(bytes).read_info().expect("a PNG");
        let control = reader.info().animation_control.expect("animated");
        assert_eq!((control.num_frames, control.num_plays), (4, 0));
        for image in &images {
            let mut pixels = vec![0; reader.output_buffer_size().expect("small")];
            reader.next_frame(&mut pixels).expect("a picture");
            let frame = reader
                .info()
                .frame_control
                .expect("a picture of the animation");
            assert_eq!((frame.delay_num, frame.delay_den), (1001, 30_000));
            assert_eq!(pixels, image.as_bytes());
        }
        assert_eq!(read_png(&path).expect("reads"), images[0]);
    }
}

#[test]
fn gif_holds_every_picture() {
    let images = moving();
    let (_folder, path) = written("a.gif", &images);
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options
        .read_info(Cursor::new(std::fs::read(&path).expect("reads")))
        .expect("a GIF");
    assert_eq!(decoder.repeat(), gif::Repeat::Infinite);
    let mut seen = 0;
    while let Some(frame) = decoder.read_next_frame().expect("a picture") {
        assert_eq!(frame.dispose, gif::DisposalMethod::Background);
        for (pixel, expected) in frame.buffer.as_chunks().0.iter().zip(images[seen].pixels()) {
            assert_eq!(pixel[3], expected[3], "transparent pixels stay so");
            assert!(pixel == expected || pixel[3] == 0);
        }
        seen += 1;
    }
    assert_eq!(seen, images.len());
}

#[test]
fn animations_that_cannot_be_are_refused() {
    let folder = folder();
    let write = |name: &str, images: &[Image]| {
        let path = folder.path().join(name);
        write_animation(&path, images, rate()).expect_err("refused")
    };
    let mut images = moving();
    images[2] = gradient(3, 10);
    let error = write("a.gif", &images);
    let sizes = ([3, 10], [20, 10]);
    assert!(
        matches!(&error, IoError::FrameSize { frame: 2, found, expected, .. } if (*found, *expected) == sizes),
        "{error}"
    );
    assert!(
        write("a.png", &[])
            .to_string()
            .contains("an animation without images")
    );
    assert!(write("a.mp4", &moving()).to_string().contains("'mp4'"));
    let error = write("a.gif", &[Image::filled(70_000, 1, [0; 4])]);
    assert!(error.to_string().contains("70000x1"), "{error}");
    let left = std::fs::read_dir(folder.path()).expect("lists").count();
    assert_eq!(left, 0, "nothing was begun");
}
