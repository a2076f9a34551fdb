//! Godot 4: a spatial shader.

use super::Player;
use super::shapes::Sections;
use crate::manifest::Space;

pub(super) const PLAYER: Player = Player {
    space: Space::YUpRightHanded,
    templates: &[(".gdshader", include_str!("player.gdshader"))],
    attributes: concat!(
        include_str!("lookup_texel.gdshader"),
        include_str!("attributes.gdshader")
    ),
    sections: Sections {
        vertices: "",
        pieces: include_str!("pieces.gdshader"),
        sprites: include_str!("sprites.gdshader"),
    },
};
