//! Bytes of data URIs and of external files.

use super::GltfBuffer;
use crate::fault::malformed;
use crate::{Folders, IoError};
use base64::Engine;
use std::path::{Component, Path};

/// The bytes of a URI. `document` is the file with the URI, `location` its location in the file.
pub(super) fn read(
    document: &Path,
    location: &str,
    uri: &str,
    base_dir: Option<&Path>,
) -> Result<GltfBuffer, IoError> {
    let location = format!("{location}.uri");
    if uri
        .get(..5)
        .is_some_and(|s| s.eq_ignore_ascii_case("data:"))
    {
        return data_uri(document, &location, uri);
    }
    let elsewhere = |found: String| {
        let expected = "a relative path inside the folder of the document";
        malformed(document, location.as_str(), found, expected)
    };
    let name = named_file(uri).map_err(|found| elsewhere(format!("{found}: {}", shorten(uri))))?;
    let Some(base) = base_dir else {
        return Err(IoError::Unsupported {
            path: document.to_owned(),
            location,
            feature: format!("the external file {}", shorten(uri)),
            help: "open the document from its folder, or embed the file in it".into(),
        });
    };
    let path = Folders::from(base)
        .find(&name)
        .map_err(|error| match error {
            IoError::Outside { .. } => {
                elsewhere(format!("a path that leaves the folder: {}", shorten(uri)))
            }
            other => other,
        })?;
    Ok(GltfBuffer::new(crate::read_bytes(&path)?))
}

fn data_uri(document: &Path, location: &str, uri: &str) -> Result<GltfBuffer, IoError> {
    let wrong = |found: String| malformed(document, location, found, "a data URI with base64 data");
    let Some((head, data)) = uri.split_once(',') else {
        return Err(wrong("a data URI without a comma".into()));
    };
    if !head.ends_with(";base64") {
        return Err(wrong(shorten(head)));
    }
    let engine = base64::engine::GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        base64::engine::GeneralPurposeConfig::new()
            .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
    );
    let bytes = engine.decode(data).map_err(|e| wrong(e.to_string()))?;
    Ok(GltfBuffer::new(bytes))
}

/// The file name of a relative URI, or what is wrong with it.
pub(crate) fn named_file(uri: &str) -> Result<String, &'static str> {
    let decoded = percent_decode(uri).ok_or("an invalid percent encoding")?;
    if decoded.contains('\0') || decoded.is_empty() {
        return Err("an invalid path");
    }
    if decoded.contains('\\') {
        return Err("a backslash");
    }
    if decoded.contains(':') {
        return Err("a URI scheme or a drive");
    }
    if decoded.starts_with('/') {
        return Err("an absolute path");
    }
    // Without a folder, this is the only possible check. With a folder, links are followed.
    let mut depth = 0_i32;
    for part in Path::new(&decoded).components() {
        depth += match part {
            Component::Normal(_) => 1,
            Component::ParentDir => -1,
            Component::Prefix(_) | Component::RootDir | Component::CurDir => 0,
        };
        if depth < 0 {
            return Err("a path that leaves the folder");
        }
    }
    Ok(decoded)
}

fn percent_decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        if b == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            let code = digit()? * 16 + digit()?;
            out.push(u8::try_from(code).ok()?);
        } else {
            out.push(b);
        }
    }
    String::from_utf8(out).ok()
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_that_name_no_file_beside_the_document_are_refused() {
        for uri in [
            "/etc/passwd",
            "%2Fetc/passwd",
            "file:///a.bin",
            "https://example.com/a.bin",
            "C:%5Ca.bin",
            "..%5Ca.bin",
            "a%zz.bin",
            "a%00.bin",
            "",
        ] {
            assert!(named_file(uri).is_err(), "{uri} must be refused");
        }
        let name = named_file("./my%20model/b%C3%A4r.bin").expect("relative");
        assert_eq!(name, "./my model/bär.bin");
        // With a folder or without.
        let folder = tempfile::tempdir().expect("a folder");
        for uri in ["../a.bin", "a/../../b.bin", "%2e%2e/a.bin"] {
            let found = read(Path::new("x.gltf"), "buffers[0]", uri, Some(folder.path()));
            let Err(error) = found else { panic!("{uri}") };
            let said = error.to_string();
            assert!(said.contains("a path that leaves the folder"), "{said}");
        }
    }
}
