//! What is wanted of a bake.

use super::convention::{Convention, FileConvention};
use super::job::is_plain;
use super::mode;
use super::points;
use super::shapes::{self, ParticleSettings, PieceSettings};
use crate::BakeError;
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

    /// Whether it may turn out that unique points have texels.
    pub(crate) fn may_have_unique_points(&self) -> bool {
        self.may_be(Mode::Remesh) && self.has_unique_points()
    }

    /// Whether unique points have texels where triangles change.
    pub(crate) fn has_unique_points(&self) -> bool {
        self.points == Points::Unique || self.files().needs_unique_points()
    }

    /// Names, layout and content of the files.
    pub(crate) fn files(&self) -> &dyn FileConvention {
        self.convention.files()
    }

    /// Axes and unit of the values, which a convention may prescribe.
    pub fn space(&self) -> Space {
        self.files().space().unwrap_or(self.space)
    }

    /// The crease in radians.
    pub fn crease(&self) -> f32 {
        self.crease_degrees.to_radians()
    }

    /// The textures of a mode: those asked for, or what it has by default.
    pub fn textures_of(&self, mode: Mode) -> Vec<TextureChoice> {
        mode::of(mode).textures(self)
    }

    /// Whether the settings make sense, without a frame.
    ///
    /// # Errors
    /// [`BakeError::Setting`] names the first that does not.
    pub fn check(&self) -> Result<(), BakeError> {
        let wrong = |setting, found, expected| Err(BakeError::setting(setting, found, expected));
        if let Some(name) = &self.name
            && let Some((found, expected)) = fault_of_name(name)
        {
            return wrong("name", found, expected);
        }
        let rate = self.frames_per_second;
        if !(rate > 0.0 && rate.is_finite()) {
            return wrong("frames_per_second", rate.to_string(), "a number above 0");
        }
        if !(1..=65536).contains(&self.largest_side) {
            let found = self.largest_side.to_string();
            return wrong("largest_side", found, "1 to 65536 texels");
        }
        if !(0.0..=180.0).contains(&self.crease_degrees) {
            let found = self.crease_degrees.to_string();
            return wrong("crease_degrees", found, "0 to 180");
        }
        let places = self
            .textures
            .iter()
            .filter(|t| t.quantity.is_position())
            .count();
        // Pieces and particles have positions whether they are asked for or not; what a sequence is may not be known yet.
        let has_always = self.mode.is_none_or(|m| mode::of(m).always_has_positions());
        let is_enough = places == 1 || (places == 0 && has_always);
        if !self.textures.is_empty() && !is_enough {
            let found = format!("a list with {places} of positions or offsets");
            let expected = "one of them: add position:unorm16";
            return wrong("textures", found, expected);
        }
        for (i, texture) in self.textures.iter().enumerate() {
            if self.textures[..i]
                .iter()
                .any(|t| t.quantity == texture.quantity)
            {
                let found = format!("{} twice", texture.quantity);
                return wrong("textures", found, "each quantity once");
            }
        }
        if let Some(found) = self.retriangulate_tolerance
            && !(found >= 0.0 && found.is_finite())
        {
            let expected = "a number of metres, 0 or above";
            return wrong("retriangulate_tolerance", found.to_string(), expected);
        }
        points::check(self)?;
        shapes::check(&self.pieces, &self.particles)?;
        self.convention.check(self)?;
        self.prepare.check().map_err(BakeError::Preparation)
    }
}

/// Why files cannot have a name everywhere: what it is, and what would do.
fn fault_of_name(name: &str) -> Option<(String, &'static str)> {
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
