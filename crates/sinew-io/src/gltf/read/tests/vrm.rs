//! VRM 0.x and 1.0, written by hand.

use super::extensions::messages;
use super::*;
use sinew_geom::{ExpressionOverride, ExpressionTarget};

/// Two nodes show a triangle with two morph targets; their weights are 0 to 1 and 2 to 3.
fn face() -> Builder {
    let mut b = Builder::triangle();
    let delta = b.view(
        &floats(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        None,
    );
    let delta =
        b.accessor(json!({"bufferView": delta, "componentType": 5126, "count": 3, "type": "VEC3"}));
    b.primitive()["targets"] = json!([{ "POSITION": delta }, { "POSITION": delta }]);
    b.json["nodes"] = json!([
        { "name": "hips", "children": [1, 2] },
        { "name": "face", "mesh": 0 },
        { "name": "mirror image", "mesh": 0 },
    ]);
    b
}

fn target(weight: usize, amount: f32) -> ExpressionTarget {
    ExpressionTarget { weight, amount }
}

#[test]
fn expressions_of_version_1_are_those_of_their_nodes() {
    let mut b = face();
    b.json["extensionsUsed"] = json!(["VRMC_vrm", "VRMC_springBone", "VRMC_materials_mtoon"]);
    b.json["extensionsRequired"] = json!(["VRMC_vrm"]);
    b.json["extensions"] = json!({
        "VRMC_vrm": {
            "specVersion": "1.0",
            "humanoid": { "humanBones": { "hips": { "node": 0 } } },
            "expressions": {
                "preset": { "happy": {
                    "overrideBlink": "blend", "overrideMouth": "block",
                    "morphTargetBinds": [{ "node": 2, "index": 1, "weight": 0.5 }],
                    "materialColorBinds": [{ "material": 0, "type": "color", "targetValue": [1, 1, 1, 1] }],
                } },
                "custom": { "wink": { "isBinary": true, "morphTargetBinds": [
                    { "node": 1, "index": 0, "weight": 1.0 },
                    { "node": 1, "index": 2, "weight": 1.0 },
                ] } },
            },
        },
        "VRMC_springBone": { "specVersion": "1.0", "springs": [{ "name": "tail", "joints": [] }] },
    });
    let file = b.read().expect("valid");
    let [happy, wink] = &file.asset.expressions[..] else {
        panic!("{:?}", file.asset.expressions);
    };
    assert_eq!(happy.name, "happy");
    assert_eq!(happy.targets, [target(3, 0.5)]);
    let none = ExpressionOverride::None;
    let overrides = [ExpressionOverride::Blend, none, ExpressionOverride::Block];
    assert_eq!(happy.overrides, overrides);
    assert_eq!((wink.name.as_str(), wink.is_binary), ("wink", true));
    assert_eq!(wink.targets, [target(0, 1.0)]);
    let bones = &file.asset.humanoid;
    assert_eq!((bones[0].name.as_str(), bones[0].node), ("hips", 0));
    let codes: Vec<&str> = file.asset.warnings.iter().map(|w| w.code).collect();
    let expected = [
        "vrm_reference_ignored",
        "expression_looks_not_played",
        "springs_not_simulated",
    ];
    assert_eq!(codes, expected);
    let found = messages(&file);
    assert!(found[0].contains("'wink'"), "{found:?}");
    assert!(found[2].contains("springs 'tail' of VRM"), "{found:?}");
    assert!(file.document.is_vrm());
}

#[test]
fn groups_of_version_0_move_all_nodes_of_their_mesh() {
    let mut b = face();
    b.json["extensionsUsed"] = json!(["VRM"]);
    b.json["extensions"] = json!({ "VRM": {
        "humanoid": { "humanBones": [{ "bone": "hips", "node": 0 }, { "bone": "head", "node": 7 }] },
        "blendShapeMaster": { "blendShapeGroups": [
            { "name": "Joy", "presetName": "joy", "binds": [{ "mesh": 0, "index": 1, "weight": 50 }] },
            { "name": "Smirk", "presetName": "unknown", "binds": [{ "mesh": 0, "index": 0, "weight": 100 }] },
        ] },
        "secondaryAnimation": { "boneGroups": [{ "comment": "skirt", "bones": [0] }] },
    } });
    let file = b.read().expect("valid");
    let names: Vec<&str> = file.asset.expressions.iter().map(|e| &*e.name).collect();
    assert_eq!(names, ["happy", "Smirk"]);
    let targets: Vec<_> = file.asset.expressions.iter().map(|e| &e.targets).collect();
    assert_eq!(*targets[0], [target(1, 0.5), target(3, 0.5)]);
    assert_eq!(*targets[1], [target(0, 1.0), target(2, 1.0)]);
    assert_eq!(file.asset.humanoid.len(), 1);
    let found = messages(&file);
    assert!(found[0].contains("'head'"), "{found:?}");
    assert!(found[1].contains("'skirt'"), "{found:?}");
}

/// Any JSON in the extension is no reason to refuse the shape.
#[test]
fn broken_entries_of_vrm_are_warnings() {
    for broken in [
        json!(3),
        json!([]),
        json!({"expressions": 3}),
        json!({"humanoid": []}),
    ] {
        let mut b = face();
        b.json["extensionsUsed"] = json!(["VRMC_vrm"]);
        b.json["extensions"] = json!({ "VRMC_vrm": broken });
        let file = b.read().expect("still a mesh");
        assert_eq!(file.asset.expressions, []);
    }
    let bind = json!({ "node": -1, "index": 1e300, "weight": 1e300 });
    let mut b = face();
    b.json["extensions"] = json!({ "VRMC_vrm": { "expressions": {
        "preset": { "aa": { "morphTargetBinds": [bind, 4, { "node": 1, "index": 0, "weight": 1e300 }] } },
    } } });
    let file = b.read().expect("still a mesh");
    assert_eq!(file.asset.expressions[0].targets, []);
    assert!(messages(&file)[0].contains("'aa'"));
}
