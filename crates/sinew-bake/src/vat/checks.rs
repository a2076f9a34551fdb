//! What settings mean together: which files, which textures, and whether they fit.

use super::convention::FileConvention;
use super::settings::{Mode, Points, Space, TextureChoice, VatSettings, fault_of_name};
use super::{mode, points, shapes};
use crate::BakeError;

impl VatSettings {
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
