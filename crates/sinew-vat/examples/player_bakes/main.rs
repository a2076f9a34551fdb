//! Makes small bakes with all their players, and what a player must show of them: `player_bakes FOLDER`.
//!
//! `tools/e2e/vat_browser.mjs` plays them in a browser. Each bake has a folder: the manifest, the textures, the carrier and the
//! players, as a user gets them, and `expected.json` for the comparison.

mod bakes;
mod expected;
mod painted;
mod points;
mod shapes;
mod tumble;
mod write;

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or("usage: player_bakes FOLDER")?;
    for bake in bakes::all()? {
        write::write(&folder.join(&bake.manifest.name), &bake)?;
    }
    Ok(())
}
