//! Forces of hair, in closed forms.

use super::HairSettings;
use super::test_scene::{Scene, bare, line, period};
use super::wind::Gusts;
use sinew_geom::{Affine, Strands, Vec3};

const STILL: f32 = 1.0 / 60.0;

/// Wind `W` across a segment at the angle `a` from straight down is `W cos a`, gravity there `g sin a`: they balance where `tan a = W / g`,
/// all along the chain.
#[test]
fn a_chain_hangs_at_the_angle_of_wind_and_gravity() {
    let mut scene = Scene::<f32>::straight([0.0, 1.0, 0.0], [0.0, -0.01, 0.0], 20);
    scene.settings = HairSettings {
        damping_per_sec: 6.0,
        gravity: [0.0, -9.81, 0.0],
        wind: [3.0, 0.0, -4.0],
        gust_strength: 0.0,
        ..bare()
    };
    scene.settle(8.0, &[]);
    for pair in scene.positions[1..].windows(2) {
        let along = Vec3::from(pair[1]) - Vec3::from(pair[0]);
        let expected = Vec3::new(3.0, -9.81, -4.0).normalize();
        let off = along.normalize() - expected;
        assert!(off.norm() < 5e-3, "{along:?} {expected:?}");
    }
}

/// Gusts as they are documented: from calm to twice as strong, around the wind that was set, most of it as often as was set, up to three
/// tenths of it sideways. What a frequency takes part with is the sum over whole periods of it.
#[test]
fn gusts_are_as_strong_and_as_frequent_as_set() {
    let hz = 0.7;
    let settings = HairSettings {
        wind: [0.0, 0.0, 5.0],
        gust_strength: 1.0,
        gust_hz: hz,
        ..HairSettings::default()
    };
    let gusts = Gusts::new(&settings);
    for strand in [0, 1, 77] {
        let count = 20_000_u32;
        let time = |i: u32| f64::from(i) / f64::from(count) * 1000.0 / f64::from(hz);
        let at = |i: u32| gusts.at::<f64>(strand, time(i));
        let strength: Vec<f64> = (0..count).map(|i| at(i).z / 5.0).collect();
        let (least, most) = strength
            .iter()
            .fold((f64::MAX, 0.0_f64), |(a, b), &s| (a.min(s), b.max(s)));
        assert!((0.0..0.05).contains(&least), "{least}");
        assert!((1.95..=2.0).contains(&most), "{most}");
        let mean = strength.iter().sum::<f64>() / f64::from(count);
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        let angle = |i: u32| std::f64::consts::TAU * f64::from(hz) * time(i);
        let sums = (0..count)
            .zip(&strength)
            .fold((0.0, 0.0), |(a, b), (i, s)| {
                (a + s * angle(i).cos(), b + s * angle(i).sin())
            });
        let amplitude = 2.0 * f64::hypot(sums.0, sums.1) / f64::from(count);
        assert!(amplitude > 0.5, "as often as set: {amplitude}");
        let sideways = (0..count).map(|i| f64::hypot(at(i).x, at(i).y) / 5.0);
        let sideways = sideways.fold(0.0, f64::max);
        assert!((0.29..=0.3001).contains(&sideways), "{sideways}");
    }
}

/// Vertices that no length holds back, all as far off their rest positions.
fn beside_rest(count: usize, by: f64, settings: HairSettings) -> Scene<f64> {
    let strands = Strands::new([count]).expect("valid");
    let rest = line([0.0; 3], [0.01, 0.0, 0.0], count);
    let mut scene = Scene::<f64>::new(&strands, &rest, Some(&vec![1.0; count]));
    scene.settings = settings;
    scene.frame(&Affine::identity(), 0.0, &[]);
    for p in &mut scene.state.positions {
        p.y += by;
    }
    scene
}

#[test]
fn vertices_swing_about_their_rest_positions_at_the_frequency_set() {
    let settings = HairSettings {
        global_stiffness_hz: 2.5,
        global_range: 1.0,
        substeps_per_sec: 1920.0,
        ..bare()
    };
    let mut scene = beside_rest(2, 0.01, settings);
    let mut samples = Vec::new();
    for _ in 0..120 {
        scene.frame(&Affine::identity(), STILL, &[]);
        samples.push(scene.state.positions[1].y);
    }
    let found = period(&samples, f64::from(STILL));
    assert!((found / 0.4 - 1.0).abs() < 0.01, "{found}");
}

/// One implicit step takes the part `k / (1 + k)` of the way back, with `k = (2 pi f h)^2`; all of `k` within the range, none of it a tenth
/// of the length further out, and a share of it between.
#[test]
fn the_pull_fades_out_behind_its_range() {
    let (hz, by, h) = (20.0_f32, 1e-4, 1.0 / 240.0);
    let settings = HairSettings {
        global_stiffness_hz: hz,
        global_range: 0.5,
        ..bare()
    };
    let mut scene = beside_rest(21, by, settings);
    scene.frame(&Affine::identity(), h, &[]);
    let k = (std::f64::consts::TAU * f64::from(hz * h)).powi(2);
    for (i, p) in scene.state.positions.iter().enumerate() {
        let within = (1.0 - (i as f64 / 20.0 - 0.5) / 0.1).clamp(0.0, 1.0);
        let expected = by * within * k / (1.0 + within * k);
        let back = by - p.y;
        assert!(
            (back - expected).abs() < 0.01 * by,
            "{i}: {back} {expected}"
        );
    }
}

/// What holds rotations back beside curls takes nothing from forces: where a coil hangs in steady wind does not depend on how long steps
/// are.
#[test]
fn a_coil_hangs_in_the_wind_where_forces_are_in_balance() {
    let coil = |i: usize| {
        let a = i as f32 * 0.6;
        [0.01 * a.cos(), -0.004 * i as f32, 0.01 * a.sin()]
    };
    let rest: Vec<[f32; 3]> = (0..32).map(coil).collect();
    let strands = Strands::new([32]).expect("valid");
    let hung = |rate: f32| {
        let mut scene = Scene::<f64>::new(&strands, &rest, None);
        scene.settings.wind = [8.0, 0.0, 0.0];
        scene.settings.gust_strength = 0.0;
        scene.settings.substeps_per_sec = rate;
        scene.settle(12.0, &[]);
        assert!(scene.fastest() < 1e-3, "{rate}: {} m/s", scene.fastest());
        scene.positions
    };
    let (coarse, fine) = (hung(240.0), hung(1920.0));
    let pairs = coarse.iter().zip(&fine);
    let off = pairs.map(|(a, b)| (Vec3::from(*a) - Vec3::from(*b)).norm());
    let worst = off.fold(0.0, f32::max);
    println!("{worst} m apart");
    assert!(worst < 1e-3, "{worst}");
}
