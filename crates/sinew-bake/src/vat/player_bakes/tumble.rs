//! Pieces and particles: boxes that tumble and sparks that fly, with what must be seen of them in closed form.

use super::bakes::{At, Bake, clip, in_columns, settings};
use super::painted::attributes_of;
use crate::BakeError;
use crate::vat::maker::rigid::PiecePose;
use crate::vat::maker::sprites::CORNER_UVS;
use crate::vat::records::POSES;
use crate::vat::tests::fixture::{about, box_faces};
use crate::vat::{VatJob, VatPlan, VatSettings};
use serde_json::{Value, json};
use sinew_geom::vec3::add;
use sinew_geom::{Attribute, Mesh, index32};
use sinew_testkit::meshes::mesh_from;
use sinew_vat::layout::Layout;
use sinew_vat::manifest::{Mode, Space};
use sinew_vat::playback::{AtEnd, FrameBlend};
use sinew_vat::played::{PlayedParticles, PlayedPieces};
use sinew_vat::players::attribute_names;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use std::error::Error;

const FRAMES: usize = 9;
const BOXES: usize = 3;
const SPARKS: usize = 24;

/// Where a point of a box is after `frames`: turned at a steady rate around an axis of its own, and moved in a line.
fn moved(i: usize, frames: f64, arm: [f64; 3]) -> [f64; 3] {
    let at = [
        1.3 * (i as f64 - 1.0) + 0.05 * frames,
        0.1 * frames * (i as f64 - 1.0),
        -0.04 * frames,
    ];
    add(turned(i, frames, arm), at)
}

fn turned(i: usize, frames: f64, v: [f64; 3]) -> [f64; 3] {
    let axis = [[0.0, 0.6, 0.8], [0.8, 0.0, -0.6], [0.36, 0.48, 0.8]][i];
    about(axis, [0.3, -0.9, 2.1][i] * frames, v)
}

/// The sides of a box: normal and four corners, counter-clockwise from outside.
fn sides(i: usize) -> [([f64; 3], [[f64; 3]; 4]); 6] {
    box_faces([0.3, 0.2 + 0.1 * i as f64, 0.45])
}

fn single(v: [f64; 3]) -> [f32; 3] {
    v.map(|c| c as f32)
}

/// All boxes, each side with vertices of its own.
fn boxes_at(frames: f64) -> Mesh {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for i in 0..BOXES {
        for (_, ring) in sides(i) {
            let base = index32(positions.len());
            positions.extend(ring.map(|arm| single(moved(i, frames, arm))));
            triangles.extend([[base, base + 1, base + 2], [base, base + 2, base + 3]]);
        }
    }
    mesh_from("boxes", positions, triangles)
}

/// The true triangles of the boxes: position and normal of each corner.
fn true_boxes(frames: f64) -> Vec<f32> {
    let mut out = Vec::new();
    for i in 0..BOXES {
        for (normal, ring) in sides(i) {
            let normal = single(turned(i, frames, normal));
            for k in [0, 1, 2, 0, 2, 3] {
                out.extend(single(moved(i, frames, ring[k])));
                out.extend(normal);
            }
        }
    }
    out
}

/// The bake of the boxes.
pub(super) fn boxes(at: At<'_>, format: TexelFormat, space: Space) -> Result<Bake, BakeError> {
    let frames = (0..FRAMES).map(|f| boxes_at(f as f64)).collect();
    let textures = [(Quantity::Position, format), (Quantity::Rotation, format)];
    // Edges of boxes stay hard.
    let settings = VatSettings {
        space,
        ..settings(Mode::Rigid, 30.0, textures)
    };
    let clips = vec![
        clip("tumble", 0, 9, AtEnd::Clamp),
        clip("late", 3, 5, AtEnd::Loop),
    ];
    let change = |job: &VatJob, plan: &mut VatPlan| {
        plan.layout = Layout::blocks(3, 9, [2, 2], 4, 64)?;
        (0..FRAMES).try_for_each(|frame| store_like_others(job, frame))
    };
    Bake::new(at, frames, &settings, clips, change)
}

/// Turns with a real part of zero or more, as other programs store them: that of a frame may have the other sign than that of the next.
fn store_like_others(job: &VatJob, frame: usize) -> Result<(), BakeError> {
    let poses: Option<Vec<PiecePose>> = job.work.read(POSES, frame, &job.key)?;
    let mut poses = poses.expect("planned");
    for pose in poses.iter_mut().filter(|p| p.rotation[3] < 0.0) {
        pose.rotation = pose.rotation.map(|c| -c);
    }
    job.work.write(POSES, frame, &job.key, &poses)
}

/// Place and width of a spark; nothing before its birth and after its death.
fn spark(id: usize, frame: usize) -> Option<([f32; 3], f32)> {
    let born = id % 6;
    let age = frame.checked_sub(born).filter(|age| *age < 4)? as f32;
    let angle = id as f32 * 2.4;
    let place = [
        (0.5 + 0.2 * age) * angle.cos(),
        0.5 * age - 0.12 * age * age,
        (0.5 + 0.2 * age) * angle.sin(),
    ];
    Some((place, 0.1 + 0.01 * id as f32))
}

/// Of one spark, no two of which are alike.
fn spark_color(id: usize, frame: usize) -> [f32; 4] {
    let part = |n: usize, of: usize| n as f32 / of as f32;
    [
        part(id, SPARKS),
        part(frame, FRAMES),
        part(id, 2 * SPARKS),
        1.0 - part(frame, 2 * FRAMES),
    ]
}

/// The bake of the sparks.
pub(super) fn sparks(at: At<'_>, format: TexelFormat, space: Space) -> Result<Bake, BakeError> {
    let frames = (0..FRAMES).map(sparks_at).collect();
    let quantities = [Quantity::Position, Quantity::Size, Quantity::Color(0)];
    let settings = VatSettings {
        space,
        ..settings(Mode::Particles, 0.0, quantities.map(|q| (q, format)))
    };
    let clips = vec![
        clip("fly", 0, 9, AtEnd::Clamp),
        clip("late", 3, 5, AtEnd::Loop),
    ];
    Bake::new(at, frames, &settings, clips, in_columns)
}

/// The sparks of a frame, with their numbers, widths and colours.
fn sparks_at(frame: usize) -> Mesh {
    let alive = (0..SPARKS).filter_map(|id| Some((id, spark(id, frame)?)));
    let (ids, seen): (Vec<usize>, Vec<_>) = alive.unzip();
    let (places, widths): (Vec<_>, Vec<f32>) = seen.into_iter().unzip();
    let mut mesh = mesh_from("sparks", places, Vec::new());
    mesh.colors = vec![ids.iter().map(|id| spark_color(*id, frame)).collect()];
    let numbers = ids.iter().map(|id| *id as f32).collect();
    mesh.attributes.extend([
        ("id".into(), Attribute::Scalar(numbers)),
        ("size".into(), Attribute::Scalar(widths)),
    ]);
    mesh
}

/// Axes of a look: to the right, up, towards the camera.
fn axes(view: &str) -> [[f32; 3]; 3] {
    match view {
        "side" => [[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
        "top" => [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]],
        _ => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    }
}

/// What is to be seen of the sparks: squares across the look. One that is born or dies between two frames grows or shrinks where it is.
fn true_sparks(at: FrameBlend, view: &str) -> Vec<f32> {
    let [right, up, towards] = axes(view);
    let mut out = Vec::new();
    for id in 0..SPARKS {
        let of = |frame: u32| spark(id, frame as usize);
        let weight = at.weight;
        let (place, width) = match (of(at.frame), of(at.next)) {
            (Some((p, w)), Some((q, x))) => {
                let mix = |a: f32, b: f32| a + (b - a) * weight;
                (std::array::from_fn(|k| mix(p[k], q[k])), mix(w, x))
            }
            (Some((p, w)), None) => (p, w * (1.0 - weight)),
            (None, Some((q, x))) => (q, x * weight),
            (None, None) => continue,
        };
        for k in [0, 1, 2, 0, 2, 3] {
            let [u, v] = CORNER_UVS[k];
            let (to_right, to_up) = ((u - 0.5) * width, (0.5 - v) * width);
            let corner: [f32; 3] =
                std::array::from_fn(|c| place[c] + right[c] * to_right + up[c] * to_up);
            out.extend(corner);
            out.extend(towards);
        }
    }
    out
}

/// As for other bakes: pictures and numbers.
pub(super) fn expected(bake: &Bake) -> Result<Value, Box<dyn Error>> {
    let clips = &bake.manifest.clips;
    let at = |clip: usize, secs: f64| clips[clip].frames.at(secs);
    let stepped = FrameBlend {
        weight: 0.0,
        ..at(0, 0.3125)
    };
    let late = format!("clip={}&time=0.3125", clips[1].name);
    let shots = [
        ("frame=2".to_owned(), "front", at(0, 0.25)),
        // Where the quaternions of a box change their sign.
        ("frame=1.5".to_owned(), "front", at(0, 0.1875)),
        ("frame=2.5&blend=0".to_owned(), "top", stepped),
        ("time=0.8125".to_owned(), "side", at(0, 0.8125)),
        (late, "top", at(1, 0.3125)),
    ];
    let triangles = |view: &str, at: FrameBlend| match bake.manifest.mode {
        Mode::Rigid => true_boxes(f64::from(at.frame) + f64::from(at.weight)),
        _ => true_sparks(at, view),
    };
    let shot = |(query, view, at): &(String, &str, FrameBlend)| json!({ "query": query, "view": view, "triangles": triangles(view, *at) });
    Ok(json!({
        "shots": shots.iter().map(shot).collect::<Vec<_>>(),
        "samples": samples(bake)?,
        "attributes": attribute_names(&bake.manifest).into_iter().flatten().collect::<Vec<_>>(),
    }))
}

/// Where a vertex of the boxes is in truth, metres in the axes of glTF, in a frame; between frames players go straight.
fn true_corner(vertex: usize, at: FrameBlend) -> Option<Value> {
    // Each side has four vertices of its own.
    let (side, corner) = (vertex / 4, vertex % 4);
    let ring = sides(side / 6)[side % 6].1;
    let place = || moved(side / 6, f64::from(at.frame), ring[corner]);
    (at.weight == 0.0).then(|| json!({ "place": place() }))
}

/// Middle and width of the spark that a slot shows in a frame, which its width tells: no two are alike.
fn true_spark(size: f64, space: Space, at: FrameBlend) -> Option<Value> {
    let width = size / f64::from(space.units_per_metre());
    let frame = usize::try_from(at.frame).ok()?;
    let alive = (0..SPARKS).filter_map(|id| spark(id, frame));
    let off = |spark: &([f32; 3], f32)| (f64::from(spark.1) - width).abs();
    let (place, truth) = alive.min_by(|a, b| off(a).total_cmp(&off(b)))?;
    let is_shown = at.weight == 0.0 && size > 0.0;
    is_shown.then(|| json!({ "place": place, "width": truth }))
}

/// Axes along which samples of squares are drawn: neither is an axis of the space.
const RIGHT: [f64; 3] = [0.6, 0.0, 0.8];
const UP: [f64; 3] = [0.0, 1.0, 0.0];

fn samples(bake: &Bake) -> Result<Vec<Value>, Box<dyn Error>> {
    let animation = bake.animation()?;
    let manifest = animation.manifest();
    let (pieces, particles) = (
        PlayedPieces::new(&animation),
        PlayedParticles::new(&animation),
    );
    let number_of = |uv: [f32; 2]| {
        let at = [0, 1].map(|k| (uv[k] * manifest.layout.size[k] as f32).floor());
        let is_it = |v: &u32| manifest.layout.texel(*v, 0).map(|t| t as f32) == at;
        (0..manifest.layout.vertices).find(is_it)
    };
    let mut out = Vec::new();
    for (clip, named) in manifest.clips.iter().enumerate() {
        for secs in [-0.28125, 0.0, 0.203125, 0.59375, 0.96875, 1.0, 12.53125] {
            let at = named.frames.at(secs);
            for v in (0..bake.carrier.positions.len()).step_by(5) {
                // As importers turn the mesh.
                let carrier = manifest.space.position(bake.carrier.positions[v]);
                let uv = bake.carrier.uvs[manifest.uv_set as usize][v];
                let number = number_of(uv).ok_or("texture coordinates of nothing")?;
                let (position, normal, truth) = match (&pieces, &particles) {
                    (Some(pieces), _) => {
                        let pose = pieces.pose(number, at);
                        let normal = pose.turn([0.0, 1.0, 0.0]);
                        (pose.place(carrier), normal, true_corner(v, at))
                    }
                    (_, Some(particles)) => {
                        let (middle, size) = particles.sprite(number, at);
                        let [u, v] = CORNER_UVS[v % 4].map(f64::from);
                        let place = |k: usize| {
                            middle[k] + (RIGHT[k] * (u - 0.5) + UP[k] * (0.5 - v)) * size
                        };
                        let truth = true_spark(size, manifest.space, at);
                        ([0, 1, 2].map(place), UP, truth)
                    }
                    _ => return Err("neither pieces nor particles".into()),
                };
                out.push(json!({
                    "clip": clip, "secs": secs, "vertex": v, "carrier": carrier, "uv": uv,
                    "corner": bake.carrier.uvs[0][v], "number": number,
                    "frame": at.frame, "position": position, "normal": normal,
                    "attributes": attributes_of(&animation, number, at),
                    "truth": truth,
                }));
            }
        }
    }
    Ok(out)
}
