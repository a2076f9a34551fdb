//! Names, layout and content of files as other tools write them.
//!
//! A convention decides where texels are ([`Convention::layout`]) and which values they stand for ([`Convention::textures`]), so that numbers
//! are rounded once, for the file they go into; in which order vertices are counted, how normals are said, and the files at the end.

mod compressed_normal;
mod lookup;
mod openvat;
mod pieces;
mod shading;
mod sidefx;
#[cfg(test)]
mod tests;

use super::assemble::{MakePage, stage_all, stage_report, write_carrier};
use super::job::VatJob;
use super::plan::VatPlan;
use super::settings::{Mode, Space, TextureChoice, VatSettings};
use super::texels::decode;
use super::textures::write_texture;
use crate::vat::maker::rigid::PiecePose;
use crate::vat::maker::soft::SoftCarrier;
use crate::{BakeError, Watch};
use serde::{Deserialize, Serialize};
use shading::Shading;
use sinew_geom::Mesh;
use sinew_io::AtomicDir;
use sinew_vat::layout::{Layout, LayoutError};
use sinew_vat::lookup::LOOKUP_BYTES;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::{Extent, TextureSpec};
use std::path::Path;

/// Whose names, layout and content files have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Convention {
    /// This project's: a manifest, a carrier, players.
    #[default]
    Sinew,
    /// `OpenVAT`'s: offsets in the axes of Blender, columns of frames; triangles stay the same.
    OpenVat {
        /// Normals in the lower half of the one texture, in place of a file of their own.
        packed_normals: bool,
    },
    /// That of the vertex animation textures of `SideFX` Labs (3.x), modes "soft", "dynamic remeshing" ("fluid"), "rigid" for Unity, and
    /// "sprites".
    SideFx {
        /// Normals in ten bits of the positions' alpha, in place of a texture of rotations.
        compressed_normals: bool,
    },
}

impl Convention {
    fn name(self) -> &'static str {
        match self {
            Self::Sinew => "sinew",
            Self::OpenVat { .. } => "openvat",
            Self::SideFx { .. } => "sidefx",
        }
    }

    /// Whether settings fit each other.
    pub(crate) fn check(self, settings: &VatSettings) -> Result<(), BakeError> {
        let wrong = |setting, found: String, expected| {
            Err(BakeError::Setting {
                setting,
                found,
                expected,
            })
        };
        if let Some(found) = both_ways(settings) {
            let expected = "one of both: only velocities are turned into other axes";
            return wrong("textures", found, expected);
        }
        if self == Self::Sinew {
            return Ok(());
        }
        if let Some(mode) = settings.mode
            && let Some(expected) = self.refuses(mode, settings.space())
        {
            return wrong("mode", format!("{mode:?}").to_lowercase(), expected);
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
        self.check_textures(settings, settings.mode.unwrap_or(likely))
    }

    /// Whether textures are those that the convention has in a mode.
    fn check_textures(self, settings: &VatSettings, mode: Mode) -> Result<(), BakeError> {
        match self.contradiction(settings, mode) {
            None => Ok(()),
            Some((setting, found, expected)) => Err(BakeError::Setting {
                setting,
                found,
                expected,
            }),
        }
    }

    /// The first setting that the convention cannot follow: its name, what it is, what would do.
    fn contradiction(
        self,
        settings: &VatSettings,
        mode: Mode,
    ) -> Option<(&'static str, String, &'static str)> {
        let textures = settings.textures_of(mode);
        match self {
            Self::Sinew => None,
            Self::OpenVat { packed_normals } => {
                openvat::contradiction(&textures, packed_normals, settings.space)
            }
            Self::SideFx { compressed_normals } => {
                let powers_of_two = settings.powers_of_two;
                sidefx::contradiction(mode, &textures, compressed_normals, powers_of_two)
            }
        }
    }

    /// How places of pieces and particles are stored where nobody says it; `None`: as the settings say.
    pub(crate) fn place_format(self) -> Option<TexelFormat> {
        matches!(self, Self::SideFx { .. }).then_some(TexelFormat::Float)
    }

    /// Textures where none are asked for; `None`: those of the mode.
    pub(crate) fn default_textures(self, mode: Mode) -> Option<Vec<TextureChoice>> {
        let format = match self {
            Self::Sinew => return None,
            Self::OpenVat { .. } => TexelFormat::Unorm16,
            Self::SideFx { .. } => TexelFormat::Half,
        };
        let place = match mode {
            Mode::Remesh => Quantity::Position,
            _ => Quantity::Offset,
        };
        let choice = |quantity| TextureChoice { quantity, format };
        Some(vec![choice(place), choice(Quantity::Normal)])
    }

    /// The space that it prescribes.
    pub(crate) fn space(self) -> Option<Space> {
        match self {
            Self::OpenVat { .. } => Some(Space::ZUpRightHanded),
            _ => None,
        }
    }

    /// What a sequence is taken as where nobody says it. Pieces that keep their shape are triangles that stay the same, too, for other tools.
    pub(crate) fn preferred(self, found: Mode) -> Mode {
        match found {
            Mode::Rigid if self != Self::Sinew => Mode::Soft,
            other => other,
        }
    }

    /// Whether it takes such a sequence, and has the textures that are wanted of it.
    pub(crate) fn check_sequence(
        self,
        settings: &VatSettings,
        mode: Mode,
        frames: usize,
    ) -> Result<(), BakeError> {
        let wrong = |found: String, expected| {
            Err(BakeError::Convention {
                convention: self.name(),
                found,
                expected,
            })
        };
        if self == Self::Sinew {
            return Ok(());
        }
        if let Some(expected) = self.refuses(mode, settings.space()) {
            let found = match mode {
                Mode::Particles => "points",
                Mode::Rigid => "pieces",
                _ => "triangles that change",
            };
            return wrong(found.into(), expected);
        }
        if matches!(self, Self::SideFx { .. }) && frames < 2 {
            let expected = "two at least: its shaders hide vertices of a texture with one";
            return wrong(format!("{frames} frames"), expected);
        }
        self.check_textures(settings, mode)
    }

    /// What it takes, where it does not take a mode.
    fn refuses(self, mode: Mode, space: Space) -> Option<&'static str> {
        match (self, mode) {
            (Self::Sinew, _) | (_, Mode::Soft) => None,
            (Self::OpenVat { .. }, _) => {
                Some("triangles that stay the same in all frames (mode soft)")
            }
            (Self::SideFx { .. }, _) => pieces::refused(mode, space),
        }
    }

    /// Bytes of a texel of the lookup.
    pub(crate) fn lookup_bytes(self) -> u64 {
        match self {
            Self::SideFx { .. } => 4,
            _ => LOOKUP_BYTES as u64,
        }
    }

    /// The largest side of textures that a lookup points into.
    pub(crate) fn largest_side(self, settings: &VatSettings) -> u32 {
        match self {
            Self::SideFx { .. } => settings.largest_side.min(lookup::LARGEST_SIDE),
            _ => settings.largest_side,
        }
    }

    /// Where texels are; `None`: wherever they fit.
    pub(crate) fn layout(
        self,
        vertices: u32,
        frames: u32,
        limit: u32,
    ) -> Result<Option<Layout>, LayoutError> {
        match self {
            Self::Sinew => Ok(None),
            Self::OpenVat { packed_normals } => {
                openvat::layout(vertices, frames, packed_normals, limit).map(Some)
            }
            Self::SideFx { .. } => sidefx::layout(vertices, frames, limit).map(Some),
        }
    }

    /// What textures hold, from what was asked for and what it is between.
    pub(crate) fn textures(
        self,
        choices: &[TextureChoice],
        extents: &[Extent],
    ) -> Vec<TextureSpec> {
        let pairs = choices.iter().zip(extents);
        match self {
            Self::Sinew => pairs
                .map(|(c, e)| TextureSpec::new(c.quantity.clone(), c.format, e))
                .collect(),
            Self::OpenVat { .. } => pairs.map(|(c, e)| openvat::texture(c, e)).collect(),
            Self::SideFx { compressed_normals } => pairs
                .filter_map(|(c, e)| sidefx::texture(c, e, compressed_normals))
                .collect(),
        }
    }

    /// What the textures of pieces hold; `None`: what this project's hold.
    pub(crate) fn piece_textures(self, choices: &[TextureChoice]) -> Option<Vec<TextureSpec>> {
        match self {
            Self::SideFx { .. } => Some(choices.iter().map(pieces::texture).collect()),
            _ => None,
        }
    }

    /// What the textures of particles hold; `None`: what this project's hold.
    pub(crate) fn particle_textures(self, choices: &[TextureChoice]) -> Option<Vec<TextureSpec>> {
        match self {
            Self::SideFx { .. } => {
                Some(choices.iter().filter_map(sidefx::sprite_texture).collect())
            }
            _ => None,
        }
    }

    /// The texels of pieces in one frame, from their poses and those of the frame that players blend to, in the space of glTF; `None`: those of
    /// this project.
    pub(crate) fn encode_pieces(
        self,
        poses: &[PiecePose],
        next: Option<&[PiecePose]>,
        textures: &[TextureSpec],
        space: Space,
    ) -> Option<Vec<Vec<u8>>> {
        match self {
            Self::SideFx { .. } => Some(pieces::encode(poses, next, textures, space)),
            _ => None,
        }
    }

    /// How a piece lies, in the space of glTF, from what textures say, four numbers each; `None`: it is said as this project does.
    pub(crate) fn seen_pose(
        self,
        position: [f32; 4],
        rotation: [f32; 4],
        space: Space,
    ) -> Option<PiecePose> {
        match self {
            Self::SideFx { .. } => Some(pieces::decode(position, rotation, space)),
            _ => None,
        }
    }

    /// Whether pivots are in the carrier rather than in the texels of the first frame.
    pub(crate) fn carries_pivots(self) -> bool {
        matches!(self, Self::SideFx { .. })
    }

    /// The carrier of pieces, with the pivots of its vertices where the convention has them there.
    pub(crate) fn piece_carrier(self, mesh: Mesh, pivots: &[[f32; 3]]) -> Mesh {
        match self.carries_pivots() {
            true => pieces::with_pivots(mesh, pivots),
            false => mesh,
        }
    }

    /// The carrier with its vertices in the order of the texels.
    pub(crate) fn carrier(self, carrier: SoftCarrier) -> SoftCarrier {
        match self {
            Self::OpenVat { .. } => carrier.reversed(),
            _ => carrier,
        }
    }

    /// Normals of a frame as the convention says them; `None`: as vectors. `normals` and the mesh are in the space of glTF.
    pub(crate) fn shading(
        self,
        carrier: &SoftCarrier,
        mesh: &Mesh,
        normals: &[[f32; 3]],
        space: Space,
    ) -> Option<Shading> {
        match self {
            Self::SideFx { .. } => Some(Shading::of_carrier(carrier, mesh, normals, space)),
            _ => None,
        }
    }

    /// The same of the corners of a frame's triangles.
    pub(crate) fn shading_of_corners(
        self,
        normals: &[[[f32; 3]; 3]],
        space: Space,
    ) -> Option<Shading> {
        match self {
            Self::SideFx { .. } => Some(Shading::of_corners(normals, space)),
            _ => None,
        }
    }

    /// The normal that a texture says of a texel, if it does, in the space of the textures.
    pub(crate) fn seen_normal(
        self,
        space: Space,
        spec: &TextureSpec,
        bytes: &[u8],
        texel: usize,
    ) -> Option<[f32; 3]> {
        match self {
            Self::SideFx { .. } => shading::seen(space, spec, bytes, texel),
            _ => (spec.quantity == Quantity::Normal).then(|| decode(spec, bytes, texel)),
        }
    }

    /// Writes the files; gives the name of the one that describes the others, or `None` where they are this project's own. `carrier` is that
    /// of the first frame, with the texels' places as its last texture coordinates; `page` makes the report of the names of the other files.
    pub(crate) fn write(
        self,
        job: &VatJob,
        plan: &VatPlan,
        carrier: Mesh,
        out: &Path,
        page: MakePage<'_>,
        watch: &Watch<'_>,
    ) -> Result<Option<String>, BakeError> {
        let mut folder = match self {
            Self::Sinew => return Ok(None),
            _ => AtomicDir::create(out)?,
        };
        let stage = watch.stage("textures", plan.textures.len());
        stage.go_on()?;
        let name = match self {
            Self::OpenVat { packed_normals } => {
                openvat::write(job, plan, carrier, packed_normals, &mut folder)?
            }
            _ => sidefx::write(job, plan, carrier, &mut folder)?,
        };
        stage_report(&mut folder, job.name(), page)?;
        folder.tells(&name);
        folder.commit()?;
        Ok(Some(name))
    }
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
    job: &VatJob,
    plan: &VatPlan,
    texture: usize,
    names: &[String],
    folder: &mut AtomicDir,
) -> Result<(), BakeError> {
    let paths = stage_all(folder, names)?;
    write_texture(job, plan, texture, &paths)
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
