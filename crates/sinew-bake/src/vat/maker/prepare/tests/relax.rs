use super::super::relax::{Border, RelaxReport, RelaxSettings, Shrinking};
use super::super::testing::{bowl, cube, exploded, moved, noise, sphere, volume};
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
    // The control: without compensation the same smoothing shrinks the sphere.
    let plain = RelaxSettings {
        shrinking: Shrinking::Allowed,
        iterations: 20,
        ..Default::default()
    };
    let shrunk = volume(&smooth(&mesh, plain).0) / volume(&mesh) - 1.0;
    assert!(shrunk < -0.02, "plain smoothing changed it by {shrunk}");
}

#[test]
fn one_plain_step_is_the_mean_of_the_neighbours() {
    // A pyramid over a square: the tip goes half way to the mean of the four corners.
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
        shrinking: Shrinking::Allowed,
        iterations: 1,
        ..Default::default()
    };
    let (out, report) = smooth(&mesh, settings);
    assert_eq!(out.positions[..4], mesh.positions[..4]);
    assert_eq!(out.positions[4], [0.2, 1.0, 0.0]);
    assert_eq!((report.places_free, report.places_pinned), (1, 4));
    assert!(
        (report.largest_move - 1.04_f64.sqrt()).abs() < 1e-6,
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
fn borders_stay_or_slide() {
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
    let (pinned, _) = smooth(&rough, RelaxSettings::default());
    assert_eq!(rim(&pinned), rim(&rough));
    let (slid, report) = smooth(
        &rough,
        RelaxSettings {
            border: Border::Sliding,
            ..Default::default()
        },
    );
    assert_eq!(report.places_pinned, 0);
    assert_eq!(
        rim(&slid).len(),
        rim(&rough).len(),
        "the rim stays in its plane"
    );
    assert_ne!(rim(&slid), rim(&rough));
}

#[test]
fn hard_edges_stay_when_asked() {
    let box_mesh = cube(6);
    let on_edge = |p: &[f32; 3]| p.iter().filter(|c| c.abs() == 1.0).count() > 1;
    let settings = RelaxSettings {
        hard_edge_angle: Some(0.5),
        ..Default::default()
    };
    let (out, _) = smooth(&box_mesh, settings);
    let stays = |m: &Mesh, o: &Mesh| {
        let mut pairs = m
            .positions
            .iter()
            .zip(&o.positions)
            .filter(|(p, _)| on_edge(p));
        pairs.all(|(p, q)| p == q)
    };
    assert!(stays(&box_mesh, &out), "pinned");
    let (round, _) = smooth(&box_mesh, RelaxSettings::default());
    assert!(!stays(&box_mesh, &round), "the control moves them");
    assert!((volume(&out) - 8.0).abs() < 1e-5, "sides stay flat");
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
