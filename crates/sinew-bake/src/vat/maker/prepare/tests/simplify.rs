use super::super::simplify::{Method, SimplifyReport, SimplifySettings};
use super::super::testing::{
    bowl, bumpy, corner_normals, corners, cube, edge_counts, exploded, farthest, merged, mesh,
    moved, noise, placed, sphere, volume,
};
use super::super::vector::unit;
use super::{PrepareSettings, run};
use sinew_geom::vec3::{area_vector, length};
use sinew_geom::{Attribute, Influences, Mesh, MorphTarget};

fn reduce(mesh: &Mesh, simplify: SimplifySettings) -> (Mesh, SimplifyReport) {
    let settings = PrepareSettings {
        simplify: Some(simplify),
        ..PrepareSettings::default()
    };
    let (out, report) = run(mesh, &settings);
    (out, report.simplify.expect("asked for"))
}

fn to(target_faces: usize) -> SimplifySettings {
    SimplifySettings {
        target_faces,
        ..SimplifySettings::default()
    }
}

#[test]
fn the_target_is_met_and_the_shape_kept() {
    let mesh = bumpy(5);
    for target in [4000, 1001, 100] {
        let (out, report) = reduce(&mesh, to(target));
        let faces = out.topology.triangles().len();
        assert!(
            faces <= target && faces * 100 >= target * 99,
            "{faces} of {target}"
        );
        assert_eq!(
            (report.faces_after, report.method),
            (faces, Method::Collapses)
        );
        assert!(report.runs <= 3, "{} runs", report.runs);
        assert_eq!(edge_counts(&out)[1..], [0, 3 * faces / 2, 0], "closed");
        let error = farthest(&out, &mesh, 150).max(farthest(&mesh, &out, 150));
        let allowed = 30.0 / target as f64;
        println!("{target}: {report:?} measured {error:.4}");
        assert!(error < allowed, "{error} at {target}");
        assert!(
            (volume(&out) / volume(&mesh) - 1.0).abs() < allowed,
            "volume at {target}"
        );
    }
}

#[test]
fn few_enough_faces_are_left_alone() {
    let mesh = cube(2);
    let (out, report) = reduce(&mesh, to(48));
    assert_eq!(out.positions, mesh.positions);
    assert_eq!(
        (report.method, report.runs, report.faces_after),
        (Method::Unchanged, 0, 48)
    );
}

#[test]
fn loose_triangles_are_joined_first() {
    let joined = bumpy(4);
    let (out, report) = reduce(&exploded(&joined), to(300));
    assert_eq!(report.method, Method::Collapses);
    assert!(
        (297..=300).contains(&out.topology.triangles().len()),
        "{report:?}"
    );
    assert_eq!(edge_counts(&out)[1], 0, "no border has opened");
    assert!(farthest(&joined, &out, 300) < 0.05, "near");
}

#[test]
fn hard_edges_stay_when_asked() {
    // A box with wavy sides, so that an edge costs no more than a wave.
    let wavy = moved(cube(16), |p| {
        p.map(|c| c + 0.01 * (9.0 * (p[0] + 2.0 * p[1] + 3.0 * p[2])).sin())
    });
    let sharp = SimplifySettings {
        hard_edge_angle: Some(1.0),
        ..to(400)
    };
    for mesh in [wavy.clone(), exploded(&wavy)] {
        let (out, report) = reduce(&mesh, sharp.clone());
        assert_eq!(report.method, Method::Collapses);
        assert!(out.topology.triangles().len() >= 396, "{report:?}");
        // Every corner of the box is still there.
        let corner = |p: &[f32; 3], k: u32| {
            (0..3).all(|c| (p[c] - if k >> c & 1 == 1 { 1.0 } else { -1.0 }).abs() < 0.04)
        };
        assert!(
            (0..8).all(|k| out.positions.iter().any(|p| corner(p, k))),
            "eight corners"
        );
        // No face lies across an edge: each is within its side's waves.
        let across = |t: &[[f64; 3]; 3]| {
            // Slivers lie any way on the waves.
            let (n, twice_area) = (unit(area_vector(*t)), length(area_vector(*t)));
            twice_area > 0.01 && n.is_some_and(|n| n.iter().all(|c| c.abs() < 0.8))
        };
        assert_eq!(corners(&out).filter(across).count(), 0, "chamfers");
    }
}

#[test]
fn a_shallow_ridge_stays_straight_when_asked() {
    // The ridge is lower than the waves: the shape alone does not say that it matters.
    let n = 40_u32;
    let height = |x: f32, z: f32| 0.03 * (6.0 * x).cos() * (6.0 * z).sin() - 0.1 * x.abs();
    let at = |i: u32| 2.0 * i as f32 / n as f32 - 1.0;
    let points = (0..=n).flat_map(|i| (0..=n).map(move |j| (at(i), at(j))));
    let positions = points.map(|(x, z)| [x, height(x, z), z]).collect();
    let cells = (0..n).flat_map(|i| (0..n).map(move |j| i * (n + 1) + j));
    let both = |a| [[a, a + n + 2, a + n + 1], [a, a + 1, a + n + 2]];
    let roof = mesh(positions, cells.flat_map(both).collect());
    let spans = |t: &[[f64; 3]; 3]| t.iter().any(|p| p[0] < -1e-6) && t.iter().any(|p| p[0] > 1e-6);
    let sharp = SimplifySettings {
        hard_edge_angle: Some(0.12),
        ..to(40)
    };
    let (out, report) = reduce(&roof, sharp);
    assert!(
        (39..=40).contains(&report.faces_after) && report.method == Method::Collapses,
        "{report:?}"
    );
    assert_eq!(corners(&out).filter(spans).count(), 0);
    let crossing = |target| corners(&reduce(&roof, to(target)).0).filter(&spans).count();
    let control = [160, 80, 40, 24].map(crossing);
    println!("without: {control:?} faces cross the ridge");
    assert!(control.iter().any(|n| *n > 0), "the control crosses it");
}

#[test]
fn flat_sides_with_hard_edges_keep_their_volume_exactly() {
    let sharp = SimplifySettings {
        hard_edge_angle: Some(0.5),
        ..to(12)
    };
    let (out, report) = reduce(&cube(12), sharp);
    println!("{report:?}");
    assert!(
        (volume(&out) - 8.0).abs() < 1e-6,
        "{} {report:?}",
        volume(&out)
    );
    assert_eq!(out.topology.triangles().len(), 12);
}

#[test]
fn borders_are_simplified_along_themselves() {
    let mesh = bowl(5);
    let rim = |m: &Mesh| m.positions.iter().filter(|p| p[1].abs() < 1e-6).count();
    let (out, _) = reduce(&mesh, to(400));
    assert!(rim(&out) < rim(&mesh), "simplified");
    assert_eq!(
        edge_counts(&out)[1],
        rim(&out),
        "one loop, all of it on the rim"
    );
}

/// A sphere with every attribute there is, a seam in its texture coordinates and split normals along it.
fn dressed() -> Mesh {
    let mut mesh = merged(&bowl(4), &moved(bowl(4), |p| [p[0], -p[1], -p[2]]));
    let n = mesh.vertex_count();
    let half = |v: usize| if v < n / 2 { 0.0 } else { 1.0 };
    mesh.normals = Some(corner_normals(&mesh));
    mesh.tangents = Some(
        mesh.positions
            .iter()
            .map(|p| [p[2], 0.0, -p[0], 1.0])
            .collect(),
    );
    mesh.uvs = vec![(0..n).map(|v| [mesh.positions[v][0], half(v)]).collect()];
    mesh.colors = vec![
        mesh.positions
            .iter()
            .map(|p| [p[0], p[1], p[2], 1.0])
            .collect(),
    ];
    let number = |v: usize| v as f32;
    mesh.attributes.insert(
        "id".into(),
        Attribute::Vec2((0..n).map(|v| [number(v), 0.0]).collect()),
    );
    mesh.influences = Some(Influences::rigid(n, 0));
    let vertices = (0..n as u32).step_by(2);
    mesh.morph_targets.push(MorphTarget {
        name: "even".into(),
        vertices: vertices.clone().collect(),
        positions: vertices.map(|v| [v as f32; 3]).collect(),
        ..MorphTarget::default()
    });
    mesh
}

#[test]
fn every_attribute_follows_its_vertex_across_seams() {
    let mesh = dressed();
    let (out, report) = reduce(&mesh, to(500));
    assert!(
        (495..=500).contains(&report.faces_after) && report.method == Method::Collapses,
        "{report:?}"
    );
    let Attribute::Vec2(id) = &out.attributes["id"] else {
        panic!("two numbers")
    };
    for (v, id) in id.iter().enumerate() {
        let old = id[0] as usize;
        assert_eq!(out.positions[v], mesh.positions[old]);
        let pairs = [(&out.normals, &mesh.normals)];
        assert!(
            pairs
                .iter()
                .all(|(o, m)| o.as_ref().unwrap()[v] == m.as_ref().unwrap()[old]),
            "normal"
        );
        assert_eq!(
            out.tangents.as_ref().unwrap()[v],
            mesh.tangents.as_ref().unwrap()[old]
        );
        assert_eq!(out.uvs[0][v], mesh.uvs[0][old]);
        assert_eq!(out.colors[0][v], mesh.colors[0][old]);
        let target = &out.morph_targets[0];
        let row = target.vertices.binary_search(&(v as u32));
        assert_eq!(row.is_ok(), old.is_multiple_of(2), "morph of {v}");
        assert!(
            row.is_err() || target.positions[row.unwrap()] == [old as f32; 3],
            "delta of {v}"
        );
    }
    for t in out.topology.triangles() {
        let side = t.map(|v| out.uvs[0][v as usize][1]);
        assert!(side == [side[0]; 3], "no face spans the seam");
    }
    assert_eq!(edge_counts(&out)[1], 0, "the seam has not opened");
}

#[test]
fn split_normals_are_no_seam_and_fit_their_faces() {
    // Each face of the box has its own normals; joined by place, they come back by the face's direction.
    let mut mesh = cube(8);
    mesh.normals = Some(corner_normals(&mesh));
    let (out, report) = reduce(&mesh, to(200));
    assert_eq!(report.method, Method::Collapses);
    let normals = out.normals.as_ref().expect("kept");
    for t in out.topology.triangles() {
        let corners = t.map(|v| out.positions[v as usize].map(f64::from));
        let face = unit(area_vector(corners)).expect("some area");
        for v in t {
            let n = normals[*v as usize].map(f64::from);
            assert!(
                (0..3).all(|c| (n[c] - face[c]).abs() < 1e-5),
                "{n:?} on {face:?}"
            );
        }
    }
}

#[test]
fn drops_beyond_counting_still_end_below_the_target() {
    let mut spray = placed(sphere(1), 0.01, [0.0; 3]);
    for i in 1..60 {
        let at = [noise(3 * i), noise(3 * i + 1), noise(3 * i + 2)];
        spray = merged(
            &spray,
            &placed(sphere(1), 0.01 * (1.0 + i as f32 / 60.0), at),
        );
    }
    for target in [200, 60, 7, 1] {
        let (out, report) = reduce(&spray, to(target));
        println!("{target}: {report:?}");
        let faces = out.topology.triangles().len();
        assert!(
            faces <= target && (faces > 0 || target < 4),
            "{faces} of {target}"
        );
    }
}

#[test]
fn where_every_edge_is_hard_topology_gives_way() {
    let hard = SimplifySettings {
        hard_edge_angle: Some(0.0),
        ..to(20)
    };
    let (out, report) = reduce(&bumpy(3), hard);
    let faces = out.topology.triangles().len();
    println!("{report:?}");
    assert!((1..=20).contains(&faces), "{report:?}");
    assert!(report.method > Method::Permissive, "{report:?}");
}

#[test]
fn far_from_the_origin_and_at_any_size_it_is_the_same() {
    let (near, _) = reduce(&bumpy(4), to(300));
    for size in [1e-12_f32, 1e12] {
        let (out, _) = reduce(&moved(bumpy(4), |p| p.map(|c| c * size)), to(300));
        let faces = out.topology.triangles().len();
        assert!((297..=300).contains(&faces), "{faces} at {size}");
        assert!(
            (volume(&out) / f64::from(size).powi(3) / volume(&near) - 1.0).abs() < 0.01,
            "{size}"
        );
    }
}

#[test]
fn the_same_comes_out_twice() {
    let (one, two) = (reduce(&dressed(), to(300)), reduce(&dressed(), to(300)));
    assert_eq!(one.0.positions, two.0.positions);
    assert_eq!(one.0.topology, two.0.topology);
    assert_eq!(one.1, two.1);
}
