//! Stands in for the EXR reader and writer in builds without them: each call is an error.

use super::{ExrCompression, Texture};
use crate::fault::not_built;
use crate::{AtomicFile, IoError};
use std::convert::Infallible;
use std::ops::Range;
use std::path::Path;

fn error(path: &Path) -> IoError {
    not_built(path, "EXR", "exr")
}

pub(super) fn read(_: &[u8], _: Option<Range<usize>>, path: &Path) -> Result<Texture, IoError> {
    Err(error(path))
}

pub(super) fn size(_: &[u8], path: &Path) -> Result<[usize; 2], IoError> {
    Err(error(path))
}

/// Never exists.
#[derive(Debug)]
pub(super) struct ExrRows(Infallible);

impl ExrRows {
    pub(super) fn new(
        file: AtomicFile,
        _: bool,
        _: ExrCompression,
        _: [usize; 2],
        _: &[&str],
    ) -> Result<Self, IoError> {
        Err(error(file.path()))
    }

    pub(super) fn put(&self, _: &[f32], _: &Path) -> Result<(), IoError> {
        match self.0 {}
    }

    pub(super) fn finish(self, _: &Path) -> Result<(), IoError> {
        match self.0 {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TextureChannels, TextureFormat, TextureWriter, parse_texture};
    use super::*;

    #[test]
    fn without_exr_the_error_names_the_feature_and_no_file_stays() {
        let folder = tempfile::tempdir().expect("temp");
        let path = folder.path().join("a.exr");
        let format = TextureFormat::ExrHalf(ExrCompression::Zip);
        let written = TextureWriter::create(&path, format, 1, 1, TextureChannels::Rgb);
        let read = parse_texture(b"\x76\x2f\x31\x01", &path);
        for error in [written.expect_err("written"), read.expect_err("read")] {
            let said = "this build has no EXR support; build `sinew-io` with the feature `exr`";
            assert_eq!(error.to_string(), format!("{}: {said}", path.display()));
        }
        let files = std::fs::read_dir(folder.path()).expect("there");
        assert_eq!(files.count(), 0);
    }
}
