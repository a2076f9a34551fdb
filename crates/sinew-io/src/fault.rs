//! Constructors of errors and warnings.

use crate::IoError;
use sinew_geom::Warning;
use std::path::Path;

pub(crate) fn malformed(
    path: &Path,
    location: impl Into<String>,
    found: impl Into<String>,
    expected: impl Into<String>,
) -> IoError {
    IoError::Malformed {
        path: path.to_owned(),
        location: location.into(),
        found: found.into(),
        expected: expected.into(),
    }
}

/// Error for a format whose feature is off.
#[cfg(not(all(feature = "exr", feature = "fbx", feature = "meshopt")))]
pub(crate) fn not_built(path: &Path, format: &'static str, feature: &'static str) -> IoError {
    IoError::NotBuilt {
        path: path.to_owned(),
        format,
        feature,
    }
}

pub(crate) fn cannot_read(path: &Path) -> impl Fn(std::io::Error) -> IoError + '_ {
    move |source| IoError::Read {
        path: path.to_owned(),
        source,
    }
}

pub(crate) fn cannot_write(path: &Path) -> impl Fn(std::io::Error) -> IoError + '_ {
    move |source| IoError::Write {
        path: path.to_owned(),
        source,
    }
}

pub(crate) fn warning(code: &'static str, message: impl Into<String>) -> Warning {
    Warning {
        code,
        message: message.into(),
    }
}

/// `text` truncated for a message, with control characters escaped.
pub(crate) fn quoted(text: &[u8]) -> String {
    let short = &text[..text.len().min(40)];
    let dots = if text.len() > 40 { "..." } else { "" };
    format!("'{}{dots}'", String::from_utf8_lossy(short).escape_debug())
}

pub(crate) fn file_stem(path: &Path) -> String {
    path.file_stem()
        .map_or_else(String::new, |s| s.to_string_lossy().into_owned())
}
