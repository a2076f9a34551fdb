//! What players must show: the surface of the frames that were baked, and numbers of single vertices as this crate computes them.

use super::bakes::Bake;
use super::painted::{attributes_of, fields, moment};
use crate::vat::maker::normals::corner_normals;
use serde_json::{Value, json};
use sinew_geom::Mesh;
use sinew_vat::manifest::Mode;
use sinew_vat::playback::FrameBlend;
use sinew_vat::players::attribute_names;
use sinew_vat::quantity::Quantity;
use std::error::Error;
use std::f32::consts::PI;

/// `{ shots: [{ query, view, triangles, moment }], samples: [..], fields: [..], attributes: [..] }`; a triangle is 18 numbers, position and normal of
/// each corner; `fields` are what is painted on places at a moment, `attributes` the names that players have for textures.
pub(super) fn expected(bake: &Bake) -> Result<Value, Box<dyn Error>> {
    let has_ends = bake.manifest.has_ends;
    let shot = |(query, view, blend): &(String, &str, FrameBlend)| json!({ "query": query, "view": view, "triangles": blended(&bake.frames, *blend), "moment": moment(*blend, has_ends) });
    let names = attribute_names(&bake.manifest).into_iter().flatten();
    Ok(json!({
        "shots": shots(bake).iter().map(shot).collect::<Vec<_>>(),
        "samples": samples(bake)?,
        "fields": if bake.manifest.textures.len() > 2 { fields() } else { json!([]) },
        "attributes": names.collect::<Vec<_>>(),
    }))
}

fn shots(bake: &Bake) -> Vec<(String, &'static str, FrameBlend)> {
    let clips = &bake.manifest.clips;
    let at = |clip: usize, secs: f64| clips[clip].frames.at(secs);
    let stepped = |blend: FrameBlend| FrameBlend {
        weight: 0.0,
        ..blend
    };
    let second = &clips[1].name;
    match bake.manifest.mode {
        Mode::Remesh if !bake.manifest.can_blend => vec![
            ("frame=0".into(), "front", stepped(at(0, 0.0))),
            ("time=0.5625".into(), "side", stepped(at(0, 0.5625))),
            ("time=99".into(), "front", stepped(at(0, 99.0))),
            (
                format!("clip={second}&time=1.5"),
                "top",
                stepped(at(1, 1.5)),
            ),
        ],
        // Pieces and particles have shots of their own.
        Mode::Remesh | Mode::Soft | Mode::Rigid | Mode::Particles => vec![
            ("frame=2".into(), "front", at(0, 0.25)),
            ("frame=2.5".into(), "front", at(0, 0.3125)),
            ("frame=2.5&blend=0".into(), "top", stepped(at(0, 0.3125))),
            ("time=-0.03125".into(), "side", at(0, -0.03125)),
            (format!("clip={second}&time=0.46875"), "top", at(1, 0.46875)),
        ],
    }
}

/// All triangles of a frame, or between two frames of the same triangles.
fn blended(frames: &[Mesh], at: FrameBlend) -> Vec<f32> {
    let (a, b) = (&frames[at.frame as usize], &frames[at.next as usize]);
    let first = corners(a);
    if at.weight == 0.0 {
        return first;
    }
    let second = corners(b);
    let mix = |(a, b): (&f32, &f32)| a + (b - a) * at.weight;
    first.iter().zip(&second).map(mix).collect()
}

fn corners(mesh: &Mesh) -> Vec<f32> {
    let normals = corner_normals(&mesh.topology, &mesh.positions, PI);
    let triangles = mesh.topology.triangles().iter().zip(&normals);
    let corner = |(v, normal): (&u32, &[f32; 3])| {
        let place = mesh.positions[*v as usize];
        [place, *normal].concat()
    };
    triangles
        .flat_map(|(t, n)| t.iter().zip(n).flat_map(corner).collect::<Vec<_>>())
        .collect()
}

/// Positions and normals of some vertices at some moments of each clip, from the texels.
fn samples(bake: &Bake) -> Result<Vec<Value>, Box<dyn Error>> {
    let animation = bake.animation()?;
    let manifest = animation.manifest();
    let places = manifest.positions().ok_or("no places")?;
    let normals = manifest.texture(&Quantity::Normal).ok_or("no normals")?;
    let is_offset = manifest.textures[places].spec.quantity == Quantity::Offset;
    let mut out = Vec::new();
    for (clip, named) in manifest.clips.iter().enumerate() {
        for secs in [
            -0.28125, 0.0, 0.125, 0.203125, 0.59375, 0.96875, 1.0, 12.53125,
        ] {
            let mut at = named.frames.at(secs);
            if !manifest.can_blend {
                at.weight = 0.0;
            }
            for vertex in (0..manifest.layout.vertices).step_by(211) {
                let value = |texture: usize, k: usize| {
                    animation.blended(texture, vertex, manifest.in_layout(at), k)
                };
                let carrier = bake.carrier.positions[vertex as usize];
                let carried = if is_offset { carrier } else { [0.0; 3] };
                let position = [0, 1, 2].map(|k| carried[k] + value(places, k));
                let normal = [0, 1, 2].map(|k| value(normals, k));
                let length = normal.iter().map(|n| n * n).sum::<f32>().sqrt();
                let normal = normal.map(|n| n / length);
                out.push(json!({
                    "clip": clip, "secs": secs, "vertex": vertex, "carrier": carrier,
                    "uv": bake.carrier.uvs[manifest.uv_set as usize][vertex as usize],
                    "frame": manifest.in_layout(at).frame, "position": position, "normal": normal,
                    "attributes": attributes_of(&animation, vertex, at),
                }));
            }
        }
    }
    Ok(out)
}
