//! Godot 4: a spatial shader.

use super::Player;
use crate::manifest::Space;

pub(super) const PLAYER: Player = Player {
    space: Space::YUpRightHanded,
    templates: &[(".gdshader", include_str!("player.gdshader"))],
};
