//! Axes of engines as their manuals say them, and texels decoded by the manifest as JSON: nothing here is what bakes are made with.

use super::*;
use serde_json::Value;
use sinew_io::{Texels, read_texture};

pub(super) const SPACES: [Space; 4] = [
    Space::YUpRightHanded,
    Space::ZUpRightHanded,
    Space::YUpLeftHanded,
    Space::ZUpLeftHandedCentimeters,
];

/// A direction of glTF as manuals say that the engine has it.
pub(super) fn engine(space: Space, [x, y, z]: [f64; 3]) -> [f64; 3] {
    match space {
        Space::YUpRightHanded => [x, y, z],
        Space::ZUpRightHanded => [x, -z, y],
        Space::YUpLeftHanded => [-x, y, z],
        Space::ZUpLeftHandedCentimeters => [x, z, y],
    }
}

/// The direction of glTF that [`engine`] makes this of.
pub(super) fn gltf(space: Space, [x, y, z]: [f64; 3]) -> [f64; 3] {
    match space {
        Space::ZUpRightHanded => [x, z, -y],
        // Their own inverses.
        other => engine(other, [x, y, z]),
    }
}

pub(super) fn unit(space: Space) -> f64 {
    match space {
        Space::ZUpLeftHandedCentimeters => 100.0,
        _ => 1.0,
    }
}

/// A place, offset or velocity.
pub(super) fn place(space: Space, v: [f64; 3]) -> [f64; 3] {
    engine(space, v).map(|c| c * unit(space))
}

pub(super) fn off(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

/// `q v` as matrices have it.
pub(in crate::vat) fn rotated([x, y, z, w]: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let rows = [
        [
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y - w * z),
            2.0 * (x * z + w * y),
        ],
        [
            2.0 * (x * y + w * z),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z - w * x),
        ],
        [
            2.0 * (x * z - w * y),
            2.0 * (y * z + w * x),
            1.0 - 2.0 * (x * x + y * y),
        ],
    ];
    rows.map(|row| (0..3).map(|k| row[k] * v[k]).sum())
}

/// A texture, by the manifest alone.
pub(super) struct Decoded {
    numbers: Vec<f64>,
    channels: usize,
    width: u64,
    block: [u64; 2],
    across: u64,
    pub(super) vertices: u64,
    /// Largest step of its codes.
    pub(super) step: f64,
}

impl Decoded {
    pub(super) fn read(out: &Path, quantity: &Value) -> Self {
        let manifest = std::fs::read_dir(out).expect("a folder");
        let mut paths = manifest.map(|e| e.expect("an entry").path());
        let path = paths.find(|p| p.to_string_lossy().ends_with(".vat.json"));
        let text = std::fs::read_to_string(path.expect("a manifest")).expect("reads");
        let manifest: Value = serde_json::from_str(&text).expect("JSON");
        let textures = manifest["textures"].as_array().expect("textures");
        let texture = textures.iter().find(|t| t["quantity"] == *quantity);
        let texture = texture.expect("a texture of it");
        let file = texture["files"][0].as_str().expect("a file");
        let picture = read_texture(&out.join(file)).expect("a texture");
        let ranges = texture["ranges"].as_array().expect("ranges");
        let range = |k: usize, which: &str| ranges[k][which].as_f64().expect("a number");
        let Texels::Codes16(codes) = &picture.texels else {
            panic!("16 bits were asked for");
        };
        let stored = picture.channels.len();
        let value = |(at, code): (usize, &u16)| {
            let k = at % stored;
            let range = (k < ranges.len()).then(|| (range(k, "scale"), range(k, "offset")));
            range.map_or(0.0, |(scale, offset)| {
                f64::from(*code) / 65535.0 * scale + offset
            })
        };
        let blocks = &manifest["layout"]["arrangement"]["blocks"];
        let whole = |v: &Value| v.as_u64().expect("a whole number");
        let steps = (0..ranges.len()).map(|k| range(k, "scale") / 65535.0);
        Self {
            numbers: codes.iter().enumerate().map(value).collect(),
            channels: stored,
            width: picture.width as u64,
            block: [whole(&blocks["block"][0]), whole(&blocks["block"][1])],
            across: whole(&blocks["across"]),
            vertices: whole(&manifest["layout"]["vertices"]),
            step: steps.fold(0.0, f64::max),
        }
    }

    pub(super) fn at<const N: usize>(&self, vertex: usize, frame: usize) -> [f64; N] {
        let (vertex, frame) = (vertex as u64, frame as u64);
        let x = frame % self.across * self.block[0] + vertex % self.block[0];
        let y = frame / self.across * self.block[1] + vertex / self.block[0];
        let first = (y * self.width + x) as usize * self.channels;
        std::array::from_fn(|k| self.numbers[first + k])
    }
}
