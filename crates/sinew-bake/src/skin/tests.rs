//! Characters whose deformation is known: skinned by weights, moved by a rigid motion, displaced by known targets.

use super::*;
use crate::Watch;
use sinew_geom::{Affine, Influences, MorphTarget, Quat, Real, Topology, Vec3};

const RINGS: usize = 24;
const SIDES: usize = 10;
const JOINTS: usize = 4;

/// A tube along x of `JOINTS` joints, one metre each.
struct Tube {
    rest: Vec<[f32; 3]>,
    topology: Topology,
    parents: Vec<Option<usize>>,
    skins: Vec<u32>,
}

impl Tube {
    fn at(offset: f32) -> Self {
        let (mut rest, mut triangles) = (Vec::new(), Vec::new());
        for ring in 0..RINGS {
            for side in 0..SIDES {
                let angle = side as f32 / SIDES as f32 * std::f32::consts::TAU;
                let x = ring as f32 / (RINGS - 1) as f32 * JOINTS as f32;
                rest.push([x + offset, 0.3 * angle.cos() + offset, 0.3 * angle.sin()]);
                if ring + 1 < RINGS {
                    let v = |r: usize, s: usize| (r * SIDES + s % SIDES) as u32;
                    triangles.push([v(ring, side), v(ring + 1, side), v(ring, side + 1)]);
                    triangles.push([v(ring + 1, side), v(ring + 1, side + 1), v(ring, side + 1)]);
                }
            }
        }
        Self {
            topology: Topology::new(rest.len() as u32, triangles).expect("in range"),
            rest,
            parents: (0..JOINTS).map(|j| j.checked_sub(1)).collect(),
            skins: vec![0; JOINTS],
        }
    }

    fn problem<'a>(
        &'a self,
        authored: &'a Influences,
        samples: &'a SkinSamples,
    ) -> SkinProblem<'a> {
        SkinProblem {
            rest: &self.rest,
            topology: &self.topology,
            authored,
            parents: &self.parents,
            skins: &self.skins,
            samples,
        }
    }

    /// Each vertex wholly on the joint that it lies beside.
    fn rigid(&self) -> Influences {
        let row = |p: &[f32; 3]| vec![(joint_at(p[0] - self.rest[0][0]), 1.0)];
        rows(self.rest.iter().map(row))
    }

    /// Straight from joint to joint: two joints a vertex, one at the ends.
    fn blended(&self) -> Influences {
        let row = |p: &[f32; 3]| {
            let x = (p[0] - self.rest[0][0] - 0.5).clamp(0.0, JOINTS as f32 - 1.0);
            let low = (x.floor() as u32).min(JOINTS as u32 - 2);
            let share = x - low as f32;
            vec![(low, 1.0 - share), (low + 1, share)]
        };
        rows(self.rest.iter().map(row))
    }
}

fn joint_at(x: f32) -> u32 {
    (x as u32).min(JOINTS as u32 - 1)
}

fn rows(all: impl Iterator<Item = Vec<(u32, f32)>>) -> Influences {
    let all: Vec<Vec<(u32, f32)>> = all.collect();
    let (out, _, _) = Influences::from_rows(all.iter().map(Vec::as_slice), 64, 0).expect("weights");
    out
}

/// Joints of a sample: each bends against the one before; those in `still` do not.
fn palette(sample: usize, still: &[usize], offset: f64) -> Vec<Affine<f64>> {
    let mut out: Vec<Affine<f64>> = Vec::new();
    for joint in 0..JOINTS {
        let t = sample as f64 + 1.0;
        let angle = if still.contains(&joint) {
            0.0
        } else {
            0.5 * (t * (joint as f64 + 1.3)).sin()
        };
        let turn = Quat::from_euler_angles(0.6 * angle, 0.4 * (t * 0.7).cos() * angle, angle);
        let pivot = Vec3::new(joint as f64 + offset, offset, 0.0);
        let about = Affine::from_trs(pivot - turn * pivot, turn, Vec3::repeat(1.0));
        let above = out.last().copied().unwrap_or_default();
        out.push(above * about);
    }
    out
}

fn skinned(rest: &[[f32; 3]], rows: &Influences, palette: &[Affine<f64>]) -> Vec<[f32; 3]> {
    let place = |(v, p): (usize, &[f32; 3])| {
        let p = f64::vec3(*p);
        let parts = rows
            .row(v)
            .map(|(j, w)| palette[j as usize].point(p) * f64::from(w));
        f64::array3(parts.sum::<Vec3<f64>>())
    };
    rest.iter().enumerate().map(place).collect()
}

/// Samples of linear skinning, changed by `change`.
fn samples_of(
    tube: &Tube,
    truth: &Influences,
    count: usize,
    still: &[usize],
    offset: f64,
    change: impl Fn(usize, &mut Vec<[f32; 3]>),
) -> SkinSamples {
    let mut out = SkinSamples::new(JOINTS);
    out.begin("clip", Some(0));
    for s in 0..count {
        let palette = palette(s, still, offset);
        let mut places = skinned(&tube.rest, truth, &palette);
        change(s, &mut places);
        out.push(&palette, places, None, s as f32 / 30.0)
            .expect("fits");
    }
    out
}

fn settings() -> SkinSettings {
    SkinSettings {
        hold: 1e-7,
        ..SkinSettings::default()
    }
}

fn weight(rows: &Influences, vertex: usize, bone: u32) -> f64 {
    let mut row = rows.row(vertex);
    row.find(|r| r.0 == bone).map_or(0.0, |r| f64::from(r.1))
}

fn farthest(a: &Influences, b: &Influences, vertices: usize) -> f64 {
    let all = (0..vertices).flat_map(|v| (0..JOINTS as u32).map(move |j| (v, j)));
    let off = all.map(|(v, j)| (weight(a, v, j) - weight(b, v, j)).abs());
    off.fold(0.0, f64::max)
}

#[test]
fn weights_of_linear_skinning_are_found_again() {
    let tube = Tube::at(0.0);
    let (truth, authored) = (tube.blended(), tube.rigid());
    let samples = samples_of(&tube, &truth, 12, &[], 0.0, |_, _| {});
    let problem = tube.problem(&authored, &samples);
    let fit = fit_skin(&problem, &settings(), &Watch::NOBODY).expect("fits");
    let off = farthest(&fit.influences, &truth, tube.rest.len());
    println!("weights off by {off:.2e}");
    assert!(off < 1e-5, "{off}");
    assert!(
        farthest(&authored, &truth, tube.rest.len()) > 0.4,
        "the start is far off"
    );
}

/// Positions in single precision are rounded to 8e-6 m there.
#[test]
fn far_from_the_origin_weights_are_found_as_far_as_positions_say() {
    let tube = Tube::at(100.0);
    let (truth, authored) = (tube.blended(), tube.rigid());
    let samples = samples_of(&tube, &truth, 12, &[], 100.0, |_, _| {});
    let problem = tube.problem(&authored, &samples);
    let fit = fit_skin(&problem, &settings(), &Watch::NOBODY).expect("fits");
    let found = measure_rows(&problem, &fit.influences);
    assert!(found.groups[0].largest < 3e-5, "{:?}", found.groups);
}

#[test]
fn joints_that_do_not_move_keep_authored_weights() {
    let tube = Tube::at(0.0);
    let authored = tube.blended();
    // Only the last joint moves; what it carries moves twice as far as authored weights say.
    let still = [0, 1, 2];
    let samples = samples_of(&tube, &authored, 9, &still, 0.0, |_, _| {});
    let problem = tube.problem(&authored, &samples);
    let fit = fit_skin(&problem, &SkinSettings::default(), &Watch::NOBODY).expect("fits");
    let off = farthest(&fit.influences, &authored, tube.rest.len());
    assert!(off < 1e-6, "{off}");
    // Where the moving joint has another weight in the samples, the others share the rest as they did.
    let truth = rows((0..tube.rest.len()).map(|v| {
        let row: Vec<(u32, f32)> = authored.row(v).collect();
        let moving = weight(&authored, v, 3) as f32;
        let other = |(j, w): (u32, f32)| (j, if j == 3 { w * 0.5 } else { w + moving * 0.5 });
        row.into_iter().map(other).collect()
    }));
    let samples = samples_of(&tube, &truth, 9, &still, 0.0, |_, _| {});
    let problem = tube.problem(&authored, &samples);
    let weaker = SkinSettings {
        hold: 1e-5,
        ..SkinSettings::default()
    };
    let fit = fit_skin(&problem, &weaker, &Watch::NOBODY).expect("fits");
    for v in 0..tube.rest.len() {
        let found = weight(&fit.influences, v, 3);
        assert!((found - weight(&truth, v, 3)).abs() < 1e-3, "{v}: {found}");
        for joint in [0, 1] {
            let apart = weight(&fit.influences, v, joint) - weight(&authored, v, joint);
            assert!(apart > -0.02, "{v}, joint {joint}: {apart}");
        }
    }
}

#[test]
fn at_rest_nothing_changes() {
    let tube = Tube::at(0.0);
    let authored = tube.blended();
    let mut samples = SkinSamples::new(JOINTS);
    let palette = vec![Affine::identity(); JOINTS];
    samples
        .push(&palette, tube.rest.clone(), None, 0.0)
        .expect("fits");
    let problem = tube.problem(&authored, &samples);
    let fit = fit_skin(&problem, &SkinSettings::default(), &Watch::NOBODY).expect("fits");
    assert!(
        farthest(&fit.influences, &authored, tube.rest.len()) < 1e-6,
        "{fit:?}"
    );
    assert!(
        measure_rows(&problem, &fit.influences).groups[0].largest < 1e-6,
        "no distance"
    );
}

/// Where a rigid motion of its own carries a patch.
fn carried(sample: usize) -> Affine<f64> {
    let t = sample as f64 + 1.0;
    let turn =
        Quat::from_euler_angles(0.2 * t.sin(), 0.3 * (1.7 * t).cos(), 0.25 * (0.6 * t).sin());
    let pivot = Vec3::new(2.0, 0.3, 0.0);
    let shift = Vec3::new(0.05 * (2.0 * t).sin(), 0.1 * t.cos(), 0.02);
    Affine::from_trs(pivot - turn * pivot + shift, turn, Vec3::repeat(1.0))
}

fn patch(tube: &Tube) -> Vec<usize> {
    let near = |p: &[f32; 3]| (p[0] - 2.0).abs() < 0.4 && p[1] > 0.05;
    (0..tube.rest.len())
        .filter(|&v| near(&tube.rest[v]))
        .collect()
}

fn with_patch(tube: &Tube, authored: &Influences) -> SkinSamples {
    let patch = patch(tube);
    samples_of(tube, authored, 14, &[], 0.0, |s, places| {
        let above = palette(s, &[], 0.0)[1];
        for &v in &patch {
            places[v] = f64::array3((above * carried(s)).point(f64::vec3(tube.rest[v])));
        }
    })
}

#[test]
fn a_rigid_motion_becomes_a_helper() {
    let tube = Tube::at(0.0);
    let authored = tube.blended();
    let samples = with_patch(&tube, &authored);
    let problem = tube.problem(&authored, &samples);
    let settings = SkinSettings {
        helpers: 1,
        rounds: 60,
        ..settings()
    };
    let fit = fit_skin(&problem, &settings, &Watch::NOBODY).expect("fits");
    let rms: Vec<f64> = fit.steps.iter().map(|s| s.rms).collect();
    println!(
        "RMS {:.3e} -> {:.3e} m in {} steps",
        rms[0],
        rms[rms.len() - 1],
        rms.len()
    );
    assert_eq!(fit.helpers.len(), 1);
    assert_eq!(
        fit.helpers[0].parent, 1,
        "the joint in whose frame it moves least"
    );
    for &v in &patch(&tube) {
        let w = weight(&fit.influences, v, JOINTS as u32);
        assert!(w > 0.99, "{v}: {w}");
    }
    for (s, m) in fit.helpers[0].motion.iter().enumerate() {
        let truth = palette(s, &[], 0.0)[1] * carried(s);
        let p = Vec3::new(2.0, 0.2, 0.1);
        let off = (m.point(p) - truth.point(p)).norm();
        assert!(off < 1e-3, "sample {s}: {off}");
    }
    assert!(rms[rms.len() - 1] < 0.02 * rms[0], "{rms:?}");
}

#[test]
fn no_step_is_one_back() {
    let tube = Tube::at(0.0);
    let authored = tube.blended();
    let mut samples = with_patch(&tube, &authored);
    samples.begin("joint ranges", None);
    for s in 20..24 {
        let palette = palette(s, &[], 0.0);
        let places = skinned(&tube.rest, &authored, &palette);
        samples.push(&palette, places, None, 0.0).expect("fits");
    }
    let problem = tube.problem(&authored, &samples);
    let settings = SkinSettings {
        helpers: 3,
        influences: 2,
        ..SkinSettings::default()
    };
    let fit = fit_skin(&problem, &settings, &Watch::NOBODY).expect("fits");
    let objective: Vec<f64> = fit.steps.iter().map(|s| s.objective).collect();
    println!("{objective:?}");
    assert!(fit.steps.len() > 3, "{objective:?}");
    for pair in objective.windows(2) {
        assert!(pair[1] <= pair[0] * (1.0 + 1e-9), "{objective:?}");
    }
    for v in 0..tube.rest.len() {
        let row: Vec<f32> = fit.influences.row(v).map(|r| r.1).collect();
        let sum: f32 = row.iter().sum();
        assert!(row.len() <= 2 && (sum - 1.0).abs() < 1e-6, "{row:?}");
    }
    // Outside of clips a helper does what its parent does.
    let helper = &fit.helpers[0];
    assert_eq!(helper.motion[14..], samples.motion(helper.parent)[14..]);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let tube = Tube::at(0.0);
    let authored = tube.blended();
    let samples = with_patch(&tube, &authored);
    let problem = tube.problem(&authored, &samples);
    let settings = SkinSettings {
        helpers: 2,
        ..SkinSettings::default()
    };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads")
            .install(|| fit_skin(&problem, &settings, &Watch::NOBODY))
            .expect("fits")
    };
    let (one, three) = (on(1), on(3));
    assert_eq!(one.influences, three.influences);
    assert_eq!(one.helpers, three.helpers);
}

#[test]
fn known_displacements_before_skinning_are_found() {
    let tube = Tube::at(0.0);
    let authored = tube.blended();
    let bump = |v: usize, k: usize| {
        let p = tube.rest[v];
        let far = (p[0] - 1.0 - 1.5 * k as f32).abs() < 0.5;
        let up = [[0.0, 0.1, 0.0], [0.0, 0.0, 0.08]][k];
        if far { up } else { [0.0; 3] }
    };
    // One after the other, as joints bend.
    let share = |s: usize, k: usize| match s % 2 == k {
        true => (s as f64 * (0.4 + 0.3 * k as f64)).sin().abs(),
        false => 0.0,
    };
    let mut samples = SkinSamples::new(JOINTS);
    samples.begin("clip", Some(0));
    for s in 0..10 {
        let palette = palette(s, &[], 0.0);
        let morphed = (0..tube.rest.len()).map(|v| {
            std::array::from_fn(|c| {
                let add = |k: usize| share(s, k) as f32 * bump(v, k)[c];
                tube.rest[v][c] + add(0) + add(1)
            })
        });
        let morphed: Vec<[f32; 3]> = morphed.collect();
        let places = skinned(&morphed, &authored, &palette);
        samples
            .push(&palette, places, None, s as f32)
            .expect("fits");
    }
    let problem = tube.problem(&authored, &samples);
    let given = SkinSettings {
        method: WeightMethod::Given(authored.clone()),
        ..SkinSettings::default()
    };
    let fit = fit_skin(&problem, &given, &Watch::NOBODY).expect("fits");
    let extremes = extreme_samples(&problem, &fit, 2, 1e-6);
    assert_eq!(extremes.len(), 2);
    let targets = left_over(&problem, &fit, &extremes, 1e-6);
    let found = fit_correctives(&problem, &fit, &targets, &Watch::NOBODY).expect("fits");
    for s in 0..10 {
        for v in 0..tube.rest.len() {
            let of = |t: &MorphTarget, w: f32| {
                let row = t.vertices.binary_search(&(v as u32)).ok();
                row.map_or(Vec3::zeros(), |r| f64::vec3(t.positions[r]) * f64::from(w))
            };
            let all = found.targets.iter().zip(&found.weights[s]);
            let shown: Vec3<f64> = all.map(|(t, w)| of(t, *w)).sum();
            let truth = f64::vec3(bump(v, 0)) * share(s, 0) + f64::vec3(bump(v, 1)) * share(s, 1);
            assert!(
                (shown - truth).norm() < 1e-5,
                "sample {s}, vertex {v}: {shown} {truth}"
            );
        }
    }
    assert!(
        found.weights.iter().flatten().all(|w| *w >= 0.0),
        "players may clamp"
    );
    let largest = found
        .weights
        .iter()
        .flatten()
        .fold(0.0_f32, |m, w| m.max(*w));
    assert!((largest - 1.0).abs() < 1e-6, "{largest}");
}

#[test]
fn what_does_not_fit_is_named() {
    let tube = Tube::at(0.0);
    let authored = tube.blended();
    let samples = SkinSamples::new(JOINTS);
    let problem = tube.problem(&authored, &samples);
    let told = |settings: &SkinSettings, problem: &SkinProblem<'_>, watch: &Watch<'_>| {
        fit_skin(problem, settings, watch)
            .expect_err("wrong")
            .to_string()
    };
    let plain = SkinSettings::default();
    let none = told(&plain, &problem, &Watch::NOBODY);
    assert_eq!(
        none,
        "0 samples of 240 vertices, expected one of each at least"
    );
    let samples = with_patch(&tube, &authored);
    let problem = tube.problem(&authored, &samples);
    let many = SkinSettings {
        influences: 0,
        ..plain.clone()
    };
    assert_eq!(
        told(&many, &problem, &Watch::NOBODY),
        "influences is 0, expected 1 to 32"
    );
    let short = rows([vec![(0, 1.0)]].into_iter());
    let short = tube.problem(&short, &samples);
    assert_eq!(
        told(&plain, &short, &Watch::NOBODY),
        "1 rows of weights, expected 240"
    );
    let stop = Watch {
        is_cancelled: &|| true,
        ..Watch::NOBODY
    };
    assert_eq!(
        told(&plain, &problem, &stop),
        "stopped; nothing was written"
    );
    assert_eq!(
        check_correctives(257).expect_err("many").to_string(),
        "correctives is 257, expected 0 to 256"
    );
    let mut uneven = SkinSamples::new(2);
    let wrong = uneven.push(&[Affine::identity()], Vec::new(), None, 0.0);
    assert_eq!(
        wrong.expect_err("joints").to_string(),
        "1 joints, expected 2"
    );
}

#[test]
fn numbers_that_are_none_and_clips_that_make_no_sense_are_named() {
    let nan = f32::NAN;
    let still = [Affine::identity()];
    let told = |palette: &[Affine<f64>], positions: Vec<[f32; 3]>, morphed, time| {
        let mut samples = SkinSamples::new(1);
        samples.begin("walk", Some(3));
        let fine = samples.push(&still, vec![[0.0; 3]; 2], None, 0.0);
        fine.expect("finite");
        let wrong = samples.push(palette, positions, morphed, time);
        assert_eq!(samples.len(), 1, "nothing is added");
        wrong.expect_err("wrong").to_string()
    };
    let zeros = || vec![[0.0; 3]; 2];
    let wrong = vec![[0.0; 3], [0.0, nan, 0.0]];
    assert_eq!(
        told(&still, wrong.clone(), None, 0.1),
        "walk, sample 1: vertex 1 is not finite"
    );
    assert_eq!(
        told(&still, zeros(), Some(wrong), 0.1),
        "walk, sample 1: rest position of vertex 1 is not finite"
    );
    let mut far = Affine::identity();
    far.translation.x = f64::INFINITY;
    assert_eq!(
        told(&[far], zeros(), None, 0.1),
        "walk, sample 1: joint 0 is not finite"
    );
    assert_eq!(
        told(&still, zeros(), None, nan),
        "walk, sample 1: time 0 is not finite"
    );
    let tube = Tube::at(0.0);
    let authored = tube.blended();
    let fit = |clips: &[(usize, &[f32])]| {
        let mut samples = SkinSamples::new(JOINTS);
        for (clip, times) in clips {
            samples.begin("walk", Some(*clip));
            for &time in *times {
                let palette = palette(1, &[], 0.0);
                samples
                    .push(&palette, tube.rest.clone(), None, time)
                    .expect("finite");
            }
        }
        let problem = tube.problem(&authored, &samples);
        fit_skin(&problem, &settings(), &Watch::NOBODY)
            .expect_err("wrong")
            .to_string()
    };
    assert_eq!(
        fit(&[(0, &[0.0, 0.5]), (1, &[])]),
        "samples of 'walk': no sample, expected one at least"
    );
    assert_eq!(
        fit(&[(0, &[0.0]), (0, &[0.5])]),
        "samples of 'walk': clip 0 twice, expected each clip once"
    );
    assert_eq!(
        fit(&[(0, &[0.0, 0.5, 0.5])]),
        "samples of 'walk': sample 2 at 0.5 s behind 0.5 s, expected times that rise"
    );
}

/// Bumps at two joints that bend independently: each target is one of them, wherever both are in a sample.
#[test]
fn local_targets_are_of_one_joint_each() {
    let tube = Tube::at(0.0);
    let authored = tube.blended();
    let near = |v: usize, x: f32| (tube.rest[v][0] - x).abs() < 0.3;
    let mut samples = SkinSamples::new(JOINTS);
    samples.begin("clip", Some(0));
    for s in 0..10 {
        let palette = palette(s, &[2], 0.0);
        let shares = [(0.7 * s as f32).sin().abs(), (1.9 * s as f32).cos().abs()];
        let lifted: Vec<[f32; 3]> = (0..tube.rest.len())
            .map(|v| {
                let [x, y, z] = tube.rest[v];
                let up = |at: f32, share: f32| if near(v, at) { 0.1 * share } else { 0.0 };
                [x, y + up(1.0, shares[0]) + up(3.0, shares[1]), z]
            })
            .collect();
        let places = skinned(&lifted, &authored, &palette);
        samples
            .push(&palette, places, None, s as f32)
            .expect("fits");
    }
    let problem = tube.problem(&authored, &samples);
    let given = SkinSettings {
        method: WeightMethod::Given(authored.clone()),
        ..SkinSettings::default()
    };
    let fit = fit_skin(&problem, &given, &Watch::NOBODY).expect("fits");
    let targets = local_targets(&problem, &fit, 2, 1e-5, &Watch::NOBODY).expect("targets");
    assert_eq!(targets.len(), 2);
    for target in &targets {
        let is_of = |x: f32| target.vertices.iter().all(|v| near(*v as usize, x));
        assert!(is_of(1.0) || is_of(3.0), "{:?}", target.vertices);
    }
    let found = fit_correctives(&problem, &fit, &targets, &Watch::NOBODY).expect("fits");
    for (s, weights) in found.weights.iter().enumerate() {
        for (target, weight) in found.targets.iter().zip(weights) {
            let share = match near(target.vertices[0] as usize, 1.0) {
                true => (0.7 * s as f32).sin().abs(),
                false => (1.9 * s as f32).cos().abs(),
            };
            let lift = f64::vec3(target.positions[0]) * f64::from(*weight);
            let truth = Vec3::new(0.0, f64::from(0.1 * share), 0.0);
            assert!((lift - truth).norm() < 1e-5, "sample {s}: {lift} {truth}");
        }
    }
}
