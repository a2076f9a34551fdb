//! Unreal: functions for custom nodes of a material.

use super::Player;
use super::shapes::Sections;
use crate::manifest::Space;

pub(super) const PLAYER: Player = Player {
    space: Space::ZUpLeftHandedCentimeters,
    templates: &[(".unreal.ush", include_str!("player.ush"))],
    attributes: concat!(
        include_str!("lookup_texel.ush"),
        include_str!("../hlsl/lookup_texel.hlsl"),
        include_str!("../hlsl/attributes.hlsl"),
        include_str!("attributes.ush")
    ),
    sections: Sections {
        vertices: "",
        pieces: concat!(
            include_str!("../hlsl/pieces.hlsl"),
            include_str!("pieces.ush")
        ),
        sprites: concat!(
            include_str!("../hlsl/sprites.hlsl"),
            include_str!("sprites.ush")
        ),
    },
};
