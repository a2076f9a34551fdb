//! Nodes: the formula of the FBX SDK, written out in double precision.

use super::file::{File, property};
use super::*;

const ORDERS: [&str; 6] = ["XYZ", "XZY", "YZX", "YXZ", "ZXY", "ZYX"];

/// All parts of a transform that a node can have.
struct Parts {
    translation: [f64; 3],
    rotation: [f64; 3],
    scale: [f64; 3],
    pre: [f64; 3],
    post: [f64; 3],
    rotation_offset: [f64; 3],
    rotation_pivot: [f64; 3],
    scaling_offset: [f64; 3],
    scaling_pivot: [f64; 3],
    order: usize,
}

const PARTS: Parts = Parts {
    translation: [0.3, -0.2, 1.1],
    rotation: [20.0, -35.0, 50.0],
    scale: [1.5, 0.75, -2.0],
    pre: [10.0, 80.0, -25.0],
    post: [-15.0, 5.0, 33.0],
    rotation_offset: [0.1, 0.2, -0.3],
    rotation_pivot: [0.5, -0.4, 0.25],
    scaling_offset: [-0.05, 0.15, 0.35],
    scaling_pivot: [0.7, 0.6, -0.9],
    order: 0,
};

impl Parts {
    fn properties(&self) -> Vec<super::file::Record> {
        vec![
            vector("Lcl Translation", self.translation),
            vector("Lcl Rotation", self.rotation),
            vector("Lcl Scaling", self.scale),
            vector("PreRotation", self.pre),
            vector("PostRotation", self.post),
            vector("RotationOffset", self.rotation_offset),
            vector("RotationPivot", self.rotation_pivot),
            vector("ScalingOffset", self.scaling_offset),
            vector("ScalingPivot", self.scaling_pivot),
            property("RotationOrder", "enum", &[self.order as f64]),
            property("RotationActive", "bool", &[1.0]),
        ]
    }

    /// T * Roff * Rp * Rpre * R * Rpost^-1 * Rp^-1 * Soff * Sp * S * Sp^-1.
    fn local(&self, rotation: [f64; 3]) -> Affine<f64> {
        let back = |v: [f64; 3]| shift(v.map(|c| -c));
        shift(self.translation)
            * shift(self.rotation_offset)
            * shift(self.rotation_pivot)
            * linear(euler(self.pre, "XYZ"))
            * linear(euler(rotation, ORDERS[self.order]))
            * linear(euler(self.post, "XYZ").transpose())
            * back(self.rotation_pivot)
            * shift(self.scaling_offset)
            * shift(self.scaling_pivot)
            * linear(scale(self.scale))
            * back(self.scaling_pivot)
    }
}

#[test]
fn pivots_offsets_and_all_rotation_orders() {
    for (order, name) in ORDERS.iter().enumerate() {
        let parts = Parts { order, ..PARTS };
        let mut file = File::new();
        let node = file.node("a", "Null", 0, parts.properties());
        file.node(
            "below",
            "Null",
            node,
            vec![vector("Lcl Translation", [1.0, 2.0, 3.0])],
        );
        let asset = read(&file).asset;
        let expected = parts.local(parts.rotation);
        assert_close(&placed(&asset, None, 0.0, "a"), &expected, 1e-6, name);
        let below = expected * shift([1.0, 2.0, 3.0]);
        assert_close(&placed(&asset, None, 0.0, "below"), &below, 2e-6, "child");
    }
}

#[test]
fn euler_curves_turn_about_pivots() {
    for order in [0, 3, 4] {
        let parts = Parts { order, ..PARTS };
        let mut file = File::new();
        let node = file.node("a", "Null", 0, parts.properties());
        let layer = file.take("turn", Some((0.0, 2.0)));
        let (x, y, z) = (
            [(0.0, 20.0), (2.0, 100.0)],
            [(0.0, -35.0), (2.0, 25.0)],
            [(0.0, 50.0), (2.0, -70.0)],
        );
        file.curves(
            layer,
            node,
            "Lcl Rotation",
            4,
            &[("d|X", &x), ("d|Y", &y), ("d|Z", &z)],
        );
        let asset = read(&file).asset;
        let clip = &asset.clips[0];
        assert_eq!(clip.range(), (0.0, 2.0));
        for time in [0.0_f64, 0.123, 0.5, 1.01, 1.77, 2.0] {
            let at = |k: &[(f64, f64); 2]| k[0].1 + (k[1].1 - k[0].1) * time / 2.0;
            let expected = parts.local([at(&x), at(&y), at(&z)]);
            assert_close(
                &placed(&asset, Some(clip), time, "a"),
                &expected,
                2e-3,
                &time.to_string(),
            );
        }
    }
}

#[test]
fn geometric_transforms_move_the_mesh_only() {
    let (translation, rotation) = ([0.5, -1.0, 2.0], [30.0, 40.0, -20.0]);
    for size in [[2.0, 1.0, 0.5], [-2.0, 1.0, 0.5]] {
        let mut file = File::new();
        let node = file.node(
            "a",
            "Mesh",
            0,
            vec![
                vector("Lcl Translation", [1.0, 0.0, 0.0]),
                vector("Lcl Rotation", [0.0, 90.0, 0.0]),
                vector("GeometricTranslation", translation),
                vector("GeometricRotation", rotation),
                vector("GeometricScaling", size),
            ],
        );
        file.node("below", "Null", node, Vec::new());
        file.mesh(node, &TRIANGLE, &[0, 1, -3], Vec::new());
        let asset = read(&file).asset;
        let of_node = shift([1.0, 0.0, 0.0]) * linear(euler([0.0, 90.0, 0.0], "XYZ"));
        assert_close(&placed(&asset, None, 0.0, "below"), &of_node, 1e-6, "child");
        let place = of_node * shift(translation) * linear(euler(rotation, "XYZ") * scale(size));
        let mesh = &asset.meshes[0];
        for (p, q) in TRIANGLE.iter().zip(deformed(&asset, mesh, None, 0.0)) {
            assert!((place.point((*p).into()) - q).norm() < 1e-6);
        }
        // A mirrored face keeps its front: its normal follows the normal matrix.
        let at = |k: usize| Vec3::from(mesh.positions[k].map(f64::from));
        let [a, b, c] = mesh.topology.triangles()[0].map(|k| at(k as usize));
        let front = place.normal_matrix() * Vec3::z();
        assert!((b - a).cross(&(c - a)).dot(&front) > 0.0, "{size:?}");
    }
}

/// `GlobalRS` of the SDK's help for the three inherit types, with a parent that scales and rotates.
#[test]
fn inherit_types_give_the_global_transform_of_the_sdk() {
    let (parent_rotation, parent_scale) = ([0.0, 0.0, 30.0], [2.0, 1.0, 0.5]);
    let (rotation, size) = ([45.0, 10.0, -30.0], [1.0, 3.0, 1.5]);
    for inherit in 0..3 {
        let mut file = File::new();
        let parent = file.node(
            "parent",
            "LimbNode",
            0,
            vec![
                vector("Lcl Rotation", parent_rotation),
                vector("Lcl Scaling", parent_scale),
            ],
        );
        let node = file.node(
            "a",
            "Mesh",
            parent,
            vec![
                vector("Lcl Translation", [1.0, 2.0, -1.0]),
                vector("Lcl Rotation", rotation),
                vector("Lcl Scaling", size),
                property("InheritType", "enum", &[f64::from(inherit)]),
            ],
        );
        file.mesh(node, &TRIANGLE, &[0, 1, -3], Vec::new());
        let asset = read(&file).asset;
        let (pr, ps) = (euler(parent_rotation, "XYZ"), scale(parent_scale));
        let (r, s) = (euler(rotation, "XYZ"), scale(size));
        let of_type = [pr * r * ps * s, pr * ps * r * s, pr * r * s];
        let expected = Affine {
            linear: of_type[inherit as usize],
            translation: pr * ps * Vec3::new(1.0, 2.0, -1.0),
        };
        for (p, q) in TRIANGLE
            .iter()
            .zip(deformed(&asset, &asset.meshes[0], None, 0.0))
        {
            let off = (expected.point((*p).into()) - q).norm();
            assert!(off < 2e-6, "inherit type {inherit}: off by {off}");
        }
    }
}

#[test]
fn units_and_axes_of_the_file_become_metres_with_y_up() {
    // Settings, and the place in scene space of a point at (1, 2, 3) in the file.
    let cases: [(&str, [f64; 6], f64, [f64; 3]); 4] = [
        (
            "Y up, cm",
            [1.0, 1.0, 2.0, 1.0, 0.0, 1.0],
            1.0,
            [0.01, 0.02, 0.03],
        ),
        (
            "Z up, m",
            [2.0, 1.0, 1.0, -1.0, 0.0, 1.0],
            100.0,
            [1.0, 3.0, -2.0],
        ),
        (
            "Z up, inches",
            [2.0, 1.0, 1.0, -1.0, 0.0, 1.0],
            2.54,
            [0.0254, 0.0762, -0.0508],
        ),
        // Left-handed: X to the right, Y up, Z into the picture.
        (
            "left-handed",
            [1.0, 1.0, 2.0, -1.0, 0.0, 1.0],
            100.0,
            [1.0, 2.0, -3.0],
        ),
    ];
    for (what, axes, unit, expected) in cases {
        let mut file = File::new();
        file.settings = vec![property("UnitScaleFactor", "double", &[unit])];
        let names = [
            "UpAxis",
            "UpAxisSign",
            "FrontAxis",
            "FrontAxisSign",
            "CoordAxis",
            "CoordAxisSign",
        ];
        for (name, value) in names.iter().zip(axes) {
            file.settings.push(property(name, "int", &[value]));
        }
        let parent = file.node(
            "parent",
            "Null",
            0,
            vec![vector("Lcl Translation", [1.0, 0.0, 0.0])],
        );
        let node = file.node(
            "a",
            "Mesh",
            parent,
            vec![vector("Lcl Translation", [0.0, 2.0, 0.0])],
        );
        file.mesh(
            node,
            &[[0.0, 0.0, 3.0], [1.0, 0.0, 3.0], [0.0, 1.0, 3.0]],
            &[0, 1, -3],
            Vec::new(),
        );
        let asset = read(&file).asset;
        let found = deformed(&asset, &asset.meshes[0], None, 0.0)[0];
        assert!(
            (found - Vec3::from(expected)).norm() < 1e-6,
            "{what}: {found:?}"
        );
    }
}

#[test]
fn axes_of_a_node_stay_as_in_the_file() {
    let mut file = File::new();
    for (name, value) in [("UpAxis", 2.0), ("FrontAxis", 1.0), ("FrontAxisSign", -1.0)] {
        file.settings.push(property(name, "int", &[value]));
    }
    let root = file.node("root", "LimbNode", 0, Vec::new());
    file.node(
        "tip",
        "LimbNode",
        root,
        vec![
            vector("Lcl Translation", [0.0, 2.0, 0.0]),
            vector("Lcl Rotation", [90.0, 0.0, 0.0]),
        ],
    );
    let asset = read(&file).asset;
    let tip = asset.rig.find_node("tip").expect("there");
    let expected = shift([0.0, 2.0, 0.0]) * linear(euler([90.0, 0.0, 0.0], "XYZ"));
    assert_close(
        &asset.rig.nodes()[tip].local.to_affine(),
        &expected,
        1e-6,
        "local",
    );
}
