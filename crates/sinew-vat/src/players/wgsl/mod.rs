//! WGSL, for WebGPU and what is built on it.

use super::Player;
use crate::manifest::Space;

pub(super) const PLAYER: Player = Player {
    space: Space::YUpRightHanded,
    templates: &[(".wgsl", include_str!("player.wgsl"))],
};
