//! Pieces in the files of `SideFX` Labs, played by the formulas of a published port of its shader for Unity; the truth is the closed form of the motion.

use super::*;
use sinew_geom::vec3::unit;
use sinew_testkit::meshes::mesh_from;

const PIECES: usize = 4;
const CORNERS: [[f32; 3]; 4] = [
    [-0.2, -0.2, -0.2],
    [0.3, -0.2, -0.2],
    [-0.1, 0.5, -0.2],
    [0.0, -0.1, 0.7],
];

/// Where a corner of a piece is from the middle of its frame, and that middle.
fn turned(piece: usize, corner: usize, frame: f32) -> ([f32; 3], [f32; 3]) {
    let i = piece as f32;
    let axes = [
        [1.0, 0.2, 0.1],
        [0.1, 1.0, -0.2],
        [0.0, 0.0, 1.0],
        [0.3, -0.2, 1.0],
    ];
    let axis = unit(axes[piece]).expect("an axis");
    // The last one turns by 149 degrees a frame.
    let angle = [1.0, 0.9, 0.0, 2.6][piece] * f64::from(frame);
    let arm = about(axis, angle, CORNERS[corner].map(f64::from));
    let arm = arm.map(|c| c as f32);
    (arm, [1.5 * i + 0.1 * frame, 0.3 * frame, 0.2 * i * frame])
}

fn tumbling(frame: usize) -> Mesh {
    let vertices = (0..PIECES).flat_map(|p| (0..4).map(move |c| (p, c)));
    let place = |(p, c)| {
        let (arm, middle) = turned(p, c, frame as f32);
        std::array::from_fn(|k| arm[k] + middle[k])
    };
    let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let of_piece = |p| faces.map(|f| f.map(|v: u32| v + 4 * p));
    let triangles = (0..PIECES as u32).flat_map(of_piece).collect();
    mesh_from("shards", vertices.map(place).collect(), triangles)
}

fn unity() -> VatSettings {
    VatSettings {
        mode: Some(Mode::Rigid),
        space: Space::YUpLeftHanded,
        ..like_sidefx(false)
    }
}

fn frames() -> MeshFrames {
    MeshFrames::new("shards", (0..FRAMES).map(tumbling).collect())
}

/// The quaternion of texels of a position and a rotation, as the port has it.
fn quaternion(position: &[f32], rotation: &[f32]) -> [f32; 4] {
    let [x, y, z] = [rotation[0], rotation[1], rotation[2]];
    let e = (1.0 - x * x - y * y - z * z).sqrt();
    match (position[3] * 4.0).floor() as i32 {
        0 => [x, y, z, e],
        1 => [e, y, z, x],
        2 => [x, -e, z, -y],
        3 => [x, y, -e, -z],
        other => panic!("part {other}"),
    }
}

/// "Multi-RPF" interpolation: `turns` is the alpha of the rotation.
fn between(now: [f32; 4], next: [f32; 4], turns: f32, at: f32) -> [f32; 4] {
    use std::f32::consts::TAU;
    if turns == 0.0 {
        return now;
    }
    let whole = turns.abs().fract() * 0.5;
    let part = (turns.abs() * at).fract() * 0.5;
    let (a, b) = (
        ((whole - part) * TAU).sin(),
        (part * TAU).sin() * turns.signum(),
    );
    let q: [f32; 4] = std::array::from_fn(|k| (a * now[k] + b * next[k]) / (whole * TAU).sin());
    let length = q.iter().map(|c| c * c).sum::<f32>().sqrt();
    q.map(|c| c / length)
}

#[test]
fn sidefx_players_for_unity_show_pieces_and_turn_them_between_frames() {
    let (folders, summary) = baked(&frames(), &unity());
    assert_eq!(summary.plan.mode(), Mode::Rigid);
    let file = |suffix: &str| folders.out().join(format!("shards_{suffix}"));
    let position = Picture::read(&file("pos.exr"));
    let rotation = Picture::read(&file("rot.exr"));
    let mesh = mesh_in(&file("mesh.glb"));
    let text = std::fs::read_to_string(file("data.json")).expect("there");
    let ends =
        |end: &str| ["X", "Y", "Z"].map(|a| number(&text, &format!("\"Bound {end} {a}\": ")));
    assert!((10.0 * ends("Max")[2]).fract().abs() >= 0.5, "floats");
    let divisor = 1.0 - (10.0 * ends("Max")[1] - (10.0 * ends("Max")[1]).floor());
    let mirrored = |[x, y, z]: [f32; 3]| [-x, y, z];
    // Unity's importer: x mirrored, v from the bottom.
    let uv = |set: usize, v: usize| [mesh.uvs[set][v][0], 1.0 - mesh.uvs[set][v][1]];
    let mut largest_parts = [false; 4];
    for (t, corners) in mesh.topology.triangles().iter().enumerate() {
        for (k, v) in corners.iter().map(|v| *v as usize).enumerate() {
            let source = tumbling(0).topology.triangles()[t][k] as usize;
            let (piece, corner) = (source / 4, source % 4);
            let pivot = [-uv(2, v)[0], uv(3, v)[0], 1.0 - uv(3, v)[1]];
            let rest = mirrored(mesh.positions[v]);
            let arm: [f32; 3] = std::array::from_fn(|c| rest[c] - pivot[c]);
            let texels = |frame: usize| {
                let at = 1.0
                    - ((1.0 - f64::from(uv(1, v)[1])) + (frame % FRAMES) as f64 / FRAMES as f64);
                let u = f64::from(uv(1, v)[0]);
                (position.at(u, at), rotation.at(u, at))
            };
            for frame in 0..FRAMES {
                let (p, r) = texels(frame);
                let q = quaternion(&p, &r);
                largest_parts[(p[3] * 4.0) as usize] = true;
                let scale = (1.0 - (4.0 * p[3]).fract()) / divisor;
                assert_eq!(scale, 1.0);
                let shown = rotated(&q, arm.map(|c| c * scale));
                let shown = std::array::from_fn(|c| shown[c] + p[c]);
                let (truth, middle) = turned(piece, corner, frame as f32);
                let truth_there = mirrored(std::array::from_fn(|c| truth[c] + middle[c]));
                assert!(
                    distance(shown, truth_there) < 5e-6,
                    "{frame}: {shown:?} {truth_there:?}"
                );
                if frame + 1 == FRAMES {
                    continue;
                }
                let (p_next, r_next) = texels(frame + 1);
                for at in [0.0, 0.25, 0.5, 0.9] {
                    let q = between(q, quaternion(&p_next, &r_next), r[3], at);
                    let shown = rotated(&q, arm);
                    // The pivot is the mean of the corners, which moves on its own.
                    let now = turned(piece, corner, frame as f32 + at).0;
                    let mean = |k: usize| {
                        (0..4)
                            .map(|c| turned(piece, c, frame as f32 + at).0[k])
                            .sum::<f32>()
                            / 4.0
                    };
                    let truth = mirrored(std::array::from_fn(|k| now[k] - mean(k)));
                    assert!(
                        distance(shown, truth) < 2e-5,
                        "{frame} + {at}: {shown:?} {truth:?}"
                    );
                }
            }
        }
    }
    assert!(largest_parts == [true; 4], "{largest_parts:?}");
    assert!(summary.errors.position.largest < 5e-6);
}

#[test]
fn pieces_are_refused_where_shaders_are_not_known() {
    let refused = |settings: &VatSettings, part: &str| {
        let error = refused(&frames(), settings).to_string();
        assert!(error.contains(part), "{error} has no {part}");
    };
    for space in SPACES.into_iter().filter(|s| *s != Space::YUpLeftHanded) {
        let elsewhere = VatSettings { space, ..unity() };
        refused(&elsewhere, "for Unity alone");
    }
    let codes = VatSettings {
        textures: vec![choice(Quantity::Position, TexelFormat::Unorm16)],
        ..unity()
    };
    refused(&codes, "half or float");
    let compressed = VatSettings {
        convention: like_sidefx(true).convention,
        ..unity()
    };
    refused(&compressed, "compressed_normals is true");
    // Whoever does not ask for pieces gets vertices, in every engine.
    let found = VatSettings {
        mode: None,
        ..unity()
    };
    let (_, summary) = baked(&frames(), &found);
    assert_eq!(summary.plan.mode(), Mode::Soft);
}
