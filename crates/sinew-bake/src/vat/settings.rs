//! What is wanted of a bake.

use super::shapes::{ParticleSettings, PieceSettings};
use crate::vat::maker::prepare::PrepareSettings;
use serde::{Deserialize, Serialize};
pub use sinew_vat::manifest::{Mode, Space};
use sinew_vat::playback::AtEnd;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;

/// Letters of a wrong name that are shown.
const SHOWN_OF_NAME: usize = 40;
/// Bytes of a name: file systems allow 255, and files have endings.
const LONGEST_NAME: usize = 200;

/// What is wanted of a bake; the defaults give one that every engine but Godot plays at full precision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VatSettings {
    /// What the files are called; nothing: as the sequence is. Letters and digits of all scripts, `-` and `_`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How the sequence is taken; nothing: by what it is.
    pub mode: Option<Mode>,
    /// Textures; empty: positions (or offsets, where triangles stay the same) in `place_format`, normals in 8 bits; of pieces positions and
    /// rotations, of particles positions and sizes in `place_format`.
    pub textures: Vec<TextureChoice>,
    /// How places are stored where no texture of them is asked for. Godot makes 8 bits of PNG of 16 and wants two textures of 8.
    pub place_format: TexelFormat,
    /// Frames a second.
    pub frames_per_second: f32,
    /// What comes after the last frame.
    pub at_end: AtEnd,
    /// Largest side of a texture, texels. WebGL 2 promises 2048, WebGPU 8192, desktops have 16384.
    pub largest_side: u32,
    /// Whether sides are made powers of two.
    pub powers_of_two: bool,
    /// Edges sharper than this stay hard, degrees.
    pub crease_degrees: f32,
    /// What is done to every frame before all else.
    pub prepare: PrepareSettings,
    /// Which slot shows which triangle, where triangles change.
    pub order: TriangleOrder,
    /// Vector attribute that says where points go, metres a second: makes matching better.
    pub velocity: Option<String>,
    /// What has a texel, where triangles change. Without effect where it turns out that they stay the same.
    pub points: Points,
    /// Which vertices move together, where pieces keep their shape.
    pub pieces: PieceSettings,
    /// How far the surface of a frame may be from what is shown where the frame cuts faces into other triangles than the first one, metres; nothing: 2e-5 of
    /// the diagonal of the box. Where triangles stay the same, quads that are farther off get a vertex in their middle and are exact.
    #[serde(alias = "recut_tolerance")]
    pub retriangulate_tolerance: Option<f32>,
    /// How points are followed and drawn, where frames are points.
    pub particles: ParticleSettings,
    /// Axes and unit of the values.
    pub space: Space,
    /// Names, layout and content of the files.
    pub convention: Convention,
    /// Whether the carrier is written as OBJ, too, whatever the space is; of particles there is none.
    pub obj_carrier: bool,
}

impl Default for VatSettings {
    fn default() -> Self {
        Self {
            name: None,
            mode: None,
            textures: Vec::new(),
            place_format: TexelFormat::Unorm16,
            frames_per_second: 24.0,
            at_end: AtEnd::default(),
            largest_side: 4096,
            powers_of_two: false,
            crease_degrees: 60.0,
            prepare: PrepareSettings::default(),
            order: TriangleOrder::default(),
            velocity: None,
            points: Points::default(),
            pieces: PieceSettings::default(),
            retriangulate_tolerance: None,
            particles: ParticleSettings::default(),
            space: Space::default(),
            convention: Convention::default(),
            obj_carrier: false,
        }
    }
}

/// One texture that is wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextureChoice {
    /// What it holds.
    pub quantity: Quantity,
    /// How a channel is stored.
    pub format: TexelFormat,
}

/// Whose names, layout and content files have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Convention {
    /// This project's: a manifest, a carrier, players.
    #[default]
    Sinew,
    /// `OpenVAT`'s.
    OpenVat(OpenVat),
    /// That of the vertex animation textures of `SideFX` Labs 3.
    SideFx(SideFx),
}

/// Offsets in the axes of Blender, columns of frames; triangles stay the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenVat {
    /// Normals in the lower half of the one texture, in place of a file of their own.
    pub packed_normals: bool,
}

/// Modes "soft", "dynamic remeshing" ("fluid"), "rigid" for Unity, and "sprites".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideFx {
    /// Normals in ten bits of the positions' alpha, in place of a texture of rotations.
    pub compressed_normals: bool,
}

/// What has a texel where triangles change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Points {
    /// Each corner of a triangle.
    #[default]
    Corners,
    /// Each unique point of a frame, once; a lookup says which point a corner shows.
    Unique,
}

/// Which slot shows which triangle of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriangleOrder {
    /// Each triangle in the slot of what it was before, so that frames can be blended.
    #[default]
    Match,
    /// As they stand in the file: for players that step from frame to frame.
    File,
}

impl Convention {
    /// Whether files are this project's own.
    pub(crate) fn is_own(&self) -> bool {
        *self == Self::Sinew
    }
}

impl VatSettings {
    /// Whether triangles that change are matched. Players of other tools step where they do: nothing is matched for them.
    pub(crate) fn is_matched(&self) -> bool {
        self.order == TriangleOrder::Match && self.convention.is_own()
    }

    /// Whether frames have their ends behind them, where triangles change: blends go to where points are on the next frame's surface, which stays closed.
    /// Blends of unique points go to what is next in the slot; triangles part from their neighbours on the way.
    pub fn has_ends(&self) -> bool {
        self.is_matched() && self.points == Points::Corners
    }

    /// Whether it may turn out that the sequence is taken so.
    pub(crate) fn may_be(&self, mode: Mode) -> bool {
        self.mode.is_none_or(|asked| asked == mode)
    }

    /// The crease in radians.
    pub fn crease(&self) -> f32 {
        self.crease_degrees.to_radians()
    }
}

/// Why files cannot have a name everywhere: what it is, and what would do.
pub(super) fn fault_of_name(name: &str) -> Option<(String, &'static str)> {
    let is_device = is_device_of_windows(name);
    if !is_device && (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_plain) {
        return None;
    }
    let shown: String = name.chars().take(SHOWN_OF_NAME).collect();
    let found = match shown.len() < name.len() {
        true => format!("'{shown}..' of {} bytes", name.len()),
        false => format!("'{shown}'"),
    };
    let expected = match is_device {
        true => "another name: Windows keeps this one for a device",
        false => "1 to 200 bytes of letters, digits, - and _",
    };
    Some((found, expected))
}

/// Whether files may have a character in their names everywhere, and shaders in comments: letters and digits of all scripts, the marks that are
/// written over and under them, `-` and `_`. Others mean something to shells, addresses of pages or file systems.
pub(crate) fn is_plain(c: char) -> bool {
    let is_mark = matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}');
    c.is_alphanumeric() || is_mark || matches!(c, '-' | '_')
}

/// Whether Windows takes files of a name, whatever their endings are, for a device.
pub(crate) fn is_device_of_windows(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let port = name.strip_prefix("com").or(name.strip_prefix("lpt"));
    let digits = [
        "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "\u{b9}", "\u{b2}", "\u{b3}",
    ];
    matches!(name.as_str(), "con" | "prn" | "aux" | "nul")
        || port.is_some_and(|p| digits.contains(&p))
}
