//! Points in the files of `SideFX` Labs ("sprites"), played by the published formulas; the truth is the closed form of the motion.

use super::*;
use sinew_geom::Attribute;

/// Numbers, places and widths of the points that are there in a frame: each lives for three frames.
fn sparks(frame: usize) -> Vec<(usize, [f32; 3], f32)> {
    let is_there = |n: &usize| (n / 2..n / 2 + 3).contains(&frame);
    let spark = |n: usize| {
        let (f, i) = (frame as f32, n as f32);
        let place = [0.3 * i - 1.0, 0.1 + 0.2 * f, 0.05 * i * f - 0.4];
        (n, place, 0.01 * (1.0 + i))
    };
    (0..8).filter(is_there).map(spark).collect()
}

fn cloud(frame: usize) -> Mesh {
    let all = sparks(frame);
    let topology = Topology::new(all.len() as u32, Vec::new()).expect("no triangles");
    let mut mesh = Mesh::new("sparks", topology, all.iter().map(|s| s.1).collect());
    let mut put = |name: &str, values| {
        mesh.attributes
            .insert(name.into(), Attribute::Scalar(values));
    };
    put("id", all.iter().map(|s| s.0 as f32).collect());
    put("size", all.iter().map(|s| s.2).collect());
    let shade = |s: &(usize, [f32; 3], f32)| [s.0 as f32 / 8.0, 0.5, 0.25, 1.0];
    mesh.colors = vec![all.iter().map(shade).collect()];
    mesh
}

fn frames() -> MeshFrames {
    MeshFrames::new("sparks", (0..FRAMES).map(cloud).collect())
}

fn sidefx(space: Space) -> VatSettings {
    VatSettings {
        space,
        ..settings(Convention::SideFx(SideFx {
            compressed_normals: false,
        }))
    }
}

#[test]
fn sidefx_players_show_sprites() {
    for space in SPACES {
        let color = TextureChoice {
            quantity: Quantity::Color(0),
            format: TexelFormat::Unorm8,
        };
        let settings = VatSettings {
            textures: vec![color],
            ..sidefx(space)
        };
        let folder = tempfile::tempdir().expect("a folder");
        let (work, out) = (folder.path().join("work"), folder.path().join("out"));
        let summary = bake(&frames(), &settings, &work, &out, &Watch::NOBODY).expect("bakes");
        assert_eq!(summary.mode, Mode::Particles);
        let names: Vec<String> = beside_report(&out, "sparks");
        let suffixes = ["col.png", "data.json", "mesh.glb", "pos.exr"];
        assert_eq!(names, suffixes.map(|s| format!("sparks_{s}")));
        let file = |suffix: &str| out.join(format!("sparks_{suffix}"));
        let (position, color) = (
            Picture::read(&file("pos.exr")),
            Picture::read(&file("col.png")),
        );
        let text = std::fs::read_to_string(file("data.json")).expect("there");
        let most = number(&text, "\"Bound Max Y\": ");
        let divisor = 1.0 - (10.0 * most - (10.0 * most).floor());
        let mesh = read_any(&file("mesh.glb"))
            .expect("a GLB")
            .asset
            .meshes
            .remove(0);
        let unit = space.units_per_metre();
        for frame in 0..FRAMES {
            let mut seen = Vec::new();
            for (corners, places) in mesh.uvs[0].chunks(4).zip(mesh.uvs[1].chunks(4)) {
                assert_eq!(corners, [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]);
                assert!(places.iter().all(|p| *p == places[0]), "one texel a square");
                let [u, down] = places[0].map(f64::from);
                assert!(1.0 - down > 0.1, "shaders hide what is below");
                let at = 1.0 - (down + frame as f64 / FRAMES as f64);
                let texel = position.at(u, at);
                if texel[3] != 0.0 {
                    let place = [texel[0], texel[1], texel[2]];
                    seen.push((place, texel[3] / divisor, color.at(u, at)[0]));
                }
            }
            let truth = sparks(frame);
            assert_eq!(seen.len(), truth.len(), "frame {frame}");
            for (n, place, width) in truth {
                let expected = in_engine(space, place);
                let is_here = |s: &&([f32; 3], f32, f32)| distance(s.0, expected) < 1e-5 * unit;
                let (_, found, shade) = seen.iter().find(is_here).expect("a square");
                assert!(
                    (found - width * unit).abs() < 1e-6 * unit,
                    "{found} {width}"
                );
                assert!((shade - n as f32 / 8.0).abs() < 0.51 / 255.0);
            }
        }
    }
}

#[test]
fn sprites_that_cannot_be_said_are_refused() {
    let refused = |quantity, format, part: &str| {
        let settings = VatSettings {
            mode: Some(Mode::Particles),
            textures: vec![TextureChoice { quantity, format }],
            ..sidefx(Space::default())
        };
        let folder = tempfile::tempdir().expect("a folder");
        let (work, out) = (folder.path().join("work"), folder.path().join("out"));
        let error = bake(&frames(), &settings, &work, &out, &Watch::NOBODY).expect_err(part);
        assert!(error.to_string().contains(part), "{error} has no {part}");
    };
    refused(Quantity::Position, TexelFormat::Unorm16, "half or float");
    let size = Quantity::Attribute("size".into());
    refused(size, TexelFormat::Half, "the format of positions");
    let id = Quantity::Attribute("id".into());
    refused(id, TexelFormat::Half, "position, size and color0");
}
