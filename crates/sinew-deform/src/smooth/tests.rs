use super::*;
use crate::laplacian::{EdgeWeights, reference};
use sinew_geom::{Mesh, Topology};
use sinew_testkit::{meshes, tolerance};

fn run(
    mesh: &Mesh,
    config: &LaplacianConfig,
    iterations: u32,
    weight: MaskWeight<'_>,
    par: Par,
) -> Vec<[f32; 3]> {
    let (bind, ..) = Smoother::bind(mesh, config).expect("valid");
    let mut output = vec![[f32::NAN; 3]; mesh.vertex_count()];
    SmoothJob {
        bind: &bind,
        space: bind.anchor().space(&[]).0,
        iterations,
        step: 0.6,
        blend: 1.0,
        weight,
        input: &mesh.positions,
        output: &mut output,
        scratch: &mut bind.new_scratch(),
        par,
    }
    .run();
    output
}

fn free(weights: EdgeWeights) -> LaplacianConfig {
    LaplacianConfig {
        weights,
        pin_border: false,
        weld_tolerance: 0.0,
    }
}

#[test]
fn kernel_matches_the_double_precision_reference_on_any_thread_count() {
    for mesh in [
        meshes::sphere(40, 60),
        meshes::degenerate(),
        meshes::cube(),
        meshes::grid(50, 70),
    ] {
        for weights in EdgeWeights::ALL {
            let config = free(weights);
            let got = run(&mesh, &config, 7, MaskWeight::ONE, Par::Seq);
            let rayon = run(&mesh, &config, 7, MaskWeight::ONE, Par::Rayon);
            assert_eq!(got, rayon, "{weights:?}: same bits");
            let (bind, ..) = Smoother::bind(&mesh, &config).expect("valid");
            let start = reference::gather::<f64>(bind.layout(), &mesh.positions);
            let slots = reference::smooth(bind.layout(), &start, f64::from(0.6_f32), 7);
            let expected: Vec<[f32; 3]> = bind
                .layout()
                .slot_of_vertex()
                .iter()
                .map(|&s| slots[s as usize].map(|x| x as f32).into())
                .collect();
            let distance = sinew_testkit::max_distance(&got, &expected);
            let limit = tolerance::POSITION * f64::from(mesh.diagonal());
            assert!(distance < limit, "{} {weights:?} {distance}", mesh.name);
        }
    }
}

#[test]
fn row_4_each_iteration_reaches_one_ring() {
    // A spike in the middle of a grid: after k passes exactly the points within k edges have moved.
    let mut mesh = meshes::grid(12, 12);
    let middle = 6 * 13 + 6;
    mesh.positions[middle][2] = 1.0;
    let (_, _, rings) = Smoother::bind(&mesh, &free(EdgeWeights::Uniform)).expect("valid");
    for k in 1..4 {
        let moved = run(
            &mesh,
            &free(EdgeWeights::Uniform),
            k,
            MaskWeight::ONE,
            Par::Seq,
        );
        let mut reached = vec![false; mesh.vertex_count()];
        reached[middle] = true;
        for _ in 0..k {
            let before = reached.clone();
            for (c, reached) in reached.iter_mut().enumerate() {
                *reached |= rings.row(c).iter().any(|&n| before[n as usize]);
            }
        }
        for v in 0..reached.len() {
            assert_eq!(moved[v][2] > 0.0, reached[v], "vertex {v} after {k} passes");
        }
    }
}

/// A grid in two halves that share positions along the middle, and the half that each vertex is in.
fn split_grid(gap: f32) -> (Mesh, Vec<[usize; 2]>) {
    let whole = meshes::grid(6, 6);
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    let mut pairs = Vec::new();
    for side in 0..2_u32 {
        let base = positions.len() as u32;
        positions.extend(whole.positions.iter().map(|p| {
            [
                p[0],
                p[1] + gap * side as f32,
                0.3 * (5.0 * p[0]).sin() * (4.0 * p[1]).cos(),
            ]
        }));
        for t in whole.topology.triangles() {
            let upper = t
                .iter()
                .map(|&v| whole.positions[v as usize][1])
                .sum::<f32>()
                > 1.5;
            if upper == (side == 1) {
                triangles.push(t.map(|v| base + v));
            }
        }
    }
    for x in 0..7 {
        pairs.push([3 * 7 + x, 49 + 3 * 7 + x]);
    }
    // Only vertices in use, so that unused copies do not count.
    let mut used = vec![u32::MAX; positions.len()];
    let mut kept = Vec::new();
    for v in triangles.iter_mut().flatten() {
        if used[*v as usize] == u32::MAX {
            used[*v as usize] = kept.len() as u32;
            kept.push(positions[*v as usize]);
        }
        *v = used[*v as usize];
    }
    let pairs = pairs.iter().map(|p| p.map(|v| used[v] as usize)).collect();
    let topology = Topology::new(kept.len() as u32, triangles).expect("valid");
    (Mesh::new("split", topology, kept), pairs)
}

#[test]
fn row_8_seams_stay_closed() {
    let (mesh, pairs) = split_grid(0.0);
    for weights in EdgeWeights::ALL {
        let out = run(&mesh, &free(weights), 5, MaskWeight::ONE, Par::Seq);
        for [a, b] in &pairs {
            assert_eq!(out[*a], out[*b], "{weights:?}");
            assert_ne!(out[*a], mesh.positions[*a], "the seam smooths too");
        }
    }
}

#[test]
fn row_8_touching_parts_smooth_together_within_the_tolerance() {
    let (mesh, pairs) = split_grid(0.01);
    let welded = LaplacianConfig {
        weld_tolerance: 0.02,
        ..free(EdgeWeights::Uniform)
    };
    let gap = |out: &[[f32; 3]], [a, b]: &[usize; 2]| out[*b][1] - out[*a][1];
    let out = run(&mesh, &welded, 5, MaskWeight::ONE, Par::Seq);
    assert!(
        pairs.iter().all(|p| (gap(&out, p) - 0.01).abs() < 1e-6),
        "the gap stays"
    );
    let apart = run(
        &mesh,
        &free(EdgeWeights::Uniform),
        5,
        MaskWeight::ONE,
        Par::Seq,
    );
    assert!(
        pairs.iter().all(|p| gap(&apart, p) > 0.05),
        "unwelded parts shrink away from each other"
    );
}

#[test]
fn row_9_pinned_border_stays_and_free_border_moves() {
    let mut mesh = meshes::grid(5, 5);
    for p in &mut mesh.positions {
        p[2] = (7.0 * p[0]).sin();
    }
    let pinned = run(
        &mesh,
        &LaplacianConfig::default(),
        4,
        MaskWeight::ONE,
        Par::Seq,
    );
    let loose = run(
        &mesh,
        &free(EdgeWeights::Uniform),
        4,
        MaskWeight::ONE,
        Par::Seq,
    );
    for (v, p) in mesh.positions.iter().enumerate() {
        let border = [0.0, 1.0].iter().any(|e| p[0] == *e || p[1] == *e);
        assert_eq!(pinned[v] == *p, border, "vertex {v}");
        assert!(loose[v] != *p, "vertex {v}");
    }
}

#[test]
fn row_10_mask_scales_the_move() {
    let mesh = meshes::sphere(8, 12);
    let mask: Vec<f32> = (0..mesh.vertex_count())
        .map(|v| (v % 3) as f32 / 2.0)
        .collect();
    let full = run(
        &mesh,
        &free(EdgeWeights::Uniform),
        3,
        MaskWeight::ONE,
        Par::Seq,
    );
    let weight = MaskWeight {
        mask: Some(&mask),
        ..MaskWeight::ONE
    };
    let masked = run(&mesh, &free(EdgeWeights::Uniform), 3, weight, Par::Seq);
    for v in 0..mask.len() {
        for c in 0..3 {
            let p = mesh.positions[v][c];
            let expected = p + (full[v][c] - p) * mask[v];
            assert!((masked[v][c] - expected).abs() < 1e-6, "vertex {v}");
        }
    }
}
