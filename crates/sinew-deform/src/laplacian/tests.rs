use super::robust::{Cover, next};
use super::*;
use proptest::prelude::*;
use sinew_geom::{OneRings, Topology, Vec3, index32};
use sinew_testkit::meshes;
use std::collections::BTreeMap;

fn config(weights: EdgeWeights, pin_border: bool) -> LaplacianConfig {
    LaplacianConfig {
        weights,
        pin_border,
        weld_tolerance: 0.0,
    }
}

fn table(mesh: &Mesh, weights: EdgeWeights) -> EdgeTable {
    let weld = WeldMap::by_position(&mesh.positions, 0.0);
    let rings = OneRings::build(&mesh.topology, &weld);
    EdgeTable::build(mesh, &weld, &rings, weights)
}

fn weights_of(table: &EdgeTable) -> BTreeMap<(u32, u32), f64> {
    (0..table.class_count())
        .flat_map(|c| table.row(c).map(move |(n, w)| ((index32(c), n), w)))
        .collect()
}

fn soup(vertices: &[[f32; 3]], triangles: &[[u32; 3]]) -> Mesh {
    let topology = Topology::new(index32(vertices.len()), triangles.to_vec()).expect("valid");
    Mesh::new("soup", topology, vertices.to_vec())
}

/// A grid whose inner points are shifted, the same each time.
fn wobbly_grid(n: u32) -> Mesh {
    let mut mesh = meshes::grid(n, n);
    for (i, p) in mesh.positions.iter_mut().enumerate() {
        let inner = (0..2).all(|c| p[c] > 0.01 && p[c] < 0.99);
        if inner {
            p[0] += 0.3 / n as f32 * (i as f32 * 12.9898).sin();
            p[1] += 0.3 / n as f32 * (i as f32 * 78.233).sin();
        }
    }
    mesh
}

#[test]
fn row_3_uniform_with_self_weight_is_sum_over_n_plus_one() {
    let mesh = meshes::sphere(6, 9);
    let (operator, weld, rings) =
        MeanOperator::build(&mesh, &config(EdgeWeights::UniformSelf, true));
    let points: Vec<Vec3<f64>> = class_positions(&weld, &mesh.positions)
        .into_iter()
        .map(Vec3::from)
        .collect();
    let smoothed = operator.apply(&points, 1.0);
    for c in 0..points.len() {
        let row = rings.row(c);
        let sum = row.iter().fold(points[c], |s, &n| s + points[n as usize]);
        let expected = sum / (row.len() as f64 + 1.0);
        assert!((smoothed[c] - expected).norm() < 1e-14, "class {c}");
    }
}

#[test]
fn row_5_step_scales_the_move() {
    let mesh = meshes::sphere(6, 9);
    let (operator, weld, _) = MeanOperator::build(&mesh, &config(EdgeWeights::Uniform, true));
    let points: Vec<Vec3<f64>> = class_positions(&weld, &mesh.positions)
        .into_iter()
        .map(Vec3::from)
        .collect();
    let (full, third) = (
        operator.apply(&points, 1.0),
        operator.apply(&points, 1.0 / 3.0),
    );
    for c in 0..points.len() {
        let expected = points[c] + (full[c] - points[c]) / 3.0;
        assert!((third[c] - expected).norm() < 1e-14, "class {c}");
    }
}

#[test]
fn rows_are_means_for_every_kind_of_weight_and_mesh() {
    for mesh in [
        meshes::degenerate(),
        meshes::cube(),
        meshes::grid(4, 3),
        wobbly_grid(5),
        meshes::sphere(5, 7),
    ] {
        for weights in EdgeWeights::ALL {
            for pin in [false, true] {
                let (operator, ..) = MeanOperator::build(&mesh, &config(weights, pin));
                for c in 0..operator.class_count() {
                    let sum: f64 = operator.row(c).map(|e| e.1).sum();
                    assert!(
                        (sum - 1.0).abs() < 1e-12,
                        "{} {weights:?} row {c}",
                        mesh.name
                    );
                    assert!(operator.row(c).all(|e| e.1 >= 0.0), "{weights:?} row {c}");
                }
            }
            let table = weights_of(&table(&mesh, weights));
            for (&(a, b), &w) in &table {
                assert!(w.is_finite() && w >= 0.0, "{weights:?} {a} {b}: {w}");
                assert_eq!(table.get(&(b, a)), Some(&w), "symmetric {a} {b}");
            }
        }
    }
}

#[test]
fn isolated_class_has_an_identity_row() {
    for weights in EdgeWeights::ALL {
        let (operator, ..) = MeanOperator::build(&meshes::degenerate(), &config(weights, false));
        assert_eq!(
            operator.row(9).collect::<Vec<_>>(),
            [(9, 1.0)],
            "{weights:?}"
        );
    }
}

#[test]
fn row_9_pinned_border_has_identity_rows() {
    let (operator, _, rings) =
        MeanOperator::build(&meshes::grid(4, 4), &config(EdgeWeights::Uniform, true));
    for c in 0..operator.class_count() {
        let fixed = operator.row(c).collect::<Vec<_>>() == [(index32(c), 1.0)];
        assert_eq!(fixed, rings.is_border[c], "class {c}");
    }
}

#[test]
fn row_6_edge_length_weights_are_inverse_distances() {
    let mesh = soup(&[[0.0; 3], [2.0, 0.0, 0.0], [0.0, 0.5, 0.0]], &[[0, 1, 2]]);
    let w = weights_of(&table(&mesh, EdgeWeights::EdgeLength));
    assert_eq!((w[&(0, 1)], w[&(0, 2)]), (0.5, 2.0));
}

#[test]
fn row_6_cotangents_of_known_triangles() {
    // Equilateral: cot 60 deg = 1/sqrt 3, halved. Right isosceles: 1/2 across each leg, 0 across the long side.
    let h = 3.0_f32.sqrt() / 2.0;
    let mesh = soup(&[[0.0; 3], [1.0, 0.0, 0.0], [0.5, h, 0.0]], &[[0, 1, 2]]);
    for weights in [EdgeWeights::Cotangent, EdgeWeights::Robust] {
        for w in weights_of(&table(&mesh, weights)).values() {
            assert!((w - 0.5 / 3.0_f64.sqrt()).abs() < 1e-6, "{weights:?} {w}");
        }
        let right = soup(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], &[[0, 1, 2]]);
        let w = weights_of(&table(&right, weights));
        assert!((w[&(0, 1)] - 0.5).abs() < 1e-6 && (w[&(0, 2)] - 0.5).abs() < 1e-6);
        assert!(w.get(&(1, 2)).copied().unwrap_or(0.0).abs() < 1e-6);
    }
}

#[test]
fn cotangents_of_slivers_are_cut_off() {
    let sliver = soup(
        &[
            [0.0; 3],
            [1.0, 0.0, 0.0],
            [0.5, 1e-20, 0.0],
            [2.0, 0.0, 0.0],
        ],
        &[[0, 1, 2], [0, 1, 3]],
    );
    for w in weights_of(&table(&sliver, EdgeWeights::Cotangent)).values() {
        assert!((0.0..=1000.0).contains(w), "{w}");
    }
}

#[test]
fn row_7_robust_is_linear_precise_in_the_plane() {
    // Inner points of a flat mesh are the weighted means of their neighbours, whatever its triangles. Plain
    // cotangents lose that where a weight is cut off at zero, which this mesh has.
    let mesh = wobbly_grid(6);
    let worst = |weights: EdgeWeights| {
        let (operator, weld, rings) = MeanOperator::build(&mesh, &config(weights, true));
        let points: Vec<Vec3<f64>> = class_positions(&weld, &mesh.positions)
            .into_iter()
            .map(Vec3::from)
            .collect();
        let moved = operator.apply(&points, 1.0);
        (0..points.len())
            .filter(|&c| !rings.is_border[c])
            .map(|c| (moved[c] - points[c]).norm())
            .fold(0.0, f64::max)
    };
    assert!(
        worst(EdgeWeights::Robust) < 1e-7,
        "{}",
        worst(EdgeWeights::Robust)
    );
    assert!(worst(EdgeWeights::Cotangent) > 1e-4, "the mesh is a test");
}

#[test]
fn row_7_robust_equals_cotangents_on_a_delaunay_mesh() {
    let sphere = meshes::sphere(10, 14);
    let plain = weights_of(&table(&sphere, EdgeWeights::Cotangent));
    let robust = weights_of(&table(&sphere, EdgeWeights::Robust));
    for (edge, w) in &plain {
        let other = robust.get(edge).copied().unwrap_or(0.0);
        assert!((w - other).abs() < 1e-4, "{edge:?}: {w} {other}");
    }
}

#[test]
fn row_7_robust_flips_a_bad_diagonal() {
    // A flat quad cut along its long diagonal 0-1: the intrinsic Delaunay diagonal is 2-3.
    let p = [
        [0.0, 0.0, 0.0],
        [4.0, 0.0, 0.0],
        [2.0, 0.5, 0.0],
        [2.0, -0.5, 0.0],
    ];
    let bad = weights_of(&table(
        &soup(&p, &[[0, 1, 2], [1, 0, 3]]),
        EdgeWeights::Robust,
    ));
    let good = weights_of(&table(
        &soup(&p, &[[0, 3, 2], [1, 2, 3]]),
        EdgeWeights::Robust,
    ));
    for edge in [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (0, 1)] {
        let w = |t: &BTreeMap<_, f64>| t.get(&edge).copied().unwrap_or(0.0);
        assert!(
            (w(&bad) - w(&good)).abs() < 1e-4,
            "{edge:?} {bad:?} {good:?}"
        );
    }
    assert!(
        bad.get(&(0, 1)).copied().unwrap_or(0.0) < 1e-6,
        "long diagonal is gone"
    );
}

/// Every half-edge of a cover has a partner that runs the other way with the same length.
fn check_cover(cover: &Cover) {
    for h in 0..index32(cover.tail.len()) {
        let t = cover.twin[h as usize];
        assert_eq!(cover.twin[t as usize], h, "twins point at each other");
        assert_eq!(
            cover.tail[t as usize],
            cover.tail[next(h) as usize],
            "opposite ends"
        );
        assert!((cover.length[t as usize] - cover.length[h as usize]).abs() < 1e-12);
    }
}

fn soup_strategy() -> impl Strategy<Value = Mesh> {
    let points = prop::collection::vec(prop::array::uniform3(-1.0_f32..1.0), 4..12);
    points.prop_flat_map(|p| {
        let n = index32(p.len());
        prop::collection::vec(prop::array::uniform3(0..n), 1..24).prop_map(move |t| soup(&p, &t))
    })
}

proptest! {
    #[test]
    fn row_7_any_soup_becomes_intrinsic_delaunay(mesh in soup_strategy()) {
        let weld = WeldMap::by_position(&mesh.positions, 0.0);
        let triangles = class_triangles(&mesh, &weld);
        let positions = class_positions(&weld, &mesh.positions);
        let mut cover = Cover::build(&triangles, &positions);
        check_cover(&cover);
        let area = |c: &Cover| -> f64 {
            (0..c.tail.len() / 3).map(|f| {
                let [a, b, d] = [c.length[3 * f], c.length[3 * f + 1], c.length[3 * f + 2]];
                let s = (a + b + d) / 2.0;
                (s * (s - a) * (s - b) * (s - d)).max(0.0).sqrt()
            }).sum()
        };
        let before = area(&cover);
        cover.flip_to_delaunay();
        check_cover(&cover);
        prop_assert!((area(&cover) - before).abs() <= 1e-6 * before.max(1e-3), "flips keep the area");
        for h in 0..index32(cover.tail.len()) {
            let sides = |h: u32| {
                let [a, b, c] = [h, next(h), next(next(h))].map(|h| cover.length[h as usize]);
                ((b * b + c * c - a * a) / (2.0 * b * c)).clamp(-1.0, 1.0).acos()
            };
            // By angles, not by the cotangents that the flips used.
            let sum = sides(h) + sides(cover.twin[h as usize]);
            let same = h / 3 == cover.twin[h as usize] / 3;
            prop_assert!(same || sum <= std::f64::consts::PI + 1e-4, "{sum}");
        }
        let table = table(&mesh, EdgeWeights::Robust);
        prop_assert!(table.weights.iter().all(|w| w.is_finite() && *w >= 0.0));
    }

    #[test]
    fn kernel_layout_keeps_the_operator(mesh in soup_strategy(), kind in 0..5_usize, pin: bool) {
        let weights = EdgeWeights::ALL[kind];
        let (operator, weld, _) = MeanOperator::build(&mesh, &config(weights, pin));
        let layout = Layout::new(&operator, &weld, &mesh.positions);
        prop_assert!(layout.is_valid(mesh.vertex_count()));
        let points: Vec<Vec3<f64>> = class_positions(&weld, &mesh.positions)
            .into_iter().map(Vec3::from).collect();
        let expected = operator.apply(&points, 0.7);
        let slots = reference::smooth_once(&layout, &reference::gather::<f64>(&layout, &mesh.positions), 0.7);
        for (v, &c) in weld.class_of_vertex.iter().enumerate() {
            let got = slots[layout.slot_of_vertex()[v] as usize];
            prop_assert!((got - expected[c as usize]).norm() < 1e-5, "vertex {v}");
        }
    }
}

/// Against a mean in double precision. Two triangles with points of their own meet along an edge at rest and lie apart now.
#[test]
fn welded_vertices_that_lie_apart_are_gathered_as_their_mean() {
    let rest = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [0.0, 1.0, 0.0],
    ];
    let mesh = soup(&rest, &[[0, 1, 2], [3, 4, 5]]);
    let (smoother, ..) =
        Smoother::bind(&mesh, &config(EdgeWeights::Uniform, false)).expect("valid");
    let layout = smoother.layout();
    assert_eq!(layout.slot_count(), 4);
    let apart: [[f32; 3]; 6] =
        [0.0_f32, 1.0, 2.0, 3.0, 4.0, 5.0].map(|i| [i * 0.3, i * i, 1.0 - i]);
    let mut out = [[0.0; 4]; 4];
    let space = FrameSpace {
        origin: [0.5, -1.0, 2.0],
        unit: 4.0,
    };
    simd::gather(layout, &apart, space, 0..4, &mut out);
    for (s, found) in out.iter().enumerate() {
        let members = layout.members(s);
        for c in 0..3 {
            let places = members.iter().map(|&v| f64::from(apart[v as usize][c]));
            let mean = places.sum::<f64>() / members.len() as f64;
            let mean = (mean - f64::from(space.origin[c])) / 4.0;
            let error = f64::from(found[c]) - mean;
            assert!(error.abs() < 1e-5, "slot {s} of {members:?}: {found:?}");
        }
    }
}

#[test]
fn saved_layouts_are_checked() {
    let (smoother, ..) =
        Smoother::bind(&meshes::grid(60, 60), &LaplacianConfig::default()).expect("valid");
    let bytes = postcard::to_stdvec(&smoother).expect("small");
    let back: Smoother = postcard::from_bytes(&bytes).expect("just written");
    assert_eq!(back, smoother);
    assert!(back.layout().is_valid(61 * 61) && !back.layout().is_valid(61 * 61 - 1));
    let mut broken = 0;
    for i in (0..bytes.len()).step_by(97) {
        let mut bytes = bytes.clone();
        bytes[i] ^= 0x55;
        if let Ok(s) = postcard::from_bytes::<Smoother>(&bytes) {
            // Whatever passes the check must run.
            if s.layout().is_valid(61 * 61) {
                let mesh = meshes::grid(60, 60);
                let mut scratch = s.new_scratch();
                s.smooth(
                    &mesh.positions,
                    FrameSpace::SCENE,
                    0.5,
                    2,
                    &mut scratch,
                    crate::Par::Seq,
                );
            } else {
                broken += 1;
            }
        }
    }
    assert!(broken > 0, "some damage must be seen");
}

#[test]
fn rest_positions_that_are_not_finite_are_named() {
    let mut mesh = meshes::grid(2, 2);
    mesh.positions[4][1] = f32::NAN;
    let error = Smoother::bind(&mesh, &LaplacianConfig::default()).expect_err("NaN");
    assert_eq!(error.to_string(), "rest position of vertex 4 is not finite");
}
