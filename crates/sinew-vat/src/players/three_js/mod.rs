//! three.js: a module, and a page that shows it.

use super::Player;
use super::shapes::Sections;
use crate::manifest::Space;

/// The module plays bakes of any mode.
const ALL_MODES: &str = concat!(include_str!("lookup.js"), include_str!("shapes.js"));

pub(super) const PLAYER: Player = Player {
    space: Space::YUpRightHanded,
    templates: &[
        (".three.js", include_str!("player.js")),
        (".html", include_str!("page.html")),
    ],
    attributes: include_str!("attributes.js"),
    sections: Sections {
        vertices: ALL_MODES,
        pieces: ALL_MODES,
        sprites: ALL_MODES,
    },
};
