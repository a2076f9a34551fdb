//! Readers and writers that are not ours: Pillow, pypng and OpenEXR, by `outside.py`.

use super::*;
use std::process::Command;

/// Runs `outside.py` where `SINEW_PYTHON` names a Python that has what it needs; whether it ran.
fn python(verb: &str, folder: &Path) -> bool {
    let Some(python) = std::env::var_os("SINEW_PYTHON") else {
        println!("skipped: SINEW_PYTHON is not set");
        return false;
    };
    let program = [env!("CARGO_MANIFEST_DIR"), "src", "texture", "outside.py"];
    let run = Command::new(python)
        .arg(program.iter().collect::<PathBuf>())
        .arg(verb)
        .arg(folder)
        .output()
        .expect("runs");
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    true
}

/// Writes a texture and the numbers that are in it, and gives its line of the list.
fn put(folder: &Path, name: &str, format: TextureFormat, channels: TextureChannels<'_>) -> String {
    let size = [37, 35];
    let bits = quiet(noise(size[0] * size[1] * channels.names().len(), 11));
    let texels = numbers(format, &bits);
    write(&folder.join(name), format, size, channels, &texels).expect("written");
    let (kind, bytes) = match (format, &texels) {
        (TextureFormat::ExrHalf(_), Texels::Floats(floats)) => {
            let halves = floats
                .iter()
                .flat_map(|&n| f16::from_f32_const(n).to_le_bytes());
            ("float16", halves.collect())
        }
        (_, Texels::Codes8(_)) => ("uint8", bytes_of(&texels)),
        (_, Texels::Codes16(_)) => ("uint16", bytes_of(&texels)),
        _ => ("float32", bytes_of(&texels)),
    };
    std::fs::write(folder.join(format!("{name}.bin")), bytes).expect("numbers");
    let names = channels.names().join(" ");
    format!("{name} {kind} {} {} {names}\n", size[0], size[1])
}

#[test]
fn other_programs_read_what_was_written() {
    let dir = tempfile::tempdir().expect("temp");
    let mut list = String::new();
    for (number, format) in FORMATS.into_iter().enumerate() {
        let ending = if is_png(format) { "png" } else { "exr" };
        for channels in CHANNELS {
            let name = format!("own_{number}_{}.{ending}", channels.names().len());
            list += &put(dir.path(), &name, format, channels);
        }
        if !is_png(format) {
            let named = TextureChannels::Named(&["speed", "A", "R", "pivot.x"]);
            list += &put(
                dir.path(),
                &format!("own_{number}_named.exr"),
                format,
                named,
            );
        }
    }
    std::fs::write(dir.path().join("list.txt"), list).expect("list");
    python("read", dir.path());
}

#[test]
fn what_other_programs_wrote_is_read() {
    let dir = tempfile::tempdir().expect("temp");
    if !python("write", dir.path()) {
        return;
    }
    let list = std::fs::read_to_string(dir.path().join("list.txt")).expect("list");
    assert!(list.lines().count() > 30, "{list}");
    for line in list.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let path = dir.path().join(words[0]);
        let read = read_texture(&path).expect(line);
        assert_eq!(
            [read.width.to_string(), read.height.to_string()],
            words[2..4],
            "{line}"
        );
        assert_eq!(read.channels, words[4..], "{line}");
        let expected =
            std::fs::read(dir.path().join(format!("{}.bin", words[0]))).expect("numbers");
        assert_eq!(bytes_of(&read.texels), expected, "{line}");
        let part = read_texture_rows(&path, 9..26).expect(line);
        let row = expected.len() / read.height;
        assert_eq!(
            bytes_of(&part.texels),
            expected[9 * row..26 * row],
            "{line}"
        );
    }
}
