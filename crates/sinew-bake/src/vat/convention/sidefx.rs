//! Vertex animation textures of `SideFX` Labs 3.x, modes "soft" (the triangles stay the same) and "dynamic remeshing" (they change), [pieces](super::pieces)
//! and sprites.
//!
//! - A frame is a band of rows, bands below each other, without padding. Texture coordinates of the mesh point at the first band: of vertices
//!   that stay the second ones; of triangles that change the first ones, and the bands are those of the [lookup](super::lookup).
//! - Positions are offsets from the mesh, or places where triangles change. Floats hold them as they are; otherwise they are
//!   `(p - min) / (max - min)` with the bounds of the JSON, in one texture or two (`first + second / 100`).
//! - Normals are [rotations](super::shading), unit quaternions: `q` turns up into the normal and the side into the tangent; codes hold
//!   `(q + 1) / 2`. Or they are ten bits in the positions' alpha.
//! - Of sprites texture coordinates 0 are the corner, the second ones point at the particle, and the positions' alpha is the width.
//! - Bounds have whole tenths; what is below them says something else. Shaders find there that nothing is padded
//!   and whether textures hold floats.

use super::shading::{self, Shading};
use super::{
    Contradiction, FileConvention, format_of, lookup, pieces, tenths_around, write_files,
    write_mesh,
};
use crate::BakeError;
use crate::vat::maker::rigid::PiecePose;
use crate::vat::maker::soft::SoftCarrier;
use crate::vat::plan::{Planned, VatPlan};
use crate::vat::settings::{Mode, SideFx, Space, TextureChoice, VatSettings};
use crate::vat::textures::{files_called, lookup_file};
use sinew_geom::Mesh;
use sinew_io::{AtomicDir, write_text};
use sinew_vat::layout::{Layout, LayoutError};
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::{Range, TexelFormat};
use sinew_vat::texture::{Extent, TextureSpec};

/// Most rows of a frame.
const MOST_ROWS: u32 = 1980;

impl FileConvention for SideFx {
    fn name(&self) -> &'static str {
        "sidefx"
    }

    fn refuses(&self, mode: Mode, space: Space) -> Option<&'static str> {
        pieces::refused(mode, space)
    }

    fn contradiction(&self, settings: &VatSettings, mode: Mode) -> Option<Contradiction> {
        if settings.powers_of_two {
            let expected = "false: padding is not written for sidefx";
            return Some(("powers_of_two", "true".into(), expected));
        }
        if self.compressed_normals && matches!(mode, Mode::Rigid | Mode::Particles) {
            let expected = "false: normals are in textures in modes soft and remesh only";
            return Some(("compressed_normals", "true".into(), expected));
        }
        let textures = settings.textures_of(mode);
        let (found, expected) = match mode {
            Mode::Rigid => pieces::mismatch(&textures),
            Mode::Particles => sprites_mismatch(&textures),
            _ => textures
                .iter()
                .find_map(|t| not_written(mode, t))
                .or_else(|| mismatch(&textures, self.compressed_normals)),
        }?;
        Some(("textures", found, expected))
    }

    fn fewest_frames(&self) -> (usize, &'static str) {
        let why = "two at least: its shaders hide vertices of a texture with one";
        (2, why)
    }

    fn place_format(&self) -> Option<TexelFormat> {
        Some(TexelFormat::Float)
    }

    fn default_format(&self) -> Option<TexelFormat> {
        Some(TexelFormat::Half)
    }

    fn needs_unique_points(&self) -> bool {
        true
    }

    fn has_lookup(&self) -> bool {
        true
    }

    fn lookup_bytes(&self) -> u64 {
        4
    }

    fn largest_side(&self, settings: &VatSettings) -> u32 {
        settings.largest_side.min(lookup::LARGEST_SIDE)
    }

    /// Bands of as few rows as the width allows.
    fn layout(
        &self,
        vertices: u32,
        frames: u32,
        limit: u32,
    ) -> Option<Result<Layout, LayoutError>> {
        let rows = vertices.div_ceil(limit.max(1)).max(1);
        if rows > MOST_ROWS {
            return Some(Err(LayoutError::TooLarge {
                vertices,
                frames,
                limit,
            }));
        }
        let band = [vertices.div_ceil(rows), rows];
        Some(Layout::blocks(vertices, frames, band, 1, limit))
    }

    /// Normals may go into the alpha of positions.
    fn texture(&self, choice: &TextureChoice, extent: &Extent) -> Option<TextureSpec> {
        let format = choice.format;
        let spec = |quantity, ranges| TextureSpec {
            quantity,
            format,
            ranges,
        };
        match &choice.quantity {
            place if place.is_position() && format.is_float() => {
                let channels = if self.compressed_normals { 4 } else { 3 };
                Some(spec(place.clone(), vec![Range::RAW; channels]))
            }
            place if place.is_position() => {
                let (low, high) = bounds(&extent.least, &extent.most, false);
                let ranges = (0..3).map(|k| Range {
                    scale: high[k] - low[k],
                    offset: low[k],
                });
                Some(spec(place.clone(), ranges.collect()))
            }
            Quantity::Normal if self.compressed_normals => None,
            Quantity::Normal => {
                let range = if format.is_float() {
                    Range::RAW
                } else {
                    Range::DIRECTION
                };
                Some(spec(Quantity::Rotation, vec![range; 4]))
            }
            other => Some(spec(other.clone(), vec![Range::RAW; 4])),
        }
    }

    fn piece_texture(&self, choice: &TextureChoice, _extent: &Extent) -> TextureSpec {
        pieces::texture(choice)
    }

    /// Widths are the fourth channel of positions.
    fn particle_texture(&self, choice: &TextureChoice, _extent: &Extent) -> Option<TextureSpec> {
        (choice.quantity != Quantity::Size).then(|| TextureSpec {
            quantity: choice.quantity.clone(),
            format: choice.format,
            ranges: vec![Range::RAW; 4],
        })
    }

    fn encode_pieces(
        &self,
        poses: &[PiecePose],
        next: Option<&[PiecePose]>,
        textures: &[TextureSpec],
        space: Space,
    ) -> Vec<Vec<u8>> {
        pieces::encode(poses, next, textures, space)
    }

    fn seen_pose(&self, position: [f32; 4], rotation: [f32; 4], space: Space) -> PiecePose {
        pieces::decode(position, rotation, space)
    }

    fn carries_pivots(&self) -> bool {
        true
    }

    fn piece_carrier(&self, mesh: Mesh, pivots: &[[f32; 3]]) -> Mesh {
        pieces::with_pivots(mesh, pivots)
    }

    fn shading(
        &self,
        carrier: &SoftCarrier,
        mesh: &Mesh,
        normals: &[[f32; 3]],
        space: Space,
    ) -> Option<Shading> {
        Some(Shading::of_carrier(carrier, mesh, normals, space))
    }

    fn shading_of_corners(&self, normals: &[[[f32; 3]; 3]], space: Space) -> Option<Shading> {
        Some(Shading::of_corners(normals, space))
    }

    fn seen_normal(
        &self,
        space: Space,
        spec: &TextureSpec,
        bytes: &[u8],
        texel: usize,
    ) -> Option<[f32; 3]> {
        shading::seen(space, spec, bytes, texel)
    }

    fn write(
        &self,
        of: Planned<'_>,
        mut mesh: Mesh,
        folder: &mut AtomicDir,
    ) -> Result<String, BakeError> {
        let name = of.job.name();
        for (texture, spec) in of.plan.textures.iter().enumerate() {
            let suffix = match spec.quantity {
                Quantity::Offset | Quantity::Position => "pos",
                Quantity::Rotation => "rot",
                _ => "col",
            };
            let names = files_called(&format!("{name}_{suffix}"), spec.format);
            write_files(of, texture, &names, folder)?;
        }
        match of.plan.points() {
            Some(points) => {
                let path = folder.stage(&lookup_file(name))?;
                lookup::write(of, &points.layout, &path)?;
            }
            // Sets of pieces are in their order.
            None if of.plan.mode() == Mode::Rigid => {}
            None => second_coordinates(&mut mesh),
        }
        write_mesh(&format!("{name}_mesh.glb"), &mesh, folder)?;
        let data = format!("{name}_data.json");
        let text = data_json(name, of.job.settings().frames_per_second, of.plan);
        write_text(&folder.stage(&data)?, &text)?;
        Ok(data)
    }
}

/// What is wrong with a texture for itself.
fn not_written(mode: Mode, texture: &TextureChoice) -> Option<(String, &'static str)> {
    let TextureChoice { quantity, format } = texture;
    let is_in_two = *format == TexelFormat::TwoUnorm8;
    match quantity {
        Quantity::Offset if mode == Mode::Soft => None,
        Quantity::Position if mode == Mode::Remesh => None,
        Quantity::Normal | Quantity::Color(0) if is_in_two => {
            let found = format!("{quantity} in two_unorm8");
            Some((found, "two_unorm8 for positions and offsets only"))
        }
        Quantity::Normal | Quantity::Color(0) => None,
        _ if mode == Mode::Remesh => Some((format!("{quantity}"), "position, normal and color0")),
        _ => Some((format!("{quantity}"), "offset, normal and color0")),
    }
}

/// What is wrong with the textures of places and normals together.
fn mismatch(
    textures: &[TextureChoice],
    compressed_normals: bool,
) -> Option<(String, &'static str)> {
    let place = textures.iter().find(|t| t.quantity.is_position())?.format;
    let Some(normal) = format_of(textures, &Quantity::Normal) else {
        let nothing = ("without normals".into(), "normals, to be compressed");
        return compressed_normals.then_some(nothing);
    };
    if compressed_normals && !place.is_float() {
        let expected = "half or float: the alpha channel of other formats cannot hold the ten bits of a normal";
        return Some((format!("positions in {place}"), expected));
    }
    let found = format!("positions in {place} and normals in {normal}");
    let expected = "half or float for both or for neither: the shaders read one sign for both; change --texture";
    (normal.is_float() != place.is_float()).then_some((found, expected))
}

/// What is wrong with the textures of particles, whose widths are in the positions' alpha.
fn sprites_mismatch(textures: &[TextureChoice]) -> Option<(String, &'static str)> {
    let place = format_of(textures, &Quantity::Position)?;
    if !place.is_float() {
        let expected = "half or float: the alpha channel holds widths without scaling";
        return Some((format!("position in {place}"), expected));
    }
    let wrong = |texture: &TextureChoice| {
        let TextureChoice { quantity, format } = texture;
        match quantity {
            Quantity::Position => None,
            Quantity::Size => {
                let expected = "the format of positions, in whose alpha they are";
                (*format != place).then(|| (format!("size in {format}"), expected))
            }
            Quantity::Color(0) => not_written(Mode::Particles, texture),
            _ => Some((format!("{quantity}"), "position, size and color0")),
        }
    };
    textures.iter().find_map(wrong)
}

/// Bounds around a box whose last digits say: no padding, floats or none.
fn bounds(least: &[f32], most: &[f32], is_float: bool) -> ([f32; 3], [f32; 3]) {
    let at = |values: &[f32], k: usize| values.get(k).copied().unwrap_or(0.0);
    let tenths = |k: usize| tenths_around(at(least, k), at(most, k));
    let low = std::array::from_fn(|k| whole_tenth(tenths(k)[0], -1.0));
    let mut high: [f32; 3] = std::array::from_fn(|k| whole_tenth(tenths(k)[1], 1.0));
    // A half or more behind the tenths of this one means floats; away from both ends, so that no rounding changes it.
    high[2] += if is_float { 0.075 } else { 0.025 };
    (low, high)
}

/// The nearest number in direction `step` that is whole, to the bit, after ten times it was taken in single precision.
fn whole_tenth(value: f64, step: f64) -> f32 {
    let start = (value * 10.0).round();
    let mut candidates = (0..64).map(|i| ((start + step * f64::from(i)) / 10.0) as f32);
    let found = candidates.find(|v| (v * 10.0).fract() == 0.0);
    found.unwrap_or(value as f32)
}

/// The texels' places become the second set of texture coordinates, whatever sets there are.
fn second_coordinates(mesh: &mut Mesh) {
    let Some(places) = mesh.uvs.pop() else { return };
    if mesh.uvs.is_empty() {
        mesh.uvs.push(vec![[0.0; 2]; places.len()]);
    }
    mesh.uvs.insert(1, places);
}

/// The array with one object; exactly one blank behind each colon, which importers search for.
fn data_json(name: &str, frames_per_second: f32, plan: &VatPlan) -> String {
    let places = plan.textures.iter().find(|t| t.quantity.is_position());
    let is_float = places.is_some_and(|t| t.format.is_float());
    let is_in_two = places.is_some_and(|t| t.format == TexelFormat::TwoUnorm8);
    let ranges = places.map_or(&[][..], |t| &t.ranges);
    let (low, high) = match is_float {
        true => {
            let (low, high) = plan.space.bounds(&plan.bounds);
            bounds(&low, &high, true)
        }
        false => {
            let of = |k: usize| ranges.get(k).copied().unwrap_or(Range::RAW);
            let low = std::array::from_fn(|k| of(k).offset);
            // The sum is rounded; the bound that the range was made from is the whole tenth there.
            let tenth = |k| whole_tenth(f64::from(of(k).value(1.0)), 1.0);
            (
                low,
                std::array::from_fn(|k| if k == 2 { of(k).value(1.0) } else { tenth(k) }),
            )
        }
    };
    let axes = match plan.space {
        Space::YUpRightHanded => "Right-Handed Y-Up",
        Space::ZUpRightHanded => "Right-Handed Z-Up",
        Space::YUpLeftHanded => "Left-Handed Y-Up",
        Space::ZUpLeftHandedCentimeters => "Left-Handed Z-Up",
    };
    let mut lines = vec![
        // Names of bakes have no characters that would need escaping.
        format!("\"Name\": \"{name}\""),
        format!("\"Axis System\": \"{axes}\""),
        format!("\"Frame Count\": {}", plan.layout.frames),
        format!("\"Houdini FPS\": {frames_per_second}"),
    ];
    for (end, values) in [("Max", high), ("Min", low)] {
        for (axis, value) in ["X", "Y", "Z"].into_iter().zip(values) {
            lines.push(format!("\"Bound {end} {axis}\": {value:?}"));
        }
    }
    lines.push(format!(
        "\"Two Position Textures\": {}",
        u8::from(is_in_two)
    ));
    format!(
        "[\n    {{\n        {}\n    }}\n]\n",
        lines.join(",\n        ")
    )
}
