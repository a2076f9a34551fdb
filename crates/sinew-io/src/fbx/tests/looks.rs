//! Materials, images, and what is not read.

use super::file::{File, Record, property, record, text};
use super::*;
use crate::gltf::read::read_appearance;
use std::path::Path;

/// First bytes of a PNG file.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and more";

fn textured(name: &str) -> File {
    let mut file = File::new();
    let node = file.node("a", "Mesh", 0, Vec::new());
    file.mesh(node, &TRIANGLE, &[0, 1, -3], Vec::new());
    let of: Vec<Record> = vec![
        record("ShadingModel", vec![text("phong")], Vec::new()),
        record(
            "Properties70",
            Vec::new(),
            vec![
                property("DiffuseColor", "Color", &[0.25, 0.5, 0.75]),
                property("DiffuseFactor", "Number", &[1.0]),
                property("EmissiveColor", "Color", &[1.0, 0.5, 0.0]),
                property("EmissiveFactor", "Number", &[0.5]),
            ],
        ),
    ];
    let material = file.object("Material", "Material", "paint", "", of);
    file.connect(material, node);
    if !name.is_empty() {
        let of = vec![
            record(
                "FileName",
                vec![text(&format!("C:\\\\work\\\\{name}"))],
                Vec::new(),
            ),
            record("RelativeFilename", vec![text(name)], Vec::new()),
        ];
        let texture = file.object("Texture", "Texture", "cloth", "", of);
        file.connect_to(texture, material, "DiffuseColor");
    }
    file
}

fn read_in(file: &File, folder: &Path) -> GltfFile {
    read_fbx_bytes(&file.ascii(), Some(folder), "a.fbx").expect("valid")
}

#[test]
fn colours_become_factors() {
    let file = read(&textured(""));
    let material = &file.document.json["materials"][0];
    assert_eq!(material["name"], "paint");
    let factor = &material["pbrMetallicRoughness"]["baseColorFactor"];
    for (k, expected) in [0.25, 0.5, 0.75, 1.0].into_iter().enumerate() {
        assert!(
            (factor[k].as_f64().expect("a number") - expected).abs() < 1e-6,
            "{material}"
        );
    }
    let emission = &material["emissiveFactor"];
    assert_eq!(
        (emission[0].as_f64(), emission[1].as_f64()),
        (Some(0.5), Some(0.25))
    );
    assert_eq!(file.asset.meshes[0].parts[0].material, Some(0));
}

#[test]
fn images_come_from_the_folder_of_the_file_only() {
    let outer = tempfile::tempdir().expect("folder");
    let folder = outer.path().join("in");
    std::fs::create_dir_all(folder.join("maps")).expect("made");
    for place in ["secret.png", "in/beside.png", "in/maps/below.png"] {
        std::fs::write(outer.path().join(place), PNG).expect("written");
    }
    std::fs::write(folder.join("text.png"), b"no image").expect("written");
    for (name, code) in [
        ("maps/below.png", None),
        // The folder of another machine: a file of that name beside the FBX file.
        ("../textures/beside.png", None),
        ("../secret.png", Some("image_missing")),
        ("gone.png", Some("image_missing")),
        ("text.png", Some("image_format")),
    ] {
        let file = read_in(&textured(name), &folder);
        assert_eq!(
            codes(&file.asset),
            code.into_iter().collect::<Vec<_>>(),
            "{name}"
        );
        let json = &file.document.json;
        assert_eq!(
            json["images"][0]["mimeType"] == "image/png",
            code.is_none(),
            "{name}"
        );
        let texture = &json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"];
        assert_eq!(texture["index"] == 0, code.is_none(), "{name}");
        assert!(read_appearance(&file.document).is_ok());
    }
}

#[test]
fn each_kind_of_object_that_is_not_read_has_a_warning() {
    let mut file = File::new();
    for (kind, name) in [("Camera", "camera"), ("Light", "lamp")] {
        let node = file.node(name, kind, 0, Vec::new());
        let of = vec![record("TypeFlags", vec![text(kind)], Vec::new())];
        let attribute = file.object("NodeAttribute", "NodeAttribute", name, kind, of);
        file.connect(attribute, node);
    }
    let node = file.node("points", "Mesh", 0, Vec::new());
    file.mesh(node, &TRIANGLE, &[0, -2], Vec::new());
    let asset = read(&file).asset;
    assert!(asset.meshes.is_empty());
    let mut found = codes(&asset);
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "cameras_skipped",
            "faces_skipped",
            "lights_skipped",
            "mesh_without_faces"
        ]
    );
}
