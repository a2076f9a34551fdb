//! Reading: files made here, real files, broken files.

mod appearance;
mod built;
#[cfg(feature = "meshopt")]
mod compressed;
mod extensions;
mod hostile;
mod lines;
mod real;
mod scaling;
mod sharing;
mod vrm;

use super::{GltfFile, read_gltf_bytes};
use crate::IoError;
use base64::Engine;
use serde_json::{Value, json};
use sinew_geom::{Mesh, Pose};

/// A document with its buffer as a data URI. `attributes` are `(name, accessor without bufferView, bytes)`.
struct Builder {
    json: Value,
    bytes: Vec<u8>,
}

impl Builder {
    fn new() -> Self {
        Self {
            json: json!({
                "asset": {"version": "2.0"},
                "nodes": [{"mesh": 0}],
                "meshes": [{"primitives": [{"attributes": {}}]}],
                "accessors": [], "bufferViews": [],
            }),
            bytes: Vec::new(),
        }
    }

    /// A triangle's positions as attribute POSITION.
    fn triangle() -> Self {
        let mut b = Self::new();
        let view = b.view(
            &floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
            None,
        );
        let a = b.accessor(
            json!({"bufferView": view, "componentType": 5126, "count": 3, "type": "VEC3"}),
        );
        b.primitive()["attributes"]["POSITION"] = a.into();
        b
    }

    fn view(&mut self, bytes: &[u8], stride: Option<usize>) -> usize {
        let mut view =
            json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()});
        if let Some(s) = stride {
            view["byteStride"] = s.into();
        }
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.push("bufferViews", view)
    }

    fn accessor(&mut self, accessor: Value) -> usize {
        self.push("accessors", accessor)
    }

    fn push(&mut self, list: &str, value: Value) -> usize {
        let list = self.json[list].as_array_mut().expect("a list");
        list.push(value);
        list.len() - 1
    }

    fn primitive(&mut self) -> &mut Value {
        &mut self.json["meshes"][0]["primitives"][0]
    }

    fn read(mut self) -> Result<GltfFile, IoError> {
        if self.json.get("buffers").is_none() {
            let data = base64::engine::general_purpose::STANDARD.encode(&self.bytes);
            self.json["buffers"] = json!([{
                "byteLength": self.bytes.len(),
                "uri": format!("data:application/octet-stream;base64,{data}"),
            }]);
        }
        let text = serde_json::to_vec(&self.json).expect("JSON");
        read_gltf_bytes(text, None, "built.gltf")
    }

    fn mesh(self) -> Mesh {
        self.read().expect("valid").asset.meshes.swap_remove(0)
    }

    fn error(self) -> String {
        self.read().expect_err("broken").to_string()
    }
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn shorts(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// Morphed and linearly skinned positions, in double precision.
fn skinned(mesh: &Mesh, pose: &Pose) -> Vec<[f32; 3]> {
    let mut rest: Vec<[f64; 3]> = mesh.positions.iter().map(|p| p.map(f64::from)).collect();
    for (k, target) in mesh.morph_targets.iter().enumerate() {
        let w = f64::from(pose.morph_weights[mesh.morph_offset + k]);
        for (&v, d) in target.vertices.iter().zip(&target.positions) {
            (0..3).for_each(|c| rest[v as usize][c] += w * f64::from(d[c]));
        }
    }
    let influences = mesh.influences.as_ref().expect("always bound");
    (0..rest.len())
        .map(|v| {
            let mut out = sinew_geom::Vec3::<f64>::zeros();
            for (j, w) in influences.row(v) {
                let m = pose.palette[j as usize].unpack::<f64>();
                out += m.point(rest[v].into()) * f64::from(w);
            }
            [out.x as f32, out.y as f32, out.z as f32]
        })
        .collect()
}
