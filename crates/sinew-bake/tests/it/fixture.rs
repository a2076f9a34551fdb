//! Bakes in folders of their own, and their settings.

use sinew_bake::vat::{Summary, TextureChoice, VatSettings, Verified, bake, verify};
use sinew_bake::{FrameSource, Watch};
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use std::path::PathBuf;

pub(crate) struct Baked {
    folder: tempfile::TempDir,
    pub(crate) summary: Summary,
}

impl Baked {
    pub(crate) fn new(source: &dyn FrameSource, settings: &VatSettings) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (work, out) = (folder.path().join("work"), folder.path().join("out"));
        let summary = bake(source, settings, &work, &out, &Watch::NOBODY).expect("baked");
        Self { folder, summary }
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    pub(crate) fn verified(&self, source: &dyn FrameSource, settings: &VatSettings) -> Verified {
        verify(&self.out(), source, settings, &Watch::NOBODY).expect("comparable")
    }
}

pub(crate) fn with_textures(textures: &[(Quantity, TexelFormat)]) -> VatSettings {
    let choice = |(quantity, format): (Quantity, TexelFormat)| TextureChoice { quantity, format };
    VatSettings {
        textures: textures.iter().cloned().map(choice).collect(),
        ..VatSettings::default()
    }
}
