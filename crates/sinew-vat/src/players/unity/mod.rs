//! Unity: an include for shader graphs and shaders written by hand.

use super::Player;
use super::shapes::Sections;
use crate::manifest::Space;

pub(super) const PLAYER: Player = Player {
    space: Space::YUpLeftHanded,
    templates: &[(".unity.hlsl", include_str!("player.hlsl"))],
    attributes: concat!(
        include_str!("lookup_texel.hlsl"),
        include_str!("../hlsl/lookup_texel.hlsl"),
        include_str!("../hlsl/attributes.hlsl")
    ),
    sections: Sections {
        vertices: "\n#endif\n",
        pieces: concat!(
            include_str!("../hlsl/pieces.hlsl"),
            include_str!("pieces.hlsl")
        ),
        sprites: concat!(
            include_str!("../hlsl/sprites.hlsl"),
            include_str!("sprites.hlsl")
        ),
    },
};
