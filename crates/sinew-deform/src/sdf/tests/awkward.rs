//! Meshes that are not what one hopes for, and settings that cannot be.

use super::*;

fn soup(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> (Topology, Vec<[f32; 3]>) {
    let topology = Topology::new(positions.len() as u32, triangles.to_vec()).expect("in range");
    (topology, positions.to_vec())
}

const CORNER: [[f32; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

#[test]
fn one_triangle_has_a_field() {
    let (topology, positions) = soup(&CORNER[..3], &[[0, 1, 2]]);
    let d = make(&topology, &positions, cells(10)).compare(1);
    assert!(d.in_band < 1e-4 && d.wrong_signs == 0, "{d:?}");
}

#[test]
fn tetrahedron_is_sharp() {
    // A corner sharper than a right angle: signs of planes are wrong here, pseudonormals right.
    let (topology, positions) = soup(&CORNER, &TETRAHEDRON);
    let made = make(&topology, &positions, cells(20));
    let d = made.compare(1);
    assert!(d.in_band < 1e-4 && d.wrong_signs == 0, "{d:?}");
    let view = made.buffers.view();
    for node in every_node(&view.shape, 1) {
        let p = view.shape.node_position(node);
        let sum: f32 = p.iter().sum();
        let inside = p.iter().all(|&c| c > 1e-3) && sum < 0.998;
        let outside = p.iter().any(|&c| c < -1e-3) || sum > 1.002;
        assert!(!inside || view.node(node) < 0.0, "{p:?} is inside");
        assert!(!outside || view.node(node) > 0.0, "{p:?} is outside");
    }
}

fn turned(mesh: &Mesh) -> Vec<[u32; 3]> {
    let triangles = mesh.topology.triangles().iter();
    triangles.map(|&[a, b, c]| [a, c, b]).collect()
}

/// The closed form of a sphere, whichever way its triangles face and however often they are there.
#[test]
fn inside_out_and_double_sided_meshes_are_the_same_solid() {
    let sphere = meshes::sphere(48, 96);
    let count = sphere.positions.len() as u32;
    let plain = sphere.topology.triangles();
    let both: Vec<[u32; 3]> = plain.iter().copied().chain(turned(&sphere)).collect();
    // The other way round, and pair by pair.
    let mixed: Vec<[u32; 3]> = turned(&sphere)
        .into_iter()
        .zip(plain)
        .flat_map(|(back, front)| [back, *front])
        .collect();
    // (triangles, is turned, doubled)
    let cases = [
        (turned(&sphere), true, 0),
        (both, false, plain.len()),
        (mixed, true, plain.len()),
    ];
    for (triangles, is_turned, doubled) in cases {
        let topology = Topology::new(count, triangles).expect("in range");
        for sign in [SignMethod::Pseudonormals, SignMethod::WindingNumber] {
            let settings = SdfSettings { sign, ..cells(32) };
            let made = make(&topology, &sphere.positions, settings);
            let report = made.bind.report();
            assert!(report.is_closed(), "{report:?}");
            assert_eq!(
                (report.is_turned, report.doubled_triangles),
                (is_turned, doubled)
            );
            let off = against(&made, |p| length(p) - 1.0, 1000.0);
            assert!(off < 5.0, "{sign:?}: {off} cells");
            let near = against(&made, |p| length(p) - 1.0, 3.0);
            assert!(near < 0.05, "{sign:?}: {near} cells");
        }
    }
}

/// Of a double-sided sheet one side counts. A sheet that is there twice with the same side is left as it is.
#[test]
fn sheets_with_two_sides_keep_one() {
    let grid = meshes::grid(6, 6);
    let count = grid.positions.len() as u32;
    let plain = grid.topology.triangles();
    let both: Vec<[u32; 3]> = plain.iter().copied().chain(turned(&grid)).collect();
    let twice: Vec<[u32; 3]> = plain.iter().chain(plain).copied().collect();
    for (triangles, doubled) in [(both, plain.len()), (twice, 0), (turned(&grid), 0)] {
        let topology = Topology::new(count, triangles).expect("in range");
        let report = make(&topology, &grid.positions, cells(16)).bind.report();
        assert_eq!(
            (report.doubled_triangles, report.is_turned),
            (doubled, false)
        );
        assert!(!report.is_closed());
    }
}

#[test]
fn degenerate_triangles_change_nothing() {
    let (plain, positions) = soup(&CORNER, &TETRAHEDRON);
    let mut points = positions.clone();
    // On an edge, and a repeated corner.
    points.push([0.5, 0.0, 0.0]);
    points.push([1.0, 0.0, 0.0]);
    points.push([9.0, 9.0, 9.0]);
    let mut triangles = TETRAHEDRON.to_vec();
    triangles.extend([[0, 1, 1], [1, 5, 2], [0, 0, 0], [2, 3, 2]]);
    let (topology, points) = (Topology::new(7, triangles).expect("in range"), points);
    let fixed = SdfSettings {
        resolution: Resolution::CellSize(0.05),
        field_box: FieldBox::Fixed {
            low: [0.0; 3],
            high: [1.0; 3],
        },
        ..SdfSettings::default()
    };
    let made = make(&topology, &points, fixed);
    assert_eq!(made.bind.report().collapsed_triangles, 4);
    assert!(made.bind.report().is_closed(), "{:?}", made.bind.report());
    let other = make(&plain, &positions, fixed);
    let (a, b) = (made.buffers.view(), other.buffers.view());
    for node in every_node(&a.shape, 1) {
        let (x, y) = (a.node(node), b.node(node));
        // Outside the band another triangle may stand for the nearest.
        let limit = if x.abs() < 0.15 { 1e-3 } else { 0.3 };
        assert!((x - y).abs() < limit * a.shape.cell, "{node:?} {x} {y}");
    }
}

#[test]
fn needle_between_faces_keeps_signs() {
    // Corner 4 lies on edge 0-1; the face below was split there, the face behind was not; a needle closes the gap.
    let mut points = CORNER.to_vec();
    points.push([0.5, 0.0, 0.0]);
    let triangles = [
        [0, 2, 4],
        [4, 2, 1],
        [0, 1, 3],
        [0, 4, 1],
        [0, 3, 2],
        [1, 2, 3],
    ];
    let (topology, points) = soup(&points, &triangles);
    let made = make(&topology, &points, cells(20));
    assert!(made.bind.report().is_closed(), "{:?}", made.bind.report());
    let view = made.buffers.view();
    for node in every_node(&view.shape, 1) {
        let p = view.shape.node_position(node);
        let sum: f32 = p.iter().sum();
        let outside = p.iter().any(|&c| c < -1e-3) || sum > 1.002;
        let inside = p.iter().all(|&c| c > 1e-3) && sum < 0.998;
        assert!(!outside || view.node(node) > 0.0, "{p:?} is outside");
        assert!(!inside || view.node(node) < 0.0, "{p:?} is inside");
    }
}

#[test]
fn duplicates_and_flat_meshes_are_harmless() {
    let mut twice = TETRAHEDRON.to_vec();
    twice.extend(TETRAHEDRON);
    let (topology, positions) = soup(&CORNER, &twice);
    let made = make(&topology, &positions, cells(16));
    assert!(made.bind.report().non_manifold_edges == 6);
    assert_eq!(made.compare(1).wrong_signs, 0);
    // Both sides of one triangle: nothing is inside.
    let (topology, positions) = soup(&CORNER[..3], &[[0, 1, 2], [0, 2, 1]]);
    let made = make(&topology, &positions, cells(16));
    let view = made.buffers.view();
    let d = made.compare(1);
    assert!(d.in_band < 1e-4, "{d:?}");
    assert!(every_node(&view.shape, 1).all(|n| view.node(n).is_finite()));
    let flat = meshes::grid(6, 6);
    let d = make_mesh(&flat, cells(12)).compare(1);
    assert!(d.in_band < 1e-4 && d.wrong_signs == 0, "{d:?}");
}

#[test]
fn far_from_the_origin_is_as_good() {
    let mut mesh = meshes::sphere(24, 48);
    for p in &mut mesh.positions {
        *p = [p[0] + 800.0, p[1] - 300.0, p[2] + 50.0];
    }
    let made = make_mesh(&mesh, cells(24));
    let d = made.compare(7);
    // Positions have lost 10 bits; so has the origin.
    assert!(d.in_band < 2e-3 && d.wrong_signs == 0, "{d:?}");
}

#[test]
fn broken_vertices_are_left_out() {
    let mesh = meshes::sphere(24, 48);
    let mut made = make_mesh(&mesh, cells(24));
    let mut positions = mesh.positions.clone();
    positions[100] = [f32::NAN, 0.0, 0.0];
    positions[101] = [f32::INFINITY, 0.0, 0.0];
    let (bind, frame) = (&made.bind, FieldFrame::default());
    let report = made.buffers.build(bind, &positions, &frame, Par::Seq);
    assert_eq!(report.vertices_not_finite, 2);
    let view = made.buffers.view();
    assert!(every_node(&view.shape, 1).all(|n| view.node(n).is_finite()));
    assert!(view.sample([0.0; 3]) < -0.5 && view.sample([1.2, 0.0, 0.0]) > 0.1);
    // Nothing at all.
    let report = made.buffers.build(bind, &[], &frame, Par::Seq);
    assert_eq!(report.vertices_not_finite, mesh.positions.len());
    assert!(made.buffers.view().sample([0.0; 3]) > 0.0);
}

#[test]
fn moving_meshes_are_followed() {
    let mesh = meshes::sphere(24, 48);
    let mut made = make_mesh(&mesh, cells(24));
    for frame in 1..5 {
        let t = frame as f32 * 0.3;
        let moved = mesh.positions.iter();
        let moved: Vec<_> = moved
            .map(|p| {
                [
                    p[0] * (1.0 + 0.3 * t) + t,
                    p[1] * (1.0 - 0.1 * t),
                    p[2] + 0.2 * p[0] * t,
                ]
            })
            .collect();
        let (bind, still) = (&made.bind, FieldFrame::default());
        let report = made.buffers.build(bind, &moved, &still, Par::Seq);
        assert_eq!(report.bricks_left_out, 0);
        made.positions = moved;
        let d = made.compare(13);
        assert!(d.in_band < 1e-4 && d.wrong_signs == 0, "{d:?}");
    }
}

#[test]
fn what_outgrows_its_room_is_reported() {
    let mesh = meshes::sphere(24, 48);
    let settings = SdfSettings {
        spare_bricks: 1.0,
        ..cells(30)
    };
    let mut made = make_mesh(&mesh, settings);
    assert_eq!(made.report.bricks_left_out, 0);
    for factor in [1.4_f32, 4.0] {
        let grown: Vec<_> = mesh
            .positions
            .iter()
            .map(|p| p.map(|c| c * factor))
            .collect();
        let (bind, still) = (&made.bind, FieldFrame::default());
        let report = made.buffers.build(bind, &grown, &still, Par::Seq);
        assert!(
            report.bricks_left_out > 0 || report.cells_enlarged,
            "{report:?}"
        );
        let view = made.buffers.view();
        let coarse = 7.0 * view.shape.cell;
        for node in every_node(&view.shape, 11) {
            let p = view.shape.node_position(node);
            let d = length(p) - factor;
            // Where the coarse level stands in, it is off by less than its own cell.
            assert!(view.is_exact(node) || (view.node(node) - d).abs() < coarse);
        }
    }
}

#[test]
fn impossible_settings_are_refused() {
    let mesh = meshes::sphere(6, 12);
    let refused = |settings: SdfSettings| {
        let frame = FieldFrame::default();
        let bind = SdfBind::new(&mesh.topology, &mesh.positions, &frame, settings);
        bind.expect_err("refused").to_string()
    };
    let base = SdfSettings::default();
    let cell = |c: f32| SdfSettings {
        resolution: Resolution::CellSize(c),
        ..base
    };
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(refused(cell(bad)).starts_with("cell size is"), "{bad}");
    }
    assert!(refused(cells(0)).contains("cells along the axis"));
    assert!(
        refused(SdfSettings {
            band_cells: 0.5,
            ..base
        })
        .contains("band_cells is 0.5")
    );
    assert!(
        refused(SdfSettings {
            padding_cells: -1.0,
            ..base
        })
        .contains("padding_cells")
    );
    let field_box = FieldBox::Fixed {
        low: [0.0, 2.0, 0.0],
        high: [1.0; 3],
    };
    assert!(
        refused(SdfSettings { field_box, ..base }).contains("low 2 above its high 1 on axis 1")
    );
    assert!(refused(cell(1e-6)).contains("are allowed"));
    assert!(
        refused(SdfSettings {
            max_bytes: 10,
            ..base
        })
        .contains("10 are allowed")
    );
    let frame = FieldFrame::default();
    let empty = Topology::new(3, Vec::new()).expect("valid");
    let none = SdfBind::new(&empty, &[[0.0; 3]; 3], &frame, base);
    assert_eq!(none.err(), Some(SdfError::EmptyMesh));
    let short = SdfBind::new(&mesh.topology, &[[0.0; 3]], &frame, base);
    assert!(matches!(
        short,
        Err(SdfError::PositionCount { found: 1, .. })
    ));
    let point = SdfBind::new(
        &mesh.topology,
        &vec![[1.0; 3]; mesh.positions.len()],
        &frame,
        base,
    );
    assert_eq!(point.err(), Some(SdfError::NoExtent));
}
