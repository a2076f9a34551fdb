//! Characters from arrays play as characters from files, and wrong arrays are located.

use sinew::geom::{Affine, Asset, Attribute, ChannelTarget, Influences, Quat, Vec3};
use sinew::play::{
    Character, CharacterArrays, ClipArrays, Document, Faces, JointArrays, JointTrack, MeshArrays,
    PlayInputs, Player, Runner, SkinArrays, StrandArrays, TargetArrays,
};
use std::sync::Arc;

/// Positions of output `body` in some frames of the first clip.
fn played(character: Character, document: Option<&str>) -> Vec<Vec<[f32; 3]>> {
    let character = Arc::new(character);
    let document = match document {
        Some(text) => Document::from_text("test", text, ""),
        None => Document::of_character(&character),
    };
    let plan = Arc::new(document.compile().expect("a correct document"));
    let inputs = PlayInputs::load(character, &plan, &document.folders).expect("inputs");
    let graph = inputs.bind(&plan, &[]).expect("bound");
    let mut player =
        Player::new(Runner::cpu(&graph), inputs, Vec::new(), None, 30.0).expect("a player");
    let mut out = Vec::new();
    for frame in [0, 7, 20] {
        player.advance(frame).expect("a frame");
        let Runner::Cpu(instance) = player.runner() else {
            panic!("on the CPU");
        };
        let mesh = instance.mesh_output("body").expect("the output");
        out.push(mesh.positions.to_vec());
    }
    out
}

/// As many influences for each vertex as the most that one has.
fn padded(rows: &Influences) -> (usize, Vec<u32>, Vec<f32>) {
    let per_vertex = rows.max_per_vertex();
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for v in 0..rows.vertex_count() {
        let mut row = rows.row(v);
        for _ in 0..per_vertex {
            let (joint, weight) = row.next().unwrap_or((0, 0.0));
            joints.push(joint);
            weights.push(weight);
        }
    }
    (per_vertex, joints, weights)
}

fn joint(asset: &Asset, j: usize) -> JointArrays<'_> {
    let node = &asset.rig.nodes()[j];
    JointArrays {
        name: &node.name,
        parent: node.parent,
        parent_from_joint: node.local.to_affine(),
        joint_from_bind: asset
            .rig
            .joints()
            .iter()
            .find(|joint| joint.node == j)
            .map(|j| j.joint_from_bind),
    }
}

#[test]
fn a_sample_as_arrays_plays_as_the_sample() {
    let asset = sinew_samples::arm_with_hand().expect("a sample");
    let mesh = &asset.meshes[0];
    let (per_vertex, mut joints, weights) = padded(mesh.influences.as_ref().expect("a skin"));
    // Every node is a joint in arrays.
    joints
        .iter_mut()
        .for_each(|j| *j = asset.rig.joints()[*j as usize].node as u32);
    let count = asset.rig.nodes().len();
    let clip = asset.find_clip(None).expect("a clip");
    let times = clip.channels()[0].times();
    let track = |c: &sinew::geom::Channel| {
        assert_eq!(c.times(), times, "one list of times");
        c.values().as_chunks::<4>().0.to_vec()
    };
    let channels = clip.channels().iter();
    let of_joints = channels.filter(|c| c.target == ChannelTarget::Rotation);
    let rotations: Vec<_> = of_joints.map(|c| (c.node, track(c))).collect();
    let arrays = CharacterArrays {
        name: "arm",
        joints: (0..count).map(|j| joint(&asset, j)).collect(),
        meshes: vec![MeshArrays {
            name: &mesh.name,
            positions: &mesh.positions,
            faces: Faces::Triangles(mesh.topology.triangles()),
            normals: mesh.normals.as_deref(),
            skin: Some(SkinArrays {
                per_vertex,
                joints: &joints,
                weights: &weights,
            }),
            ..MeshArrays::default()
        }],
        clips: vec![ClipArrays {
            name: &clip.name,
            times,
            joints: rotations
                .iter()
                .map(|(joint, rotations)| JointTrack {
                    joint: *joint,
                    rotations: Some(rotations),
                    ..JointTrack::default()
                })
                .collect(),
            weights: Vec::new(),
        }],
        strands: Vec::new(),
    };
    let made = Character::from_arrays(&arrays).expect("correct arrays");
    assert!(made.asset.warnings.is_empty(), "{:?}", made.asset.warnings);
    let text = r#"{"sinew": "1.0", "stack": ["skin", {"node": "delta_mush", "iterations": 4}]}"#;
    let sample = played(Character::from_asset(asset.clone()), Some(text));
    assert_ne!(sample[0], sample[2], "the clip moves");
    let most = played(made, Some(text))
        .iter()
        .flatten()
        .zip(sample.iter().flatten())
        .map(|(a, b)| (0..3).map(|c| (a[c] - b[c]).abs()).fold(0.0, f32::max))
        .fold(0.0, f32::max);
    // Weights are normalised once more, and rest transforms decomposed.
    assert!(most < 1e-6, "{most}");
}

/// A quad on two joints with a morph target and a strand.
struct Parts {
    positions: [[f32; 3]; 4],
    weights: [f32; 4],
    bound: [u32; 4],
    delta: [[f32; 3]; 1],
    moved: [u32; 1],
    strand: [[f32; 3]; 3],
}

const PARTS: Parts = Parts {
    positions: [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
    weights: [1.0; 4],
    bound: [0, 1, 1, 0],
    delta: [[0.0, 0.0, 2.0]],
    moved: [2],
    strand: [[0.0; 3], [0.0, 0.0, 0.5], [0.0, 0.0, 1.0]],
};

impl Parts {
    fn arrays(&self) -> CharacterArrays<'_> {
        let joint = |name, parent, x| JointArrays {
            name,
            parent,
            parent_from_joint: Affine {
                translation: Vec3::new(x, 0.0, 0.0),
                ..Affine::identity()
            },
            joint_from_bind: None,
        };
        CharacterArrays {
            name: "quad",
            joints: vec![joint("root", None, 0.25), joint("tip", Some(0), 0.5)],
            meshes: vec![MeshArrays {
                name: "quad",
                positions: &self.positions,
                faces: Faces::Polygons {
                    counts: &[4],
                    corners: &[0, 1, 2, 3],
                },
                skin: Some(SkinArrays {
                    per_vertex: 1,
                    joints: &self.bound,
                    weights: &self.weights,
                }),
                targets: vec![TargetArrays {
                    name: "up",
                    vertices: Some(&self.moved),
                    positions: &self.delta,
                    ..TargetArrays::default()
                }],
                attributes: vec![("mask", Attribute::Scalar(vec![0.5; 4]))],
                ..MeshArrays::default()
            }],
            strands: vec![StrandArrays {
                name: "hair",
                positions: &self.strand,
                counts: &[3],
                ..StrandArrays::default()
            }],
            clips: vec![ClipArrays {
                name: "nod",
                times: &[0.0, 1.0],
                joints: vec![JointTrack {
                    joint: 1,
                    translations: Some(&[[0.5, 0.0, 0.0], [0.5, 3.0, 0.0]]),
                    ..JointTrack::default()
                }],
                weights: vec![(0, &[0.0, 1.0])],
            }],
        }
    }
}

#[test]
fn targets_tracks_and_polygons_arrive() {
    let made = Character::from_arrays(&PARTS.arrays()).expect("correct arrays");
    let Asset {
        meshes, strands, ..
    } = &made.asset;
    assert_eq!(meshes[0].topology.triangles().len(), 2);
    assert_eq!(strands[0].topology.strands().map(|s| s.len()), Some(1));
    // At frame 7 of 30 per second the tip is 0.7 m up, and the target has weight 7/30.
    let share = 7.0_f32 / 30.0;
    let frames = played(made, None);
    let expected = [
        [0.0, 0.0, 0.0],
        [1.0, 3.0 * share, 0.0],
        [1.0, 1.0 + 3.0 * share, 2.0 * share],
        [0.0, 1.0, 0.0],
    ];
    for (found, expected) in frames[1].iter().zip(expected) {
        for c in 0..3 {
            assert!((found[c] - expected[c]).abs() < 1e-6, "{:?}", frames[1]);
        }
    }
}

#[test]
fn wrong_arrays_are_located() {
    type Change = fn(&mut CharacterArrays<'_>);
    let cases: [(&str, Change); 17] = [
        ("joints[1].parent: found 1, ", |a| {
            a.joints[1].parent = Some(1)
        }),
        ("joints[0].parent_from_joint: found NaN", |a| {
            a.joints[0].parent_from_joint.translation.x = f64::NAN;
        }),
        (
            "joints[1].parent_from_joint: found a transform that flattens",
            |a| {
                a.joints[1].parent_from_joint.linear.fill(0.0);
            },
        ),
        ("meshes[0].positions[1]: found NaN", |a| {
            a.meshes[0].positions = &[[0.0; 3], [0.0, f32::NAN, 0.0], [0.0; 3], [0.0; 3]];
        }),
        ("meshes[0].faces: found polygon 0 is invalid", |a| {
            let (counts, corners) = (&[4][..], &[0, 1, 2, 9][..]);
            a.meshes[0].faces = Faces::Polygons { counts, corners };
        }),
        ("meshes[0].faces: found 4 corners, expected 5", |a| {
            let (counts, corners) = (&[5][..], &[0, 1, 2, 3][..]);
            a.meshes[0].faces = Faces::Polygons { counts, corners };
        }),
        (
            "meshes[0].faces: found triangle 0 refers to vertex 4",
            |a| {
                a.meshes[0].faces = Faces::Triangles(&[[0, 1, 4]]);
            },
        ),
        ("meshes[0].normals: found 1, expected 4", |a| {
            a.meshes[0].normals = Some(&[[0.0; 3]])
        }),
        ("meshes[0].uvs[0]: found 2, expected 4", |a| {
            a.meshes[0].uvs = vec![&[[0.0; 2]; 2]]
        }),
        ("meshes[0].skin.joints: found 1, expected 4", |a| {
            a.meshes[0].skin = Some(SkinArrays {
                per_vertex: 1,
                joints: &[0],
                weights: &[1.0; 4],
            });
        }),
        ("meshes[0].skin: found vertex 2 refers to joint 7", |a| {
            a.meshes[0].skin = Some(SkinArrays {
                per_vertex: 1,
                joints: &[0, 0, 7, 0],
                weights: &[1.0; 4],
            });
        }),
        (
            "meshes[0].targets[0].vertices: found 4, expected vertices below 4",
            |a| {
                a.meshes[0].targets[0].vertices = Some(&[4]);
            },
        ),
        ("meshes[0].targets[0].positions: found 1, expected 4", |a| {
            a.meshes[0].targets[0].vertices = None;
        }),
        ("strands[0].positions: found 3, expected 4", |a| {
            a.strands[0].counts = &[4]
        }),
        (
            "clips[0].joints[0].joint: found 2, expected an index below 2",
            |a| {
                a.clips[0].joints[0].joint = 2;
            },
        ),
        (
            "clips[0].joints[0].rotations[1]: found a quaternion of length 0",
            |a| {
                a.clips[0].joints[0].rotations = Some(&[[0.0, 0.0, 0.0, 1.0], [0.0; 4]]);
            },
        ),
        ("clips[0].weights[0]: found ", |a| {
            a.clips[0].weights[0].1 = &[0.0; 3]
        }),
    ];
    for (expected, change) in cases {
        let mut arrays = PARTS.arrays();
        change(&mut arrays);
        let error = Character::from_arrays(&arrays)
            .expect_err(expected)
            .to_string();
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
}

/// Poses given in scene space come back as they were given, below scaled and rotated parents, too.
#[test]
fn a_pose_in_scene_space_is_what_was_given() {
    let mut arrays = PARTS.arrays();
    let turned = Affine::from_trs(
        Vec3::new(1.0, 2.0, 3.0),
        Quat::from_scaled_axis(Vec3::new(0.3, 0.5, -1.0)),
        Vec3::new(2.0, 0.5, 1.5),
    );
    arrays.joints[0].parent_from_joint = turned;
    let made = Character::from_arrays(&arrays).expect("correct arrays");
    let rig = &made.asset.rig;
    let given = Affine::from_trs(
        Vec3::new(-1.0, 0.5, 0.0),
        Quat::from_scaled_axis(Vec3::new(1.0, 0.0, 0.2)),
        Vec3::repeat(1.25),
    );
    let mut pose = rig.rest_pose();
    rig.pose_in_scene(|node| (node == 1).then_some(given), &mut pose);
    let apart = |a: Affine<f64>, b: Affine<f64>| {
        (a.linear - b.linear).norm() + (a.translation - b.translation).norm()
    };
    assert!(apart(pose.scene_from_node[0], turned) < 1e-12);
    assert!(apart(pose.scene_from_node[1], given) < 1e-12);
    let palette = given * rig.joints()[1].joint_from_bind;
    assert!(apart(pose.palette[1].unpack(), palette) < 1e-6);
}
