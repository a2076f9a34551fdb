//! Unity: an include for shader graphs and shaders written by hand.

use super::Player;
use crate::manifest::Space;

pub(super) const PLAYER: Player = Player {
    space: Space::YUpLeftHanded,
    templates: &[(".unity.hlsl", include_str!("player.hlsl"))],
};
