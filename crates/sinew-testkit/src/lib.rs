//! Shared by Sinew's tests and benchmarks: mesh generators, the table of tolerances, comparisons.

mod cloth;
mod mesh_truth;
pub mod meshes;
pub mod tolerance;
mod tube_file;

pub use cloth::{TearingCloth, renumbered};
pub use mesh_truth::{Lattice, MeshTruth};
pub use tube_file::TubeFile;

use sinew_geom::Topology;

/// Path of the optional real-data folder, where it exists: the one that `SINEW_DATA` names, `../shared/data` beside the workspace
/// without. Tests that need it print `skipped` and return when it is missing.
pub fn shared_data() -> Option<std::path::PathBuf> {
    let beside = || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = std::env::var_os("SINEW_DATA").map_or_else(beside, Into::into);
    path.is_dir().then_some(path)
}

/// Whether tests run in their long form: what `cargo xtask soak` asks for with `SINEW_SOAK=1`.
pub fn is_soak() -> bool {
    std::env::var_os("SINEW_SOAK").is_some_and(|v| !v.is_empty() && v != "0")
}

/// Triangles and positions of an OBJ file, read by its `v` and `f` lines alone: not by the reader that is tested.
///
/// # Panics
/// Where the file cannot be read or a line is no such thing: a failed test.
pub fn read_obj(path: &std::path::Path) -> (Topology, Vec<[f32; 3]>) {
    let text = std::fs::read_to_string(path).expect("readable");
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for line in text.lines() {
        let words = line.split_whitespace().skip(1);
        if line.starts_with("v ") {
            let v: Vec<f32> = words.map(|w| w.parse().expect("number")).collect();
            positions.push([v[0], v[1], v[2]]);
        } else if line.starts_with("f ") {
            let first = |w: &str| w.split('/').next().and_then(|n| n.parse::<u32>().ok());
            let f: Vec<u32> = words.map(|w| first(w).expect("index") - 1).collect();
            triangles.extend((1..f.len() - 1).map(|k| [f[0], f[k], f[k + 1]]));
        }
    }
    let topology = Topology::new(positions.len() as u32, triangles).expect("in range");
    (topology, positions)
}

/// Files of a folder and their bytes.
///
/// # Panics
/// Where the folder or a file in it cannot be read: a failed test.
pub fn files_in(folder: &std::path::Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).expect("a folder");
    let read = |e: std::fs::DirEntry| {
        let name = e.file_name().to_string_lossy().into_owned();
        (name, std::fs::read(e.path()).expect("a file"))
    };
    files.map(|e| read(e.expect("an entry"))).collect()
}

/// Largest distance between two equally long lists of points.
///
/// # Panics
/// Where the lengths differ: a failed test.
pub fn max_distance(a: &[[f32; 3]], b: &[[f32; 3]]) -> f64 {
    assert_eq!(a.len(), b.len(), "point counts differ");
    a.iter()
        .zip(b)
        .map(|(a, b)| {
            (0..3)
                .map(|c| (f64::from(a[c]) - f64::from(b[c])).powi(2))
                .sum::<f64>()
                .sqrt()
        })
        .fold(
            0.0,
            |m, d| if d.is_nan() { f64::INFINITY } else { m.max(d) },
        )
}
