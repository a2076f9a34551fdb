use super::*;
use sinew_geom::{Influences, Joint, LocalTransform, Node, Quat, Topology, Trs};

fn node(parent: Option<usize>, translation: [f64; 3]) -> Node {
    Node {
        name: String::new(),
        parent,
        local: LocalTransform::Trs(Trs {
            translation: translation.into(),
            ..Trs::default()
        }),
        morph_weights: Vec::new(),
        morph_offset: 0,
    }
}

fn joint(node: usize) -> Joint {
    Joint {
        node,
        joint_from_bind: Affine::identity(),
    }
}

/// A hip with two children, one of them below a node that is no joint, and a mesh's node.
fn rig() -> Rig {
    let nodes = vec![
        node(None, [0.0, 1.0, 0.0]),
        node(Some(0), [0.0, 1.0, 0.0]),
        node(Some(0), [0.5, 0.0, 0.0]),
        node(Some(2), [0.5, 0.0, 0.0]),
        node(None, [9.0, 0.0, 0.0]),
    ];
    let joints = [0, 1, 3, 4].map(joint).to_vec();
    Rig::new(nodes, joints).expect("a tree")
}

fn bound(rows: &[&[(u32, f32)]], joints: usize) -> Mesh {
    let count = rows.len();
    let topology = Topology::new(count as u32, Vec::new()).expect("no triangles");
    let influences = Influences::from_rows(rows.iter().copied(), joints, 0);
    Mesh {
        influences: Some(influences.expect("joints that are there").0),
        ..Mesh::new("m", topology, vec![[0.0; 3]; count])
    }
}

#[test]
fn joints_of_skins_are_skeletal_and_those_of_lone_meshes_are_not() {
    let skinned = bound(&[&[(0, 0.5), (1, 0.5)], &[(1, 1.0)]], 4);
    let rigid = bound(&[&[(3, 1.0)], &[(3, 1.0)]], 4);
    let rig = rig();
    let both = [skinned.clone(), rigid.clone()];
    assert_eq!(
        skeletal_nodes(&rig, &both),
        [0, 1, 3],
        "node 4 carries a mesh"
    );
    assert_eq!(skeletal_nodes(&rig, &[rigid.clone(), skinned]), [0, 1, 3]);
    assert_eq!(
        skeletal_nodes(&rig, &[]),
        [0, 1, 3, 4],
        "no mesh says otherwise"
    );
    // A skinned mesh that follows one joint in the midst of its skin.
    let hat = bound(&[&[(1, 1.0)]], 4);
    assert_eq!(skeletal_nodes(&rig, &[hat, rigid]), [0, 1, 3]);
}

#[test]
fn only_meshes_without_skins_have_no_skeleton() {
    let nodes = vec![node(None, [0.0; 3]), node(Some(0), [1.0; 3])];
    let rig = Rig::new(nodes, [0, 1].map(joint).to_vec()).expect("a tree");
    let meshes = [bound(&[&[(0, 1.0)]], 2), bound(&[&[(1, 1.0)]], 2)];
    assert!(skeletal_nodes(&rig, &meshes).is_empty());
    let nothing = Skeleton::new(&rig, Vec::new());
    assert_eq!(nothing.mesh(&rig.rest_pose()).vertex_count(), 0);
}

#[test]
fn a_node_of_a_skin_and_of_a_mesh_stays() {
    // The palette names node 1 twice: for the skin and for the mesh that hangs on it.
    let nodes = vec![node(None, [0.0; 3]), node(Some(0), [1.0; 3])];
    let rig = Rig::new(nodes, [0, 1, 1].map(joint).to_vec()).expect("a tree");
    let meshes = [bound(&[&[(0, 0.5), (1, 0.5)]], 3), bound(&[&[(2, 1.0)]], 3)];
    assert_eq!(skeletal_nodes(&rig, &meshes), [0, 1]);
}

fn corners(mesh: &Mesh, shape: usize) -> Vec<[f32; 3]> {
    mesh.positions[shape * OCTAHEDRON..(shape + 1) * OCTAHEDRON].to_vec()
}

fn has(corners: &[[f32; 3]], place: [f32; 3]) -> bool {
    let near = |p: &[f32; 3]| (0..3).all(|c| (p[c] - place[c]).abs() < 1e-5);
    corners.iter().any(near)
}

#[test]
fn bones_lead_from_joint_to_joint_and_on_from_the_last() {
    let rig = rig();
    // Out of order, twice, and one that is not there.
    let skeleton = Skeleton::new(&rig, vec![3, 0, 1, 1, 77]);
    assert_eq!(skeleton.nodes(), [0, 1, 3]);
    let mesh = skeleton.mesh(&rig.rest_pose());
    mesh.check().expect("one of everything a vertex");
    // Two bones, two stubs, three joints.
    assert_eq!(mesh.vertex_count(), 7 * OCTAHEDRON);
    assert_eq!(skeleton.vertex_count(), mesh.vertex_count());
    let ends = [
        ([0.0, 1.0, 0.0], [0.0, 2.0, 0.0]),
        ([0.0, 2.0, 0.0], [0.0, 2.45, 0.0]),
        // Past the node that is no joint.
        ([0.0, 1.0, 0.0], [1.0, 1.0, 0.0]),
        ([1.0, 1.0, 0.0], [1.45, 1.0, 0.0]),
    ];
    for (bone, (from, to)) in ends.into_iter().enumerate() {
        let corners = corners(&mesh, bone);
        assert!(
            has(&corners, from) && has(&corners, to),
            "bone {bone}: {corners:?}"
        );
    }
    let colors = &mesh.colors[0];
    assert!(
        colors[..4 * OCTAHEDRON]
            .iter()
            .all(|c| *c == Skeleton::BONE_COLOR)
    );
    assert!(
        colors[4 * OCTAHEDRON..]
            .iter()
            .all(|c| *c == Skeleton::JOINT_COLOR)
    );
}

/// Six times the volume between the middle of a shape and one of its faces, the least of all; positive where all look outwards.
fn least_volume(mesh: &Mesh, shape: usize) -> f64 {
    let corners: Vec<Point> = corners(mesh, shape)
        .into_iter()
        .map(|p| Point::from(p.map(f64::from)))
        .collect();
    let middle = corners.iter().sum::<Point>() / corners.len() as f64;
    let part = |t: &[Point]| (t[0] - middle).dot(&(t[1] - middle).cross(&(t[2] - middle)));
    corners.chunks(3).map(part).fold(f64::INFINITY, f64::min)
}

#[test]
fn shapes_are_closed_look_outwards_and_are_thick_near_the_parent() {
    let rig = rig();
    let skeleton = Skeleton::new(&rig, vec![0, 1, 3]);
    let mesh = skeleton.mesh(&rig.rest_pose());
    let normals = mesh.normals.as_ref().expect("flat shading");
    for shape in 0..7 {
        assert!(least_volume(&mesh, shape) > 1e-9, "shape {shape}");
    }
    for (t, corners) in mesh.positions.chunks(3).enumerate() {
        let [a, b, c] = [corners[0], corners[1], corners[2]].map(Vec3::from);
        let wound = (b - a).cross(&(c - a)).normalize();
        for normal in &normals[3 * t..3 * t + 3] {
            assert!((wound - Vec3::from(*normal)).norm() < 1e-4, "triangle {t}");
        }
    }
    // The first bone: one metre upwards from height 1.
    let aside: Vec<[f32; 3]> = corners(&mesh, 0)
        .into_iter()
        .filter(|p| p[0].hypot(p[2]) > 1e-4)
        .collect();
    assert!(
        aside.iter().all(|p| (p[1] - 1.12).abs() < 1e-4),
        "{aside:?}"
    );
    let size = 2.0_f64.sqrt();
    let width = aside[0][0].hypot(aside[0][2]);
    assert!((f64::from(width) - MOST * size).abs() < 1e-4, "{width}");
}

#[test]
fn short_bones_have_a_least_width_and_no_length_shrinks_to_a_point() {
    let nodes = vec![
        node(None, [0.0; 3]),
        node(Some(0), [0.0, 1.0, 0.0]),
        node(Some(1), [0.0, 0.02, 0.0]),
        node(Some(2), [0.0; 3]),
    ];
    let rig = Rig::new(nodes, Vec::new()).expect("a tree");
    let skeleton = Skeleton::new(&rig, (0..4).collect());
    let mesh = skeleton.mesh(&rig.rest_pose());
    let width = |shape: usize| {
        let wide = corners(&mesh, shape)
            .into_iter()
            .map(|p| p[0].abs().max(p[2].abs()));
        f64::from(wide.fold(0.0, f32::max))
    };
    assert!((width(1) - LEAST * 1.02).abs() < 1e-6, "{}", width(1));
    for empty in [2, 3] {
        let corners = corners(&mesh, empty);
        assert!(
            corners.iter().all(|p| *p == corners[0]),
            "shape {empty}: {corners:?}"
        );
    }
    assert!(mesh.positions.iter().flatten().all(|c| c.is_finite()));
    let unit = |n: &[f32; 3]| (n.iter().map(|c| c * c).sum::<f32>() - 1.0).abs() < 1e-5;
    assert!(mesh.normals.iter().flatten().all(unit));
}

#[test]
fn shapes_follow_the_pose_and_turn_with_it() {
    let rig = rig();
    let skeleton = Skeleton::new(&rig, vec![0, 1, 3]);
    let rest = skeleton.mesh(&rig.rest_pose());
    let mut pose = rig.rest_pose();
    let turn = Affine::from_trs(
        Point::new(0.3, -0.2, 5.0),
        Quat::from_euler_angles(0.4, 1.9, -0.7),
        Point::repeat(1.0),
    );
    for node in &mut pose.scene_from_node {
        *node = turn * *node;
    }
    let (mut positions, mut normals) = (Vec::new(), Vec::new());
    skeleton.positions_into(&pose, &mut positions, &mut normals);
    for (bone, range) in (0..4).map(|b| (b, b * OCTAHEDRON..(b + 1) * OCTAHEDRON)) {
        for v in range {
            let expected = turn.point(Point::from(rest.positions[v].map(f64::from)));
            let found = Point::from(positions[v].map(f64::from));
            assert!((expected - found).norm() < 1e-5, "bone {bone}, vertex {v}");
        }
    }
    let again = skeleton.mesh(&pose);
    assert_eq!(
        (&again.positions, again.normals.as_ref()),
        (&positions, Some(&normals))
    );
    assert_eq!(
        Skeleton::new(&rig, vec![0, 1, 3]),
        skeleton,
        "the same each time"
    );
}

#[test]
fn odd_poses_do_not_panic() {
    let rig = rig();
    let skeleton = Skeleton::new(&rig, vec![0, 1, 3]);
    let mut pose = rig.rest_pose();
    pose.scene_from_node[1].translation.x = f64::NAN;
    pose.scene_from_node[3].linear.fill(0.0);
    assert_eq!(skeleton.mesh(&pose).vertex_count(), skeleton.vertex_count());
    assert_eq!(
        skeleton.mesh(&Pose::default()).vertex_count(),
        skeleton.vertex_count()
    );
    let flat = Node {
        local: LocalTransform::Matrix(Affine {
            linear: sinew_geom::Mat3::zeros(),
            ..Affine::identity()
        }),
        ..node(None, [0.0; 3])
    };
    let rig = Rig::new(vec![flat], Vec::new()).expect("a tree");
    let mesh = Skeleton::new(&rig, vec![0]).mesh(&rig.rest_pose());
    assert!(mesh.positions.iter().flatten().all(|c| c.is_finite()));
}
