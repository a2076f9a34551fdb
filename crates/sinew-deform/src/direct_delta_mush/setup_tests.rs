use super::reference::dense_moments;
use super::*;
use crate::laplacian::{EdgeWeights, LaplacianConfig, MeanOperator};
use crate::{BindWatch, Par};
use nalgebra::Matrix4;
use sinew_geom::{Influences, Mesh};
use sinew_testkit::meshes;

/// Weights that fall off along x from joint to joint, and a fourth joint that takes a little everywhere.
fn weighted(mut mesh: Mesh) -> Mesh {
    let rows: Vec<Vec<(u32, f32)>> = mesh
        .positions
        .iter()
        .map(|p| {
            let x = p[0].rem_euclid(3.0);
            let (joint, share) = ((x as u32).min(2), x.fract());
            vec![(joint, 1.0 - share), ((joint + 1) % 3, share), (3, 0.005)]
        })
        .collect();
    let rows = rows.iter().map(Vec::as_slice);
    mesh.influences = Some(Influences::from_rows(rows, 4, 0).expect("valid").0);
    mesh
}

fn exact_settings() -> SmoothingSettings {
    SmoothingSettings {
        iterations: 6,
        tolerance: 0.0,
        ..SmoothingSettings::default()
    }
}

fn bound(mesh: &Mesh, settings: &SmoothingSettings) -> Moments {
    moments(mesh, 4, settings, Par::Rayon, &BindWatch::NONE).expect("binds")
}

/// Of a matrix of the paper, in the order of [`PairMoments`].
fn numbers(omega: &Matrix4<f64>) -> [f64; 10] {
    let order = [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 1),
        (1, 2),
        (2, 2),
        (0, 3),
        (1, 3),
        (2, 3),
        (3, 3),
    ];
    order.map(|at| omega[at])
}

fn values(pair: &PairMoments) -> [f64; 10] {
    let [a, b, c, d, e, f] = pair.second;
    let [x, y, z] = pair.first;
    [a, b, c, d, e, f, x, y, z, pair.weight].map(f64::from)
}

fn assert_like_dense(mesh: &Mesh, settings: &SmoothingSettings, case: &str) {
    let found = bound(mesh, settings);
    let dense = dense_moments(mesh, 4, settings);
    for v in 0..mesh.vertex_count() {
        let class = dense.class_of_vertex[v] as usize;
        let omegas = &dense.omega[class];
        for (a, exact) in dense.centers[class].iter().enumerate() {
            let p = f64::from(found.centers[v][a]) + found.origin[a];
            assert!(
                (p - exact).abs() < 1e-6,
                "{case}: centre of vertex {v}: {p} for {exact}"
            );
        }
        let mut seen = [false; 4];
        let (joints, pairs) = found.row(v);
        for (&joint, pair) in joints.iter().zip(pairs) {
            assert!(
                !std::mem::replace(&mut seen[joint as usize], true),
                "{case}: joint {joint} twice"
            );
            for (k, (f, e)) in values(pair)
                .iter()
                .zip(numbers(&omegas[joint as usize]))
                .enumerate()
            {
                assert!(
                    (f - e).abs() < 2e-6,
                    "{case}: vertex {v} joint {joint} number {k}: {f} for {e}"
                );
            }
        }
        for joint in (0..4).filter(|&j| !seen[j]) {
            let left = numbers(&omegas[joint]);
            assert!(
                left.iter().all(|x| x.abs() < 1e-9),
                "{case}: vertex {v} has no joint {joint}: {left:?}"
            );
        }
    }
}

#[test]
fn moments_are_those_of_the_dense_operator() {
    let named = [
        ("grid", meshes::grid(8, 6)),
        ("sphere", meshes::sphere(6, 8)),
        ("loose triangles", meshes::loose_triangles(3)),
        ("one triangle", meshes::loose_triangles(1)),
        ("cube with split corners", meshes::cube()),
        ("degenerate", meshes::degenerate()),
    ];
    for (name, mesh) in named {
        let mesh = weighted(mesh);
        for weights in EdgeWeights::ALL {
            let laplacian = LaplacianConfig {
                weights,
                pin_border: false,
                weld_tolerance: 0.0,
            };
            let settings = SmoothingSettings {
                laplacian,
                ..exact_settings()
            };
            assert_like_dense(&mesh, &settings, &format!("{name} {weights:?}"));
        }
        let strongest = SmoothingSettings {
            strongest_only: true,
            alpha: 0.0,
            ..exact_settings()
        };
        assert_like_dense(&mesh, &strongest, name);
        let pinned = LaplacianConfig::default();
        let pinned = SmoothingSettings {
            laplacian: pinned,
            alpha: 0.3,
            ..exact_settings()
        };
        assert_like_dense(&mesh, &pinned, name);
    }
}

/// Sums over joints are those of the rest shape whatever was dropped: that is what identity and rigid motions need.
#[test]
fn sums_are_exact_whatever_is_dropped() {
    let mesh = weighted(meshes::sphere(14, 18));
    let all = bound(&mesh, &exact_settings());
    let few = bound(
        &mesh,
        &SmoothingSettings {
            tolerance: 0.01,
            ..exact_settings()
        },
    );
    assert!(
        few.pairs.len() < all.pairs.len(),
        "{} of {} pairs",
        few.pairs.len(),
        all.pairs.len()
    );
    for v in 0..mesh.vertex_count() {
        let sum = |m: &Moments| {
            m.row(v).1.iter().fold([0.0; 10], |mut sum, pair| {
                sum.iter_mut().zip(values(pair)).for_each(|(s, x)| *s += x);
                sum
            })
        };
        let (a, b) = (sum(&all), sum(&few));
        for k in 0..10 {
            assert!(
                (a[k] - b[k]).abs() < 3e-7,
                "vertex {v} number {k}: {} and {}",
                a[k],
                b[k]
            );
        }
        assert!(
            (b[9] - 1.0).abs() < 3e-7,
            "weights of vertex {v} sum to {}",
            b[9]
        );
        assert!(
            b[6..9].iter().all(|x| x.abs() < 3e-7),
            "first moments of vertex {v}: {:?}",
            &b[6..9]
        );
    }
}

#[test]
fn far_from_the_origin_moments_stay() {
    let mesh = weighted(meshes::sphere(10, 12));
    let mut far = mesh.clone();
    // What can be moved without rounding.
    let offset = [96.0, -64.0, 128.0];
    for p in &mut far.positions {
        for (p, o) in p.iter_mut().zip(offset) {
            *p = (*p * 4096.0).round() / 4096.0 + o;
        }
    }
    let mut near = far.clone();
    near.positions
        .iter_mut()
        .for_each(|p| p.iter_mut().zip(offset).for_each(|(p, o)| *p -= o));
    let settings = SmoothingSettings {
        iterations: 6,
        ..SmoothingSettings::default()
    };
    let (far, near) = (bound(&far, &settings), bound(&near, &settings));
    assert_eq!(far.joints, near.joints);
    for (a, b) in far.pairs.iter().zip(&near.pairs) {
        for (a, b) in values(a).iter().zip(values(b)) {
            assert!((a - b).abs() < 1e-7, "{a} and {b}");
        }
    }
}

#[test]
fn without_smoothing_each_vertex_keeps_its_weights() {
    let mesh = weighted(meshes::grid(5, 4));
    let settings = SmoothingSettings {
        iterations: 0,
        tolerance: 0.0,
        ..SmoothingSettings::default()
    };
    let found = bound(&mesh, &settings);
    let influences = mesh.influences.as_ref().expect("weighted");
    for v in 0..mesh.vertex_count() {
        let (joints, pairs) = found.row(v);
        let expected: Vec<_> = influences.row(v).collect();
        assert_eq!(joints.len(), expected.len(), "vertex {v}");
        for ((&joint, pair), (j, w)) in joints.iter().zip(pairs).zip(expected) {
            assert_eq!(joint, j, "vertex {v}");
            assert!(
                (pair.weight - w).abs() < 1e-6,
                "vertex {v}: {} for {w}",
                pair.weight
            );
            assert!(
                pair.second
                    .iter()
                    .chain(&pair.first)
                    .all(|x| x.abs() < 1e-6),
                "vertex {v}: {pair:?}"
            );
        }
    }
}

#[test]
fn threads_give_the_same_bits() {
    let mesh = weighted(meshes::sphere(40, 50));
    let settings = SmoothingSettings::default();
    let one = moments(&mesh, 4, &settings, Par::Seq, &BindWatch::NONE).expect("binds");
    assert_eq!(one, bound(&mesh, &settings));
}

#[test]
fn copies_at_seams_have_the_same_rows() {
    let mesh = weighted(meshes::cube());
    let found = bound(&mesh, &exact_settings());
    let (_, weld, _) = MeanOperator::build(&mesh, &exact_settings().laplacian);
    assert!(!weld.is_identity(), "the cube has split corners");
    for (v, &class) in weld.class_of_vertex.iter().enumerate() {
        let first = weld.first_vertex[class as usize] as usize;
        assert_eq!(found.row(v), found.row(first), "vertices {v} and {first}");
        assert_eq!(found.centers[v], found.centers[first]);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let fails = |mesh: &Mesh, settings: &SmoothingSettings| {
        moments(mesh, 4, settings, Par::Seq, &BindWatch::NONE)
            .expect_err("refused")
            .to_string()
    };
    let mesh = weighted(meshes::grid(3, 3));
    let good = SmoothingSettings::default();
    let cases = [
        (
            SmoothingSettings {
                lambda: -1.0,
                ..good
            },
            "lambda is -1, expected 0 to 1000",
        ),
        (
            SmoothingSettings { kappa: 4.0, ..good },
            "kappa is 4, expected 0 to 3 (lambda)",
        ),
        (
            SmoothingSettings {
                alpha: 0.99,
                ..good
            },
            "alpha is 0.99, expected 0 to 0.95",
        ),
        (
            SmoothingSettings {
                iterations: 1001,
                ..good
            },
            "iterations is 1001, expected 0 to 1000",
        ),
        (
            SmoothingSettings {
                tolerance: 0.5,
                ..good
            },
            "tolerance is 0.5, expected 0 to 0.01",
        ),
        (
            SmoothingSettings {
                lambda: f64::NAN,
                ..good
            },
            "lambda is NaN, expected 0 to 1000",
        ),
    ];
    for (settings, expected) in cases {
        assert_eq!(fails(&mesh, &settings), expected);
    }
    let mut bare = mesh.clone();
    bare.influences = None;
    assert!(
        fails(&bare, &good).contains("has no joint weights"),
        "{}",
        fails(&bare, &good)
    );
    let mut broken = mesh.clone();
    broken.positions[2][1] = f32::NAN;
    assert_eq!(
        fails(&broken, &good),
        "rest position of vertex 2 is not finite"
    );
    let short = moments(&mesh, 2, &good, Par::Seq, &BindWatch::NONE).expect_err("two joints");
    assert!(short.to_string().contains("the skeleton has 2"), "{short}");
}

#[test]
fn a_stop_is_an_error_and_progress_grows() {
    use std::sync::Mutex;
    let mesh = weighted(meshes::grid(5, 5));
    let settings = SmoothingSettings::default();
    let seen = Mutex::new(Vec::new());
    let report = |done| seen.lock().expect("no panic").push(done);
    let watch = BindWatch {
        report: &report,
        is_stopped: &|| false,
    };
    moments(&mesh, 4, &settings, Par::Seq, &watch).expect("binds");
    let done = seen.into_inner().expect("no panic");
    assert!(done.is_sorted() && done.last() == Some(&1.0), "{done:?}");
    let watch = BindWatch {
        report: &|_| {},
        is_stopped: &|| true,
    };
    let stopped = moments(&mesh, 4, &settings, Par::Seq, &watch).expect_err("stopped");
    assert!(
        matches!(stopped, DirectDeltaMushError::Stopped(_)),
        "{stopped}"
    );
}
