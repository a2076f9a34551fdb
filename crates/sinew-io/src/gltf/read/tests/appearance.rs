//! Materials, images, cameras.

use super::{Builder, read_gltf_bytes};
use crate::IoError;
use crate::gltf::read::read_appearance;
use serde_json::{Value, json};
use sinew_geom::{AlphaMode, Appearance, ImageFormat, Projection, Warning, Wrap};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

/// The appearance of a triangle with what is given at the root of the document.
fn read(root: &Value) -> Result<(Appearance, Vec<Warning>), IoError> {
    let mut b = Builder::triangle();
    for (key, value) in root.as_object().expect("an object") {
        b.json[key] = value.clone();
    }
    read_appearance(&b.read()?.document)
}

fn data_uri(bytes: &[u8]) -> String {
    use base64::Engine;
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    format!("data:image/png;base64,{data}")
}

#[test]
fn materials_with_and_without_textures() {
    let (looks, warnings) = read(&json!({
        "materials": [
            {},
            {
                "name": "skin", "alphaMode": "MASK", "doubleSided": true,
                "pbrMetallicRoughness": {
                    "baseColorFactor": [0.1, 0.2, 0.3, 2.0],
                    "baseColorTexture": { "index": 0, "texCoord": 1, "extensions": { "KHR_texture_transform":
                        { "offset": [0.5, 0.25], "scale": [2.0, 3.0], "rotation": std::f32::consts::FRAC_PI_2, "texCoord": 2 } } },
                },
            },
            { "alphaMode": "BLEND", "alphaCutoff": 0.9, "extensions": { "KHR_materials_pbrSpecularGlossiness":
                { "diffuseFactor": [1.0, 0.5, 0.25, 1.0], "diffuseTexture": { "index": 1 } } } },
        ],
        "textures": [{ "source": 0, "sampler": 0 }, { "source": 0 }],
        "samplers": [{ "wrapS": 33071, "wrapT": 33648, "magFilter": 9728 }],
        "images": [{ "uri": data_uri(PNG), "name": "colours" }],
    }))
    .expect("right");
    assert!(warnings.is_empty(), "{warnings:?}");
    let [plain, skin, glossy] = &looks.materials[..] else {
        panic!("{:?}", looks.materials);
    };
    assert_eq!(*plain, sinew_geom::Material::default());
    assert_eq!(skin.base_color, [0.1, 0.2, 0.3, 1.0], "limited to 1");
    assert_eq!(
        (skin.alpha, skin.double_sided),
        (AlphaMode::Mask(0.5), true)
    );
    let texture = skin.base_color_texture.expect("there");
    assert_eq!(
        (texture.image, texture.uv_set, texture.nearest),
        (0, 2, true)
    );
    assert_eq!(texture.wrap, [Wrap::Clamp, Wrap::Mirrored]);
    // The extension's own example: T R S, rows of the product for a quarter turn.
    let expected = [[0.0, 3.0, 0.5], [-2.0, 0.0, 0.25]];
    for (found, expected) in texture.image_from_uv.iter().zip(expected) {
        let near = |(a, b): (&f32, f32)| (a - b).abs() < 1e-6;
        assert!(found.iter().zip(expected).all(near), "{found:?}");
    }
    assert_eq!(glossy.base_color, [1.0, 0.5, 0.25, 1.0]);
    assert_eq!(glossy.alpha, AlphaMode::Blend);
    let texture = glossy.base_color_texture.expect("there");
    assert_eq!((texture.uv_set, texture.wrap), (0, [Wrap::Repeat; 2]));
    let image = looks.images[0].as_ref().expect("there");
    assert_eq!(
        (image.name.as_str(), image.format),
        ("colours", ImageFormat::Png)
    );
    assert_eq!(image.bytes, PNG);
}

#[test]
fn images_in_views_and_what_cannot_be_shown() {
    let mut b = Builder::triangle();
    let jpeg = b.view(b"\xff\xd8\xff\xe0more", None);
    let webp = b.view(b"RIFF....WEBP", None);
    b.json["images"] = json!([
        { "bufferView": jpeg, "mimeType": "image/png" },
        { "bufferView": webp, "mimeType": "image/webp" },
        { "uri": "not/there.png" },
    ]);
    b.json["textures"] = json!([{ "extensions": { "EXT_texture_webp": { "source": 1 } } }]);
    b.json["materials"] =
        json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }]);
    let file = b.read().expect("geometry is right");
    let (looks, warnings) = read_appearance(&file.document).expect("what is left");
    let first = looks.images[0].as_ref().expect("there");
    assert_eq!(
        (first.format, first.bytes.len()),
        (ImageFormat::Jpeg, 8),
        "by its bytes"
    );
    assert_eq!((&looks.images[1], &looks.images[2]), (&None, &None));
    assert_eq!(looks.materials[0].base_color_texture, None);
    let codes: Vec<&str> = warnings.iter().map(|w| w.code).collect();
    assert_eq!(
        codes,
        ["image_not_shown", "image_missing", "texture_not_shown"]
    );
}

#[test]
fn cameras_stand_on_nodes() {
    let (looks, _) = read(&json!({
        "nodes": [{ "mesh": 0 }, { "camera": 1, "name": "stand" }, { "camera": 0 }, { "camera": 0 }],
        "cameras": [
            { "type": "perspective", "name": "front", "perspective": { "yfov": 0.7, "znear": 0.1, "aspectRatio": 1.5 } },
            { "type": "orthographic", "orthographic": { "xmag": 2.0, "ymag": 1.0, "znear": 0.0, "zfar": 100.0 } },
        ],
    }))
    .expect("right");
    let names: Vec<&str> = looks.cameras.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["stand", "front", "front"]);
    assert_ne!(looks.cameras[1].node, looks.cameras[2].node);
    let half_size = [2.0, 1.0];
    let (near, far) = (0.0, 100.0);
    assert_eq!(
        looks.cameras[0].projection,
        Projection::Orthographic {
            half_size,
            near,
            far
        }
    );
    let expected = Projection::Perspective {
        fov_y: 0.7,
        aspect: Some(1.5),
        near: 0.1,
        far: None,
    };
    assert_eq!(looks.cameras[1].projection, expected);
}

#[test]
fn wrong_looks_say_where() {
    let texture = |value: Value| json!({ "materials": [{ "pbrMetallicRoughness": { "baseColorTexture": value } }] });
    let perspective =
        |value: Value| json!({ "cameras": [{ "type": "perspective", "perspective": value }] });
    for (root, location) in [
        (
            json!({ "materials": [{ "pbrMetallicRoughness": { "baseColorFactor": [1, 1, 1] } }] }),
            "materials[0].pbrMetallicRoughness.baseColorFactor",
        ),
        (
            json!({ "materials": [{ "alphaMode": "SOME" }] }),
            "materials[0].alphaMode",
        ),
        (
            json!({ "materials": [{ "alphaMode": "MASK", "alphaCutoff": "half" }] }),
            "materials[0].alphaCutoff",
        ),
        (
            texture(json!({ "index": 7 })),
            "materials[0].pbrMetallicRoughness.baseColorTexture.index",
        ),
        (
            texture(json!({})),
            "materials[0].pbrMetallicRoughness.baseColorTexture",
        ),
        (json!({ "images": [{}] }), "images[0]"),
        (
            json!({ "images": [{ "bufferView": 9 }] }),
            "images[0].bufferView",
        ),
        (
            json!({ "images": [{ "uri": "../outside.png" }] }),
            "images[0].uri",
        ),
        (json!({ "cameras": [{}] }), "cameras[0]"),
        (
            perspective(json!({ "yfov": 4.0, "znear": 0.1 })),
            "cameras[0].perspective.yfov",
        ),
        (
            perspective(json!({ "yfov": 1.0 })),
            "cameras[0].perspective",
        ),
    ] {
        match read(&root) {
            Err(IoError::Malformed {
                location: found, ..
            }) => assert_eq!(found, location),
            other => panic!("{root}: {other:?}"),
        }
    }
}

/// Real files: every material that points at an image gets one.
#[test]
fn looks_of_real_characters() {
    let Some(data) = sinew_testkit::shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    let looks = |name: &str| {
        let path = data.join("characters").join(name);
        let bytes = std::fs::read(&path).expect("there");
        let file = read_gltf_bytes(bytes, path.parent(), name).expect("right");
        let (looks, warnings) = read_appearance(&file.document).expect("right");
        assert!(warnings.is_empty(), "{name}: {warnings:?}");
        let materials = &looks.materials;
        let parts = file.asset.meshes.iter().flat_map(|m| &m.parts);
        for material in parts.filter_map(|p| p.material) {
            let material = &materials[material];
            if let Some(texture) = material.base_color_texture {
                assert!(looks.images[texture.image].is_some(), "{name}");
            }
        }
        let textured = materials.iter().filter(|m| m.base_color_texture.is_some());
        textured.count()
    };
    assert!(looks("fox.glb") > 0);
    assert!(looks("kaykit_knight.glb") > 0);
}
