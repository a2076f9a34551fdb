use super::super::hidden::HiddenSettings;
use super::super::relax::RelaxSettings;
use super::super::simplify::SimplifySettings;
use super::super::testing::mesh;
use super::super::touching::{Plane, TouchingSettings};
use super::{PrepareSettings, run};
use proptest::prelude::*;
use sinew_geom::{Mesh, Strands, Topology};

fn everything(target_faces: usize, hard_edge_angle: Option<f32>) -> PrepareSettings {
    let relax = RelaxSettings {
        iterations: 2,
        ..Default::default()
    };
    PrepareSettings {
        hidden: Some(HiddenSettings {
            directions: 6,
            resolution: 24,
        }),
        touching: Some(TouchingSettings {
            planes: vec![Plane {
                point: [0.0, -3.0, 0.0],
                normal: [0.0, 1.0, 0.0],
            }],
            ..Default::default()
        }),
        relax_before: Some(relax.clone()),
        simplify: Some(SimplifySettings {
            target_faces,
            hard_edge_angle,
        }),
        relax_after: Some(relax),
    }
}

/// Coordinates that coincide often, and some that are no numbers or next to infinite.
fn coordinate() -> impl Strategy<Value = f32> {
    prop_oneof![
        60 => (-3_i8..=3).prop_map(f32::from),
        20 => -1.0_f32..1.0,
        1 => Just(f32::NAN),
        1 => Just(f32::INFINITY),
        1 => Just(3e38_f32),
        1 => Just(1e-42_f32),
        1 => Just(-0.0_f32),
    ]
}

fn soup() -> impl Strategy<Value = Mesh> {
    let points = prop::collection::vec(prop::array::uniform3(coordinate()), 1..60);
    points.prop_flat_map(|points| {
        let vertex = 0..points.len() as u32;
        let triangles = prop::collection::vec(prop::array::uniform3(vertex), 0..160);
        let dressed = prop::bool::ANY;
        (Just(points), triangles, dressed).prop_map(|(points, triangles, dressed)| {
            let mut soup = mesh(points, triangles);
            if dressed {
                let n = soup.vertex_count();
                soup.normals = Some(vec![[0.0, 1.0, 0.0]; n]);
                soup.uvs = vec![(0..n).map(|v| [(v % 3) as f32, 0.0]).collect()];
            }
            soup
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(250) })]
    #[test]
    fn any_soup_comes_out_whole(soup in soup(), target in 1_usize..60, hard in prop::bool::ANY) {
        // `run` checks the attributes, `Topology` the indices.
        let (out, report) = run(&soup, &everything(target, hard.then_some(0.5)));
        let faces = out.topology.triangles().len();
        prop_assert!(faces <= target, "{faces} of {target}");
        prop_assert_eq!(faces, report.faces_after);
        let corners = out.topology.triangles().iter().flatten();
        let finite = |v: &u32| out.positions[*v as usize].iter().all(|c| c.is_finite());
        prop_assert!(corners.clone().all(finite), "finite");
    }
}

#[test]
fn nothing_points_and_strands_are_left_alone() {
    let strands = Strands::new([2]);
    let meshes = [
        Mesh::default(),
        mesh(vec![[f32::NAN; 3], [0.0; 3], [1.0; 3]], vec![]),
        strands.map_or_else(
            |_| Mesh::default(),
            |s| {
                let topology = Topology::from_strands(s);
                Mesh::new("hair", topology, vec![[0.0; 3], [1.0; 3]])
            },
        ),
    ];
    for mesh in meshes {
        let (out, report) = run(&mesh, &everything(5, Some(0.5)));
        assert_eq!(out.topology, mesh.topology);
        assert_eq!(out.positions.len(), mesh.positions.len());
        assert_eq!(report.faces_after, 0);
    }
}

#[test]
fn faces_that_are_not_finite_go_first() {
    let positions = vec![
        [0.0; 3],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [f32::INFINITY, 0.0, 0.0],
    ];
    let (out, report) = run(
        &mesh(positions, vec![[0, 1, 2], [0, 1, 3]]),
        &PrepareSettings::default(),
    );
    assert_eq!(
        (
            report.faces_not_finite,
            report.faces_after,
            out.vertex_count()
        ),
        (1, 1, 3)
    );
}
