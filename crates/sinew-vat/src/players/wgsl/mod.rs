//! WGSL, for WebGPU and what is built on it.

use super::Player;
use super::shapes::Sections;
use crate::manifest::Space;

pub(super) const PLAYER: Player = Player {
    space: Space::YUpRightHanded,
    templates: &[(".wgsl", include_str!("player.wgsl"))],
    attributes: concat!(
        include_str!("lookup_texel.wgsl"),
        include_str!("attributes.wgsl")
    ),
    sections: Sections {
        vertices: "",
        pieces: include_str!("pieces.wgsl"),
        sprites: include_str!("sprites.wgsl"),
    },
};
