//! Cut and lying files: a result or a typed error, and never a panic.

use super::file::{File, Value, record};
use super::*;
use crate::IoError;

/// A mesh, a node below it, a take.
fn whole() -> File {
    let mut file = File::new();
    let node = file.node("a", "Mesh", 0, Vec::new());
    file.mesh(node, &TRIANGLE, &[0, 1, -3], Vec::new());
    let layer = file.take("take", Some((0.0, 1.0)));
    file.curves(
        layer,
        node,
        "Lcl Translation",
        4,
        &[("d|X", &[(0.0, 0.0), (1.0, 1.0)])],
    );
    file
}

/// What a reader says about bytes. What it reads is valid.
fn said(bytes: &[u8]) -> Option<String> {
    match read_fbx_bytes(bytes, None, "bad.fbx") {
        Ok(file) => {
            for mesh in &file.asset.meshes {
                mesh.check().expect("valid");
                assert!(mesh.positions.as_flattened().iter().all(|c| c.is_finite()));
            }
            None
        }
        Err(error) => {
            assert!(
                matches!(
                    error,
                    IoError::Malformed { .. } | IoError::Unsupported { .. }
                ),
                "{error}"
            );
            Some(error.to_string())
        }
    }
}

#[test]
fn cut_files_are_errors_with_an_offset() {
    let file = whole();
    let binary = file.binary();
    for end in (0..binary.len() - 200).step_by(7) {
        let found = said(&binary[..end]).unwrap_or_else(|| panic!("{end} bytes are no file"));
        assert!(
            found.starts_with("bad.fbx: ") && found.contains("byte "),
            "{found}"
        );
    }
    let ascii = file.ascii();
    for end in (0..ascii.len()).step_by(11) {
        said(&ascii[..end]);
    }
}

#[test]
fn changed_bytes_never_panic() {
    let file = whole();
    for bytes in [file.binary(), file.ascii()] {
        for at in (0..bytes.len()).step_by(5) {
            for value in [0, 0x7f, 0xff, bytes[at].wrapping_add(1)] {
                let mut changed = bytes.clone();
                changed[at] = value;
                said(&changed);
            }
        }
    }
}

fn with_mesh(points: &[[f64; 3]], corners: &[i32]) -> Vec<u8> {
    let mut file = File::new();
    let node = file.node("a", "Mesh", 0, Vec::new());
    file.mesh(node, points, corners, Vec::new());
    file.binary()
}

#[test]
fn lies_are_named() {
    let nan = [[f64::NAN, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let huge = [[1e300, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    for (bytes, expected) in [
        (Vec::new(), "an empty file"),
        (
            b"solid is another format".to_vec(),
            "byte 0: found 'solid is another format', expected an FBX file",
        ),
        (b"{\"asset\": {\"version\": \"2.0\"}}".to_vec(), "byte 0"),
        (b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n".to_vec(), "byte 0"),
        (with_mesh(&TRIANGLE, &[0, 1, -9]), "index out of range"),
        (with_mesh(&TRIANGLE, &[0, 70_000, -3]), "index out of range"),
        (
            with_mesh(&nan, &[0, 1, -3]),
            "mesh 'a': found [NaN, 0.0, 0.0] as vertex 0, expected finite coordinates",
        ),
        (
            with_mesh(&huge, &[0, 1, -3]),
            "mesh 'a': found [1e300, 0.0, 0.0] as vertex 0",
        ),
    ] {
        let found = said(&bytes).unwrap_or_else(|| panic!("{expected}: no error"));
        assert!(found.contains(expected), "{found}, expected {expected}");
    }
}

#[test]
fn counts_larger_than_the_bytes_take_no_memory() {
    let bytes = whole().binary();
    // The count of an array: after its type.
    let name = b"Vertices";
    let at = bytes
        .windows(name.len())
        .position(|w| w == name)
        .expect("there")
        + name.len();
    assert_eq!(bytes[at], b'd');
    for count in [10_u32, 1 << 20, u32::MAX] {
        let mut changed = bytes.clone();
        changed[at + 1..at + 5].copy_from_slice(&count.to_le_bytes());
        said(&changed).unwrap_or_else(|| panic!("{count} is no count"));
    }
}

#[test]
fn nodes_that_are_not_finite_are_named() {
    let mut file = File::new();
    file.node(
        "bad",
        "Null",
        0,
        vec![vector("Lcl Translation", [f64::NAN, 0.0, 0.0])],
    );
    let found = said(&file.binary()).expect("an error");
    assert!(
        found.contains("node 'bad': found a transform that is not finite"),
        "{found}"
    );
}

#[test]
fn cycles_and_deep_trees_end() {
    let mut file = File::new();
    let a = file.node("a", "Null", 0, Vec::new());
    let b = file.node("b", "Null", a, Vec::new());
    file.connect(a, b);
    said(&file.binary());
    let mut deep = File::new();
    let mut parent = 0;
    for _ in 0..5000 {
        parent = deep.node("n", "Null", parent, Vec::new());
    }
    let found = said(&deep.binary()).expect("too deep");
    assert!(found.contains("deeper than 4096 levels"), "{found}");
    // Records inside records.
    let mut nested = record("Properties70", Vec::new(), Vec::new());
    for _ in 0..2000 {
        nested = record("P", vec![Value::Whole(1)], vec![nested]);
    }
    let mut file = File::new();
    file.objects.push(nested);
    said(&file.binary());
}

#[test]
fn curves_that_lie() {
    for (keys, name) in [
        (vec![(0.0, f64::NAN), (1.0, 1.0)], "NaN"),
        (vec![(1.0, 0.0), (0.0, 1.0)], "backwards"),
        (vec![(0.0, 0.0), (1e8, 1.0)], "three years"),
    ] {
        let mut file = File::new();
        let node = file.node("a", "Null", 0, Vec::new());
        let layer = file.take("take", None);
        file.curves(layer, node, "Lcl Rotation", 8, &[("d|X", &keys)]);
        let found = said(&file.binary());
        assert_eq!(found.is_some(), name == "NaN", "{name}: {found:?}");
        assert!(
            found.is_none_or(|f| f.contains("take")),
            "the take is named"
        );
    }
}
