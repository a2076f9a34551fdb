//! three.js: a module, and a page that shows it.

use super::Player;
use super::shapes::Sections;
use crate::manifest::Space;

pub(super) const PLAYER: Player = Player {
    space: Space::YUpRightHanded,
    templates: &[
        (".three.js", include_str!("player.js")),
        (".html", include_str!("page.html")),
    ],
    attributes: include_str!("attributes.js"),
    sections: Sections {
        vertices: include_str!("shapes.js"),
        pieces: include_str!("shapes.js"),
        sprites: include_str!("shapes.js"),
    },
};
