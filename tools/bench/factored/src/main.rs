//! Setup of direct delta mush by the series that Sinew takes and by a sparse Cholesky factorisation, in turn and on one thread; and how far
//! the two are apart.

use faer::linalg::solvers::Solve;
use faer::sparse::{SparseColMat, Triplet};
use faer::{Mat, Side};
use sinew_deform::direct_delta_mush::{SmoothingSettings, moments};
use sinew_deform::laplacian::MeanOperator;
use sinew_deform::{BindWatch, Par};
use sinew_geom::{Influences, Mesh};
use sinew_testkit::meshes;
use std::time::Instant;

/// A tube, each vertex bound to one of `joints` joints along it.
fn tube(segments: u32, around: u32, joints: u32) -> Mesh {
    let mut mesh = meshes::tube(segments, around, 1.0, 0.1);
    let joint = |p: &[f32; 3]| ((p[0] * joints as f32) as u32).min(joints - 1);
    let rows: Vec<_> = mesh.positions.iter().map(|p| [(joint(p), 1.0)]).collect();
    let rows = rows.iter().map(|r| &r[..]);
    mesh.influences = Influences::from_rows(rows, joints as usize, 0)
        .ok()
        .map(|r| r.0);
    mesh
}

/// `(D + lambda L)`, factored once, then solved `iterations` times for weight and moments of each joint.
fn factored(mesh: &Mesh, joints: usize, settings: &SmoothingSettings) -> Result<Mat<f64>, String> {
    let (operator, ..) = MeanOperator::build(mesh, &settings.laplacian);
    let n = operator.class_count();
    // With uniform weights the number of neighbours makes the matrix symmetric.
    let degree: Vec<f64> = (0..n).map(|c| operator.row(c).len() as f64).collect();
    let mut triplets = Vec::new();
    for c in 0..n {
        triplets.push(Triplet::new(c, c, degree[c] * (1.0 + settings.lambda)));
        for (read, _) in operator.row(c) {
            triplets.push(Triplet::new(c, read as usize, -settings.lambda));
        }
    }
    let matrix =
        SparseColMat::try_new_from_triplets(n, n, &triplets).map_err(|e| format!("{e:?}"))?;
    let factor = matrix
        .sp_cholesky(Side::Lower)
        .map_err(|e| format!("{e:?}"))?;
    let influences = mesh.influences.as_ref().ok_or("no weights")?;
    let mut fields = Mat::<f64>::zeros(n, 10 * joints);
    for c in 0..n {
        let [x, y, z] = mesh.positions[c].map(f64::from);
        let values = [1.0, x, y, z, x * x, x * y, x * z, y * y, y * z, z * z];
        for (joint, weight) in influences.row(c) {
            for (k, v) in values.into_iter().enumerate() {
                fields[(c, 10 * joint as usize + k)] = v * f64::from(weight);
            }
        }
    }
    for _ in 0..settings.iterations {
        for k in 0..fields.ncols() {
            for c in 0..n {
                fields[(c, k)] *= degree[c];
            }
        }
        factor.solve_in_place(fields.as_mut());
    }
    Ok(fields)
}

fn main() -> Result<(), String> {
    println!("vertices joints iterations: series, factored (times it), weights apart");
    for (segments, around, joints, iterations) in [
        (49, 100, 4, 20),
        (499, 100, 4, 20),
        (292, 13, 45, 20),
        (528, 126, 45, 10),
    ] {
        let mesh = tube(segments, around, joints);
        // Without alpha the weight is that of the smoothing by lambda.
        let settings = SmoothingSettings {
            iterations,
            alpha: 0.0,
            ..SmoothingSettings::default()
        };
        let joints = joints as usize;
        let mut times = [f64::INFINITY; 2];
        let mut found = None;
        for _ in 0..3 {
            let start = Instant::now();
            let series = moments(&mesh, joints, &settings, Par::Seq, &BindWatch::NONE);
            times[0] = times[0].min(start.elapsed().as_secs_f64());
            let start = Instant::now();
            let solved = factored(&mesh, joints, &settings)?;
            times[1] = times[1].min(start.elapsed().as_secs_f64());
            found = Some((series.map_err(|e| e.to_string())?, solved));
        }
        let (series, solved) = found.ok_or("nothing ran")?;
        let mut apart = 0.0_f64;
        for v in 0..mesh.vertex_count() {
            let (row, pairs) = series.row(v);
            // The strongest also has what the others lost.
            for (&joint, pair) in row.iter().zip(pairs).skip(1) {
                apart =
                    apart.max((f64::from(pair.weight) - solved[(v, 10 * joint as usize)]).abs());
            }
        }
        println!(
            "{} {joints} {iterations}: {:.1} ms, {:.1} ms ({:.1}), {apart:.1e}",
            mesh.vertex_count(),
            times[0] * 1e3,
            times[1] * 1e3,
            times[1] / times[0]
        );
    }
    Ok(())
}
