//! For which engine, and in whose files, `sinew bake vat` writes.

use crate::exit::{Failure, Outcome};
use clap::ValueEnum;
use sinew::bake::vat::{Convention, OpenVat, SideFx, Space, VatSettings};
use sinew::vat::texel::TexelFormat;

#[derive(Debug, clap::Args)]
pub(crate) struct ConventionArgs {
    /// Engine whose axes and unit the values of the textures are in; without it those of glTF.
    #[arg(long = "for", value_enum, value_name = "ENGINE")]
    engine: Option<Engine>,
    /// Whose names, layout and content the files have.
    #[arg(long, value_enum)]
    convention: Option<ConventionArg>,
    /// Write the carrier as OBJ, too (with --for unity it always is): in the space of glTF, with the texture coordinates of texels.
    #[arg(long)]
    obj: bool,
    /// With --convention openvat: normals below the offsets, in one texture.
    #[arg(long)]
    packed_normals: bool,
    /// With --convention sidefx: normals in ten bits of the positions' alpha, in place of a texture of rotations.
    #[arg(long)]
    compressed_normals: bool,
}

/// An engine, or what has its axes and unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Metres, right-handed, +Y up.
    Gltf,
    /// As gltf; places in two textures of 8 bits, since Godot makes 8 bits of PNG of 16.
    Godot,
    /// As gltf.
    Three,
    /// As gltf.
    Bevy,
    /// Metres, right-handed, +Z up: (x, -z, y).
    Blender,
    /// Metres, left-handed, +Y up: (-x, y, z).
    Unity,
    /// Centimetres, left-handed, +Z up: 100 (x, z, y).
    Unreal,
}

/// Whose names, layout and content files have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ConventionArg {
    /// This program's: a manifest, a carrier, players.
    Sinew,
    /// OpenVAT's, for its players; triangles stay the same.
    Openvat,
    /// That of SideFX Labs' vertex animation textures 3: soft, dynamic remeshing where triangles change, sprites; rigid pieces for Unity.
    Sidefx,
}

impl Engine {
    fn space(self) -> Space {
        match self {
            Self::Gltf | Self::Godot | Self::Three | Self::Bevy => Space::YUpRightHanded,
            Self::Blender => Space::ZUpRightHanded,
            Self::Unity => Space::YUpLeftHanded,
            Self::Unreal => Space::ZUpLeftHandedCentimeters,
        }
    }
}

impl ConventionArgs {
    /// Puts what was asked for into settings.
    pub(crate) fn apply(&self, settings: &mut VatSettings) -> Outcome {
        if let Some(engine) = self.engine {
            settings.space = engine.space();
            if engine == Engine::Godot {
                settings.place_format = TexelFormat::TwoUnorm8;
            }
        }
        settings.obj_carrier |= self.obj;
        match self.convention {
            None => {}
            Some(ConventionArg::Sinew) => settings.convention = Convention::Sinew,
            Some(ConventionArg::Openvat) => {
                let packed_normals = false;
                settings.convention = Convention::OpenVat(OpenVat { packed_normals });
            }
            Some(ConventionArg::Sidefx) => {
                let compressed_normals = false;
                settings.convention = Convention::SideFx(SideFx { compressed_normals });
            }
        }
        self.apply_normals(settings)
    }

    fn apply_normals(&self, settings: &mut VatSettings) -> Outcome {
        let fault = |flag, name| Err(Failure::usage(format!("{flag} needs --convention {name}")));
        match &mut settings.convention {
            Convention::OpenVat(OpenVat { packed_normals }) => {
                *packed_normals |= self.packed_normals
            }
            _ if self.packed_normals => return fault("--packed-normals", "openvat"),
            _ => {}
        }
        match &mut settings.convention {
            Convention::SideFx(SideFx { compressed_normals }) => {
                *compressed_normals |= self.compressed_normals;
            }
            _ if self.compressed_normals => return fault("--compressed-normals", "sidefx"),
            _ => {}
        }
        Ok(())
    }
}
