//! For which engine, and in whose files, `sinew bake vat` writes.

use crate::exit::{Failure, Outcome};
use clap::ValueEnum;
use sinew::bake::vat::{Convention, OpenVat, SideFx, Space, VatSettings};
use sinew::vat::texel::TexelFormat;

#[derive(Debug, clap::Args)]
pub(crate) struct ConventionArgs {
    /// Write textures in the axes and unit of this engine. Default: gltf.
    #[arg(long = "for", value_enum, value_name = "ENGINE")]
    engine: Option<Engine>,
    /// Write the files of this tool: names, layout and content. Default: sinew.
    #[arg(long, value_enum)]
    convention: Option<ConventionArg>,
    /// Write the carrier mesh as OBJ as well, in the axes of glTF. Always written with --for unity.
    #[arg(long)]
    obj: bool,
    /// Store offsets and normals in one texture: offsets in the upper half, normals in the lower half. Needs --convention openvat.
    #[arg(long)]
    packed_normals: bool,
    /// Store each normal in 10 bits, in the alpha channel of the position texture. Needs --convention sidefx.
    ///
    /// With sidefx, normals are otherwise in a rotation texture.
    #[arg(long)]
    compressed_normals: bool,
}

/// An engine, or what has its axes and unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Metres, right-handed, +Y up.
    Gltf,
    /// As gltf, with positions in two 8-bit textures, because Godot reads 16-bit PNG as 8 bits.
    Godot,
    /// As gltf.
    Three,
    /// As gltf.
    Bevy,
    /// Metres, right-handed, +Z up: (x, y, z) of glTF becomes (x, -z, y).
    Blender,
    /// Metres, left-handed, +Y up: (-x, y, z).
    Unity,
    /// Centimetres, left-handed, +Z up: 100 (x, z, y).
    Unreal,
}

/// Whose names, layout and content the files have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ConventionArg {
    /// Sinew: a manifest, a carrier mesh and players.
    Sinew,
    /// OpenVAT, for its players. Needs constant topology: the same triangles in all frames.
    Openvat,
    /// SideFX Labs vertex animation textures 3: soft body, dynamic remeshing, sprites; rigid body for Unity.
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
