//! Frames of the sample sequences, where they are there.

use super::super::Triangles;
use std::path::PathBuf;

#[derive(Debug, Clone, Default)]
pub(super) struct Frame {
    pub(super) points: Vec<[f32; 3]>,
    pub(super) triangles: Vec<[u32; 3]>,
}

impl Frame {
    pub(super) fn view(&self) -> Triangles<'_> {
        Triangles {
            points: &self.points,
            triangles: &self.triangles,
            motion: None,
        }
    }
}

/// All frames of a sequence in order, or `None` with a note where the data is not there.
pub(super) fn sequence(name: &str) -> Option<Vec<Frame>> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"))
        .join("sequences")
        .join(name);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: no sequence {name}");
        return None;
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    Some(
        paths
            .iter()
            .map(|path| parse(&std::fs::read(path).unwrap()))
            .collect(),
    )
}

/// Binary little endian, `float x y z` and `list uchar int` of triangles.
fn parse(bytes: &[u8]) -> Frame {
    let end = b"end_header\n";
    let header = bytes
        .windows(end.len())
        .position(|window| window == end)
        .unwrap();
    let text = std::str::from_utf8(&bytes[..header]).unwrap();
    let count = |element: &str| -> usize {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(element))
            .unwrap();
        line.trim().parse().unwrap()
    };
    let word = |bytes: &[u8]| <[u8; 4]>::try_from(bytes).unwrap();
    let body = &bytes[header + end.len()..];
    let (points, faces) = body.split_at(count("element vertex") * 12);
    let point = |bytes: &[u8]| [0, 4, 8].map(|at| f32::from_le_bytes(word(&bytes[at..at + 4])));
    let face = |bytes: &[u8]| [1, 5, 9].map(|at| u32::from_le_bytes(word(&bytes[at..at + 4])));
    Frame {
        points: points.chunks_exact(12).map(point).collect(),
        triangles: faces
            .chunks_exact(13)
            .take(count("element face"))
            .map(face)
            .collect(),
    }
}
