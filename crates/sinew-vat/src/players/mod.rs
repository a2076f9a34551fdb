//! Players: the code that shows a bake in an engine, written with each bake.
//!
//! Each engine has a folder with its templates and a [`Target`]; what a template may ask for is in `facts.rs`, how it asks in
//! `template.rs`. All players do the same: one texel a vertex and attribute (two where frames are blended), addressed by whole
//! numbers, and the frames that [`crate::playback::ClipFrames::at`] gives. The README beside this file says how each engine is set up.

mod attributes;
#[cfg(test)]
mod attributes_tests;
mod facts;
mod godot;
mod shapes;
mod template;
#[cfg(test)]
mod tests;
mod three_js;
mod unity;
mod unreal;
mod wgsl;

pub use attributes::attribute_names;

use crate::manifest::{Manifest, Space};
use facts::Facts;
use shapes::Sections;

/// One file of a player.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlayerFile {
    /// Its name, without a folder; it belongs beside the manifest.
    pub name: String,
    /// What it holds.
    pub text: String,
}

/// An engine, or a shading language that several have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// WebGPU, wgpu, Bevy: `NAME.wgsl`.
    Wgsl,
    /// three.js: `NAME.three.js` and `NAME.html`, which shows it.
    ThreeJs,
    /// Godot 4: `NAME.gdshader`.
    Godot,
    /// Unity: `NAME.unity.hlsl`.
    Unity,
    /// Unreal: `NAME.unreal.ush`.
    Unreal,
}

/// What an engine's folder says of it.
struct Player {
    /// Axes and unit of the engine, which those of the textures should be.
    space: Space,
    /// What its files are called behind the name of the bake, and their templates.
    templates: &'static [(&'static str, &'static str)],
    /// What stands for `{{>ATTRIBUTES}}` in them: how textures beside those of the mode are read, and where points are that a lookup names.
    attributes: &'static str,
    /// What stands for `{{>MODE}}` in them.
    sections: Sections,
}

impl Player {
    /// A template with what it has for attributes.
    fn whole(&self, template: &str) -> String {
        template.replace("{{>ATTRIBUTES}}\n", self.attributes)
    }
}

impl Target {
    /// Every one.
    pub const ALL: [Self; 5] = [
        Self::Wgsl,
        Self::ThreeJs,
        Self::Godot,
        Self::Unity,
        Self::Unreal,
    ];

    /// The files that play a bake there; none where the manifest has no texture of places ([`Manifest::check`] refuses that).
    pub fn files(self, manifest: &Manifest) -> Vec<PlayerFile> {
        let player = self.player();
        let Some(facts) = Facts::new(manifest, player.space) else {
            return Vec::new();
        };
        let file = |(suffix, text): &(&str, &str)| PlayerFile {
            name: format!("{}{suffix}", facts::file_stem(&manifest.name)),
            text: template::expand(
                &player.whole(text),
                player.sections.of(manifest.mode),
                &facts,
            ),
        };
        player.templates.iter().map(file).collect()
    }

    fn player(self) -> &'static Player {
        match self {
            Self::Wgsl => &wgsl::PLAYER,
            Self::ThreeJs => &three_js::PLAYER,
            Self::Godot => &godot::PLAYER,
            Self::Unity => &unity::PLAYER,
            Self::Unreal => &unreal::PLAYER,
        }
    }
}

/// The players of all engines, to be written beside the manifest.
pub fn players(manifest: &Manifest) -> Vec<PlayerFile> {
    let files = |target: Target| target.files(manifest);
    Target::ALL.into_iter().flat_map(files).collect()
}
