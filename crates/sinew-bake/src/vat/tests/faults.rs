//! What `verify` says of carriers and manifests that were changed on disk, in all modes.

use super::shapes::{boxes, fountain};
use super::*;
use sinew_io::FrameCache;
use sinew_io::gltf_write::{GlbOptions, write_glb};

fn found(folders: &Folders, source: &MeshFrames, settings: &VatSettings) -> Vec<Fault> {
    let found = folders.verified(source, settings);
    assert_eq!(
        found.is_same(f64::INFINITY),
        found.faults.is_empty(),
        "{found:?}"
    );
    found.faults
}

/// Reads the carrier of a bake, changes it, and writes it again.
fn change_carrier(folders: &Folders, change: impl FnOnce(&mut Mesh)) {
    let path = folders.out().join(folders.manifest().carrier);
    let mut mesh = mesh_in(&path);
    change(&mut mesh);
    write_glb(&path, &FrameCache::still(&mesh), &GlbOptions::default()).expect("writes");
}

#[test]
fn carriers_as_they_are_written_have_no_faults() {
    for (what, source, settings) in kinds() {
        let (folders, _) = baked(&source, &settings);
        assert_eq!(found(&folders, &source, &settings), [], "{what}");
        // Nor after a way through the writer of these tests.
        change_carrier(&folders, |_| {});
        assert_eq!(found(&folders, &source, &settings), [], "{what}");
    }
}

#[test]
fn carriers_with_all_vertices_in_one_point_are_found_out() {
    for (what, source, settings) in kinds() {
        let (folders, _) = baked(&source, &settings);
        change_carrier(&folders, |mesh| mesh.positions.fill([0.0; 3]));
        let faults = found(&folders, &source, &settings);
        let is_fault = match what {
            "soft" | "rigid" => matches!(faults[..], [Fault::Place { .. }]),
            _ => matches!(faults[..], [Fault::Floating { .. }]),
        };
        assert!(is_fault, "{what}: {faults:?}");
    }
}

#[test]
fn carriers_that_point_at_other_texels_are_found_out() {
    for (what, source, settings) in kinds() {
        let (folders, _) = baked(&source, &settings);
        let (set, width) = {
            let manifest = folders.manifest();
            (manifest.uv_set as usize, manifest.layout.size[0] as f32)
        };
        change_carrier(&folders, |mesh| mesh.uvs[set].fill([0.0; 2]));
        let faults = found(&folders, &source, &settings);
        assert!(
            matches!(faults[..], [Fault::Texel { vertex: 0, .. }]),
            "{what}: {faults:?}"
        );
        // A quarter of a texel beside the centre of the last one's.
        let (folders, _) = baked(&source, &settings);
        let mut last = 0;
        change_carrier(&folders, |mesh| {
            last = mesh.positions.len() - 1;
            mesh.uvs[set][last][0] += 0.25 / width;
        });
        let faults = found(&folders, &source, &settings);
        assert!(
            matches!(faults[..], [Fault::Texel { vertex, .. }] if vertex == last),
            "{what}: {faults:?}"
        );
    }
}

#[test]
fn carriers_with_half_of_their_triangles_or_other_ones_are_found_out() {
    for (what, source, settings) in kinds() {
        let keep = |mesh: &mut Mesh, change: &dyn Fn(&mut Vec<[u32; 3]>)| {
            let mut triangles = mesh.topology.triangles().to_vec();
            change(&mut triangles);
            let count = mesh.positions.len() as u32;
            mesh.topology = Topology::new(count, triangles).expect("in range").into();
        };
        let (folders, summary) = baked(&source, &settings);
        let all = summary.plan.triangles as usize;
        change_carrier(&folders, |mesh| keep(mesh, &|t| t.truncate(all / 2)));
        let faults = found(&folders, &source, &settings);
        let expected = Fault::Triangles {
            found: all / 2,
            expected: all,
        };
        assert!(faults.contains(&expected), "{what}: {faults:?}");
        let (folders, _) = baked(&source, &settings);
        change_carrier(&folders, |mesh| keep(mesh, &|t| t[3].swap(0, 1)));
        let faults = found(&folders, &source, &settings);
        assert!(
            faults
                .iter()
                .any(|f| matches!(f, Fault::Triangle { triangle: 3, .. })),
            "{what}: {faults:?}"
        );
    }
}

#[test]
fn a_box_that_the_frames_leave_is_found_out() {
    for (what, source, settings) in kinds() {
        for side in 0..6 {
            let (folders, _) = baked(&source, &settings);
            folders.change_manifest(|manifest| {
                let (low, high) = &mut manifest.bounds;
                let k = side % 3;
                let part = 0.01 * (high[k] - low[k]);
                if side < 3 {
                    low[k] += part
                } else {
                    high[k] -= part
                }
            });
            let faults = found(&folders, &source, &settings);
            // Points may be where the widest is not; then the carrier's squares are outside.
            let leaves = |f: &Fault| match what {
                "particles" => matches!(f, Fault::Outside { .. } | Fault::Floating { .. }),
                _ => matches!(f, Fault::Outside { .. }),
            };
            assert!(faults.iter().any(leaves), "{what}, side {side}: {faults:?}");
        }
    }
}

#[test]
fn frames_that_cannot_be_blended_and_can_are_found_out() {
    for (what, source, settings) in kinds() {
        // Whether bakes of pieces, and of loose triangles without ends, blend is a choice that nothing else tells.
        if matches!(what, "rigid" | "unique") {
            continue;
        }
        let (folders, _) = baked(&source, &settings);
        assert_eq!(found(&folders, &source, &settings), [], "{what}");
        folders.change_manifest(|manifest| manifest.can_blend = false);
        let faults = found(&folders, &source, &settings);
        assert!(
            matches!(faults[..], [Fault::CannotBlend { .. }]),
            "{what}: {faults:?}"
        );
    }
}

/// Players would blend from triangles to unrelated ones.
#[test]
fn frames_that_can_be_blended_and_cannot_are_found_out() {
    let source = swarm();
    let settings = with_order(TriangleOrder::File);
    let (folders, _) = baked(&source, &settings);
    assert_eq!(found(&folders, &source, &settings), []);
    folders.change_manifest(|manifest| manifest.can_blend = true);
    for settings in [settings, VatSettings::default()] {
        let faults = found(&folders, &source, &settings);
        assert!(matches!(faults[..], [Fault::Blends { .. }]), "{faults:?}");
    }
}

#[test]
fn clips_with_other_frames_are_found_out() {
    for (what, source, settings) in kinds() {
        let (folders, _) = baked(&source, &settings);
        let frames = source.frame_count();
        folders.change_manifest(|manifest| manifest.clips[0].frames.count -= 1);
        let expected = Fault::Clip {
            place: 0,
            found: [0, frames - 1],
            expected: [0, frames],
        };
        assert_eq!(found(&folders, &source, &settings), [expected], "{what}");
        folders.change_manifest(|manifest| {
            manifest.clips[0].frames.count += 1;
            manifest.clips.push(manifest.clips[0].clone());
        });
        let expected = Fault::Clips {
            found: 2,
            expected: 1,
        };
        assert_eq!(found(&folders, &source, &settings), [expected], "{what}");
    }
}

#[test]
fn squares_of_particles_have_their_corners() {
    let (source, settings) = (fountain(true), VatSettings::default());
    let (folders, _) = baked(&source, &settings);
    change_carrier(&folders, |mesh| mesh.uvs[0][6] = [0.0; 2]);
    let faults = found(&folders, &source, &settings);
    assert!(
        matches!(faults[..], [Fault::Corner { vertex: 6, .. }]),
        "{faults:?}"
    );
}

#[test]
fn vertices_of_a_first_frame_that_were_moved_are_found_out() {
    for (what, source, settings) in kinds() {
        if !matches!(what, "soft" | "rigid") {
            continue;
        }
        let (folders, _) = baked(&source, &settings);
        change_carrier(&folders, |mesh| mesh.positions[11][1] += 0.01);
        let faults = found(&folders, &source, &settings);
        assert!(
            matches!(faults[..], [Fault::Place { vertex: 11, .. }]),
            "{what}: {faults:?}"
        );
    }
}

/// Players turn them with the piece: others than the first frame's are wrong in every frame.
#[test]
fn normals_of_pieces_that_are_others_are_found_out() {
    type Change = fn(&mut [f32; 3]);
    let changes: [Change; 3] = [
        |n| *n = n.map(|c| -c),
        |n| *n = [1.0, 0.0, 0.0],
        // A tenth of a degree around x.
        |n| {
            let (sine, cosine) = 0.1_f32.to_radians().sin_cos();
            *n = [
                n[0],
                cosine * n[1] - sine * n[2],
                sine * n[1] + cosine * n[2],
            ];
        },
    ];
    let float = |quantity| (quantity, TexelFormat::Float);
    let settings = VatSettings {
        mode: Some(Mode::Rigid),
        ..with_textures(&[Quantity::Position, Quantity::Rotation].map(float))
    };
    let source = boxes(5);
    let (folders, _) = baked(&source, &settings);
    let whole = folders.verified(&source, &settings);
    assert_eq!((whole.normals_beyond, &whole.faults[..]), (0, &[][..]));
    for change in changes {
        let (folders, _) = baked(&source, &settings);
        change_carrier(&folders, |mesh| {
            mesh.normals.iter_mut().flatten().for_each(change);
        });
        let found = folders.verified(&source, &settings);
        assert!(
            matches!(found.faults[..], [Fault::Normal { .. }]),
            "{found:?}"
        );
        // Frames tell it, too.
        let promised = found.promised_normal.expect("judged");
        assert!(promised.to_degrees() < 0.02, "{}", promised.to_degrees());
        assert!(found.normals_beyond > 0 && found.first_wrong == Some(0));
    }
}

/// The middles of quads that the manifest names must be quads.
#[test]
fn middles_that_are_no_quads_are_errors_in_words() {
    let (source, settings) = (flag(), VatSettings::default());
    let (folders, _) = baked(&source, &settings);
    for wrong in [
        vec![0],
        vec![0, 5],
        vec![1, 0],
        vec![0, 1, 0, 1],
        vec![0, 4_000_000_000],
    ] {
        folders.change_manifest(|manifest| manifest.middles.clone_from(&wrong));
        let error = folders.verify(&source, &settings);
        let text = error.expect_err("no quads").to_string();
        assert!(text.contains("`middles` has"), "{text}");
    }
}
