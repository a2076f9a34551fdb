//! Bytes that lie in data URIs or in files beside the document.

use super::GltfBuffer;
use crate::IoError;
use crate::fault::malformed;
use base64::Engine;
use std::path::{Component, Path, PathBuf};

/// The bytes that a URI stands for. `document` is the file that it is in, `place` where.
pub(super) fn read(
    document: &Path,
    place: &str,
    uri: &str,
    base_dir: Option<&Path>,
) -> Result<GltfBuffer, IoError> {
    let place = format!("{place}.uri");
    if uri
        .get(..5)
        .is_some_and(|s| s.eq_ignore_ascii_case("data:"))
    {
        return data_uri(document, &place, uri);
    }
    let relative = relative_path(uri).map_err(|found| {
        malformed(
            document,
            place.as_str(),
            format!("{found}: {}", shorten(uri)),
            "a relative path inside the folder of the document",
        )
    })?;
    let Some(base) = base_dir else {
        return Err(IoError::Unsupported {
            path: document.to_owned(),
            place,
            feature: format!("the external file {}", shorten(uri)),
            help: "read the document from its folder, or embed the file".into(),
        });
    };
    read_inside(document, place, base, &relative)
}

/// Links are resolved before the check, so that none leads out of the folder.
fn read_inside(
    document: &Path,
    place: String,
    base: &Path,
    relative: &Path,
) -> Result<GltfBuffer, IoError> {
    let path = base.join(relative);
    let read = |source| IoError::Read {
        path: path.clone(),
        source,
    };
    let base = if base.as_os_str().is_empty() {
        Path::new(".")
    } else {
        base
    };
    let real_base = base.canonicalize().map_err(read)?;
    let real = path.canonicalize().map_err(read)?;
    if !real.starts_with(&real_base) || !real.is_file() {
        return Err(malformed(
            document,
            place,
            format!("{}, which leads elsewhere", relative.display()),
            "a file inside the folder of the document",
        ));
    }
    Ok(GltfBuffer::new(std::fs::read(&real).map_err(read)?))
}

fn data_uri(document: &Path, place: &str, uri: &str) -> Result<GltfBuffer, IoError> {
    let wrong = |found: String| malformed(document, place, found, "a data URI with base64 data");
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

/// The path a relative URI means, or what is wrong with it.
fn relative_path(uri: &str) -> Result<PathBuf, &'static str> {
    let decoded = percent_decode(uri).ok_or("an invalid percent code")?;
    if decoded.contains('\0') || decoded.is_empty() {
        return Err("an invalid path");
    }
    if decoded.contains('\\') {
        return Err("a backslash");
    }
    if decoded.contains(':') {
        return Err("a scheme or drive");
    }
    let path = PathBuf::from(decoded);
    for part in path.components() {
        match part {
            Component::Normal(_) | Component::CurDir => {}
            Component::ParentDir => return Err("a path that leaves the folder"),
            Component::RootDir | Component::Prefix(_) => return Err("an absolute path"),
        }
    }
    Ok(path)
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
    fn uris_that_leave_the_folder_are_refused() {
        for uri in [
            "../a.bin",
            "/etc/passwd",
            "a/../../b.bin",
            "%2e%2e/a.bin",
            "%2Fetc/passwd",
            "file:///a.bin",
            "https://example.com/a.bin",
            "C:%5Ca.bin",
            "..%5Ca.bin",
            "a%zz.bin",
            "a%00.bin",
            "",
        ] {
            assert!(relative_path(uri).is_err(), "{uri} must be refused");
        }
        let path = relative_path("./my%20model/b%C3%A4r.bin").expect("relative");
        assert_eq!(path, PathBuf::from("./my model/bär.bin"));
    }
}
