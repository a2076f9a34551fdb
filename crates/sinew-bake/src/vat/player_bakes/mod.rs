//! Small bakes with all their players, and what a player must show of them.
//!
//! `tools/e2e/vat_browser.mjs` plays them in a browser. Each bake has a folder: the manifest, the textures, the carrier and the
//! players, as a user gets them, and `expected.json` for the comparison.

mod bakes;
mod expected;
mod painted;
mod tumble;

use bakes::Bake;
use serde_json::to_string;
use sinew_io::write_text;
use sinew_vat::players::players;
use std::error::Error;
use std::path::PathBuf;

/// Writes them into the folder that the environment variable `SINEW_PLAYER_BAKES` names, for the programs that play them; without it they are only made.
#[test]
fn player_bakes() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let folder = std::env::var_os("SINEW_PLAYER_BAKES").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| scratch.path().to_path_buf());
    bakes::all(&folder)?.iter().try_for_each(finish)
}

/// Writes what was changed in the manifest, with the players for that, and what they must show.
fn finish(bake: &Bake) -> Result<(), Box<dyn Error>> {
    let manifest = &bake.manifest;
    let write = |name: &str, text: &str| write_text(&bake.folder.join(name), text);
    let text = serde_json::to_string_pretty(manifest)?;
    write(&format!("{}.vat.json", manifest.name), &text)?;
    for player in players(manifest) {
        write(&player.name, &player.text)?;
    }
    let expected = match manifest.mode.has_texel_per_vertex() {
        true => expected::expected(bake)?,
        false => tumble::expected(bake)?,
    };
    Ok(write("expected.json", &to_string(&expected)?)?)
}
