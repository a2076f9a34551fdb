//! Unreal: functions for custom nodes of a material.

use super::Player;
use crate::manifest::Space;

pub(super) const PLAYER: Player = Player {
    space: Space::ZUpLeftHandedCentimeters,
    templates: &[(".unreal.ush", include_str!("player.ush"))],
};
