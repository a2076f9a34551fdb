//! Pose drivers: queries of many small ones, as a character has them, and setup.
//!
//! `cargo bench -p sinew-deform -- pose_driver`. A query is a driver value in, one weight a pose out.

use criterion::{BenchmarkId, Criterion};
use sinew_deform::pose_driver::{
    DriverPose, DriverValue, Metric, PoseDriver, PoseDriverBind, PoseDriverJob, PoseDriverScratch,
    RadialKernel, Solver,
};
use sinew_geom::{Quat, Vec3};
use std::hint::black_box;

/// Rotations up to 140 degrees that cover the sphere evenly enough (a Fibonacci spiral of axes).
fn rotation(i: usize, count: usize) -> Quat<f64> {
    let (i, count) = (i as f64, count as f64);
    let z = 1.0 - 2.0 * (i + 0.5) / count;
    let around = i * 2.399_963_229_728_653;
    let across = (1.0 - z * z).sqrt();
    let axis = Vec3::new(across * around.cos(), across * around.sin(), z);
    Quat::from_scaled_axis(axis * (0.4 + 2.0 * ((i * 0.618).fract())))
}

fn driver(poses: usize, metric: Metric, kernel: RadialKernel, solver: Solver) -> PoseDriverBind {
    let pose = |i| {
        DriverPose::new(
            format!("{i}"),
            vec![DriverValue::rotation(rotation(i, poses))],
        )
    };
    PoseDriverBind::new(&PoseDriver {
        poses: (0..poses).map(pose).collect(),
        metric,
        kernel,
        solver,
        ..PoseDriver::default()
    })
    .expect("poses that differ")
}

fn queries(c: &mut Criterion) {
    let mut group = c.benchmark_group("100 drivers of 20 poses");
    for (name, metric, kernel, solver) in [
        (
            "chord gaussian",
            Metric::Chord,
            RadialKernel::Gaussian,
            Solver::Interpolative,
        ),
        (
            "swing exponential",
            Metric::Swing,
            RadialKernel::Exponential,
            Solver::Interpolative,
        ),
        (
            "swing documented",
            Metric::Swing,
            RadialKernel::GaussianOfDistance,
            Solver::Interpolative,
        ),
        (
            "arc linear",
            Metric::Arc,
            RadialKernel::Linear,
            Solver::Interpolative,
        ),
        (
            "arc additive",
            Metric::Arc,
            RadialKernel::Gaussian,
            Solver::Additive,
        ),
    ] {
        let drivers: Vec<PoseDriverBind> = (0..100)
            .map(|_| driver(20, metric, kernel.clone(), solver))
            .collect();
        let mut scratch = PoseDriverScratch::new(&drivers[0]);
        let mut weights = vec![0.0; 20];
        let asked: Vec<DriverValue> = (0..100)
            .map(|i| DriverValue::rotation(rotation(i, 100)))
            .collect();
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| {
                for (bind, value) in drivers.iter().zip(&asked) {
                    PoseDriverJob {
                        bind,
                        values: std::slice::from_ref(black_box(value)),
                        scratch: &mut scratch,
                        weights: &mut weights,
                    }
                    .run();
                    black_box(&weights);
                }
            });
        });
    }
    group.finish();
}

fn setup(c: &mut Criterion) {
    let mut group = c.benchmark_group("setup");
    for poses in [20, 100] {
        group.bench_function(BenchmarkId::from_parameter(format!("{poses} poses")), |b| {
            b.iter(|| {
                driver(
                    black_box(poses),
                    Metric::Arc,
                    RadialKernel::Exponential,
                    Solver::Interpolative,
                )
            });
        });
    }
    group.finish();
}

pub(crate) fn benches(c: &mut Criterion) {
    queries(c);
    setup(c);
}
