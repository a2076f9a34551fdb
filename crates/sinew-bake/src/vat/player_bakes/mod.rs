//! Small bakes with all their players, and what a player must show of them.
//!
//! `tools/e2e/vat_browser.mjs` plays them in a browser. Each bake has a folder: the manifest, the textures, the carrier and the
//! players, as a user gets them, and `expected.json` for the comparison.

mod bakes;
mod expected;
mod painted;
mod points;
mod tumble;
mod write;

use std::error::Error;
use std::path::PathBuf;

/// Writes them into the folder that the environment variable `SINEW_PLAYER_BAKES` names, for the programs that play them; without it they are only made.
#[test]
fn player_bakes() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let folder = std::env::var_os("SINEW_PLAYER_BAKES").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| scratch.path().to_path_buf());
    for bake in bakes::all()? {
        bake.animation()?;
        write::write(&folder.join(&bake.manifest.name), &bake)?;
    }
    Ok(())
}
