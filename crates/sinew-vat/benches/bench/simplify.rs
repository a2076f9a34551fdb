//! From 100,000 to 10,000 triangles on a bumpy sphere: one run of the simplifier against the whole step with its search,
//! joining and flips; also as loose triangles, with hard edges, and the clustering simplifier alone. Before `one run` it
//! prints ratios of runs that alternate, which other work on the machine disturbs less.

use criterion::{Criterion, criterion_group};
use meshopt::{SimplifyOptions, simplify_decoder, simplify_sloppy_decoder};
use sinew_geom::{Mesh, Topology};
use sinew_vat::matching::surface_deviation;
use sinew_vat::prepare::hidden::HiddenSettings;
use sinew_vat::prepare::relax::RelaxSettings;
use sinew_vat::prepare::simplify::SimplifySettings;
use sinew_vat::prepare::{PrepareSettings, prepare};
use std::hint::black_box;
use std::sync::Once;
use std::time::Instant;

const RINGS: u32 = 224;
const TARGET: usize = 10_000;

/// A closed sphere of latitudes and longitudes with bumps: `2 * RINGS * (RINGS - 1)` triangles.
fn bumpy_sphere() -> Mesh {
    let point = |ring: u32, column: u32| {
        let polar = std::f32::consts::PI * ring as f32 / RINGS as f32;
        let turn = std::f32::consts::TAU * column as f32 / RINGS as f32;
        let bump = (7.0 * polar).sin() * (5.0 * turn).sin() * polar.sin();
        let radius = 1.0 + 0.1 * bump;
        [
            polar.sin() * turn.cos(),
            polar.cos(),
            polar.sin() * turn.sin(),
        ]
        .map(|c| c * radius)
    };
    let mut positions = vec![point(0, 0)];
    for ring in 1..RINGS {
        positions.extend((0..RINGS).map(|column| point(ring, column)));
    }
    positions.push(point(RINGS, 0));
    let last = positions.len() as u32 - 1;
    let at = |ring: u32, column: u32| match ring {
        0 => 0,
        RINGS => last,
        _ => 1 + (ring - 1) * RINGS + column % RINGS,
    };
    let mut triangles = Vec::new();
    for ring in 0..RINGS {
        for column in 0..RINGS {
            let [a, b] = [at(ring, column), at(ring, column + 1)];
            let [c, d] = [at(ring + 1, column), at(ring + 1, column + 1)];
            let both = [[a, b, d], [a, d, c]];
            triangles.extend(both.into_iter().filter(|t| t[0] != t[1] && t[1] != t[2]));
        }
    }
    let topology = Topology::new(last + 1, triangles).expect("indices are in range");
    Mesh::new("bumpy sphere", topology, positions)
}

fn exploded(mesh: &Mesh) -> Mesh {
    let corners = mesh.topology.triangles().as_flattened();
    let positions = corners
        .iter()
        .map(|&v| mesh.positions[v as usize])
        .collect();
    let triangles = (0..corners.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    let topology = Topology::new(corners.len() as u32, triangles.collect());
    Mesh::new("loose", topology.expect("indices are in range"), positions)
}

fn whole(mesh: &Mesh, hard_edge_angle: Option<f32>) -> usize {
    let settings = PrepareSettings {
        simplify: Some(SimplifySettings {
            target_faces: TARGET,
            hard_edge_angle,
            ..SimplifySettings::default()
        }),
        ..PrepareSettings::default()
    };
    let (out, _) = prepare(black_box(mesh), &settings).expect("settings are fine");
    out.topology.triangles().len()
}

fn one_run(mesh: &Mesh, options: SimplifyOptions) -> usize {
    let indices = mesh.topology.triangles().as_flattened();
    let positions = black_box(&mesh.positions);
    simplify_decoder(indices, positions, 3 * TARGET, f32::MAX, options, None).len()
}

/// Seconds of each of `works`, in turn, the median of 15 rounds.
fn alternate(works: &[(&str, &dyn Fn() -> usize)]) -> Vec<f64> {
    let mut seconds = vec![Vec::new(); works.len()];
    for _ in 0..15 {
        for ((_, work), seconds) in works.iter().zip(&mut seconds) {
            let start = Instant::now();
            black_box(work());
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    let median = |s: &mut Vec<f64>| {
        s.sort_by(f64::total_cmp);
        s[s.len() / 2]
    };
    seconds.iter_mut().map(median).collect()
}

/// The mesh simplified, for what compares it with the one before.
fn simplified(mesh: &Mesh) -> Mesh {
    let settings = PrepareSettings {
        simplify: Some(SimplifySettings {
            target_faces: TARGET,
            ..SimplifySettings::default()
        }),
        ..PrepareSettings::default()
    };
    prepare(mesh, &settings).expect("settings are fine").0
}

fn print_ratios(mesh: &Mesh, loose: &Mesh) {
    let few = simplified(mesh);
    let compare = || {
        let off = surface_deviation(black_box(mesh), black_box(&few));
        usize::from(off.max > 0.0)
    };
    let works: [(&str, &dyn Fn() -> usize); 6] = [
        ("one run", &|| one_run(mesh, SimplifyOptions::None)),
        ("one run, regularized", &|| {
            one_run(mesh, SimplifyOptions::RegularizeLight)
        }),
        ("whole step", &|| whole(mesh, None)),
        ("whole step, loose triangles", &|| whole(loose, None)),
        ("whole step, hard edges", &|| whole(mesh, Some(0.6))),
        ("how far it moved the surface", &compare),
    ];
    let medians = alternate(&works);
    for ((name, _), seconds) in works.iter().zip(&medians) {
        let (plain, regularized) = (seconds / medians[0], seconds / medians[1]);
        eprintln!(
            "{name}: {:.1} ms, {plain:.2} x one run, {regularized:.2} x one regularized",
            1e3 * seconds
        );
    }
}

/// The other steps with their defaults on the same mesh.
fn other_steps(c: &mut Criterion) {
    let mesh = bumpy_sphere();
    let mut group = c.benchmark_group("prepare_100k");
    group.sample_size(10);
    let hidden = PrepareSettings {
        hidden: Some(HiddenSettings::default()),
        ..PrepareSettings::default()
    };
    group.bench_function("hidden", |b| b.iter(|| prepare(&mesh, &hidden)));
    let relax = PrepareSettings {
        relax_before: Some(RelaxSettings::default()),
        ..PrepareSettings::default()
    };
    group.bench_function("relax", |b| b.iter(|| prepare(&mesh, &relax)));
    group.finish();
}

fn simplify(c: &mut Criterion) {
    let mesh = bumpy_sphere();
    let loose = exploded(&mesh);
    let mut group = c.benchmark_group("simplify_100k_to_10k");
    group.sample_size(20);
    let ratios = Once::new();
    group.bench_function("one run", |b| {
        ratios.call_once(|| print_ratios(&mesh, &loose));
        b.iter(|| one_run(&mesh, SimplifyOptions::None))
    });
    let regular = SimplifyOptions::RegularizeLight;
    group.bench_function("one run, regularized", |b| {
        b.iter(|| one_run(&mesh, regular))
    });
    group.bench_function("one run, clusters", |b| {
        let indices = mesh.topology.triangles().as_flattened();
        let run = || simplify_sloppy_decoder(indices, &mesh.positions, 3 * TARGET, f32::MAX, None);
        b.iter(run);
    });
    group.bench_function("whole step", |b| b.iter(|| whole(&mesh, None)));
    group.bench_function("whole step, loose triangles", |b| {
        b.iter(|| whole(&loose, None))
    });
    group.bench_function("whole step, hard edges", |b| {
        b.iter(|| whole(&mesh, Some(0.6)))
    });
    group.finish();
}

criterion_group!(benches, simplify, other_steps);
