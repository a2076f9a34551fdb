use super::super::relax::{RelaxReport, RelaxSettings};
use super::super::testing::{bowl, exploded, moved, noise, sphere, volume};
use super::super::vector::{unit, wide};
use super::{PrepareSettings, run};
use sinew_geom::Mesh;
use sinew_geom::vec3::{dot, length};

fn smooth(mesh: &Mesh, relax: RelaxSettings) -> (Mesh, RelaxReport) {
    let settings = PrepareSettings {
        relax_before: Some(relax),
        ..PrepareSettings::default()
    };
    let (out, report) = run(mesh, &settings);
    (out, report.relax_before.expect("asked for"))
}

/// A sphere whose vertices lie up to 3 % off along their radius.
fn noisy(levels: u32) -> Mesh {
    let mut mesh = sphere(levels);
    let with = |(i, p): (usize, &mut [f32; 3])| *p = p.map(|c| c * (1.0 + 0.03 * noise(i as u32)));
    mesh.positions.iter_mut().enumerate().for_each(with);
    mesh
}

/// Root of the mean square of the distance from the mean radius.
fn roughness(mesh: &Mesh) -> f64 {
    let radii: Vec<f64> = mesh.positions.iter().map(|p| length(wide(*p))).collect();
    let mean = radii.iter().sum::<f64>() / radii.len() as f64;
    (radii.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / radii.len() as f64).sqrt()
}

#[test]
fn noise_goes_and_volume_stays() {
    let mesh = noisy(4);
    let (out, report) = smooth(&mesh, RelaxSettings::default());
    assert!(
        roughness(&out) < 0.4 * roughness(&mesh),
        "{} of {}",
        roughness(&out),
        roughness(&mesh)
    );
    let change = volume(&out) / volume(&mesh) - 1.0;
    assert!(change.abs() < 0.005, "volume changed by {change}");
    assert!(
        (report.volume_after - volume(&out)).abs() < 1e-9,
        "reported"
    );
    assert!(
        (report.volume_before - volume(&mesh)).abs() < 1e-9,
        "reported"
    );
}

#[test]
fn one_iteration_takes_a_tip_towards_the_mean_of_its_neighbours_and_back() {
    // A pyramid over a square: a step of strength s brings the tip to 1 - s of its way from the mean of the four corners.
    let positions = vec![
        [1.0, 0.0, 1.0],
        [1.0, 0.0, -1.0],
        [-1.0, 0.0, -1.0],
        [-1.0, 0.0, 1.0],
        [0.4, 2.0, 0.0],
    ];
    let triangles = vec![[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]];
    let mesh = super::super::testing::mesh(positions, triangles);
    let settings = RelaxSettings {
        iterations: 1,
        strength: 0.4,
    };
    let (out, report) = smooth(&mesh, settings);
    assert_eq!(out.positions[..4], mesh.positions[..4]);
    // 1 / 0.4 + 1 / mu = 0.1
    let factor = 0.6_f64 * (1.0 + 1.0 / 2.4);
    let tip = out.positions[4].map(f64::from);
    let off = [0.4, 2.0, 0.0].map(|c| factor * c);
    let off = (0..3).map(|c| (tip[c] - off[c]).abs());
    assert!(off.fold(0.0, f64::max) < 1e-6, "{tip:?}");
    assert_eq!((report.places_free, report.places_pinned), (1, 4));
    let way = (1.0 - factor) * 4.16_f64.sqrt();
    assert!(
        (report.largest_move - way).abs() < 1e-6,
        "{}",
        report.largest_move
    );
}

#[test]
fn one_compensated_step_scales_an_octahedron_by_its_closed_form() {
    // The neighbours' mean is the centre, so a step of strength s multiplies by 1 - s; mu = 1 / (0.1 - 1 / 0.5).
    let settings = RelaxSettings {
        iterations: 1,
        ..Default::default()
    };
    let (out, _) = smooth(&sphere(0), settings);
    let factor = 0.5 * (1.0 + 1.0 / 1.9);
    for (p, q) in sphere(0).positions.iter().zip(&out.positions) {
        let off = (0..3).map(|c| (f64::from(p[c]) * factor - f64::from(q[c])).abs());
        assert!(off.fold(0.0, f64::max) < 1e-7, "{p:?} {q:?}");
    }
}

#[test]
fn borders_stay() {
    let rough = moved(bowl(4), |p| {
        [p[0], p[1] * (1.0 + 0.2 * noise((1e4 * p[0]) as u32)), p[2]]
    });
    let on_rim = |p: &&[f32; 3]| p[1].abs() < 1e-6;
    let rim = |m: &Mesh| {
        m.positions
            .iter()
            .filter(on_rim)
            .copied()
            .collect::<Vec<_>>()
    };
    let (out, report) = smooth(&rough, RelaxSettings::default());
    assert_eq!(rim(&out), rim(&rough));
    assert_eq!(report.places_pinned, rim(&rough).len());
    assert!(report.largest_move > 0.01, "the rest moves: {report:?}");
}

#[test]
fn loose_triangles_move_like_joined_ones() {
    let mesh = noisy(3);
    let joined = exploded(&smooth(&mesh, RelaxSettings::default()).0);
    let (loose, _) = smooth(&exploded(&mesh), RelaxSettings::default());
    for (a, b) in joined.positions.iter().zip(&loose.positions) {
        // Sums run in another order.
        assert!((0..3).all(|c| (a[c] - b[c]).abs() < 1e-6), "{a:?} {b:?}");
    }
}

#[test]
fn normals_and_tangents_turn_with_the_surface() {
    // Squeezing is undone by smoothing only in part: what counts is that normals follow.
    let mut mesh = noisy(4);
    let outward = |m: &Mesh| {
        m.positions
            .iter()
            .map(|p| unit(wide(*p)).expect("not zero").map(|c| c as f32))
            .collect::<Vec<_>>()
    };
    mesh.normals = Some(super::super::testing::corner_normals(&mesh));
    mesh.tangents = Some(vec![[1.0, 0.0, 0.0, -1.0]; mesh.vertex_count()]);
    let off = |m: &Mesh| {
        let normals = m.normals.as_ref().expect("kept");
        let fit = normals
            .iter()
            .zip(outward(m))
            .map(|(n, o)| dot(wide(*n), wide(o)).min(1.0).acos());
        fit.sum::<f64>() / normals.len() as f64
    };
    let (out, _) = smooth(&mesh, RelaxSettings::default());
    assert!(
        off(&out) < 0.5 * off(&mesh),
        "{} after {}",
        off(&out),
        off(&mesh)
    );
    let expected = super::super::testing::corner_normals(&out);
    for (n, e) in out.normals.iter().flatten().zip(&expected) {
        assert!(dot(wide(*n), wide(*e)) > 0.999_9, "{n:?} {e:?}");
    }
    let tangents = out.tangents.as_ref().expect("kept");
    assert!(
        tangents
            .iter()
            .all(|t| t[3] == -1.0 && (length(wide([t[0], t[1], t[2]])) - 1.0).abs() < 1e-5),
        "unit"
    );
}
