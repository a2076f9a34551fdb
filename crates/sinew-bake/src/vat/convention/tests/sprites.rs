//! Points in the files of `SideFX` Labs ("sprites"), played by the published formulas; the truth is the closed form of the motion.

use super::*;
use sinew_geom::Attribute;
use sinew_testkit::meshes::mesh_from;

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
    let mut mesh = mesh_from("sparks", all.iter().map(|s| s.1).collect(), Vec::new());
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

fn in_space(space: Space) -> VatSettings {
    VatSettings {
        space,
        ..like_sidefx(false)
    }
}

#[test]
fn sidefx_players_show_sprites() {
    for space in SPACES {
        let settings = VatSettings {
            textures: vec![choice(Quantity::Color(0), TexelFormat::Unorm8)],
            ..in_space(space)
        };
        let (folders, summary) = baked(&frames(), &settings);
        let out = folders.out();
        assert_eq!(summary.plan.mode(), Mode::Particles);
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
        let mesh = mesh_in(&file("mesh.glb"));
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
            textures: vec![choice(quantity, format)],
            ..like_sidefx(false)
        };
        let error = refused(&frames(), &settings).to_string();
        assert!(error.contains(part), "{error} has no {part}");
    };
    refused(Quantity::Position, TexelFormat::Unorm16, "half or float");
    let size = Quantity::Attribute("size".into());
    refused(size, TexelFormat::Half, "the format of positions");
    let id = Quantity::Attribute("id".into());
    refused(id, TexelFormat::Half, "position, size and color0");
}
