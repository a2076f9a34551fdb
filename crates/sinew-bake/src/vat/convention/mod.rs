//! Names, layout and content of files as other tools write them.
//!
//! A convention decides where texels are ([`FileConvention::layout`]) and which values they hold ([`FileConvention::texture`]): numbers are rounded once,
//! for the file that they go into. It also decides in which order vertices are counted, how normals are stored, and which files there are.
//! Each is a file with one `impl` of [`FileConvention`], and a line of [`Convention::files`].

mod compressed_normal;
mod lookup;
mod openvat;
mod pieces;
mod shading;
mod sidefx;
#[cfg(test)]
mod tests;

use super::assemble::{MakePage, stage_all, stage_report, write_carrier};
use super::plan::Planned;
use super::settings::{Convention, Mode, Space, TextureChoice, VatSettings};
use super::texels::decode;
use super::textures::write_texture;
use crate::vat::maker::rigid::{PiecePose, encode_poses};
use crate::vat::maker::soft::SoftCarrier;
use crate::{BakeError, Watch};
use shading::Shading;
use sinew_geom::Mesh;
use sinew_io::AtomicDir;
use sinew_vat::layout::{Layout, LayoutError};
use sinew_vat::lookup::LOOKUP_BYTES;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::{Extent, TextureSpec};
use std::path::Path;

/// A setting that does not fit: its name, what it is, what was expected.
pub(crate) type Contradiction = (&'static str, String, &'static str);

/// How files of another tool differ from this project's: what is not said is as in these.
pub(crate) trait FileConvention {
    /// Its name in messages.
    fn name(&self) -> &'static str;

    /// What it takes, where it does not take a mode.
    fn refuses(&self, _mode: Mode, _space: Space) -> Option<&'static str> {
        None
    }

    /// The first setting that it cannot follow.
    fn contradiction(&self, _settings: &VatSettings, _mode: Mode) -> Option<Contradiction> {
        None
    }

    /// The fewest frames, and why.
    fn fewest_frames(&self) -> (usize, &'static str) {
        (1, "")
    }

    /// The format of positions of pieces and particles where none is asked for; `None`: as the settings say.
    fn place_format(&self) -> Option<TexelFormat> {
        None
    }

    /// The format of all textures where none are asked for; `None`: as the mode has it.
    fn default_format(&self) -> Option<TexelFormat> {
        None
    }

    /// The space that it prescribes.
    fn space(&self) -> Option<Space> {
        None
    }

    /// Whether triangles that change always have one texel a unique point.
    fn needs_unique_points(&self) -> bool {
        false
    }

    /// Whether its files may have a lookup of unique points.
    fn has_lookup(&self) -> bool {
        false
    }

    /// Bytes of a texel of the lookup.
    fn lookup_bytes(&self) -> u64 {
        LOOKUP_BYTES as u64
    }

    /// The largest side of textures that a lookup points into.
    fn largest_side(&self, settings: &VatSettings) -> u32 {
        settings.largest_side
    }

    /// Where texels are; `None`: wherever they fit.
    fn layout(
        &self,
        _vertices: u32,
        _frames: u32,
        _limit: u32,
    ) -> Option<Result<Layout, LayoutError>> {
        None
    }

    /// What a texture holds, from what was asked for and what it is between; `None`: it is part of another one.
    fn texture(&self, choice: &TextureChoice, extent: &Extent) -> Option<TextureSpec> {
        let TextureChoice { quantity, format } = choice;
        Some(TextureSpec::new(quantity.clone(), *format, extent))
    }

    /// What a texture of pieces holds. `extent` is in the space of the texture.
    fn piece_texture(&self, choice: &TextureChoice, extent: &Extent) -> TextureSpec {
        TextureSpec::new(choice.quantity.clone(), choice.format, extent)
    }

    /// What a texture of particles holds; `None`: it is part of another one. `extent` is in the space of the texture.
    fn particle_texture(&self, choice: &TextureChoice, extent: &Extent) -> Option<TextureSpec> {
        let TextureChoice { quantity, format } = choice;
        Some(TextureSpec::new(quantity.clone(), *format, extent))
    }

    /// The texels of pieces in one frame, from their poses and those of the frame that players blend to, in the space of glTF.
    fn encode_pieces(
        &self,
        poses: &[PiecePose],
        _next: Option<&[PiecePose]>,
        textures: &[TextureSpec],
        space: Space,
    ) -> Vec<Vec<u8>> {
        encode_poses(poses, textures, space)
    }

    /// The pose of a piece, in the space of glTF, from four numbers each of its textures.
    fn seen_pose(&self, position: [f32; 4], rotation: [f32; 4], space: Space) -> PiecePose {
        let [x, y, z, _] = position;
        let pose = PiecePose {
            position: [x, y, z],
            rotation,
        };
        pose.in_gltf(space)
    }

    /// Whether pivots are in the carrier rather than in the texels of the first frame.
    fn carries_pivots(&self) -> bool {
        false
    }

    /// The carrier of pieces; `pivots` are those of its vertices.
    fn piece_carrier(&self, mesh: Mesh, _pivots: &[[f32; 3]]) -> Mesh {
        mesh
    }

    /// Whether texels are in the order of the vertices, counted from the last one.
    fn counts_from_the_last(&self) -> bool {
        false
    }

    /// Normals of a frame as the convention stores them; `None`: as vectors. `normals` and the mesh are in the space of glTF.
    fn shading(
        &self,
        _carrier: &SoftCarrier,
        _mesh: &Mesh,
        _normals: &[[f32; 3]],
        _space: Space,
    ) -> Option<Shading> {
        None
    }

    /// The same of the corners of a frame's triangles.
    fn shading_of_corners(&self, _normals: &[[[f32; 3]; 3]], _space: Space) -> Option<Shading> {
        None
    }

    /// The normal that a texture holds of a texel, in the space of the textures; `None`: it holds none.
    fn seen_normal(
        &self,
        _space: Space,
        spec: &TextureSpec,
        bytes: &[u8],
        texel: usize,
    ) -> Option<[f32; 3]> {
        (spec.quantity == Quantity::Normal).then(|| decode(spec, bytes, texel))
    }

    /// Writes the files; gives the name of the one that describes the others. `carrier` is that of the first frame, with the texels' positions
    /// as its last texture coordinates.
    fn write(
        &self,
        of: Planned<'_>,
        carrier: Mesh,
        folder: &mut AtomicDir,
    ) -> Result<String, BakeError>;
}

/// This project's own files, which [`super::assemble()`] writes.
struct Own;

impl FileConvention for Own {
    fn name(&self) -> &'static str {
        "sinew"
    }

    fn has_lookup(&self) -> bool {
        true
    }

    fn write(
        &self,
        of: Planned<'_>,
        _carrier: Mesh,
        _folder: &mut AtomicDir,
    ) -> Result<String, BakeError> {
        Ok(format!("{}.vat.json", of.job.name()))
    }
}

impl Convention {
    /// What it is: a line each.
    pub(crate) fn files(&self) -> &dyn FileConvention {
        match self {
            Self::Sinew => &Own,
            Self::OpenVat(openvat) => openvat,
            Self::SideFx(sidefx) => sidefx,
        }
    }

    /// Whether settings fit each other.
    pub(crate) fn check(&self, settings: &VatSettings) -> Result<(), BakeError> {
        if let Some(found) = both_ways(settings) {
            let expected = "one of both: only velocities are turned into other axes";
            return wrong(("textures", found, expected));
        }
        if let Some(mode) = settings.mode
            && let Some(expected) = self.files().refuses(mode, settings.space())
        {
            return wrong(("mode", format!("{mode:?}").to_lowercase(), expected));
        }
        // What the sequence is may not be known yet; then positions are for triangles that change.
        let has_positions = settings
            .textures
            .iter()
            .any(|t| t.quantity == Quantity::Position);
        let likely = if has_positions {
            Mode::Remesh
        } else {
            Mode::Soft
        };
        let mode = settings.mode.unwrap_or(likely);
        self.files()
            .contradiction(settings, mode)
            .map_or(Ok(()), wrong)
    }

    /// Textures where none are asked for; `None`: those of the mode.
    pub(crate) fn default_textures(&self, mode: Mode) -> Option<Vec<TextureChoice>> {
        let format = self.files().default_format()?;
        let place = match mode {
            Mode::Remesh => Quantity::Position,
            _ => Quantity::Offset,
        };
        let choice = |quantity| TextureChoice { quantity, format };
        Some(vec![choice(place), choice(Quantity::Normal)])
    }

    /// What a sequence is taken as where nobody says it. Pieces that keep their shape are triangles that stay the same, too, for other tools.
    pub(crate) fn preferred(&self, found: Mode) -> Mode {
        match found {
            Mode::Rigid if !self.is_own() => Mode::Soft,
            other => other,
        }
    }

    /// Whether it takes such a sequence, and has the textures that are wanted of it.
    pub(crate) fn check_sequence(
        &self,
        settings: &VatSettings,
        mode: Mode,
        frames: usize,
    ) -> Result<(), BakeError> {
        let files = self.files();
        let convention = files.name();
        let wrong_sequence = |found: String, expected| {
            Err(BakeError::Convention {
                convention,
                found,
                expected,
            })
        };
        if let Some(expected) = files.refuses(mode, settings.space()) {
            let found = match mode {
                Mode::Particles => "points",
                Mode::Rigid => "pieces",
                _ => "triangles that change",
            };
            return wrong_sequence(found.into(), expected);
        }
        let (fewest, why) = files.fewest_frames();
        if frames < fewest {
            return wrong_sequence(format!("{frames} frames"), why);
        }
        files.contradiction(settings, mode).map_or(Ok(()), wrong)
    }

    /// What textures hold, from what was asked for and what it is between.
    pub(crate) fn textures(
        &self,
        choices: &[TextureChoice],
        extents: &[Extent],
    ) -> Vec<TextureSpec> {
        let pairs = choices.iter().zip(extents);
        pairs
            .filter_map(|(c, e)| self.files().texture(c, e))
            .collect()
    }

    /// The carrier with its vertices in the order of the texels.
    pub(crate) fn carrier(&self, carrier: SoftCarrier) -> SoftCarrier {
        match self.files().counts_from_the_last() {
            true => carrier.reversed(),
            false => carrier,
        }
    }

    /// Writes the files of another tool and the report; gives the name of the one that describes the others, or `None` where files are this project's own.
    /// `carrier` is that of the first frame, with the texels' positions as its last texture coordinates; `page` makes the report of the names of the other files.
    pub(crate) fn write(
        &self,
        of: Planned<'_>,
        carrier: Mesh,
        out: &Path,
        page: MakePage<'_>,
        watch: &Watch<'_>,
    ) -> Result<Option<String>, BakeError> {
        if self.is_own() {
            return Ok(None);
        }
        let mut folder = AtomicDir::create(out)?;
        let stage = watch.stage("textures", of.plan.textures.len());
        stage.go_on()?;
        let name = self.files().write(of, carrier, &mut folder)?;
        stage_report(&mut folder, of.job.name(), page)?;
        folder.tells(&name);
        folder.commit()?;
        Ok(Some(name))
    }
}

fn wrong((setting, found, expected): Contradiction) -> Result<(), BakeError> {
    Err(BakeError::setting(setting, found, expected))
}

/// An attribute that is asked for as velocities and as it is, where other axes are wanted: it cannot be turned and stay.
fn both_ways(settings: &VatSettings) -> Option<String> {
    if settings.space() == Space::default() {
        return None;
    }
    let mut asked = settings.textures.iter().map(|t| &t.quantity);
    let is_plain = |name: &str| {
        let plain = Quantity::Attribute(name.into());
        settings.textures.iter().any(|t| t.quantity == plain)
    };
    asked.find_map(|quantity| match quantity {
        Quantity::Velocity(name) if is_plain(name) => {
            Some(format!("'{name}' as velocity and as attribute"))
        }
        _ => None,
    })
}

/// Writes one texture into files of these names.
fn write_files(
    of: Planned<'_>,
    texture: usize,
    names: &[String],
    folder: &mut AtomicDir,
) -> Result<(), BakeError> {
    let paths = stage_all(folder, names)?;
    write_texture(of, texture, &paths)
}

/// Writes the mesh.
fn write_mesh(name: &str, mesh: &Mesh, folder: &mut AtomicDir) -> Result<(), BakeError> {
    write_carrier(&folder.stage(name)?, mesh, &[])
}

/// Formats among `textures` of a quantity.
fn format_of(textures: &[TextureChoice], quantity: &Quantity) -> Option<TexelFormat> {
    let found = textures.iter().find(|t| t.quantity == *quantity);
    found.map(|t| t.format)
}

/// Whole tenths around a range: the first below, the last above.
fn tenths_around(least: f32, most: f32) -> [f64; 2] {
    // A float that was meant as 0.3 is a little more, and must not become 0.4.
    let near = |v: f32| {
        let tenths = f64::from(v) * 10.0;
        let whole = tenths.round();
        let rounding = 2.4e-7 * tenths.abs().max(1.0);
        match (tenths - whole).abs() < rounding {
            true => whole,
            false => tenths,
        }
    };
    // Without a sign at zero.
    [
        near(least).floor() / 10.0 + 0.0,
        near(most).ceil() / 10.0 + 0.0,
    ]
}
