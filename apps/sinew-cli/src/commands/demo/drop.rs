//! A drop that parts, baked into vertex animation textures.

use super::look::{Look, draw};
use crate::exit::{Failure, Outcome};
use sinew::bake::vat::{VatSettings, bake, read_animation, remove_work};
use sinew::bake::{MeshFrames, Watch};
use sinew::vat::quantity::Quantity;
use sinew_picture::{Camera, Image, side_by_side};
use std::path::Path;

/// Name of the baked sequence.
pub(super) const DROP: &str = "drop";
const DROP_FRAMES: usize = 24;

/// A drop that parts, whose triangles change from frame to frame: baked with its players and its report, and a picture of what the bake shows.
pub(super) fn baked_drop(folder: &Path) -> Outcome {
    let frames = sinew_samples::parting_drop(DROP_FRAMES);
    let bounds = frames.iter().flat_map(|f| f.positions.iter().copied());
    let camera = Camera::framing(&bounds.collect::<Vec<_>>(), 0.5, 0.3, 1.0);
    let source = MeshFrames::new(DROP, frames);
    let [out, work] = ["vat", "vat.work"].map(|end| folder.join(format!("{DROP}_{end}")));
    let settings = VatSettings::default();
    bake(&source, &settings, &work, &out, &Watch::NOBODY)?;
    remove_work(&work)?;
    let baked = read_animation(&out)?;
    let places = baked.manifest().positions().unwrap_or(0);
    let vertices = baked.manifest().layout.vertices;
    let triangles: Vec<[u32; 3]> = (0..vertices / 3)
        .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
        .collect();
    let normals = baked.manifest().texture(&Quantity::Normal);
    let mut panels = Vec::new();
    for frame in [0, 8, 16, 23] {
        let row = frame * baked.manifest().frame_step();
        let vector = |texture, v| std::array::from_fn(|k| baked.value(texture, v, row, k));
        let vectors = |texture| {
            (0..vertices)
                .map(|v| vector(texture, v))
                .collect::<Vec<_>>()
        };
        let look = Look {
            positions: vectors(places),
            normals: normals.map(vectors),
            ..Look::default()
        };
        panels.push((format!("frame {frame}"), draw(&look, &triangles, &camera)?));
    }
    let panels: Vec<(&str, &Image)> = panels.iter().map(|(l, i)| (l.as_str(), i)).collect();
    sinew::io::write_png(
        &folder.join(format!("{DROP}_vat.png")),
        &side_by_side(&panels),
    )
    .map_err(Failure::output)
}
