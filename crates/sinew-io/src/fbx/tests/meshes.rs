//! Meshes, skins and blend shapes.

use super::file::{File, Record, Value, property, record, text};
use super::*;
use crate::gltf_write::packed_glb;
use crate::read_gltf_bytes;
use Value::{Numbers, Whole, Wholes};

/// A layer of attributes. `by` and `how` as in the file.
fn layer(kind: &str, by: &str, how: &str, lists: Vec<(&str, Value)>) -> Record {
    let mut of = vec![
        record("MappingInformationType", vec![text(by)], Vec::new()),
        record("ReferenceInformationType", vec![text(how)], Vec::new()),
    ];
    of.extend(
        lists
            .into_iter()
            .map(|(name, list)| record(name, vec![list], Vec::new())),
    );
    record(kind, vec![Whole(0)], of)
}

/// Two quads side by side, and a triangle on the second: points (x, y) of a grid.
const POINTS: [[f64; 3]; 7] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [2.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [1.0, 1.0, 0.0],
    [2.0, 1.0, 0.0],
    [1.5, 2.0, 0.0],
];
const CORNERS: [i32; 11] = [0, 1, 4, -4, 1, 2, 5, -5, 4, 5, -7];

#[test]
fn corners_with_equal_attributes_share_a_vertex_and_faces_stay() {
    let mut file = File::new();
    let node = file.node("a", "Mesh", 0, Vec::new());
    // The second quad has other texture coordinates at the edge that it shares with the first.
    let uvs = vec![
        0.0, 0.0, 0.25, 0.0, 0.25, 1.0, 0.0, 1.0, 0.75, 0.0, 1.0, 0.0, 1.0, 1.0, 0.75, 1.0,
    ];
    let indices = vec![0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 6];
    let normals = [0.0, 0.0, 2.0].repeat(11);
    file.mesh(
        node,
        &POINTS,
        &CORNERS,
        vec![
            layer(
                "LayerElementNormal",
                "ByPolygonVertex",
                "Direct",
                vec![("Normals", Numbers(normals))],
            ),
            layer(
                "LayerElementUV",
                "ByPolygonVertex",
                "IndexToDirect",
                vec![("UV", Numbers(uvs)), ("UVIndex", Wholes(indices))],
            ),
        ],
    );
    let asset = read(&file).asset;
    let mesh = &asset.meshes[0];
    // Points 1 and 4 are at the seam.
    assert_eq!((mesh.vertex_count(), mesh.point_count()), (9, 7));
    assert_eq!(&mesh.points[7..], [1, 4]);
    let polygons = mesh.topology.polygons().expect("quads stay");
    assert_eq!(polygons.len(), 3);
    assert_eq!(polygons.face(0), [0, 1, 4, 3]);
    assert_eq!(polygons.face(1), [7, 2, 5, 8]);
    assert_eq!(polygons.face(2), [8, 5, 6]);
    assert_eq!(mesh.normals.as_ref().expect("some")[8], [0.0, 0.0, 1.0]);
    // V points down.
    assert_eq!(mesh.uvs[0][3], [0.0, 0.0]);
    assert_eq!(mesh.uvs[0][7], [0.75, 1.0]);
    for (v, p) in mesh.positions.iter().enumerate() {
        assert_eq!(p.map(f64::from), POINTS[mesh.point_of(v as u32) as usize]);
    }
}

#[test]
fn faces_are_sorted_by_material_and_hidden_or_thin_ones_are_left_out() {
    let mut file = File::new();
    let node = file.node("a", "Mesh", 0, Vec::new());
    for name in ["red", "blue"] {
        let of = vec![record("Properties70", Vec::new(), Vec::new())];
        let material = file.object("Material", "Material", name, "", of);
        file.connect(material, node);
    }
    let mut corners = CORNERS.to_vec();
    corners.extend([0, -2]);
    file.mesh(
        node,
        &POINTS,
        &corners,
        vec![layer(
            "LayerElementMaterial",
            "ByPolygon",
            "IndexToDirect",
            vec![("Materials", Wholes(vec![1, 0, 1, 0]))],
        )],
    );
    let file = read(&file);
    let mesh = &file.asset.meshes[0];
    let parts: Vec<_> = mesh
        .parts
        .iter()
        .map(|p| (p.material, p.triangles.clone()))
        .collect();
    assert_eq!(parts, [(Some(0), 0..2), (Some(1), 2..5)]);
    let polygons = mesh.topology.polygons().expect("quads");
    assert_eq!(polygons.face(0), [1, 2, 5, 4]);
    assert_eq!(polygons.face(1), [0, 1, 4, 3]);
    assert!(mesh.is_flat(), "no normals, no smoothing");
    assert_eq!(codes(&file.asset), ["faces_skipped"]);
    let names: Vec<_> = file.document.json["materials"]
        .as_array()
        .expect("two")
        .iter()
        .map(|m| &m["name"])
        .collect();
    assert_eq!(names, ["red", "blue"]);
}

#[test]
fn smooth_faces_without_normals_get_some() {
    // Two triangles at a right angle. The normal of a smooth edge is between both.
    let points = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
    ];
    for smooth in [0, 1] {
        let mut file = File::new();
        let node = file.node("a", "Mesh", 0, Vec::new());
        file.mesh(
            node,
            &points,
            &[0, 1, -3, 1, 0, -4],
            vec![layer(
                "LayerElementSmoothing",
                "ByPolygon",
                "Direct",
                vec![("Smoothing", Wholes(vec![smooth; 2]))],
            )],
        );
        let asset = read(&file).asset;
        let mesh = &asset.meshes[0];
        assert_eq!(mesh.is_flat(), smooth == 0);
        if smooth == 1 {
            let n = mesh.normals.as_ref().expect("made")[0];
            let h = 0.5_f32.sqrt();
            assert!((n[1] - h).abs() < 1e-6 && (n[2] - h).abs() < 1e-6, "{n:?}");
        }
    }
}

#[test]
fn instances_are_meshes_of_their_own() {
    let mut file = File::new();
    let a = file.node("a", "Mesh", 0, Vec::new());
    let b = file.node(
        "b",
        "Mesh",
        0,
        vec![vector("Lcl Translation", [5.0, 0.0, 0.0])],
    );
    let shape = file.mesh(a, &TRIANGLE, &[0, 1, -3], Vec::new());
    file.connect(shape, b);
    let asset = read(&file).asset;
    let names: Vec<_> = asset.meshes.iter().map(Mesh::full_name).collect();
    assert_eq!(names, ["a (shape)", "b (shape)"]);
    assert_eq!(asset.meshes[1].positions[0], [5.0, 0.0, 0.0]);
}

fn matrix(m: &Affine<f64>) -> Value {
    let column = |k: usize| match k {
        3 => [m.translation.x, m.translation.y, m.translation.z, 1.0],
        k => [m.linear[(0, k)], m.linear[(1, k)], m.linear[(2, k)], 0.0],
    };
    Numbers((0..4).flat_map(column).collect())
}

/// A triangle with a skin of two bones. `mode` is the link mode of the clusters.
struct Skinned {
    file: File,
    /// Scene transform of the second bone at bind.
    bind: Affine<f64>,
}

/// The first bone has the pose of its bind. The second is bent in the file: its Lcl Rotation is 60 degrees about Z.
fn skinned(mode: Option<&str>, weights: [[f64; 2]; 3]) -> Skinned {
    let mut file = File::new();
    let mesh = file.node("body", "Mesh", 0, Vec::new());
    let shape = file.mesh(mesh, &TRIANGLE, &[0, 1, -3], Vec::new());
    let root = file.node("root", "LimbNode", 0, Vec::new());
    let tip = file.node(
        "tip",
        "LimbNode",
        root,
        vec![
            vector("Lcl Translation", [0.5, 0.0, 0.0]),
            vector("Lcl Rotation", [0.0, 0.0, 60.0]),
        ],
    );
    let bind = shift([0.5, 0.0, 0.0]) * linear(euler([0.0, 0.0, 10.0], "XYZ"));
    let skin = file.object(
        "Deformer",
        "Deformer",
        "",
        "Skin",
        vec![record("Version", vec![Whole(101)], Vec::new())],
    );
    file.connect(skin, shape);
    for (k, (bone, bind)) in [(root, Affine::identity()), (tip, bind)]
        .into_iter()
        .enumerate()
    {
        let mut of = vec![
            record("Indexes", vec![Wholes(vec![0, 1, 2])], Vec::new()),
            record(
                "Weights",
                vec![Numbers(weights.map(|w| w[k]).to_vec())],
                Vec::new(),
            ),
            record(
                "Transform",
                vec![matrix(&bind.inverse().expect("regular"))],
                Vec::new(),
            ),
            record("TransformLink", vec![matrix(&bind)], Vec::new()),
        ];
        of.extend(mode.map(|m| record("Mode", vec![text(m)], Vec::new())));
        let cluster = file.object("Deformer", "SubDeformer", "", "Cluster", of);
        file.connect(cluster, skin);
        file.connect(bone, cluster);
    }
    Skinned { file, bind }
}

#[test]
fn the_rest_pose_is_the_bind_pose_and_clips_keep_the_pose_of_the_file() {
    let weights = [[1.0, 0.0], [0.25, 0.75], [0.0, 1.0]];
    let Skinned { mut file, bind } = skinned(None, weights);
    let other = file.node("other", "Null", 0, Vec::new());
    let layer = file.take("take", Some((0.0, 1.0)));
    file.curves(
        layer,
        other,
        "Lcl Translation",
        4,
        &[("d|X", &[(0.0, 0.0), (1.0, 1.0)])],
    );
    let asset = read(&file).asset;
    assert!(codes(&asset).is_empty(), "{:?}", asset.warnings);
    assert_close(&placed(&asset, None, 0.0, "tip"), &bind, 1e-6, "rest");
    for (p, q) in TRIANGLE
        .iter()
        .zip(deformed(&asset, &asset.meshes[0], None, 0.0))
    {
        assert!((Vec3::from(*p) - q).norm() < 1e-6, "rest");
    }
    // The take has no curve of the bone, which keeps the pose of the file.
    let now = shift([0.5, 0.0, 0.0]) * linear(euler([0.0, 0.0, 60.0], "XYZ"));
    let moved = now * bind.inverse().expect("regular");
    let found = deformed(&asset, &asset.meshes[0], Some(&asset.clips[0]), 0.5);
    for ((p, w), q) in TRIANGLE.iter().zip(weights).zip(found) {
        let p = Vec3::from(*p);
        let expected = p * w[0] + moved.point(p) * w[1];
        assert!((expected - q).norm() < 1e-6, "{q:?}, expected {expected:?}");
    }
}

#[test]
fn link_modes_divide_by_the_sum_or_leave_the_rest_to_the_mesh() {
    // The second vertex has half of the weight, the third has none.
    let weights = [[0.0, 1.0], [0.0, 0.5], [0.0, 0.0]];
    for (mode, share) in [(None, 1.0), (Some("Total1"), 0.5), (Some("Additive"), 1.0)] {
        let Skinned { mut file, bind } = skinned(mode, weights);
        let layer = file.take("take", Some((0.0, 1.0)));
        file.curves(
            layer,
            file.objects.iter().map(|_| 0).sum::<i64>() + 1003,
            "Lcl Rotation",
            4,
            &[("d|Z", &[(0.0, 60.0), (1.0, 60.0)])],
        );
        let asset = read(&file).asset;
        let now = shift([0.5, 0.0, 0.0]) * linear(euler([0.0, 0.0, 60.0], "XYZ"));
        let moved = now * bind.inverse().expect("regular");
        let found = deformed(&asset, &asset.meshes[0], Some(&asset.clips[0]), 0.5);
        let p = Vec3::from(TRIANGLE[1]);
        let expected = p * (1.0 - share) + moved.point(p) * share;
        assert!(
            (expected - found[1]).norm() < 1e-6,
            "{mode:?}: {:?}, expected {expected:?}",
            found[1]
        );
        assert!(
            (Vec3::from(TRIANGLE[2]) - found[2]).norm() < 1e-6,
            "vertices without weights follow the mesh"
        );
        assert_eq!(
            codes(&asset).contains(&"additive_clusters"),
            mode == Some("Additive")
        );
    }
}

/// A shape that moves the first point.
fn shape(file: &mut File, channel: i64, name: &str, offset: [f64; 3]) {
    let of = vec![
        record("Indexes", vec![Wholes(vec![0])], Vec::new()),
        record("Vertices", vec![Numbers(offset.to_vec())], Vec::new()),
    ];
    let shape = file.object("Geometry", "Geometry", name, "Shape", of);
    file.connect(shape, channel);
}

fn channel(file: &mut File, name: &str, percent: f64, full: &[f64]) -> i64 {
    let node = file.node("face", "Mesh", 0, Vec::new());
    let mesh = file.mesh(node, &TRIANGLE, &[0, 1, -3], Vec::new());
    let blend = file.object(
        "Deformer",
        "Deformer",
        "",
        "BlendShape",
        vec![record("Version", vec![Whole(100)], Vec::new())],
    );
    file.connect(blend, mesh);
    let of = vec![
        record("DeformPercent", vec![Value::Number(percent)], Vec::new()),
        record("FullWeights", vec![Numbers(full.to_vec())], Vec::new()),
        record(
            "Properties70",
            Vec::new(),
            vec![property("DeformPercent", "Number", &[percent])],
        ),
    ];
    let channel = file.object("Deformer", "SubDeformer", name, "BlendShapeChannel", of);
    file.connect(channel, blend);
    channel
}

/// Piecewise linear from shape to shape: no shape at 0 %, the first at 50 %, the second at 100 %.
#[test]
fn in_betweens_are_targets_with_piecewise_linear_weights() {
    let (half, full) = ([1.0, 0.0, 0.0], [0.0, 4.0, 0.0]);
    let mut file = File::new();
    let smile = channel(&mut file, "smile", 25.0, &[50.0, 100.0]);
    shape(&mut file, smile, "smile_half", half);
    shape(&mut file, smile, "smile", full);
    let layer = file.take("take", Some((0.0, 1.0)));
    // 0 to 120 % in a second: it passes 50 % and 100 % between its keys.
    file.curves(
        layer,
        smile,
        "DeformPercent",
        4,
        &[("d|DeformPercent", &[(0.0, 0.0), (1.0, 120.0)])],
    );
    let asset = read(&file).asset;
    let mesh = &asset.meshes[0];
    let names: Vec<&str> = mesh.morph_targets.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["smile_50", "smile"]);
    let of = |percent: f64| {
        let (a, b) = (Vec3::from(half), Vec3::from(full));
        match percent {
            p if p <= 50.0 => a * (p / 50.0),
            p => a + (b - a) * ((p - 50.0) / 50.0),
        }
    };
    let rest = deformed(&asset, mesh, None, 0.0)[0];
    assert!((rest - of(25.0)).norm() < 1e-6, "{rest:?}");
    for k in 0..=24 {
        let time = f64::from(k) / 24.0;
        let found = deformed(&asset, mesh, Some(&asset.clips[0]), time)[0];
        let expected = of(120.0 * time);
        assert!(
            (found - expected).norm() < 1e-5,
            "{time}: {found:?}, expected {expected:?}"
        );
    }
}

#[test]
fn full_weights_other_than_100_and_negative_weights() {
    for percent in [-50.0, 30.0, 200.0, 250.0] {
        let mut file = File::new();
        let channel = channel(&mut file, "open", percent, &[200.0]);
        shape(&mut file, channel, "open", [3.0, 0.0, 0.0]);
        let asset = read(&file).asset;
        let found = deformed(&asset, &asset.meshes[0], None, 0.0)[0];
        assert!(
            (found.x - 3.0 * percent / 200.0).abs() < 1e-6,
            "{percent}: {found:?}"
        );
    }
}

#[test]
fn the_document_is_a_file_that_reads_the_same() {
    let Skinned { file, .. } = skinned(None, [[1.0, 0.0], [0.25, 0.75], [0.0, 1.0]]);
    let read = read(&file);
    let (glb, warnings) = packed_glb(&read.document).expect("packed");
    assert!(warnings.is_empty());
    let again = read_gltf_bytes(glb, None, "a.glb").expect("valid");
    assert_eq!(again.asset.rig, read.asset.rig);
    assert_eq!(
        again.asset.meshes[0].positions,
        read.asset.meshes[0].positions
    );
    assert_eq!(
        again.asset.meshes[0].influences,
        read.asset.meshes[0].influences
    );
}
