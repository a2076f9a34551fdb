use super::test_support::{Kernel, Random, frame, run, skewed};
use super::*;
use crate::twist::Twist;
use crate::{MaskWeight, Par};
use sinew_geom::Vec3;

fn twist() -> Twist {
    Twist {
        angle: 2.0,
        start_angle: 0.3,
        profile: Profile::Smooth,
        region: Region::new(1.5, 0.0, 0.1),
    }
}

struct Move(Placement, VertexIn<f64>);

impl MapVisitor<f64> for Move {
    type Output = Moved<f64>;
    fn visit<M: LocalMap<f64>>(self, map: M) -> Moved<f64> {
        move_vertex::<f64, M, true, true>(&frame(&self.0), &map, self.1)
    }
}

/// Normals stay perpendicular to the moved surface and tangents along it, in a frame with shear and at any
/// weight: against differences of mapped surface points.
#[test]
fn defect_8_normals_are_normal_to_the_moved_surface() {
    let mut random = Random(1);
    for round in 0..300 {
        let mut vector = || {
            Vec3::new(
                random.within(-1.0, 1.0),
                random.within(-1.0, 1.0),
                random.within(-1.0, 1.0),
            )
        };
        let (p, normal) = (vector(), vector().normalize());
        let tangent = normal.cross(&vector()).normalize();
        let bitangent = normal.cross(&tangent);
        let weight = f64::from(round % 4 + 1) / 4.0;
        let at = |p: Vec3<f64>| {
            let vertex = VertexIn {
                position: p.into(),
                normal: normal.into(),
                tangent: tangent.into(),
                weight,
            };
            twist().with_map(Move(skewed(), vertex))
        };
        let h = 1e-5;
        let along = |d: Vec3<f64>| {
            let (a, b) = (at(p + d * h).position, at(p - d * h).position);
            (Vec3::from(a) - Vec3::from(b)) / (2.0 * h)
        };
        let (t, b) = (along(tangent), along(bitangent));
        let expected = t.cross(&b).normalize();
        let moved = at(p);
        let got = Vec3::from(moved.normal);
        assert!(
            (got - expected).norm() < 1e-6,
            "round {round}: {got} {expected}"
        );
        let got = Vec3::from(moved.tangent);
        assert!(
            (got - t.normalize()).norm() < 1e-6,
            "round {round}: {got} {t}"
        );
    }
}

#[test]
fn mask_and_weight_scale_the_displacement() {
    let mesh = sinew_testkit::meshes::sphere(9, 13);
    let count = mesh.positions.len();
    let full = run(
        twist(),
        skewed(),
        MaskWeight::ONE,
        &mesh,
        Kernel::Fast(Par::Seq),
    );
    let mask: Vec<f32> = (0..count).map(|v| (v % 5) as f32 / 4.0).collect();
    for invert in [false, true] {
        let weight = MaskWeight {
            mask: Some(&mask),
            invert,
            weight: 0.5,
        };
        let out = run(twist(), skewed(), weight, &mesh, Kernel::Fast(Par::Seq));
        for v in 0..count {
            let w = 0.5 * if invert { 1.0 - mask[v] } else { mask[v] };
            for c in 0..3 {
                let (from, to) = (mesh.positions[v][c], full.positions[v][c]);
                let expected = from + w * (to - from);
                assert!((out.positions[v][c] - expected).abs() < 1e-6, "vertex {v}");
            }
            if w == 0.0 {
                assert_eq!(out.positions[v], mesh.positions[v], "untouched");
                assert_eq!(Some(out.normals[v]), mesh.normals.as_ref().map(|n| n[v]));
            }
        }
    }
}

#[test]
fn missing_attributes_are_not_written() {
    let positions = [[0.1, 0.5, 0.2]];
    let (mut p, mut n, mut t) = ([[9.0; 3]], [[9.0; 3]], [[9.0; 4]]);
    for tangents in [None, Some(&[[1.0, 0.0, 0.0, 1.0]][..])] {
        LocalJob {
            deformer: twist(),
            placement: Placement::default(),
            weight: MaskWeight::ONE,
            input: crate::MeshView {
                positions: &positions,
                tangents,
                ..Default::default()
            },
            output: crate::MeshViewMut {
                positions: Some(&mut p),
                normals: Some(&mut n),
                tangents: Some(&mut t),
                colors: None,
            },
            par: Par::Seq,
        }
        .run();
        assert!(p[0] != [9.0; 3] && n[0] == [9.0; 3], "{p:?} {n:?}");
        assert_eq!(t[0] == [9.0; 4], tangents.is_none(), "{t:?}");
    }
    let length: f32 = t[0][..3].iter().map(|c| c * c).sum();
    assert!(
        (length - 1.0).abs() < 1e-6,
        "a tangent without normal is a unit vector: {t:?}"
    );
}

#[test]
fn region_keeps_its_order() {
    let r = Region::new(2.0, 0.25, 0.25);
    assert_eq!((r.low, r.high), (0.5, 1.5));
    for (bottom, top) in [(0.5, 0.5), (1.0, 1.0), (0.7, 0.9)] {
        let r = Region::new(2.0, bottom, top);
        assert!((r.high - r.low - 2e-4).abs() < 1e-12, "{r:?}");
    }
}
