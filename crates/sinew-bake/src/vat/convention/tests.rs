//! Bakes for other engines and tools, read back by their rules; the truth is the sequence.

use super::*;
use crate::vat::maker::error::angle_between;
use crate::vat::maker::normals::corner_normals;
use crate::vat::settings::SideFx;
use crate::vat::tests::fixture::*;
use crate::{FrameSource, MeshFrames};
use sinew_geom::Topology;
use sinew_geom::vec3::distance;
use sinew_io::{Texels, read_texture};
use sinew_testkit::files_in as content;
use sinew_testkit::meshes::mesh_from;
use sinew_vat::animation::VertexAnimation;
use sinew_vat::manifest;

mod changing;
mod pieces;
mod sprites;

const FRAMES: usize = 5;

/// A winding tube: not its own mirror image. Vertices 0 to 49, closed but at its ends.
fn tube(frame: usize) -> Mesh {
    let at = |v: usize| {
        let (ring, side) = ((v / 5) as f32, (v % 5) as f32 * 1.256_637);
        let turn = 0.5 * ring + 0.1 * frame as f32;
        let out = 1.0 + 0.3 * side.cos();
        [
            out * turn.cos(),
            0.25 * ring + 0.3 * side.sin(),
            out * turn.sin() + 0.2,
        ]
    };
    let quads = (0..9_u32).flat_map(|r| (0..5_u32).map(move |s| (r * 5 + s, r * 5 + (s + 1) % 5)));
    let triangles = quads.flat_map(|(a, b)| [[a, b, a + 5], [b, b + 5, a + 5]]);
    let mut mesh = mesh_from("tube", (0..50).map(at).collect(), triangles.collect());
    mesh.colors = vec![(0..50).map(|v| [v as f32 / 49.0, 0.5, 0.25, 1.0]).collect()];
    mesh
}

fn tubes() -> MeshFrames {
    MeshFrames::new("tube", (0..FRAMES).map(tube).collect())
}

/// Names of the files beside the report, which must be there.
fn beside_report(out: &Path, name: &str) -> Vec<String> {
    let (report, files) = (format!("{name}.report.html"), content(out));
    assert!(files.contains_key(&report), "no report");
    files.into_keys().filter(|f| *f != report).collect()
}

/// What manuals say of the axes, written out.
fn in_engine(space: Space, [x, y, z]: [f32; 3]) -> [f32; 3] {
    match space {
        Space::YUpRightHanded => [x, y, z],
        Space::ZUpRightHanded => [x, -z, y],
        Space::YUpLeftHanded => [-x, y, z],
        Space::ZUpLeftHandedCentimeters => [100.0 * x, 100.0 * z, 100.0 * y],
    }
}

const SPACES: [Space; 4] = [
    Space::YUpRightHanded,
    Space::ZUpRightHanded,
    Space::YUpLeftHanded,
    Space::ZUpLeftHandedCentimeters,
];

#[test]
fn textures_are_in_the_axes_and_unit_of_the_engine() {
    for space in SPACES {
        for mode in [Mode::Soft, Mode::Remesh] {
            let settings = VatSettings {
                space,
                mode: Some(mode),
                crease_degrees: 180.0,
                ..VatSettings::default()
            };
            let (folders, summary) = baked(&tubes(), &settings);
            let out = folders.out();
            let found = folders.verified(&tubes(), &settings);
            assert_eq!((found.lost, found.invented), (0, 0), "{space:?}");
            // Ends of frames, too.
            let is_same = found.is_same(allowed(&found) + 1e-6);
            assert!(is_same, "{space:?}: {found:?}");
            assert_eq!(found.ends.is_some(), mode == Mode::Remesh);
            assert!(
                found.errors.normal.largest < 0.4_f64.to_radians(),
                "{space:?}"
            );
            assert!((summary.errors.position.largest - found.errors.position.largest).abs() < 1e-6);
            let animation = folders.animation();
            assert_eq!(animation.manifest().space, space);
            assert_eq!(out.join("tube.obj").exists(), space == Space::YUpLeftHanded);
            if mode == Mode::Soft {
                offsets_are_in(space, &animation, &out);
            }
        }
    }
}

/// Vertices of the carrier are those of the source in its order of triangles; the importer turns its file.
fn offsets_are_in(space: Space, animation: &VertexAnimation, out: &Path) {
    let carrier = mesh_in(&out.join("tube.glb"));
    let (places, normals) = (0, 1);
    for frame in 0..FRAMES {
        let truth = tube(frame);
        let smooth = corner_normals(&truth.topology, &truth.positions, 7.0);
        let pairs = carrier
            .topology
            .triangles()
            .iter()
            .zip(truth.topology.triangles());
        for (t, (own, source)) in pairs.enumerate() {
            for k in 0..3 {
                let value = |texture, c| animation.value(texture, own[k], frame as u32, c);
                let rest = in_engine(space, carrier.positions[own[k] as usize]);
                let seen = std::array::from_fn(|c| rest[c] + value(places, c));
                let expected = in_engine(space, truth.positions[source[k] as usize]);
                let unit = space.units_per_metre();
                assert!(
                    distance(seen, expected) < 1e-4 * unit,
                    "{space:?}: {seen:?} {expected:?}"
                );
                let normal = std::array::from_fn(|c| value(normals, c));
                let expected = in_engine(space, smooth[t][k]);
                assert!(
                    angle_between(normal, expected).to_degrees() < 0.5,
                    "{space:?}"
                );
            }
        }
    }
}

/// Every number of a bake for an engine is that of the bake for glTF, turned: ends of frames and triangles that are absent, too.
#[test]
fn all_of_a_sequence_that_changes_is_turned() {
    let fewer = |frame: usize| {
        let mut mesh = tube(frame);
        let triangles = mesh.topology.triangles()[..90 - 12 * frame].to_vec();
        mesh.topology = Topology::new(50, triangles).expect("in range").into();
        mesh
    };
    let source = MeshFrames::new("tube", (0..FRAMES).map(fewer).collect());
    let animation = |space| {
        let settings = VatSettings {
            space,
            ..VatSettings::default()
        };
        baked(&source, &settings).0.animation()
    };
    let plain = animation(Space::default());
    let layout = plain.manifest().layout;
    assert_eq!(layout.frames as usize, 2 * FRAMES, "frames and their ends");
    for space in SPACES {
        let turned = animation(space);
        let unit = space.units_per_metre();
        for frame in 0..layout.frames {
            for vertex in 0..layout.vertices {
                let of =
                    |animation: &VertexAnimation, texture| animation.vector(texture, vertex, frame);
                let expected = in_engine(space, of(&plain, 0));
                // A code of 16 bits on either side.
                let off = distance(of(&turned, 0), expected);
                assert!(off < 1.5e-4 * unit, "{space:?}, {frame}, {vertex}: {off}");
                // Triangles without area have any normal.
                let corners = [0, 1, 2].map(|k| plain.vector(0, vertex / 3 * 3 + k, frame));
                if corners.iter().all(|c: &[f32; 3]| *c == corners[0]) {
                    continue;
                }
                let expected = in_engine(space, of(&plain, 1)).map(|c| c / unit);
                let off = distance(of(&turned, 1), expected);
                assert!(off < 0.02, "{space:?}, {frame}, {vertex}: {off}");
            }
        }
    }
}

#[test]
fn chunks_give_the_same_bytes() {
    let unreal = |settings| VatSettings {
        space: Space::ZUpLeftHandedCentimeters,
        ..settings
    };
    let remesh = VatSettings {
        mode: Some(Mode::Remesh),
        ..like_sidefx(false)
    };
    for settings in [
        like_openvat(false),
        like_openvat(true),
        unreal(like_sidefx(false)),
        unreal(like_sidefx(true)),
        unreal(remesh),
        unreal(VatSettings::default()),
    ] {
        assert_chunks_do_not_matter(&tubes(), &settings);
    }
}

#[test]
fn files_have_the_names_of_the_convention() {
    let names = |settings: &VatSettings| {
        let (folders, _) = baked(&tubes(), settings);
        beside_report(&folders.out(), "tube")
    };
    let json = "tube-remap_info.json";
    assert_eq!(
        names(&like_openvat(false)),
        [json, "tube.glb", "tube_vat.png", "tube_vnrm.png"]
    );
    assert_eq!(
        names(&like_openvat(true)),
        [json, "tube.glb", "tube_vat.png"]
    );
    let (json, mesh) = ("tube_data.json", "tube_mesh.glb");
    assert_eq!(
        names(&like_sidefx(false)),
        [json, mesh, "tube_pos.exr", "tube_rot.exr"]
    );
    assert_eq!(names(&like_sidefx(true)), [json, mesh, "tube_pos.exr"]);
    let in_two = VatSettings {
        textures: vec![
            choice(Quantity::Offset, TexelFormat::TwoUnorm8),
            choice(Quantity::Normal, TexelFormat::Unorm8),
            choice(Quantity::Color(0), TexelFormat::Unorm8),
        ],
        ..like_sidefx(false)
    };
    let suffixes = [
        "col.png",
        "data.json",
        "mesh.glb",
        "pos.png",
        "pos2.png",
        "rot.png",
    ];
    assert_eq!(names(&in_two), suffixes.map(|s| format!("tube_{s}")));
}

/// Texels of a file from the top, four channels at most.
struct Picture(sinew_io::Texture);

impl Picture {
    fn read(path: &Path) -> Self {
        Self(read_texture(path).expect("a texture"))
    }

    /// The texel at texture coordinates whose `v` counts from the bottom, as `SideFX` and Unity have it.
    fn at(&self, u: f64, v: f64) -> Vec<f32> {
        let texture = &self.0;
        let column = (u * texture.width as f64) as usize;
        let row = ((1.0 - v) * texture.height as f64) as usize;
        let (channels, first) = (texture.channels.len(), row * texture.width + column);
        let range = first * channels..(first + 1) * channels;
        match &texture.texels {
            Texels::Codes8(c) => c[range].iter().map(|c| f32::from(*c) / 255.0).collect(),
            Texels::Codes16(c) => c[range].iter().map(|c| f32::from(*c) / 65535.0).collect(),
            Texels::Floats(c) => c[range].to_vec(),
        }
    }
}

/// `q v` as matrices have it, another formula than the encoder's.
fn rotated(q: &[f32], v: [f32; 3]) -> [f32; 3] {
    let q = [0, 1, 2, 3].map(|k| f64::from(q[k]));
    crate::vat::tests::decoded::rotated(q, v.map(f64::from)).map(|c| c as f32)
}

/// The formula of compressed normals, written out; `up` is the axis of the pole.
fn decompressed(alpha: f32, up: usize) -> [f32; 3] {
    let a = (1024.0 * alpha).round();
    let (x, y) = (
        (a / 32.0).floor() / 31.5 * 4.0 - 2.0,
        (a % 32.0) / 31.5 * 4.0 - 2.0,
    );
    let d = x * x + y * y;
    let side = (1.0 - d / 4.0).sqrt();
    match up {
        1 => [x * side, 1.0 - d / 2.0, y * side],
        _ => [x * side, y * side, 1.0 - d / 2.0],
    }
}

fn number(text: &str, key: &str) -> f32 {
    let start = text.find(key).expect(key) + key.len();
    let end = text[start..].find([',', '\n']).expect("an end") + start;
    text[start..end].parse().expect("a number")
}

/// Plays a bake as the shaders of `SideFX` do (mode soft), and compares it with the sequence.
fn played_by_sidefx(settings: &VatSettings, compressed: bool) {
    let (folders, _) = baked(&tubes(), settings);
    let out = folders.out();
    let file = |suffix: &str| out.join(format!("tube_{suffix}"));
    let text = std::fs::read_to_string(file("data.json")).expect("there");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json.as_array().map(Vec::len), Some(1));
    let ends =
        |end: &str| ["X", "Y", "Z"].map(|a| number(&text, &format!("\"Bound {end} {a}\": ")));
    let (low, high) = (ends("Min"), ends("Max"));
    let count = number(&text, "\"Frame Count\": ");
    assert_eq!(count, FRAMES as f32);
    // What shaders find in the digits below the tenths, in single precision.
    let fract = |v: f32| v - v.floor();
    let is_float = fract(10.0 * high[2]) >= 0.5;
    assert_eq!(1.0 - fract(-10.0 * high[0]), 1.0, "nothing is padded below");
    assert_eq!(
        1.0 - ((10.0 * low[2]).ceil() - 10.0 * low[2]),
        1.0,
        "nor to the right"
    );
    assert_eq!(1.0 - fract(10.0 * high[1]), 1.0, "scales are not divided");
    let ending = if is_float { "exr" } else { "png" };
    let is_in_two = number(&text, "\"Two Position Textures\": ") == 1.0;
    let position = Picture::read(&file(&format!("pos.{ending}")));
    let second = is_in_two.then(|| Picture::read(&file("pos2.png")));
    let rotation = (!compressed).then(|| Picture::read(&file(&format!("rot.{ending}"))));
    let mesh = mesh_in(&file("mesh.glb"));
    let space = settings.space;
    let up = match space {
        Space::YUpRightHanded | Space::YUpLeftHanded => 1,
        Space::ZUpRightHanded | Space::ZUpLeftHandedCentimeters => 2,
    };
    let allowed = if is_float { 1e-3 } else { 3e-4 } * space.units_per_metre();
    for frame in 0..FRAMES {
        let truth = tube(frame);
        let normals = corner_normals(&truth.topology, &truth.positions, settings.crease());
        let pairs = mesh
            .topology
            .triangles()
            .iter()
            .zip(truth.topology.triangles());
        for (t, (own, source)) in pairs.enumerate() {
            for k in 0..3 {
                let v = own[k] as usize;
                let [u, down] = mesh.uvs[1][v].map(f64::from);
                let bottom = 1.0 - down;
                assert!(bottom > 0.1, "shaders hide what is below");
                let at = 1.0 - ((1.0 - bottom) + frame as f64 / FRAMES as f64);
                let texel = position.at(u, at);
                let fine = second.as_ref().map(|s| s.at(u, at));
                let rest = in_engine(space, mesh.positions[v]);
                let seen = std::array::from_fn(|c| {
                    let value = texel[c] + fine.as_ref().map_or(0.0, |f| 0.01 * f[c]);
                    let value = if is_float {
                        value
                    } else {
                        value * (high[c] - low[c]) + low[c]
                    };
                    rest[c] + value
                });
                let expected = in_engine(space, truth.positions[source[k] as usize]);
                assert!(distance(seen, expected) < allowed, "{seen:?} {expected:?}");
                let expected = in_engine(space, normals[t][k]);
                let (normal, degrees) = match &rotation {
                    Some(rotation) => {
                        let q = rotation.at(u, at);
                        let q: Vec<f32> = q
                            .iter()
                            .map(|c| if is_float { *c } else { 2.0 * c - 1.0 })
                            .collect();
                        let pole = in_engine(space, [0.0, 1.0, 0.0]).map(|c| c.clamp(-1.0, 1.0));
                        // Four channels, each off by half a code; the angle is twice that.
                        (rotated(&q, pole), if is_float { 0.1 } else { 1.0 })
                    }
                    None => (decompressed(texel[3], up), 11.9),
                };
                assert!(
                    angle_between(normal, expected).to_degrees() < degrees,
                    "{space:?}: {normal:?} {expected:?}"
                );
            }
        }
    }
}

#[test]
fn sidefx_players_show_the_sequence() {
    for space in SPACES {
        let mut settings = VatSettings {
            space,
            ..like_sidefx(false)
        };
        played_by_sidefx(&settings, false);
        settings.textures = vec![
            choice(Quantity::Offset, TexelFormat::TwoUnorm8),
            choice(Quantity::Normal, TexelFormat::Unorm8),
        ];
        // A width that one band of one row does not have.
        settings.largest_side = 32;
        played_by_sidefx(&settings, false);
        settings.textures.clear();
        settings.convention = Convention::SideFx(SideFx {
            compressed_normals: true,
        });
        played_by_sidefx(&settings, true);
    }
}

#[test]
fn what_a_convention_cannot_say_is_refused() {
    let refused = |settings: &VatSettings, source: &dyn FrameSource, part: &str| {
        let error = refused(source, settings).to_string();
        assert!(error.contains(part), "{error} has no {part}");
    };
    let with = |settings: VatSettings, offset, normal: Option<TexelFormat>| {
        let normal = normal.map(|f| choice(Quantity::Normal, f));
        let offset = choice(Quantity::Offset, offset);
        let textures = [Some(offset), normal].into_iter().flatten().collect();
        VatSettings {
            textures,
            ..settings
        }
    };
    let mut other = tube(1);
    other.topology = Topology::new(50, vec![[0, 1, 2]]).expect("in range").into();
    let changing = MeshFrames::new("tube", vec![tube(0), other]);
    refused(
        &like_openvat(false),
        &changing,
        "triangles that stay the same",
    );
    let offsets = with(like_sidefx(false), TexelFormat::Half, None);
    refused(&offsets, &changing, "expected position, normal");
    let pieces = VatSettings {
        mode: Some(Mode::Rigid),
        ..like_sidefx(false)
    };
    refused(&pieces, &changing, "for Unity alone");
    let one = MeshFrames::new("tube", vec![tube(0)]);
    refused(&like_sidefx(false), &one, "1 frames, expected two");
    let source = tubes();
    let remesh = VatSettings {
        mode: Some(Mode::Remesh),
        ..like_openvat(false)
    };
    refused(&remesh, &source, "mode is remesh");
    let unity = VatSettings {
        space: Space::YUpLeftHanded,
        ..like_openvat(false)
    };
    refused(&unity, &source, "one space");
    let padded = VatSettings {
        powers_of_two: true,
        ..like_sidefx(false)
    };
    refused(&padded, &source, "padding");
    use TexelFormat::{Half, TwoUnorm8, Unorm8, Unorm16};
    refused(
        &with(like_openvat(false), TwoUnorm8, None),
        &source,
        "each in one file",
    );
    refused(
        &with(like_openvat(true), Unorm16, Some(Unorm8)),
        &source,
        "format of the offsets",
    );
    refused(
        &with(like_sidefx(true), Unorm16, Some(Unorm8)),
        &source,
        "ten bits",
    );
    refused(
        &with(like_sidefx(false), Half, Some(Unorm8)),
        &source,
        "one sign",
    );
    refused(
        &with(like_sidefx(true), Half, None),
        &source,
        "to be compressed",
    );
    let narrow = VatSettings {
        largest_side: 32,
        ..like_openvat(false)
    };
    refused(&narrow, &source, "32 x 32");
}

#[test]
fn the_manifest_is_only_there_for_this_project() {
    let (folders, summary) = baked(&tubes(), &like_openvat(false));
    assert!(summary.manifest.ends_with("out/tube-remap_info.json"));
    let files = content(&folders.out());
    assert!(
        !files
            .keys()
            .any(|n| n.ends_with(".vat.json") || n.contains(manifest::FORMAT))
    );
}
