//! Eight strands side by side against one strand at a time, in both precisions.

use crate::collide::{Capsule, Collider, Contact, Rigid, RigidMotion};
use crate::hair_sim::frame::run_each;
use crate::hair_sim::precision::Runner;
use crate::hair_sim::step::WorkVertex;
use crate::hair_sim::test_scene::{Scene, turned};
use crate::hair_sim::{HairReal, HairSettings};
use sinew_geom::{Affine, Strands, Vec3};

const STILL: f32 = 1.0 / 60.0;
/// So that there are groups of one length and of several, full and not, in more than one task.
const COUNTS: [usize; 11] = [2, 3, 5, 5, 5, 8, 16, 4, 6, 7, 24];
const STRANDS: usize = 50;

/// Coils and straight strands of all counts on a ball, some pinned further out, some that hang free; where `coincident`, some with a
/// segment of no length.
struct Hair {
    strands: Strands,
    rest: Vec<[f32; 3]>,
    masses: Vec<f32>,
}

fn hair(coincident: bool) -> Hair {
    let counts: Vec<usize> = (0..STRANDS).map(|s| COUNTS[s % COUNTS.len()]).collect();
    let (mut rest, mut masses) = (Vec::new(), Vec::new());
    for (s, &count) in counts.iter().enumerate() {
        let y = 1.0 - 1.2 * (s as f32 + 0.5) / STRANDS as f32;
        let (r, a) = ((1.0 - y * y).sqrt(), s as f32 * 2.399_963);
        let out = Vec3::new(r * a.cos(), y, r * a.sin());
        let across = out.cross(&Vec3::new(0.3, 0.1, 1.0)).normalize();
        let other = out.cross(&across);
        let coil = if s % 3 == 0 { 0.006 } else { 0.0 };
        for i in 0..count {
            // The fourth vertex of every fifth strand is where the third is.
            let i = if coincident && s % 5 == 0 && i == 3 {
                2
            } else {
                i
            };
            let turn = i as f32 * 0.7;
            let side = across * (coil * turn.cos()) + other * (coil * turn.sin());
            rest.push((out * (0.1 + 0.01 * i as f32) + side).into());
            masses.push(match (s % 7, i) {
                (6, _) => 1.0,
                (3, 4) | (_, 0 | 1) => 0.0,
                (5, _) => 0.5,
                _ => 1.0,
            });
        }
    }
    let strands = Strands::new(counts).expect("valid");
    Hair {
        strands,
        rest,
        masses,
    }
}

fn scene<R: HairReal>(hair: &Hair, settings: HairSettings, contacts: &[Contact]) -> Scene<R> {
    let mut scene = Scene::new(&hair.strands, &hair.rest, Some(&hair.masses));
    scene.settings = settings;
    scene.contacts = contacts.to_vec();
    scene
}

fn shaken(t: f32) -> Affine<f32> {
    let shift = Vec3::new(0.05 * (t * 9.0).sin(), 0.0, 0.1 * (t * 4.0).cos());
    turned(Vec3::new(0.1, 1.0, 0.0), 0.8 * (t * 7.0).sin(), shift)
}

/// One strand at a time, in single precision.
const REFERENCE: Runner<f32> = |task, frame, guides, state, _| {
    let mut work = vec![WorkVertex::default(); frame.bind.longest];
    run_each(task, frame, guides, state, &mut work);
};

/// A frame with a ball that the head moves in.
fn frame<R: HairReal>(scene: &mut Scene<R>, number: usize, runner: Runner<R>) {
    let ball = Capsule::sphere([0.0, 0.02, 0.0], 0.1);
    let head = |n: usize| shaken(n as f32 / 60.0);
    let (from, to) = (head(number.saturating_sub(1)), head(number));
    let collider = Collider {
        shape: &ball,
        motion: RigidMotion::between(Rigid::of(&from), Rigid::of(&to)),
    };
    scene.frame_by(runner, &to, STILL, &[collider]);
}

fn farthest(a: &[[f32; 3]], b: &[[f32; 3]]) -> f32 {
    let off = |(a, b): (&[f32; 3], &[f32; 3])| (Vec3::from(*a) - Vec3::from(*b)).norm();
    a.iter().zip(b).map(off).fold(0.0, |most: f32, off| {
        assert!(off.is_finite(), "not finite");
        most.max(off)
    })
}

/// Largest differences in six frames: of the kernel from the reference in double and in single precision, and of these two.
fn differences(hair: &Hair, settings: HairSettings) -> [f32; 3] {
    let mut kernel = scene::<f32>(hair, settings, &[]);
    let mut single = scene::<f32>(hair, settings, &[]);
    let mut double = scene::<f64>(hair, settings, &[]);
    let mut worst = [0.0_f32; 3];
    for i in 0..6 {
        frame(&mut kernel, i, kernel_of());
        frame(&mut single, i, REFERENCE);
        frame(&mut double, i, kernel_of());
        let (k, s, d) = (&kernel.positions, &single.positions, &double.positions);
        for (worst, (a, b)) in worst.iter_mut().zip([(k, d), (k, s), (s, d)]) {
            *worst = worst.max(farthest(a, b));
        }
    }
    worst
}

/// What runs where nobody asks for anything else.
fn kernel_of<R: HairReal>() -> Runner<R> {
    R::RUNNER
}

const CONTACT: Contact = Contact {
    collider: 0,
    margin: 0.002,
    friction: 0.3,
};

/// Roundings of positions around 0.3 m are 3e-8; 24 steps, with a few solves each for up to 24 vertices, leave some hundreds of them.
/// Segments of no length have the direction of a rounding, which the reference in single precision follows no less: there the kernel, which
/// rounds products less often, may be a few times as far from the truth as that is.
#[test]
fn the_kernel_is_as_exact_as_the_reference() {
    let windy = HairSettings {
        wind: [3.0, 0.0, 1.0],
        ..HairSettings::default()
    };
    let stiff = HairSettings {
        local_stiffness_hz: 8.0,
        global_stiffness_hz: 0.0,
        speed_limit: 1.0,
        ..HairSettings::default()
    };
    let loose = HairSettings {
        local_stiffness_hz: 0.0,
        global_stiffness_hz: 0.0,
        root_motion_share: 0.0,
        ..windy
    };
    for (name, settings) in [("windy", windy), ("stiff", stiff), ("loose", loose)] {
        for coincident in [false, true] {
            let found = differences(&hair(coincident), settings);
            println!("{name}, coincident {coincident}: {found:?}");
            let [kernel, between, reference] = found;
            let times = if coincident { 3.0 } else { 1.5 };
            let allowed = (times * reference).max(1.2e-5);
            assert!(kernel < allowed, "{name}: {found:?}");
            assert!(between < allowed + reference, "{name}: {found:?}");
        }
    }
}

/// Contacts are found or not, and where one is found by roundings alone, a vertex goes another way. So single steps are compared, each
/// from where the reference is, and few vertices may differ by more than roundings.
#[test]
fn contacts_are_those_of_the_reference() {
    let hair = hair(true);
    for (iterations, gravity) in [(1, -9.81), (2, 30.0)] {
        let settings = HairSettings {
            wind: [3.0, 0.0, 1.0],
            gravity: [0.0, gravity, 0.0],
            collision_iterations: iterations,
            longest_frame_secs: 1.0 / 240.0,
            ..HairSettings::default()
        };
        let mut kernel = scene::<f32>(&hair, settings, &[CONTACT]);
        let mut single = scene::<f32>(&hair, settings, &[CONTACT]);
        let (mut far, mut worst, mut touched) = (0, 0.0_f32, 0);
        let mut free = scene::<f32>(&hair, settings, &[]);
        for i in 0..40 {
            frame(&mut kernel, i, kernel_of());
            frame(&mut free, i, kernel_of());
            frame(&mut single, i, REFERENCE);
            let pairs = kernel.positions.iter().zip(&single.positions);
            for ((a, b), c) in pairs.zip(&free.positions) {
                let off = (Vec3::from(*a) - Vec3::from(*b)).norm();
                assert!(off.is_finite(), "{a:?} {b:?}");
                worst = worst.max(off);
                far += usize::from(off > 1e-5);
                touched += usize::from((Vec3::from(*a) - Vec3::from(*c)).norm() > 1e-5);
            }
            for scene in [&mut kernel, &mut free] {
                scene.state.positions.clone_from(&single.state.positions);
                scene.state.velocities.clone_from(&single.state.velocities);
            }
        }
        assert!(touched > 400, "{touched} vertices touched something");
        assert!(far * 10 < touched, "{far} of {touched} are elsewhere");
        println!(
            "{far} far, {touched} touched of {}, worst {worst}",
            40 * hair.rest.len()
        );
    }
}

/// Neither its neighbours nor the vertices behind its tip change a strand by a bit.
#[test]
fn a_strand_alone_is_the_strand_in_a_group() {
    let hair = hair(true);
    let settings = HairSettings {
        wind: [3.0, 0.0, 1.0],
        // The random number of a strand is its index.
        gust_strength: 0.0,
        ..HairSettings::default()
    };
    for contacts in [&[][..], &[CONTACT]] {
        let mut all = scene::<f32>(&hair, settings, contacts);
        (0..10).for_each(|i| frame(&mut all, i, kernel_of()));
        for range in hair.strands.ranges() {
            let own = Hair {
                strands: Strands::new([range.len()]).expect("valid"),
                rest: hair.rest[range.clone()].to_vec(),
                masses: hair.masses[range.clone()].to_vec(),
            };
            let mut alone = scene::<f32>(&own, settings, contacts);
            (0..10).for_each(|i| frame(&mut alone, i, kernel_of()));
            assert_eq!(all.positions[range.clone()], alone.positions, "{range:?}");
        }
    }
}

#[test]
fn a_lost_strand_begins_anew_and_leaves_its_neighbours_alone() {
    let hair = hair(true);
    let scene = || {
        let mut scene = scene::<f32>(&hair, HairSettings::default(), &[CONTACT]);
        (0..3).for_each(|i| frame(&mut scene, i, kernel_of()));
        scene
    };
    let (mut expected, mut lost) = (scene(), scene());
    // Of groups that are worked on before others in the same room, which must not find numbers there that are none.
    let of_lost = [1, 16].map(|strand| hair.strands.range(strand));
    for range in &of_lost {
        lost.state.positions[range.start + 4].y = f32::NAN;
    }
    for i in 3..13 {
        frame(&mut expected, i, kernel_of());
        frame(&mut lost, i, kernel_of());
        for (v, (a, b)) in lost.positions.iter().zip(&expected.positions).enumerate() {
            if of_lost.iter().any(|range| range.contains(&v)) {
                assert!(
                    a.iter().all(|c| c.is_finite()),
                    "frame {i}, vertex {v}: {a:?}"
                );
            } else {
                assert_eq!(a, b, "frame {i}, vertex {v}");
            }
        }
    }
}

#[test]
fn room_is_what_the_documentation_says() {
    let room = super::GroupRoom::new(10);
    assert_eq!(room.bytes(), 10 * 2864);
}
