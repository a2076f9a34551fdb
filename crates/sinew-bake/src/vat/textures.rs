//! Textures put together from the texels of frames, row by row.

use super::job::missing;
use super::plan::{Planned, VatPlan};
use super::records::TEXELS;
use crate::BakeError;
use sinew_io::texture::{ExrCompression, TexelRow, TextureChannels, TextureFormat, TextureWriter};
use sinew_io::{IoError, RangeReader};
use sinew_vat::layout::{Layout, RowPiece};
use sinew_vat::lookup::{LOOKUP_BYTES, point_of_texel};
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::TextureSpec;
use std::collections::BTreeMap;
use std::path::Path;

/// Names of the files of a texture.
pub(crate) fn file_names(name: &str, spec: &TextureSpec) -> Vec<String> {
    files_called(
        &format!("{name}_{}", spec.quantity.file_name()),
        spec.format,
    )
}

/// Files of a texture whose names begin with `stem`.
pub(crate) fn files_called(stem: &str, format: TexelFormat) -> Vec<String> {
    match format {
        TexelFormat::TwoUnorm8 => vec![format!("{stem}.png"), format!("{stem}2.png")],
        TexelFormat::Half | TexelFormat::Float => vec![format!("{stem}.exr")],
        TexelFormat::Unorm8 | TexelFormat::Unorm16 => vec![format!("{stem}.png")],
    }
}

/// Writes the files of one texture; a row of it and its encoder are in memory.
pub(crate) fn write_texture(
    of: Planned<'_>,
    texture: usize,
    paths: &[impl AsRef<Path>],
) -> Result<(), BakeError> {
    let spec = &of.plan.textures[texture];
    let size = of.plan.texture_layout().size;
    let mut outs = paths.iter().map(|p| Out::create(p.as_ref(), size, spec));
    let mut outs = outs.by_ref().collect::<Result<Vec<_>, IoError>>()?;
    let mut rows = Rows::new(of, texture);
    for y in 0..size[1] {
        let row = rows.row(y)?;
        for (part, out) in outs.iter_mut().enumerate() {
            out.write(spec, row, part)?;
        }
    }
    Ok(outs.into_iter().try_for_each(|o| o.file.finish())?)
}

/// Name of the file of a lookup.
pub(crate) fn lookup_file(name: &str) -> String {
    format!("{name}_lookup.png")
}

/// Writes the lookup: three channels of 8 bits.
pub(crate) fn write_lookup(of: Planned<'_>, path: &Path) -> Result<(), BakeError> {
    let [width, height] = of.plan.layout.size.map(|s| s as usize);
    let channels = TextureChannels::Rgb;
    let mut out = TextureWriter::create(path, TextureFormat::Png8, width, height, channels)?;
    let mut rows = Rows::of_lookup(of);
    for y in 0..of.plan.layout.size[1] {
        out.write_row(rows.row(y)?)?;
    }
    Ok(out.finish()?)
}

/// Writes the lookup as four channels of 8 bits, which `address(frame, point)` gives. Texels that no corner uses point at the first point.
pub(crate) fn write_addresses(
    of: Planned<'_>,
    path: &Path,
    address: impl Fn(u32, u32) -> [u8; 4],
) -> Result<(), BakeError> {
    let [width, height] = of.plan.layout.size.map(|s| s as usize);
    let channels = TextureChannels::Rgba;
    let mut out = TextureWriter::create(path, TextureFormat::Png8, width, height, channels)?;
    let mut rows = Rows::of_lookup(of);
    let mut codes = Vec::with_capacity(width * 4);
    for y in 0..of.plan.layout.size[1] {
        let frame = of.plan.layout.row(y).next().map_or(0, |piece| piece.frame);
        let points = rows.row(y)?.chunks_exact(LOOKUP_BYTES).map(point_of_texel);
        codes.clear();
        codes.extend(points.flat_map(|point| address(frame, point)));
        out.write_row(&codes[..])?;
    }
    Ok(out.finish()?)
}

/// Writes two textures of one format into one file: the second in its lower half.
pub(crate) fn write_stacked(
    of: Planned<'_>,
    textures: [usize; 2],
    path: &Path,
) -> Result<(), BakeError> {
    let spec = &of.plan.textures[textures[0]];
    let mut out = Out::create(path, of.plan.texture_layout().size, spec)?;
    let half = of.plan.layout.size[1] / 2;
    for texture in textures {
        let mut rows = Rows::new(of, texture);
        for y in 0..half {
            out.write(spec, rows.row(y)?, 0)?;
        }
    }
    Ok(out.file.finish()?)
}

/// One file in the making.
pub(crate) struct Out {
    pub(crate) file: TextureWriter,
    codes8: Vec<u8>,
    codes16: Vec<u16>,
    floats: Vec<f32>,
}

impl Out {
    pub(crate) fn create(path: &Path, size: [u32; 2], spec: &TextureSpec) -> Result<Self, IoError> {
        let format = match spec.format {
            TexelFormat::Unorm8 | TexelFormat::TwoUnorm8 => TextureFormat::Png8,
            TexelFormat::Unorm16 => TextureFormat::Png16,
            TexelFormat::Half => TextureFormat::ExrHalf(ExrCompression::Zip),
            TexelFormat::Float => TextureFormat::ExrFloat(ExrCompression::Zip),
        };
        let channels = match spec.stored_channels() {
            1 => TextureChannels::Grey,
            3 => TextureChannels::Rgb,
            _ => TextureChannels::Rgba,
        };
        let [width, height] = size.map(|s| s as usize);
        Ok(Self {
            file: TextureWriter::create(path, format, width, height, channels)?,
            codes8: Vec::new(),
            codes16: Vec::new(),
            floats: Vec::new(),
        })
    }

    /// Writes a row; `part`: which of two textures this is. Channels that the quantity does not have are zero.
    pub(crate) fn write(
        &mut self,
        spec: &TextureSpec,
        row: &[u8],
        part: usize,
    ) -> Result<(), IoError> {
        let (size, channels) = (spec.format.bytes(), spec.ranges.len());
        let empty = spec.stored_channels() - channels;
        let texels = row.chunks_exact(size * channels);
        let row: TexelRow<'_> = match spec.format {
            TexelFormat::Unorm8 | TexelFormat::TwoUnorm8 => {
                self.codes8.clear();
                for texel in texels {
                    self.codes8.extend(texel.iter().skip(part).step_by(size));
                    self.codes8.extend(std::iter::repeat_n(0, empty));
                }
                self.codes8[..].into()
            }
            TexelFormat::Unorm16 => {
                self.codes16.clear();
                for texel in texels {
                    let codes = texel.as_chunks::<2>().0.iter();
                    self.codes16.extend(codes.map(|c| u16::from_le_bytes(*c)));
                    self.codes16.extend(std::iter::repeat_n(0, empty));
                }
                self.codes16[..].into()
            }
            TexelFormat::Half | TexelFormat::Float => {
                self.floats.clear();
                for texel in texels {
                    let numbers = texel.chunks_exact(size);
                    self.floats.extend(numbers.map(|n| spec.format.decode(n)));
                    self.floats.extend(std::iter::repeat_n(0.0, empty));
                }
                self.floats[..].into()
            }
        };
        self.file.write_row(row)
    }
}

/// Bytes of the first textures of a frame.
pub(crate) fn bytes_of(plan: &VatPlan, textures: usize) -> u64 {
    let each = plan.textures[..textures]
        .iter()
        .map(TextureSpec::vertex_bytes);
    each.sum::<usize>() as u64 * u64::from(plan.texture_layout().vertices)
}

/// The texels of a frame, texture by texture; what is behind them, ends and lookups, is left out.
pub(crate) fn texels_of(of: Planned<'_>, frame: usize) -> Result<Vec<Vec<u8>>, BakeError> {
    let bytes = sinew_io::read_bytes(&of.job.work.path(TEXELS, frame))?;
    let begin = |t| usize::try_from(bytes_of(of.plan, t)).unwrap_or(usize::MAX);
    let texture = |t| Some(bytes.get(begin(t)..begin(t + 1))?.to_vec());
    let all = (0..of.plan.textures.len())
        .map(texture)
        .collect::<Option<_>>();
    all.ok_or_else(|| missing(of.job, &[frame], "whole texels", "bake"))
}

/// Rows of a texture from the files of frames, of which a row of blocks is open at a time.
struct Rows<'a> {
    of: Planned<'a>,
    layout: &'a Layout,
    /// Bytes of a vertex, and where the texture begins in the file of a frame.
    texel: usize,
    begin: u64,
    /// Bytes of all textures of a frame.
    frame_bytes: u64,
    open: BTreeMap<u32, RangeReader>,
    row: Vec<u8>,
}

impl<'a> Rows<'a> {
    fn new(of: Planned<'a>, texture: usize) -> Self {
        let texel = of.plan.textures[texture].vertex_bytes();
        let begin = bytes_of(of.plan, texture);
        Self::at(of, of.plan.texture_layout(), begin, texel)
    }

    /// Of the lookup, which is behind all textures.
    fn of_lookup(of: Planned<'a>) -> Self {
        let begin = bytes_of(of.plan, of.plan.textures.len());
        Self::at(of, &of.plan.layout, begin, LOOKUP_BYTES)
    }

    fn at(of: Planned<'a>, layout: &'a Layout, begin: u64, texel: usize) -> Self {
        Self {
            of,
            layout,
            texel,
            begin,
            frame_bytes: bytes_of(of.plan, of.plan.textures.len()),
            open: BTreeMap::new(),
            row: vec![0; layout.size[0] as usize * texel],
        }
    }

    fn row(&mut self, y: u32) -> Result<&[u8], BakeError> {
        self.row.fill(0);
        let step = self.of.plan.frame_step();
        let pieces: Vec<RowPiece> = self.layout.row(y).collect();
        self.open
            .retain(|frame, _| pieces.iter().any(|p| p.frame / step == *frame));
        for piece in pieces {
            self.copy(&piece)?;
        }
        Ok(&self.row)
    }

    fn copy(&mut self, piece: &RowPiece) -> Result<(), BakeError> {
        use std::collections::btree_map::Entry;
        let step = self.of.plan.frame_step();
        let file = match self.open.entry(piece.frame / step) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(place) => {
                let path = self.of.job.work.path(TEXELS, (piece.frame / step) as usize);
                place.insert(RangeReader::open(&path)?)
            }
        };
        let length = piece.vertices.len() * self.texel;
        let at = piece.x as usize * self.texel;
        // The end of a frame is behind all textures of the frame.
        let begin = self.begin + u64::from(piece.frame % step) * self.frame_bytes;
        let from = begin + u64::from(piece.vertices.start) * self.texel as u64;
        Ok(file.read_at(from, &mut self.row[at..at + length])?)
    }
}
