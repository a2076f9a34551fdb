use super::*;
use crate::texture::{ExrCompression, TextureChannels, TextureFormat, TextureWriter};
use serde_json::{Value, json};

const ALL: [TexelFormat; 5] = [
    TexelFormat::Unorm8,
    TexelFormat::Unorm16,
    TexelFormat::TwoUnorm8,
    TexelFormat::Half,
    TexelFormat::Float,
];

/// Two vertices, two frames.
fn manifest(format: &str, files: &[&str]) -> Value {
    let range = json!({ "scale": 2.0, "offset": -1.0 });
    json!({
        "format": "sinew_vat", "version": 1, "name": "b", "mode": "soft",
        "clips": [{ "name": "all", "first": 0, "count": 2, "frames_per_second": 24.0, "at_end": "loop" }],
        "layout": { "vertices": 2, "frames": 2, "arrangement": { "blocks": { "block": [2, 1], "across": 1 } }, "size": [2, 2] },
        "bounds": [[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]],
        "space": "y_up_right_handed",
        "carrier": "b.glb",
        "textures": [{ "quantity": "position", "format": format, "ranges": [range, range, range], "files": files }],
        "can_blend": true,
    })
}

/// Number `i` of the texture, 12 of them, of file `file`.
fn code(i: usize, file: usize) -> u8 {
    (i * 20 + file * 7) as u8
}

fn write(
    path: &Path,
    format: TexelFormat,
    file: usize,
    channels: TextureChannels<'_>,
    width: usize,
) {
    let packing = ExrCompression::Zip;
    let stored = match format {
        TexelFormat::Unorm8 | TexelFormat::TwoUnorm8 => TextureFormat::Png8,
        TexelFormat::Unorm16 => TextureFormat::Png16,
        TexelFormat::Half => TextureFormat::ExrHalf(packing),
        TexelFormat::Float => TextureFormat::ExrFloat(packing),
    };
    let mut out = TextureWriter::create(path, stored, width, 2, channels).expect("made");
    let count = channels.names().len();
    for y in 0..2 {
        let texels = 0..width;
        // Channels behind the third one hold something else.
        let number = |x: usize, c: usize| {
            if c < 3 {
                code((y * width + x) * 3 + c, file)
            } else {
                99
            }
        };
        let row: Vec<u8> = texels
            .flat_map(|x| (0..count).map(move |c| number(x, c)))
            .collect();
        let wide: Vec<u16> = row.iter().map(|v| u16::from(*v) * 256 + 3).collect();
        let floats: Vec<f32> = row.iter().map(|v| f32::from(*v) / 8.0).collect();
        match stored {
            TextureFormat::Png8 => out.write_row(&row[..]),
            TextureFormat::Png16 => out.write_row(&wide[..]),
            _ => out.write_row(&floats[..]),
        }
        .expect("a row");
    }
    out.finish().expect("written");
}

fn word(format: TexelFormat) -> String {
    let word = serde_json::to_value(format).expect("a word");
    word.as_str().expect("a word").to_owned()
}

fn saved(folder: &Path, manifest: &Value) -> std::path::PathBuf {
    let path = folder.join("b.vat.json");
    crate::write_text(&path, &manifest.to_string()).expect("written");
    path
}

#[test]
fn every_format_comes_back_as_its_bytes() {
    for channels in [TextureChannels::Rgb, TextureChannels::Rgba] {
        for format in ALL {
            let folder = tempfile::tempdir().expect("a folder");
            let files = ["first.tex", "second.tex"];
            let files = &files[..format.file_count()];
            for (i, file) in files.iter().enumerate() {
                write(&folder.path().join(file), format, i, channels, 2);
            }
            let path = saved(folder.path(), &manifest(&word(format), files));
            let found = read_vertex_animation(&path).expect("reads");
            let expected: Vec<u8> = (0..12)
                .flat_map(|i| {
                    let first = code(i, 0);
                    match format {
                        TexelFormat::Unorm8 => vec![first],
                        TexelFormat::TwoUnorm8 => vec![first, code(i, 1)],
                        TexelFormat::Unorm16 => vec![3, first],
                        TexelFormat::Half => half::f16::from_f32(f32::from(first) / 8.0)
                            .to_le_bytes()
                            .to_vec(),
                        TexelFormat::Float => (f32::from(first) / 8.0).to_le_bytes().to_vec(),
                    }
                })
                .collect();
            assert_eq!(found.texels(0), expected, "{format:?}");
        }
    }
}

#[test]
fn what_does_not_fit_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let (grey, rgb) = (TextureChannels::Grey, TextureChannels::Rgb);
    write(&at("good.png"), TexelFormat::Unorm8, 0, rgb, 2);
    write(&at("wide.png"), TexelFormat::Unorm8, 0, rgb, 3);
    write(&at("grey.png"), TexelFormat::Unorm8, 0, grey, 2);
    write(&at("deep.png"), TexelFormat::Unorm16, 0, rgb, 2);
    let nan = TextureFormat::ExrFloat(ExrCompression::Zip);
    let mut out = TextureWriter::create(&at("nan.exr"), nan, 2, 2, rgb).expect("made");
    out.write_row(&[0.0_f32; 6][..]).expect("a row");
    let row = [0.0, 0.0, 0.0, 0.0, f32::NAN, 0.0];
    out.write_row(&row[..]).expect("a row");
    out.finish().expect("written");
    // A header alone: another size is told before anything is unpacked.
    let wide = std::fs::read(at("wide.png")).expect("read");
    std::fs::write(at("head_wide.png"), &wide[..40]).expect("written");
    let with = |format: &str, file: &str| manifest(format, &[file]);
    let mut other_version = with("unorm8", "good.png");
    other_version["version"] = json!(2);
    let mut no_clip = with("unorm8", "good.png");
    no_clip["clips"] = json!([]);
    let mut other_type = with("unorm8", "good.png");
    other_type["layout"]["vertices"] = json!("two");
    let cases = [
        (with("unorm8", "none.png"), "none.png"),
        (
            with("unorm8", "wide.png"),
            "wide.png: size: found 3 x 2 texels, expected 2 x 2, as the manifest says",
        ),
        (
            with("unorm8", "head_wide.png"),
            "head_wide.png: size: found 3 x 2 texels, expected 2 x 2, as the manifest says",
        ),
        (
            with("unorm8", "grey.png"),
            "grey.png: channels: found 1 (Y), expected 3, as the manifest says",
        ),
        (
            with("unorm8", "deep.png"),
            "deep.png: format: found PNG of 16 bits, expected PNG of 8 bits, as the manifest says",
        ),
        (
            with("half", "nan.exr"),
            "nan.exr: format: found EXR of 32 bits, expected EXR of 16 bits, as the manifest says",
        ),
        (
            with("float", "nan.exr"),
            "nan.exr: column 1, row 1: found NaN, expected a finite number",
        ),
        (other_version, "b.vat.json: `version` is 2, expected 1"),
        (no_clip, "b.vat.json: `clips` is empty"),
        (
            other_type,
            "b.vat.json: line 1, `layout.vertices`: found invalid type",
        ),
        (json!("text"), "b.vat.json: line 1"),
        (
            with("unorm8", "../good.png"),
            "\"../good.png\": expected the name of a file",
        ),
    ];
    read_vertex_animation(&saved(folder.path(), &with("unorm8", "good.png"))).expect("reads");
    for (manifest, expected) in cases {
        let path = saved(folder.path(), &manifest);
        let error = read_vertex_animation(&path)
            .expect_err(expected)
            .to_string();
        assert!(error.contains(expected), "{error}\nnot {expected}");
    }
}

proptest::proptest! {
    #[test]
    fn no_mutation_of_a_manifest_panics(at in 0_usize..1000, byte in 32_u8..127) {
        let mut text = manifest("two_unorm8", &["first.png", "second.png"]).to_string().into_bytes();
        let at = at % text.len();
        text[at] = byte;
        let text = String::from_utf8(text).expect("ASCII");
        let found = parse_manifest(&text, Path::new("b.vat.json"));
        if let Some(manifest) = found.ok().filter(|m| m.check().is_ok()) {
            // Whatever is asked for is in the textures.
            let layout = manifest.layout;
            for (vertex, frame) in [(0, 0), (layout.vertices - 1, layout.frames - 1)] {
                let [x, y] = layout.texel(vertex, frame);
                assert!(x < layout.size[0] && y < layout.size[1], "{layout:?}");
            }
        }
    }
}
