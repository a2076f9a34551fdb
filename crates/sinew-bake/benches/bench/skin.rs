//! Weights of a character of the size of the MakeHuman male: 14,400 vertices, 52 joints, 160 samples.

use criterion::{Criterion, criterion_group};
use sinew_bake::Watch;
use sinew_bake::skin::{SkinProblem, SkinSamples, SkinSettings, fit_skin};
use sinew_geom::{Affine, Influences, Quat, Real, Topology, Vec3};
use std::hint::black_box;

const RINGS: usize = 240;
const SIDES: usize = 60;
const JOINTS: usize = 52;
const SAMPLES: usize = 160;

/// A tube of joints that bend, and its weights: straight from joint to joint.
fn tube() -> (Vec<[f32; 3]>, Topology, Influences) {
    let (mut rest, mut triangles, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for ring in 0..RINGS {
        for side in 0..SIDES {
            let angle = side as f32 / SIDES as f32 * std::f32::consts::TAU;
            let x = ring as f32 / (RINGS - 1) as f32 * (JOINTS as f32 - 1.0);
            rest.push([x, 0.6 * angle.cos(), 0.6 * angle.sin()]);
            let low = (x as u32).min(JOINTS as u32 - 2);
            rows.push(vec![
                (low, 1.0 - (x - low as f32)),
                (low + 1, x - low as f32),
            ]);
            let v = |r: usize, s: usize| (r * SIDES + s % SIDES) as u32;
            if ring + 1 < RINGS {
                triangles.push([v(ring, side), v(ring + 1, side), v(ring, side + 1)]);
                triangles.push([v(ring + 1, side), v(ring + 1, side + 1), v(ring, side + 1)]);
            }
        }
    }
    let topology = Topology::new(rest.len() as u32, triangles).expect("in range");
    let rows = Influences::from_rows(rows.iter().map(Vec::as_slice), JOINTS, 0);
    (rest, topology, rows.expect("weights").0)
}

fn palette(sample: usize) -> Vec<Affine<f64>> {
    let mut out: Vec<Affine<f64>> = Vec::new();
    for joint in 0..JOINTS {
        let t = sample as f64 * 0.2;
        let turn = Quat::from_euler_angles(0.1 * t.cos(), 0.1, 0.2 * (t + joint as f64).sin());
        let pivot = Vec3::new(joint as f64, 0.0, 0.0);
        let about = Affine::from_trs(pivot - turn * pivot, turn, Vec3::repeat(1.0));
        out.push(out.last().copied().unwrap_or_default() * about);
    }
    out
}

fn weights(c: &mut Criterion) {
    let (rest, topology, authored) = tube();
    let mut samples = SkinSamples::new(JOINTS);
    samples.begin("clip", Some(0));
    for s in 0..SAMPLES {
        let palette = palette(s);
        let place = |(v, p): (usize, &[f32; 3])| {
            let parts = authored
                .row(v)
                .map(|(j, w)| palette[j as usize].point(f64::vec3(*p)) * f64::from(w));
            // Something that weights cannot show exactly.
            let out: Vec3<f64> = parts.sum();
            f64::array3(out + Vec3::new(0.0, 0.01 * f64::from(p[0]).sin(), 0.0))
        };
        let places = rest.iter().enumerate().map(place).collect();
        samples
            .push(&palette, places, None, s as f32 / 30.0)
            .expect("fits");
    }
    let parents: Vec<Option<usize>> = (0..JOINTS).map(|j| j.checked_sub(1)).collect();
    let skins = vec![0; JOINTS];
    let problem = SkinProblem {
        rest: &rest,
        topology: &topology,
        authored: &authored,
        parents: &parents,
        skins: &skins,
        samples: &samples,
    };
    let mut group = c.benchmark_group("skin");
    group.sample_size(10);
    let settings = SkinSettings::default();
    group.bench_function("weights/14400x160", |b| {
        b.iter(|| black_box(fit_skin(&problem, &settings, &Watch::NOBODY).expect("fits")));
    });
    group.finish();
}

criterion_group!(benches, weights);
