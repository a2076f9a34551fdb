//! Matching of two frames of about 9,000 triangles, and slots of a sequence: `cargo bench -p sinew-vat`.

use criterion::{Criterion, Throughput, criterion_group};
use sinew_vat::matching::{Triangles, match_triangles};
use std::f32::consts::TAU;
use std::hint::black_box;

struct Frame {
    points: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
}

/// A bumpy ring of `around * across * 2` triangles, all of much the same size, at a moment.
fn ring(around: u32, across: u32, time: f32) -> Frame {
    let mut frame = Frame {
        points: Vec::new(),
        triangles: Vec::new(),
    };
    for i in 0..around {
        for j in 0..across {
            let (u, v) = (
                i as f32 / around as f32 * TAU,
                j as f32 / across as f32 * TAU,
            );
            let thick = 0.3 + 0.05 * (3.0 * u + 2.0 * v + time).sin();
            let far = 1.0 + thick * v.cos();
            frame
                .points
                .push([far * u.cos() + 0.02 * time, thick * v.sin(), far * u.sin()]);
            let at = |i: u32, j: u32| i % around * across + j % across;
            let [a, b, c, d] = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
            frame.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    shuffle(&mut frame.triangles);
    frame
}

/// An order without relation to space: steps of a size without common divisor.
fn shuffle(triangles: &mut [[u32; 3]]) {
    let count = triangles.len();
    for index in 0..count {
        triangles.swap(index, index * 7919 % count);
    }
}

fn view(frame: &Frame) -> Triangles<'_> {
    Triangles {
        points: &frame.points,
        triangles: &frame.triangles,
        motion: None,
    }
}

fn matching(c: &mut Criterion) {
    let frames = [ring(122, 37, 0.0), ring(119, 38, 1.0)];
    let step = |a: usize, b: usize| match_triangles(&view(&frames[a]), &view(&frames[b]));
    let mut group = c.benchmark_group("matching");
    group.sample_size(10);
    group.throughput(Throughput::Elements(frames[1].triangles.len() as u64));
    group.bench_function("two frames", |bench| bench.iter(|| black_box(step(0, 1))));
    group.finish();
}

criterion_group!(benches, matching);
