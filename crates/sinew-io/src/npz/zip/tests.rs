use super::*;
use crate::npz::reader::{entries, python};

const ZIP_TEST: &str =
    "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None";

fn archive(contents: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(io::Cursor::new(Vec::new()));
    for (name, content) in contents {
        zip.entry(name, content.len() as u64, |out| out.write_all(content))
            .expect("to memory");
    }
    zip.finish().expect("to memory").into_inner()
}

fn saved(folder: &tempfile::TempDir, file: &[u8]) -> std::path::PathBuf {
    let path = folder.path().join("a.zip");
    std::fs::write(&path, file).expect("writes");
    path
}

#[test]
fn entries_come_back_with_their_checksum() {
    let contents: [(&str, &[u8]); 3] =
        [("check", b"123456789"), ("none", b""), ("h\u{e4}nde", b"5")];
    let file = archive(&contents);
    // The check value that the catalogue of CRCs gives for CRC-32.
    assert_eq!(file[14..18], 0xCBF4_3926_u32.to_le_bytes());
    let expected = contents.map(|(name, content)| (name.to_owned(), content.to_vec()));
    assert_eq!(entries(&file), expected);
    let folder = tempfile::tempdir().expect("temp");
    python(
        &saved(&folder, &file),
        &format!(
            "{ZIP_TEST} and z.namelist() == ['check', 'none', 'h\u{e4}nde'] and z.read('check') == b'123456789'"
        ),
    );
}

#[test]
fn many_entries_have_the_directory_of_zip64() {
    let folder = tempfile::tempdir().expect("temp");
    for count in [65_534_usize, 65_535, 65_536] {
        let names: Vec<String> = (0..count).map(|k| k.to_string()).collect();
        let contents: Vec<(&str, &[u8])> = names.iter().map(|name| (&**name, &b"x"[..])).collect();
        let file = archive(&contents);
        let is_zip_64 = file[file.len() - 42..].starts_with(b"PK\x06\x07");
        assert_eq!(is_zip_64, count > 65_534);
        let found = entries(&file);
        assert!(found.iter().map(|(name, _)| name).eq(&names));
        let path = saved(&folder, &file);
        python(
            &path,
            &format!("{ZIP_TEST} and len(z.namelist()) == {count}"),
        );
    }
}

/// A file whose long writes are zeros, which are not kept.
#[derive(Default)]
struct Sparse {
    at: u64,
    pieces: Vec<(u64, Vec<u8>)>,
}

const LONG: usize = 1 << 20;

impl Write for Sparse {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() < LONG {
            self.pieces.push((self.at, bytes.to_vec()));
        }
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Sparse {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if let SeekFrom::Start(at) = to {
            self.at = at;
        }
        Ok(self.at)
    }
}

#[test]
fn entries_of_and_behind_four_gibibytes_have_the_fields_of_zip64() {
    const SIZE: u64 = 1 << 32;
    let mut zip = ZipWriter::new(Sparse::default());
    let zeros = vec![0; LONG];
    let fill =
        |out: &mut dyn Write| (0..SIZE / LONG as u64).try_for_each(|_| out.write_all(&zeros));
    zip.entry("large", SIZE, fill).expect("written");
    zip.entry("behind", 2, |out| out.write_all(b"ok"))
        .expect("written");
    let out = zip.finish().expect("written");
    let (_, local) = &out.pieces[0];
    let sizes = [SIZE, SIZE].map(u64::to_le_bytes);
    let extra = [b"\x01\0\x10\0", sizes.as_flattened()].concat();
    assert_eq!(local[4..6], [45, 0]);
    assert_eq!(local[18..26], [0xFF; 8]);
    assert!(local.ends_with(&[&b"\x05\0\x14\0large"[..], &extra].concat()));
    let second = SIZE + local.len() as u64;
    let (at, directory) = out.pieces.last().expect("a directory");
    let behind = [
        b"\xFF\xFF\xFF\xFFbehind\x01\0\x08\0",
        &second.to_le_bytes()[..],
    ]
    .concat();
    let count = [2, 2, 51 + 20 + 52 + 12, *at].map(u64::to_le_bytes);
    let end = [count.as_flattened(), b"PK\x06\x07\0\0\0\0"].concat();
    for part in [[b"\0\0\0\0large", &extra[..]].concat(), behind, end] {
        assert!(directory.windows(part.len()).any(|w| w == part), "{part:?}");
    }
    assert!(directory.ends_with(b"\x02\0\x02\0\x87\0\0\0\xFF\xFF\xFF\xFF\0\0"));
    if std::env::var_os("SINEW_PYTHON").is_some() {
        let folder = tempfile::tempdir().expect("temp");
        let path = folder.path().join("a.zip");
        let mut file = std::fs::File::create(&path).expect("made");
        for (at, bytes) in &out.pieces {
            file.seek(SeekFrom::Start(*at)).expect("a hole before it");
            file.write_all(bytes).expect("written");
        }
        let program = "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\n\
            assert z.getinfo('large').file_size == 1 << 32 and z.read('behind') == b'ok'\n\
            assert z.open('large').read(9) == bytes(9)";
        python(&path, program);
    }
}

#[test]
fn entries_of_another_size_are_errors() {
    for content in [&b"1"[..], b"123"] {
        let mut zip = ZipWriter::new(io::Cursor::new(Vec::new()));
        let written = zip.entry("two", 2, |out| out.write_all(content));
        written.expect_err("not two bytes");
    }
    let mut zip = ZipWriter::new(io::Cursor::new(Vec::new()));
    let error = zip.entry(&"x".repeat(65_536), 0, |_| Ok(()));
    assert!(error.expect_err("too long").to_string().contains("65536"));
}
