//! Deformers along an axis, one thread, 50 k vertices: ns per vertex is the time divided by 50 000.

use criterion::{Criterion, Throughput};
use sinew_deform::local_frame::{LocalDeformer, LocalJob, Placement, Profile, Region};
use sinew_deform::squash_stretch::{Mode, SquashStretch};
use sinew_deform::{MaskWeight, MeshView, MeshViewMut, Par, bend, sine, taper, twist};
use std::hint::black_box;

const COUNT: usize = 50_000;

fn points() -> Vec<[f32; 3]> {
    (0..COUNT)
        .map(|i| {
            let a = i as f32 * 0.61;
            [a.cos() * 0.3, i as f32 / COUNT as f32 * 2.0, a.sin() * 0.3]
        })
        .collect()
}

fn case<D: LocalDeformer>(c: &mut Criterion, name: &str, deformer: D) {
    let positions = points();
    let normals: Vec<[f32; 3]> = positions
        .iter()
        .map(|p| [p[0] / 0.3, 0.0, p[2] / 0.3])
        .collect();
    let tangents = vec![[0.0, 1.0, 0.0, 1.0]; COUNT];
    let (mut p, mut n, mut t) = (positions.clone(), normals.clone(), tangents.clone());
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(COUNT as u64));
    for (what, with_normals, with_tangents) in [
        ("positions", false, false),
        ("normals", true, false),
        ("tangents", true, true),
    ] {
        group.bench_function(what, |b| {
            b.iter(|| {
                LocalJob {
                    deformer: black_box(deformer),
                    placement: Placement::default(),
                    weight: MaskWeight::ONE,
                    input: MeshView {
                        positions: &positions,
                        normals: with_normals.then_some(&normals[..]),
                        tangents: with_tangents.then_some(&tangents[..]),
                        colors: None,
                        ..MeshView::default()
                    },
                    output: MeshViewMut {
                        positions: Some(&mut p),
                        normals: Some(&mut n),
                        tangents: Some(&mut t),
                        colors: None,
                    },
                    par: Par::Seq,
                }
                .run();
            });
        });
    }
    group.finish();
}

pub(crate) fn benches(c: &mut Criterion) {
    *c = std::mem::take(c)
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_millis(600))
        .sample_size(20);
    c.bench_function("copy positions and normals", |b| {
        let from = (points(), points());
        let mut to = from.clone();
        b.iter(|| {
            to.0.copy_from_slice(black_box(&from.0));
            to.1.copy_from_slice(black_box(&from.1));
            black_box(&mut to);
        });
    });
    let stretch = SquashStretch {
        stretch: 1.5,
        length: 2.0,
        limit_bottom: 0.1,
        limit_top: 0.1,
        axis_bias: 0.4,
        ..SquashStretch::default()
    };
    let published = SquashStretch {
        mode: Mode::Published,
        ..stretch
    };
    let region = Region::new(2.0, 0.1, 0.1);
    case(c, "squash_stretch published", published);
    case(c, "squash_stretch volume_preserving", stretch);
    case(
        c,
        "bend",
        bend::Bend {
            angle: 1.0,
            direction: 0.3,
            center: 0.5,
            region,
        },
    );
    case(
        c,
        "twist",
        twist::Twist {
            angle: 2.0,
            start_angle: 0.0,
            profile: Profile::Linear,
            region,
        },
    );
    let flare = taper::Taper {
        start_scale: [1.0, 1.0],
        end_scale: [0.5, 2.0],
        shape: taper::Shape::Profile(Profile::Linear),
        curve: 0.1,
        region,
    };
    case(c, "taper linear", flare);
    case(
        c,
        "taper exponential",
        taper::Taper {
            shape: taper::Shape::Exponential,
            ..flare
        },
    );
    let plane = sine::Sine {
        wave: sine::Wave::Plane,
        amplitude: 0.1,
        wavelength: 0.5,
        phase: 0.2,
        direction: 0.3,
        decay: 0.5,
        region,
    };
    case(c, "sine plane", plane);
    case(
        c,
        "sine radial",
        sine::Sine {
            wave: sine::Wave::Radial,
            ..plane
        },
    );
}
