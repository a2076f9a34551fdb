//! Bakes of pieces and of particles; the truth is the motion that they were made with.

use super::*;
use crate::FileFrames;
use sinew_geom::Attribute;
use sinew_geom::vec3::{add, sub};
use sinew_testkit::shared_data;
use sinew_vat::playback::FrameBlend;
use sinew_vat::played::{PlayedParticles, PlayedPieces};

/// Radians a frame, and the axis, of cube `i`.
fn spin(i: usize) -> (f64, [f64; 3]) {
    let axes = [[0.0, 0.0, 1.0], [0.6, 0.8, 0.0], [0.0, -0.28, 0.96]];
    ([0.5, -1.1, 2.2][i], axes[i])
}

/// `x y z w`, by the closed form.
fn rotation(i: usize, frame: f64) -> [f64; 4] {
    let (step, axis) = spin(i);
    let (sin, cos) = (step * frame / 2.0).sin_cos();
    [axis[0] * sin, axis[1] * sin, axis[2] * sin, cos]
}

pub(super) fn middle(i: usize, frame: f64) -> [f64; 3] {
    let x = i as f64;
    [
        1.5 * x + 0.1 * frame,
        0.4 * frame - 0.05 * frame * frame,
        0.2 * x * frame,
    ]
}

pub(super) fn turned(i: usize, frame: f64, v: [f64; 3]) -> [f64; 3] {
    let (step, axis) = spin(i);
    about(axis, step * frame, v)
}

/// Half the sides of cube `i`: boxes of different sides.
fn half(i: usize) -> [f64; 3] {
    let s = 0.2 + 0.1 * i as f64;
    [s, 1.5 * s, 0.7 * s]
}

/// Boxes that tumble: each spins around an axis of its own at a steady rate.
pub(super) fn boxes(frames: usize) -> MeshFrames {
    let frames = (0..frames).map(|f| boxes_at(f as f64));
    MeshFrames::new("boxes", frames.collect())
}

fn boxes_at(f: f64) -> Mesh {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for i in 0..3 {
        for (_, ring) in box_faces(half(i)) {
            let base = positions.len() as u32;
            let place = |arm| add(turned(i, f, arm), middle(i, f)).map(|c| c as f32);
            positions.extend(ring.map(place));
            triangles.extend([[base, base + 1, base + 2], [base, base + 2, base + 3]]);
        }
    }
    mesh_from("boxes", positions, triangles)
}

fn blended(frame: u32, weight: f32) -> FrameBlend {
    FrameBlend {
        frame,
        next: frame + u32::from(weight > 0.0),
        weight,
    }
}

#[test]
fn row_126_boxes_tumble_as_they_were_made_to() {
    let source = boxes(12);
    let (folders, summary) = baked(&source, &VatSettings::default());
    assert_eq!(summary.plan.mode(), Mode::Rigid);
    let pieces = summary.plan.pieces().expect("pieces");
    assert_eq!((pieces.count, summary.plan.triangles), (3, 36));
    assert!(pieces.residual.largest < 2e-6, "{pieces:?}");
    assert!((pieces.largest_turn_degrees - 2.2_f64.to_degrees()).abs() < 1e-3);
    let animation = folders.animation();
    assert_eq!(animation.manifest().layout.vertices, 3);
    assert!(animation.manifest().can_blend);
    let played = PlayedPieces::new(&animation).expect("pieces");
    let box_size = animation.manifest().bounds;
    let place_step = (0..3).map(|k| f64::from(box_size.1[k] - box_size.0[k]) / 65535.0);
    let place_step = place_step.fold(0.0, f64::max);
    // Between frames, too: at half the way the shorter turn is half the turn, to the letter.
    for (frame, weight) in (0..11).flat_map(|f| [(f, 0.0), (f, 0.5)]) {
        for i in 0..3 {
            let at = f64::from(frame) + f64::from(weight);
            let pose = played.pose(i as u32, blended(frame, weight));
            let truth = rotation(i, at);
            let along: f64 = (0..4).map(|k| truth[k] * pose.rotation[k]).sum();
            // Both signs are the same rotation; 16 bits from -1 to 1.
            let angle = 2.0 * along.abs().min(1.0).acos();
            assert!(
                angle < 4.0 * 2.0 / 65535.0,
                "{i} at {at}: {angle} radians off"
            );
            let from = middle(i, f64::from(frame));
            let to = middle(i, f64::from(frame + 1));
            for k in 0..3 {
                let truth = from[k] + (to[k] - from[k]) * f64::from(weight);
                let off = (pose.position[k] - truth).abs();
                assert!(off < 1.1 * place_step, "{i} at {at}: {off} m off");
            }
        }
    }
}

#[test]
fn pieces_are_verified_and_normals_turn_with_them() {
    use TexelFormat::{Float, Half, TwoUnorm8, Unorm16};
    for format in [Unorm16, TwoUnorm8, Half, Float] {
        let settings = VatSettings {
            mode: Some(Mode::Rigid),
            ..with_textures(&[(Quantity::Position, format)])
        };
        let source = boxes(9);
        let (folders, summary) = baked(&source, &settings);
        let found = folders.verified(&source, &settings);
        assert_eq!((found.lost, found.invented, found.frames), (0, 0, 9));
        assert_eq!(found.errors.position.samples(), 9 * 72);
        // Halves promise eleven bits, which `promised` does not know: of 4 m, and of a quaternion.
        let allowed = allowed(&found).max(if format == Half { 4.0 / 1024.0 } else { 0.0 });
        let largest = found.errors.position.largest;
        assert!(largest < allowed, "{format:?} {found:?}");
        assert!(found.errors.normal.largest.to_degrees() < 0.15, "{found:?}");
        // What is allowed is near what rounding comes to, not what pieces may bend: 2e-5 of the diagonal.
        if format == Float {
            assert!(found.promised_beyond < 6e-5, "{found:?}");
        }
        let said = summary.errors.position.largest;
        assert!((said - largest).abs() < 1e-6, "{said} {found:?}");
    }
    // Another sequence is found out.
    let (folders, _) = baked(&boxes(9), &VatSettings::default());
    let mut frames = meshes_of(&boxes(9));
    frames[4].positions[30][1] += 0.01;
    let other = MeshFrames::new("boxes", frames);
    let settings = VatSettings::default();
    let found = folders.verified(&other, &settings);
    assert!((found.errors.position.largest - 0.01).abs() < 1e-3);
    assert_eq!(found.errors.position.frame, 4);
}

#[test]
fn what_bends_is_named_with_piece_and_frame() {
    let mut frames = meshes_of(&boxes(6));
    // A vertex of the second box, and those that share its place.
    let at = frames[0].positions[24];
    let shared: Vec<usize> = (0..72).filter(|v| frames[0].positions[*v] == at).collect();
    assert_eq!(shared.len(), 3);
    for v in shared {
        frames[3].positions[v][0] += 0.05;
    }
    let source = MeshFrames::new("boxes", frames);
    assert_eq!(mode_of(&source, &VatSettings::default()), Mode::Soft);
    let settings = with_mode(Mode::Rigid);
    match refused(&source, &settings) {
        BakeError::NotRigid {
            number,
            piece,
            millimetres,
            ..
        } => {
            assert_eq!((number, piece), (3, 1));
            // The rest of the piece gives way by less than half of it.
            assert!((25.0..50.0).contains(&millimetres), "{millimetres}");
        }
        other => panic!("{other}"),
    }
    let tolerant = VatSettings {
        pieces: PieceSettings {
            tolerance: Some(0.1),
            ..PieceSettings::default()
        },
        ..settings
    };
    let plan = baked(&source, &tolerant).1.plan;
    let pieces = plan.pieces().expect("pieces");
    let largest = pieces.residual.largest;
    assert!((0.025..0.05).contains(&largest), "{pieces:?}");
    let bending = refused(&flag(), &with_mode(Mode::Rigid));
    assert!(matches!(bending, BakeError::NotRigid { piece: 0, .. }));
    let changing = refused(&swarm(), &with_mode(Mode::Rigid));
    assert!(matches!(changing, BakeError::NotSoft { number: 1, .. }));
}

/// Boxes whose third turns by `degrees` a frame.
fn fast(degrees: f64) -> MeshFrames {
    let mut frames = meshes_of(&boxes(4));
    let rest = frames[0].positions.clone();
    for (f, mesh) in frames.iter_mut().enumerate() {
        let at = middle(2, 0.0);
        for (v, p) in mesh.positions.iter_mut().enumerate().skip(48) {
            let arm = sub(rest[v].map(f64::from), at);
            let arm = about([0.0, 0.0, 1.0], (degrees * f as f64).to_radians(), arm);
            *p = add(arm, at).map(|c| c as f32);
        }
    }
    MeshFrames::new("boxes", frames)
}

#[test]
fn turns_of_half_a_circle_are_refused_where_they_would_be_blended() {
    let settings = with_mode(Mode::Rigid);
    match refused(&fast(185.0), &settings) {
        BakeError::UnclearTurn {
            number,
            piece,
            degrees,
        } => {
            assert_eq!((number, piece), (1, 2));
            assert!((degrees - 175.0).abs() < 0.01, "{degrees}");
        }
        other => panic!("{other}"),
    }
    let stepping = VatSettings {
        pieces: PieceSettings {
            blend: false,
            ..PieceSettings::default()
        },
        ..settings
    };
    let (folders, _) = baked(&fast(185.0), &stepping);
    assert!(!folders.manifest().can_blend);
    // Over the seam of a loop a piece turns back by all that it turned in the frames before.
    let seamless = |degrees: f64| {
        let settings = VatSettings {
            at_end: sinew_vat::playback::AtEnd::SeamlessLoop,
            ..with_mode(Mode::Rigid)
        };
        let frames = meshes_of(&fast(degrees))[..3].to_vec();
        let source = MeshFrames::new("boxes", frames);
        Folders::new().bake(&source, &settings).map(|_| ())
    };
    assert!(seamless(40.0).is_ok());
    assert!(matches!(
        seamless(88.0),
        Err(BakeError::UnclearTurn {
            number: 0,
            piece: 2,
            ..
        })
    ));
    // Nobody asked for pieces: vertices are the safe way.
    assert_eq!(mode_of(&fast(185.0), &VatSettings::default()), Mode::Soft);
    assert_eq!(mode_of(&fast(160.0), &VatSettings::default()), Mode::Rigid);
}

#[test]
fn attributes_name_pieces_and_textures_must_make_sense() {
    let mut frames = meshes_of(&boxes(5));
    for mesh in &mut frames {
        let number = |v: usize| if v < 24 { 4.0 } else { 9.0 };
        let numbers = Attribute::Scalar((0..72).map(number).collect());
        mesh.attributes.insert("shard".into(), numbers);
    }
    let source = MeshFrames::new("boxes", frames);
    let by = |name: &str| VatSettings {
        pieces: PieceSettings {
            attribute: Some(name.into()),
            ..PieceSettings::default()
        },
        ..with_mode(Mode::Rigid)
    };
    let failed = |settings: &VatSettings| refused(&source, settings).to_string();
    // The second and third box move apart, so that together they bend.
    assert!(failed(&by("shard")).starts_with("frame 1: piece 1 bends"));
    assert!(failed(&by("splinter")).contains("no scalar attribute 'splinter'"));
    for (mode, quantity, part) in [
        (
            Mode::Rigid,
            Quantity::Normal,
            "mode rigid has no texture of normal",
        ),
        (
            Mode::Soft,
            Quantity::Rotation,
            "mode soft has no texture of rotation",
        ),
        (
            Mode::Remesh,
            Quantity::Size,
            "mode remesh has no texture of size",
        ),
    ] {
        let settings = VatSettings {
            mode: Some(mode),
            ..with_textures(&[Quantity::Position, quantity].map(|q| (q, TexelFormat::Unorm16)))
        };
        let text = failed(&settings);
        assert!(text.contains(part), "{text} has no {part}");
    }
}

/// Where point `id` is in a frame, and how wide: it is there from frame `id` on for four frames.
pub(super) fn drop_at(id: usize, frame: usize) -> ([f32; 3], f32) {
    let (i, age) = (id as f32, (frame - id) as f32);
    (
        [0.3 * i, 0.5 * age - 0.1 * age * age, 0.1 * i * age],
        0.02 * (i + 1.0),
    )
}

/// Points that are born one a frame and die after four; in frames without any there is nothing.
pub(super) fn fountain(has_ids: bool) -> MeshFrames {
    let frames = (0..12).map(|f: usize| {
        let alive: Vec<usize> = (0..7).filter(|id| (*id..id + 4).contains(&f)).collect();
        // Every other frame in reverse: the order says nothing.
        let alive: Vec<usize> = match f % 2 {
            0 => alive,
            _ => alive.into_iter().rev().collect(),
        };
        let places = alive.iter().map(|id| drop_at(*id, f).0).collect();
        let mut mesh = mesh_from("fountain", places, vec![]);
        let scalar =
            |of: &dyn Fn(usize) -> f32| Attribute::Scalar(alive.iter().map(|id| of(*id)).collect());
        let (sizes, ids) = (scalar(&|id| drop_at(id, f).1), scalar(&|id| id as f32));
        mesh.attributes.insert("size".into(), sizes);
        // Metres a second, at 24 frames a second.
        let velocity = |id: &usize| {
            let (now, then) = (drop_at(*id, f).0, drop_at(*id, f + 1).0);
            std::array::from_fn(|k| (then[k] - now[k]) * 24.0)
        };
        let velocities = Attribute::Vec3(alive.iter().map(velocity).collect());
        match has_ids {
            true => mesh.attributes.insert("id".into(), ids),
            false => mesh.attributes.insert("velocity".into(), velocities),
        };
        mesh
    });
    MeshFrames::new("fountain", frames.collect())
}

#[test]
fn row_125_points_live_in_slots_with_their_places_and_widths() {
    for has_ids in [true, false] {
        let source = fountain(has_ids);
        let (folders, summary) = baked(&source, &VatSettings::default());
        assert_eq!(summary.plan.mode(), Mode::Particles);
        let animation = folders.animation();
        let manifest = animation.manifest();
        assert_eq!(summary.plan.triangles, 2 * manifest.layout.vertices);
        let played = PlayedParticles::new(&animation).expect("particles");
        let at = |slot: u32, frame: u32| played.sprite(slot, blended(frame, 0.0));
        let slot_of = |id: usize, frame: usize| {
            let (place, size) = drop_at(id, frame);
            let near = |slot: &u32| {
                let (middle, width) = at(*slot, frame as u32);
                let off = (0..3).map(|k| (middle[k] - f64::from(place[k])).abs());
                off.fold(0.0, f64::max) < 1e-4 && (width - f64::from(size)).abs() < 1e-5
            };
            let found: Vec<u32> = (0..manifest.layout.vertices).filter(near).collect();
            assert_eq!(found.len(), 1, "point {id} in frame {frame}: {found:?}");
            found[0]
        };
        for id in 0..7 {
            let slots: Vec<u32> = (id..id + 4).map(|f| slot_of(id, f)).collect();
            assert!(
                slots.iter().all(|s| *s == slots[0]),
                "point {id} changes its slot"
            );
            // Half the way into the next frame it is half way there.
            let middle = played.sprite(slots[0], blended(id as u32, 0.5)).0;
            let (a, b) = (drop_at(id, id).0, drop_at(id, id + 1).0);
            for k in 0..3 {
                assert!((middle[k] - f64::from(f32::midpoint(a[k], b[k]))).abs() < 1e-4);
            }
        }
        for frame in 0..12 {
            let shown = (0..manifest.layout.vertices).filter(|s| at(*s, frame).1 > 0.0);
            let alive = (0..7).filter(|id| (*id..id + 4).contains(&frame));
            assert_eq!(shown.count(), alive.count(), "frame {frame}");
        }
        let settings = VatSettings::default();
        let found = folders.verified(&source, &settings);
        assert_eq!((found.lost, found.invented, found.frames), (0, 0, 12));
        assert_eq!(found.errors.position.samples(), 28);
        let mut others = meshes_of(&source);
        others[5].positions[1][0] += 0.2;
        let others = MeshFrames::new("fountain", others);
        let found = folders.verified(&others, &settings);
        assert_eq!(
            (found.lost, found.invented, found.first_wrong),
            (1, 1, Some(5))
        );
    }
}

#[test]
fn points_are_found_again_in_every_format() {
    use TexelFormat::{Float, Half, TwoUnorm8, Unorm8, Unorm16};
    for size in [Unorm8, Unorm16, TwoUnorm8, Half, Float] {
        for place in [Unorm16, TwoUnorm8, Half, Float] {
            let widths = Quantity::Attribute("size".into());
            let settings = with_textures(&[(Quantity::Position, place), (widths, size)]);
            let source = fountain(true);
            let (folders, _) = baked(&source, &settings);
            let found = folders.verified(&source, &settings);
            let seen = (found.lost, found.invented, found.errors.position.samples());
            assert_eq!(seen, (0, 0, 28), "{place:?} {size:?}");
        }
    }
}

#[test]
fn carriers_of_points_are_squares_in_the_box() {
    let (folders, _) = baked(&fountain(true), &VatSettings::default());
    let (manifest, mesh) = (folders.manifest(), folders.carrier());
    assert_eq!(mesh.bounds(), Some(manifest.bounds));
    assert_eq!((mesh.uvs.len(), manifest.uv_set), (2, 1));
    assert_eq!(mesh.positions.len() as u32, 4 * manifest.layout.vertices);
    // Wide enough for the widest square, however it is turned.
    let highest = drop_at(6, 8).0[1].max(drop_at(6, 9).0[1]);
    let half = 0.14 * std::f32::consts::FRAC_1_SQRT_2;
    let off = manifest.bounds.1[1] - highest - half;
    assert!(off.abs() < 1e-5, "{:?}", manifest.bounds);
}

/// The particles that come with the project's data: 60 frames of up to 654 points.
#[test]
fn particles_of_the_data_come_back_within_a_step() {
    let Some(folder) = shared_data().map(|d| d.join("sequences/particles")) else {
        println!("skipped: no sequence of particles");
        return;
    };
    let files = sinew_io::find_sequence(&folder).expect("one sequence");
    let source = FileFrames::new(files, false);
    let size = (Quantity::Attribute("size".into()), TexelFormat::Half);
    let place = (Quantity::Position, TexelFormat::Unorm16);
    let settings = with_textures(&[place, size]);
    let (folders, summary) = baked(&source, &settings);
    assert_eq!((summary.plan.mode(), summary.frames), (Mode::Particles, 60));
    let animation = folders.animation();
    let played = PlayedParticles::new(&animation).expect("particles");
    let (low, high) = animation.manifest().bounds;
    let step = [0, 1, 2].map(|k| f64::from(high[k] - low[k]) / 65535.0);
    let mut slots = std::collections::HashMap::new();
    for frame in 0..60 {
        let mesh = source.load(frame).expect("reads").mesh;
        let Some(Attribute::Scalar(ids)) = mesh.attributes.get("id") else {
            panic!("no ids in frame {frame}");
        };
        let shown: Vec<_> = (0..animation.manifest().layout.vertices)
            .map(|slot| (slot, played.sprite(slot, blended(frame as u32, 0.0))))
            .filter(|(_, (_, size))| *size > 0.0)
            .collect();
        assert_eq!(shown.len(), mesh.positions.len(), "frame {frame}");
        for (place, id) in mesh.positions.iter().zip(ids) {
            let fits = |middle: &[f64; 3]| {
                (0..3).all(|k| (middle[k] - f64::from(place[k])).abs() <= step[k])
            };
            let here: Vec<u32> = shown.iter().filter(|s| fits(&s.1.0)).map(|s| s.0).collect();
            assert!(!here.is_empty(), "point {id} of frame {frame} is nowhere");
            let known = slots.entry(id.to_bits()).or_insert(here[0]);
            assert!(
                here.contains(known),
                "point {id} changes its slot in frame {frame}"
            );
        }
    }
    assert!(slots.len() > 1000, "{} points", slots.len());
}

#[test]
fn in_betweens_of_pieces_are_measured_and_points_have_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = VatSettings::default();
    // Held back are moments half the way between frames, where all is right but for the fall: an arc, and its chord 12.5 mm below.
    let found = blend_error(&slow_boxes(), &settings, folder.path(), &Watch::NOBODY);
    let found = found.expect("measured");
    let is_near = found.blended.max < 0.0126 && found.stepped.max > 0.1;
    assert!(is_near, "{found:?}");
    let folder = tempfile::tempdir().expect("a folder");
    let none = blend_error(&fountain(true), &settings, folder.path(), &Watch::NOBODY);
    assert!(matches!(none, Err(BakeError::NoSurface)));
}

/// Boxes at half their rates, so that turns between every second frame are clear.
fn slow_boxes() -> MeshFrames {
    let frames = (0..5).map(|f| boxes_at(0.5 * f as f64));
    MeshFrames::new("boxes", frames.collect())
}
