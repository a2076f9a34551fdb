use super::reference::{gradient, lattice_noise};
use super::*;
use proptest::prelude::*;
use sinew_geom::{Affine, Quat, Vec3};
use sinew_testkit::meshes;

/// Perlin's permutation, from the reference implementation of "Improving Noise", 2002.
#[rustfmt::skip]
const PERMUTATION: [u8; 256] = [
    151, 160, 137, 91, 90, 15, 131, 13, 201, 95, 96, 53, 194, 233, 7, 225, 140, 36, 103, 30, 69, 142, 8, 99, 37, 240,
    21, 10, 23, 190, 6, 148, 247, 120, 234, 75, 0, 26, 197, 62, 94, 252, 219, 203, 117, 35, 11, 32, 57, 177, 33, 88,
    237, 149, 56, 87, 174, 20, 125, 136, 171, 168, 68, 175, 74, 165, 71, 134, 139, 48, 27, 166, 77, 146, 158, 231, 83,
    111, 229, 122, 60, 211, 133, 230, 220, 105, 92, 41, 55, 46, 245, 40, 244, 102, 143, 54, 65, 25, 63, 161, 1, 216,
    80, 73, 209, 76, 132, 187, 208, 89, 18, 169, 200, 196, 135, 130, 116, 188, 159, 86, 164, 100, 109, 198, 173, 186,
    3, 64, 52, 217, 226, 250, 124, 123, 5, 202, 38, 147, 118, 126, 255, 82, 85, 212, 207, 206, 59, 227, 47, 16, 58,
    17, 182, 189, 28, 42, 223, 183, 170, 213, 119, 248, 152, 2, 44, 154, 163, 70, 221, 153, 101, 155, 167, 43, 172, 9,
    129, 22, 39, 253, 19, 98, 108, 110, 79, 113, 224, 232, 178, 185, 112, 104, 218, 246, 97, 228, 251, 34, 242, 193,
    238, 210, 144, 12, 191, 179, 162, 241, 81, 51, 145, 235, 249, 14, 239, 107, 49, 192, 214, 31, 181, 199, 106, 157,
    184, 84, 204, 176, 115, 121, 50, 45, 127, 4, 150, 254, 138, 236, 205, 93, 222, 114, 67, 29, 24, 72, 243, 141, 128,
    195, 78, 66, 215, 61, 156, 180,
];

const SETTINGS: NoiseSettings = NoiseSettings {
    amplitude: 1.0,
    feature_size: 1.0,
    octaves: 1,
    roughness: 0.5,
    lacunarity: 2.0,
    offset: [0.0; 3],
    seed: 7,
};

fn fractal(settings: &NoiseSettings, p: [f64; 3]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for octave in settings.octaves() {
        let noise = octave.at(p);
        sum = std::array::from_fn(|c| sum[c] + noise[c]);
    }
    sum
}

fn points(count: u32) -> impl Iterator<Item = [f64; 3]> {
    (0..count).map(|i| {
        let [x, y, z, _] = pcg4d([i, 1, 2, 3]);
        [x, y, z].map(|v| f64::from(v) * 2.0_f64.powi(-29) - 4.0)
    })
}

fn close(found: [f64; 3], expected: [f64; 3], tolerance: f64) {
    for c in 0..3 {
        let off = (found[c] - expected[c]).abs();
        assert!(off <= tolerance, "{found:?}, expected {expected:?}");
    }
}

/// The job on a mesh, vertices at rest in `rest`.
struct Case {
    rest: Vec<[f32; 3]>,
    input: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    frame: Affine<f64>,
    direction: NoiseDirection,
    settings: NoiseSettings,
}

impl Case {
    fn new(direction: NoiseDirection) -> Self {
        let mesh = meshes::tube(40, 33, 1.0, 0.2);
        Self {
            rest: mesh.positions.clone(),
            normals: mesh.normals.expect("a tube has normals"),
            input: mesh.positions,
            frame: Affine::identity(),
            direction,
            settings: NoiseSettings {
                amplitude: 0.05,
                feature_size: 0.17,
                octaves: 4,
                ..SETTINGS
            },
        }
    }
    fn run<R: Real>(&self, weight: MaskWeight<'_>, par: Par) -> Vec<[f32; 3]> {
        let mut out = vec![[f32::NAN; 3]; self.input.len()];
        NoiseJob {
            bind: &NoiseBind::new(&self.rest, &self.frame, self.direction),
            settings: self.settings,
            weight,
            input: MeshView {
                positions: &self.input,
                normals: Some(&self.normals),
                ..MeshView::default()
            },
            output: Some(&mut out),
            par,
        }
        .run_in::<R>();
        out
    }
    fn moved(&self) -> Vec<[f32; 3]> {
        self.run::<f32>(MaskWeight::ONE, Par::Seq)
    }
    fn steps(&self) -> Vec<Vec3<f64>> {
        let moved = self.moved();
        let pairs = moved.iter().zip(&self.input);
        pairs.map(|(a, b)| f64::vec3(*a) - f64::vec3(*b)).collect()
    }
}

const DIRECTIONS: [NoiseDirection; 3] = [
    NoiseDirection::Normal,
    NoiseDirection::Axis(Axis::Z),
    NoiseDirection::Free,
];

/// With Perlin's permutation in place of our hash: the value of his Java program, as Rosetta Code ("Perlin noise") gives it.
#[test]
fn perlins_permutation_gives_the_published_value() {
    let at = |i: i32| i32::from(PERMUTATION[(i & 255) as usize]);
    let hash = |[x, y, z]: [i32; 3]| [at(at(at(x) + y) + z) as u32];
    let [found] = lattice_noise([3, 42, 7], [0.140_000_000_000_000_12_f64, 0.0, 0.0], hash);
    let expected = 0.136_919_958_784_000_12;
    assert!((found - expected).abs() < 1e-15, "{found}");
}

/// Expected numbers are from a program of a few lines in Python, whose integers do not overflow.
#[test]
fn numbers_of_another_program() {
    assert_eq!(
        pcg4d([0; 4]),
        [251_852_841, 760_645_481, 850_445_371, 3_542_436_074]
    );
    assert_eq!(
        pcg4d([u32::MAX, 0, 7, 12_345]),
        [3_780_711_373, 738_945_371, 1_110_018_852, 1_899_673_220]
    );
    let found = fractal(&SETTINGS, [5.25, -2.5, 1.125]);
    let expected = [
        -0.349_779_874_086_38,
        0.024_564_079_940_319_06,
        0.107_563_488_185_405_73,
    ];
    close(found, expected, 1e-15);
    let settings = NoiseSettings {
        amplitude: 0.05,
        feature_size: 0.2,
        octaves: 4,
        roughness: 0.6,
        lacunarity: 2.1,
        offset: [0.4, -0.3, 0.05],
        seed: 42,
    };
    let expected = [
        0.012_714_025_448_773_51,
        0.002_588_294_699_192_299,
        -0.002_315_249_896_076_393,
    ];
    close(fractal(&settings, [0.31, -0.12, 0.77]), expected, 1e-14);
}

#[test]
fn noise_is_zero_at_lattice_points_and_its_slope_is_their_gradient() {
    for seed in 0..200 {
        let settings = NoiseSettings { seed, ..SETTINGS };
        let at = [
            seed as i32 % 17 - 8,
            seed as i32 % 5 - 3,
            1000 - seed as i32 * 9,
        ];
        let p = at.map(f64::from);
        assert_eq!(fractal(&settings, p), [0.0; 3]);
        assert_eq!(
            settings.octaves()[0].cast::<f32>().at(at.map(|v| v as f32)),
            [0.0; 3]
        );
        let hash = pcg4d([at[0] as u32, at[1] as u32, at[2] as u32, seed]);
        for (channel, h) in hash.into_iter().take(3).enumerate() {
            for c in 0..3 {
                let step = 1e-6;
                let value = |sign: f64| {
                    let mut p = p;
                    p[c] += sign * step;
                    fractal(&settings, p)[channel]
                };
                let slope = (value(1.0) - value(-1.0)) / (2.0 * step);
                let mut unit = [0.0; 3];
                unit[c] = 1.0;
                let expected = gradient(h >> 28, unit);
                assert!(
                    (slope - expected).abs() < 1e-6,
                    "{slope}, expected {expected}"
                );
            }
        }
    }
}

/// The gradients are Perlin's: twelve of length sqrt 2, four of them twice. Their sum is zero.
#[test]
fn gradients_point_to_the_edges_of_a_cube() {
    let axis = |h, c: usize| gradient(h, std::array::from_fn(|k| if k == c { 1.0 } else { 0.0 }));
    let mut all: Vec<[i32; 3]> = (0..16)
        .map(|h| [0, 1, 2].map(|c: usize| axis(h, c) as i32))
        .collect();
    assert!(
        all.iter()
            .all(|g| g.iter().map(|c| c * c).sum::<i32>() == 2)
    );
    assert_eq!(
        all.iter()
            .copied()
            .reduce(|a, b| [0, 1, 2].map(|c| a[c] + b[c])),
        Some([0; 3])
    );
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 12);
}

/// The best gradient at each corner bounds any hash. The largest bound is known: 1.03635.
#[test]
fn noise_stays_within_its_bound() {
    let bound = |f: [f64; 3]| -> f64 {
        let corners = (0..8).map(|i| {
            let mut weight = 1.0;
            let mut from = [0.0; 3];
            for c in 0..3 {
                let is_upper = i >> c & 1 == 1;
                let fade = f[c].powi(3) * (f[c] * (f[c] * 6.0 - 15.0) + 10.0);
                weight *= if is_upper { fade } else { 1.0 - fade };
                from[c] = if is_upper { f[c] - 1.0 } else { f[c] };
            }
            let best = (0..16).map(|h| gradient(h, from)).fold(f64::MIN, f64::max);
            weight * best
        });
        corners.sum()
    };
    let mut largest = 0.0_f64;
    for i in 0..64_000 {
        let at = [i % 40, i / 40 % 40, i / 1600].map(|v| f64::from(v) / 78.0);
        largest = largest.max(bound(at));
    }
    assert!((1.036..1.0364).contains(&largest), "{largest}");
    let found = points(20_000).flat_map(|p| fractal(&SETTINGS, p));
    let found = found.fold(0.0_f64, |a, n| a.max(n.abs()));
    assert!((0.7..1.0364).contains(&found), "{found}");
}

/// Values, slopes and curvatures meet at the sides of cells: fades have two derivatives that vanish there.
#[test]
fn noise_is_smooth_across_cells() {
    for p in points(200) {
        for side in 0..3 {
            let at = |d: f64| {
                let mut p = p;
                p[side] = p[side].floor() + d;
                fractal(&SETTINGS, p)[0]
            };
            let e = 1e-4;
            assert!((at(1e-9) - at(-1e-9)).abs() < 1e-8);
            let slope = |d: f64| (at(d + e) - at(d - e)) / (2.0 * e);
            let curve = |d: f64| (at(d + e) - 2.0 * at(d) + at(d - e)) / (e * e);
            assert!((slope(2.0 * e) - slope(-2.0 * e)).abs() < 0.01);
            assert!((curve(2.0 * e) - curve(-2.0 * e)).abs() < 0.1);
        }
    }
}

/// Averages over many points: zero, and no relation between channels, seeds and octaves.
#[test]
fn channels_and_seeds_are_independent() {
    let other = NoiseSettings {
        seed: 8,
        ..SETTINGS
    };
    let two = NoiseSettings {
        octaves: 2,
        roughness: 1.0,
        ..SETTINGS
    };
    let count = 40_000;
    let mut sums = [0.0; 6];
    for p in points(count) {
        let [a, b, c] = fractal(&SETTINGS, p);
        let second = 2.0 * fractal(&two, p)[0] - a;
        let terms = [
            a,
            a * a,
            a * b,
            b * c,
            a * fractal(&other, p)[0],
            a * second,
        ];
        sums = std::array::from_fn(|i| sums[i] + terms[i] / f64::from(count));
    }
    let [mean, variance, related @ ..] = sums;
    assert!(mean.abs() < 0.02, "{mean}");
    assert!((0.05..0.1).contains(&variance), "{variance}");
    assert!(
        related.iter().all(|r| r.abs() < 0.1 * variance),
        "{related:?}"
    );
}

#[test]
fn octaves_as_stated() {
    let settings = NoiseSettings {
        amplitude: 3.0,
        feature_size: 0.5,
        octaves: 3,
        lacunarity: 3.0,
        ..SETTINGS
    };
    let octaves = settings.octaves();
    let amplitudes: Vec<f64> = octaves.iter().map(|o| o.amplitude).collect();
    let expected = [4.0, 2.0, 1.0].map(|a| a * 3.0 / 7.0);
    assert!(
        amplitudes
            .iter()
            .zip(expected)
            .all(|(a, b)| (a - b).abs() < 1e-15)
    );
    let frequencies: Vec<f64> = octaves.iter().map(|o| o.frequency).collect();
    assert_eq!(frequencies, [2.0, 6.0, 18.0]);
    // Roughness 0 leaves the first octave.
    let smooth = NoiseSettings {
        roughness: 0.0,
        ..settings
    };
    let first = NoiseSettings {
        octaves: 1,
        ..settings
    };
    for p in points(50) {
        assert_eq!(fractal(&smooth, p), fractal(&first, p));
    }
    let all = NoiseSettings {
        octaves: 99,
        ..settings
    };
    assert_eq!(all.octaves().len(), MAX_OCTAVES);
}

#[test]
fn the_offset_moves_the_noise() {
    let settings = NoiseSettings {
        octaves: 5,
        ..SETTINGS
    };
    for p in points(200) {
        let offset = [0.3, -1.7, 2.25];
        let moved = NoiseSettings { offset, ..settings };
        let before = [0, 1, 2].map(|c| p[c] - offset[c]);
        close(fractal(&moved, p), fractal(&settings, before), 1e-12);
        // The lattice has a period of 2^32 cells: the words of the hash.
        let round = NoiseSettings {
            offset: [0.0, 2.0_f64.powi(32), 0.0],
            ..SETTINGS
        };
        close(fractal(&round, p), fractal(&SETTINGS, p), 1e-6);
    }
}

/// Whole cells of an offset are integers, so that single precision does not suffer when the noise has flowed for hours.
#[test]
fn far_offsets_cost_no_precision() {
    let settings = NoiseSettings {
        octaves: 5,
        offset: [36_000.0, -7_200.0, 1e5],
        feature_size: 0.1,
        ..SETTINGS
    };
    let mut worst = 0.0_f64;
    for p in points(500) {
        let p = p.map(|c| f64::from((c * 0.25) as f32));
        let mut sum = [0.0; 3];
        for octave in settings.octaves() {
            let noise = octave.cast::<f32>().at(p.map(|c| c as f32));
            sum = std::array::from_fn(|c| sum[c] + f64::from(noise[c]));
        }
        let expected = fractal(&settings, p);
        let off = (0..3).map(|c| (sum[c] - expected[c]).abs());
        worst = off.fold(worst, f64::max);
    }
    assert!(worst < 5e-5, "{worst}");
}

#[test]
fn vertices_move_where_the_direction_says() {
    let case = Case::new(NoiseDirection::Normal);
    for (step, n) in case.steps().iter().zip(&case.normals) {
        assert!(step.cross(&f64::vec3(*n)).norm() < 1e-6);
    }
    let mut case = Case::new(NoiseDirection::Axis(Axis::Z));
    let turned = Quat::from_euler_angles(0.3, -0.8, 1.1);
    // The scale stretches features and leaves the displacement alone.
    case.frame = Affine::from_trs(Vec3::zeros(), turned, Vec3::new(2.0, 3.0, 4.0));
    let axis = turned * Vec3::z();
    let steps = case.steps();
    assert!(steps.iter().all(|s| s.cross(&axis).norm() < 1e-6));
    let settings = case.settings;
    for (step, rest) in steps.iter().zip(&case.rest) {
        let local = turned.inverse() * f64::vec3(*rest);
        let local = [local.x / 2.0, local.y / 3.0, local.z / 4.0];
        let expected = fractal(&settings, local)[0];
        assert!((step.dot(&axis) - expected).abs() < 1e-6);
    }
    case.direction = NoiseDirection::Free;
    for (step, rest) in case.steps().iter().zip(&case.rest) {
        let local = turned.inverse() * f64::vec3(*rest);
        let local = [local.x / 2.0, local.y / 3.0, local.z / 4.0];
        let expected = turned * Vec3::from(fractal(&settings, local));
        assert!((step - expected).norm() < 1e-6);
    }
}

/// The noise belongs to the rest position: a deformed mesh keeps its displacements.
#[test]
fn noise_sticks_to_the_rest_mesh() {
    let mut case = Case::new(NoiseDirection::Free);
    let at_rest = case.steps();
    for p in &mut case.input {
        *p = [p[0] + 0.3 * p[1], 1.4 * p[1], p[2] - 0.2];
    }
    for (a, b) in case.steps().iter().zip(&at_rest) {
        assert!((a - b).norm() < 1e-6);
    }
}

#[test]
fn a_frame_that_moves_along_changes_nothing() {
    for direction in DIRECTIONS {
        let mut case = Case::new(direction);
        let before = case.steps();
        let by = Vec3::new(40.0, -30.0, 70.0);
        case.frame.translation = by;
        for p in case.rest.iter_mut().chain(&mut case.input) {
            *p = f64::array3(f64::vec3(*p) + by);
        }
        for (a, b) in case.steps().iter().zip(&before) {
            assert!((a - b).norm() < 3e-5, "{a} {b}");
        }
    }
}

#[test]
fn weight_zero_and_amplitude_zero_change_nothing() {
    for direction in DIRECTIONS {
        let mut case = Case::new(direction);
        let weight = MaskWeight {
            weight: 0.0,
            ..MaskWeight::ONE
        };
        assert_eq!(case.run::<f32>(weight, Par::Seq), case.input);
        assert_ne!(case.moved(), case.input);
        case.settings.amplitude = 0.0;
        assert_eq!(case.moved(), case.input);
    }
}

#[test]
fn mask_and_weight_scale_the_displacement() {
    let case = Case::new(NoiseDirection::Normal);
    let full = case.steps();
    let mask: Vec<f32> = (0..full.len()).map(|v| (v % 5) as f32 / 4.0).collect();
    for invert in [false, true] {
        let weight = MaskWeight {
            mask: Some(&mask),
            invert,
            weight: 0.6,
        };
        let moved = case.run::<f32>(weight, Par::Seq);
        for v in 0..full.len() {
            let step = f64::vec3(moved[v]) - f64::vec3(case.input[v]);
            let expected = full[v] * f64::from(weight.at(v));
            assert!((step - expected).norm() < 1e-6);
        }
    }
}

#[test]
fn single_precision_is_the_reference() {
    for direction in DIRECTIONS {
        let case = Case::new(direction);
        let wide = case.run::<f64>(MaskWeight::ONE, Par::Seq);
        let off = sinew_testkit::max_distance(&case.moved(), &wide);
        assert!(off < 1e-6, "{direction:?}: {off}");
    }
}

#[test]
fn threads_give_the_same_bits() {
    let case = Case::new(NoiseDirection::Free);
    assert_eq!(case.run::<f32>(MaskWeight::ONE, Par::Rayon), case.moved());
}

#[test]
fn flat_frames_and_missing_normals_move_nothing() {
    let mut case = Case::new(NoiseDirection::Free);
    case.frame = Affine::from_trs(Vec3::zeros(), Quat::identity(), Vec3::new(1.0, 0.0, 1.0));
    assert!(NoiseBind::new(&case.rest, &case.frame, case.direction).is_flat());
    assert_eq!(case.moved(), case.input);

    let case = Case::new(NoiseDirection::Normal);
    let mut out = vec![[f32::NAN; 3]; case.input.len()];
    NoiseJob {
        bind: &NoiseBind::new(&case.rest, &case.frame, case.direction),
        settings: case.settings,
        weight: MaskWeight::ONE,
        input: MeshView {
            positions: &case.input,
            ..MeshView::default()
        },
        output: Some(&mut out),
        par: Par::Seq,
    }
    .run();
    assert_eq!(out, case.input);
}

#[test]
fn an_empty_mesh_is_legal() {
    let mut case = Case::new(NoiseDirection::Normal);
    case.rest.clear();
    case.input.clear();
    case.normals.clear();
    assert!(case.moved().is_empty());
}

proptest! {
    #[test]
    fn finite_input_gives_finite_output(
        p in prop::array::uniform3(prop::num::f32::NORMAL | prop::num::f32::ZERO | prop::num::f32::SUBNORMAL),
        amplitude in -1e6..1e6,
        feature_size in 1e-4..1e6,
        octaves in 1_usize..=16,
        roughness in 0.0..=1.0,
        lacunarity in 1.0..=4.0,
        offset in prop::array::uniform3(prop::num::f64::NORMAL),
        seed: u32,
        scale in 1e-12..1e12,
    ) {
        for direction in DIRECTIONS {
            let case = Case {
                rest: vec![p],
                input: vec![p],
                normals: vec![[0.6, 0.0, -0.8]],
                frame: Affine::from_trs(Vec3::new(1.0, 2.0, 3.0), Quat::identity(), Vec3::repeat(scale)),
                direction,
                settings: NoiseSettings { amplitude, feature_size, octaves, roughness, lacunarity, offset, seed },
            };
            let moved = case.moved()[0];
            prop_assert!(moved.iter().all(|c| c.is_finite()), "{moved:?}");
            let bound = 1.0364 * 3.0_f64.sqrt() * amplitude.abs();
            for c in 0..3 {
                let step = f64::from(moved[c]) - f64::from(p[c]);
                prop_assert!(step.abs() <= bound * 1.001 + f64::from(p[c].abs()) * 1e-6, "{step}");
            }
        }
    }
}
