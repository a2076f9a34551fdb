//! A bake as files.

use super::bakes::Bake;
use super::expected::expected;
use super::tumble;
use sinew_io::gltf_write::{GlbOptions, write_glb};
use sinew_io::texture::{ExrCompression, TextureChannels, TextureFormat};
use sinew_io::{FrameCache, TextureWriter, write_text};
use sinew_vat::lookup::LOOKUP_BYTES;
use sinew_vat::manifest::TextureFile;
use sinew_vat::players::players;
use sinew_vat::texel::TexelFormat;
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
    let [width, height] = size.map(|s| s as usize);
    let row_bytes = width * texture.spec.vertex_bytes();
    for (part, file) in texture.files.iter().enumerate() {
        let format = match texture.spec.format {
            TexelFormat::Unorm8 | TexelFormat::TwoUnorm8 => TextureFormat::Png8,
            TexelFormat::Unorm16 => TextureFormat::Png16,
            TexelFormat::Half => TextureFormat::ExrHalf(ExrCompression::Zip),
            TexelFormat::Float => TextureFormat::ExrFloat(ExrCompression::Zip),
        };
        let path = folder.join(file);
        let channels = match texture.spec.stored_channels() {
            1 => TextureChannels::Grey,
            3 => TextureChannels::Rgb,
            _ => TextureChannels::Rgba,
        };
        let mut out = TextureWriter::create(&path, format, width, height, channels)?;
        for row in texels.chunks_exact(row_bytes) {
            let row = padded(texture, row);
            write_row(&mut out, texture.spec.format, part, &row)?;
        }
        out.finish()?;
    }
    Ok(())
}

/// With zeros behind each texel where a file has more channels than the quantity.
fn padded(texture: &TextureFile, row: &[u8]) -> Vec<u8> {
    let (spec, mut out) = (&texture.spec, Vec::new());
    let stored = spec.stored_channels() * spec.format.bytes();
    for texel in row.chunks_exact(spec.vertex_bytes()) {
        out.extend_from_slice(texel);
        out.resize(out.len() + stored - spec.vertex_bytes(), 0);
    }
    out
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

fn write_row(
    out: &mut TextureWriter,
    format: TexelFormat,
    part: usize,
    row: &[u8],
) -> Result<(), Box<dyn Error>> {
    match format {
        TexelFormat::Unorm8 => out.write_row(row)?,
        TexelFormat::TwoUnorm8 => {
            let bytes: Vec<u8> = row.iter().skip(part).step_by(2).copied().collect();
            out.write_row(&bytes[..])?;
        }
        TexelFormat::Unorm16 => {
            let code = |b: &[u8]| u16::from_le_bytes([b[0], b[1]]);
            let codes: Vec<u16> = row.chunks_exact(2).map(code).collect();
            out.write_row(&codes[..])?;
        }
        TexelFormat::Half | TexelFormat::Float => {
            let numbers: Vec<f32> = row
                .chunks_exact(format.bytes())
                .map(|b| format.decode(b))
                .collect();
            out.write_row(&numbers[..])?;
        }
    }
    Ok(())
}

fn write_carrier(path: &Path, bake: &Bake) -> Result<(), Box<dyn Error>> {
    write_glb(
        path,
        &FrameCache::still(&bake.carrier),
        &GlbOptions::default(),
    )?;
    Ok(())
}
