//! A bake as files.

use super::bakes::Bake;
use super::expected::expected;
use super::tumble;
use crate::vat::textures::Out;
use sinew_io::gltf_write::{GlbOptions, write_glb};
use sinew_io::texture::{TextureChannels, TextureFormat};
use sinew_io::{FrameCache, TextureWriter, write_text};
use sinew_vat::lookup::LOOKUP_BYTES;
use sinew_vat::manifest::TextureFile;
use sinew_vat::players::players;
use std::error::Error;
use std::path::Path;

pub(super) fn write(folder: &Path, bake: &Bake) -> Result<(), Box<dyn Error>> {
    let manifest = &bake.manifest;
    let text = serde_json::to_string_pretty(manifest)?;
    write_text(&folder.join(format!("{}.vat.json", manifest.name)), &text)?;
    for (texture, texels) in manifest.textures.iter().zip(&bake.texels) {
        write_texture(folder, texture, texels, manifest.texture_layout().size)?;
    }
    if let Some(lookup) = &manifest.lookup {
        write_lookup(
            &folder.join(&lookup.file),
            &bake.lookup,
            manifest.layout.size,
        )?;
    }
    write_carrier(&folder.join(&manifest.carrier), bake)?;
    for player in players(manifest) {
        write_text(&folder.join(player.name), &player.text)?;
    }
    let expected = match manifest.mode.has_texel_per_vertex() {
        true => expected(bake)?,
        false => tumble::expected(bake)?,
    };
    let expected = serde_json::to_string(&expected)?;
    write_text(&folder.join("expected.json"), &expected)?;
    Ok(())
}

fn write_texture(
    folder: &Path,
    texture: &TextureFile,
    texels: &[u8],
    size: [u32; 2],
) -> Result<(), Box<dyn Error>> {
    let spec = &texture.spec;
    for (part, file) in texture.files.iter().enumerate() {
        let mut out = Out::create(&folder.join(file), size, spec)?;
        for row in texels.chunks_exact(size[0] as usize * spec.vertex_bytes()) {
            out.write(spec, row, part)?;
        }
        out.file.finish()?;
    }
    Ok(())
}

fn write_lookup(path: &Path, texels: &[u8], size: [u32; 2]) -> Result<(), Box<dyn Error>> {
    let [width, height] = size.map(|s| s as usize);
    let channels = TextureChannels::Rgb;
    let mut out = TextureWriter::create(path, TextureFormat::Png8, width, height, channels)?;
    for row in texels.chunks_exact(width * LOOKUP_BYTES) {
        out.write_row(row)?;
    }
    Ok(out.finish()?)
}

fn write_carrier(path: &Path, bake: &Bake) -> Result<(), Box<dyn Error>> {
    write_glb(
        path,
        &FrameCache::still(&bake.carrier),
        &GlbOptions::default(),
    )?;
    Ok(())
}
