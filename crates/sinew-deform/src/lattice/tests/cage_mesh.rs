//! Control points that follow a mesh.

use super::*;
use crate::{
    BindInput, BindWarnings, InputValue, Inputs, OutputValue, Outputs, ParameterValue, Parameters,
    ReadLog,
};
use sinew_geom::{Mesh, Real, Topology};

fn mesh_of(points: Vec<[f32; 3]>) -> Mesh {
    let topology = Topology::new(points.len() as u32, Vec::new()).expect("no triangles");
    Mesh::new("cage", topology, points)
}

/// Rest positions of all control points in the scene, in the lattice's order, and whether each is inside.
fn grid(resolution: [usize; 3], size: [f64; 3]) -> Vec<([f32; 3], bool)> {
    let [nx, ny, nz] = resolution;
    let mut out = Vec::new();
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                let index = [i, j, k];
                let along = |a: usize| match resolution[a] {
                    1 => 0.0,
                    n => size[a] * (index[a] as f64 / (n - 1) as f64 - 0.5),
                };
                let p = box_transform().point(Vec3::from_fn(|a, _| along(a)));
                let inside = (0..3).all(|a| index[a] > 0 && index[a] + 1 < resolution[a]);
                out.push((f64::array3(p), inside));
            }
        }
    }
    out
}

fn values(set: &[(&str, ParameterValue)]) -> Vec<ParameterValue> {
    let value = |d: &ParameterDesc| {
        let given = set.iter().find(|(name, _)| *name == d.name);
        given.map_or_else(|| d.default_value(), |(_, v)| v.clone())
    };
    DESC.parameters.iter().map(value).collect()
}

fn settings(
    resolution: [usize; 3],
    more: &[(&'static str, ParameterValue)],
) -> Vec<ParameterValue> {
    let mut set = vec![
        (
            "resolution",
            ParameterValue::Int3(resolution.map(|n| n as i64)),
        ),
        ("rest_transform", ParameterValue::Transform(box_transform())),
        ("size", ParameterValue::Vec3([0.7, 0.7, 0.7])),
    ];
    set.retain(|(name, _)| more.iter().all(|(other, _)| name != other));
    set.extend(more.iter().cloned());
    values(&set)
}

fn bind_node(
    mesh: &Mesh,
    cage: &Mesh,
    values: &[ParameterValue],
) -> Result<Box<dyn BoundNode>, NodeError> {
    let log = ReadLog::new();
    let bound = (DESC.bind)(&BindContext {
        inputs: &[
            Some(BindInput::Mesh(mesh)),
            None,
            Some(BindInput::Mesh(cage)),
        ],
        ports: DESC.inputs,
        parameters: Parameters {
            descs: DESC.parameters,
            values,
            log: &log,
        },
        fixed: &[],
        warnings: &BindWarnings::new(),
        par: Par::Seq,
        watch: crate::BindWatch::NONE,
    });
    log.check()?;
    bound
}

fn update(
    node: &dyn BoundNode,
    mesh: &Mesh,
    cage: &[[f32; 3]],
    values: &[ParameterValue],
) -> Vec<[f32; 3]> {
    let mut positions = vec![[0.0; 3]; mesh.positions.len()];
    let view = |positions| {
        Some(InputValue::Mesh(MeshView {
            positions,
            ..MeshView::default()
        }))
    };
    let mut scratch = node.new_scratch();
    let log = ReadLog::new();
    let output = OutputValue::Mesh(MeshViewMut {
        positions: Some(&mut positions),
        ..MeshViewMut::default()
    });
    node.update(UpdateContext {
        time_secs: 0.0,
        dt_secs: 0.0,
        is_first: true,
        reach: None,
        par: Par::Seq,
        parameters: Parameters {
            descs: DESC.parameters,
            values,
            log: &log,
        },
        inputs: Inputs {
            values: &[view(&mesh.positions), None, view(cage)],
            ports: DESC.inputs,
            log: &log,
        },
        outputs: Outputs {
            values: [Some(output), None].into_iter().collect(),
            ports: DESC.outputs,
            log: &log,
        },
        scratch: scratch.as_mut(),
    });
    log.check().expect("reads what it declares");
    positions
}

fn body() -> Mesh {
    mesh_of(points_in(60, 0.3, &box_transform()))
}

const WORLD: (&str, &str) = ("points_space", "world");

fn text((name, word): (&'static str, &str)) -> (&'static str, ParameterValue) {
    (name, ParameterValue::Text(word.into()))
}

/// In any order and with copies, vertices move the mesh as the same displacements in `points` do.
#[test]
fn vertices_are_control_points() {
    let resolution = [3, 2, 4];
    let size = [0.9, 0.8, 1.1];
    let rest: Vec<[f32; 3]> = grid(resolution, size).iter().map(|(p, _)| *p).collect();
    let mut numbers = Numbers(5);
    let offsets: Vec<[f64; 3]> = rest.iter().map(|_| numbers.point(0.1)).collect();
    // Backwards, and the first ones again.
    let order: Vec<usize> = (0..rest.len()).rev().chain(0..4).collect();
    let cage = mesh_of(order.iter().map(|i| rest[*i]).collect());
    let moved: Vec<[f32; 3]> = (order.iter())
        .map(|i| [0, 1, 2].map(|c| (f64::from(rest[*i][c]) + offsets[*i][c]) as f32))
        .collect();
    let mesh = body();
    for word in ["bernstein", "catmull_rom", "cell_eased"] {
        let interpolation = text(("interpolation", word));
        let followed = settings(resolution, std::slice::from_ref(&interpolation));
        let node = bind_node(&mesh, &cage, &followed).expect("binds");
        let still = update(node.as_ref(), &mesh, &cage.positions, &followed);
        assert_eq!(still, mesh.positions, "{word} at rest");
        let found = update(node.as_ref(), &mesh, &moved, &followed);
        let given = settings(
            resolution,
            &[
                interpolation,
                ("size", ParameterValue::Vec3(size)),
                text(WORLD),
                text(("points_are", "offsets")),
                ("points", ParameterValue::Points(offsets.clone())),
            ],
        );
        let expected = {
            let bind = bind_without_cage(&mesh, &given);
            update(bind.as_ref(), &mesh, &[], &given)
        };
        for (a, b) in found.iter().zip(&expected) {
            assert!(distance(wide(*a), *b) < 2e-6, "{word}: {a:?} {b:?}");
        }
    }
}

fn bind_without_cage(mesh: &Mesh, values: &[ParameterValue]) -> Box<dyn BoundNode> {
    let log = ReadLog::new();
    let context = BindContext {
        inputs: &[Some(BindInput::Mesh(mesh)), None, None],
        ports: DESC.inputs,
        parameters: Parameters {
            descs: DESC.parameters,
            values,
            log: &log,
        },
        fixed: &[],
        warnings: &BindWarnings::new(),
        par: Par::Seq,
        watch: crate::BindWatch::NONE,
    };
    (DESC.bind)(&context).expect("binds")
}

/// Control points inside follow those on the faces: affine maps of the cage are exact with and without vertices inside.
#[test]
fn affine_maps_of_the_outer_vertices_are_exact() {
    let map = Affine {
        linear: Mat3::new(1.1, 0.2, 0.0, -0.1, 0.9, 0.3, 0.05, 0.0, 1.2),
        translation: Vec3::new(0.3, -0.2, 0.1),
    };
    let resolution = [4, 3, 5];
    let mesh = body();
    for keeps_inner in [true, false] {
        let points = grid(resolution, [0.9, 0.8, 1.1]).into_iter();
        let points = points.filter(|(_, inside)| keeps_inner || !inside);
        let cage = mesh_of(points.map(|(p, _)| p).collect());
        let moved: Vec<[f32; 3]> = (cage.positions.iter())
            .map(|p| f64::array3(map.point(wide(*p))))
            .collect();
        let values = settings(resolution, &[]);
        let node = bind_node(&mesh, &cage, &values).expect("binds");
        let found = update(node.as_ref(), &mesh, &moved, &values);
        for (p, q) in mesh.positions.iter().zip(&found) {
            assert!(distance(map.point(wide(*p)), *q) < 2e-6, "{p:?} {q:?}");
        }
    }
}

/// A box that moves takes a cage of the bind pose along. A cage in the scene has to move by itself.
#[test]
fn a_moving_box_carries_the_cage_or_not() {
    let motion = Affine::from_trs(
        Vec3::new(2.0, 1.0, -0.5),
        sinew_geom::Quat::from_euler_angles(0.3, -0.8, 1.1),
        Vec3::repeat(1.0),
    );
    let resolution = [2, 2, 2];
    let rest: Vec<[f32; 3]> = grid(resolution, [1.0; 3]).iter().map(|(p, _)| *p).collect();
    let mut numbers = Numbers(9);
    let shaken: Vec<[f32; 3]> = (rest.iter())
        .map(|p| {
            let d = numbers.point(0.1);
            [0, 1, 2].map(|c| p[c] + d[c] as f32)
        })
        .collect();
    let carry = |points: &[[f32; 3]]| -> Vec<[f32; 3]> {
        points
            .iter()
            .map(|p| f64::array3(motion.point(wide(*p))))
            .collect()
    };
    let mesh = body();
    let mut moved_mesh = mesh.clone();
    moved_mesh.positions = carry(&mesh.positions);
    let cage = mesh_of(rest);
    let at_rest = settings(resolution, &[]);
    let node = bind_node(&mesh, &cage, &at_rest).expect("binds");
    let expected = carry(&update(node.as_ref(), &mesh, &shaken, &at_rest));
    for (space, cage_now) in [("local", shaken.clone()), ("world", carry(&shaken))] {
        let space = text(("points_space", space));
        let at_rest = settings(resolution, std::slice::from_ref(&space));
        let there = (
            "rest_transform",
            ParameterValue::Transform(motion * box_transform()),
        );
        let now = settings(resolution, &[space, there]);
        let node = bind_node(&mesh, &cage, &at_rest).expect("binds");
        let found = update(node.as_ref(), &moved_mesh, &cage_now, &now);
        for (a, b) in found.iter().zip(&expected) {
            assert!(distance(wide(*a), *b) < 2e-6, "{a:?} {b:?}");
        }
    }
}

#[test]
fn cages_that_do_not_fit_are_refused() {
    let resolution = [3, 2, 2];
    let points: Vec<[f32; 3]> = grid(resolution, [1.0; 3]).iter().map(|(p, _)| *p).collect();
    let refused = |points: Vec<[f32; 3]>, values: &[ParameterValue]| {
        let found = bind_node(&body(), &mesh_of(points), values);
        found.expect_err("refused").to_string()
    };
    let values = settings(resolution, &[]);
    let mut off = points.clone();
    let middle = (wide(off[1]) + (wide(off[2]) - wide(off[1])) * 0.2).map(|c| c as f32);
    off[1] = middle.into();
    let message = refused(off, &values);
    for part in [
        "vertex 1 of the cage",
        "1.200 cells along x",
        "resolution [3, 2, 2]",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let mut missing = points.clone();
    missing.remove(4);
    let message = refused(missing, &values);
    assert!(message.contains("control point [1, 1, 0]"), "{message}");
    let message = refused(vec![points[0]; 12], &values);
    assert!(message.contains("the size of the box"), "{message}");
    assert!(refused(Vec::new(), &values).contains("the size of the box"));
    assert!(bind_node(&body(), &mesh_of(vec![[f32::NAN; 3]; 12]), &values).is_err());
    let points_too = ("points", ParameterValue::Points(vec![[0.0; 3]; 12]));
    let both = settings(resolution, &[points_too]);
    let message = refused(points.clone(), &both);
    assert!(message.contains("remove one of the two"), "{message}");
    // The same in a later frame.
    let node = bind_node(&body(), &mesh_of(points), &values).expect("binds");
    let later = ParameterValue::Points(vec![[0.0; 3]; 12]);
    assert!(node.check_value("points", &later).is_err());
}
