//! `OpenVAT`, a Blender add-on: offsets from the mesh, in Blender's axes, columns of frames.
//!
//! - Vertices are counted from the last one: number `i` of `n` vertices is vertex `n - 1 - i` of the mesh. In frame `f` its texel is in column
//!   `i mod W` and row `(i div W) frames + f`, from the top.
//! - Offsets are `(o - Min) / (Max - Min)`, `Min` and `Max` in whole tenths around all offsets; normals are `n / 2 + 1/2`, in a file of their own
//!   or below the offsets, half the height further down.
//! - Sides are powers of two from 64 to 8192, one at most twice the other.

use super::{Contradiction, FileConvention, format_of, tenths_around, write_files, write_mesh};
use crate::BakeError;
use crate::vat::plan::Planned;
use crate::vat::settings::{Mode, OpenVat, Space, TextureChoice, VatSettings};
use crate::vat::textures::{files_called, write_stacked};
use serde_json::json;
use sinew_geom::Mesh;
use sinew_io::{AtomicDir, write_text};
use sinew_vat::layout::{Layout, LayoutError};
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::{Range, TexelFormat};
use sinew_vat::texture::{Extent, TextureSpec};

impl FileConvention for OpenVat {
    fn name(&self) -> &'static str {
        "openvat"
    }

    fn refuses(&self, mode: Mode, _space: Space) -> Option<&'static str> {
        (mode != Mode::Soft).then_some("triangles that stay the same in all frames (mode soft)")
    }

    fn contradiction(&self, settings: &VatSettings, mode: Mode) -> Option<Contradiction> {
        let found = match settings.space {
            Space::YUpRightHanded | Space::ZUpRightHanded => None,
            Space::YUpLeftHanded => Some("y_up_left_handed (--for unity)"),
            Space::ZUpLeftHandedCentimeters => Some("z_up_left_handed_centimeters (--for unreal)"),
        };
        if let Some(found) = found {
            let expected = "no --for, or --for blender: openvat has one space, the axes of Blender; its engine shaders convert them";
            return Some(("space", found.into(), expected));
        }
        let textures = settings.textures_of(mode);
        let fits = |t: &&TextureChoice| {
            let is_known = matches!(t.quantity, Quantity::Offset | Quantity::Normal);
            is_known && t.format != TexelFormat::TwoUnorm8
        };
        if let Some(wrong) = textures.iter().find(|t| !fits(t)) {
            let found = format!("{} in {}", wrong.quantity, wrong.format);
            let expected = "offset and normal, each in one file (not two_unorm8); change --texture";
            return Some(("textures", found, expected));
        }
        let normal = format_of(&textures, &Quantity::Normal);
        if self.packed_normals && normal != format_of(&textures, &Quantity::Offset) {
            let found = normal.map_or("without normals".into(), |f| format!("normals in {f}"));
            let expected = "normals in the format of the offsets, to be packed with them";
            return Some(("textures", found, expected));
        }
        None
    }

    fn default_format(&self) -> Option<TexelFormat> {
        Some(TexelFormat::Unorm16)
    }

    fn space(&self) -> Option<Space> {
        Some(Space::ZUpRightHanded)
    }

    fn layout(
        &self,
        vertices: u32,
        frames: u32,
        limit: u32,
    ) -> Option<Result<Layout, LayoutError>> {
        let stacked = if self.packed_normals { 2 } else { 1 };
        let layout = Layout::columns(vertices, frames, stacked);
        let fits = |layout: &Layout| layout.size.iter().all(|side| *side <= limit);
        Some(layout.and_then(|layout| match fits(&layout) {
            true => Ok(layout),
            false => Err(LayoutError::TooLarge {
                vertices,
                frames,
                limit,
            }),
        }))
    }

    fn texture(&self, choice: &TextureChoice, extent: &Extent) -> Option<TextureSpec> {
        let range = |(least, most): (&f32, &f32)| match choice.quantity {
            Quantity::Normal => Range::DIRECTION,
            _ => {
                let [low, high] = tenths_around(*least, *most);
                range_of(low, high)
            }
        };
        let channels = extent.least.iter().zip(&extent.most);
        Some(TextureSpec {
            quantity: choice.quantity.clone(),
            format: choice.format,
            ranges: channels.map(range).collect(),
        })
    }

    fn counts_from_the_last(&self) -> bool {
        true
    }

    fn write(
        &self,
        of: Planned<'_>,
        mut mesh: Mesh,
        folder: &mut AtomicDir,
    ) -> Result<String, BakeError> {
        let name = of.job.name();
        let index = |quantity| of.plan.textures.iter().position(|t| t.quantity == quantity);
        let (offsets, normals) = (index(Quantity::Offset), index(Quantity::Normal));
        for (texture, suffix) in [(offsets, "vat"), (normals, "vnrm")] {
            let Some(texture) = texture else { continue };
            let names = files_called(
                &format!("{name}_{suffix}"),
                of.plan.textures[texture].format,
            );
            match normals {
                Some(_) if self.packed_normals && suffix == "vnrm" => {}
                Some(normals) if self.packed_normals => {
                    let path = folder.stage(&names[0])?;
                    write_stacked(of, [texture, normals], &path)?;
                }
                _ => write_files(of, texture, &names, folder)?,
            }
        }
        // The number that a texel is found by counts from the last vertex.
        if let Some(numbers) = mesh.uvs.last_mut() {
            numbers.reverse();
        }
        write_mesh(&format!("{name}.glb"), &mesh, folder)?;
        let info = format!("{name}-remap_info.json");
        let ranges = offsets.map_or(&[][..], |o| &of.plan.textures[o].ranges);
        let text = remap_info(ranges, of.plan.layout.frames);
        write_text(&folder.stage(&info)?, &text)?;
        Ok(info)
    }
}

fn range_of(low: f64, high: f64) -> Range {
    Range {
        scale: (high - low) as f32,
        offset: low as f32,
    }
}

fn remap_info(ranges: &[Range], frames: u32) -> String {
    let tenths = |v: f64| (v * 10.0).round() / 10.0;
    let low = |r: &Range| tenths(f64::from(r.offset));
    let high = |r: &Range| tenths(f64::from(r.offset) + f64::from(r.scale));
    let of = |end: &dyn Fn(&Range) -> f64| ranges.iter().map(end).collect::<Vec<_>>();
    let info = json!({"os-remap": {"Min": of(&low), "Max": of(&high), "Frames": frames}});
    format!("{info:#}\n")
}
